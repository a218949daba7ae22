//! Acts from their publishers: the EU's Publications Office by CELEX number, Legilux by ELI.

#[cfg(feature = "remote")]
mod client;
mod name;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::Corpus;
use super::act::Format;
use super::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Lab;
use crate::lab::lock::{LockFile, sha256_of};
use name::Name;

/// What a publisher answered.
struct Answer {
    body: Vec<u8>,
    /// The address that answered, after redirections.
    address: String,
    content_type: Option<String>,
    etag: Option<String>,
    date: Option<String>,
}

/// Where acts come from and where they are kept: the lab's folder `acts`, each with its provenance beside it.
#[derive(Debug, Clone)]
pub struct ActSource {
    folder: PathBuf,
    lock: LockFile,
    cellar: String,
    legilux: String,
    pause: Duration,
    is_offline: bool,
}

impl ActSource {
    /// The publishers' own addresses, at most one request a second; `CLAIMLAB_OFFLINE=1` leaves the network alone.
    #[must_use]
    pub fn of(lab: &Lab) -> Self {
        Self {
            folder: lab.folder().join("acts"),
            lock: LockFile::at(lab.folder().join("acts.lock.jsonl")),
            cellar: "https://publications.europa.eu".to_owned(),
            legilux: "https://data.legilux.public.lu".to_owned(),
            pause: Duration::from_secs(1),
            is_offline: std::env::var("CLAIMLAB_OFFLINE").is_ok_and(|value| !matches!(value.as_str(), "" | "0")),
        }
    }

    /// The same with other addresses for the Publications Office and for Legilux: mirrors, or a server of one's own.
    #[must_use]
    pub fn at(mut self, cellar: &str, legilux: &str) -> Self {
        self.cellar = cellar.trim_end_matches('/').to_owned();
        self.legilux = legilux.trim_end_matches('/').to_owned();
        self
    }

    /// The same with another pause between requests.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// The same without a network.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.is_offline = true;
        self
    }

    /// An act by its CELEX number (`32016R0679`, `02016R0679-20160504`) or by its ELI on Legilux
    /// (`eli/etat/leg/loi/2018/08/01/a686/jo`), in a language (`en`, `fr`, …). The first call fetches it; later ones read it
    /// from the lab and check that it is what was fetched.
    ///
    /// # Errors
    /// When the name is neither, the publisher does not answer with the act, or the kept file has changed.
    pub fn fetch(&self, act: &str, language: &str) -> Result<Corpus> {
        let name = Name::parse(act, language)?;
        let path = self.folder.join(name.file());
        let key = format!("{act}@{language}");
        if !path.is_file() {
            self.download(&name, act, language, &path)
                .map_err(|error| error.context(format!("fetching {act} ({language})")))?;
        }
        self.lock.check(&key, &path, None)?;
        Corpus::read(act, language, &path)
    }

    /// Where an act's file is kept, whether it is there or not; `…provenance.json` beside it says where it came from.
    ///
    /// # Errors
    /// When the name is neither a CELEX number nor an ELI.
    pub fn path(&self, act: &str, language: &str) -> Result<PathBuf> {
        Ok(self.folder.join(Name::parse(act, language)?.file()))
    }

    fn download(&self, name: &Name, act: &str, language: &str, path: &std::path::Path) -> Result<()> {
        if self.is_offline {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("{} is not there, and the lab is offline", path.display()),
            )
            .help("unset CLAIMLAB_OFFLINE once to fetch it, or copy the file from a lab that has it"));
        }
        let base = match name {
            Name::Celex { .. } => &self.cellar,
            Name::Eli { .. } => &self.legilux,
        };
        let asked = format!("{base}{}", name.address());
        let answer = self.get(name, &asked)?;
        // What is not the act is not kept: an error page would be read from the lab ever after.
        let decoded = bytes::decode(&asked, &answer.body)?;
        let format = Format::of("", &decoded.text);
        let parsed =
            match (name, format) {
                (Name::Celex { .. }, Format::Html) => super::act::parse(Format::EurLex, &decoded.text),
                (_, Format::EurLex | Format::AkomaNtoso) => super::act::parse(format, &decoded.text),
                _ => Err(Error::input("the answer is no act as HTML or Akoma Ntoso")
                    .help("look at the address in a browser")),
            };
        parsed.map_err(|error| error.context(format!("the answer of {asked}")))?;
        let provenance = provenance(act, language, &asked, &answer);
        self.keep(path, &answer.body)?;
        self.keep(&path.with_extension("provenance.json"), format!("{provenance:#}\n").as_bytes())
    }

    /// Writes a file so that it stands complete or not at all.
    fn keep(&self, path: &std::path::Path, body: &[u8]) -> Result<()> {
        use std::io::Write;
        std::fs::create_dir_all(&self.folder).map_err(|error| Error::file(&self.folder, &error))?;
        let temporary = path.with_extension(format!("tmp{}", std::process::id()));
        let refused = |error: std::io::Error| Error::file(&temporary, &error);
        let mut file = std::fs::File::create(&temporary).map_err(refused)?;
        file.write_all(body).and_then(|()| file.sync_all()).map_err(refused)?;
        std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
    }

    #[cfg(not(feature = "remote"))]
    fn get(&self, _name: &Name, _address: &str) -> Result<Answer> {
        let _ = self.pause;
        Err(Error::feature_disabled("client for acts over HTTP", "remote"))
    }

    #[cfg(feature = "remote")]
    fn get(&self, name: &Name, address: &str) -> Result<Answer> {
        client::get(address, name.accept(), name.accept_language(), self.pause)
    }
}

fn provenance(act: &str, language: &str, asked: &str, answer: &Answer) -> Value {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    json!({
        "act": act,
        "language": language,
        "asked": asked,
        "answered_by": answer.address,
        "content_type": answer.content_type,
        "etag": answer.etag,
        "server_date": answer.date,
        "fetched_at_unix_seconds": seconds,
        "bytes": answer.body.len(),
        "sha256": sha256_of(&answer.body),
        "reuse": "EU acts: Commission Decision 2011/833/EU, with attribution. Legilux: CC BY 4.0, with attribution.",
    })
}

impl Lab {
    /// The publishers of acts; see [`ActSource::of`].
    #[must_use]
    pub fn act_source(&self) -> ActSource {
        ActSource::of(self)
    }

    /// An act from its publisher, kept in the lab: `lab.fetch_act("32016R0679", "en")` is the GDPR. See
    /// [`ActSource::fetch`].
    ///
    /// # Errors
    /// As [`ActSource::fetch`].
    pub fn fetch_act(&self, act: &str, language: &str) -> Result<Corpus> {
        self.act_source().fetch(act, language)
    }
}
