//! An audit of references by section 7 of RFC 3986: what may cause harm, and why.

mod address;
#[cfg(test)]
mod cases;
mod encoded;
mod exact;
#[cfg(test)]
mod forms;
mod host;
mod json;
mod layers;
mod looks;
mod marks;
#[cfg(test)]
mod masked;
mod names;
mod path;
mod placeholder;
mod port;
pub mod quiet;
mod redact;
mod rule;
mod search;
mod secret;
mod shape;
#[cfg(test)]
mod tests;
mod userinfo;

pub use address::inet_aton;
pub use exact::audit;
pub use exact::{audit_with, oversized};
pub use looks::Hint;
pub use marks::Marks;
pub use names::{ENDS as SECRET_NAME_ENDS, NAMES as SECRET_NAMES};
pub use redact::each_secret;
pub use redact::{redact_by, redact_into};
pub use rule::{Rule, RuleSet, Severity};
pub use secret::MASK;
pub use shape::SHAPES as TOKEN_BEGINNINGS;

use core::fmt;
use core::net::IpAddr;
use core::ops::Range;

use crate::normalize::percent::{decoded, triplet};
use crate::uri::UriError;

/// A part of a reference that a rule warns about.
///
/// A rule reports at most one finding in each component, with the range of the first occurrence and
/// the number of occurrences, so a hostile record cannot produce more than a few dozen findings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Its severity here.
    pub severity: Severity,
    /// Offset in bytes of the first byte of the range, from the start of the record.
    pub start: u32,
    /// Offset after the last byte of the range.
    pub end: u32,
    /// Number of occurrences in this component; at least 1.
    pub count: u32,
    /// What else the rule found.
    pub detail: Detail,
}

/// What a rule found besides a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Nothing.
    None,
    /// Why the record is invalid.
    Error(UriError),
    /// The service expected on the port.
    Service(&'static str),
    /// The address that the host means.
    Address(IpAddr),
    /// The host that other clients see, or that the host resembles; the name of the secret.
    Name(Box<str>),
}

impl Finding {
    /// Describes the finding in one sentence, without the secrets themselves.
    ///
    /// ```
    /// use uriscan::audit::{RuleSet, audit};
    /// let mut findings = Vec::new();
    /// audit(b"http://0x7f.1/", RuleSet::named("7.4").unwrap(), &mut findings);
    /// assert_eq!(findings[0].message(), "IPv4 address in a rare form: 127.0.0.1");
    /// ```
    pub fn message(&self) -> String {
        let mut message = self.rule.title().to_owned();
        match &self.detail {
            Detail::None => {}
            Detail::Error(error) => message += &format!(": {}", error.kind.message()),
            Detail::Service(name) => message += &format!(": {name}"),
            Detail::Address(address) => message += &format!(": {address}"),
            Detail::Name(name) => message += &format!(": {name}"),
        }
        if self.count > 1 {
            message += &match self.detail {
                Detail::None => format!(" ({} times)", self.count),
                _ => format!(" (one of {})", self.count),
            };
        }
        message
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at bytes {}-{}: {}", self.rule, self.start, self.end, self.message())
    }
}

/// Collects findings: of the selected rules, one each per component.
struct Found<'a> {
    rules: RuleSet,
    findings: &'a mut Vec<Finding>,
    /// Findings before this index belong to earlier components.
    component: usize,
    /// The secrets that rules have found, in order, and how severe that is, whether these are selected or not.
    secrets: Vec<(Range<usize>, Severity)>,
    /// Only those with the rule and the detail of one of these are collected, each once, also of placeholders.
    only: Option<&'a [Finding]>,
}

impl<'a> Found<'a> {
    /// Replaces `findings` by those of `rules`.
    fn new(rules: RuleSet, findings: &'a mut Vec<Finding>) -> Found<'a> {
        findings.clear();
        Found { rules, findings, component: 0, secrets: Vec::new(), only: None }
    }

    /// Starts the next component.
    fn next_component(&mut self) {
        self.component = self.findings.len();
    }

    fn add(&mut self, rule: Rule, range: Range<usize>, detail: Detail) {
        self.add_as(rule, rule.severity(), range, detail);
    }

    /// Adds `secret`, which begins at byte `start` of the record, unless it is a placeholder.
    fn add_secret(
        &mut self,
        (rule, severity): (Rule, Severity),
        secret: &[u8],
        start: usize,
        detail: Detail,
    ) {
        if self.only.is_some() || !placeholder::is_placeholder(secret) {
            let range = start..start + secret.len();
            self.secrets.push((range.clone(), severity));
            self.add_as(rule, severity, range, detail);
        }
    }

    fn add_as(&mut self, rule: Rule, severity: Severity, range: Range<usize>, detail: Detail) {
        if self.only.is_none() && !self.rules.reports(rule, severity) {
            return;
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (start, end) = (offset(range.start), offset(range.end));
        let finding = Finding { rule, severity, start, end, count: 1, detail };
        if let Some(only) = self.only {
            let is_among = |all: &[Finding]| {
                all.iter().any(|it| it.rule == rule && it.detail == finding.detail)
            };
            if is_among(only) && !is_among(self.findings) {
                self.findings.push(finding);
            }
            return;
        }
        match self.findings[self.component..].iter_mut().find(|same| same.rule == rule) {
            // The most severe place is shown, the first of several.
            Some(same) => {
                let count = same.count.saturating_add(1);
                if same.severity < severity {
                    *same = finding;
                }
                same.count = count;
            }
            None => self.findings.push(finding),
        }
    }
}
