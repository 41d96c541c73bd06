//! An audit of references by section 7 of RFC 3986: what may cause harm, and why.
//!
//! [`audit`] checks one reference, component by component, and reports [`Finding`]s: a [`Rule`], a
//! [`Severity`], a range of bytes. A record that is not a URI-reference is checked too, split by
//! the expression of Appendix B, because parsers disagree about malformed input. For many,
//! the job of `uriscan-bulk` consults the index first and checks only records that may have
//! findings.
//!
//! A finding does not mean harm: nearly all URIs with an encoded slash are harmless. Rules report
//! what the RFC warns about; the caller selects those that matter, by [`RuleSet`] and severity.
//!
//! [`redact_into`] writes a reference with its passwords and secret-looking parameters masked.

pub use uriscan_core::audit::{
    Detail, Finding, MASK, Rule, RuleSet, SECRET_NAME_ENDS, SECRET_NAMES, Severity,
    TOKEN_BEGINNINGS, audit, inet_aton, redact_into,
};
