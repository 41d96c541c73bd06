//! What was learned about sites, and the rules file that it becomes.

use std::io::Write;

use serde::{Deserialize, Serialize};

use super::LearnOptions;
use super::read::Read;
use super::score::Score;
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{Report, Sinks};
use uriscan_core::uri::UriErrorKind;
use uriscan_files::escape::{counted, escaped};

/// What was learned.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Learned {
    /// What was read.
    pub read: Read,
    /// Sites that got rules, and these.
    pub sites_with_rules: u64,
    /// Rules that were written.
    pub rules: u64,
    /// The rules on the pages that were held back.
    pub held_back: Score,
    /// Bytes of the file, of which [`uriscan_core::rules::RulesFile::MOST_BYTES`] can be read.
    pub bytes: u64,
    /// Sites of which not all URLs to fetch are in [`Sinks::undecided`](uriscan_bulk::pipeline::Sinks::undecided), as there are too many.
    pub undecided_left_out: u64,
}

/// What was learned about a site.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct OfSite {
    pub(super) name: String,
    /// The part of the rules file with rules, and the comments on what is not proven.
    pub(super) text: String,
    pub(super) open_text: String,
    pub(super) rules: u64,
    /// That of the pages which were held back.
    pub(super) held_back: Score,
    /// Lines of URLs to fetch, which would decide what is not decided.
    pub(super) undecided: String,
    /// These are not all.
    #[serde(skip)]
    pub(super) is_cut: bool,
}

/// What was learned about sites, each of them once.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub(super) read: Read,
    /// Why the rest of the sources was not read.
    pub(super) fault: Option<String>,
    /// Those about which there is something to say.
    parts: Vec<OfSite>,
    sites_with_rules: u64,
    rules: u64,
    held_back: Score,
    open_bytes: usize,
    undecided: Bound,
}

/// Bytes of comments on what is not proven that a file has at most; with more it has none.
const MOST_OPEN_BYTES: usize = 16 << 20;

/// Bytes of URLs to fetch that are held.
const MOST_UNDECIDED_BYTES: usize = if cfg!(test) { 1 << 10 } else { 16 << 20 };

/// How lists of URLs to fetch are bounded: each to the same length, which depends on all sites and not on their order. What decides most
/// comes first in each.
#[derive(Clone, Debug, Default)]
struct Bound {
    halvings: u32,
    bytes: usize,
    /// Sites whose lists were cut.
    left_out: u64,
}

impl Bound {
    /// Cuts the lists of `sites`, of which those from `first` on are new.
    fn bound(&mut self, sites: &mut [OfSite], first: usize) {
        self.bytes += self.cut(&mut sites[first..]);
        while self.bytes > MOST_UNDECIDED_BYTES {
            self.halvings += 1;
            self.bytes = self.cut(sites);
        }
    }

    /// Cuts the lists of `sites`; returns how many bytes they have.
    fn cut(&mut self, sites: &mut [OfSite]) -> usize {
        let most = MOST_UNDECIDED_BYTES >> self.halvings;
        for OfSite { undecided, is_cut, .. } in sites.iter_mut() {
            if undecided.len() > most {
                undecided.truncate(undecided[..most].rfind('\n').map_or(0, |at| at + 1));
                undecided.shrink_to_fit();
                self.left_out += u64::from(!std::mem::replace(is_cut, true));
            }
        }
        sites.iter().map(|site| site.undecided.len()).sum()
    }
}

/// Findings as they are handed to another process.
#[derive(Serialize, Deserialize)]
struct Wire {
    version: String,
    rows: u64,
    blank: u64,
    /// Invalid rows, by the name of what is wrong.
    invalid: Vec<(String, u64)>,
    sites: u64,
    others: u64,
    telling: u64,
    sites_with_rules: u64,
    rules: u64,
    held_back: Score,
    open_bytes: usize,
    parts: Vec<OfSite>,
}

impl Findings {
    pub(super) fn push(&mut self, mut site: OfSite) {
        self.sites_with_rules += u64::from(site.rules > 0);
        self.rules += site.rules;
        self.held_back += &site.held_back;
        if site.text.is_empty() && site.open_text.is_empty() {
            return;
        }
        self.add_open(site.open_text.len());
        if self.open_bytes > MOST_OPEN_BYTES {
            site.open_text = String::new();
        }
        self.parts.push(site);
        let first = self.parts.len() - 1;
        self.undecided.bound(&mut self.parts, first);
    }

    /// Counts so many bytes of comments; when there are too many for a file, frees those that are there, once.
    fn add_open(&mut self, bytes: usize) {
        let was_full = self.open_bytes > MOST_OPEN_BYTES;
        self.open_bytes += bytes;
        if self.open_bytes > MOST_OPEN_BYTES && !was_full {
            self.parts.iter_mut().for_each(|site| site.open_text = String::new());
        }
    }

    /// Adds those about other sites. A site whose rows were divided would get the rules of each part: all its rows belong to one
    /// [`super::Learner`].
    pub fn add(&mut self, mut other: Findings) {
        self.read += &other.read;
        self.sites_with_rules += other.sites_with_rules;
        self.rules += other.rules;
        self.held_back += &other.held_back;
        self.add_open(other.open_bytes);
        if self.open_bytes > MOST_OPEN_BYTES {
            other.parts.iter_mut().for_each(|site| site.open_text = String::new());
        }
        let first = self.parts.len();
        self.parts.append(&mut other.parts);
        self.undecided.bound(&mut self.parts, first);
    }

    /// As bytes, for [`Findings::from_bytes`] in another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Read { report, sites, others, telling, .. } = &self.read;
        let wire = Wire {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: report.records,
            blank: report.blank,
            invalid: report.invalid.iter().map(|(kind, n)| (kind.name().to_owned(), n)).collect(),
            sites: *sites,
            others: *others,
            telling: *telling,
            sites_with_rules: self.sites_with_rules,
            rules: self.rules,
            held_back: self.held_back,
            open_bytes: self.open_bytes,
            parts: self.parts.clone(),
        };
        // Strings and numbers can be written.
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// Those that [`Findings::to_bytes`] made. `None` if they are of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Option<Findings> {
        let wire: Wire = serde_json::from_slice(bytes).ok()?;
        if wire.version != env!("CARGO_PKG_VERSION") {
            return None;
        }
        let Wire { rows, blank, invalid, sites, others, telling, parts, .. } = wire;
        let mut report = Report::default();
        (report.records, report.blank) = (rows, blank);
        for (name, count) in invalid {
            report.invalid.add_many(UriErrorKind::from_name(&name)?, count);
        }
        let Wire { sites_with_rules, rules, held_back, open_bytes, .. } = wire;
        let read = Read { report, sites, others, telling, ..Read::default() };
        let rest = Findings::default();
        Some(Findings { read, parts, sites_with_rules, rules, held_back, open_bytes, ..rest })
    }

    /// Writes the rules file of `options` to `out`; it says that the rows are from the inputs with these `names`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn to_file(
        self,
        names: &[impl AsRef<str>],
        options: &LearnOptions,
        out: &mut (dyn Write + Send),
    ) -> Result<Learned, Error> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.write(&names, options, &mut Sinks::new(out))
    }

    pub(super) fn write(
        mut self,
        names: &[&str],
        options: &LearnOptions,
        sinks: &mut Sinks<'_>,
    ) -> Result<Learned, Error> {
        self.parts.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let Findings { read, fault, parts, sites_with_rules, rules, held_back, .. } = self;
        let (bytes, undecided_left_out) = (0, self.undecided.left_out);
        let mut learned =
            Learned { read, sites_with_rules, rules, held_back, bytes, undecided_left_out };
        let mut heading = heading(&learned, names, options);
        if let Some(fault) = fault {
            heading += &format!("# Not all was read: {}\n", escaped(&fault));
        }
        if self.open_bytes > MOST_OPEN_BYTES {
            let sites = counted(parts.len() as u64, "site");
            heading += &format!(
                "# What is not proven is left out, as there is too much of it: learn from fewer than these {sites} at a time.\n"
            );
        }
        sinks.out.write_all(heading.as_bytes()).map_err(Error::write)?;
        learned.bytes = heading.len() as u64;
        for site in &parts {
            for text in [&site.text, &site.open_text] {
                learned.bytes += text.len() as u64;
                sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
            }
            if let Some(undecided) = &mut sinks.undecided {
                undecided.write_all(site.undecided.as_bytes()).map_err(Error::write)?;
            }
        }
        Ok(learned)
    }
}

/// The beginning of the file.
fn heading(learned: &Learned, names: &[&str], options: &LearnOptions) -> String {
    /// Inputs that are named.
    const MOST: usize = 10;
    let LearnOptions { precision, confidence, min_pages, date, .. } = options;
    let Learned { read: Read { report, sites, .. }, sites_with_rules, rules, held_back, .. } =
        learned;
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
         # On {} held back: precision {} ({right} joined rightly, {wrong} wrongly), recall {}, {} lost, {} saved.\n",
        inputs.join(", "),
        counted(report.records, "row"),
        report.invalid.total(),
        counted(*sites, "site"),
        counted(*rules, "rule"),
        sites_with_rules,
        counted(*pages, "page"),
        share(held_back.precision()),
        share(held_back.recall()),
        counted(*lost, "page"),
        counted(*saved, "fetch").replace("fetchs", "fetches"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_urls_to_fetch_are_cut_alike_in_any_order() {
        let site = |i: usize| OfSite {
            name: format!("h{i:02}"),
            text: "x".to_owned(),
            undecided: (0..i).map(|line| format!("http://h{i:02}/{line}\n")).collect(),
            ..OfSite::default()
        };
        let of = |order: &[usize]| {
            let mut findings = Findings::default();
            order.iter().for_each(|&i| findings.push(site(i)));
            findings.parts.sort_by(|a, b| a.name.cmp(&b.name));
            let lists = findings.parts.iter().map(|site| site.undecided.clone());
            (lists.collect::<Vec<_>>(), findings.undecided.left_out)
        };
        let up: Vec<usize> = (0..20).collect();
        let (lists, left_out) = of(&up);
        assert_eq!(of(&up.iter().rev().copied().collect::<Vec<_>>()), (lists.clone(), left_out));
        assert!(lists.concat().len() <= MOST_UNDECIDED_BYTES && left_out > 5, "{left_out}");
        assert!(lists.iter().enumerate().all(|(i, list)| site(i).undecided.starts_with(list)));
        assert_eq!(lists[2], site(2).undecided);
        let few: Vec<usize> = (0..8).collect();
        assert_eq!(of(&few).1, 0);
    }
}
