//! A run: rows are read in parallel, put by site, and learned from, site by site.

use std::path::Path;

use super::read::{How, Read, fill};
use super::score::Score;
use super::site::{Learned as OfSite, Site};
use super::store::{Rows, Store};
use super::{LearnOptions, Proof};
use crate::error::Error;
use crate::io::Source;
use crate::key::Hasher;
use crate::pipeline::{Report, Settings, Sinks};
use crate::rules::RuleSet;
use crate::survivors::SpillDir;
use crate::threads;
use uriscan_files::escape::{counted, escaped, escaped_bytes};

/// What was learned.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Learned {
    /// Totals of what was read.
    pub report: Report,
    /// Sites with rows.
    pub sites: u64,
    /// Sites that got rules, and these.
    pub sites_with_rules: u64,
    /// Rules that were written.
    pub rules: u64,
    /// URIs that rules do not change: of other schemes, and records about something that is not a page.
    pub others: u64,
    /// Rows that say which content a page has: by a digest, a canonical link or a redirect.
    pub telling: u64,
    /// Invalid rows that are entries of an access log, which does not have the target of a redirect.
    pub log_entries: u64,
    /// The rules on the pages that were held back.
    pub held_back: Score,
    /// Bytes of the file, of which [`crate::rules::Pack::MOST_BYTES`] can be read.
    pub bytes: u64,
}

/// Bytes of comments on what is not proven that a file has at most; with more it has none.
const MOST_OPEN_BYTES: usize = 16 << 20;

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
/// When a source cannot be read, rows cannot be spilled, or the rules not be written.
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
    let mut learned = Learned::default();
    let (mut found, mut open_bytes): (Vec<OfSite>, usize) = (Vec::new(), 0);
    let work = |site: Site<'_>| site.learn(&proof, &hasher);
    let how = How { options, hasher: &hasher, rules: None };
    let read = each_site(sources, &how, settings, sinks, &work, &mut |site| {
        learned.sites_with_rules += u64::from(site.rules > 0);
        learned.rules += site.rules;
        learned.held_back += site.held_back;
        open_bytes += site.open_text.len();
        if !(site.text.is_empty() && site.open_text.is_empty()) {
            found.push(site);
        }
        if open_bytes > MOST_OPEN_BYTES {
            found.iter_mut().for_each(|site| site.open_text = String::new());
        }
    })?;
    (learned.report, learned.sites, learned.others) = (read.report, read.sites, read.others);
    (learned.telling, learned.log_entries) = (read.telling, read.log_entries);
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut heading = heading(&learned, &names, options);
    if open_bytes > MOST_OPEN_BYTES {
        let sites = counted(found.len() as u64, "site");
        heading += &format!(
            "# What is not proven is left out, as there is too much of it: learn from fewer than these {sites} at a time.\n"
        );
    }
    sinks.out.write_all(heading.as_bytes()).map_err(Error::write)?;
    learned.bytes = heading.len() as u64;
    for site in &found {
        for text in [&site.text, &site.open_text] {
            learned.bytes += text.len() as u64;
            sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
        }
        if let Some(undecided) = &mut sinks.undecided {
            undecided.write_all(&site.undecided).map_err(Error::write)?;
        }
    }
    Ok(learned)
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
    let read = each_site(sources, &how, settings, sinks, &work, &mut |(name, score, is_whole)| {
        tested.score += score;
        tested.sampled += u64::from(!is_whole);
        if score.possible > 0 || score.wrong > 0 {
            found.push((name, score));
        }
    })?;
    (tested.report, tested.sites, tested.others) = (read.report, read.sites, read.others);
    (tested.telling, tested.log_entries) = (read.telling, read.log_entries);
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
    Ok(tested)
}

/// Reads the rows of `sources`, calls `work` for each site, many at the same time, and passes what it returns to `take`.
fn each_site<T: Send>(
    sources: Vec<Source>,
    how: &How<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
    work: &(dyn Fn(Site<'_>) -> T + Sync),
    take: &mut dyn FnMut(T),
) -> Result<Read, Error> {
    let &How { options, hasher, .. } = how;
    // Without a limit nothing is written there.
    let (room, dir) = options.limit.as_ref().map_or((usize::MAX, Path::new("")), |limit| {
        (limit.bytes / SHARE, limit.temp_dir.as_path())
    });
    let dir = SpillDir::new(dir);
    let mut store = Store::new(hasher.clone(), room, dir.clone());
    let report = Report::default();
    let mut read = Read { report, sites: 0, others: 0, telling: 0, log_entries: 0 };
    fill(sources, &mut store, how, settings, sinks, &mut read)?;
    store.finish(&mut |sites| {
        read.sites += sites.len() as u64;
        let one = |(name, Rows { rows, is_whole }): (&[u8], Rows<'_>)| {
            work(Site::new(name, rows, is_whole, hasher))
        };
        threads::map(sites, one).into_iter().for_each(&mut *take);
        Ok(())
    })?;
    read.report.spilled = dir.written();
    Ok(read)
}

/// The beginning of the file.
fn heading(learned: &Learned, names: &[String], options: &LearnOptions) -> String {
    /// Inputs that are named.
    const MOST: usize = 10;
    let LearnOptions { precision, confidence, min_pages, date, .. } = options;
    let Learned { report, sites, sites_with_rules, rules, held_back, .. } = learned;
    let date = date.as_ref().map_or(String::new(), |date| format!(" on {}", escaped(date)));
    let mut inputs: Vec<String> =
        names.iter().take(MOST).map(|name| escaped(name).to_string()).collect();
    if names.len() > MOST {
        inputs.push(format!("and {} more", names.len() - MOST));
    }
    let share =
        |share: Option<f64>| share.map_or("unknown".to_owned(), |share| format!("{share:.4}"));
    let Score { pages, right, wrong, lost, saved, .. } = held_back;
    format!(
        "# Rules that data prove, learned by `uriscan learn`{date} from {}.\n\
         # {}, {} of them invalid, of {}; {} for {} of these.\n\
         # A rule is written if its precision is at least {precision}, with a confidence of {confidence} and on {min_pages} pages or more.\n\
         # On {} held back: precision {} ({right} joined rightly, {wrong} wrongly), recall {}, {lost} pages lost, {saved} fetches saved.\n",
        inputs.join(", "),
        counted(report.records, "row"),
        report.invalid.total(),
        counted(*sites, "site"),
        counted(*rules, "rule"),
        sites_with_rules,
        counted(*pages, "page"),
        share(held_back.precision()),
        share(held_back.recall()),
    )
}
