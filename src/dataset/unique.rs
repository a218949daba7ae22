//! Identifiers that stay apart.

use std::collections::{HashMap, HashSet};

/// Gives out identifiers, each once.
#[derive(Debug, Default)]
pub(super) struct UniqueIds {
    taken: HashSet<String>,
    times: HashMap<String, usize>,
}

impl UniqueIds {
    /// The identifier as it is, or with `~2`, `~3`, … where it was given out before.
    pub fn give(&mut self, id: &str) -> String {
        if self.taken.insert(id.to_owned()) {
            return id.to_owned();
        }
        let times = self.times.entry(id.to_owned()).or_insert(1);
        loop {
            *times += 1;
            // A file may hold an identifier that looks like one of these.
            let name = format!("{id}~{times}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_identifier_is_given_out_twice() {
        let mut ids = UniqueIds::default();
        let given: Vec<String> = ["a", "a~2", "a", "a", "b", "a~2"].iter().map(|id| ids.give(id)).collect();
        assert_eq!(given, ["a", "a~2", "a~3", "a~4", "b", "a~2~2"]);
    }
}
