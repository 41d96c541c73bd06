//! The set of keys. It knows keys and row numbers, not what a URI is.
//!
//! Keys come in batches. Each chunk of a batch sorts its keys into partitions by their
//! top bits ([`Rows::partition`]); then every partition takes its keys of all chunks in
//! order, so that partitions run in parallel without sharing a slot, and "first"
//! always means the earliest row, whatever the number of threads.

#[cfg(feature = "bulk")]
mod approx;
mod classes;
#[cfg(feature = "bulk")]
mod counted;
mod numbered;
mod numbering;
#[cfg(feature = "bulk")]
mod parts;
mod rows;
mod set;
mod slots;
mod table;
#[cfg(feature = "bulk")]
mod tagged;
#[cfg(feature = "bulk")]
mod texts;

#[cfg(feature = "bulk")]
pub use approx::ApproxSet;
pub use classes::ProbedRun;
pub use classes::{Classes, Probed};
#[cfg(feature = "bulk")]
pub use counted::{Counted, CountedKeys};
pub use numbering::Numbering;
pub use rows::Rows;
pub use rows::remove_at;
pub use set::Set;
#[cfg(feature = "bulk")]
pub use tagged::TaggedSet;
#[cfg(feature = "bulk")]
pub use texts::{HeldTexts, Place};
