//! What is not among the links of a text: the numbers of what was skipped, and the first faults.

use super::Links;
use crate::extract::Filtered;
use crate::extract::fault::{BodyFault, Fault};

counts! {
    /// The numbers of what was skipped in documents, or searched only in part, by cause.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Omitted {
        /// Links that were skipped because those of their document have more bytes than eight times as many as it has, and
        /// 1 MiB.
        pub lost: u64,
        /// Bases that were ignored because they have more than 2048 bytes.
        pub bases: u64,
        /// Encoded bodies in archives that were searched only in part because they expand to more than
        /// [`ExtractorOptions::max_expansion`](crate::extract::ExtractorOptions::max_expansion) times their length.
        pub expanded: u64,
        /// Places in archives with something other than a record.
        pub broken: u64,
        /// Encoded bodies in archives that were searched only in part because they are truncated or exceed 64 MiB.
        pub partial: u64,
        /// Bodies in archives that were not searched because their coding cannot be decoded.
        pub undecoded: u64,
        /// Documents that were searched as plain text because they have too many marks of Markdown, or whose end was because
        /// they are longer than the limit.
        pub unparsed: u64,
        /// Sitemaps and feeds that were searched only up to the place where they are not well-formed, and HTTP archives and
        /// JSON that break off.
        pub malformed: u64,
        /// Parts of messages that are not in their transfer encoding, or nested too deep, and were searched as they are, and
        /// messages that break off.
        pub miscoded: u64,
        /// Lines of logs that were skipped because they are not entries, and only some of those, or some of their fields, are
        /// searched.
        pub other_lines: u64,
        /// Lines of logs whose fields are unknown, because no directive `#Fields` precedes them.
        pub unnamed: u64,
        /// Entries of logs that were skipped because it is not known whether
        /// [`ExtractorOptions::requests`](crate::extract::ExtractorOptions::requests) selects them.
        pub unknown_entries: u64,
        /// Entries of logs without a target that is a path or a URL, such as `OPTIONS *` and `CONNECT h:443`, where
        /// [targets](crate::extract::ExtractorOptions::log_fields) are selected.
        pub other_targets: u64,
    }
}

impl Links {
    /// The number of relative references that were skipped because there is no base.
    pub fn relative(&self) -> u64 {
        self.relative
    }

    /// The links, and the entries of logs, that a filter did not keep.
    pub fn filtered(&self) -> Filtered {
        self.filtered
    }

    /// The numbers of everything else.
    pub fn omitted(&self) -> &Omitted {
        &self.omitted
    }

    /// The first faults that can be described, at most [`Fault::MOST`].
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn count_fault(&mut self, fault: Fault) {
        *match fault {
            Fault::Body { what: BodyFault::Partial, .. } => &mut self.omitted.partial,
            Fault::Body { what: BodyFault::Expands(_), .. } => &mut self.omitted.expanded,
            Fault::Body { what: BodyFault::Unknown, .. } => &mut self.omitted.undecoded,
            Fault::Base(..) => &mut self.omitted.bases,
            Fault::Links(_, count) => {
                self.omitted.lost += count - 1;
                &mut self.omitted.lost
            }
            Fault::Marks(_) | Fault::Long(..) => &mut self.omitted.unparsed,
            Fault::Xml(_) | Fault::CutOff(_) | Fault::LastLine(_) => &mut self.omitted.malformed,
            Fault::Part { .. } => &mut self.omitted.miscoded,
        } += 1;
        if self.faults.len() < Fault::MOST {
            self.faults.push(fault);
        }
    }

    /// Counts the text as the first `len` bytes of a record that is longer than the limit, whose rest is searched as plain text or
    /// not at all. That the text breaks off is not a fault of its own.
    pub fn count_long(&mut self, len: u32, is_searched: bool) {
        let breaks_off = |fault: &Fault| match *fault {
            Fault::CutOff(at) | Fault::LastLine(at) => at == len,
            _ => false,
        };
        let count = self.faults.len();
        self.faults.retain(|fault| !breaks_off(fault));
        self.omitted.malformed -= (count - self.faults.len()) as u64;
        if !is_searched {
            self.omitted.broken = self.omitted.broken.saturating_sub(1);
        }
        self.count_fault(Fault::Long(len, is_searched));
    }

    /// Adds the descriptions of what `found` has counted as not well-formed, with the offsets that `place` returns.
    pub(in super::super) fn describe_malformed(
        &mut self,
        found: &Links,
        place: impl Fn(u32) -> u32,
    ) {
        for fault in &found.faults {
            if let Fault::Xml(at) = fault
                && self.faults.len() < Fault::MOST
            {
                self.faults.push(Fault::Xml(place(*at)));
            }
        }
    }

    /// Adds the descriptions of faults in parts that `found` has counted; their offsets are those of this chunk.
    pub(crate) fn describe_parts(&mut self, found: &Links) {
        let rest = Fault::MOST.saturating_sub(self.faults.len());
        let parts = found.faults.iter().filter(|fault| matches!(fault, Fault::Part { .. }));
        self.faults.extend(parts.take(rest).cloned());
    }
}
