//! `claimlab models …`, called by the kernel's binary, which does not contain the library.

use std::ffi::{CStr, c_char};
use std::panic::catch_unwind;

use claimlab::lab::Lab;
use claimlab::model::Shelf;

/// Lists, fetches or verifies models of the lab in the current folder; prints a table, or the error on standard error.
/// Returns 0 if it succeeded.
///
/// # Safety
/// Both arguments point to texts that end in a zero byte; `name` may be empty where none is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn claimlab_models(action: *const c_char, name: *const c_char) -> i32 {
    // SAFETY: promised by the caller.
    let (action, name) = unsafe { (CStr::from_ptr(action), CStr::from_ptr(name)) };
    let (action, name) = (action.to_string_lossy().into_owned(), name.to_string_lossy().into_owned());
    let done = catch_unwind(|| {
        let shelf = Shelf::of(&Lab::open()?)?;
        let table = match (action.as_str(), shelf.advice()) {
            ("list", Some(advice)) => return Ok(advice),
            ("list", None) => shelf.list()?,
            ("fetch", _) => shelf.fetch(&name)?,
            _ => shelf.verify(&name)?,
        };
        Ok::<_, claimlab::Error>(table.to_string())
    });
    match done {
        Ok(Ok(told)) => {
            println!("{told}");
            0
        }
        Ok(Err(error)) => {
            eprintln!("claimlab: {error}");
            1
        }
        Err(_) => 101,
    }
}
