//! Ending what a session started, by process id.

use std::collections::HashMap;

/// Ends every compiler that descends from this process, and nothing else; true if there was one.
pub fn kill_compilers() -> bool {
    let mut parents: HashMap<i32, (i32, String)> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // pid (name) state parent …; the name may hold spaces and parentheses.
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { continue };
        let parent = stat[close + 1..].split_whitespace().nth(1).and_then(|text| text.parse().ok());
        if let Some(parent) = parent {
            parents.insert(pid, (parent, stat[open + 1..close].to_owned()));
        }
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let descends = |mut pid: i32| {
        for _ in 0..64 {
            match parents.get(&pid) {
                Some((parent, _)) if *parent == own => return true,
                Some((parent, _)) => pid = *parent,
                None => return false,
            }
        }
        false
    };
    let mut found = false;
    for (&pid, (_, name)) in &parents {
        if matches!(name.as_str(), "rustc" | "cargo" | crate::standin::NAME) && descends(pid) {
            found = true;
            signal(pid, libc::SIGKILL);
        }
    }
    found
}

/// Sends a signal to one process.
pub fn signal(pid: i32, signal: i32) {
    if pid > 1 {
        // SAFETY: kill has no memory effects; the id is of a process that this program started.
        unsafe { libc::kill(pid, signal) };
    }
}
