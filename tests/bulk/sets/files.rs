//! The files of a small set in memory, for changing them and writing them with correct checksums.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;
use uriscan::key::{Key, PublicHash, PublicHasher};
use uriscan::set::{Meaning, SetWriter, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const BLOCK: usize = 4096;
/// Offsets of the digest and the facts in a header.
const DIGEST: usize = 32;
pub(crate) const FACTS: usize = 48;

/// A directory for sets, in memory where the system has one.
pub(crate) fn place() -> TempDir {
    let memory = Path::new("/dev/shm");
    let directory =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    directory.expect("a directory")
}

pub(crate) fn meaning() -> Meaning {
    Meaning::new(PublicHash::Blake3, "level scheme\n")
}

pub(crate) fn key(i: u64) -> Key {
    PublicHasher::new(PublicHash::Blake3).key(&i.to_le_bytes())
}

/// A file of keys or of times.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    name: String,
    pub(crate) header: Vec<u8>,
    pub(crate) items: Vec<u8>,
    /// The bytes after the checksums.
    pub(crate) tail: Vec<u8>,
    /// A number of items to write in place of the right one.
    pub(crate) len: Option<u64>,
    /// Length of the file, if it is truncated.
    pub(crate) end: Option<usize>,
    /// Whether the digest, and so the name, stays unchanged.
    pub(crate) keeps_digest: bool,
    /// Whether the facts are corrected.
    pub(crate) has_right_facts: bool,
}

impl Blocks {
    fn new(name: String, bytes: &[u8]) -> Blocks {
        let len = u64::from_be_bytes(bytes[16..24].try_into().expect("8 bytes")) as usize;
        let width = if name.ends_with(".keys") { 16 } else { 4 };
        Blocks {
            name,
            header: bytes[..BLOCK].to_vec(),
            items: bytes[BLOCK..][..len * width].to_vec(),
            tail: Vec::new(),
            len: None,
            end: None,
            keeps_digest: false,
            has_right_facts: false,
        }
    }

    pub(crate) fn is_keys(&self) -> bool {
        self.name.ends_with(".keys")
    }

    pub(crate) fn width(&self) -> usize {
        if self.is_keys() { 16 } else { 4 }
    }

    pub(crate) fn count(&self) -> usize {
        self.items.len() / self.width()
    }

    pub(crate) fn set_number(&mut self, at: usize, number: u64) {
        self.header[at..at + 8].copy_from_slice(&number.to_be_bytes());
    }

    fn make_facts_right(&mut self) {
        if self.is_keys() {
            let mut before = vec![0u64; 257];
            for key in self.items.chunks_exact(16) {
                before[usize::from(key[0]) + 1..].iter_mut().for_each(|count| *count += 1);
            }
            before.into_iter().enumerate().for_each(|(i, it)| self.set_number(FACTS + 8 * i, it));
        } else {
            let times = self.items.chunks_exact(4);
            let times = times.map(|it| u32::from_be_bytes(it.try_into().expect("4 bytes")));
            let (first, last) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
            self.set_number(FACTS + 16, first.into());
            self.set_number(FACTS + 24, last.into());
        }
    }

    /// The name and the bytes of the file; for times, with the digest of their keys.
    fn finish(mut self, keys: Option<[u8; 16]>) -> (String, [u8; 16], Vec<u8>) {
        let checks: Vec<u8> =
            self.items.chunks(BLOCK).flat_map(|block| xxh3_64(block).to_be_bytes()).collect();
        self.set_number(16, self.len.unwrap_or(self.count() as u64));
        self.set_number(24, xxh3_64(&checks));
        if self.has_right_facts {
            self.make_facts_right();
        }
        if let Some(keys) = keys {
            self.header[FACTS..FACTS + 16].copy_from_slice(&keys);
        }
        if !self.keeps_digest {
            let mut hash = blake3::Hasher::new();
            hash.update(&self.items);
            if !self.is_keys() {
                hash.update(&self.header[FACTS..FACTS + 16]);
            }
            self.header[DIGEST..FACTS].copy_from_slice(&hash.finalize().as_bytes()[..16]);
        }
        let digest: [u8; 16] = self.header[DIGEST..FACTS].try_into().expect("16 bytes");
        self.set_number(BLOCK - 8, xxh3_64(&self.header[..BLOCK - 8]));
        let suffix = if self.is_keys() { "keys" } else { "times" };
        let name = format!("{:032x}.{suffix}", u128::from_be_bytes(digest));
        let mut bytes = [self.header, self.items, checks, self.tail].concat();
        bytes.truncate(self.end.unwrap_or(bytes.len()));
        (name, digest, bytes)
    }
}

/// The files of a set.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) is_dated: bool,
    /// The text without its last line.
    pub(crate) manifest: Vec<u8>,
    /// Files of keys; in a set with times, each is followed by its file of times.
    pub(crate) blocks: Vec<Blocks>,
}

impl Files {
    /// The files of a set with one or several runs, with or without times.
    pub(crate) fn template(number: usize) -> Files {
        static TEMPLATES: OnceLock<Vec<Files>> = OnceLock::new();
        let templates = TEMPLATES.get_or_init(|| {
            let made = [(false, 1), (false, 3), (true, 1), (true, 2)];
            made.into_iter().map(|(is_dated, runs)| Files::make(is_dated, runs)).collect()
        });
        templates[number % templates.len()].clone()
    }

    fn make(is_dated: bool, runs: u64) -> Files {
        let directory = place();
        let path = directory.path().join("s");
        let mut set = match is_dated {
            true => SetWriter::create_dated(&path, meaning()),
            false => SetWriter::create(&path, meaning()),
        }
        .expect("a set");
        // The largest has several blocks, the last of which is not full.
        for (first, count) in [(0, 1500), (5000, 300), (6000, 2)].into_iter().take(runs as usize) {
            let mut loader = set.loader(1 << 20).expect("a loader");
            let dated = (first..first + count).map(|i| (key(i), Timestamp(1000 + i as u32 % 777)));
            loader.push_dated(dated).expect("room");
            set.add(loader).expect("room");
        }
        drop(set);
        let manifest = fs::read_to_string(path.join("set")).expect("a manifest");
        let names = manifest.split([' ', '\n']).filter(|it| it.contains('.'));
        let blocks = names
            .map(|name| Blocks::new(name.to_owned(), &fs::read(path.join(name)).expect("a run")))
            .collect();
        let end = manifest.rfind("check ").expect("a checksum");
        Files { is_dated, manifest: manifest[..end].into(), blocks }
    }

    /// Writes them to `directory`, with correct names, lengths and checksums.
    pub(crate) fn write(self, directory: &Path) {
        let mut text = self.manifest;
        let mut keys = None;
        for blocks in self.blocks {
            let (old_name, is_keys, count) =
                (blocks.name.clone(), blocks.is_keys(), blocks.count());
            let (name, digest, bytes) = blocks.finish(keys.take());
            fs::write(directory.join(&name), bytes).expect("room");
            if is_keys {
                keys = self.is_dated.then_some(digest);
                // The number of keys follows the name.
                if let Some(at) = find(&text, &old_name) {
                    let start = at + old_name.len() + 1;
                    let digits = text[start..].iter().take_while(|it| it.is_ascii_digit()).count();
                    text.splice(start..start + digits, count.to_string().into_bytes());
                }
            }
            if let Some(at) = find(&text, &old_name) {
                text.splice(at..at + old_name.len(), name.into_bytes());
            }
        }
        let check = format!("check {:016x}\n", xxh3_64(&text));
        text.extend(check.bytes());
        fs::write(directory.join("set"), text).expect("room");
    }
}

fn find(text: &[u8], what: &str) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what.as_bytes())
}
