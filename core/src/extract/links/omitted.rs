//! What is not among the links of a text: the numbers of what was skipped, and the first faults.

use super::Links;
use crate::extract::Filtered;
use crate::extract::fault::{BodyFault, Fault};

impl Links {
    /// The number of relative references that were skipped because there is no base.
    pub fn relative(&self) -> u64 {
        self.relative
    }

    /// The links, and the entries of logs, that a filter did not keep.
    pub fn filtered(&self) -> Filtered {
        self.filtered
    }

    /// The number of links that were skipped because those of their document have more bytes than eight times as many as it
    /// has, and 1 MiB.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of bases that were ignored because they have more than 2048 bytes.
    pub fn bases(&self) -> u64 {
        self.bases
    }

    /// The number of coded bodies in archives of which only a part was searched, because they expand to more than
    /// [`ExtractorOptions::max_expansion`](crate::extract::ExtractorOptions::max_expansion) times their length.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// The number of places with something other than a record of the format.
    pub fn broken(&self) -> u64 {
        self.broken
    }

    /// The number of coded bodies in archives of which only a part was searched, because they are
    /// truncated or exceed 64 MiB.
    pub fn partial(&self) -> u64 {
        self.partial
    }

    /// The number of bodies in archives that were not searched because their coding cannot be
    /// decoded.
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    /// The number of documents that were searched as plain text because they have too many marks of Markdown, or are longer
    /// than the limit.
    pub fn unparsed(&self) -> u64 {
        self.unparsed
    }

    /// The number of sitemaps and feeds that were searched only up to the place where they are not
    /// well-formed, and of HTTP archives and JSON that break off.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// The number of parts of messages that are not in their transfer encoding, or nested too deep, and
    /// were searched as they are.
    pub fn miscoded(&self) -> u64 {
        self.miscoded
    }

    /// The number of lines of logs that were skipped because they are not entries, and only some
    /// of those, or some of their fields, are searched.
    pub fn other_lines(&self) -> u64 {
        self.other_lines
    }

    /// The number of lines of logs whose fields are unknown, because no directive `#Fields` precedes them.
    pub fn unnamed(&self) -> u64 {
        self.unnamed
    }

    /// The number of entries of logs that were skipped because it is not known whether
    /// [`ExtractorOptions::requests`](crate::extract::ExtractorOptions::requests) selects them.
    pub fn unknown_entries(&self) -> u64 {
        self.unknown_entries
    }

    /// The first faults that can be described, at most [`Fault::MOST`].
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn count_fault(&mut self, fault: Fault) {
        *match fault {
            Fault::Body { what: BodyFault::Partial, .. } => &mut self.partial,
            Fault::Body { what: BodyFault::Expands(_), .. } => &mut self.expanded,
            Fault::Body { what: BodyFault::Unknown, .. } => &mut self.undecoded,
            Fault::Base(..) => &mut self.bases,
            Fault::Links(_, count) => {
                self.lost += count - 1;
                &mut self.lost
            }
            Fault::Marks(_) | Fault::Long(..) => &mut self.unparsed,
            Fault::Xml(_) | Fault::CutOff(_) | Fault::LastLine(_) => &mut self.malformed,
            Fault::Part { .. } => &mut self.miscoded,
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
        self.malformed -= (count - self.faults.len()) as u64;
        if !is_searched {
            self.broken = self.broken.saturating_sub(1);
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
