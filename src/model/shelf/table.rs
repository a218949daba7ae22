//! `lab.toml`: what the names on the shelf stand for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::error::{Error, Result};
use crate::model::{Device, Endpoint, Local, Precision};

/// The file's name in the lab's folder.
pub(super) const NAME: &str = "lab.toml";

/// How an entry is written, for those who have none yet.
pub(super) const EXAMPLE: &str = "[models.smollm2]\npath = \"/models/SmolLM2-135M-Instruct.Q4_1.gguf\"";

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    models: BTreeMap<String, Spanned<Listed>>,
}

/// One entry. Exactly one of `path`, `repository` and `endpoint` says where the model is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Listed {
    path: Option<PathBuf>,
    repository: Option<String>,
    revision: Option<String>,
    /// One GGUF file of a repository.
    file: Option<String>,
    endpoint: Option<String>,
    key_from: Option<String>,
    /// What the server calls the model, if that is not its name on the shelf.
    model: Option<String>,
    /// A remote model's `tokenizer.json`, and how many tokens it reads with its reply.
    tokenizer: Option<PathBuf>,
    context: Option<usize>,
    device: Option<String>,
    precision: Option<String>,
    slots: Option<usize>,
    question_prefix: Option<String>,
    passage_prefix: Option<String>,
    longest: Option<usize>,
}

/// The models of a lab's table, by name. A lab without the file has none.
pub(super) fn read(path: &Path) -> Result<Vec<(String, Listed)>> {
    let Some(text) = text_of(path)? else { return Ok(Vec::new()) };
    let table: Table = parse(path, &text)?;
    table
        .models
        .into_iter()
        .map(|(name, entry)| {
            let at = line(&text, entry.span().start);
            let listed = entry.into_inner();
            listed.check().map_err(|error| error.context(format!("{}, line {at}: {name}", path.display())))?;
            Ok((name, listed))
        })
        .collect()
}

/// A file's text; `None` if it is not there.
pub(super) fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file(path, &error)),
    }
}

/// TOML as what it should be; the error names the line.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let at = error.span().map_or_else(String::new, |span| format!(", line {}", line(text, span.start)));
        let help = if error.message().contains("unknown field") {
            "correct or remove the field; a model's name that holds a dot stands in quotes: [models.\"gpt-4.1\"]"
        } else {
            "correct the line; the example in the documentation of `Shelf` shows the form"
        };
        Error::input(format!("{}{at}: {}", path.display(), error.message().trim_end())).help(help)
    })
}

/// A model's name as the heading of its table has it.
pub(super) fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { format!("{name:?}") }
}

/// The line of a place in a text, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

impl Listed {
    fn check(&self) -> Result<()> {
        let places = [self.path.is_some(), self.repository.is_some(), self.endpoint.is_some()];
        if places.iter().filter(|is_there| **is_there).count() != 1 {
            return Err(Error::input("expected exactly one of path, repository and endpoint"));
        }
        let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.repository.is_some() && !self.revision.as_deref().is_some_and(is_commit) {
            return Err(Error::input(format!("the revision is {:?}, expected a commit of 40 digits", self.revision))
                .help("a branch's name means another model tomorrow; the commit stands on the repository's page"));
        }
        self.refuse_strangers()?;
        match &self.endpoint {
            Some(base) => Endpoint::at(base).map(|_| ()),
            None => self.local(Path::new("")).map(|_| ()),
        }
    }

    /// A field that nothing would read is a mistake, not a setting.
    fn refuse_strangers(&self) -> Result<()> {
        let (is_remote, is_hub) = (self.endpoint.is_some(), self.repository.is_some());
        for (field, is_there, belongs, to) in [
            ("revision", self.revision.is_some(), is_hub, "a repository"),
            ("file", self.file.is_some(), is_hub, "a repository"),
            ("key_from", self.key_from.is_some(), is_remote, "an endpoint"),
            ("model", self.model.is_some(), is_remote, "an endpoint"),
            ("tokenizer", self.tokenizer.is_some(), is_remote, "an endpoint"),
            ("context", self.context.is_some(), is_remote, "an endpoint"),
            ("device", self.device.is_some(), !is_remote, "a model on this machine"),
            ("precision", self.precision.is_some(), !is_remote, "a model on this machine"),
            ("slots", self.slots.is_some(), !is_remote, "a model on this machine"),
            ("passage_prefix", self.passage_prefix.is_some(), !is_remote, "a model on this machine"),
            ("longest", self.longest.is_some(), !is_remote, "a model on this machine"),
        ] {
            if is_there && !belongs {
                return Err(Error::input(format!("{field} is a field of {to}, which this is not"))
                    .help(format!("remove {field}, or correct where the model is")));
            }
        }
        if self.tokenizer.is_some() != self.context.is_some() {
            return Err(Error::input("tokenizer and context are given together: one counts, the other limits")
                .help("for example tokenizer = \"tokenizer.json\" and context = 131072"));
        }
        Ok(())
    }

    /// The server of a remote model; paths begin at the lab's folder.
    pub(super) fn endpoint(&self, lab: &Path) -> Result<Option<Endpoint>> {
        let Some(base) = &self.endpoint else { return Ok(None) };
        let mut endpoint = Endpoint::at(base)?;
        if let Some(variable) = &self.key_from {
            endpoint = endpoint.key_from(variable);
        }
        if let (Some(file), Some(context)) = (&self.tokenizer, self.context) {
            endpoint = endpoint.tokenizer(lab.join(file), context)?;
        }
        Ok(Some(endpoint))
    }

    pub(super) fn is_remote(&self) -> bool {
        self.endpoint.is_some()
    }

    pub(super) fn served_as<'a>(&'a self, name: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(name)
    }

    pub(super) fn question_prefix(&self) -> &str {
        self.question_prefix.as_deref().unwrap_or_default()
    }

    pub(super) fn repository(&self) -> Option<&str> {
        self.repository.as_deref()
    }

    pub(super) fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    pub(super) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// A path that is not absolute begins at the lab's folder.
    pub(super) fn path(&self, lab: &Path) -> Option<PathBuf> {
        self.path.as_ref().map(|path| lab.join(path))
    }

    pub(super) fn origin(&self) -> String {
        match (&self.path, &self.repository, &self.endpoint) {
            (Some(path), _, _) => path.display().to_string(),
            (_, Some(repository), _) => {
                let commit: String = self.revision.iter().flat_map(|text| text.chars()).take(8).collect();
                format!("{repository} @ {commit}")
            }
            (_, _, Some(endpoint)) => endpoint.clone(),
            _ => String::new(),
        }
    }

    /// How the files are opened.
    pub(super) fn local(&self, at: &Path) -> Result<Local> {
        let mut local = Local::at(at);
        local = local.device(match self.device.as_deref().unwrap_or("auto") {
            "auto" => Device::Auto,
            "cpu" => Device::Cpu,
            "metal" => Device::Metal,
            other => match other.strip_prefix("cuda").map(|number| number.trim_start_matches(':').parse().unwrap_or(0))
            {
                Some(number) => Device::Cuda(number),
                None => {
                    return Err(Error::input(format!("device {other:?}; auto, cpu, cuda:NUMBER and metal are known")));
                }
            },
        });
        local = local.precision(match self.precision.as_deref().unwrap_or("auto") {
            "auto" => Precision::Auto,
            "f32" => Precision::F32,
            "f16" => Precision::F16,
            "bf16" => Precision::Bf16,
            other => return Err(Error::input(format!("precision {other:?}; auto, f32, f16 and bf16 are known"))),
        });
        if let Some(slots) = self.slots {
            local = local.slots(slots);
        }
        if self.question_prefix.is_some() || self.passage_prefix.is_some() {
            local = local.prefixes(self.question_prefix(), self.passage_prefix.as_deref().unwrap_or_default());
        }
        if let Some(longest) = self.longest {
            local = local.longest(longest);
        }
        Ok(local)
    }
}
