//! Parsing and checking by RFC 2396, which `parse` and `check` share.

use uriscan::Error;
use uriscan_bulk::pipeline::{self, LegacyQuestion};

use crate::job::{Done, Job, Run, Writes};

/// Parses or checks by RFC 2396, or compares it with RFC 3986.
#[derive(Debug)]
pub(super) struct Legacy {
    pub(super) question: LegacyQuestion,
    pub(super) legacy: uriscan::rfc2396::Legacy,
}

impl Job for Legacy {
    fn name(&self) -> &'static str {
        match self.writes() {
            Writes::Records => "parse",
            _ => "check",
        }
    }

    fn writes(&self) -> Writes {
        match self.question {
            LegacyQuestion::PartsJsonl | LegacyQuestion::PartsTsv => Writes::Records,
            LegacyQuestion::Check(_) | LegacyQuestion::Differ(_) => Writes::Answers,
        }
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let Legacy { question, legacy } = *self;
        let report = pipeline::inspect_rfc2396(sources, question, legacy, settings, sinks)?;
        let is_fine = self.compares_grammars().then_some(report.differing == 0);
        Ok(Done { report, is_fine, ..Done::default() })
    }

    fn compares_grammars(&self) -> bool {
        matches!(self.question, LegacyQuestion::Differ(_))
    }

    fn has_report(&self) -> bool {
        false
    }
}
