//! Changes files of runs, and corrects all checksums and names.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::set::blocks::{BLOCK, FACTS};

/// A changed file of a run, whose checksums, digest and name are corrected.
pub(super) struct Forged {
    bytes: Vec<u8>,
    width: usize,
    items: usize,
}

impl Forged {
    pub(super) fn new(bytes: Vec<u8>, width: usize) -> Forged {
        let items = u64::from_be_bytes(bytes[16..24].try_into().unwrap()) as usize;
        Forged { bytes, width, items }
    }

    pub(super) fn item(&mut self, i: usize) -> &mut [u8] {
        assert!(i < self.items);
        &mut self.bytes[BLOCK + i * self.width..][..self.width]
    }

    pub(super) fn swap(&mut self, i: usize, other: usize) {
        let (one, two) = (self.item(i).to_vec(), self.item(other).to_vec());
        self.item(i).copy_from_slice(&two);
        self.item(other).copy_from_slice(&one);
    }

    pub(super) fn fact(&mut self, i: usize) -> u64 {
        u64::from_be_bytes(self.bytes[FACTS + 8 * i..][..8].try_into().unwrap())
    }

    pub(super) fn set_fact(&mut self, i: usize, fact: u64) {
        self.bytes[FACTS + 8 * i..][..8].copy_from_slice(&fact.to_be_bytes());
    }

    /// The digest of the content, including `bound` facts.
    pub(super) fn digest(&self, bound: usize) -> [u8; 16] {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.bytes[BLOCK..][..self.items * self.width]);
        hash.update(&self.bytes[FACTS..][..8 * bound]);
        hash.finalize().as_bytes()[..16].try_into().unwrap()
    }

    /// The whole file, with the given digest.
    pub(super) fn finish(mut self, digest: [u8; 16]) -> Vec<u8> {
        let end = BLOCK + self.items * self.width;
        let checks: Vec<u8> =
            self.bytes[BLOCK..end].chunks(BLOCK).flat_map(|it| xxh3_64(it).to_be_bytes()).collect();
        self.bytes.truncate(end);
        self.bytes.extend(&checks);
        self.bytes[24..32].copy_from_slice(&xxh3_64(&checks).to_be_bytes());
        self.bytes[32..48].copy_from_slice(&digest);
        let check = xxh3_64(&self.bytes[..BLOCK - 8]);
        self.bytes[BLOCK - 8..BLOCK].copy_from_slice(&check.to_be_bytes());
        self.bytes
    }
}

/// Replaces the file of the set at `path` that ends in `suffix` with the result of `change`, under
/// a matching name.
pub(super) fn forge(path: &Path, suffix: &str, change: impl FnOnce(&mut Forged)) {
    let (name, bytes) =
        super::files(path).into_iter().find(|(name, _)| name.ends_with(suffix)).unwrap();
    let (width, bound) = if suffix == ".keys" { (16, 0) } else { (4, 2) };
    let mut forged = Forged::new(bytes, width);
    change(&mut forged);
    let digest = forged.digest(bound);
    let new_name = format!("{:032x}{suffix}", u128::from_be_bytes(digest));
    let (old_digest, items) = (name[..32].to_owned(), forged.items);
    fs::remove_file(path.join(&name)).unwrap();
    fs::write(path.join(&new_name), forged.finish(digest)).unwrap();
    let text = fs::read_to_string(path.join("set")).unwrap();
    let old = text.lines().find(|line| line.contains(&old_digest)).unwrap();
    let mut words: Vec<&str> = old.split(' ').collect();
    let items = items.to_string();
    words[1] = &items;
    let line = words.join(" ").replace(&name, &new_name);
    let text = text.replace(old, &line);
    let end = text.rfind("check ").unwrap();
    let check = xxh3_64(&text.as_bytes()[..end]);
    fs::write(path.join("set"), format!("{}check {check:016x}\n", &text[..end])).unwrap();
}
