//! `models.json`: what the names on the shelf stand for.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::model::{Device, Endpoint, Local, Precision};

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
    device: Option<String>,
    precision: Option<String>,
    slots: Option<usize>,
    question_prefix: Option<String>,
    passage_prefix: Option<String>,
    longest: Option<usize>,
}

pub(super) fn read(path: &Path) -> Result<Vec<(String, Listed)>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file(path, &error)),
    };
    let odd = |what: String| Error::input(format!("{}: {what}", path.display()));
    let all: Value = serde_json::from_str(&text).map_err(|error| odd(error.to_string()))?;
    let entries = all.as_object().ok_or_else(|| odd("expected an object from names to models".into()))?;
    entries
        .iter()
        .map(|(name, entry)| {
            let listed: Listed =
                serde_json::from_value(entry.clone()).map_err(|error| odd(format!("{name}: {error}")))?;
            listed.check().map_err(|error| error.context(format!("{}: {name}", path.display())))?;
            Ok((name.clone(), listed))
        })
        .collect()
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
        if self.endpoint.is_none() {
            self.local(Path::new(""))?;
        }
        Ok(())
    }

    pub(super) fn endpoint(&self) -> Result<Option<Endpoint>> {
        let Some(base) = &self.endpoint else { return Ok(None) };
        let endpoint = Endpoint::at(base)?;
        Ok(Some(match &self.key_from {
            Some(variable) => endpoint.key_from(variable),
            None => endpoint,
        }))
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
