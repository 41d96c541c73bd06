//! Objects that are written side by side, in bounded memory, and appear together.
//!
//! An object is sent in parts, as that of a single [`Upload`] is. Before a part is full, its bytes wait in memory, and when
//! there are many of them, in a temporary file. Small objects that are finished wait there, too, until all are; if they
//! exceed a limit, they are sent.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::client::Client;
use super::location::Location;
use super::spill::{Spill, Spilled};
use super::upload::{Cancel, Upload};

/// Bytes of parts that wait in memory.
const MOST_HELD: usize = if cfg!(test) { 1 << 16 } else { 128 << 20 };

/// Bytes of finished objects that wait.
const MOST_FINISHED: usize = if cfg!(test) { 1 << 18 } else { 1 << 30 };

/// Objects that are sent, completed or removed at the same time.
const AT_ONCE: usize = 16;

/// Objects below a prefix that are written side by side. They appear with [`Group::complete`]; dropped before, none does.
pub struct Group {
    client: Client,
    folder: Location,
    state: Arc<Mutex<State>>,
    cancel: GroupCancel,
}

/// Aborts all uploads of a [`Group`] from another thread; see [`Group::cancel`].
#[derive(Clone, Default)]
pub struct GroupCancel(Arc<Mutex<Cancels>>);

#[derive(Default)]
struct Cancels {
    all: Vec<Cancel>,
    is_cancelled: bool,
}

struct State {
    members: Vec<Member>,
    spill: Spill,
    /// Bytes that wait in memory.
    held: usize,
    /// Bytes of finished objects that wait.
    finished: usize,
}

struct Member {
    /// Its name below the prefix.
    name: String,
    location: Location,
    upload: Option<Upload>,
    /// Bytes of its next part: those in the spill precede those in memory.
    spilled: Spilled,
    held: Vec<u8>,
    is_finished: bool,
}

/// An object of a [`Group`] that is being written.
pub struct GroupObject {
    state: Arc<Mutex<State>>,
    number: usize,
}

impl Group {
    /// Objects below `folder`, a key that is empty or ends with `/`; temporary files are made in `directory`.
    pub fn new(client: &Client, folder: &Location, directory: impl Into<PathBuf>) -> Group {
        let spill = Spill::new(directory.into());
        let state = State { members: Vec::new(), spill, held: 0, finished: 0 };
        Group {
            client: client.clone(),
            folder: folder.clone(),
            state: Arc::new(Mutex::new(state)),
            cancel: GroupCancel::default(),
        }
    }

    /// Begins the object with this name below the prefix.
    ///
    /// # Errors
    /// When it has no valid name, or its service cannot be written to.
    pub fn create(&self, name: &str) -> io::Result<GroupObject> {
        let location = self.folder.with_key(format!("{}{name}", self.folder.key()));
        let upload = self.client.create(&location)?;
        self.cancel.add(upload.cancel())?;
        let mut state = locked(&self.state);
        state.members.push(Member {
            name: name.to_owned(),
            location,
            upload: Some(upload),
            spilled: Spilled::default(),
            held: Vec::new(),
            is_finished: false,
        });
        Ok(GroupObject { state: Arc::clone(&self.state), number: state.members.len() - 1 })
    }

    /// What aborts the uploads while they are being written to.
    pub fn cancel(&self) -> GroupCancel {
        self.cancel.clone()
    }

    /// Waits until the store has all parts that were sent. After that, little can go wrong with [`Group::complete`].
    ///
    /// # Errors
    /// When a part cannot be sent.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = locked(&self.state);
        each(&mut state.members, |member| member.upload.as_mut().map_or(Ok(()), Upload::finish))
    }

    /// Makes objects of what was written. If one of them cannot be made, those that were are removed again.
    ///
    /// # Errors
    /// When the store refuses; the error says how many objects could not be removed.
    pub fn complete(self) -> io::Result<()> {
        let mut state = locked(&self.state);
        let State { members, spill, .. } = &mut *state;
        let spill = Mutex::new(spill);
        // Each with whether it is certainly there.
        let completed = Mutex::new(Vec::new());
        let done = each(members, |member| {
            let Some(mut upload) = member.upload.take() else { return Ok(()) };
            upload.write_all(&member.taken(&mut locked(&spill))?)?;
            let done = upload.complete();
            locked(&completed).push((member.location.clone(), done.is_ok()));
            done
        });
        let Err(error) = done else { return Ok(()) };
        let mut completed = completed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = AtomicUsize::new(0);
        let _ = each_of(&mut completed, |(location, is_there)| {
            if self.client.remove(location).is_err() && *is_there {
                left.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        Err(match left.into_inner() {
            0 => error,
            left => {
                let what = format!("{error}; {left} of the other objects could not be removed");
                io::Error::new(error.kind(), what)
            }
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nothing is left to abort of what is complete.
        self.cancel.cancel();
    }
}

impl State {
    fn send(&mut self, number: usize) -> io::Result<()> {
        let member = &mut self.members[number];
        self.held -= member.held.len();
        let part = member.taken(&mut self.spill)?;
        member.send(part)
    }

    /// Moves the largest parts from memory to the disk, until half of the limit is left.
    fn relieve(&mut self) -> io::Result<()> {
        let State { members, spill, held, .. } = self;
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(members[number].held.len()));
        for number in order {
            if *held <= MOST_HELD / 2 {
                break;
            }
            let member = &mut members[number];
            let bytes = std::mem::take(&mut member.held);
            spill.push(&mut member.spilled, &bytes).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write a temporary file: {error}"))
            })?;
            *held -= bytes.len();
        }
        Ok(())
    }

    fn send_finished(&mut self) -> io::Result<()> {
        let State { members, spill, held, finished } = self;
        let waits = |member: &&mut Member| member.is_finished && member.bytes() > 0;
        let mut waiting: Vec<&mut Member> = members.iter_mut().filter(waits).collect();
        *held -= waiting.iter().map(|member| member.held.len()).sum::<usize>();
        *finished = 0;
        let spill = Mutex::new(spill);
        each_of(&mut waiting, |member| {
            let part = member.taken(&mut locked(&spill))?;
            member.send(part)
        })
    }
}

impl Member {
    fn bytes(&self) -> usize {
        self.spilled.bytes() + self.held.len()
    }

    /// The bytes of its next part, which is empty then.
    fn taken(&mut self, spill: &mut Spill) -> io::Result<Vec<u8>> {
        if self.spilled.bytes() == 0 {
            return Ok(std::mem::take(&mut self.held));
        }
        let mut part = spill.take(&mut self.spilled)?;
        part.append(&mut std::mem::take(&mut self.held));
        Ok(part)
    }

    fn send(&mut self, part: Vec<u8>) -> io::Result<()> {
        let sent = self.upload.as_mut().map_or(Ok(()), |upload| upload.send_part(part));
        sent.map_err(|error| named(&self.name, &error))
    }
}

impl GroupObject {
    /// Ends the object, to which nothing is written any more.
    ///
    /// # Errors
    /// When something of it, or of another one, cannot be sent.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut state = locked(&self.state);
        let member = &mut state.members[self.number];
        member.is_finished = true;
        if member.upload.as_ref().is_some_and(Upload::has_begun) {
            return if member.bytes() > 0 { state.send(self.number) } else { Ok(()) };
        }
        state.finished += state.members[self.number].bytes();
        if state.finished > MOST_FINISHED { state.send_finished() } else { Ok(()) }
    }
}

impl Write for GroupObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = locked(&self.state);
        let member = &mut state.members[self.number];
        let size = member.upload.as_ref().map_or(usize::MAX, Upload::part_size);
        let count = bytes.len().min(size - member.bytes());
        member.held.extend_from_slice(&bytes[..count]);
        let is_full = member.bytes() == size;
        state.held += count;
        if is_full {
            state.send(self.number)?;
        } else if state.held > MOST_HELD {
            state.relieve()?;
        }
        Ok(count)
    }

    /// Does nothing: parts are sent when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl GroupCancel {
    fn add(&self, cancel: Cancel) -> io::Result<()> {
        let mut cancels = locked(&self.0);
        if cancels.is_cancelled {
            return Err(io::Error::other("the uploads were cancelled"));
        }
        cancels.all.push(cancel);
        Ok(())
    }

    /// Has the store forget the uploads, which fail from now on. Does nothing to those that are complete.
    pub fn cancel(&self) {
        let mut cancels = locked(&self.0);
        cancels.is_cancelled = true;
        let _ = each_of(&mut std::mem::take(&mut cancels.all), |cancel| {
            cancel.cancel();
            Ok(())
        });
    }
}

/// [`each_of`] for members, whose names are added to errors.
fn each(
    members: &mut [Member],
    call: impl Fn(&mut Member) -> io::Result<()> + Sync,
) -> io::Result<()> {
    each_of(members, |member| call(member).map_err(|error| named(&member.name, &error)))
}

/// Calls `call` with all of `items`, with some at the same time; after an error, with no more of them.
fn each_of<T: Send>(
    items: &mut [T],
    call: impl Fn(&mut T) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let threads = items.len().min(AT_ONCE);
    let left = Mutex::new(items.iter_mut());
    let work = || {
        loop {
            // A statement of its own: the lock is not held during the call.
            let next = locked(&left).next();
            let Some(item) = next else { return Ok(()) };
            if let Err(error) = call(item) {
                locked(&left).by_ref().for_each(drop);
                return Err(error);
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread of the uploads panicked")))
        });
        others.fold(own, |done, other| done.and(other))
    })
}

fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl fmt::Debug for GroupObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupObject").field("number", &self.number).finish_non_exhaustive()
    }
}

impl fmt::Debug for GroupCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroupCancel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects that are sent nowhere.
    fn objects(count: usize) -> Vec<GroupObject> {
        let member = |number: usize| Member {
            name: number.to_string(),
            location: Location::parse(&format!("s3://b/{number}")).unwrap(),
            upload: None,
            spilled: Spilled::default(),
            held: Vec::new(),
            is_finished: false,
        };
        let members = (0..count).map(member).collect();
        let spill = Spill::new(std::env::temp_dir());
        let state = Arc::new(Mutex::new(State { members, spill, held: 0, finished: 0 }));
        (0..count).map(|number| GroupObject { state: Arc::clone(&state), number }).collect()
    }

    #[test]
    fn what_exceeds_the_limit_waits_on_the_disk() {
        let mut objects = objects(50);
        let piece = |round: usize, number: usize| vec![(round + number) as u8; 100 * (number + 1)];
        for round in 0..20 {
            for (number, object) in objects.iter_mut().enumerate() {
                object.write_all(&piece(round, number)).unwrap();
                let state = locked(&object.state);
                let held: usize = state.members.iter().map(|member| member.held.len()).sum();
                assert_eq!(state.held, held);
                assert!(held <= MOST_HELD, "{held}");
            }
        }
        let mut state = locked(&objects[0].state);
        let State { members, spill, .. } = &mut *state;
        assert!(members.iter().all(|member| member.spilled.bytes() > 0 || member.bytes() < 5_000));
        for (number, member) in members.iter_mut().enumerate() {
            let expected: Vec<u8> = (0..20).flat_map(|round| piece(round, number)).collect();
            assert!(member.taken(spill).unwrap() == expected, "{number}");
        }
    }

    #[test]
    fn small_objects_wait_up_to_a_limit() {
        let mut objects = objects(100);
        for object in &mut objects {
            object.write_all(&[7; 10_000]).unwrap();
            object.finish().unwrap();
            let state = locked(&object.state);
            let waiting: usize = state.members.iter().map(Member::bytes).sum();
            assert_eq!(state.finished, waiting);
            assert!(waiting <= MOST_FINISHED && state.held <= MOST_HELD, "{waiting}");
        }
    }

    #[test]
    fn no_more_items_are_begun_after_an_error() {
        let begun = AtomicUsize::new(0);
        let done = each_of(&mut (0..1_000).collect::<Vec<u32>>(), |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            // The others are slow, so that the error is there before the end.
            std::thread::sleep(std::time::Duration::from_millis(if *item > 20 { 5 } else { 0 }));
            if *item == 20 { Err(io::Error::other("no")) } else { Ok(()) }
        });
        assert_eq!(done.unwrap_err().to_string(), "no");
        assert!(begun.into_inner() < 1_000);
        let all = AtomicUsize::new(0);
        each_of(&mut [(); 100], |()| {
            all.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert_eq!(all.into_inner(), 100);
        each_of(&mut [(); 0], |()| Err(io::Error::other("no"))).unwrap();
    }
}
