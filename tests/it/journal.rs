//! The journal under kills, in two processes, and on a full disk.

use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimlab::model::{LanguageModel, Prompt};
use claimlab::{Error, ErrorKind, prelude::Lab};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Appends one short line at once, so that lines of several processes never mix.
fn log(file: &Path, line: &str) {
    let mut open = OpenOptions::new().append(true).create(true).open(file).unwrap();
    open.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn prompts(n: usize) -> Vec<Prompt> {
    (0..n).map(|place| Prompt::new(format!("question {place}"))).collect()
}

/// Asks `n` questions of a scripted model behind the journal, and logs every call made and every reply returned.
fn ask(lab: &Lab, log_file: &Path, n: usize, each: Duration) -> Vec<claimlab::Result<claimlab::model::Reply>> {
    let made = log_file.to_owned();
    let model = LanguageModel::scripted("scripted", move |prompt: &Prompt| {
        let question = prompt.messages[0].content.clone();
        log(&made, &format!("made {question}"));
        std::thread::sleep(each);
        Ok(format!("reply of {} to {question}, {}", std::process::id(), "x".repeat(200)))
    });
    let asked = prompts(n);
    model.journaled(lab).unwrap().generate_telling(&asked, &|place, reply| {
        if let Ok(reply) = reply {
            log(log_file, &format!("returned {} {}", asked[place].messages[0].content, &reply.text[..30]));
        }
    })
}

fn child(folder: &Path, n: usize, each: Duration) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["journal::child_of_other_tests", "--exact", "--ignored", "--nocapture"])
        .env("CLAIMLAB_TEST_FOLDER", folder)
        .env("CLAIMLAB_TEST_CALLS", n.to_string())
        .env("CLAIMLAB_TEST_EACH", each.as_micros().to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
#[ignore = "a part of the other tests here, which start it as a process of its own"]
fn child_of_other_tests() {
    let text = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by whoever starts this"));
    let folder = std::path::PathBuf::from(text("CLAIMLAB_TEST_FOLDER"));
    let lab = Lab::at(folder.join("lab")).unwrap();
    let n = text("CLAIMLAB_TEST_CALLS").parse().unwrap();
    let each = Duration::from_micros(text("CLAIMLAB_TEST_EACH").parse().unwrap());
    for result in ask(&lab, &folder.join("log"), n, each) {
        if let Err(error) = result {
            // Short lines: the limit on the size of files is on this one too.
            log(&folder.join("failures"), &format!("{:?} {}", error.kind(), error.to_string().contains("make room")));
        }
    }
}

fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map(|data| data.len()).unwrap_or(0)
}

/// Waits until the child has done something, so that the kill meets it at work.
fn until_it_works(child: &mut Child, file: &Path, before: u64) {
    let began = Instant::now();
    while size(file) == before && began.elapsed() < Duration::from_secs(20) {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}

#[test]
fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let n = 4000;
    let mut kills = 0;
    for round in 0..200 {
        let before = size(&file);
        let mut running = child(folder.path(), n, Duration::from_micros(300)).spawn().unwrap();
        if round % 8 == 0 {
            // Some die while they open the journal.
            std::thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
        } else {
            until_it_works(&mut running, &file, before);
            std::thread::sleep(Duration::from_micros(random.random_range(0..12_000)));
        }
        kills += usize::from(running.try_wait().unwrap().is_none());
        running.kill().unwrap();
        running.wait().unwrap();
    }
    assert!(kills >= 150, "only {kills} of 200 children were still alive to be killed");
    assert!(child(folder.path(), n, Duration::ZERO).status().unwrap().success());
    // Whatever was returned was never asked again, by whichever process.
    let (mut returned, mut made) = (HashSet::new(), HashMap::<String, usize>::new());
    for line in lines(&file) {
        let words: Vec<&str> = line.split(' ').collect();
        let question = words[2].to_owned();
        if words[0] == "made" {
            assert!(!returned.contains(&question), "question {question} was asked again after its reply was returned");
            *made.entry(question).or_default() += 1;
        } else {
            returned.insert(question);
        }
    }
    assert_eq!(returned.len(), n);
    // A call can be repeated only if a kill met it between the model and the journal: once a kill at most.
    let repeated: usize = made.values().map(|times| times - 1).sum();
    assert!(repeated <= kills, "{repeated} repeated calls by {kills} kills");
    let journal = Lab::at(folder.path().join("lab")).unwrap().journal().unwrap();
    assert_eq!(journal.len(), n);
    println!(
        "{kills} kills: {n} calls recorded, {repeated} interrupted calls made again, {} torn lines",
        journal.torn()
    );
}

#[test]
fn two_processes_share_the_work_and_the_replies() {
    let folder = tempfile::tempdir().unwrap();
    let n = 300;
    let mut both: Vec<Child> =
        (0..2).map(|_| child(folder.path(), n, Duration::from_millis(2)).spawn().unwrap()).collect();
    for one in &mut both {
        assert!(one.wait().unwrap().success());
    }
    let log = lines(&folder.path().join("log"));
    let made: Vec<&String> = log.iter().filter(|line| line.starts_with("made")).collect();
    assert_eq!(made.len(), n, "neither process repeats a call of the other");
    let mut replies: HashMap<&str, HashSet<&str>> = HashMap::new();
    for line in log.iter().filter(|line| line.starts_with("returned")) {
        let (question, reply) = line["returned question ".len()..].split_once(' ').unwrap();
        replies.entry(question).or_default().insert(reply);
    }
    assert_eq!(log.len() - made.len(), 2 * n, "both get all replies");
    assert!(replies.values().all(|different| different.len() == 1), "and the same ones");
}

#[test]
fn a_full_disk_stops_cleanly_and_costs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let n = 200;
    let inner = child(folder.path(), n, Duration::ZERO);
    let mut limited = Command::new("bash");
    // A limit on the size of files stands for a full disk: a write is cut short, the next one fails.
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 24; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args());
    limited.envs(inner.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    assert!(limited.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    let failures = lines(&folder.path().join("failures"));
    assert!(failures.len() > 100 && failures.iter().all(|line| line == "Io true"));
    let kept: HashSet<String> = lines(&folder.path().join("log"))
        .iter()
        .filter(|line| line.starts_with("returned"))
        .map(|line| line.split(' ').nth(2).unwrap().to_owned())
        .collect();
    assert!(!kept.is_empty());
    let journal = Lab::at(folder.path().join("lab")).unwrap().journal().unwrap();
    assert_eq!((journal.torn(), journal.len()), (0, kept.len()), "no half lines, and all that was returned");
    std::fs::remove_file(folder.path().join("log")).unwrap();
    assert!(child(folder.path(), n, Duration::ZERO).status().unwrap().success());
    let made = lines(&folder.path().join("log")).iter().filter(|line| line.starts_with("made")).count();
    assert_eq!(made, n - kept.len(), "a rerun makes only the missing calls");
}

#[test]
fn a_reply_that_the_disk_refused_is_kept_in_memory_and_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("lab");
    let lab = Lab::at(&place).unwrap();
    let calls = Arc::new(Mutex::new(0));
    let (counted, broken) = (calls.clone(), place.clone());
    let model = LanguageModel::scripted("m", move |_| {
        *counted.lock().unwrap() += 1;
        // A file where the folder was: what this call returns cannot be written.
        std::fs::remove_dir_all(&broken).unwrap();
        std::fs::write(&broken, "").unwrap();
        Ok("paid".into())
    });
    let model = model.journaled(&lab).unwrap();
    for _ in 0..2 {
        let told = model.ask("a").unwrap_err().to_string();
        assert!(told.contains("journal"), "{told}");
    }
    std::fs::remove_file(&place).unwrap();
    assert_eq!(model.ask("a").unwrap(), "paid");
    assert_eq!((*calls.lock().unwrap(), lab.journal().unwrap().len()), (1, 1));
}

#[test]
fn keys_cover_prompt_settings_and_attempt_and_failures_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let model = LanguageModel::scripted("m", move |prompt: &Prompt| {
        let mut seen = seen.lock().unwrap();
        seen.push(prompt.clone());
        let n = seen.len();
        if prompt.messages[0].content == "fail" && n < 3 {
            return Err(Error::new(ErrorKind::Model, "a refusal"));
        }
        Ok(format!("reply {n}"))
    });
    let model = model.journaled(&lab).unwrap();
    let ask = |prompt: Prompt| model.generate(&[prompt]).pop().unwrap().map(|reply| reply.text);
    assert!(ask(Prompt::new("fail")).is_err() && ask(Prompt::new("fail")).is_err());
    assert_eq!(ask(Prompt::new("fail")).unwrap(), "reply 3");
    assert_eq!(ask(Prompt::new("fail")).unwrap(), "reply 3");
    assert_eq!(ask(Prompt::new("fail").attempt(2)).unwrap(), "reply 4");
    assert_eq!(ask(Prompt::new("fail").max_tokens(9)).unwrap(), "reply 5");
    assert_eq!(ask(Prompt::new("fail").system("s")).unwrap(), "reply 6");
    // The same call three times in one request is one call.
    let same = model.generate(&[Prompt::new("x"), Prompt::new("x"), Prompt::new("y"), Prompt::new("x")]);
    let texts: Vec<String> = same.into_iter().map(|reply| reply.unwrap().text).collect();
    assert_eq!((texts[0] == texts[1], texts[0] == texts[3], texts[0] == texts[2]), (true, true, false));
    assert_eq!(calls.lock().unwrap().len(), 8);
    assert_eq!(lab.journal().unwrap().len(), 6);
}

#[test]
fn a_copy_of_the_journal_is_a_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let model = LanguageModel::scripted("m", |prompt: &Prompt| Ok(format!("to {}", prompt.messages[0].content)));
    let _ = model.journaled(&lab).unwrap().generate(&prompts(3));
    let cassette = folder.path().join("calls.jsonl");
    std::fs::copy(lab.journal().unwrap().path(), &cassette).unwrap();
    let mut permissions = std::fs::metadata(&cassette).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&cassette, permissions).unwrap();
    let replayed = LanguageModel::cassette("m", &cassette).unwrap();
    assert_eq!(replayed.ask("question 9").unwrap_err().kind(), ErrorKind::NotFound);
    let results = replayed.generate(&prompts(4));
    assert_eq!(results[2].as_ref().unwrap().text, "to question 2");
    let told = results[3].as_ref().unwrap_err().to_string();
    assert!(told.contains("question 3") && told.contains("record it again"), "{told}");
    assert!(LanguageModel::cassette("other", &cassette).unwrap_err().to_string().contains("\"m\""));
    assert!(LanguageModel::cassette("m", folder.path().join("none")).is_err());
}
