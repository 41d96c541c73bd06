//! What is written once all is read: results, dupes and clusters, all in the order of the input.
//!
//! The lines of the input are cut into segments. Within one, what the partitions hold is put in order
//! by position, and many segments are made into text at once, while those before are written.

use std::io::Read;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::beyond::{Merge, Outcome};
use super::ladder::{Ladder, below};
use super::long::LongRecord;
use super::shelf::{Member, Shelf};
use super::{Report, Select, Sinks, Sorting};
use crate::explain::{self, Comparison, Step, compare_with_rules};
use crate::io::json;
use crate::io::row::push_decimal;
use crate::normalize::{Options, Rung};
use crate::pipeline::driver::push_record;
use crate::pipeline::equivalence::Judge;
use crate::pipeline::map::unjudged_key;
use crate::pipeline::{Emit, Equivalence, Error};
use crate::threads;

/// Lines of a segment.
const SEGMENT: u64 = 1 << 14;

/// What a segment gives.
#[derive(Debug, Default)]
struct Written {
    out: Vec<u8>,
    clusters: Vec<u8>,
    /// Classes.
    written: u64,
    withheld: u64,
}

impl Sorting<'_> {
    /// Writes everything.
    pub(super) fn write(
        &mut self,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        self.seal(report)?;
        if let Some(dupes) = &mut sinks.dupes {
            let below = below(&self.options.dedup.equivalence);
            let make = |range| self.dupes(range, &below);
            in_segments(0..self.lines, make, |lines| {
                dupes.write_all(&lines).map_err(Error::Write)
            })?;
        }
        if sinks.clusters.is_some() {
            threads::each(&mut self.classes.partitions_mut(), |_, shelf| shelf.sort_members());
        }
        let (long, mut bytes) = self.long.finish().map_err(Error::Write)?;
        let mut start = 0;
        for record in long {
            self.write_classes(start..record.position, report, sinks)?;
            self.write_long(record, &mut *bytes, report, sinks)?;
            start = record.position;
        }
        self.write_classes(start..self.lines, report, sinks)
    }

    /// Writes everything, from what was put aside and has been settled.
    pub(super) fn write_merged(
        &mut self,
        outcome: Outcome,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let Outcome { settled, file, .. } = outcome;
        let (mut survivors, mut dupes, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
        for one in settled {
            report.written += one.written;
            report.withheld += one.withheld;
            survivors.push(one.survivors);
            dupes.push(one.dupes);
            clusters.push(one.clusters);
        }
        if let Some(sink) = &mut sinks.dupes {
            let write = |lines: &[u8]| sink.write_all(lines).map_err(Error::Write);
            Merge::new(dupes, &file)?.up_to(u64::MAX, write)?;
        }
        let mut survivors = Merge::new(survivors, &file)?;
        let mut clusters = Merge::new(clusters, &file)?;
        let mut write = |end: u64, sinks: &mut Sinks<'_>| {
            survivors.up_to(end, |lines| sinks.out.write_all(lines).map_err(Error::Write))?;
            match &mut sinks.clusters {
                Some(sink) => {
                    clusters.up_to(end, |lines| sink.write_all(lines).map_err(Error::Write))
                }
                None => Ok(()),
            }
        };
        let (long, mut bytes) = self.long.finish().map_err(Error::Write)?;
        for record in long {
            write(record.position, sinks)?;
            self.write_long(record, &mut *bytes, report, sinks)?;
        }
        write(u64::MAX, sinks)
    }

    /// Makes the shelves ready for [`Shelf::survivors`] and [`Shelf::members`], marks what earlier runs have seen, and
    /// corrects the totals.
    pub(super) fn seal(&mut self, report: &mut Report) -> Result<(), Error> {
        threads::each(&mut self.classes.partitions_mut(), |_, shelf| shelf.seal());
        report.duplicates = self.keyed - self.classes.len() as u64;
        report.written = 0;
        if let Some(past) = &self.past {
            let seen = Mutex::new(Ok(0));
            self.classes.by_number(|_, keys, shelf| {
                let found = past.see(&keys, shelf);
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *seen, found) {
                    (Ok(sum), Ok(found)) => *sum += found,
                    (Ok(_), Err(error)) => *seen = Err(error),
                    (Err(_), _) => {}
                }
            });
            report.duplicates += seen.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        }
        Ok(())
    }

    /// The lines for the records in `range` that were left out.
    fn dupes(&self, range: Range<u64>, below: &[Equivalence]) -> Vec<u8> {
        let mut ladder = self.ladder(below);
        let mut lines = Vec::new();
        let shelves: Vec<&Shelf> = self.classes.partitions().collect();
        let members: Vec<&[Member]> =
            shelves.iter().map(|shelf| shelf.members(range.clone())).collect();
        let mut order = Order::new(range.clone());
        for (number, members) in members.iter().enumerate() {
            (0..).zip(*members).for_each(|(i, member)| order.put(member.position, number, i));
        }
        if self.past.is_some() {
            // Not even the survivors of seen classes survive; their numbers are those behind the members.
            for (number, shelf) in shelves.iter().enumerate() {
                let behind = members[number].len() as u32;
                for (position, class) in shelf.survivors(range.clone()) {
                    if shelf.count(class) == 0 {
                        order.put(position, number, behind + class);
                    }
                }
            }
        }
        for (number, i) in order.places() {
            let (shelf, behind) = (shelves[number], members[number].len() as u32);
            let Some(member) = members[number].get(i as usize) else {
                self.push_seen(shelf.survivor(i - behind).1, &mut lines);
                continue;
            };
            if shelf.count(member.class) == 0 {
                self.push_seen(shelf.text(member), &mut lines);
                continue;
            }
            let (record, (_, survivor)) = (shelf.text(member), shelf.survivor(member.class));
            self.push_dupe(record, survivor, &mut ladder, &mut lines);
        }
        lines
    }

    /// Appends the line for a record whose class was seen by an earlier run.
    pub(super) fn push_seen(&self, record: &[u8], lines: &mut Vec<u8>) {
        push_record(record, self.settings.redact, lines);
        lines.extend_from_slice(b"\t\tseen");
        lines.push(self.settings.record_end);
    }

    /// Appends the line for a record that was left out.
    pub(super) fn push_dupe(
        &self,
        record: &[u8],
        survivor: &[u8],
        ladder: &mut Ladder<'_>,
        lines: &mut Vec<u8>,
    ) {
        let rung = ladder.rung(record, survivor);
        for (text, end) in
            [(record, b'\t'), (survivor, b'\t'), (rung.name().as_bytes(), self.settings.record_end)]
        {
            push_record(text, self.settings.redact, lines);
            lines.push(end);
        }
    }

    /// Writes the classes whose survivors stand in `range`.
    fn write_classes(
        &self,
        range: Range<u64>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let below = sinks.clusters.is_some().then(|| below(&self.options.dedup.equivalence));
        in_segments(
            range,
            |range| self.survivors(range, below.as_deref()),
            |segment: Written| {
                report.written += segment.written;
                report.withheld += segment.withheld;
                sinks.out.write_all(&segment.out).map_err(Error::Write)?;
                match &mut sinks.clusters {
                    Some(clusters) => clusters.write_all(&segment.clusters).map_err(Error::Write),
                    None => Ok(()),
                }
            },
        )
    }

    /// What finds the rung at which two records are one.
    pub(super) fn ladder<'e>(&self, below: &'e [Equivalence]) -> Ladder<'e> {
        Ladder::new(below, self.options.dedup.equivalence.normalize.rung, self.settings.kernels)
    }

    /// What finds the forms of records.
    pub(super) fn judge(&self) -> Judge<'_> {
        Judge::new(&self.options.dedup.equivalence, self.settings.kernels)
    }

    /// The results for the classes whose survivors stand in `range`; clusters too when the equivalences
    /// of the lower rungs are given.
    fn survivors(&self, range: Range<u64>, below: Option<&[Equivalence]>) -> Written {
        let mut judge = self.judge();
        let mut ladder = below.map(|below| self.ladder(below));
        let mut made = Written::default();
        let shelves: Vec<&Shelf> = self.classes.partitions().collect();
        let mut order = Order::new(range.clone());
        for (number, shelf) in shelves.iter().enumerate() {
            let survivors = shelf.survivors(range.clone());
            survivors.for_each(|(position, class)| order.put(position, number, class));
        }
        for (number, class) in order.places() {
            let shelf = shelves[number];
            let count = shelf.count(class);
            if count == 0 {
                continue;
            }
            if !self.options.select.has(count) {
                made.withheld += 1;
                continue;
            }
            made.written += 1;
            self.push_result(shelf.survivor(class).1, count, &mut judge, &mut made.out);
            if let Some(ladder) = &mut ladder {
                self.push_cluster(shelf, class, ladder, &mut made.clusters);
            }
        }
        made
    }

    /// Appends the line for the survivor of a class of `count` records.
    pub(super) fn push_result(
        &self,
        survivor: &[u8],
        count: u64,
        judge: &mut Judge<'_>,
        out: &mut Vec<u8>,
    ) {
        self.push_count(count, out);
        match self.options.dedup.emit {
            Emit::Original => push_record(survivor, self.settings.redact, out),
            Emit::Normalized => push_record(judge.form(survivor), self.settings.redact, out),
            Emit::Key => {
                let form = self.options.dedup.equivalence.shown(judge.form(survivor));
                if let Some(public) = &self.public {
                    public.key(form).write_hex(out);
                }
            }
        }
        out.push(self.settings.record_end);
    }

    /// Appends the number of records before a line, as `uniq -c` has it, if it is to stand there.
    #[inline]
    pub(super) fn push_count(&self, count: u64, out: &mut Vec<u8>) {
        const WIDTH: usize = 7;
        if !self.options.count {
            return;
        }
        if count < 10 {
            // Nearly all.
            out.extend_from_slice(&[b' ', b' ', b' ', b' ', b' ', b' ', b'0' + count as u8, b' ']);
            return;
        }
        let digits = count.ilog10() as usize + 1;
        out.extend(std::iter::repeat_n(b' ', WIDTH.saturating_sub(digits)));
        push_decimal(count, out);
        out.push(b' ');
    }

    /// Appends the JSON object of a class, whose members are on the shelf.
    pub(super) fn push_cluster(
        &self,
        shelf: &Shelf,
        class: u32,
        ladder: &mut Ladder<'_>,
        out: &mut Vec<u8>,
    ) {
        let (position, survivor) = shelf.survivor(class);
        json::cluster_start(&self.masked(survivor), shelf.count(class), out);
        let mut push = |position: u64, text: &[u8]| {
            self.push_member(position, text, survivor, ladder, out);
        };
        let members = shelf.members_of(class);
        let before = members.partition_point(|member| member.position < position);
        members[..before].iter().for_each(|member| push(member.position, shelf.text(member)));
        push(position, survivor);
        members[before..].iter().for_each(|member| push(member.position, shelf.text(member)));
        json::cluster_end(out);
    }

    /// Appends a member to the JSON object of a class.
    pub(super) fn push_member(
        &self,
        position: u64,
        text: &[u8],
        survivor: &[u8],
        ladder: &mut Ladder<'_>,
        out: &mut Vec<u8>,
    ) {
        let rung = ladder.rung(text, survivor);
        let steps = self.steps(text, survivor, rung);
        json::cluster_member(self.line(position), &self.masked(text), rung, &steps, out);
    }

    /// A record as it is shown.
    pub(super) fn masked(&self, text: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(text.len());
        push_record(text, self.settings.redact, &mut masked);
        masked
    }

    /// The steps that make a record one with its survivor at `rung`.
    fn steps(&self, record: &[u8], survivor: &[u8], rung: Rung) -> Vec<&'static Step> {
        if record == survivor || record.len().max(survivor.len()) > explain::LONGEST {
            return Vec::new();
        }
        let equivalence = &self.options.dedup.equivalence;
        let Equivalence { normalize, rules, .. } = equivalence;
        let options = Options { rung, ..*normalize };
        let [record, survivor] = [record, survivor].map(|text| equivalence.target(text));
        match compare_with_rules(&record, &survivor, options, rules.as_deref()) {
            Comparison::Equivalent { steps, .. } => steps,
            Comparison::Different { .. } => Vec::new(),
        }
    }

    /// Writes a record that was too long to be judged, which comes next in `bytes`. It is one with no other.
    fn write_long(
        &self,
        record: LongRecord,
        bytes: &mut dyn Read,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let mut bytes = bytes.take(record.len);
        if self.options.select == Select::Repeated {
            report.withheld += 1;
            return std::io::copy(&mut bytes, &mut std::io::sink()).map_err(Error::Write).map(drop);
        }
        report.written += 1;
        let mut row = Vec::new();
        self.push_count(1, &mut row);
        if self.options.dedup.emit == Emit::Key {
            row.extend(unjudged_key(self.settings.record_end));
            std::io::copy(&mut bytes, &mut std::io::sink()).map_err(Error::Write)?;
        }
        sinks.out.write_all(&row).map_err(Error::Write)?;
        if self.options.dedup.emit != Emit::Key {
            std::io::copy(&mut bytes, &mut sinks.out).map_err(Error::Write)?;
            sinks.out.write_all(&[self.settings.record_end]).map_err(Error::Write)?;
        }
        if let Some(clusters) = &mut sinks.clusters {
            let (source, line) = self.line(record.position);
            let mut row = Vec::new();
            json::long_cluster(source, line, record.len, Rung::String, &mut row);
            clusters.write_all(&row).map_err(Error::Write)?;
        }
        Ok(())
    }
}

/// Brings what the partitions hold in a range of positions into the order of these.
struct Order {
    start: u64,
    /// For each position, the number of a partition and of something in it.
    places: Vec<(u32, u32)>,
}

/// Nothing stands here.
const NOTHING: (u32, u32) = (u32::MAX, 0);

impl Order {
    fn new(range: Range<u64>) -> Order {
        Order { start: range.start, places: vec![NOTHING; (range.end - range.start) as usize] }
    }

    /// Puts number `i` of a partition at `position`, which is in the range and not taken.
    fn put(&mut self, position: u64, partition: usize, i: u32) {
        self.places[(position - self.start) as usize] = (partition as u32, i);
    }

    /// The partitions and numbers, in order.
    fn places(&self) -> impl Iterator<Item = (usize, u32)> {
        let taken = self.places.iter().filter(|place| **place != NOTHING);
        taken.map(|&(partition, i)| (partition as usize, i))
    }
}

/// Cuts `range` into segments, makes something of each, many at once, and hands it on in order.
fn in_segments<T: Send>(
    range: Range<u64>,
    make: impl Fn(Range<u64>) -> T + Sync,
    mut hand_on: impl FnMut(T) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let at_once = 2 * rayon::current_num_threads() as u64;
    let mut made: Vec<T> = Vec::new();
    let mut start = range.start;
    while start < range.end || !made.is_empty() {
        let end = range.end.min(start + at_once * SEGMENT);
        let segments = (end - start).div_ceil(SEGMENT);
        let (handed_on, next) = threads::both(
            || made.into_iter().try_for_each(&mut hand_on),
            || -> Vec<T> {
                let segment = |i| start + i * SEGMENT;
                threads::map(0..segments, |i| make(segment(i)..segment(i + 1).min(end)))
            },
        );
        handed_on?;
        (made, start) = (next, end);
    }
    Ok(())
}
