//! The packages of the outline, from what cargo says of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::outline_folder;
use crate::{prewarm, sources};

/// Crates below polars that no public signature leads to, and that are large.
const INNER: [&str; 4] = ["polars-expr", "polars-mem-engine", "polars-json", "polars-async"];
/// Crates whose types and traits appear in signatures of the library or of polars.
const NAMED: [&str; 9] =
    ["serde", "serde_core", "serde_json", "compact_str", "num-traits", "hashbrown", "indexmap", "bitflags", "either"];

/// Writes all packages into `folder`; outlines of third-party crates are kept in `registry` and linked from there.
pub fn write(folder: &Path, registry: &Path) -> Result<()> {
    let metadata = metadata()?;
    let packages = packages(&metadata)?;
    for package in packages.values() {
        package.write(folder, registry, &packages)?;
    }
    if packages.values().any(|package| package.name == "claimlab") {
        Ok(())
    } else {
        bail!("cargo does not list the package claimlab in the workspace");
    }
}

fn metadata() -> Result<Value> {
    let host = sources::rustc(&["-vV"])?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    let mut cargo = Command::new("cargo");
    prewarm::as_if_typed(&mut cargo);
    let output = cargo
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .current_dir(sources::workspace()?)
        .output()
        .context("cannot run `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` printed something else than JSON")
}

#[derive(Debug)]
struct Package {
    name: String,
    version: String,
    edition: String,
    library: String,
    source: PathBuf,
    is_ours: bool,
    features: BTreeSet<String>,
    /// Names in the code, and the packages' ids.
    dependencies: BTreeMap<String, String>,
}

fn packages(metadata: &Value) -> Result<BTreeMap<String, Package>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut nodes = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        nodes.insert(text(&node["id"]), node);
    }
    let mut found = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        let wanted = name == "claimlab" || name == "claimlab-protocol" || NAMED.contains(&name.as_str());
        if !wanted && (!name.starts_with("polars") || INNER.contains(&name.as_str())) {
            continue;
        }
        let id = text(&package["id"]);
        let library = list(&package["targets"]).into_iter().find(|target| {
            list(&target["kind"]).iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "dylib")))
        });
        let (Some(node), Some(library)) = (nodes.get(&id), library) else { continue };
        found.insert(
            id,
            Package {
                version: text(&package["version"]),
                edition: text(&package["edition"]),
                library: text(&library["name"]),
                source: PathBuf::from(text(&library["src_path"])),
                is_ours: package["source"].is_null(),
                features: list(&node["features"]).iter().map(text).filter(|name| name != "default").collect(),
                dependencies: list(&node["deps"])
                    .iter()
                    .filter(|dependency| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()))
                    .map(|dependency| (text(&dependency["name"]), text(&dependency["pkg"])))
                    .collect(),
                name,
            },
        );
    }
    Ok(found)
}

impl Package {
    /// The library's own package has the plain name, since cells name it.
    fn folder_name(&self) -> String {
        if self.is_ours { self.name.clone() } else { format!("{}-{}", self.name, self.version) }
    }

    fn write(&self, folder: &Path, registry: &Path, all: &BTreeMap<String, Self>) -> Result<()> {
        let place = folder.join(self.folder_name());
        let from = self.source.parent().context("a crate's root file has no folder")?;
        let to = place.join("src");
        if self.is_ours {
            outline_folder(from, &to, true)?;
        } else {
            let kept = registry.join(self.folder_name());
            if !kept.is_dir() {
                super::in_one_step(&kept, |temporary| outline_folder(from, temporary, false))?;
            }
            link_folder(&kept, &to)?;
        }
        let root = self.source.file_name().context("a crate's root file has no name")?;
        let manifest = self.manifest(&root.to_string_lossy(), all);
        std::fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        std::fs::write(place.join("Cargo.toml"), manifest)
            .with_context(|| format!("cannot write the outline's manifest in {}", place.display()))
    }

    fn manifest(&self, root: &str, all: &BTreeMap<String, Self>) -> String {
        let dependencies: Vec<(&String, &Self)> =
            self.dependencies.iter().filter_map(|(name, id)| all.get(id).map(|package| (name, package))).collect();
        let mut text = format!(
            "[package]\nname = {:?}\nversion = {:?}\nedition = {:?}\n\n[lib]\nname = {:?}\npath = \"src/{root}\"\n\n[dependencies]\n",
            self.name, self.version, self.edition, self.library
        );
        for (name, package) in &dependencies {
            // Cargo refuses a feature and a dependency of one name unless the feature is what enables it.
            let optional = if self.features.contains(*name) { ", optional = true" } else { "" };
            text.push_str(&format!(
                "{name} = {{ package = {:?}, path = \"../{}\"{optional} }}\n",
                package.name,
                package.folder_name()
            ));
        }
        let enabled: Vec<&String> = self.features.iter().collect();
        text.push_str(&format!("\n[features]\ndefault = {enabled:?}\n"));
        for feature in &self.features {
            let is_dependency = dependencies.iter().any(|(name, _)| *name == feature);
            let enables = if is_dependency { format!("[\"dep:{feature}\"]") } else { "[]".to_owned() };
            text.push_str(&format!("{feature:?} = {enables}\n"));
        }
        text
    }
}

/// The same files at another place, without copying them.
fn link_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))?.flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            link_folder(&entry.path(), &target)?;
        } else if std::fs::hard_link(entry.path(), &target).is_err() {
            std::fs::copy(entry.path(), &target).with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}
