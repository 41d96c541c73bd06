//! Rules beyond the RFC, all off by default.
//!
//! A [`RuleSet`] maps the canonical form of a URI to a form that represents more URIs: without
//! session ids, tracking parameters, `www.` and so on, as its rules define. [`RuleSet::apply`] is
//! the fast path; [`RuleSet::steps`] is the reference path, which records the changes of each rule.
//! Both give the same bytes.
//!
//! - Rules are applied in the order of [`Rule::ALL`], whatever the order in which they were added.
//!   `path-prefix`, `index-page`, `extension` and `trailing-slash` alternate until none changes anything.
//! - Rules change `http` and `https` URIs with an authority; other URIs are changed only by
//!   `fragment` and `anchor`.
//! - The query of a route, a fragment that begins with `/` or `!`, is changed as that of the URI.
//! - Parameters are separated by `&`; `;` has no special meaning. Names are compared as bytes of
//!   the canonical form, without decoding. Values matter to `session-id` only. The remaining
//!   parameters keep their order unless `sort-query` is on. If all parameters are dropped, so is
//!   the `?`.
//! - A path that holds dot segments, as it may at level `string`, is not changed.
//! - Hosts of rules files are compared with the host after `host-dot`, `www` and `host-alias`, without a final dot.
//! - Rules of a site apply to the host that the others have made; of several sites that match it a later one overrides.

pub use uriscan_core::rules::{
    Action, Argument, Builder, GRAMMAR_VERSION, Identity, Included, Override,
    PUBLIC_SUFFIX_VERSION, Pattern, Place, Preset, Rule, RuleError, RuleSet, Rules, RulesFile,
    RulesFileError, Scratch, SiteRules, Step, public_suffix, registrable_domain,
};
