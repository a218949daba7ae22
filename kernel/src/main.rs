//! `claimlab`: the Jupyter kernel, the headless notebook runner and the installer, in one binary.
//!
//! The same file plays four roles, told apart before anything else happens, since evcxr starts copies of it:
//! the stand-in for cargo (named `mold` on the kernel's PATH), the child that runs cells, the kernel, and the
//! commands that a person types.

mod cells;
mod child;
mod commands;
mod doctor;
mod environment;
mod install;
mod jupyter;
mod metadata;
mod models;
mod notebook;
mod outcome;
mod outline;
mod outputs;
mod prewarm;
mod process;
mod run;
mod session;
mod sources;
mod standin;

use std::process::ExitCode;

fn main() -> ExitCode {
    if standin::is_asked() {
        return standin::main();
    }
    if child::is_asked() {
        return child::main();
    }
    commands::main()
}
