//! From a chunk to its links, and from a source of anything to a source of links.

use std::io::{self, Read};

use super::{ExtractOptions, Settings};
use crate::chunk::Span;
use crate::extract::{Context, Finder, Format, Links, wrapped_cut};
use crate::io::reader::Cut;
use crate::io::{Chunk, ChunkReader, Shape, Source};
use crate::simd::{Isa, Task};

pub(super) use crate::io::found::Found;

/// Appends the links of `chunk` to `links`.
#[inline(always)]
pub(super) fn of_chunk<I: Isa>(isa: I, finder: &Finder, chunk: &Chunk, links: &mut Links) {
    let text = chunk.text.padded();
    match chunk.format {
        Format::Text => {
            let whole = Span { start: 0, end: text.len() as u32 };
            finder.find_in(isa, text, whole, Context::Text, links);
        }
    }
}

/// Where the records of sources of any kind end.
pub(super) fn cut(options: &ExtractOptions, record_end: u8) -> Box<dyn Cut> {
    Box::new(Documents { record_end, unwrap: options.find.unwrap })
}

struct Documents {
    record_end: u8,
    unwrap: bool,
}

impl Cut for Documents {
    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        let mut end = content.len();
        loop {
            end = memchr::memrchr(self.record_end, &content[..end])? + 1;
            match self.unwrap.then(|| wrapped_cut(content, end)).flatten() {
                None => return Some(end),
                Some(start) => end = start,
            }
        }
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        memchr::memchr(self.record_end, content).map(|at| at + 1)
    }
}

/// The links of `source` as a list, one per record, to be fed to any other job.
///
/// The list is made on the thread that reads, chunk by chunk, while the others work on what was
/// made before; nothing is written aside. Lines and offsets told about the list are its own, not those
/// of the source.
///
/// ```
/// use uriscan::{io::Source, pipeline::{DedupOptions, ExtractOptions, Settings, Sinks, dedup, links_of}};
/// let settings = Settings::default();
/// let text = Source::new("a", &b"http://h/ and HTTP://h and (http://h/x)\n"[..]);
/// let list = links_of(text, &ExtractOptions::default(), &settings);
/// let mut out = Vec::new();
/// dedup(vec![list], &DedupOptions::default(), &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/\nhttp://h/x\n");
/// ```
pub fn links_of(source: Source, options: &ExtractOptions, settings: &Settings) -> Source {
    let (name, settings, text_only) = (source.name.clone(), *settings, false);
    let finder = Finder::new(options.find.clone());
    let cut = cut(options, settings.record_end);
    let open = move || {
        let Settings { record_end, chunk_bytes, max_record, .. } = settings;
        let mut reader = ChunkReader::new(vec![source], record_end, chunk_bytes, max_record);
        reader.cut_by(cut);
        let (chunk, links) = (Chunk::default(), Links::new());
        let list = List { reader, settings, finder, chunk, links, out: Vec::new(), given: 0 };
        Ok(Box::new(list) as Box<dyn Read + Send>)
    };
    Source { name, bytes: None, open: Box::new(open), text_only }
}

/// A list of links that is made as it is read.
struct List {
    reader: ChunkReader,
    settings: Settings,
    finder: Finder,
    chunk: Chunk,
    links: Links,
    out: Vec<u8>,
    /// Bytes of `out` that were read.
    given: usize,
}

impl Read for List {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.out.len() {
            match self.reader.fill(&mut self.chunk) {
                Ok(true) => self.settings.kernels.run(Fill(self)),
                Ok(false) => return Ok(0),
                Err(fault) => return Err(fault.error),
            }
        }
        let count = out.len().min(self.out.len() - self.given);
        out[..count].copy_from_slice(&self.out[self.given..][..count]);
        self.given += count;
        Ok(count)
    }
}

/// Makes the list of the next chunk.
struct Fill<'a>(&'a mut List);

impl Task for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let List { settings, finder, chunk, links, out, given, .. } = self.0;
        out.clear();
        links.clear();
        *given = 0;
        if chunk.shape == Shape::Records {
            of_chunk(isa, finder, chunk, links);
        }
        for (_, uri) in links.iter(chunk.text.padded().content()) {
            out.extend_from_slice(uri);
            out.push(settings.record_end);
        }
    }
}
