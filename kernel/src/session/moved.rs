//! Variables that a cell moved away, so that a later cell which misses one can be told where it went.

use std::collections::{BTreeMap, BTreeSet};

use crate::outcome::CellError;

/// What was moved, and by which line.
#[derive(Debug, Default)]
pub struct Moved {
    known: BTreeSet<String>,
    gone: BTreeMap<String, String>,
}

impl Moved {
    /// Notes what there is before a cell runs.
    pub fn before(&mut self, names: impl Iterator<Item = String>) {
        self.known = names.collect();
    }

    /// Notes what a cell that succeeded has moved away.
    pub fn after<'a>(&mut self, code: &str, names: impl Iterator<Item = &'a str>) {
        let now: BTreeSet<&str> = names.collect();
        self.gone.retain(|name, _| !now.contains(name.as_str()));
        for name in self.known.iter().filter(|name| !now.contains(name.as_str())) {
            let line = code.lines().rev().find(|line| mentions(line, name)).unwrap_or(code).trim();
            self.gone.insert(name.clone(), line.to_owned());
        }
    }

    /// Adds to a compile error what is known of the names that it misses.
    pub fn explain(&self, error: &mut CellError) {
        if error.ename != "CompileError" {
            return;
        }
        let text = error.traceback.join("\n");
        for (name, line) in &self.gone {
            if text.contains(&format!("cannot find value `{name}`")) {
                let hint = format!(
                    "`{name}` was moved by an earlier cell, in `{line}`. There, lend it (`&{name}`) or give a copy \
                     (`{name}.clone()`); then run the cell that made it again."
                );
                error.evalue = format!("{} ({hint})", error.evalue);
                error.traceback.push(format!("hint: {hint}"));
            }
        }
    }
}

fn mentions(line: &str, name: &str) -> bool {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_is_told_where_it_went() {
        let mut moved = Moved::default();
        moved.before(["table".to_owned(), "n".to_owned()].into_iter());
        moved.after("let m = n;\ndrop(table);", ["m", "n"].into_iter());
        let mut error = CellError::new("CompileError", "cannot find value `table` in this scope");
        moved.explain(&mut error);
        assert!(error.evalue.contains("drop(table);") && error.evalue.contains("&table"), "{}", error.evalue);
        moved.after("let table = 1;", ["table"].into_iter());
        let mut again = CellError::new("CompileError", "cannot find value `table` in this scope");
        moved.explain(&mut again);
        assert!(!again.evalue.contains("moved"));
    }
}
