//! Explains the canonical form of a URI, and why two URIs are equivalent or not.
//!
//! [`explain`] performs the steps of the reference path one by one and records the changes of each.
//! [`compare`] finds the lowest level at which two URIs are equivalent, with the steps that make
//! them so; for two that are equivalent at no level, it finds where their forms differ, and the
//! reason why no level removes the difference.
//!
//! This is for people and for reports, some hundred times slower than [`crate::normalize()`], which
//! defines the result: a test checks that every explanation ends in it.

pub use uriscan_core::explain::{
    Change, Comparer, Comparison, Component, Difference, Explanation, LONGEST, Merger, Reason,
    STEPS, Step, compare, compare_with_rules, explain, explain_with_rules, mergers,
};
