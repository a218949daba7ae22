//! `claimlab models`: the library does it, inside the shared object that cells link.

use std::ffi::{CString, c_char};

use anyhow::{Context, Result, anyhow};

use crate::cells::Cells;
use crate::prewarm;

/// Calls the library's function of that name; true if it succeeded.
pub fn models(action: &str, name: &str) -> Result<bool> {
    prewarm::ensure(&|_| {})?;
    let cells = Cells::read(&prewarm::record()?)?;
    let library = cells.load()?;
    let (action, name) = (CString::new(action)?, CString::new(name).context("a model's name holds a zero byte")?);
    // SAFETY: the library was built from this workspace by this compiler; it exports the function with this signature,
    // and is never unloaded.
    let code = unsafe {
        let found = libc::dlsym(library.as_ptr(), c"claimlab_models".as_ptr());
        if found.is_null() {
            return Err(anyhow!("{} does not know models; run `claimlab prewarm`", cells.dylib.display()));
        }
        let call: unsafe extern "C" fn(*const c_char, *const c_char) -> i32 = std::mem::transmute(found);
        call(action.as_ptr(), name.as_ptr())
    };
    Ok(code == 0)
}
