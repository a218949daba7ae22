//! `claimlab doctor`: what is there, what is missing, and what to do about it.

use std::process::Command;

use crate::{install, sources};

/// Prints one line a part; true if notebooks can run.
pub fn doctor() -> bool {
    let mut able = true;
    let mut part = |name: &str, needed: bool, found: anyhow::Result<String>| match found {
        Ok(found) => println!("ok       {name}: {found}"),
        Err(error) => {
            println!("{}  {name}: {error:#}", if needed { "MISSING" } else { "absent " });
            able &= !needed;
        }
    };
    part("compiler", true, sources::rustc(&["-V"]));
    part("library sources", true, sources::workspace().map(|path| path.display().to_string()));
    part("standard library sources", true, sources::std_sources().map(|path| path.display().to_string()));
    part("linker", true, version("cc", "install a C compiler (Debian: apt-get install gcc)"));
    part("library for cells", false, built());
    part("kernelspec", false, kernelspec());
    part("Jupyter", false, version("jupyter", "only for interactive use: pip install jupyterlab"));
    if able {
        println!("\nNotebooks can run: cargo run -- run notebooks/quickstart.ipynb");
    }
    able
}

fn version(program: &str, remedy: &str) -> anyhow::Result<String> {
    let output = Command::new(program).arg("--version").output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or(program).to_owned())
        }
        _ => anyhow::bail!("`{program}` does not run; {remedy}"),
    }
}

fn built() -> anyhow::Result<String> {
    let cells = crate::cells::Cells::read(&crate::prewarm::record()?)?;
    if cells.rustc_version != sources::rustc(&["-V"])? || !cells.dylib.is_file() {
        anyhow::bail!("it was built by another compiler or removed; run `claimlab prewarm`");
    }
    Ok(cells.dylib.display().to_string())
}

fn kernelspec() -> anyhow::Result<String> {
    let file = install::user_data()?.join("kernels/claimlab/kernel.json");
    if !file.is_file() {
        anyhow::bail!("not installed for this user; run `claimlab install` to see the kernel in JupyterLab");
    }
    Ok(file.display().to_string())
}
