//! The library without its code: a shared object with nothing but the compiler's metadata.
//!
//! A cell's undefined names are resolved when it is loaded, since the process that runs it has the library in memory. So the
//! linker need not see the library at all: with its symbols it takes 0.2 s longer a cell.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Where rustc keeps what it must know of a crate.
const SECTION: &str = ".rustc";

/// The library's metadata as a file of the same name, made once a build. Where it cannot be made the library itself serves,
/// only slower.
pub fn of(dylib: &Path, progress: &dyn Fn(&str)) -> PathBuf {
    match make(dylib) {
        Ok(file) => file,
        Err(error) => {
            progress(&format!("Cells will link the whole library, which takes longer: {error:#}"));
            dylib.to_owned()
        }
    }
}

fn make(dylib: &Path) -> Result<PathBuf> {
    let name = dylib.file_name().context("the library has no name")?;
    let folder = dylib.with_file_name("claimlab-metadata");
    let file = folder.join(name);
    let changed = |path: &Path| std::fs::metadata(path).and_then(|about| about.modified());
    if let (Ok(made), Ok(built)) = (changed(&file), changed(dylib))
        && made >= built
    {
        return Ok(file);
    }
    let own = folder.join(std::process::id().to_string());
    std::fs::create_dir_all(&own).with_context(|| format!("cannot create {}", own.display()))?;
    let made = assemble(dylib, &own, &own.join(name)).and_then(|()| {
        std::fs::rename(own.join(name), &file).with_context(|| format!("cannot write {}", file.display()))
    });
    // A folder that stays behind costs some kilobytes.
    let _ = std::fs::remove_dir_all(&own);
    made.map(|()| file)
}

fn assemble(dylib: &Path, folder: &Path, to: &Path) -> Result<()> {
    let dumped = folder.join("section");
    let mut dump = std::ffi::OsString::from(format!("{SECTION}="));
    dump.push(&dumped);
    run(Command::new("objcopy").arg("--dump-section").arg(dump).arg(dylib).arg("/dev/null"))?;
    let source = folder.join("section.s");
    let text =
        format!(".section {SECTION},\"\",%progbits\n.incbin \"section\"\n.section .note.GNU-stack,\"\",%progbits\n");
    std::fs::write(&source, text).with_context(|| format!("cannot write {}", source.display()))?;
    run(Command::new("cc").current_dir(folder).args(["-shared", "-nostdlib", "section.s", "-o"]).arg(to))
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_is_kept_and_the_symbols_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libwhole.so");
        std::fs::write(folder.path().join("a.c"), "int answer(void) { return 42; }\n").unwrap();
        std::fs::write(
            folder.path().join("b.s"),
            ".section .rustc,\"\",%progbits\n.ascii \"metadata of whole\"\n.section .note.GNU-stack,\"\",%progbits\n",
        )
        .unwrap();
        run(Command::new("cc").current_dir(&folder).args(["-shared", "a.c", "b.s", "-o", "libwhole.so"])).unwrap();
        let made = make(&library).unwrap();
        assert_eq!(made.file_name(), library.file_name());
        let bytes = std::fs::read(&made).unwrap();
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(holds(b"metadata of whole") && !holds(b"answer"));
        // Made once: the second call finds it.
        assert_eq!(make(&library).unwrap(), made);
        assert_eq!(std::fs::read_dir(made.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn without_a_section_the_library_itself_serves() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libplain.so");
        std::fs::write(&library, "no library").unwrap();
        let said = std::cell::RefCell::new(String::new());
        assert_eq!(of(&library, &|line| said.borrow_mut().push_str(line)), library);
        assert!(said.borrow().contains("takes longer"));
    }
}
