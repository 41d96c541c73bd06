//! How the work is done, and where results go.

use std::fmt;
use std::io::Write;

use crate::io::ReadError;
use crate::simd::Kernels;

/// How the work is done; nothing here changes what is written, but `record_end`, `max_record` and `redact`.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// The SIMD backend.
    pub kernels: Kernels,
    /// The byte that ends a record, read and written: LF or NUL.
    pub record_end: u8,
    /// Approximate size of a chunk in bytes; a chunk is what one thread takes at a time. Taken for `max_record`
    /// when it is more.
    pub chunk_bytes: usize,
    /// Bytes of the longest record that is judged, white space around it included; longer ones are
    /// [`crate::uri::ErrorKind::TooLong`], are never held in memory whole, and are passed on untrimmed.
    /// Taken for [`Settings::MAX_RECORD`] when it is more.
    pub max_record: usize,
    /// Write records, valid or not, with their secrets masked ([`crate::audit::redact_into`]), where
    /// records are written: by [`super::dedup()`], [`super::normalize`] and [`super::redact`]. What is compared stays the
    /// same. A record too long to be judged is omitted then.
    pub redact: bool,
}

impl Settings {
    /// The largest `max_record`: offsets in a chunk are 32 bits wide.
    pub const MAX_RECORD: usize = 1 << 30;

    /// The same, with nothing that exceeds what the pipeline can do.
    pub(super) fn within_limits(&self) -> Settings {
        let max_record = self.max_record.clamp(1, Settings::MAX_RECORD);
        Settings { max_record, chunk_bytes: self.chunk_bytes.clamp(1, max_record), ..*self }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threads: 0,
            kernels: Kernels::detect(),
            record_end: b'\n',
            chunk_bytes: 128 << 10,
            max_record: 64 << 20,
            redact: false,
        }
    }
}

/// Where results go.
pub struct Sinks<'a> {
    /// The results.
    pub out: &'a mut (dyn Write + Send),
    /// Records turned away under [`super::OnInvalid::Divert`].
    pub rejects: Option<&'a mut (dyn Write + Send)>,
    /// A line for every record that [`super::classes()`] leaves out as a duplicate; see there.
    pub dupes: Option<&'a mut (dyn Write + Send)>,
    /// A line of JSON for every class that [`super::classes()`] writes; see there.
    pub clusters: Option<&'a mut (dyn Write + Send)>,
    /// Told the number of bytes read so far, every few milliseconds of work.
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
    /// Told of every source that cannot be opened or read to its end, while the others are worked on;
    /// without it, the first one ends the run with [`super::Error::Read`]. It is also given the first
    /// bodies in archives that cannot be decoded and documents that cannot be parsed, which never end a run:
    /// [`super::Report`] counts all of them.
    pub unread: Option<&'a mut (dyn FnMut(&ReadError) + Send)>,
}

impl<'a> Sinks<'a> {
    /// Results to `out`, nothing else.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks { out, rejects: None, dupes: None, clusters: None, progress: None, unread: None }
    }
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sinks").finish_non_exhaustive()
    }
}
