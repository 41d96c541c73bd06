//! How good rules are on other rows than those that they were learned from.

use std::io::Write;

use super::LearnOptions;
use super::read::{How, Read};
use super::run::{Learner, each_site};
use super::score::Score;
use super::site::Site;
use uriscan_bulk::error::Error;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{Settings, Sinks};
use uriscan_core::key::Hasher;
use uriscan_core::rules::RuleSet;
use uriscan_core::threads;
use uriscan_files::escape::escaped_bytes;

/// How good rules are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tested {
    /// What was read.
    pub read: Read,
    /// The rules on all URLs.
    pub score: Score,
    /// Sites that exceed the memory limit, so that only a sample of their pages was tested.
    pub sampled: u64,
}

/// Tests `rules` on the rows of `sources`, which are those of [`super::learn()`], and writes a table in TSV to the results: a row for each
/// site that has several URLs of one page, or loses pages, and one for all sites, called `*`.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_learn::{LearnOptions, test};
/// use uriscan_bulk::pipeline::{Settings, Sinks};
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
/// As [`super::learn()`].
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
    let (hasher, mut found) = (Hasher::random(), OfSites::default());
    let work = |site: Site<'_>| of_site(&site, rules, &hasher);
    let how = How { options, hasher: &hasher, rules: Some(rules) };
    let (read, fault) =
        each_site(sources, &how, settings, sinks, &work, &mut |site| found.push(site))?;
    let tested = found.write(read, sinks.out)?;
    fault.map_or(Ok(tested), Err)
}

/// Tests rules on rows that are handed over one by one, as [`test()`] does on those of sources.
///
/// ```
/// use uriscan_learn::{LearnOptions, Tester};
/// use uriscan::rules::RuleSet;
///
/// let mut builder = RuleSet::builder();
/// builder.rule("www").unwrap();
/// let mut tester = Tester::new(builder.build().unwrap(), &LearnOptions::default());
/// for url in ["http://h.example/", "http://www.h.example/", "http://h.example/?a"] {
///     tester.add(url.as_bytes(), b"1", b"", b"").unwrap();
/// }
/// let mut table = Vec::new();
/// let tested = tester.finish(&mut table).unwrap();
/// assert_eq!((tested.score.precision(), tested.score.recall()), (Some(1.0), Some(0.5)));
/// ```
#[derive(Debug)]
pub struct Tester {
    learner: Learner,
    rules: RuleSet,
}

impl Tester {
    /// One without rows. Rows that exceed the limit of `options` are spilled.
    pub fn new(rules: RuleSet, options: &LearnOptions) -> Tester {
        Tester { learner: Learner::new(options), rules }
    }

    /// Adds a row, as [`Learner::add`] does.
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
        self.learner.add_by(Some(&self.rules), [url, digest, canonical, redirect])
    }

    /// How good the rules are; writes the table of [`test()`] to `out`. Works on the threads of the caller's pool.
    ///
    /// # Errors
    /// When spilled rows cannot be read, or the table not be written.
    pub fn finish(self, out: &mut (dyn Write + Send)) -> Result<Tested, Error> {
        let Tester { learner, rules } = self;
        let (hasher, mut found) = (learner.hasher().clone(), OfSites::default());
        let work = |site: Site<'_>| of_site(&site, &rules, &hasher);
        let read = learner.each_site(&work, &mut |site| found.push(site))?;
        found.write(read, out)
    }
}

/// The name of a site, the rules on it, and whether all of it was there.
type OfSite = (Vec<u8>, Score, bool);

fn of_site(site: &Site<'_>, rules: &RuleSet, hasher: &Hasher) -> OfSite {
    (site.name.to_vec(), site.score(rules, hasher), site.is_whole)
}

/// The rules on all sites.
#[derive(Default)]
struct OfSites {
    tested: Tested,
    /// Those about which there is something to say.
    found: Vec<(Vec<u8>, Score)>,
}

impl OfSites {
    fn push(&mut self, (name, score, is_whole): OfSite) {
        self.tested.score += &score;
        self.tested.sampled += u64::from(!is_whole);
        if score.possible > 0 || score.wrong > 0 {
            self.found.push((name, score));
        }
    }

    /// Writes the table, and adds what was `read`.
    fn write(self, read: Read, out: &mut (dyn Write + Send)) -> Result<Tested, Error> {
        let OfSites { mut tested, mut found } = self;
        tested.read = read;
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        found.push((b"*".to_vec(), tested.score));
        let heading = "site\turls\tpages\tright\twrong\tprecision\trecall\tlost\tsaved\tpossible\n";
        out.write_all(heading.as_bytes()).map_err(Error::write)?;
        for (name, score) in found {
            let Score { urls, pages, right, wrong, lost, saved, possible } = score;
            let [precision, recall] = [score.precision(), score.recall()]
                .map(|share| share.map_or(String::new(), |share| format!("{share:.4}")));
            let row = format!(
                "{}\t{urls}\t{pages}\t{right}\t{wrong}\t{precision}\t{recall}\t{lost}\t{saved}\t{possible}\n",
                escaped_bytes(&name)
            );
            out.write_all(row.as_bytes()).map_err(Error::write)?;
        }
        Ok(tested)
    }
}
