//! A run: rows are read in parallel, put by site, and learned from, site by site.

use std::path::Path;

use super::findings::{Findings, Learned};
use super::read::{Found, How, Read, fill};
use super::record::Reader;
use super::score::Score;
use super::site::Site;
use super::store::{Rows, Store};
use super::{LearnOptions, Proof};
use crate::error::Error;
use crate::extract::warc::ArchivedPage;
use crate::index::trimmed;
use crate::io::Source;
use crate::key::Hasher;
use crate::pipeline::{Report, Settings, Sinks};
use crate::rules::RuleSet;
use crate::simd::Kernels;
use crate::survivors::SpillDir;
use crate::threads;
use uriscan_files::escape::escaped_bytes;

/// The share of the memory limit that rows take while they are gathered: what is made of them takes several times as much.
const SHARE: usize = 8;

/// Learns rules from the rows of `sources`, and writes them to the results, as a rules file.
///
/// A row is a line of fields with a tab between them: a URL, a digest of the content that it has, the canonical URL that its page
/// names, and the URL that it redirects to; all but the first may be empty or missing. Lines of CDX and CDXJ indexes are read, too,
/// and archives (WARC and ARC), whose responses say all of this, and whose robots.txt may declare parameters without meaning.
///
/// ```
/// use uriscan::io::Source;
/// use uriscan::learn::{LearnOptions, learn};
/// use uriscan::pipeline::{Settings, Sinks};
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
    findings.read = read;
    findings.read.fault = fault.as_ref().map(Error::to_string);
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
/// use uriscan::learn::{LearnOptions, Learner};
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
/// assert_eq!((learned.rules, learned.report.records), (1, 200));
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
            reader: Reader::new(hasher.clone(), Kernels::detect()),
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
        let [url, canonical, location] = [url, canonical, redirect].map(trimmed);
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
        let how = How { options: &self.options, hasher: &self.hasher, rules: None };
        self.found.take(&self.reader.read_archived(&page), &how);
        if self.found.rows_bytes() >= ROWS { self.put_away() } else { Ok(()) }
    }

    /// The site of `url`, all of whose rows belong to one learner: its registrable domain, or else its host, as it is compared. `None`
    /// for what has no site, such as an invalid URL: any learner may count it.
    ///
    /// ```
    /// use uriscan::learn::{LearnOptions, Learner};
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
    pub fn finish(mut self) -> Result<Findings, Error> {
        self.put_away()?;
        let Learner { options, hasher, store, mut read, .. } = self;
        let (proof, mut findings) = (Proof::of(&options, false), Findings::default());
        let work = |site: Site<'_>| site.learn(&proof, &hasher);
        finish(store, &mut read, &hasher, &work, &mut |site| findings.push(site))?;
        findings.read = read;
        Ok(findings)
    }
}

/// How good rules are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tested {
    /// Totals of what was read.
    pub report: Report,
    /// Sites with rows.
    pub sites: u64,
    /// URIs that rules do not change: of other schemes, and records about something that is not a page.
    pub others: u64,
    /// Rows that say which content a page has: by a digest, a canonical link or a redirect.
    pub telling: u64,
    /// Invalid rows that are entries of an access log, which does not have the target of a redirect.
    pub log_entries: u64,
    /// Records of archives with text or metadata that was made of responses (WET, WAT), which are not read.
    pub derived: u64,
    /// The rules on all URLs.
    pub score: Score,
    /// Sites that exceed the memory limit, so that only a sample of their pages was tested.
    pub sampled: u64,
}

/// Tests `rules` on the rows of `sources`, which are those of [`learn()`], and writes a table in TSV to the results: a row for each
/// site that has several URLs of one page, or loses pages, and one for all sites, called `*`.
///
/// ```
/// use uriscan::io::Source;
/// use uriscan::learn::{LearnOptions, test};
/// use uriscan::pipeline::{Settings, Sinks};
/// use uriscan::rules::RuleSet;
///
/// let mut builder = RuleSet::builder();
/// builder.rule("www").unwrap();
/// let rows = Source::new("rows", &b"http://h.example/\t1\nhttp://www.h.example/\t1\nhttp://h.example/?a\t1\n"[..]);
/// let mut out = Vec::new();
/// let (rules, options) = (builder.build().unwrap(), LearnOptions::default());
/// let tested = test(vec![rows], &rules, &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!((tested.score.precision(), tested.score.recall()), (Some(1.0), Some(0.5)));
/// ```
///
/// # Errors
/// As [`learn()`].
pub fn test(
    sources: Vec<Source>,
    rules: &RuleSet,
    options: &LearnOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Tested, Error> {
    threads::on_new(settings.threads, || test_here(sources, rules, options, settings, sinks))
        .map_err(Error::threads)?
}

fn test_here(
    sources: Vec<Source>,
    rules: &RuleSet,
    options: &LearnOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Tested, Error> {
    let hasher = Hasher::random();
    let mut tested = Tested::default();
    let mut found: Vec<(Vec<u8>, Score)> = Vec::new();
    let work = |site: Site<'_>| (site.name.to_vec(), site.score(rules, &hasher), site.is_whole);
    let how = How { options, hasher: &hasher, rules: Some(rules) };
    let mut push = |(name, score, is_whole): (Vec<u8>, Score, bool)| {
        tested.score += score;
        tested.sampled += u64::from(!is_whole);
        if score.possible > 0 || score.wrong > 0 {
            found.push((name, score));
        }
    };
    let (read, fault) = each_site(sources, &how, settings, sinks, &work, &mut push)?;
    (tested.report, tested.sites, tested.others) = (read.report, read.sites, read.others);
    (tested.telling, tested.log_entries) = (read.telling, read.log_entries);
    tested.derived = read.derived;
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found.push((b"*".to_vec(), tested.score));
    let heading = "site\turls\tpages\tright\twrong\tprecision\trecall\tlost\tsaved\tpossible\n";
    sinks.out.write_all(heading.as_bytes()).map_err(Error::write)?;
    for (name, score) in found {
        let Score { urls, pages, right, wrong, lost, saved, possible } = score;
        let [precision, recall] = [score.precision(), score.recall()]
            .map(|share| share.map_or(String::new(), |share| format!("{share:.4}")));
        let row = format!(
            "{}\t{urls}\t{pages}\t{right}\t{wrong}\t{precision}\t{recall}\t{lost}\t{saved}\t{possible}\n",
            escaped_bytes(&name)
        );
        sinks.out.write_all(row.as_bytes()).map_err(Error::write)?;
    }
    fault.map_or(Ok(tested), Err)
}

/// Reads the rows of `sources`, and does [`finish`]. Also returns why not all were read, if so.
///
/// # Errors
/// Also when a source cannot be read before there is a row.
fn each_site<T: Send>(
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
