//! A model on a thread of its own: loaded there, used there, dropped there.
//!
//! A panic inside is an error of the call, and the next call loads the model again. Models that have not been used for
//! longest make room when memory runs short.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::error::{Error, ErrorKind, Result};

pub(super) type Job<M> = Box<dyn FnOnce(&mut M) + Send>;

pub(super) struct Worker<M: 'static> {
    name: String,
    /// About how much memory it takes.
    bytes: u64,
    load: Box<dyn Fn() -> Result<M> + Send + Sync>,
    jobs: Mutex<Option<Sender<Job<M>>>>,
    used: AtomicU64,
    /// What the last panic said.
    broke: Arc<Mutex<Option<String>>>,
    /// For handing a share of itself to its thread.
    me: Weak<Self>,
}

impl<M> std::fmt::Debug for Worker<M> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Worker").field("name", &self.name).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A model that can leave memory.
trait Resident: Send + Sync {
    fn bytes_loaded(&self) -> u64;
    fn last_used(&self) -> u64;
    fn unload(&self);
}

fn residents() -> MutexGuard<'static, Vec<Weak<dyn Resident>>> {
    static RESIDENTS: OnceLock<Mutex<Vec<Weak<dyn Resident>>>> = OnceLock::new();
    RESIDENTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn tick() -> u64 {
    static CLOCK: AtomicU64 = AtomicU64::new(1);
    CLOCK.fetch_add(1, Ordering::Relaxed)
}

impl<M: 'static> Worker<M> {
    pub(super) fn new(name: &str, bytes: u64, load: impl Fn() -> Result<M> + Send + Sync + 'static) -> Arc<Self> {
        let made = Arc::new_cyclic(|me: &Weak<Self>| Self {
            name: name.to_owned(),
            bytes,
            load: Box::new(load),
            jobs: Mutex::default(),
            used: AtomicU64::new(tick()),
            broke: Arc::default(),
            me: me.clone(),
        });
        let resident: Arc<dyn Resident> = made.clone();
        let mut all = residents();
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&resident));
        made
    }

    /// Loads the model if it is not in memory.
    pub(super) fn ready(&self) -> Result<()> {
        self.post(Box::new(|_| ()))
    }

    /// Leaves a job to the model's thread.
    pub(super) fn post(&self, job: Job<M>) -> Result<()> {
        self.used.store(tick(), Ordering::Relaxed);
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match jobs.as_ref() {
            None => job,
            Some(sender) => match sender.send(job) {
                Ok(()) => return Ok(()),
                Err(refused) => refused.0,
            },
        };
        self.start(&mut jobs, job)
    }

    fn start(&self, jobs: &mut Option<Sender<Job<M>>>, job: Job<M>) -> Result<()> {
        make_room(self.bytes, &self.name)?;
        let gone = || Error::new(ErrorKind::Internal, format!("{}: no thread for the model", self.name));
        let me = self.me.upgrade().ok_or_else(gone)?;
        let (sender, receiver) = channel::<Job<M>>();
        let (loaded, is_loaded) = channel();
        let broke = self.broke.clone();
        let run = move || {
            let model = catch_unwind(AssertUnwindSafe(|| (me.load)()));
            drop(me);
            let mut model = match model {
                Ok(Ok(model)) => {
                    let _ = loaded.send(Ok(()));
                    model
                }
                Ok(Err(error)) => {
                    let _ = loaded.send(Err(error));
                    return;
                }
                Err(panic) => {
                    let _ = loaded
                        .send(Err(Error::new(ErrorKind::Internal, format!("loading panicked: {}", said(&*panic)))));
                    return;
                }
            };
            for job in receiver {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(&mut model))) {
                    *broke.lock().unwrap_or_else(PoisonError::into_inner) = Some(said(&*panic));
                    return;
                }
            }
        };
        std::thread::Builder::new().name(format!("claimlab {}", self.name)).spawn(run).map_err(|_| gone())?;
        is_loaded.recv().map_err(|_| gone())?.map_err(|error| error.context(format!("loading {}", self.name)))?;
        let _ = sender.send(job);
        *jobs = Some(sender);
        Ok(())
    }

    /// Does something with the model and waits for it.
    pub(super) fn call<R: Send + 'static>(&self, work: impl FnOnce(&mut M) -> R + Send + 'static) -> Result<R> {
        let (done, is_done) = channel();
        self.post(Box::new(move |model| {
            let _ = done.send(work(model));
        }))?;
        is_done.recv().map_err(|_| self.broken())
    }

    /// Why the thread ended in the middle of a job.
    pub(super) fn broken(&self) -> Error {
        // The thread drops what we wait for before it writes down why.
        let said = (0..100).find_map(|_| {
            let said = self.broke.lock().unwrap_or_else(PoisonError::into_inner).take();
            if said.is_none() {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            said
        });
        let said = said.unwrap_or_else(|| "its thread ended".to_owned());
        Error::new(ErrorKind::Internal, format!("the model {} panicked: {said}", self.name))
            .help("run the cell again: the model is loaded anew")
    }
}

impl<M: 'static> Resident for Worker<M> {
    fn bytes_loaded(&self) -> u64 {
        let is_loaded = self.jobs.try_lock().is_ok_and(|jobs| jobs.is_some());
        if is_loaded { self.bytes } else { 0 }
    }

    fn last_used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn unload(&self) {
        // The thread ends after the job that it is at.
        if let Ok(mut jobs) = self.jobs.try_lock() {
            *jobs = None;
        }
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// Bytes that models may take together: `CLAIMLAB_MODEL_MEMORY` in GiB, else three quarters of the machine's memory.
fn budget() -> u64 {
    if let Some(gibibytes) =
        std::env::var("CLAIMLAB_MODEL_MEMORY").ok().and_then(|text| text.trim().parse::<f64>().ok())
    {
        return (gibibytes * f64::from(1 << 30)) as u64;
    }
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    memory.map_or(u64::MAX, |kibibytes| kibibytes * 1024 / 4 * 3)
}

fn make_room(bytes: u64, name: &str) -> Result<()> {
    make_room_within(bytes, name, budget())
}

fn make_room_within(bytes: u64, name: &str, budget: u64) -> Result<()> {
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    if bytes > budget {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("{name} needs about {:.1} GiB, models may take {:.1} GiB", gibibytes(bytes), gibibytes(budget)),
        )
        .help("take a smaller quantization, or raise CLAIMLAB_MODEL_MEMORY (in GiB)"));
    }
    let mut loaded: Vec<(u64, u64, Arc<dyn Resident>)> = residents()
        .iter()
        .filter_map(Weak::upgrade)
        .map(|resident| (resident.last_used(), resident.bytes_loaded(), resident))
        .filter(|(_, bytes, _)| *bytes > 0)
        .collect();
    loaded.sort_by_key(|(used, _, _)| *used);
    let mut taken: u64 = loaded.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, frees, resident) in loaded {
        if taken + bytes <= budget {
            break;
        }
        resident.unload();
        taken -= frees;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_call_loads_again() -> Result<()> {
        let worker = Worker::new("fragile", 1, || Ok(7));
        assert_eq!(worker.call(|model| *model)?, 7);
        let told = worker.call(|_| -> u32 { panic!("index out of range") }).unwrap_err().to_string();
        assert!(told.contains("index out of range") && told.contains("loaded anew"), "{told}");
        // The thread may still be on its way out.
        let again = (0..50).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            worker.call(|model| *model).ok()
        });
        assert_eq!(again, Some(7));
        Ok(())
    }

    #[test]
    fn the_model_that_rested_longest_makes_room() -> Result<()> {
        let tebibyte = 1 << 40;
        let made: Vec<_> = (0..3).map(|place| Worker::new(&format!("m{place}"), tebibyte, move || Ok(place))).collect();
        // Far larger than all that other tests have in memory; the threads are put there by hand, for no machine could
        // load them.
        for worker in [&made[1], &made[0]] {
            *worker.jobs.lock().unwrap() = Some(channel().0);
            worker.used.store(tick(), Ordering::Relaxed);
        }
        make_room_within(tebibyte, "m2", 2 * tebibyte)?;
        assert_eq!((made[0].bytes_loaded(), made[1].bytes_loaded()), (tebibyte, 0));
        assert_eq!(make_room_within(tebibyte, "m2", tebibyte / 2).unwrap_err().kind(), ErrorKind::Limit);
        Ok(())
    }
}
