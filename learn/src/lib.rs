//! Rules that data prove: from rows that say which URLs are the same page to a rules file, with the proof beside each
//! rule.
//!
//! A site is a registrable domain, and makes rules for itself only. Of its URLs some are known to have the same content: by a
//! digest, a canonical link or a redirect (`contents`). What such URLs differ in is a hypothesis (`difference`), which is
//! tried on all URLs of a host (`forms`, `search`), and then on pairs of hosts (`host`): of the groups of URLs that only it
//! would join, how many have one content? It is a rule if the lower confidence bound of that share (`bound`) is high enough.
//! At the end all rules of a site are checked together (`site`), on pages that were held back, too (`score`).
//!
//! It decides what a rule is worth, and leaves to [`uriscan_core::rules`] what a rule does: each hypothesis is a rule set. The result
//! depends on the rows only, not on their order, on threads or on the secrets of keys.

#![deny(unsafe_code)]

#[macro_use]
extern crate uriscan_core;

mod bound;
mod contents;
mod cut;
mod difference;
mod edit;
mod fields;
mod findings;
mod forms;
mod host;
mod measure;
mod page;
mod pool;
mod read;
mod record;
mod run;
mod score;
mod search;
mod site;
mod store;
mod undecided;
mod undo;
mod within;
mod write;

pub use findings::{Findings, Learned};
pub use measure::{Tested, Tester, test};
pub use read::Read;
pub use run::{Learner, learn};
pub use score::Score;

use edit::Edit;
use forms::Trial;
use uriscan_bulk::pipeline::MemoryLimit;
use uriscan_core::repair::Repairs;

/// What is learned, and when it is proven.
///
/// ```
/// use uriscan_learn::LearnOptions;
/// let options = LearnOptions::default().precision(0.99);
/// assert_eq!((options.precision, options.confidence, options.min_pages), (0.99, 0.95, 20));
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct LearnOptions {
    /// The share of the groups of URLs that a rule joins which must have one content each.
    pub precision: f64,
    /// The confidence of that: the lower bound of the share must not be less.
    pub confidence: f64,
    /// Groups that must say something about a rule, whatever the bound is.
    pub min_pages: u64,
    /// The memory limit of the run; by default all rows are held in memory.
    pub limit: Option<MemoryLimit>,
    /// What is done with URLs that are invalid, before they are compared; nothing by default. Rules that are learned of repaired URLs are for
    /// URLs that are repaired in the same way.
    pub repairs: Repairs,
    /// The day that the file names, as text; none by default, so that the same rows give the same file.
    pub date: Option<String>,
}

setters! { LearnOptions
    { precision: f64, confidence: f64, min_pages: u64, repairs: Repairs }
    into { limit: Option<MemoryLimit>, date: Option<String> }
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        LearnOptions {
            precision: 0.95,
            confidence: 0.95,
            min_pages: 20,
            limit: None,
            repairs: Repairs::default(),
            date: None,
        }
    }
}

/// When a hypothesis is proven.
#[derive(Clone, Copy, Debug)]
struct Proof {
    precision: f64,
    confidence: f64,
    min_pages: u64,
    /// URLs to fetch are wanted, which would decide more.
    wants_fetches: bool,
}

impl Proof {
    fn of(options: &LearnOptions, wants_fetches: bool) -> Proof {
        let LearnOptions { precision, confidence, min_pages, .. } = *options;
        Proof { precision, confidence, min_pages, wants_fetches }
    }

    /// Whether a rule costs little, whatever the share of right groups: it may lose few pages beside the fetches it saves, as one group may
    /// have any number of pages.
    fn is_cheap(&self, trial: &Trial) -> bool {
        let risk = trial.risk();
        risk as f64 <= (1.0 - self.precision) * (trial.saved + risk) as f64
    }

    /// The lower bound of the share of groups that are right.
    fn bound(&self, trial: &Trial) -> f64 {
        bound::lower_bound(trial.right, trial.wrong, self.confidence)
    }

    fn is_given(&self, trial: &Trial) -> bool {
        let share = trial.right as f64 / trial.pages().max(1) as f64;
        trial.pages() >= self.min_pages
            && self.is_cheap(trial)
            && share >= self.precision
            && self.bound(trial) >= self.precision
    }

    /// Whether `edits` with this trial are a rule. That no parameter means anything is refuted by one that does.
    fn is_rule(&self, edits: &[Edit], trial: &Trial) -> bool {
        self.is_given(trial) && (trial.wrong == 0 || !edits.contains(&Edit::AnyParam))
    }

    /// Whether it is evidence against a rule, however little there is.
    fn is_contradicted(&self, trial: &Trial) -> bool {
        let share = trial.right as f64 / trial.pages().max(1) as f64;
        trial.wrong > 0 && share < self.precision || !self.is_cheap(trial)
    }

    /// How many more groups would prove it, if all are right; `None` if it looks wrong.
    fn needed(&self, trial: &Trial) -> Option<u64> {
        let share = trial.right as f64 / trial.pages().max(1) as f64;
        if share < self.precision || trial.right == 0 || !self.is_cheap(trial) {
            return None;
        }
        let more = bound::needed(trial.right, trial.wrong, self.precision, self.confidence);
        Some(more.max(self.min_pages.saturating_sub(trial.pages())))
    }
}
