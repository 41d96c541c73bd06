//! Chooses the next line, and counts the emitted lines.

use super::canonical;
use super::draw::{Draw, derive};
use super::flaw;
use super::spelling::{self, FORMS, Spelling};
use super::uri::Uri;

/// Half of the repetitions come from at most this many recent classes.
const RECENT_CLASSES: u64 = 600_000;
/// Number of other ids that are tried if all wanted spellings of one are used up.
const TRIES: u32 = 16;
/// How strongly the share of rewrites is corrected towards the requested one, per unit of
/// deviation.
const GAIN: f64 = 20.0;

/// Shares of all lines, each in `0.0..=1.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// Byte duplicates of an earlier line.
    pub(crate) duplicates: f64,
    /// New spellings of a URI that an earlier line spelled differently; equivalent at level
    /// `scheme`.
    pub(crate) equivalents: f64,
    /// Lines whose spelling is not canonical at level `scheme`, first or not.
    pub(crate) rewrite: f64,
    /// Lines that RFC 3986 rejects, including duplicates.
    pub(crate) invalid: f64,
}

impl Shares {
    /// The shares of a named mix: `crawl`, `easy` or `clean`.
    pub(crate) fn of_mix(name: &str) -> Option<Shares> {
        match name {
            "crawl" => {
                Some(Shares { duplicates: 0.26, equivalents: 0.14, rewrite: 0.40, invalid: 0.01 })
            }
            // Every further spelling of a class needs a rewrite, so a tenth of rewrites
            // cannot hold 14 % of equivalents. The distinct share is that of `crawl`.
            "easy" => {
                Some(Shares { duplicates: 0.36, equivalents: 0.04, rewrite: 0.10, invalid: 0.01 })
            }
            "clean" => {
                Some(Shares { duplicates: 0.26, equivalents: 0.0, rewrite: 0.0, invalid: 0.0 })
            }
            _ => None,
        }
    }

    /// Why these shares are impossible, if they are.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let all = [self.duplicates, self.equivalents, self.rewrite, self.invalid];
        if !all.iter().all(|share| (0.0..=1.0).contains(share)) {
            return Some("a share lies between 0 and 1");
        }
        let new = 1.0 - self.duplicates - self.equivalents;
        if new < 0.01 {
            return Some("duplicates and equivalents must leave at least 0.01 of new URIs");
        }
        if self.equivalents > 2.0 * new {
            return Some(
                "more than two equivalents for each new URI: there are not enough spellings",
            );
        }
        if self.rewrite < self.equivalents {
            return Some(
                "all but one of the spellings of a class need a rewrite: rewrite >= equivalents",
            );
        }
        if self.rewrite > 0.0 && self.rewrite + self.invalid > 1.0 {
            return Some("rewrite and invalid share the lines: at most 1 together");
        }
        if self.invalid * (1.0 - self.duplicates) > new {
            return Some("invalid lines are new lines or duplicates: too many for the new ones");
        }
        None
    }

    /// The odds of a non-canonical spelling for a new URI that give the requested share, if an
    /// equivalent takes the canonical spelling, if free, with odds of `free`.
    fn first_rewrite(&self, free: f64) -> f64 {
        let new = 1.0 - self.duplicates - self.equivalents;
        let weight = new - self.equivalents * free;
        (self.rewrite * (new + self.equivalents) - self.equivalents) / weight.max(0.01)
    }
}

/// Counts of emitted records and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Lines.
    pub(crate) records: u64,
    /// Bytes, line ends included.
    pub(crate) bytes: u64,
    /// Lines that RFC 3986 rejects.
    pub(crate) invalid: u64,
    /// Valid lines whose spelling is not canonical at level `scheme`.
    pub(crate) rewrites: u64,
    /// Distinct lines, invalid ones included.
    pub(crate) string: u64,
    /// Distinct at level `syntax`, invalid lines by their bytes.
    pub(crate) syntax: u64,
    /// Distinct at level `scheme`, invalid lines by their bytes.
    pub(crate) scheme: u64,
}

/// The odds that an equivalent takes the canonical spelling if that is still free.
const FREE: f64 = 0.5;

/// The lines of one corpus, in order.
pub(crate) struct Stream {
    seed: u64,
    shares: Shares,
    draw: Draw,
    /// For each id the set of spellings emitted, by [`Spelling::bit`].
    emitted: Vec<u64>,
    /// Number of invalid lines, numbered from 0.
    flaws: u32,
    /// The odds of a rewrite by the shares alone, and corrected by the emitted lines.
    base_rewrite: f64,
    rewrite: f64,
    counts: Counts,
    uri: Uri,
}

impl Stream {
    /// The corpus of `seed` with `shares`, which have no [`Shares::fault`].
    pub(crate) fn new(seed: u64, shares: Shares) -> Stream {
        let base_rewrite = shares.first_rewrite(FREE);
        Stream {
            seed,
            shares,
            draw: Draw::new(derive(seed, 0x6C69_6E65)),
            emitted: Vec::new(),
            flaws: 0,
            base_rewrite,
            rewrite: base_rewrite,
            counts: Counts::default(),
            uri: Uri::new(),
        }
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Appends the next line and its LF to `out`.
    ///
    /// # Panics
    /// After 2^32 distinct classes and bad lines together: ids end there.
    pub(crate) fn write_line(&mut self, out: &mut Vec<u8>) {
        let Shares { duplicates, equivalents, rewrite, invalid } = self.shares;
        let chance = self.draw.unit();
        if chance < duplicates {
            self.duplicate();
        } else if chance >= duplicates + equivalents || !self.equivalent() {
            // Equivalents are valid, so new lines include their share of the invalid ones.
            let new = 1.0 - duplicates - equivalents;
            if self.draw.unit() < invalid * (1.0 - duplicates) / new {
                self.bad(self.flaws);
            } else {
                self.fresh();
            }
        }
        self.uri.text.push(b'\n');
        out.extend_from_slice(&self.uri.text);
        self.counts.records += 1;
        self.counts.bytes += self.uri.text.len() as u64;
        let share = self.counts.rewrites as f64 / self.counts.records as f64;
        self.rewrite = self.base_rewrite + GAIN * (rewrite - share);
    }

    /// An id emitted before: half of the time a recent one.
    fn earlier(&mut self) -> Option<u32> {
        let all = self.emitted.len() as u64;
        if all == 0 {
            return None;
        }
        let window = if self.draw.per_mille(500) { all.min(RECENT_CLASSES) } else { all };
        Some((all - 1 - self.draw.below_u64(window)) as u32)
    }

    /// Renders a spelling of `id` and counts it.
    fn emit(&mut self, id: u32, spelling: Spelling) {
        canonical::write(&mut self.uri, self.seed, id);
        spelling::apply_form(&mut self.uri, spelling.form);
        spelling::apply_marks(&mut self.uri, spelling.marks, self.seed, id, spelling.form);
        self.book(id, spelling);
    }

    /// Renders a spelling other than the canonical one and counts it, unless it is in `taken`;
    /// returns whether it did.
    fn respell(&mut self, id: u32, taken: u64) -> bool {
        canonical::write(&mut self.uri, self.seed, id);
        let spelling = self.choose_spelling();
        if taken >> spelling.bit() & 1 != 0 {
            return false;
        }
        spelling::apply_marks(&mut self.uri, spelling.marks, self.seed, id, spelling.form);
        self.book(id, spelling);
        true
    }

    /// Counts a spelling of `id` as written.
    fn book(&mut self, id: u32, spelling: Spelling) {
        let before = self.emitted[id as usize];
        let bit = spelling.bit();
        self.emitted[id as usize] = before | 1 << bit;
        let of_form = 0xFFFFu64 << (bit & !15);
        self.counts.string += u64::from(before >> bit & 1 == 0);
        self.counts.syntax += u64::from(before & of_form == 0);
        self.counts.scheme += u64::from(before == 0);
        self.counts.rewrites += u64::from(bit != 0);
    }

    /// Writes and counts invalid line `number`, an earlier one or the next.
    fn bad(&mut self, number: u32) {
        flaw::write(&mut self.uri, self.seed, number);
        self.counts.invalid += 1;
        if number == self.flaws {
            self.flaws += 1;
            self.counts.string += 1;
            self.counts.syntax += 1;
            self.counts.scheme += 1;
            self.check_ids();
        }
    }

    fn check_ids(&self) {
        let used = self.emitted.len() as u64 + u64::from(self.flaws);
        assert!(used < u64::from(u32::MAX), "ids have 32 bits");
    }

    /// A URI that no line had before.
    fn fresh(&mut self) {
        let id = self.emitted.len() as u32;
        self.emitted.push(0);
        self.check_ids();
        if self.draw.unit() < self.rewrite {
            self.respell(id, 0);
        } else {
            self.emit(id, Spelling::default());
        }
    }

    /// The bytes of an earlier line; the first line of all is a new one.
    fn duplicate(&mut self) {
        if self.flaws > 0 && self.draw.unit() < self.shares.invalid {
            let number = self.draw.below(self.flaws);
            return self.bad(number);
        }
        let Some(id) = self.earlier() else {
            return self.fresh();
        };
        let mut left = self.emitted[id as usize];
        for _ in 0..self.draw.below(left.count_ones()) {
            left &= left - 1;
        }
        self.emit(id, Spelling::of_bit(left.trailing_zeros()));
    }

    /// A spelling that no earlier line of its class had; false when none was found.
    fn equivalent(&mut self) -> bool {
        for _ in 0..TRIES {
            let Some(id) = self.earlier() else {
                return false;
            };
            let emitted = self.emitted[id as usize];
            if emitted & 1 == 0 && self.draw.unit() < FREE {
                self.emit(id, Spelling::default());
                return true;
            }
            if self.respell(id, emitted) {
                return true;
            }
        }
        false
    }

    /// Chooses another spelling for the canonical URI in `self.uri`, and applies its form there.
    fn choose_spelling(&mut self) -> Spelling {
        let mut form = 0;
        if self.draw.per_mille(350) {
            form = 1 + self.draw.below(u32::from(FORMS) - 1) as u8;
            if !spelling::has_form(&self.uri, form) {
                form = 0;
            }
        }
        spelling::apply_form(&mut self.uri, form);
        if form != 0 && self.draw.per_mille(700) {
            return Spelling { form, marks: 0 };
        }
        // The marks must be possible for the URI as the form leaves it.
        let possible = spelling::marks_of(&self.uri);
        let mut marks = 0;
        while marks == 0 || self.draw.per_mille(150) {
            let mark = match self.draw.below(16) {
                0..4 => spelling::CASE,
                4..9 => spelling::SMALL_HEX,
                9..13 => spelling::ENCODED,
                _ => spelling::DOTS,
            };
            marks |= mark & possible;
        }
        Spelling { form, marks }
    }
}
