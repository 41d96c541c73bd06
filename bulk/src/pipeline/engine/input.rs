//! The part of the input to be read a second time: ranges of files, and copies of sources that can be read only once.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::io::read::part::{Plain, raw_source};
use crate::io::{Chunk, Source};
use crate::pipeline::Error;
use crate::survivors::{SpillDir, SpillFile};

/// The names of sources, and the paths of those that are files all of whose records are read.
pub(crate) type SourcePaths = Vec<(String, Option<PathBuf>)>;

/// The names and paths of `sources`.
pub(crate) fn source_paths(sources: &[Source]) -> SourcePaths {
    let path = |source: &Source| source.path.clone().filter(|_| source.keeper.is_none());
    sources.iter().map(|source| (source.name.clone(), path(source))).collect()
}

/// Records consecutive chunks so that all of them can be read a second time.
#[derive(Debug)]
pub(crate) struct Input {
    paths: SourcePaths,
    dir: SpillDir,
    /// Copies of sources that cannot be read a second time.
    copies: Option<Arc<SpillFile>>,
    extents: Vec<Extent>,
}

/// A range of bytes of a source.
#[derive(Debug)]
struct Extent {
    source: usize,
    start: u64,
    end: u64,
    from: Backing,
}

/// Where the bytes can be read a second time.
#[derive(Clone, Debug)]
enum Backing {
    File(Plain),
    /// In the copies, from this offset on.
    Copy(u64),
}

impl Input {
    /// An empty record of the sources at `paths`.
    pub(crate) fn new(paths: SourcePaths, dir: &SpillDir) -> Input {
        Input { paths, dir: dir.clone(), copies: None, extents: Vec::new() }
    }

    /// Adds `chunk`; chunks of the same source are consecutive.
    pub(crate) fn take(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let text = chunk.text.padded().content();
        if self.extents.last().is_none_or(|last| last.source != chunk.source) {
            self.begin(chunk)?;
        }
        let Some(last) = self.extents.last_mut() else { return Ok(()) };
        last.end += text.len() as u64;
        if let (Backing::Copy(_), Some(copies)) = (&last.from, &self.copies) {
            copies.append(&[text])?;
        }
        Ok(())
    }

    /// Starts the source of `chunk`.
    fn begin(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let path = self.paths[chunk.source].1.as_deref();
        let from = match path.and_then(Plain::at) {
            Some(plain) => Backing::File(plain),
            None => {
                let copies = match self.copies.take() {
                    Some(copies) => copies,
                    None => Arc::new(self.dir.file()?),
                };
                // There is no other writer.
                let at = self.copies.insert(copies).append(&[])?;
                Backing::Copy(at)
            }
        };
        let (source, start) = (chunk.source, chunk.kept_byte);
        self.extents.push(Extent { source, start, end: start, from });
        Ok(())
    }

    /// Drops everything from byte `at` of what is kept of source number `source` on.
    pub(crate) fn cut(&mut self, source: usize, at: u64) {
        self.extents.retain(|extent| (extent.source, extent.start) < (source, at));
        if let Some(last) = self.extents.last_mut().filter(|last| last.source == source) {
            last.end = last.end.min(at);
        }
    }

    /// All that was recorded, as sources.
    pub(crate) fn sources(self) -> Vec<Source> {
        let Input { paths, copies, extents, .. } = self;
        let source = |extent: Extent| {
            let name = paths[extent.source].0.clone();
            let (start, end) = (extent.start, extent.end);
            match (extent.from, &copies) {
                (Backing::File(plain), _) => raw_source(name, move || plain.part(start, end)),
                (Backing::Copy(at), Some(copies)) => {
                    let file = Arc::clone(copies);
                    raw_source(name, move || Ok(SpillRange { file, at, end: at + (end - start) }))
                }
                // A copy implies a file of copies.
                (Backing::Copy(_), None) => raw_source(name, || Ok(io::empty())),
            }
        };
        extents.into_iter().map(source).collect()
    }
}

/// A range of bytes of a spill file.
struct SpillRange {
    file: Arc<SpillFile>,
    at: u64,
    end: u64,
}

impl Read for SpillRange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        self.file.read_plain(&mut buffer[..count], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ChunkReader;

    #[test]
    fn recorded_chunks_are_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        let text: String = (0..500).map(|i| format!("line {i}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let sources = || {
            let stream = |text: &str| Source::new("-", io::Cursor::new(text.to_owned()));
            let marked = "\u{FEFF}\u{FEFF}one\ntwo";
            vec![
                stream(&text),
                Source::file(&path),
                stream(""),
                stream(marked),
                Source::file(&path),
            ]
        };
        let read = |sources: Vec<Source>, each: &mut dyn FnMut(&Chunk)| {
            let mut reader = ChunkReader::new(sources, b'\n', 256, 1024);
            let mut chunk = Chunk::default();
            while reader.fill(&mut chunk).unwrap() {
                each(&chunk);
            }
        };
        for (skip, cut) in
            [(0, None), (3, None), (40, None), (5, Some((1, 100))), (5, Some((4, 7)))]
        {
            let mut input = Input::new(source_paths(&sources()), &SpillDir::new(dir.path()));
            let (mut number, mut expected) = (0, Vec::new());
            read(sources(), &mut |chunk| {
                number += 1;
                if number <= skip {
                    return;
                }
                input.take(chunk).unwrap();
                let content = chunk.text.padded().content();
                let count = match cut {
                    Some((source, _)) if chunk.source > source => 0,
                    Some((source, at)) if chunk.source == source => {
                        content.len().min((at as usize).saturating_sub(chunk.byte as usize))
                    }
                    _ => content.len(),
                };
                expected.extend_from_slice(&content[..count]);
            });
            if let Some((source, at)) = cut {
                input.cut(source, at);
            }
            let mut found = Vec::new();
            read(input.sources(), &mut |chunk| {
                found.extend_from_slice(chunk.text.padded().content());
            });
            assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
        }
    }
}
