//! Floor 5: rules beyond the RFC, all off unless asked for.
//!
//! A [`RuleSet`] maps the canonical form of a URI to a canonical form that stands for more: without
//! session ids, tracking parameters, `www.` and so on, as its rules say. [`RuleSet::apply`] is the
//! path of bulk work, [`RuleSet::steps`] the slow one that says what each rule did; both give the same bytes.
//!
//! - Rules are applied in the order of [`Rule::ALL`], whatever the order in which they were given.
//!   `index-page` and `trailing-slash` take turns until neither finds anything.
//! - `http` and `https` URIs with an authority are touched, others only by `fragment`.
//! - Parameters stand between `&`; a `;` is a byte like any other. Names are compared as bytes of the
//!   canonical form, and nothing is decoded. Values matter to `session-id` only. What stays keeps its order
//!   unless `sort-query` is on. If all parameters go, the `?` goes with them.
//! - A path that holds dot segments, as it may at rung `string`, is left alone.
//! - Hosts of packs are compared with the host as `host-dot` and `www` leave it, without last dot.

mod exact;
mod fast;
mod glob;
mod hosts;
mod identity;
mod lookup;
mod names;
mod pack;
mod param;
mod params;
mod parts;
mod patterns;
mod preset;
mod query;
mod rule;
mod session;
mod set;

pub use exact::Step;
pub use fast::Scratch;
pub use hosts::PUBLIC_SUFFIX_VERSION;
pub use identity::{GRAMMAR_VERSION, Identity};
pub use names::Verdict;
pub use pack::{Included, Pack, PackError};
pub use param::{Pattern, Place};
pub use params::Override;
pub(crate) use parts::INDEX_PAGES;
pub use preset::Preset;
pub use rule::{Argument, Rule, Rules};
pub use set::{Builder, RuleError, RuleSet};
