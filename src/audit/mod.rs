//! Floor 5: section 7 of RFC 3986 as an audit: what in a reference asks for trouble, and why.
//!
//! [`audit`] judges one reference, component by component, and gives [`Finding`]s: a [`Rule`], a
//! [`Severity`], a range of bytes. A record that is not a URI-reference is judged too, as the
//! expression of Appendix B splits it, since what is malformed is where parsers disagree. In bulk,
//! [`crate::pipeline::audit`] asks the index first and looks closely only where something may be.
//!
//! A finding is no verdict: nearly all URIs with an encoded slash are harmless. Rules report what
//! the RFC warns of; which of them matter is for the caller to say, by [`RuleSet`] and severity.
//!
//! [`redact_into`] writes a reference with its passwords and secret-looking parameters masked.

mod address;
#[cfg(test)]
mod cases;
mod encoded;
mod exact;
mod host;
mod path;
mod port;
pub(crate) mod quiet;
mod redact;
mod rule;
mod secret;
#[cfg(test)]
mod tests;

pub use address::inet_aton;
pub use exact::audit;
pub(crate) use exact::{audit_with, oversized};
pub(crate) use redact::each_secret;
pub use redact::{MASK, redact_into};
pub use rule::{Rule, RuleSet, Severity};
pub use secret::{ENDS as SECRET_NAME_ENDS, NAMES as SECRET_NAMES};

use core::fmt;
use core::net::IpAddr;
use core::ops::Range;

use crate::normalize::percent::{decoded, triplet};
use crate::uri::UriError;

/// Something in a reference that a rule warns of.
///
/// A rule reports at most one finding in each component, with the range of the first occurrence and
/// the number of all, so a hostile record cannot give more than a few dozen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// What it weighs here.
    pub severity: Severity,
    /// Offset in bytes of the first byte in question from the start of the record.
    pub start: u32,
    /// Offset after the last byte in question.
    pub end: u32,
    /// How often the rule was met in this component; at least 1.
    pub count: u32,
    /// What the rule found out.
    pub detail: Detail,
}

/// What a rule found out beyond a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Nothing more.
    None,
    /// What makes the record invalid.
    Error(UriError),
    /// The service expected on the port.
    Service(&'static str),
    /// The address that the host stands for.
    Address(IpAddr),
    /// The host that others see, or that the host looks like; the name of the secret.
    Name(Box<str>),
}

impl Finding {
    /// One sentence for people: what was found, without the secrets themselves.
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
            message += &format!(" ({} times)", self.count);
        }
        message
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at bytes {}-{}: {}", self.rule, self.start, self.end, self.message())
    }
}

/// Takes findings down: of the rules that are wanted, one each per component.
struct Found<'a> {
    rules: RuleSet,
    findings: &'a mut Vec<Finding>,
    /// Findings before this one belong to components that are done with.
    component: usize,
}

impl Found<'_> {
    /// What comes now belongs to another component.
    fn next_component(&mut self) {
        self.component = self.findings.len();
    }

    fn add(&mut self, rule: Rule, range: Range<usize>, detail: Detail) {
        self.add_as(rule, rule.severity(), range, detail);
    }

    fn add_as(&mut self, rule: Rule, severity: Severity, range: Range<usize>, detail: Detail) {
        if !self.rules.has(rule) {
            return;
        }
        let same = self.findings[self.component..].iter_mut().find(|finding| finding.rule == rule);
        if let Some(finding) = same {
            finding.count = finding.count.saturating_add(1);
            return;
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (start, end) = (offset(range.start), offset(range.end));
        self.findings.push(Finding { rule, severity, start, end, count: 1, detail });
    }
}
