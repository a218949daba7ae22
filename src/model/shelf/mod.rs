//! The shelf: models by name, from a table in the lab's folder; pinned, verified, kept between cells.

mod lock;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use polars::prelude::DataFrame;

use self::lock::Locked;
use self::table::Listed;
use super::{Classifier, Embed, LanguageModel, Local};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Hub, HubRepo, Lab};
use crate::signal;
use crate::table::{FrameBuilder, Show};

/// Files that a model needs beside its weights.
const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];
/// Files that some models have.
const WHERE_THERE: [&str; 6] = [
    "tokenizer_config.json",
    "generation_config.json",
    "chat_template.jinja",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

/// Models by name. The table is `lab.toml` in the lab's folder, a table `[models.NAME]` each; what was fetched or pinned
/// is in `models.lock.toml` beside it, with sizes and SHA-256.
///
/// ```toml
/// [models.smollm2]
/// path = "/models/SmolLM2-135M-Instruct.Q4_1.gguf"
///
/// [models.e5]
/// repository = "intfloat/multilingual-e5-small"
/// revision = "COMMIT, 40 digits"
/// question_prefix = "query: "
/// passage_prefix = "passage: "
///
/// [models.gpt-4o]
/// endpoint = "https://api.openai.com/v1"
/// key_from = "OPENAI_API_KEY"
/// ```
///
/// | field | of | meaning |
/// |---|---|---|
/// | `path` | files here | a folder or a GGUF file; begins at the lab's folder if it is not absolute |
/// | `repository`, `revision` | the Hub | `OWNER/NAME`, and the commit's 40 digits |
/// | `file` | the Hub | one GGUF file of the repository |
/// | `device` | files here, the Hub | `auto`, `cpu`, `cuda:NUMBER` or `metal` [`auto`] |
/// | `precision` | files here, the Hub | `auto`, `f32`, `f16` or `bf16` [`auto`] |
/// | `slots` | files here, the Hub | replies written at a time [4] |
/// | `longest` | files here, the Hub | tokens that an embedder or a classifier reads at once [as the model's files say] |
/// | `question_prefix`, `passage_prefix` | embedders | what stands before texts [as the model's files say] |
/// | `endpoint` | servers | the URL up to and with `/v1` |
/// | `key_from` | servers | the environment variable that holds the key [no key] |
/// | `model` | servers | what the server calls the model [its name here] |
/// | `tokenizer`, `context` | servers | as [`Endpoint::tokenizer`](super::Endpoint::tokenizer) [prompts are not measured] |
///
/// ```
/// # use claimlab::prelude::*;
/// use claimlab::model::Shelf;
/// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
/// let lab = Lab::at(folder.path())?;
/// let error = Shelf::of(&lab)?.language_model("smollm2").unwrap_err();
/// assert!(error.to_string().contains("lab.toml") && error.to_string().contains("[models.smollm2]"));
/// std::fs::write(folder.path().join("lab.toml"), "[models.far]\nendpoint = \"http://localhost:8000/v1\"")
///     .map_err(|e| Error::io("lab.toml", &e))?;
/// assert_eq!(Shelf::of(&lab)?.list()?.height(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shelf {
    lab: Lab,
    listed: Arc<Vec<(String, Listed)>>,
}

fn kept<T>() -> &'static Mutex<HashMap<String, T>>
where
    T: Keep,
{
    T::kept()
}

/// What stays open between cells.
trait Keep: Sized + Clone + 'static {
    fn kept() -> &'static Mutex<HashMap<String, Self>>;
}

macro_rules! keep {
    ($kind:ty) => {
        impl Keep for $kind {
            fn kept() -> &'static Mutex<HashMap<String, Self>> {
                static KEPT: OnceLock<Mutex<HashMap<String, $kind>>> = OnceLock::new();
                KEPT.get_or_init(Mutex::default)
            }
        }
    };
}
keep!(LanguageModel);
keep!(Classifier);
keep!(Arc<dyn Embed>);

fn once<T: Keep>(key: String, open: impl FnOnce() -> Result<T>) -> Result<T> {
    let lock =
        || -> MutexGuard<'static, HashMap<String, T>> { kept::<T>().lock().unwrap_or_else(PoisonError::into_inner) };
    if let Some(open) = lock().get(&key) {
        return Ok(open.clone());
    }
    let opened = open()?;
    lock().insert(key, opened.clone());
    Ok(opened)
}

impl Shelf {
    /// The shelf of a lab. A lab without `lab.toml` has an empty one.
    ///
    /// # Errors
    /// When the table cannot be read; the message names the line and the field.
    pub fn of(lab: &Lab) -> Result<Self> {
        Ok(Self { lab: lab.clone(), listed: Arc::new(table::read(&lab.folder().join(table::NAME))?) })
    }

    /// How to name a first model, where the shelf is empty.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        self.listed.is_empty().then(|| {
            format!("no model is named yet; write into {}, for example:\n\n{}", self.table().display(), table::EXAMPLE)
        })
    }

    /// A language model by its name on the shelf, opened once for all cells and notebooks' sessions of this process.
    ///
    /// # Errors
    /// When there is no such name, files are missing or changed, or the model is not supported.
    pub fn language_model(&self, name: &str) -> Result<LanguageModel> {
        let listed = self.find(name)?;
        if let Some(endpoint) = listed.endpoint(self.lab.folder())? {
            return once(self.key(name, listed), || endpoint.language_model(listed.served_as(name)));
        }
        let local = self.local(name, listed)?;
        once(self.key(name, listed), || local.language_model(name))
    }

    /// An embedder by its name on the shelf.
    ///
    /// # Errors
    /// As [`Self::language_model`].
    pub fn embedder(&self, name: &str) -> Result<Arc<dyn Embed>> {
        let listed = self.find(name)?;
        if let Some(endpoint) = listed.endpoint(self.lab.folder())? {
            return once(self.key(name, listed), || {
                endpoint.embedder(listed.served_as(name), listed.question_prefix())
            });
        }
        let local = self.local(name, listed)?;
        once(self.key(name, listed), || local.embedder())
    }

    /// A classifier by its name on the shelf.
    ///
    /// # Errors
    /// As [`Self::language_model`].
    pub fn classifier(&self, name: &str) -> Result<Classifier> {
        let listed = self.find(name)?;
        let local = self.local(name, listed)?;
        once(self.key(name, listed), || local.classifier(name))
    }

    /// What is on the shelf: name, where it comes from, its size as locked, and whether it is there.
    ///
    /// # Errors
    /// When the lock file cannot be read.
    pub fn list(&self) -> Result<DataFrame> {
        let locked = lock::read(&self.lock_file())?;
        let names: Vec<&str> = self.listed.iter().map(|(name, _)| name.as_str()).collect();
        let from: Vec<String> = self.listed.iter().map(|(_, listed)| listed.origin()).collect();
        let mib = |name: &str| locked.get(name).map(|lock| (lock.bytes() >> 20) as i64);
        let sizes: Vec<Option<i64>> = names.iter().map(|name| mib(name)).collect();
        let states: Vec<&str> =
            self.listed.iter().map(|(name, listed)| self.state(name, listed, locked.get(name))).collect();
        FrameBuilder::new()
            .text("name", &names)
            .text("from", &from)
            .integer_or_null("locked_mib", &sizes)
            .text("state", &states)
            .build()
    }

    fn state(&self, name: &str, listed: &Listed, locked: Option<&Locked>) -> &'static str {
        if listed.is_remote() {
            return "remote";
        }
        match (self.files_offline(name, listed), locked) {
            (Err(_), _) => "not fetched",
            (Ok(_), None) => "there, not locked",
            (Ok(files), Some(lock)) if lock.has_sizes_of(&files) => "there, locked",
            (Ok(_), Some(_)) => "there, but not what is locked",
        }
    }

    /// Fetches a model from the Hub, or takes one that lies here, and locks it: sizes and SHA-256 are recorded the first
    /// time and must be the same ever after. Interrupted downloads are continued.
    ///
    /// # Errors
    /// When a file cannot be fetched, or is not what is locked.
    pub fn fetch(&self, name: &str) -> Result<DataFrame> {
        let listed = self.find(name)?;
        let files = self.files(name, listed, &self.hub())?;
        let found = Locked::of(listed.repository(), listed.revision(), &files)?;
        let path = self.lock_file();
        let mut locked = lock::read(&path)?;
        if let Some(known) = locked.get(name) {
            known.compare(name, &found)?;
        }
        let frame = found.frame()?;
        locked.insert(name.to_owned(), found);
        lock::write(&path, &locked)?;
        Ok(frame)
    }

    /// Reads all of a model's files again and compares them with the lock file.
    ///
    /// # Errors
    /// When nothing is locked under this name, or a file is missing or not what is locked.
    pub fn verify(&self, name: &str) -> Result<DataFrame> {
        let listed = self.find(name)?;
        let locked = lock::read(&self.lock_file())?;
        let known = locked.get(name).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("{name} is not in {}", self.lock_file().display()))
                .help("fetch it first: claimlab models fetch NAME, or Shelf::fetch")
        })?;
        let files = self.files_offline(name, listed)?;
        let found = Locked::read_anew(listed.repository(), listed.revision(), &files)?;
        known.compare(name, &found)?;
        found.frame()
    }

    /// Shows the shelf, or how to fill it.
    pub fn evcxr_display(&self) {
        match (self.advice(), self.list()) {
            (Some(advice), _) => signal::display(None, None, &advice),
            (None, Ok(frame)) => frame.evcxr_display(),
            (None, Err(error)) => signal::display(None, None, &error.to_string()),
        }
    }

    fn find(&self, name: &str) -> Result<&Listed> {
        let found = self.listed.iter().find(|(known, _)| known == name);
        found.map(|(_, listed)| listed).ok_or_else(|| {
            let names: Vec<&str> = self.listed.iter().map(|(name, _)| name.as_str()).collect();
            let there = if names.is_empty() { "it is empty".to_owned() } else { format!("there are {names:?}") };
            Error::new(ErrorKind::NotFound, format!("no model {name:?} on the shelf; {there}")).help(format!(
                "name it in {}: a line [models.{}], and under it path = \"…\", repository = \"…\" with revision = \"…\", or endpoint = \"…\"",
                self.table().display(),
                table::key(name)
            ))
        })
    }

    fn table(&self) -> PathBuf {
        self.lab.folder().join(table::NAME)
    }

    fn key(&self, name: &str, listed: &Listed) -> String {
        format!("{}|{name}|{listed:?}", self.lab.folder().display())
    }

    fn hub(&self) -> Hub {
        Hub::of(&self.lab)
    }

    fn lock_file(&self) -> PathBuf {
        self.lab.folder().join(lock::NAME)
    }

    /// The model's files, which are there and, where they are locked, the locked ones.
    fn local(&self, name: &str, listed: &Listed) -> Result<Local> {
        let files = self.files(name, listed, &self.hub())?;
        if let Some(known) = lock::read(&self.lock_file())?.get(name) {
            known.compare(name, &Locked::of(listed.repository(), listed.revision(), &files)?)?;
        }
        listed.local(&model_at(&files)?)
    }

    fn files_offline(&self, name: &str, listed: &Listed) -> Result<Vec<(String, PathBuf)>> {
        self.files(name, listed, &self.hub().offline())
    }

    /// The names and places of all files of a model.
    fn files(&self, name: &str, listed: &Listed, hub: &Hub) -> Result<Vec<(String, PathBuf)>> {
        if let Some(path) = listed.path(self.lab.folder()) {
            return here(&path);
        }
        let (Some(id), Some(revision)) = (listed.repository(), listed.revision()) else {
            return Err(Error::input(format!("{name} is a remote model and has no files")));
        };
        let repo = HubRepo::model(id, revision);
        let get = |path: &str| hub.file(&repo, path, None).map(|place| (path.to_owned(), place));
        let optional = |path: &str| match get(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let mut files = Vec::new();
        if let Some(file) = listed.file() {
            files.push(get(file)?);
            files.extend(optional("tokenizer.json")?);
            files.extend(optional("tokenizer_config.json")?);
            return Ok(files);
        }
        for needed in NEEDED {
            files.push(get(needed)?);
        }
        for wanted in WHERE_THERE {
            files.extend(optional(wanted)?);
        }
        match optional("model.safetensors.index.json")? {
            Some(index) => {
                let shards = lock::shards(&index.1)?;
                files.push(index);
                for shard in shards {
                    files.push(get(&shard)?);
                }
            }
            None => files.push(get("model.safetensors")?),
        }
        Ok(files)
    }
}

/// The files of a folder that lies here, or one file with the tokenizer beside it.
fn here(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let missing = || {
        Error::new(ErrorKind::NotFound, format!("there is no model at {}", path.display()))
            .help("correct the path in lab.toml")
    };
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if path.is_file() {
        return Ok(vec![(name(path), path.to_owned())]);
    }
    let mut files: Vec<(String, PathBuf)> = std::fs::read_dir(path)
        .map_err(|_| missing())?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .filter(|path| {
            path.extension()
                .is_some_and(|kind| ["json", "safetensors", "gguf", "jinja"].iter().any(|known| kind == *known))
        })
        .map(|path| (name(&path), path))
        .collect();
    files.sort();
    if files.is_empty() { Err(missing()) } else { Ok(files) }
}

/// What to open: a GGUF file, or the folder that the files lie in.
fn model_at(files: &[(String, PathBuf)]) -> Result<PathBuf> {
    let gguf = files.iter().find(|(name, _)| name.ends_with(".gguf"));
    let config = files.iter().find(|(name, _)| name == "config.json");
    gguf.map(|(_, path)| path.clone())
        .or_else(|| config.and_then(|(_, path)| path.parent()).map(Path::to_owned))
        .ok_or_else(|| Error::input("a model is a GGUF file, or a folder with config.json"))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
