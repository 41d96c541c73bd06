//! Rows by site, within a memory limit: in memory, or in partitions on disk by the hash of the site.

use std::collections::HashMap;

use super::page;
use super::record::{Row, site_of};
use uriscan_bulk::error::Error;
use uriscan_bulk::survivors::{SpillDir, SpillFile};
use uriscan_core::key::Hasher;

/// Rows of all sites.
#[derive(Debug)]
pub(super) struct Store {
    hasher: Hasher,
    /// Bytes of rows that are held in memory, at most.
    room: usize,
    dir: SpillDir,
    file: Option<SpillFile>,
    parts: Vec<Part>,
    held: usize,
    /// Of the hash of a site, the bits that number its partition begin here.
    shift: u32,
}

/// The rows of some sites.
#[derive(Debug, Default)]
struct Part {
    /// Where those on disk are, and how many bytes.
    blocks: Vec<(u64, u32)>,
    last: Vec<u8>,
    bytes: u64,
}

/// Partitions, by bits of a hash.
const BITS: u32 = 6;

/// Bits of a hash that are not used: rows that agree in all others are of one site.
const LEAST_SHIFT: u32 = 64 - 10 * BITS;

/// The bytes of a row before its URL: the hash of its site, labels, the length of the URL, and whether it is declared.
const HEAD: usize = 8 + 3 * 8 + 4 + 1;

/// The rows of a site, or a sample of them.
pub(super) struct Rows<'t> {
    pub(super) rows: Vec<Row<'t>>,
    pub(super) is_whole: bool,
}

/// The name of a site, and its rows.
pub(super) type Named<'t> = (&'t [u8], Rows<'t>);

impl Store {
    /// No rows; files are made in `dir`.
    pub(super) fn new(hasher: Hasher, room: usize, dir: SpillDir) -> Store {
        Store::within(hasher, room, dir, 64 - BITS)
    }

    /// Where files are made.
    pub(super) fn dir(&self) -> &SpillDir {
        &self.dir
    }

    fn within(hasher: Hasher, room: usize, dir: SpillDir, shift: u32) -> Store {
        let parts = (0..1 << BITS).map(|_| Part::default()).collect();
        Store { hasher, room, dir, file: None, parts, held: 0, shift }
    }

    /// Appends `row` to `out`, for [`Store::push`], among those of the site of `form`: its URL, or what rules make of that.
    pub(super) fn encode(hasher: &Hasher, row: &Row<'_>, form: &[u8], out: &mut Vec<u8>) {
        let site = number_of(hasher, site_of(form));
        for number in [site, row.same, row.names, row.leads] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(row.url.len() as u32).to_le_bytes());
        out.push(u8::from(row.is_declared));
        out.extend_from_slice(row.url);
    }

    /// Adds rows, one after the other.
    pub(super) fn push(&mut self, mut rows: &[u8]) -> Result<(), Error> {
        while let Some((site, _, len)) = decode(rows) {
            let (row, rest) = rows.split_at(len);
            let part = &mut self.parts[(site >> self.shift) as usize % (1 << BITS)];
            part.last.extend_from_slice(row);
            part.bytes += len as u64;
            self.held += len;
            rows = rest;
            if self.held > self.room {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// Writes what is held.
    fn spill(&mut self) -> Result<(), Error> {
        if self.file.is_none() {
            self.file = Some(self.dir.file()?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        for part in &mut self.parts {
            for block in part.last.chunks(u32::MAX as usize) {
                part.blocks.push((file.append(&[block])?, block.len() as u32));
            }
            part.last = Vec::new();
        }
        self.held = 0;
        Ok(())
    }

    /// Calls `each` with the rows of some sites at a time, each site once: names of sites and their rows.
    pub(super) fn finish(
        mut self,
        each: &mut dyn FnMut(Vec<Named<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for part in std::mem::take(&mut self.parts) {
            if part.bytes == 0 {
                continue;
            }
            if part.bytes <= self.room as u64 {
                let mut all = Vec::with_capacity(part.bytes as usize);
                part.read(self.file.as_ref(), &mut |block| {
                    all.extend_from_slice(block);
                    Ok(())
                })?;
                drop(part);
                each(by_site(&self.hasher, &all, true))?;
            } else if self.shift <= LEAST_SHIFT || part.is_one_site(self.file.as_ref())? {
                let all = part.sample(self.file.as_ref(), self.room)?;
                drop(part);
                each(by_site(&self.hasher, &all, false))?;
            } else {
                let (room, dir) = (self.room, self.dir.clone());
                let mut smaller = Store::within(self.hasher.clone(), room, dir, self.shift - BITS);
                part.read(self.file.as_ref(), &mut |block| smaller.push(block))?;
                drop(part);
                smaller.finish(each)?;
            }
        }
        Ok(())
    }
}

impl Part {
    /// Calls `each` with blocks of whole rows.
    fn read(
        &self,
        file: Option<&SpillFile>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for &(at, len) in &self.blocks {
            let Some(file) = file else { break };
            buffer.resize(len as usize, 0);
            file.read(&mut buffer, at)?;
            each(&buffer)?;
        }
        each(&self.last)
    }

    /// Whether all rows are of one site.
    fn is_one_site(&self, file: Option<&SpillFile>) -> Result<bool, Error> {
        let (mut first, mut is_one) = (None, true);
        self.read(file, &mut |mut block| {
            while let Some((site, _, len)) = decode(block) {
                is_one &= *first.get_or_insert(site) == site;
                block = &block[len..];
            }
            Ok(())
        })?;
        Ok(is_one)
    }

    /// The rows whose pages are numbered low, as many as have room: whole pages, whatever the order of the rows. If those of a
    /// single page have no room, the row of the least URL, so that the site has one.
    fn sample(&self, file: Option<&SpillFile>, room: usize) -> Result<Vec<u8>, Error> {
        let (mut kept, mut most) = (Vec::with_capacity(room), u64::MAX);
        let mut least: Option<Vec<u8>> = None;
        let is_kept = |row: &Row<'_>, most: u64| page::number(row.url).rotate_left(32) <= most;
        self.read(file, &mut |mut block| {
            while let Some((_, row, len)) = decode(block) {
                let of_least = least.as_deref().and_then(decode);
                if of_least.is_none_or(|(_, least, _)| row < least) {
                    least = Some(block[..len].to_vec());
                }
                if is_kept(&row, most) {
                    kept.extend_from_slice(&block[..len]);
                    while kept.len() > room && most > 0 {
                        most /= 2;
                        let mut fewer = Vec::with_capacity(room);
                        let mut rest = &kept[..];
                        while let Some((_, row, len)) = decode(rest) {
                            if is_kept(&row, most) {
                                fewer.extend_from_slice(&rest[..len]);
                            }
                            rest = &rest[len..];
                        }
                        kept = fewer;
                    }
                }
                block = &block[len..];
            }
            Ok(())
        })?;
        Ok(if kept.is_empty() { least.unwrap_or_default() } else { kept })
    }
}

/// The first of `rows`: the hash of its site, the row, and its length; `None` at the end.
fn decode(rows: &[u8]) -> Option<(u64, Row<'_>, usize)> {
    let number = |at: usize| Some(u64::from_le_bytes(*rows.get(at..)?.first_chunk()?));
    let (site, same, names, leads) = (number(0)?, number(8)?, number(16)?, number(24)?);
    let len = u32::from_le_bytes(*rows.get(HEAD - 5..)?.first_chunk()?) as usize;
    let (is_declared, url) = (rows[HEAD - 1] != 0, rows.get(HEAD..HEAD + len)?);
    Some((site, Row { url, same, names, leads, is_declared }, HEAD + len))
}

/// The number of a site.
fn number_of(hasher: &Hasher, site: &[u8]) -> u64 {
    (hasher.key(site).0 >> 64) as u64
}

/// The rows of each site in `all`, in the order of their names.
fn by_site<'t>(hasher: &Hasher, mut all: &'t [u8], is_whole: bool) -> Vec<Named<'t>> {
    let mut sites: HashMap<u64, Vec<Row<'t>>> = HashMap::new();
    while let Some((site, row, len)) = decode(all) {
        sites.entry(site).or_default().push(row);
        all = &all[len..];
    }
    let named = |(site, rows): (u64, Vec<Row<'t>>)| {
        // Rules may bring URLs of other sites here, and none of its own.
        let names = || rows.iter().map(|row| site_of(row.url));
        let own = names().find(|name| number_of(hasher, name) == site);
        (own.or_else(|| names().min()).unwrap_or_default(), Rows { rows, is_whole })
    };
    let mut sites: Vec<_> = sites.into_iter().map(named).collect();
    sites.sort_unstable_by_key(|(name, _)| *name);
    sites
}
