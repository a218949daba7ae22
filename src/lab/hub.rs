//! Files from the Hugging Face Hub: pinned revisions, checked sums, offline use.

use std::path::PathBuf;

use super::Lab;
use super::lock::LockFile;
use crate::error::{Error, ErrorKind, Result};

/// A repository on the Hub at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubRepo {
    is_dataset: bool,
    id: String,
    revision: String,
}

impl HubRepo {
    /// A model's repository, as in `HubRepo::model("intfloat/multilingual-e5-small", COMMIT)`. Pin a commit: a branch's
    /// name may mean another file tomorrow, which the lock file would then refuse.
    #[must_use]
    pub fn model(id: &str, revision: &str) -> Self {
        Self { is_dataset: false, id: id.to_owned(), revision: revision.to_owned() }
    }

    /// A dataset's repository.
    #[must_use]
    pub fn dataset(id: &str, revision: &str) -> Self {
        Self { is_dataset: true, ..Self::model(id, revision) }
    }

    /// `OWNER/NAME`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The commit, or a branch's name.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    fn name(&self, path: &str) -> String {
        let kind = if self.is_dataset { "datasets" } else { "models" };
        format!("{kind}/{}@{}/{path}", self.id, self.revision)
    }

    /// Refuses names that could leave the cache's folder or the address.
    fn check(&self, path: &str) -> Result<()> {
        let plain = |text: &str| {
            !text.is_empty()
                && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-/".contains(letter))
        };
        for (what, text) in [("repository", &*self.id), ("revision", &*self.revision), ("path", path)] {
            if !plain(text) {
                return Err(Error::input(format!("the Hub has no {what} named {text:?}"))
                    .help("name a repository as OWNER/NAME, a revision as a commit, a path as FOLDER/FILE"));
            }
        }
        Ok(())
    }
}

/// Where files of the Hub come from and where they are kept.
///
/// Files lie in the cache that Python's `huggingface_hub` uses too, so that what either downloaded serves both. Sums are
/// kept in the lab's own lock file.
#[derive(Debug, Clone)]
pub struct Hub {
    endpoint: String,
    cache: PathBuf,
    offline: bool,
    lock: LockFile,
}

impl Hub {
    /// The Hub as the environment says: `HF_ENDPOINT` (another address), `HF_HUB_CACHE` or `HF_HOME` (the cache),
    /// `HF_TOKEN` (read at each download and kept nowhere), `HF_HUB_OFFLINE=1` (no network).
    #[must_use]
    pub fn of(lab: &Lab) -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = folder("HF_HUB_CACHE")
            .or_else(|| folder("HF_HOME").map(|home| home.join("hub")))
            .or_else(|| folder("HOME").map(|home| home.join(".cache/huggingface/hub")))
            .unwrap_or_else(|| lab.folder().join("hub"));
        let endpoint = std::env::var("HF_ENDPOINT").ok().filter(|address| !address.is_empty());
        Self {
            endpoint: endpoint.unwrap_or_else(|| "https://huggingface.co".to_owned()),
            cache,
            offline: is_set("HF_HUB_OFFLINE"),
            lock: LockFile::at(lab.folder().join("hub.lock.jsonl")),
        }
    }

    /// The same with another address: a mirror, or a server of one's own.
    #[must_use]
    pub fn at(mut self, endpoint: &str) -> Self {
        self.endpoint = endpoint.trim_end_matches('/').to_owned();
        self
    }

    /// The same with another cache folder.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = folder.into();
        self
    }

    /// The same, without a network.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.offline = true;
        self
    }

    /// The file's place on disk; it is downloaded first if it is not there. Its SHA-256 must be `sha256` if that is
    /// given, and otherwise what it was at the first download.
    ///
    /// # Errors
    /// When the file is not there and cannot be fetched, or is not what it was.
    pub fn file(&self, repo: &HubRepo, path: &str, sha256: Option<&str>) -> Result<PathBuf> {
        repo.check(path)?;
        let name = repo.name(path);
        let found = match self.cached(repo, path) {
            Some(found) => found,
            None if self.offline => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("{name} is not in the cache {}, and HF_HUB_OFFLINE is set", self.cache.display()),
                )
                .help("unset HF_HUB_OFFLINE once to fetch it, or copy the cache from a machine that has it"));
            }
            None => self.download(repo, path).map_err(|error| error.context(format!("fetching {name}")))?,
        };
        self.lock.check(&name, &found, sha256)?;
        Ok(found)
    }

    /// Where the caches of Python and of this library have a file.
    fn cached(&self, repo: &HubRepo, path: &str) -> Option<PathBuf> {
        let kind = if repo.is_dataset { "datasets" } else { "models" };
        let folder = self.cache.join(format!("{kind}--{}", repo.id.replace('/', "--")));
        let commit = std::fs::read_to_string(folder.join("refs").join(&repo.revision));
        let commit = commit.map_or_else(|_| repo.revision.clone(), |text| text.trim().to_owned());
        let file = folder.join("snapshots").join(commit).join(path);
        file.is_file().then_some(file)
    }

    #[cfg(not(feature = "hub"))]
    fn download(&self, _repo: &HubRepo, _path: &str) -> Result<PathBuf> {
        Err(Error::feature_disabled("client of the Hugging Face Hub", "hub"))
    }

    #[cfg(feature = "hub")]
    fn download(&self, repo: &HubRepo, path: &str) -> Result<PathBuf> {
        use hf_hub::api::tokio::ApiBuilder;
        use hf_hub::{Cache, Repo, RepoType};

        let cache = Cache::new(self.cache.clone());
        let token = std::env::var("HF_TOKEN").ok().filter(|token| !token.is_empty()).or_else(|| cache.token());
        let kind = if repo.is_dataset { RepoType::Dataset } else { RepoType::Model };
        let has_token = token.is_some();
        let api = ApiBuilder::from_cache(cache)
            .with_endpoint(self.endpoint.clone())
            .with_token(token)
            .with_max_files(4)
            .build()
            .map_err(|error| explain(&error, has_token))?;
        let place = api.repo(Repo::with_revision(repo.id.clone(), kind, repo.revision.clone()));
        let bar = download::Bar::new(&format!("{}: {path}", repo.id));
        super::runtime::wait("what was downloaded is kept and continued", async {
            place.download_with_progress(path, bar).await
        })?
        .map_err(|error| explain(&error, has_token))
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var(variable)
        .is_ok_and(|value| ["1", "true", "yes", "on"].iter().any(|on| value.eq_ignore_ascii_case(on)))
}

#[cfg(feature = "hub")]
fn explain(error: &hf_hub::api::tokio::ApiError, has_token: bool) -> Error {
    use hf_hub::api::tokio::ApiError;

    let status = match error {
        ApiError::RequestError(error) => error.status().map(|status| status.as_u16()),
        _ => None,
    };
    match status {
        Some(code @ (401 | 403)) => Error::input(format!("the Hub refuses access ({code})")).help(if has_token {
            "the token may lack access: accept the repository's terms on its page, or take another HF_TOKEN"
        } else {
            "set HF_TOKEN before starting the kernel; a repository that does not exist is answered like this too"
        }),
        Some(404) => Error::new(ErrorKind::NotFound, "the Hub has no such file at this revision (404)")
            .help("look at the repository's file list, and check the revision"),
        _ => Error::new(ErrorKind::Io, format!("{error}"))
            .help("check the network; what was downloaded is kept and continued by the same call"),
    }
}

#[cfg(feature = "hub")]
mod download {
    use std::sync::{Arc, OnceLock};

    use crate::signal::Progress;

    /// The Hub client's progress, told as ours in thousands of bytes.
    #[derive(Debug, Clone)]
    pub(super) struct Bar {
        label: String,
        shown: Arc<OnceLock<Progress>>,
    }

    impl Bar {
        pub(super) fn new(label: &str) -> Self {
            Self { label: format!("{label} (kB)"), shown: Arc::default() }
        }
    }

    impl hf_hub::api::tokio::Progress for Bar {
        async fn init(&mut self, size: usize, _filename: &str) {
            let _ = self.shown.set(Progress::new(&self.label, size / 1000));
        }

        async fn update(&mut self, size: usize) {
            if let Some(progress) = self.shown.get() {
                progress.advance(size / 1000);
            }
        }

        async fn finish(&mut self) {}
    }
}

impl Lab {
    /// The Hub as the environment says; see [`Hub::of`].
    #[must_use]
    pub fn hub(&self) -> Hub {
        Hub::of(self)
    }

    /// A file of the Hub on disk, downloaded if it is not there and checked against its first download.
    ///
    /// # Errors
    /// As [`Hub::file`].
    pub fn hub_file(&self, repo: &HubRepo, path: &str) -> Result<PathBuf> {
        self.hub().file(repo, path, None)
    }
}

#[cfg(all(test, feature = "hub"))]
#[path = "hub_tests.rs"]
mod tests;
