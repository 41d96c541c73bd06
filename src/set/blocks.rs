//! A file of items of one width, in blocks with a checksum each, which never changes.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 to 4095 | the header (below) |
//! | the width for each item | the items; a block has 4096 bytes of them, the last may be shorter |
//! | 8 for each block | XXH3-64 of the bytes of each block |
//!
//! The header: 16 bytes that name the kind of file; the number of items; XXH3-64 of the checksums; the facts of this
//! kind of file; zeros; XXH3-64 of all these. Numbers have 64 bits, big-endian. So one content has one file, byte for
//! byte, and nothing in a file can change unseen.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{At, Fault, SetError};

/// Bytes of a whole block, and of the header.
pub(super) const BLOCK: usize = 4096;

/// Where facts begin in the header.
const FACTS: usize = 32;

/// What is in a file.
#[derive(Debug)]
pub(super) struct Kind {
    /// The bytes it begins with.
    pub(super) magic: &'static [u8; 16],
    /// Bytes of an item: a divisor of those of a block.
    pub(super) width: u64,
    /// Numbers among its facts.
    pub(super) facts: usize,
    /// What its name ends in.
    pub(super) suffix: &'static str,
    /// What is said of one that begins otherwise.
    pub(super) stranger: &'static str,
    /// What is said of a block that is not what was written.
    pub(super) damaged: &'static str,
}

impl Kind {
    /// Items of a whole block.
    pub(super) const fn block_items(&self) -> u64 {
        BLOCK as u64 / self.width
    }
}

/// Such a file, to be read.
#[derive(Debug)]
pub(super) struct Blocks {
    kind: &'static Kind,
    path: PathBuf,
    file: File,
    len: u64,
    checks: Vec<u64>,
    facts: Vec<u64>,
    /// Of the header, and so of everything.
    digest: u64,
}

impl Blocks {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged in what is not items; they are checked when they are read.
    pub(super) fn open(path: &Path, kind: &'static Kind) -> Result<Blocks, SetError> {
        let mut file = File::open(path).at(path)?;
        let mut header = [0; BLOCK];
        read_exactly(&mut file, &mut header, path, 0)?;
        let damaged = |what, at| SetError::damaged(path, what, at);
        if &header[..kind.magic.len()] != kind.magic {
            return Err(damaged(kind.stranger, 0));
        }
        let digest = number(&header, BLOCK - 8);
        if xxh3_64(&header[..BLOCK - 8]) != digest {
            return Err(damaged("the checksum of the header is another", 0));
        }
        let len = number(&header, 16);
        let facts = (0..kind.facts).map(|i| number(&header, FACTS + 8 * i)).collect();
        let blocks = len.div_ceil(kind.block_items());
        let end = BLOCK as u64 + len * kind.width;
        let size = file.metadata().at(path)?.len();
        let expected = end + 8 * blocks;
        if size != expected {
            let what = if size < expected { "it ends too early" } else { "it goes on too long" };
            return Err(damaged(what, size.min(expected)));
        }
        file.seek(SeekFrom::Start(end)).at(path)?;
        let mut bytes = vec![0; 8 * blocks as usize];
        read_exactly(&mut file, &mut bytes, path, end)?;
        if xxh3_64(&bytes) != number(&header, 24) {
            return Err(damaged("the checksums of the blocks are not those of the header", end));
        }
        let checks = (0..blocks as usize).map(|i| number(&bytes, 8 * i)).collect();
        Ok(Blocks { kind, path: path.to_owned(), file, len, checks, facts, digest })
    }

    /// Number of items.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The facts of the header.
    pub(super) fn facts(&self) -> &[u64] {
        &self.facts
    }

    /// A number that tells this content from any other.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// Bytes of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        (BLOCK + 8 * self.checks.len()) as u64 + self.len * self.kind.width
    }

    /// Number of blocks.
    pub(super) fn count(&self) -> u64 {
        self.checks.len() as u64
    }

    /// The bytes of a range of blocks, counted from the first item: inclusive and exclusive.
    pub(super) fn bytes_of(&self, blocks: Range<u64>) -> Range<u64> {
        let end = self.len * self.kind.width;
        blocks.start * BLOCK as u64..(blocks.end * BLOCK as u64).min(end)
    }

    /// Replaces `bytes` by those of a range of blocks, which are seen to be what was written.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub(super) fn read(&self, blocks: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), SetError> {
        let place = self.bytes_of(blocks.clone());
        bytes.resize((place.end - place.start) as usize, 0);
        let offset = BLOCK as u64 + place.start;
        read_at(&self.file, bytes, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                SetError::damaged(&self.path, "it ends too early", offset)
            }
            _ => SetError::new(&self.path, Fault::Io(error)),
        })?;
        for (number, block) in blocks.zip(bytes.chunks(BLOCK)) {
            if xxh3_64(block) != self.checks[number as usize] {
                let at = (1 + number) * BLOCK as u64;
                return Err(SetError::damaged(&self.path, self.kind.damaged, at));
            }
        }
        Ok(())
    }

    /// Reads everything, and has each block that is whole told with its number; gives all damages, each with its place.
    ///
    /// # Errors
    /// When something cannot be read at all.
    pub(super) fn verify(
        &self,
        mut whole: impl FnMut(u64, &[u8]),
    ) -> Result<Vec<SetError>, SetError> {
        let (mut damages, mut bytes) = (Vec::new(), Vec::new());
        for block in 0..self.count() {
            match self.read(block..block + 1, &mut bytes) {
                Ok(()) => whole(block, &bytes),
                Err(error @ SetError { fault: Fault::Io(_), .. }) => return Err(error),
                Err(damage) => damages.push(damage),
            }
        }
        Ok(damages)
    }
}

/// The number at `at`.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

fn read_exactly(
    file: &mut File,
    bytes: &mut [u8],
    path: &Path,
    offset: u64,
) -> Result<(), SetError> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SetError::damaged(path, "it ends too early", offset),
        _ => SetError::new(path, Fault::Io(error)),
    })
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (bytes, offset) = (&mut bytes[read..], offset + read as u64),
        }
    }
    Ok(())
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 256 * BLOCK;

/// A file that is being written, and vanishes unless it is finished.
#[derive(Debug)]
pub(super) struct BlockWriter {
    kind: &'static Kind,
    directory: PathBuf,
    file: NamedTempFile,
    /// Items that wait to be written, in whole blocks but at the end.
    waiting: Vec<u8>,
    checks: Vec<u8>,
    len: u64,
}

impl BlockWriter {
    /// Begins a file in `directory`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub(super) fn new(directory: &Path, kind: &'static Kind) -> Result<BlockWriter, SetError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("new-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory).at(directory)?;
        file.write_all(&[0; BLOCK]).at(directory)?;
        Ok(BlockWriter {
            kind,
            directory: directory.to_owned(),
            file,
            waiting: Vec::with_capacity(BUFFER),
            checks: Vec::new(),
            len: 0,
        })
    }

    /// Adds items, no more than a block of them.
    ///
    /// # Errors
    /// When they cannot be written.
    #[inline]
    pub(super) fn push<const WIDTH: usize>(
        &mut self,
        items: impl Iterator<Item = [u8; WIDTH]>,
    ) -> Result<(), SetError> {
        debug_assert_eq!(WIDTH as u64, self.kind.width);
        for item in items {
            self.waiting.extend_from_slice(&item);
            self.len += 1;
        }
        if self.waiting.len() >= BUFFER {
            let whole = self.waiting.len() / BLOCK * BLOCK;
            self.write_waiting(whole)?;
            self.waiting.drain(..whole);
        }
        Ok(())
    }

    fn write_waiting(&mut self, len: usize) -> Result<(), SetError> {
        let bytes = &self.waiting[..len];
        self.checks.extend(bytes.chunks(BLOCK).flat_map(|block| xxh3_64(block).to_be_bytes()));
        self.file.write_all(bytes).at(&self.directory)
    }

    /// Finishes the file: it has its name when this comes back and, if it is to be durable, its bytes are on the disk;
    /// but the name may still be lost until the directory is on the disk too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(mut self, facts: &[u64], is_durable: bool) -> Result<Blocks, SetError> {
        self.write_waiting(self.waiting.len())?;
        let mut header = Vec::with_capacity(BLOCK);
        header.extend_from_slice(self.kind.magic);
        let checks = xxh3_64(&self.checks);
        let numbers = [self.len, checks].into_iter().chain(facts.iter().copied());
        header.extend(numbers.flat_map(u64::to_be_bytes));
        header.resize(BLOCK - 8, 0);
        let digest = xxh3_64(&header);
        header.extend_from_slice(&digest.to_be_bytes());
        let mut write = || {
            self.file.write_all(&self.checks)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)?;
            if is_durable { self.file.as_file().sync_all() } else { Ok(()) }
        };
        write().at(&self.directory)?;
        let path = self.directory.join(format!("{digest:016x}{}", self.kind.suffix));
        self.file.persist(&path).map_err(|error| error.error).at(&path)?;
        Blocks::open(&path, self.kind)
    }
}
