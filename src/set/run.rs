//! A run: a file of keys in rising order, with a checksum for every block.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 to 4095 | the header (below) |
//! | 16 for each key | the keys, big-endian, rising, none twice; a block is 256 of them, the last may be shorter |
//! | 8 for each block | XXH3-64 of the bytes of each block |
//!
//! The header: 16 bytes of magic; the number of keys; XXH3-64 of the checksums; for each of the 256 first
//! bytes of a key, and for the end, the number of keys before it; zeros; XXH3-64 of all these. Numbers have 64 bits,
//! big-endian. So one content has one file, byte for byte, and nothing in a file can change unseen.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{At, Fault, SetError};

/// Bytes of a key.
pub(super) const KEY: usize = 16;

/// Keys of a block.
pub(super) const BLOCK_KEYS: u64 = 256;

/// Bytes of a whole block, and of the header.
pub(super) const BLOCK: usize = BLOCK_KEYS as usize * KEY;

/// The first bytes of a key tell this many partitions apart.
const PARTITIONS: usize = 256;

const MAGIC: &[u8; 16] = b"uriscan keys 1\n\0";

/// What file names of runs end in.
pub(super) const SUFFIX: &str = ".keys";

/// The key number `i` of `bytes`.
#[inline(always)]
pub(super) fn key_at(bytes: &[u8], i: usize) -> u128 {
    let bytes = &bytes[i * KEY..][..KEY];
    u128::from_be_bytes(bytes.try_into().expect("16 bytes"))
}

/// The partition of `key`.
#[inline(always)]
fn partition_of(key: u128) -> usize {
    (key >> 120) as usize
}

/// A run that can be read; its file never changes.
#[derive(Debug)]
pub(super) struct Run {
    path: PathBuf,
    file: File,
    len: u64,
    /// Keys before each partition, and their number.
    bounds: Vec<u64>,
    checks: Vec<u64>,
    /// Of the header, and so of everything.
    digest: u64,
    /// All keys, if they are held in memory.
    resident: Option<Vec<u8>>,
}

impl Run {
    /// Opens the run at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged in what is not keys; keys are checked when they are read.
    pub(super) fn open(path: &Path) -> Result<Run, SetError> {
        let mut file = File::open(path).at(path)?;
        let mut header = [0; BLOCK];
        read_exactly(&mut file, &mut header, path, 0)?;
        let damaged = |what, at| SetError::damaged(path, what, at);
        if &header[..MAGIC.len()] != MAGIC {
            return Err(damaged("it does not begin as a run of keys does", 0));
        }
        let digest = number(&header, BLOCK - 8);
        if xxh3_64(&header[..BLOCK - 8]) != digest {
            return Err(damaged("the checksum of the header is another", 0));
        }
        let len = number(&header, 16);
        let bounds: Vec<u64> = (0..=PARTITIONS).map(|i| number(&header, 32 + 8 * i)).collect();
        let (blocks, end) = (len.div_ceil(BLOCK_KEYS), BLOCK as u64 + len * KEY as u64);
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
        Ok(Run { path: path.to_owned(), file, len, bounds, checks, digest, resident: None })
    }

    /// Number of keys.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A number that tells this content from any other.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// Bytes of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        (BLOCK + 8 * self.checks.len()) as u64 + self.len * KEY as u64
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.checks.len() as u64
    }

    /// All keys, if they are in memory.
    pub(super) fn resident(&self) -> Option<&[u8]> {
        self.resident.as_deref()
    }

    /// Takes all keys into memory.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub(super) fn make_resident(&mut self) -> Result<(), SetError> {
        let mut bytes = Vec::new();
        self.read_blocks(0..self.blocks(), &mut bytes)?;
        self.resident = Some(bytes);
        Ok(())
    }

    /// The number of keys below `key` or near it, as even as keys are spread.
    pub(super) fn guess(&self, key: u128) -> u64 {
        let partition = partition_of(key);
        let (start, end) = (self.bounds[partition], self.bounds[partition + 1]);
        let fraction = u128::from((key >> 56) as u64);
        start + ((u128::from(end - start) * fraction) >> 64) as u64
    }

    /// The number of blocks by which [`Run::guess`] is seldom wrong, if keys are spread evenly: of the keys of a
    /// partition, the number below one differs by half of their square root.
    pub(super) fn guess_error(&self) -> u64 {
        1 + (self.len / PARTITIONS as u64).isqrt() / BLOCK_KEYS
    }

    /// Replaces `bytes` by those of a range of blocks, which are seen to be what was written.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub(super) fn read_blocks(
        &self,
        blocks: Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), SetError> {
        let start = blocks.start * BLOCK as u64;
        let end = (blocks.end * BLOCK as u64).min(self.len * KEY as u64);
        bytes.resize((end - start) as usize, 0);
        if let Some(resident) = &self.resident {
            bytes.copy_from_slice(&resident[start as usize..end as usize]);
            return Ok(());
        }
        let offset = BLOCK as u64 + start;
        read_at(&self.file, bytes, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                SetError::damaged(&self.path, "it ends too early", offset)
            }
            _ => SetError::new(&self.path, Fault::Io(error)),
        })?;
        for (number, block) in blocks.zip(bytes.chunks(BLOCK)) {
            if xxh3_64(block) != self.checks[number as usize] {
                let at = (1 + number) * BLOCK as u64;
                let what = "the checksum of a block of keys is another";
                return Err(SetError::damaged(&self.path, what, at));
            }
        }
        Ok(())
    }

    /// Reads everything; gives all damages, each with its place.
    ///
    /// # Errors
    /// When something cannot be read at all.
    pub(super) fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let (mut damages, mut bytes, mut last) = (Vec::new(), Vec::new(), None);
        let mut counts = vec![0; PARTITIONS];
        for block in 0..self.blocks() {
            match self.read_blocks(block..block + 1, &mut bytes) {
                Ok(()) => {}
                Err(SetError { fault: Fault::Io(error), .. }) => {
                    return Err(SetError::new(&self.path, Fault::Io(error)));
                }
                Err(damage) => damages.push(damage),
            }
            for i in 0..bytes.len() / KEY {
                let key = key_at(&bytes, i);
                counts[partition_of(key)] += 1;
                if last.replace(key).is_some_and(|last| last >= key) && damages.is_empty() {
                    let at = BLOCK as u64 * (block + 1) + (i * KEY) as u64;
                    damages.push(SetError::damaged(&self.path, "the keys do not rise", at));
                }
            }
        }
        let bounds = bounds_of(&counts);
        if damages.is_empty() && bounds != self.bounds {
            let what = "the header counts other keys than there are";
            damages.push(SetError::damaged(&self.path, what, 32));
        }
        Ok(damages)
    }
}

/// Keys before each partition, and their number.
fn bounds_of(counts: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let starts = counts.iter().map(|count| {
        sum += count;
        sum - count
    });
    let mut bounds: Vec<u64> = starts.collect();
    bounds.push(sum);
    bounds
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

/// A run that is being written, to a file that vanishes unless it is finished.
#[derive(Debug)]
pub(super) struct RunWriter {
    directory: PathBuf,
    file: NamedTempFile,
    /// Keys that wait to be written, in whole blocks but at the end.
    waiting: Vec<u8>,
    checks: Vec<u8>,
    counts: Vec<u64>,
    last: Option<u128>,
}

impl RunWriter {
    /// Begins a run in `directory`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub(super) fn new(directory: &Path) -> Result<RunWriter, SetError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("new-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory).at(directory)?;
        file.write_all(&[0; BLOCK]).at(directory)?;
        Ok(RunWriter {
            directory: directory.to_owned(),
            file,
            waiting: Vec::with_capacity(BUFFER),
            checks: Vec::new(),
            counts: vec![0; PARTITIONS],
            last: None,
        })
    }

    /// Adds keys, which rise and are above those that were added.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn push(&mut self, keys: &[u128]) -> Result<(), SetError> {
        debug_assert!(keys.is_sorted_by(|a, b| a < b));
        debug_assert!(keys.first().is_none_or(|first| self.last.is_none_or(|last| last < *first)));
        self.last = keys.last().copied().or(self.last);
        for piece in keys.chunks(BLOCK_KEYS as usize) {
            for &key in piece {
                self.counts[partition_of(key)] += 1;
                self.waiting.extend_from_slice(&key.to_be_bytes());
            }
            if self.waiting.len() >= BUFFER {
                self.write_blocks()?;
            }
        }
        Ok(())
    }

    /// Writes the whole blocks that wait.
    fn write_blocks(&mut self) -> Result<(), SetError> {
        let whole = self.waiting.len() / BLOCK * BLOCK;
        self.write_waiting(whole)?;
        self.waiting.drain(..whole);
        Ok(())
    }

    fn write_waiting(&mut self, len: usize) -> Result<(), SetError> {
        let bytes = &self.waiting[..len];
        self.checks.extend(bytes.chunks(BLOCK).flat_map(|block| xxh3_64(block).to_be_bytes()));
        self.file.write_all(bytes).at(&self.directory)
    }

    /// Finishes the run: it is on the disk and has its name when this comes back, but the name may still be lost
    /// until the directory is on the disk too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(self) -> Result<Run, SetError> {
        self.end(true)
    }

    /// Finishes a run that need not outlive the process.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish_for_now(self) -> Result<Run, SetError> {
        self.end(false)
    }

    fn end(mut self, is_durable: bool) -> Result<Run, SetError> {
        self.write_waiting(self.waiting.len())?;
        let bounds = bounds_of(&self.counts);
        let mut header = Vec::with_capacity(BLOCK);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&bounds[PARTITIONS].to_be_bytes());
        header.extend_from_slice(&xxh3_64(&self.checks).to_be_bytes());
        header.extend(bounds.iter().flat_map(|bound| bound.to_be_bytes()));
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
        let path = self.directory.join(format!("{digest:016x}{SUFFIX}"));
        self.file.persist(&path).map_err(|error| error.error).at(&path)?;
        Run::open(&path)
    }
}
