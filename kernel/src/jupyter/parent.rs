//! The end of a kernel whose client was killed, and so will never ask for shutdown.

use std::ffi::OsString;
use std::os::unix::process::parent_id;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

/// In it, Jupyter's clients name themselves to the kernels that they start for themselves.
pub const PID_ENV: &str = "JPY_PARENT_PID";
/// How often the client is looked for.
const PAUSE: Duration = Duration::from_secs(2);

/// Ends the kernel when the process that started it is gone, or the client, which may stand further away: behind a
/// shell, or behind another program that prepares the kernel's environment.
pub async fn end_with(client: OsString, ended: UnboundedSender<()>) {
    let client: Option<u32> = client.to_str().and_then(|text| text.trim().parse().ok());
    // A client that cannot be seen from here (in another container, say) cannot be seen to end.
    let began = client.and_then(beginning);
    let parent = parent_id();
    while parent_id() == parent && (began.is_none() || client.and_then(beginning) == began) {
        tokio::time::sleep(PAUSE).await;
    }
    let _ = ended.send(());
}

/// When a process began, which tells it from a later one with its number; nothing when there is none, or when it has
/// ended and nobody has asked yet how.
fn beginning(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // pid (name) state parent …, and the beginning as the 22nd; the name may hold spaces and parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn a_process_has_a_beginning_until_it_ends() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            return;
        }
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let began = beginning(child.id());
        assert!(began.is_some());
        assert_eq!(beginning(child.id()), began, "and always the same one");
        child.kill().unwrap();
        let dead = || beginning(child.id()).is_none();
        // It stays as a zombie until it is waited for.
        for _ in 0..1000 {
            if dead() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(dead());
        child.wait().unwrap();
        assert_eq!(beginning(child.id()), None);
    }
}
