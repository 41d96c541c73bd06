//! A run: rows are read in parallel, put by site, and learned from, site by site.

use std::path::Path;

use super::findings::{Findings, Learned};
use super::read::{Found, How, Read, fill};
use super::record::Reader;
use super::site::Site;
use super::store::{Rows, Store};
use super::{LearnOptions, Proof};
use uriscan_bulk::error::Error;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{Settings, Sinks};
use uriscan_bulk::survivors::SpillDir;
use uriscan_core::extract::warc::ArchivedPage;
use uriscan_core::index::trimmed;
use uriscan_core::key::Hasher;
use uriscan_core::rules::RuleSet;
use uriscan_core::simd::Kernels;
use uriscan_core::threads;

/// The share of the memory limit that rows take while they are gathered: what is made of them takes several times as much.
const SHARE: usize = 8;

/// Learns rules from the rows of `sources`, and writes them to the results, as a rules file.
///
/// A row is a line of fields with a tab between them: a URL, a digest of the content that it has, the canonical URL that its page
/// names, and the URL that it redirects to; all but the first may be empty or missing. Lines of CDX and CDXJ indexes are read, too,
/// and archives (WARC and ARC), whose responses say all of this, and whose robots.txt may declare parameters without meaning.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_learn::{LearnOptions, learn};
/// use uriscan_bulk::pipeline::{Settings, Sinks};
///
/// let rows: String = (0..100).flat_map(|i| [format!("http://h.example/p{i}\t{i}\n"), format!("http://h.example/p{i}?ref=x\t{i}\n")]).collect();
/// let mut out = Vec::new();
/// let source = Source::new("rows", std::io::Cursor::new(rows.into_bytes()));
/// let learned = learn(vec![source], &LearnOptions::default(), &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!((learned.rules, learned.held_back.wrong), (1, 0));
/// assert!(String::from_utf8(out).unwrap().contains("[[site]]\nhosts = [\"h.example\"]\ndrop = [\"ref\"]\n"));
/// ```
///
/// # Errors
/// When a source cannot be read, rows cannot be spilled, or the rules not be written. If there were rows before what cannot be read, what
/// they say has been written by then.
pub fn learn(
    sources: Vec<Source>,
    options: &LearnOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Learned, Error> {
    threads::on_new(settings.threads, || learn_here(sources, options, settings, sinks))
        .map_err(Error::threads)?
}

fn learn_here(
    sources: Vec<Source>,
    options: &LearnOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Learned, Error> {
    let (proof, hasher) = (Proof::of(options, sinks.undecided.is_some()), Hasher::random());
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    let mut findings = Findings::default();
    let work = |site: Site<'_>| site.learn(&proof, &hasher);
    let how = How { options, hasher: &hasher, rules: None };
    let mut push = |site| findings.push(site);
    let (read, fault) = each_site(sources, &how, settings, sinks, &work, &mut push)?;
    (findings.read, findings.fault) = (read, fault.as_ref().map(Error::to_string));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let learned = findings.write(&names, options, sinks)?;
    fault.map_or(Ok(learned), Err)
}

/// Learns from rows that are handed over one by one, as [`learn()`] does from sources.
///
/// Several may have the rows of different sites each, in other processes or on other machines: [`Findings::add`] puts together what
/// they found.
///
/// ```
/// use uriscan_learn::{LearnOptions, Learner};
///
/// let options = LearnOptions::default();
/// let mut learner = Learner::new(&options);
/// for i in 0..100 {
///     let digest = format!("{i}");
///     learner.add(format!("http://h.example/p{i}").as_bytes(), digest.as_bytes(), b"", b"").unwrap();
///     learner.add(format!("http://h.example/p{i}?ref=x").as_bytes(), digest.as_bytes(), b"", b"").unwrap();
/// }
/// let mut out = Vec::new();
/// let learned = learner.finish().unwrap().to_file(&["rows"], &options, &mut out).unwrap();
/// assert_eq!((learned.rules, learned.read.report.records), (1, 200));
/// ```
#[derive(Debug)]
pub struct Learner {
    options: LearnOptions,
    hasher: Hasher,
    reader: Reader,
    store: Store,
    read: Read,
    found: Found,
}

/// Bytes of rows that are put by site at a time.
const ROWS: usize = 1 << 20;

impl Learner {
    /// One without rows. Rows that exceed the limit of `options` are spilled.
    pub fn new(options: &LearnOptions) -> Learner {
        let hasher = Hasher::random();
        Learner {
            reader: Reader::new(hasher.clone(), options.repairs, Kernels::detect()),
            store: store(options, &hasher),
            options: options.clone(),
            read: Read::default(),
            found: Found::default(),
            hasher,
        }
    }

    /// Adds a row: a URL, a digest of the content that it has, the canonical URL that its page names, and the URL that it redirects
    /// to; all but the first may be empty. White space around a URL is not part of it, and a row whose URL is blank is not counted. A
    /// digest is any bytes.
    ///
    /// # Errors
    /// When rows cannot be spilled.
    pub fn add(
        &mut self,
        url: &[u8],
        digest: &[u8],
        canonical: &[u8],
        redirect: &[u8],
    ) -> Result<(), Error> {
        self.add_by(None, [url, digest, canonical, redirect])
    }

    /// The same; the row is put together with others by the form that `rules` give its URL, if there are some.
    pub(super) fn add_by(&mut self, rules: Option<&RuleSet>, row: [&[u8]; 4]) -> Result<(), Error> {
        let [url, digest, canonical, location] = row;
        let [url, canonical, location] = [url, canonical, location].map(trimmed);
        if url.is_empty() {
            return Ok(());
        }
        let page = ArchivedPage {
            url,
            digest: digest.into(),
            canonical: canonical.into(),
            location,
            ..ArchivedPage::default()
        };
        let how = How { options: &self.options, hasher: &self.hasher, rules };
        self.found.take(&self.reader.read_archived(&page), &how);
        if self.found.rows_bytes() >= ROWS { self.put_away() } else { Ok(()) }
    }

    /// The site of `url`, all of whose rows belong to one learner: its registrable domain, or else its host, as it is compared. `None`
    /// for what has no site, such as an invalid URL: any learner may count it.
    ///
    /// ```
    /// use uriscan_learn::{LearnOptions, Learner};
    ///
    /// let mut learner = Learner::new(&LearnOptions::default());
    /// assert_eq!(learner.site(b"HTTPS://user@WWW.Example.co.uk:443/a"), Some(&b"example.co.uk"[..]));
    /// assert_eq!(learner.site(b"http://10.0.0.1/"), Some(&b"10.0.0.1"[..]));
    /// assert_eq!(learner.site(b"mailto:a@example.com"), None);
    /// ```
    pub fn site(&mut self, url: &[u8]) -> Option<&[u8]> {
        self.reader.site(trimmed(url))
    }

    /// Puts the rows since the last time by site.
    fn put_away(&mut self) -> Result<(), Error> {
        self.found.move_to(&mut self.store, &mut self.read)
    }

    /// What the rows say, about each site. Works on the threads of the caller's pool.
    ///
    /// # Errors
    /// When spilled rows cannot be read.
    pub fn finish(self) -> Result<Findings, Error> {
        let (proof, mut findings) = (Proof::of(&self.options, false), Findings::default());
        let hasher = self.hasher.clone();
        let work = |site: Site<'_>| site.learn(&proof, &hasher);
        findings.read = self.each_site(&work, &mut |site| findings.push(site))?;
        Ok(findings)
    }

    /// Calls `work` for each site of the rows, and passes what it returns to `take`.
    pub(super) fn each_site<T: Send>(
        mut self,
        work: &(dyn Fn(Site<'_>) -> T + Sync),
        take: &mut dyn FnMut(T),
    ) -> Result<Read, Error> {
        self.put_away()?;
        let Learner { hasher, store, mut read, .. } = self;
        finish(store, &mut read, &hasher, work, take)?;
        Ok(read)
    }

    /// What makes labels of what rows say.
    pub(super) fn hasher(&self) -> &Hasher {
        &self.hasher
    }
}

/// Reads the rows of `sources`, and does [`finish`]. Also returns why not all were read, if so.
///
/// # Errors
/// Also when a source cannot be read before there is a row.
pub(super) fn each_site<T: Send>(
    sources: Vec<Source>,
    how: &How<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
    work: &(dyn Fn(Site<'_>) -> T + Sync),
    take: &mut dyn FnMut(T),
) -> Result<(Read, Option<Error>), Error> {
    let mut store = store(how.options, how.hasher);
    let mut read = Read::default();
    let mut fault = fill(sources, &mut store, how, settings, sinks, &mut read)?;
    if read.report.records == 0
        && let Some(error) = fault.take()
    {
        return Err(error);
    }
    finish(store, &mut read, how.hasher, work, take)?;
    Ok((read, fault))
}

/// No rows, with room as `options` limit it.
fn store(options: &LearnOptions, hasher: &Hasher) -> Store {
    // Without a limit nothing is written there.
    let (room, dir) = options.limit.as_ref().map_or((usize::MAX, Path::new("")), |limit| {
        (limit.bytes / SHARE, limit.temp_dir.as_path())
    });
    Store::new(hasher.clone(), room, SpillDir::new(dir))
}

/// Calls `work` for each site of `store`, many at the same time, and passes what it returns to `take`.
fn finish<T: Send>(
    store: Store,
    read: &mut Read,
    hasher: &Hasher,
    work: &(dyn Fn(Site<'_>) -> T + Sync),
    take: &mut dyn FnMut(T),
) -> Result<(), Error> {
    let dir = store.dir().clone();
    store.finish(&mut |sites| {
        read.sites += sites.len() as u64;
        let one = |(name, Rows { rows, is_whole }): (&[u8], Rows<'_>)| {
            work(Site::new(name, rows, is_whole, hasher))
        };
        threads::map(sites, one).into_iter().for_each(&mut *take);
        Ok(())
    })?;
    read.report.spilled = dir.written();
    Ok(())
}
