//! Embeddings in the lab's folder: what was embedded once is not embedded again, also when a corpus has grown.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{Column, DataFrame, NamedFrom, Series};
use serde_json::json;

use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Fingerprint, Lab};
use crate::model::Embed;
use crate::retrieval::Passage;
use crate::table::{read_parquet, write_parquet};

/// Texts by their fingerprints.
type Known = HashMap<String, Vec<f32>>;

/// One vector a passage, from the store where it has them; new ones are in the store before they are returned.
pub(super) fn embed_with(lab: &Lab, model: &Arc<dyn Embed>, passages: &[Arc<Passage>]) -> Result<Vec<Vec<f32>>> {
    let folder = folder(lab, model)?;
    let keys: Vec<String> = passages.iter().map(|passage| Fingerprint::new().text(&passage.text).finish()).collect();
    let mut known = read(&folder)?;
    let mut seen = std::collections::HashSet::new();
    let (mut new_keys, mut new) = (Vec::new(), Vec::new());
    for (key, passage) in keys.iter().zip(passages) {
        if !known.contains_key(key) && seen.insert(key) {
            new_keys.push(key.clone());
            new.push(passage.clone());
        }
    }
    let mut done = 0;
    super::embed(model, &new, &mut |rows| {
        let names: Vec<String> = new_keys.iter().skip(done).take(rows.len()).cloned().collect();
        done += rows.len();
        write(&folder, &names, rows)?;
        known.extend(names.into_iter().zip(rows.iter().cloned()));
        Ok(())
    })?;
    if done > super::BATCH {
        merge(&folder)?;
    }
    keys.iter()
        .map(|key| {
            known
                .get(key)
                .cloned()
                .ok_or_else(|| Error::new(ErrorKind::Internal, format!("the vector {key} is missing")))
        })
        .collect()
}

/// One folder a model, with a `spec.json` that says which.
fn folder(lab: &Lab, model: &Arc<dyn Embed>) -> Result<PathBuf> {
    let specification = model.spec();
    let print = Fingerprint::new().text("embeddings").text(&specification.to_string()).finish();
    let folder = lab.folder().join("artifacts").join("embeddings").join(print);
    std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
    let spec = folder.join("spec.json");
    if !spec.is_file() {
        let told = json!({"kind": "embeddings", "specification": specification});
        std::fs::write(&spec, format!("{told:#}\n")).map_err(|error| Error::file(&spec, &error))?;
    }
    Ok(folder)
}

fn parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::file(folder, &error))?;
    let mut parts: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "parquet"))
        .collect();
    parts.sort();
    Ok(parts)
}

fn read(folder: &Path) -> Result<Known> {
    let mut known = Known::new();
    for part in parts(folder)? {
        match read_part(&part) {
            Ok(rows) => known.extend(rows),
            // Another process has just merged this part into a larger one, which holds the same vectors; what is not
            // found is only embedded again.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error
                    .context(format!("reading embeddings from {}", part.display()))
                    .help("remove this file; what it held is embedded again"));
            }
        }
    }
    Ok(known)
}

fn read_part(part: &Path) -> Result<Vec<(String, Vec<f32>)>> {
    let frame = read_parquet(part)?;
    let keys = crate::table::texts(&frame, "text")?;
    let vectors = frame.column("vector")?.binary()?.clone();
    keys.into_iter()
        .zip(vectors.iter())
        .map(|(key, bytes)| {
            let (Some(key), Some(bytes)) = (key, bytes.filter(|bytes| bytes.len() % 4 == 0)) else {
                return Err(Error::input("a row has no text or no whole vector"));
            };
            let numbers = bytes.chunks_exact(4).filter_map(|four| four.try_into().ok()).map(f32::from_le_bytes);
            Ok((key, numbers.collect()))
        })
        .collect()
}

/// A new file for these rows. Its name is theirs, so that writing them twice is writing them once.
fn write(folder: &Path, keys: &[String], rows: &[Vec<f32>]) -> Result<()> {
    let bytes: Vec<Vec<u8>> =
        rows.iter().map(|row| row.iter().flat_map(|number| number.to_le_bytes()).collect()).collect();
    let columns: Vec<Column> = vec![
        Series::new("text".into(), keys).into(),
        Series::new("vector".into(), bytes.iter().map(Vec::as_slice).collect::<Vec<&[u8]>>()).into(),
    ];
    let name = keys.iter().fold(Fingerprint::new(), |print, key| print.text(key)).finish();
    write_parquet(&DataFrame::new_infer_height(columns)?, &folder.join(format!("{name}.parquet")))
}

/// Puts many small files into one; the small ones go only when the large one is safe.
fn merge(folder: &Path) -> Result<()> {
    let old = parts(folder)?;
    let mut known: Vec<(String, Vec<f32>)> = read(folder)?.into_iter().collect();
    known.sort_by(|a, b| a.0.cmp(&b.0));
    let (keys, rows): (Vec<String>, Vec<Vec<f32>>) = known.into_iter().unzip();
    write(folder, &keys, &rows)?;
    let name = keys.iter().fold(Fingerprint::new(), |print, key| print.text(key)).finish();
    for part in old.iter().filter(|part| part.file_stem().is_none_or(|stem| stem != name.as_str())) {
        let _ = std::fs::remove_file(part);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::Value;

    use super::*;

    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Embed for Counting {
        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
            if texts.iter().any(|text| text == "poison") {
                return Err(Error::input("poison"));
            }
            self.0.fetch_add(texts.len(), Ordering::SeqCst);
            Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
        }

        fn spec(&self) -> Value {
            json!("counting")
        }
    }

    fn passages(texts: &[String]) -> Vec<Arc<Passage>> {
        texts
            .iter()
            .map(|text| {
                Arc::new(Passage { chunk_id: text.clone(), text: text.clone(), source: String::new(), language: None })
            })
            .collect()
    }

    #[test]
    fn a_grown_corpus_embeds_only_what_is_new_and_a_failure_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab::at(folder.path()).unwrap();
        let counting = Arc::new(Counting::default());
        let model: Arc<dyn Embed> = counting.clone();
        let mut texts: Vec<String> = (0..150).map(|number| "x".repeat(number + 1)).collect();
        let first = embed_with(&lab, &model, &passages(&texts)).unwrap();
        assert_eq!((first.len(), counting.0.load(Ordering::SeqCst)), (150, 150));
        assert_eq!(first[9], [10.0, 1.0]);
        // A hundred more, of which the last cannot be embedded: the batches before it are kept.
        texts.extend((150..250).map(|number| "x".repeat(number + 1)));
        texts.push("poison".to_owned());
        assert!(embed_with(&lab, &model, &passages(&texts)).is_err());
        assert_eq!(counting.0.load(Ordering::SeqCst), 150 + 64);
        texts.pop();
        let all = embed_with(&lab, &model, &passages(&texts)).unwrap();
        assert_eq!((all.len(), counting.0.load(Ordering::SeqCst)), (250, 250));
        let _ = embed_with(&lab, &model, &passages(&texts)).unwrap();
        assert_eq!(counting.0.load(Ordering::SeqCst), 250);
    }

    #[test]
    fn a_file_cut_short_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab::at(folder.path()).unwrap();
        let model: Arc<dyn Embed> = Arc::new(Counting::default());
        let texts = passages(&["a".to_owned(), "b".to_owned()]);
        embed_with(&lab, &model, &texts).unwrap();
        let part = parts(&super::folder(&lab, &model).unwrap()).unwrap().pop().unwrap();
        let whole = std::fs::read(&part).unwrap();
        std::fs::write(&part, &whole[..whole.len() / 2]).unwrap();
        let error = embed_with(&lab, &model, &texts).unwrap_err().to_string();
        assert!(error.contains("parquet") && error.contains("help:"), "{error}");
    }
}
