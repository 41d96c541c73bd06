//! The policy on invalid records, for all jobs.

use super::work::ChunkWork;
use crate::pipeline::report::Report;
use uriscan_core::audit::{redact_by, redact_into};
use uriscan_core::chunk::{Prefix, Span};
use uriscan_core::extract::Cause;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// What to do with a record that is not a URI (or is a relative reference).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// Keep it unchanged; its key is that of its bytes.
    #[default]
    Pass,
    /// Omit it.
    Drop,
    /// Stop with [`crate::ErrorKind::Invalid`] at the first one.
    Fail,
    /// Write it to the second writer instead ([`crate::pipeline::Sinks::rejects`]).
    Divert,
}

/// Why a row with an invalid URI is rejected.
pub fn reason(error: UriError) -> String {
    format!("{} at column {}: {}", error.kind, error.at + 1, error.kind.message())
}

/// What a scan does with an invalid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidAction {
    /// It is kept and compared by its bytes.
    Keep,
    /// It is omitted from the results.
    Omit,
    /// The run stops before it.
    Stop,
}

/// The policy on the invalid records of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) on_invalid: OnInvalid,
    pub(crate) record_end: u8,
    /// Whether secrets are masked in written records.
    pub(crate) redact: bool,
}

impl Policy {
    /// Counts `record`, which is at `span` and invalid because of `error`, and writes it to `rejects` if it is
    /// diverted.
    #[inline(never)]
    pub(crate) fn apply(
        self,
        record: &[u8],
        (span, error): (Span, UriError),
        report: &mut Report,
        rejects: &mut Vec<u8>,
        stop: &mut Option<(Span, UriError)>,
    ) -> InvalidAction {
        report.invalid.add(error.kind);
        match self.on_invalid {
            OnInvalid::Pass => InvalidAction::Keep,
            OnInvalid::Drop => InvalidAction::Omit,
            OnInvalid::Divert => {
                push_record(record, self.redact, rejects);
                rejects.push(self.record_end);
                InvalidAction::Omit
            }
            OnInvalid::Fail => {
                *stop = Some((span, error));
                InvalidAction::Stop
            }
        }
    }

    /// Handles a piece of an overlong record, which is invalid because of `error`: the first piece if `is_first`, and
    /// the one with the end of the record if `is_last`.
    pub(crate) fn apply_long<R>(
        self,
        work: &mut ChunkWork<R>,
        error: UriError,
        (is_first, is_last): (bool, bool),
        long: LongRecord,
    ) {
        let ChunkWork { chunk, out, rejects, report, stop, .. } = work;
        if let LongRecord::Filtered(cause) = long {
            is_first.then(|| report.filtered.add(cause));
            return;
        }
        let piece = chunk.text.padded().content();
        // Always written, so that the next record, of whatever source, is a record of its own.
        let end = is_last.then_some(self.record_end);
        let piece =
            if is_last { piece.strip_suffix(&[self.record_end]).unwrap_or(piece) } else { piece };
        // A secret in the record could not be found.
        let is_writable = !self.redact || matches!(long, LongRecord::Row(_));
        let is_kept = self.on_invalid == OnInvalid::Pass && is_writable;
        if is_first {
            report.records = 1;
            report.invalid.add(error.kind);
            report.written = u64::from(is_kept);
        }
        match (self.on_invalid, long) {
            (OnInvalid::Fail, _) if is_first => *stop = Some((Span::default(), error)),
            (OnInvalid::Drop | OnInvalid::Fail, _) => {}
            (OnInvalid::Divert, _) if self.redact => {}
            (OnInvalid::Divert, _) => {
                rejects.extend_from_slice(piece);
                rejects.extend(end);
            }
            (OnInvalid::Pass, LongRecord::AsIs { head }) if is_kept => {
                if is_first {
                    out.extend(head);
                }
                out.extend_from_slice(piece);
                out.extend(end);
            }
            (OnInvalid::Pass, LongRecord::Row(row)) if is_first => out.extend_from_slice(&row),
            (OnInvalid::Pass, _) => {}
        }
    }
}

/// What is written for an overlong record that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LongRecord {
    /// Its own bytes, after others.
    AsIs { head: Vec<u8> },
    /// Other bytes.
    Row(Vec<u8>),
    /// Nothing: a filter does not keep it, because of this.
    Filtered(Cause),
}

impl LongRecord {
    /// Its own bytes, and nothing else.
    pub(crate) fn as_is() -> LongRecord {
        LongRecord::AsIs { head: Vec::new() }
    }
}

/// [`push_record`] for one after which bytes may be read: secrets are found faster.
#[inline(always)]
pub(crate) fn push_record_by<I: Isa>(isa: I, record: Prefix<'_>, redact: bool, out: &mut Vec<u8>) {
    if redact {
        redact_by(isa, record, out);
    } else {
        out.extend_from_slice(record.bytes());
    }
}

/// Appends a record, or a form of it, its secrets masked if so asked.
#[inline(always)]
pub(crate) fn push_record(record: &[u8], redact: bool, out: &mut Vec<u8>) {
    if redact {
        redact_into(record, out);
    } else {
        out.extend_from_slice(record);
    }
}
