//! A file of items of one width, in blocks with a checksum each. It never changes.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 4095 | the header (below) |
//! | width × items | the items, in blocks of 4096 bytes; the last may be shorter |
//! | 8 × blocks | XXH3-64 of the bytes of each block |
//!
//! The header: 16 bytes that identify the kind of file; the number of items; XXH3-64 of the
//! checksums; the digest; the facts of this kind of file; zeros; XXH3-64 of all these. Numbers have
//! 64 bits, big-endian. Equal contents therefore have identical files.
//!
//! The digest is the first 16 bytes of BLAKE3 of all items (and of the facts that bind them to
//! other files). In hexadecimal digits it is the name of the file, so nobody can make two contents
//! with the same name.
//!
//! The checksums detect damage on disk or in transfer. They do not prevent forgery, so nothing in a
//! file is trusted: lengths are checked against the size of the file before anything is allocated,
//! and facts against the items that are read.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::error::{At, Fault, SetError};
use super::file;
use super::names;
use uriscan_files::{AtomicFile, File};

/// Size of a whole block, and of the header, in bytes.
pub(super) const BLOCK: usize = 4096;

/// Offset of the digest in the header.
const DIGEST: usize = 32;

/// Offset of the facts in the header.
pub(super) const FACTS: usize = DIGEST + 16;

/// A kind of file.
#[derive(Debug)]
pub(super) struct Kind {
    /// Its first bytes.
    pub(super) magic: &'static [u8; 16],
    /// Width of an item in bytes: a divisor of the block size.
    pub(super) width: u64,
    /// Number of facts.
    pub(super) facts: usize,
    /// Number of leading facts that bind the items to other files; the digest covers them too.
    pub(super) bound: usize,
    /// Suffix of its name.
    pub(super) suffix: &'static str,
    /// The error for a file that begins differently.
    pub(super) stranger: &'static str,
    /// The error for a block with a wrong checksum.
    pub(super) damaged: &'static str,
}

impl Kind {
    /// Number of items in a whole block.
    pub(super) const fn block_items(&self) -> u64 {
        BLOCK as u64 / self.width
    }
}

/// Reads such a file.
#[derive(Debug)]
pub(super) struct Blocks {
    kind: &'static Kind,
    path: PathBuf,
    file: File,
    len: u64,
    checks: Vec<u64>,
    facts: Vec<u64>,
    digest: u128,
}

impl Blocks {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged outside the items, which are checked when they are read.
    pub(super) fn open(path: &Path, kind: &'static Kind) -> Result<Blocks, SetError> {
        Blocks::of_file(file::open(path)?, path, kind)
    }

    /// The same for an open file, which is that of `path` or would be.
    fn of_file(mut file: File, path: &Path, kind: &'static Kind) -> Result<Blocks, SetError> {
        let mut header = [0; BLOCK];
        file.seek(SeekFrom::Start(0)).at(path)?;
        expect_whole(file.read_exact(&mut header), path, 0)?;
        let damaged = |what, at| SetError::damaged(path, what, at);
        if &header[..kind.magic.len()] != kind.magic {
            return Err(damaged(kind.stranger, 0));
        }
        if xxh3_64(&header[..BLOCK - 8]) != number(&header, BLOCK - 8) {
            return Err(damaged("the checksum of the header is wrong", 0));
        }
        let digest = u128::from_be_bytes(header[DIGEST..FACTS].try_into().expect("16 bytes"));
        if path.file_name() != Some(names::of_digest(digest, kind.suffix).as_ref()) {
            return Err(damaged("its name does not match its content", DIGEST as u64));
        }
        let facts_end = FACTS + 8 * kind.facts;
        let facts = (0..kind.facts).map(|i| number(&header, FACTS + 8 * i)).collect();
        if let Some(i) = header[facts_end..BLOCK - 8].iter().position(|&byte| byte != 0) {
            return Err(damaged(
                "the unused part of the header is not zero",
                (facts_end + i) as u64,
            ));
        }
        let len = number(&header, 16);
        let blocks = len.div_ceil(kind.block_items());
        let size = file.metadata().at(path)?.len();
        // A length that overflows cannot be that of the file.
        let end = len.checked_mul(kind.width).and_then(|items| items.checked_add(BLOCK as u64));
        let whole = end.and_then(|end| Some((end, end.checked_add(blocks.checked_mul(8)?)?)));
        let end = match whole {
            Some((end, expected)) if size == expected => end,
            Some((_, expected)) if size > expected => {
                return Err(damaged("it is longer than its header says", expected));
            }
            _ => return Err(damaged("it ends too early", size)),
        };
        file.seek(SeekFrom::Start(end)).at(path)?;
        let mut bytes = zeros(size - end).at(path)?;
        expect_whole(file.read_exact(&mut bytes), path, end)?;
        if xxh3_64(&bytes) != number(&header, 24) {
            return Err(damaged("the checksums of the blocks do not match the header", end));
        }
        let checks = (0..bytes.len() / 8).map(|i| number(&bytes, 8 * i)).collect();
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

    /// The digest of the content, which identifies it.
    pub(super) fn digest(&self) -> u128 {
        self.digest
    }

    /// Size of the file in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        (BLOCK + 8 * self.checks.len()) as u64 + self.len * self.kind.width
    }

    /// Number of blocks.
    pub(super) fn count(&self) -> u64 {
        self.checks.len() as u64
    }

    /// The byte range of a range of blocks, counted from the first item.
    pub(super) fn bytes_of(&self, blocks: Range<u64>) -> Range<u64> {
        let end = self.len * self.kind.width;
        blocks.start * BLOCK as u64..(blocks.end * BLOCK as u64).min(end)
    }

    /// Replaces `bytes` with those of a range of blocks, after checking their checksums.
    pub(super) fn read(&self, blocks: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), SetError> {
        let place = self.bytes_of(blocks.clone());
        let len = (place.end - place.start) as usize;
        if len > bytes.len() {
            bytes.try_reserve_exact(len - bytes.len()).map_err(out_of_memory).at(&self.path)?;
        }
        bytes.resize(len, 0);
        self.read_into(blocks.start, bytes)
    }

    /// Fills `bytes` with those of whole blocks, from number `first` on, after checking their checksums; the last block of all
    /// may be shorter.
    pub(super) fn read_into(&self, first: u64, bytes: &mut [u8]) -> Result<(), SetError> {
        let offset = BLOCK as u64 + self.bytes_of(first..first).start;
        expect_whole(self.file.read_exact_at(bytes, offset), &self.path, offset)?;
        for (number, block) in (first..).zip(bytes.chunks(BLOCK)) {
            if xxh3_64(block) != self.checks[number as usize] {
                let at = (1 + number) * BLOCK as u64;
                return Err(SetError::damaged(&self.path, self.kind.damaged, at));
            }
        }
        Ok(())
    }

    /// Reads everything. Calls `whole` with each intact block and its number; returns all damage,
    /// with positions.
    pub(super) fn verify(
        &self,
        mut whole: impl FnMut(u64, &[u8]),
    ) -> Result<Vec<SetError>, SetError> {
        let (mut damages, mut bytes) = (Vec::new(), Vec::new());
        let mut hash = blake3::Hasher::new();
        for block in 0..self.count() {
            match self.read(block..block + 1, &mut bytes) {
                Ok(()) => {
                    hash.update(&bytes);
                    whole(block, &bytes);
                }
                Err(error @ SetError { fault: Fault::Io(_), .. }) => return Err(error),
                Err(damage) => damages.push(damage),
            }
        }
        if damages.is_empty() && digest_of(hash, &self.facts[..self.kind.bound]) != self.digest {
            let what = "its content does not match its name";
            damages.push(SetError::damaged(&self.path, what, BLOCK as u64));
        }
        Ok(damages)
    }
}

/// The digest of the items that were fed to `hash`, and of the facts in `bound`.
fn digest_of(mut hash: blake3::Hasher, bound: &[u64]) -> u128 {
    for fact in bound {
        hash.update(&fact.to_be_bytes());
    }
    let hash = hash.finalize();
    let (digest, _) = hash.as_bytes().split_at(16);
    u128::from_be_bytes(digest.try_into().expect("16 bytes"))
}

/// `len` zeros, or an error if there is not enough memory.
fn zeros(len: u64) -> io::Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(out_of_memory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(out_of_memory)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn out_of_memory<E>(_: E) -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

/// The number at `at`.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// That a file ends before what was read at `offset` is damage.
fn expect_whole(read: io::Result<()>, path: &Path, offset: u64) -> Result<(), SetError> {
    read.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SetError::damaged(path, "it ends too early", offset),
        _ => SetError::new(path, Fault::Io(error)),
    })
}

/// Number of bytes that are buffered before they are written.
const BUFFER: usize = 256 * BLOCK;

/// A file being written, which is removed unless it is finished.
#[derive(Debug)]
pub(super) struct BlockWriter {
    kind: &'static Kind,
    directory: PathBuf,
    file: AtomicFile,
    /// Items that are not written yet, in whole blocks except at the end.
    waiting: Vec<u8>,
    checks: Vec<u8>,
    hash: blake3::Hasher,
    len: u64,
}

impl BlockWriter {
    /// Creates a file in `directory`.
    pub(super) fn new(directory: &Path, kind: &'static Kind) -> Result<BlockWriter, SetError> {
        let file = super::directory::draft(directory, names::NEW)?;
        file.file().write_all(&[0; BLOCK]).at(directory)?;
        Ok(BlockWriter {
            kind,
            directory: directory.to_owned(),
            file,
            waiting: Vec::with_capacity(BUFFER),
            checks: Vec::new(),
            hash: blake3::Hasher::new(),
            len: 0,
        })
    }

    /// Adds items, at most a block of them.
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
        self.hash.update(bytes);
        self.file.file().write_all(bytes).at(&self.directory)
    }

    /// Finishes the file. If it is to be durable, its bytes are on the disk and it has its name when this returns, which
    /// may still be lost until the directory is on the disk too; otherwise it never has a name and goes with the process.
    pub(super) fn finish(mut self, facts: &[u64], is_durable: bool) -> Result<Blocks, SetError> {
        self.write_waiting(self.waiting.len())?;
        let mut header = Vec::with_capacity(BLOCK);
        header.extend_from_slice(self.kind.magic);
        let checks = xxh3_64(&self.checks);
        let digest = digest_of(self.hash, &facts[..self.kind.bound]);
        header.extend([self.len, checks].into_iter().flat_map(u64::to_be_bytes));
        header.extend(digest.to_be_bytes());
        header.extend(facts.iter().copied().flat_map(u64::to_be_bytes));
        header.resize(BLOCK - 8, 0);
        let check = xxh3_64(&header);
        header.extend_from_slice(&check.to_be_bytes());
        let write = || {
            let mut file = self.file.file();
            file.write_all(&self.checks)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            if is_durable { file.sync_all() } else { Ok(()) }
        };
        write().at(&self.directory)?;
        let path = self.directory.join(names::of_digest(digest, self.kind.suffix));
        if is_durable {
            self.file.put(&path).at(&path)?;
            return Blocks::open(&path, self.kind);
        }
        let file = self.file.into_unnamed().at(&self.directory)?;
        Blocks::of_file(file, &path, self.kind)
    }
}
