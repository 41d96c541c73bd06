//! Settings of a run, and its outputs.

use std::fmt;
use std::io::Write;

use crate::io::ReadError;
use crate::simd::Kernels;

/// Settings of a run. Threads, backend and chunk size do not change the output.
///
/// ```
/// use uriscan::pipeline::Settings;
/// let settings = Settings::default().threads(4).chunk_bytes(1 << 16);
/// assert_eq!((settings.threads, settings.chunk_bytes, settings.record_end), (4, 1 << 16, b'\n'));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Settings {
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// The SIMD backend.
    pub kernels: Kernels,
    /// The byte that ends a record, read and written: LF or NUL.
    pub record_end: u8,
    /// Approximate size of a chunk in bytes; a chunk is what one thread takes at a time. At most `max_record`.
    pub chunk_bytes: usize,
    /// Length in bytes of the longest record, surrounding white space included; overlong ones are
    /// [`crate::uri::ErrorKind::TooLong`], are never held in memory whole, and are passed on untrimmed.
    /// At most [`Settings::MAX_RECORD`].
    pub max_record: usize,
    /// Write records, valid or not, with their secrets masked ([`crate::audit::redact_into`]), where
    /// records are written: by [`super::dedup()`], [`super::normalize`] and [`super::redact`]. Comparison is not
    /// affected. An overlong record is omitted then.
    pub redact: bool,
    /// Name what a link was found in, after the messages about it: of lists of links ([`super::links_of`]) that
    /// [`super::check()`] and [`super::audit()`] report on as text.
    pub has_context: bool,
    /// Colour what [`super::check()`] and [`super::audit()`] report as text, by the escapes of terminals.
    pub has_colour: bool,
}

impl Settings {
    /// The largest `max_record`: offsets in a chunk are 32 bits wide.
    pub const MAX_RECORD: usize = 1 << 30;

    /// Sets the number of worker threads; 0 for one per core.
    pub fn threads(mut self, threads: usize) -> Settings {
        self.threads = threads;
        self
    }

    /// Sets the SIMD backend.
    pub fn kernels(mut self, kernels: Kernels) -> Settings {
        self.kernels = kernels;
        self
    }

    /// Sets the byte that ends a record, read and written: LF or NUL.
    pub fn record_end(mut self, record_end: u8) -> Settings {
        self.record_end = record_end;
        self
    }

    /// Sets the approximate size of a chunk in bytes.
    pub fn chunk_bytes(mut self, chunk_bytes: usize) -> Settings {
        self.chunk_bytes = chunk_bytes;
        self
    }

    /// Sets the length of the longest record that is parsed, in bytes; at most [`Settings::MAX_RECORD`].
    pub fn max_record(mut self, max_record: usize) -> Settings {
        self.max_record = max_record;
        self
    }

    /// Sets whether records are written with their secrets masked.
    pub fn redact(mut self, redact: bool) -> Settings {
        self.redact = redact;
        self
    }

    /// Sets whether messages name what a link was found in.
    pub fn has_context(mut self, has_context: bool) -> Settings {
        self.has_context = has_context;
        self
    }

    /// Sets whether reports for people are coloured.
    pub fn has_colour(mut self, has_colour: bool) -> Settings {
        self.has_colour = has_colour;
        self
    }

    /// The same, with values that exceed the limits of the pipeline reduced to them.
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
            has_context: false,
            has_colour: false,
        }
    }
}

/// The outputs of a run.
///
/// ```
/// use uriscan::io::Source;
/// use uriscan::pipeline::{DedupOptions, OnInvalid, Settings, Sinks, dedup};
/// let list = Source::new("list", &b"http://h\nno uri\n"[..]);
/// let options = DedupOptions::default().on_invalid(OnInvalid::Divert);
/// let (mut out, mut rejects) = (Vec::new(), Vec::new());
/// let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
/// dedup(vec![list], &options, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!((&out[..], &rejects[..]), (&b"http://h\n"[..], &b"no uri\n"[..]));
/// ```
#[must_use]
#[non_exhaustive]
pub struct Sinks<'a> {
    /// The results.
    pub out: &'a mut (dyn Write + Send),
    /// Records diverted under [`super::OnInvalid::Divert`].
    pub rejects: Option<&'a mut (dyn Write + Send)>,
    /// A line for every record that [`super::classes()`] drops as a duplicate; see there.
    pub dupes: Option<&'a mut (dyn Write + Send)>,
    /// A line of JSON for every class that [`super::classes()`] writes; see there.
    pub clusters: Option<&'a mut (dyn Write + Send)>,
    /// Receives the number of bytes read so far, every few milliseconds of work.
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
    /// Receives every source that cannot be opened or read to its end, while the others are processed;
    /// without it, the first one ends the run with [`super::Error::Read`]. It also receives the first
    /// bodies in archives that cannot be decoded and documents that cannot be parsed, which never end a run:
    /// [`super::Report`] counts all of them.
    pub unread: Option<&'a mut (dyn FnMut(&ReadError) + Send)>,
}

impl<'a> Sinks<'a> {
    /// Results to `out`, nothing else.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks { out, rejects: None, dupes: None, clusters: None, progress: None, unread: None }
    }

    /// Writes the records turned away under [`super::OnInvalid::Divert`] to `rejects`.
    pub fn rejects(mut self, rejects: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        self.rejects = Some(rejects);
        self
    }

    /// Writes a line to `dupes` for every record that [`super::classes()`] omits as a duplicate.
    pub fn dupes(mut self, dupes: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        self.dupes = Some(dupes);
        self
    }

    /// Writes a line of JSON to `clusters` for every class that [`super::classes()`] writes.
    pub fn clusters(mut self, clusters: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        self.clusters = Some(clusters);
        self
    }

    /// Calls `progress` with the number of bytes read so far, every few milliseconds.
    pub fn progress(mut self, progress: &'a mut (dyn FnMut(u64) + Send)) -> Sinks<'a> {
        self.progress = Some(progress);
        self
    }

    /// Calls `unread` for every source that cannot be read, and continues with the others.
    pub fn unread(mut self, unread: &'a mut (dyn FnMut(&ReadError) + Send)) -> Sinks<'a> {
        self.unread = Some(unread);
        self
    }
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sinks").finish_non_exhaustive()
    }
}
