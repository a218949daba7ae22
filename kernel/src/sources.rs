//! Where the library's sources, its build and the compiler are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The checkout that this binary was built from; cells compile against the library in it.
///
/// Cargo takes a checkout's crates for another's where both share a target folder, so the path that was compiled in
/// may be the other one's; the list of sources that cargo writes beside the binary with every build is right.
pub fn workspace() -> Result<PathBuf> {
    let root = std::env::var_os("CLAIMLAB_SOURCE")
        .map(PathBuf::from)
        .or_else(listed_by_cargo)
        .or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned));
    match root {
        Some(root) if root.join("kernel/dylib/Cargo.toml").is_file() => Ok(root),
        Some(root) => bail!(
            "the ClaimLab sources that this kernel was built from are not at {}: cells compile against them. \
             Set CLAIMLAB_SOURCE to the checkout, or build the kernel again where it lies now.",
            root.display()
        ),
        None => bail!("the kernel does not know its sources; set CLAIMLAB_SOURCE to the checkout"),
    }
}

/// The checkout according to `claimlab.d` beside the binary.
fn listed_by_cargo() -> Option<PathBuf> {
    let list = std::fs::read_to_string(std::env::current_exe().ok()?.with_extension("d")).ok()?;
    let main = list.split_whitespace().find_map(|path| path.strip_suffix("/kernel/src/main.rs"))?;
    Path::new(main).join("kernel/dylib/Cargo.toml").is_file().then(|| PathBuf::from(main))
}

/// The cargo target folder that this binary lies in (`…/target`).
pub fn target_dir() -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot find the running program's own path")?;
    // …/target/debug/claimlab, or …/target/debug/deps/… for a test binary.
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned).with_context(|| {
        format!(
            "{} does not lie in a cargo target folder; run it from there (cargo run -p claimlab-kernel -- …)",
            program.display()
        )
    })
}

/// Output of `rustc` with one argument list, as text.
pub fn rustc(arguments: &[&str]) -> Result<String> {
    let root = workspace()?;
    let output = Command::new("rustc")
        .args(arguments)
        .current_dir(&root)
        .output()
        .context("cannot run `rustc`; install Rust with rustup (https://rustup.rs)")?;
    if !output.status.success() {
        bail!("`rustc {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The compiler's own folder.
pub fn sysroot() -> Result<PathBuf> {
    Ok(PathBuf::from(rustc(&["--print", "sysroot"])?))
}

/// The standard library's sources. rust-analyzer reads the types of a cell's variables from them.
///
/// Looked for in `RUST_SRC_PATH`, in the toolchain (rustup's component `rust-src`), and where Debian's package
/// puts them.
///
/// Asked first before the session's environment names their outline, and remembered.
pub fn std_sources() -> Result<PathBuf> {
    static FOUND: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    find_std_sources().map(|found| FOUND.get_or_init(|| found).clone())
}

fn find_std_sources() -> Result<PathBuf> {
    let has_core = |folder: &PathBuf| folder.join("core/src/lib.rs").is_file();
    if let Some(folder) = std::env::var_os("RUST_SRC_PATH").map(PathBuf::from).filter(has_core) {
        return Ok(folder);
    }
    let in_toolchain = sysroot()?.join("lib/rustlib/src/rust/library");
    if has_core(&in_toolchain) {
        return Ok(in_toolchain);
    }
    let mut from_debian: Vec<PathBuf> = std::fs::read_dir("/usr/src")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("rustc-"))
        .map(|entry| entry.path().join("library"))
        .filter(has_core)
        .collect();
    from_debian.sort();
    if let Some(folder) = from_debian.pop() {
        return Ok(folder);
    }
    let added = Command::new("rustup").args(["component", "add", "rust-src"]).current_dir(workspace()?).output();
    if has_core(&in_toolchain) {
        return Ok(in_toolchain);
    }
    let why = match added {
        Ok(output) => String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned(),
        Err(error) => error.to_string(),
    };
    bail!(
        "the standard library's sources are missing, and without them the types of a cell's variables cannot be \
         found. `rustup component add rust-src` failed here ({why}). Run it where there is a network, or set \
         RUST_SRC_PATH to a folder that holds core/src/lib.rs (Debian's package rust-web-src puts one in /usr/src)."
    )
}
