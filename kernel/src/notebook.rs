//! Notebook files: reading any version that nbformat knows, writing in one step.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use nbformat::{Notebook, v4};

/// Reads a notebook; older versions are upgraded to 4.5.
pub fn read(file: &Path) -> Result<v4::Notebook> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("there is no notebook at {}; check the path", file.display())
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read the notebook {}", file.display())),
    };
    let found = nbformat::parse_notebook(&text).map_err(|error| {
        anyhow!(
            "{} is not a notebook that can be read: {error}. Expected Jupyter's JSON (nbformat 3 or 4); \
             open it in JupyterLab and save it again, or restore it from version control.",
            file.display()
        )
    })?;
    match found {
        Notebook::V4(notebook) => Ok(notebook),
        Notebook::V4QuirksMode(notebook) => Ok(notebook.repair()),
        Notebook::Legacy(notebook) => nbformat::upgrade_legacy_notebook(notebook)
            .map_err(|error| anyhow!("{} cannot be upgraded to nbformat 4.5: {error}", file.display())),
        _ => {
            bail!("{} is in an old notebook format; convert it with `jupyter nbconvert --to notebook`", file.display())
        }
    }
}

/// Writes a notebook under its final name in one step.
pub fn write(notebook: &v4::Notebook, file: &Path) -> Result<()> {
    let text = nbformat::serialize_notebook(&Notebook::V4(notebook.clone()))
        .map_err(|error| anyhow!("the executed notebook cannot be written as JSON: {error}"))?;
    let temporary = file.with_extension(format!("ipynb.tmp{}", std::process::id()));
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::rename(&temporary, file))
        .with_context(|| format!("cannot write the executed notebook to {}", file.display()))
}
