//! `claimlab install`: the kernelspec.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

/// Where the user's own kernelspecs lie.
pub fn user_data() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("JUPYTER_DATA_DIR") {
        return Ok(folder.into());
    }
    if let Some(folder) = std::env::var_os("XDG_DATA_HOME") {
        return Ok(PathBuf::from(folder).join("jupyter"));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).context("HOME is not set; use --prefix")?;
    Ok(if cfg!(target_os = "macos") { home.join("Library/Jupyter") } else { home.join(".local/share/jupyter") })
}

/// Writes the kernelspec `claimlab`.
pub fn install(prefix: Option<&Path>) -> Result<()> {
    let data = prefix.map_or_else(user_data, |prefix| Ok(prefix.join("share/jupyter")))?;
    let folder = data.join("kernels/claimlab");
    let program = std::env::current_exe().context("cannot find the running program's own path")?;
    let spec = json!({
        "argv": [program.display().to_string(), "kernel", "--connection-file", "{connection_file}"],
        "display_name": "ClaimLab (Rust)",
        "language": "rust",
        // A signal would reach kernel, child and compilers at once, and kill what should be kept.
        "interrupt_mode": "message",
    });
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("kernel.json"), format!("{spec:#}\n")))
        .with_context(|| format!("cannot write the kernelspec to {}", folder.display()))?;
    println!("Installed the kernel in {}", folder.display());
    println!("It runs {}: keep that file, or install again after moving it.", program.display());
    println!("Open a notebook with: jupyter lab notebooks/quickstart.ipynb");
    Ok(())
}
