//! An object that is being written: parts that are invisible until they are put together.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::task::{AbortHandle, JoinHandle};

use super::engine::Engine;
use super::error::of_store;
use super::location::Service;
use super::repeat::repeated;

/// Bytes of each part, but for the last one: some stores want parts of the same size.
const PART: usize = 16 << 20;

/// Parts of this size that are on their way at the same time.
const MOST_PENDING: usize = 4;

/// Parts of this size; an object may have 10,000 parts, and what follows comes in larger ones, one at a time.
const MOST_OF_SIZE: usize = 5_000;

const LARGE_PART: usize = 256 << 20;

/// For how long the store is asked to forget the parts of an upload.
const CANCEL_TIME: Duration = Duration::from_secs(10);

/// An object that is being written. It appears with [`Upload::complete`]; dropped before, it never does.
///
/// What is written is sent in parts, up to five of which are in memory. An object of less than a part is sent when it is
/// completed.
pub struct Upload {
    shared: Arc<Shared>,
    /// The part that is being filled.
    part: Vec<u8>,
    sent: usize,
    pending: VecDeque<JoinHandle<Result<(), object_store::Error>>>,
    is_complete: bool,
}

/// Aborts an [`Upload`] from another thread; see [`Upload::cancel`].
#[derive(Clone)]
pub struct Cancel(Arc<Shared>);

struct Shared {
    engine: Arc<Engine>,
    store: Arc<dyn ObjectStore>,
    service: Service,
    path: Path,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The upload, once there is a part to send.
    upload: Option<Box<dyn MultipartUpload>>,
    /// What sends parts.
    tasks: Vec<AbortHandle>,
    is_cancelled: bool,
}

impl Upload {
    pub(super) fn new(
        engine: Arc<Engine>,
        (store, service): (Arc<dyn ObjectStore>, Service),
        path: Path,
    ) -> Upload {
        let shared = Shared { engine, store, service, path, state: Mutex::default() };
        Upload {
            shared: Arc::new(shared),
            part: Vec::new(),
            sent: 0,
            pending: VecDeque::new(),
            is_complete: false,
        }
    }

    /// What aborts the upload while it is being written to.
    pub fn cancel(&self) -> Cancel {
        Cancel(Arc::clone(&self.shared))
    }

    pub(super) fn has_begun(&self) -> bool {
        self.sent > 0
    }

    /// Bytes of the next part, unless it is the last one.
    pub(super) fn part_size(&self) -> usize {
        self.part_bytes().0
    }

    /// Sends `part`, of that size or the last one, in place of writing it.
    pub(super) fn send_part(&mut self, part: Vec<u8>) -> io::Result<()> {
        self.part = part;
        self.send()
    }

    /// Bytes of the next part, and how many parts may be pending with it.
    fn part_bytes(&self) -> (usize, usize) {
        if self.sent < MOST_OF_SIZE { (PART, MOST_PENDING) } else { (LARGE_PART, 1) }
    }

    /// Sends the part that is being filled, once there is room for it.
    fn send(&mut self) -> io::Result<()> {
        let (_, most) = self.part_bytes();
        while self.pending.len() >= most {
            self.wait()?;
        }
        let payload = PutPayload::from(std::mem::take(&mut self.part));
        self.pending.push_back(self.shared.send(payload)?);
        self.sent += 1;
        Ok(())
    }

    /// Waits for the part that was sent first.
    fn wait(&mut self) -> io::Result<()> {
        let Some(first) = self.pending.pop_front() else { return Ok(()) };
        let done = self.shared.engine.runtime.block_on(first);
        done.map_err(|_| cancelled())?.map_err(|error| self.shared.fault(&error))
    }

    /// Sends what is left, if there is more than one part, and waits until the store has all of them. After that, little
    /// can go wrong with [`Upload::complete`].
    ///
    /// # Errors
    /// When a part cannot be sent.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.sent > 0 && !self.part.is_empty() {
            self.send()?;
        }
        while !self.pending.is_empty() {
            self.wait()?;
        }
        Ok(())
    }

    /// Makes the object of what was written.
    ///
    /// # Errors
    /// When the store refuses. If the connection breaks off at this moment, the object may be there all the same.
    pub fn complete(mut self) -> io::Result<()> {
        self.finish()?;
        let Shared { engine, store, path, .. } = &*self.shared;
        let done = match self.sent {
            0 => {
                let payload = PutPayload::from(std::mem::take(&mut self.part));
                engine.runtime.block_on(store.put(path, payload))
            }
            _ => {
                let upload = self.shared.locked().upload.take();
                let mut upload = upload.ok_or_else(cancelled)?;
                let done = engine.runtime.block_on(upload.complete());
                if done.is_err() {
                    self.shared.locked().upload = Some(upload);
                }
                done
            }
        };
        done.map_err(|error| self.shared.fault(&error))?;
        self.is_complete = true;
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (size, _) = self.part_bytes();
        let count = bytes.len().min(size - self.part.len());
        self.part.extend_from_slice(&bytes[..count]);
        if self.part.len() == size {
            self.send()?;
        }
        Ok(count)
    }

    /// Does nothing: parts are sent when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.is_complete {
            self.shared.cancel();
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, error: &object_store::Error) -> io::Error {
        of_store(error, self.service)
    }

    fn send(&self, payload: PutPayload) -> io::Result<JoinHandle<object_store::Result<()>>> {
        let permit = self.engine.runtime.block_on(Arc::clone(&self.engine.parts).acquire_owned());
        let permit = permit.map_err(io::Error::other)?;
        let mut state = self.locked();
        if state.is_cancelled {
            return Err(cancelled());
        }
        let runtime = &self.engine.runtime;
        let upload = match &mut state.upload {
            Some(upload) => upload,
            none => {
                let begin = async || self.store.put_multipart(&self.path).await;
                none.insert(runtime.block_on(repeated(&self.engine, self.service, begin))?)
            }
        };
        let part = upload.put_part(payload);
        let task = runtime.spawn(async move {
            let _permit = permit;
            part.await
        });
        state.tasks.retain(|task| !task.is_finished());
        state.tasks.push(task.abort_handle());
        Ok(task)
    }

    /// Stops sending, and has the store forget what it has, as far as it can be reached.
    fn cancel(&self) {
        let mut state = self.locked();
        state.is_cancelled = true;
        state.tasks.drain(..).for_each(|task| task.abort());
        let Some(mut upload) = state.upload.take() else { return };
        drop(state);
        // Where that is impossible, the rules of the bucket remove the parts one day.
        let aborted = async { tokio::time::timeout(CANCEL_TIME, upload.abort()).await };
        let _ = self.engine.runtime.block_on(aborted);
    }
}

impl Cancel {
    /// Has the store forget the upload, which fails from now on. Does nothing if it is complete.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

fn cancelled() -> io::Error {
    io::Error::other("the upload was cancelled")
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("parts", &self.sent).finish_non_exhaustive()
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancel")
    }
}
