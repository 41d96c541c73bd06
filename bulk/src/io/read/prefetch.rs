//! Opens sources, and reads their beginnings, ahead of time: many at once, on all threads.
//!
//! A small file takes longer to open than to read, so many files are not opened one by one.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::compress;
use super::container::{self, Container};
use super::deferred::Plain;
use super::ready::Wait;
use super::source::Source;
use uriscan_core::chunk::PaddedBuf;

/// Number of sources that are opened at a time. Each may keep a file open, and as many bytes as a
/// chunk.
const AT_A_TIME: usize = 64;

/// Sources in order, the first of them possibly opened.
pub(crate) struct Sources {
    opened: VecDeque<Opened>,
    closed: VecDeque<Source>,
    /// Maximum number of bytes of each that are read ahead.
    most: usize,
    /// Whether large plain files are passed on as files.
    passes_on_files: bool,
}

/// A plain file is large if it has this many times the bytes that are read ahead.
const LARGE: usize = 16;

/// An opened source.
pub(crate) struct Opened {
    /// See [`Source::text_only`].
    pub(crate) text_only: bool,
    /// Its length in bytes before decompression, if that is known and matters.
    pub(crate) bytes: Option<u64>,
    /// See [`Source::wait`].
    pub(crate) wait: Option<Wait>,
    /// Its content, or why it could not be opened.
    pub(crate) content: io::Result<Content>,
    /// The file itself, if it is large and not compressed; it has been read only through `content`.
    pub(crate) plain: Option<Plain>,
}

/// The decompressed content of an opened source.
pub(crate) enum Content {
    /// All bytes.
    Whole(PaddedBuf),
    /// The rest, to be read.
    Stream(Box<dyn Read + Send>),
}

impl Sources {
    /// None of `sources` is opened yet; up to `most` bytes of each are read ahead.
    pub(crate) fn new(sources: Vec<Source>, most: usize) -> Sources {
        Sources { opened: VecDeque::new(), closed: sources.into(), most, passes_on_files: false }
    }

    /// From now on, large plain files are passed on as files.
    pub(crate) fn pass_on_files(&mut self) {
        self.passes_on_files = true;
    }

    /// Number of remaining sources.
    pub(crate) fn len(&self) -> usize {
        self.opened.len() + self.closed.len()
    }

    /// Whether reading the next one may have to wait.
    pub(crate) fn may_wait(&self) -> bool {
        self.opened.is_empty() && self.closed.front().is_some_and(|source| source.wait.is_some())
    }

    /// Returns the next one.
    pub(crate) fn next(&mut self) -> Option<Opened> {
        if self.opened.is_empty() {
            self.open_ahead();
        }
        let least = self.least();
        let next = self.opened.pop_front();
        next.or_else(|| self.closed.pop_front().map(|source| open(source, least)))
    }

    /// Least size in bytes of a plain file that is passed on as a file; `None` if none is.
    fn least(&self) -> Option<u64> {
        self.passes_on_files.then_some((LARGE * self.most) as u64)
    }

    /// Opens the sources at the front that may be opened ahead, if there are several.
    fn open_ahead(&mut self) {
        let next = self.closed.iter().take(AT_A_TIME);
        let count = next.take_while(|source| source.early).count();
        if count < 2 {
            return;
        }
        let (most, least) = (self.most, self.least());
        let early = self.closed.drain(..count).collect::<Vec<_>>().into_par_iter();
        // Each thread reads into a buffer of its own, as the length is not known in advance.
        let opened = early.map_init(Vec::new, |buf, source| begin(source, buf, most, least));
        self.opened = opened.collect::<Vec<_>>().into();
    }
}

/// Opens `source` in its turn; passes a plain file of at least `least` bytes on as a file.
fn open(source: Source, least: Option<u64>) -> Opened {
    let Source { text_only, bytes, wait, .. } = source;
    let plain = plain(source.path.as_deref(), bytes, least);
    let content = match &plain {
        Some(plain) => plain.rest(0),
        None => (source.open)().and_then(compress::decompressed),
    };
    Opened { text_only, bytes, wait, content: content.map(Content::Stream), plain }
}

/// Opens `source` and reads up to `most` bytes of it into `buf`; passes a plain file of at least
/// `least` bytes on as a file.
fn begin(source: Source, buf: &mut Vec<u8>, most: usize, least: Option<u64>) -> Opened {
    let Source { text_only, mut bytes, path, wait, read_ahead, .. } = source;
    let note = |is_ahead| {
        if let Some(noted) = &read_ahead {
            noted.store(is_ahead, Ordering::Relaxed);
        }
    };
    note(true);
    let mut content = (source.open)().and_then(|reader| content(reader, buf, most));
    note(false);
    let mut plain = None;
    if matches!(content, Ok(Content::Stream(_))) {
        let length = || path.as_ref()?.metadata().ok().map(|data| data.len());
        bytes = bytes.or_else(length);
        plain = self::plain(path.as_deref(), bytes, least);
        if let Some(plain) = &plain {
            content = plain.rest(0).map(Content::Stream);
        }
    }
    Opened { text_only, bytes, wait, content, plain }
}

/// The file at `path`, of an expected size of `bytes`, if it is a plain one of at least `least`
/// bytes and such are wanted.
fn plain(path: Option<&Path>, bytes: Option<u64>, least: Option<u64>) -> Option<Plain> {
    let least = least.filter(|least| bytes >= Some(*least))?;
    Plain::open(path?, least)
}

/// The content of `reader`: whole if it has at most `most` bytes.
fn content(
    mut reader: Box<dyn Read + Send>,
    buf: &mut Vec<u8>,
    most: usize,
) -> io::Result<Content> {
    // Binary formats are recognized, however small chunks are.
    buf.resize(most.max(Container::HEAD_BYTES), 0);
    let mut head = Head::of(&mut *reader, buf);
    if compress::is_coded(head.bytes) {
        reader = compress::decompressed(head.before(reader))?;
        head = Head::of(&mut *reader, buf);
    } else {
        container::refuse(head.bytes)?;
    }
    Ok(match head.end {
        Ok(true) if head.bytes.len() <= most => Content::Whole(PaddedBuf::from_content(head.bytes)),
        _ => Content::Stream(head.before(reader)),
    })
}

/// The first bytes of a stream.
struct Head<'a> {
    bytes: &'a [u8],
    /// Whether the stream ends after them, or the error there.
    end: io::Result<bool>,
}

impl<'a> Head<'a> {
    /// Reads from `reader` until `buf` is full.
    fn of(reader: &mut dyn Read, buf: &'a mut [u8]) -> Head<'a> {
        let mut len = 0;
        let end = loop {
            if len == buf.len() {
                break Ok(false);
            }
            match reader.read(&mut buf[len..]) {
                Ok(0) => break Ok(true),
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The rest is read in its turn.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        Head { bytes: &buf[..len], end }
    }

    /// A reader of these bytes, followed by `rest` or the error before it.
    fn before(self, rest: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let head = io::Cursor::new(self.bytes.to_vec());
        match self.end {
            Ok(_) => Box::new(head.chain(rest)),
            Err(error) => Box::new(head.chain(compress::FailingReader(Some(error)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes, then an error if the flag is set.
    struct Fragile(io::Cursor<Vec<u8>>, bool);

    impl Read for Fragile {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out) {
                Ok(0) if self.1 => Err(io::Error::other("torn")),
                result => result,
            }
        }
    }

    /// All bytes of a source, and the error at its end.
    fn read(opened: Opened) -> (Vec<u8>, Option<String>) {
        let mut all = Vec::new();
        let error = match opened.content {
            Ok(Content::Whole(text)) => {
                all.extend_from_slice(text.padded().content());
                None
            }
            Ok(Content::Stream(mut reader)) => reader.read_to_end(&mut all).err(),
            Err(error) => Some(error),
        };
        (all, error.map(|error| error.to_string()))
    }

    fn source(data: &[u8], is_torn: bool, early: bool) -> Source {
        let data = Fragile(io::Cursor::new(data.to_vec()), is_torn);
        Source { early, text_only: is_torn, ..Source::new("a", data) }
    }

    #[test]
    fn sources_opened_ahead_have_the_same_content() {
        let mut texts: Vec<Vec<u8>> =
            [0, 1, 5, 99, 100, 101, 5000].map(|len| vec![b'x'; len]).to_vec();
        texts.push(b"\x1f\x8b\x08 no gzip".to_vec());
        texts.extend([3, 100, 20_000].map(|len| {
            let level = flate2::Compression::fast();
            let mut to = flate2::write::GzEncoder::new(Vec::new(), level);
            io::Write::write_all(&mut to, &vec![b'y'; len]).unwrap();
            to.finish().unwrap()
        }));
        let cases: Vec<(&[u8], bool)> =
            texts.iter().flat_map(|text| [(&text[..], false), (&text[..], true)]).collect();
        // Twice as many as are opened at a time, including one that must wait for its turn.
        let all = || cases.iter().cycle().take(2 * AT_A_TIME + 1).enumerate();
        let list = all().map(|(i, &(text, is_torn))| source(text, is_torn, i != 70)).collect();
        let mut sources = Sources::new(list, 100);
        for (i, &(text, is_torn)) in all() {
            assert_eq!(sources.len(), all().count() - i);
            let opened = sources.next().expect("one for each");
            assert_eq!(opened.text_only, is_torn);
            assert_eq!(read(opened), read(open(source(text, is_torn, false), None)), "{i}");
        }
        assert!(sources.next().is_none());
    }

    #[test]
    fn a_source_that_cannot_be_opened_fails_in_its_turn() {
        let missing = || Source::regular_file("/no such/file");
        let list = vec![source(b"x", false, true), missing(), source(b"y", false, true)];
        let mut sources = Sources::new(list, 100);
        let all: Vec<_> = std::iter::from_fn(|| sources.next()).map(read).collect();
        assert_eq!((&all[0].0[..], &all[2].0[..]), (&b"x"[..], &b"y"[..]));
        assert!(all[1].1.as_ref().is_some_and(|error| error.contains("No such file")), "{all:?}");
    }
}
