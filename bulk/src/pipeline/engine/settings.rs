//! Settings of a run, and its outputs.

use std::fmt;
use std::io::Write;

use super::class_row::ClassSink;
use crate::io::ReadError;
use crate::pipeline::Survey;
use uriscan_core::simd::Kernels;

/// Settings of a run. Threads, backend and chunk size do not change the output.
///
/// ```
/// use uriscan_bulk::pipeline::Settings;
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
    /// [`uriscan_core::uri::UriErrorKind::TooLong`], are never held in memory whole, and are passed on untrimmed.
    /// At most [`Settings::MAX_RECORD`].
    pub max_record: usize,
    /// Write records, valid or not, with their secrets masked ([`uriscan_core::audit::redact_into`]), where records are
    /// written: by [`crate::pipeline::dedup()`], [`crate::pipeline::normalize`] and [`crate::pipeline::redact`].
    /// Comparison is not affected. An overlong record is omitted then.
    pub redact: bool,
    /// Name what a link was found in, after the messages about it: of lists of links ([`crate::pipeline::links_of`])
    /// that [`crate::pipeline::check()`] and [`crate::pipeline::audit()`] report on as text.
    pub has_context: bool,
    /// Colour what [`crate::pipeline::check()`] and [`crate::pipeline::audit()`] report as text, by the escapes of terminals.
    pub has_colour: bool,
}

setters! { Settings {
    threads: usize, kernels: Kernels, record_end: u8, chunk_bytes: usize, max_record: usize,
    redact: bool, has_context: bool, has_colour: bool,
} }

impl Settings {
    /// The largest `max_record`: offsets in a chunk are 32 bits wide.
    pub const MAX_RECORD: usize = 1 << 30;

    /// The same, with values that exceed the limits of the pipeline reduced to them.
    pub(crate) fn within_limits(&self) -> Settings {
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
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{DedupOptions, OnInvalid, Settings, Sinks, dedup};
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
    /// Records diverted under [`crate::pipeline::OnInvalid::Divert`].
    pub rejects: Option<&'a mut (dyn Write + Send)>,
    /// A line or a row for every record that [`crate::pipeline::classes()`] drops as a duplicate; see there.
    pub dupes: Option<ClassSink<'a>>,
    /// A line of JSON for every class that [`crate::pipeline::classes()`] writes, or a row for each of its members; see there.
    pub clusters: Option<ClassSink<'a>>,
    /// URLs to fetch to decide what is not decided; only the crate `uriscan-learn` writes them, as lines of a URL, the number of
    /// hypotheses that it says something about, and these, with tabs between them.
    pub undecided: Option<&'a mut (dyn Write + Send)>,
    /// Receives the number of bytes read so far, every few milliseconds of work.
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
    /// Receives every source that cannot be opened or read to its end, while the others are processed;
    /// without it, the first one ends the run with [`crate::ErrorKind::Read`]. It also receives the first
    /// bodies in archives that cannot be decoded and documents that cannot be parsed, which never end a run:
    /// [`crate::pipeline::Report`] counts all of them.
    pub unread: Option<&'a mut (dyn FnMut(&ReadError) + Send)>,
    /// Looks at the records, for a report about the run.
    pub survey: Option<&'a mut Survey>,
}

setters! { Sinks<'a>
    some {
        rejects: &'a mut (dyn Write + Send), undecided: &'a mut (dyn Write + Send),
        progress: &'a mut (dyn FnMut(u64) + Send),
        unread: &'a mut (dyn FnMut(&ReadError) + Send), survey: &'a mut Survey,
    }
}

impl<'a> Sinks<'a> {
    /// Results to `out`, nothing else.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks {
            out,
            rejects: None,
            dupes: None,
            clusters: None,
            undecided: None,
            progress: None,
            unread: None,
            survey: None,
        }
    }

    /// Omitted records to `lines`, as text: [`classes()`](crate::pipeline::classes()) and its like write them.
    pub fn dupes(self, lines: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks { dupes: Some(ClassSink::text(lines)), ..self }
    }

    /// Classes to `lines`, as text: [`classes()`](crate::pipeline::classes()) and its like write them.
    pub fn clusters(self, lines: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks { clusters: Some(ClassSink::text(lines)), ..self }
    }
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sinks").finish_non_exhaustive()
    }
}
