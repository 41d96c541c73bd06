//! Sources that are opened, and their beginnings read, before their turn: many at a time, on all threads.
//!
//! A small file takes longer to open than to read, so many are not opened one by one.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;

use rayon::prelude::*;

use super::compress::{self, Compression};
use super::container::{self, Container};
use super::later::Plain;
use super::source::Source;
use crate::chunk::PaddedBuf;

/// Sources that are opened at a time. Each may keep a file open, and as many bytes as a chunk has.
const AT_A_TIME: usize = 64;

/// Sources in their order, the first of them perhaps opened.
pub(super) struct Sources {
    opened: VecDeque<Opened>,
    closed: VecDeque<Source>,
    /// Bytes of each that are read early, at the most.
    most: usize,
    /// Large plain files are handed over as such.
    shows_files: bool,
}

/// Plain files are large that have so many times the bytes that are read early.
const LARGE: usize = 16;

/// A source that has been opened.
pub(super) struct Opened {
    /// See [`Source::text_only`].
    pub(super) text_only: bool,
    /// Its length in bytes, if that is known and matters; before it is decompressed.
    pub(super) bytes: Option<u64>,
    /// What it holds, or why it could not be opened.
    pub(super) content: io::Result<Content>,
    /// The file itself, if it is a large one that is not compressed; nobody has read from it but by way of the content.
    pub(super) plain: Option<Plain>,
}

/// What an opened source holds, decompressed.
pub(super) enum Content {
    /// These bytes.
    Whole(PaddedBuf),
    /// What is still to be read.
    Stream(Box<dyn Read + Send>),
}

impl Sources {
    /// None of `sources` is opened yet; of those opened early up to `most` bytes will be read.
    pub(super) fn new(sources: Vec<Source>, most: usize) -> Sources {
        Sources { opened: VecDeque::new(), closed: sources.into(), most, shows_files: false }
    }

    /// Large plain files are to be handed over as such from now on.
    pub(super) fn show_files(&mut self) {
        self.shows_files = true;
    }

    /// How many are left.
    pub(super) fn len(&self) -> usize {
        self.opened.len() + self.closed.len()
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<Opened> {
        if self.opened.is_empty() {
            self.open_early();
        }
        let least = self.least();
        let next = self.opened.pop_front();
        next.or_else(|| self.closed.pop_front().map(|source| open(source, least)))
    }

    /// Bytes of a plain file that is handed over as such, at the least; `None` if none is.
    fn least(&self) -> Option<u64> {
        self.shows_files.then_some((LARGE * self.most) as u64)
    }

    /// Opens those at the front, as far as they may be opened early and there are several.
    fn open_early(&mut self) {
        let next = self.closed.iter().take(AT_A_TIME);
        let count = next.take_while(|source| source.early).count();
        if count < 2 {
            return;
        }
        let (most, least) = (self.most, self.least());
        let early = self.closed.drain(..count).collect::<Vec<_>>().into_par_iter();
        // A buffer for each thread to read into, as it is not known how much will be read.
        let opened = early.map_init(Vec::new, |buf, source| begin(source, buf, most, least));
        self.opened = opened.collect::<Vec<_>>().into();
    }
}

/// Opens `source` in its turn; a plain file of `least` bytes is handed over as such.
fn open(source: Source, least: Option<u64>) -> Opened {
    let Source { text_only, bytes, .. } = source;
    let plain = plain(source.path.as_deref(), bytes, least);
    let content = match &plain {
        Some(plain) => plain.rest(0),
        None => (source.open)().and_then(compress::decompressed),
    };
    Opened { text_only, bytes, content: content.map(Content::Stream), plain }
}

/// Opens `source` and reads up to `most` bytes of it, by way of `buf`; a plain file of `least` bytes is handed over as such.
fn begin(source: Source, buf: &mut Vec<u8>, most: usize, least: Option<u64>) -> Opened {
    let Source { text_only, mut bytes, path, .. } = source;
    let mut content = (source.open)().and_then(|reader| content(reader, buf, most));
    let mut plain = None;
    if matches!(content, Ok(Content::Stream(_))) {
        let length = || path.as_ref()?.metadata().ok().map(|data| data.len());
        bytes = bytes.or_else(length);
        plain = self::plain(path.as_deref(), bytes, least);
        if let Some(plain) = &plain {
            content = plain.rest(0).map(Content::Stream);
        }
    }
    Opened { text_only, bytes, content, plain }
}

/// The file at `path`, which is thought to have so many `bytes`, if it is a plain one of `least` bytes and such are asked for.
fn plain(path: Option<&Path>, bytes: Option<u64>, least: Option<u64>) -> Option<Plain> {
    let least = least.filter(|least| bytes >= Some(*least))?;
    Plain::open(path?, least)
}

/// What `reader` gives: all of it if that is no more than `most` bytes.
fn content(
    mut reader: Box<dyn Read + Send>,
    buf: &mut Vec<u8>,
    most: usize,
) -> io::Result<Content> {
    // However small chunks are, what is not text is recognized.
    buf.resize(most.max(Container::HEAD_BYTES), 0);
    let mut head = Beginning::of(&mut *reader, buf);
    if Compression::of_head(head.bytes).is_some() {
        reader = compress::decompressed(head.before(reader))?;
        head = Beginning::of(&mut *reader, buf);
    } else {
        container::refuse(head.bytes)?;
    }
    Ok(match head.end {
        Ok(true) if head.bytes.len() <= most => Content::Whole(PaddedBuf::from_content(head.bytes)),
        _ => Content::Stream(head.before(reader)),
    })
}

/// The first bytes of a stream.
struct Beginning<'a> {
    bytes: &'a [u8],
    /// Whether the stream ends after them, or what went wrong there.
    end: io::Result<bool>,
}

impl<'a> Beginning<'a> {
    /// Reads from `reader` until `buf` is full.
    fn of(reader: &mut dyn Read, buf: &'a mut [u8]) -> Beginning<'a> {
        let mut len = 0;
        let end = loop {
            if len == buf.len() {
                break Ok(false);
            }
            match reader.read(&mut buf[len..]) {
                Ok(0) => break Ok(true),
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        Beginning { bytes: &buf[..len], end }
    }

    /// These bytes, and then those of `rest` or what went wrong before it.
    fn before(self, rest: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let head = io::Cursor::new(self.bytes.to_vec());
        match self.end {
            Ok(_) => Box::new(head.chain(rest)),
            Err(error) => Box::new(head.chain(compress::Fails(Some(error)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes, then fails if it is to.
    struct Fragile(io::Cursor<Vec<u8>>, bool);

    impl Read for Fragile {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out) {
                Ok(0) if self.1 => Err(io::Error::other("torn")),
                result => result,
            }
        }
    }

    /// What a source gives to its end, and the fault there.
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
    fn what_is_opened_early_is_what_is_opened_in_turn() {
        let mut texts: Vec<Vec<u8>> =
            [0, 1, 5, 99, 100, 101, 5000].map(|len| vec![b'x'; len]).to_vec();
        texts.push(b"\x1f\x8b\x08 no gzip".to_vec());
        #[cfg(feature = "compression")]
        texts.extend([3, 100, 20_000].map(|len| {
            let level = flate2::Compression::fast();
            let mut to = flate2::write::GzEncoder::new(Vec::new(), level);
            io::Write::write_all(&mut to, &vec![b'y'; len]).unwrap();
            to.finish().unwrap()
        }));
        let cases: Vec<(&[u8], bool)> =
            texts.iter().flat_map(|text| [(&text[..], false), (&text[..], true)]).collect();
        // Twice as many as are opened at a time, one that has to wait for its turn among them.
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
    fn a_source_that_cannot_be_opened_says_so_in_its_turn() {
        let missing = || Source::regular_file("/no such/file");
        let list = vec![source(b"x", false, true), missing(), source(b"y", false, true)];
        let mut sources = Sources::new(list, 100);
        let all: Vec<_> = std::iter::from_fn(|| sources.next()).map(read).collect();
        assert_eq!((&all[0].0[..], &all[2].0[..]), (&b"x"[..], &b"y"[..]));
        assert!(all[1].1.as_ref().is_some_and(|error| error.contains("No such file")), "{all:?}");
    }
}
