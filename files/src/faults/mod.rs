//! For tests: makes calls of the system fail, and records what calls change on the disk.
//!
//! Both hold for the whole process. While nothing is asked for, a call costs a look at a flag.

mod event;

use std::io::{Seek, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

use super::Call;
pub use event::Event;

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The disk fails once (`EIO`).
    Io,
    /// The disk is full (`ENOSPC`) from that call on, for all calls that may need room.
    NoSpace,
    /// A signal comes before a call that can be interrupted has done anything (`EINTR`).
    Interrupted,
    /// Half of the bytes are read.
    ShortRead,
    /// Half of the bytes are written.
    ShortWrite,
}

impl Kind {
    /// All kinds, with their names.
    pub const ALL: [(Kind, &'static str); 5] = [
        (Kind::Io, "EIO"),
        (Kind::NoSpace, "ENOSPC"),
        (Kind::Interrupted, "EINTR"),
        (Kind::ShortRead, "short-read"),
        (Kind::ShortWrite, "short-write"),
    ];

    /// Whether a run goes on as if nothing had happened.
    pub fn is_invisible(self) -> bool {
        matches!(self, Kind::Interrupted | Kind::ShortRead | Kind::ShortWrite)
    }

    /// Whether `call`, of so many bytes, can fail like this.
    fn can_strike(self, call: Call<'_>, len: usize) -> bool {
        match (self, call) {
            (Kind::Io, _) => true,
            (Kind::NoSpace, Call::Open(path)) => !path.exists(),
            (Kind::NoSpace, _) => matches!(
                call,
                Call::Temporary
                    | Call::Unnamed
                    | Call::Write(..)
                    | Call::SetLen(..)
                    | Call::Sync(_)
                    | Call::SyncDirectory(_)
                    | Call::Link(..)
                    | Call::Rename(..)
                    | Call::CreateDirectory(_)
            ),
            // The standard library repeats the others.
            (Kind::Interrupted, _) => {
                use Call::{Link, Read, Temporary, Unnamed, Write};
                matches!(call, Read | Write(..) | Temporary | Unnamed | Link(..))
            }
            (Kind::ShortRead, _) => matches!(call, Call::Read) && len > 1,
            (Kind::ShortWrite, _) => matches!(call, Call::Write(..)) && len > 1,
        }
    }

    fn error(self) -> io::Error {
        #[cfg(unix)]
        {
            use rustix::io::Errno;
            match self {
                Kind::NoSpace => Errno::NOSPC,
                Kind::Interrupted => Errno::INTR,
                _ => Errno::IO,
            }
            .into()
        }
        #[cfg(not(unix))]
        match self {
            Kind::NoSpace => io::ErrorKind::StorageFull.into(),
            Kind::Interrupted => io::ErrorKind::Interrupted.into(),
            _ => io::Error::other("Input/output error"),
        }
    }
}

/// What happens to calls.
#[derive(Debug, Default)]
pub struct Plan {
    /// The call that fails, counted from 0 among those that can fail like this, and how.
    pub fault: Option<(Kind, u64)>,
    /// The names of the calls that can fail; empty for all.
    pub only: Vec<String>,
    /// Whether there are no files without names, as on many file systems.
    pub is_without_unnamed: bool,
    /// The first call that gives a file a name makes this file and waits until somebody removes it.
    pub stall: Option<PathBuf>,
    /// A file that takes the [`Event`]s, each as a line of JSON.
    pub record: Option<PathBuf>,
    /// A file that takes the name of the call that failed, once one has.
    pub report: Option<PathBuf>,
}

impl Plan {
    /// Parses words such as `EIO:17`, `only:Open,Rename`, `no-unnamed`, `stall:PATH`, `record:PATH` and `report:PATH`, separated by spaces.
    ///
    /// # Errors
    /// The word that is none of these.
    pub fn from_text(text: &str) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for word in text.split(' ') {
            match word.split_once(':').unwrap_or((word, "")) {
                ("no-unnamed", _) => plan.is_without_unnamed = true,
                ("only", names) => plan.only = names.split(',').map(str::to_owned).collect(),
                ("stall", path) => plan.stall = Some(path.into()),
                ("record", path) => plan.record = Some(path.into()),
                ("report", path) => plan.report = Some(path.into()),
                (name, number) => {
                    let kind = Kind::ALL.iter().find(|(_, known)| *known == name);
                    let fault = kind.map(|(kind, _)| *kind).zip(number.parse().ok());
                    plan.fault = Some(fault.ok_or_else(|| word.to_owned())?);
                }
            }
        }
        Ok(plan)
    }
}

static ACTIVE: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State { plan: None, calls: 0, failed: None });

struct State {
    plan: Option<Plan>,
    /// Calls so far that could have failed.
    calls: u64,
    failed: Option<String>,
}

fn locked() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(plan: Option<Plan>) -> State {
    let mut state = locked();
    ACTIVE.store(plan.is_some(), Ordering::Relaxed);
    std::mem::replace(&mut state, State { plan, calls: 0, failed: None })
}

/// Follows `plan` until the process ends.
pub fn start(plan: Plan) {
    set(Some(plan));
}

/// Follows `plan` while `run` runs; returns its result, and the name of the call that failed, if one did. One thread at
/// a time can do this, and others wait.
pub fn during<T>(plan: Plan, run: impl FnOnce() -> T) -> (T, Option<String>) {
    /// Ends the plan also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            set(None);
        }
    }
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    set(Some(plan));
    let end = End;
    let result = run();
    let failed = locked().failed.take();
    drop(end);
    (result, failed)
}

impl State {
    /// How many of `len` bytes `call` may read or write.
    fn allow(&mut self, call: Call<'_>, len: usize) -> io::Result<usize> {
        let Some(plan) = &self.plan else { return Ok(len) };
        #[cfg(target_os = "linux")]
        if plan.is_without_unnamed && matches!(call, Call::Unnamed) {
            return Err(rustix::io::Errno::OPNOTSUPP.into());
        }
        let Some((kind, number)) = plan.fault else { return Ok(len) };
        if !kind.can_strike(call, len) {
            return Ok(len);
        }
        let name = || {
            let name = format!("{call:?}");
            name.split('(').next().unwrap_or_default().to_owned()
        };
        if !plan.only.is_empty() && !plan.only.contains(&name()) {
            return Ok(len);
        }
        let at = self.calls;
        self.calls += 1;
        let is_struck = if kind == Kind::NoSpace { at >= number } else { at == number };
        if !is_struck {
            return Ok(len);
        }
        if self.failed.is_none() {
            let name = name();
            if let Some(path) = &plan.report {
                fs::write(path, &name)?;
            }
            self.failed = Some(name);
        }
        match kind {
            Kind::ShortRead | Kind::ShortWrite => Ok(len / 2),
            _ => Err(kind.error()),
        }
    }

    fn records(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.record.is_some())
    }

    fn record(&self, event: Option<Event>) -> io::Result<()> {
        let path = self.plan.as_ref().and_then(|plan| plan.record.as_ref());
        let Some((path, event)) = path.zip(event) else { return Ok(()) };
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all((serde_json::to_string(&event)? + "\n").as_bytes())
    }
}

pub(super) fn call<T>(call: Call<'_>, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if !ACTIVE.load(Ordering::Relaxed) {
        return make();
    }
    stall(call)?;
    let mut state = locked();
    state.allow(call, 0)?;
    // One at a time, so that they are recorded in their order.
    let made = make()?;
    state.record(Event::of(call, 0))?;
    Ok(made)
}

/// Waits if `call` gives a file a name and has to.
fn stall(call: Call<'_>) -> io::Result<()> {
    if !matches!(call, Call::Link(..) | Call::Rename(..)) {
        return Ok(());
    }
    let stall = locked().plan.as_mut().and_then(|plan| plan.stall.take());
    let Some(path) = stall else { return Ok(()) };
    fs::write(&path, "")?;
    while path.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// [`call`] for calls that open a file.
pub(super) fn opening(
    call: Call<'_>,
    open: impl FnOnce() -> io::Result<fs::File>,
) -> io::Result<fs::File> {
    if !ACTIVE.load(Ordering::Relaxed) {
        return open();
    }
    let mut state = locked();
    state.allow(call, 0)?;
    if !state.records() {
        drop(state);
        // A pipe may have nobody at its other end for a while.
        return open();
    }
    let file = open()?;
    state.record(Event::of_opened(call, &file))?;
    Ok(file)
}

/// [`call`] for calls that read or write `len` bytes or fewer.
pub(super) fn transfer(
    call: Call<'_>,
    len: usize,
    make: impl FnOnce(usize) -> io::Result<usize>,
) -> io::Result<usize> {
    if !ACTIVE.load(Ordering::Relaxed) {
        return make(len);
    }
    let mut state = locked();
    let len = state.allow(call, len)?;
    let Call::Write(mut file, bytes, at) = call else {
        drop(state);
        return make(len);
    };
    // What has no position is not a file.
    let at = if state.records() { at.or_else(|| file.stream_position().ok()) } else { None };
    let written = make(len)?;
    if at.is_some() {
        state.record(Event::of(Call::Write(file, bytes, at), written))?;
    }
    Ok(written)
}
