//! Floor 8: read, index, parse, key, deduplicate, write: in parallel, in order.
//!
//! Each function takes sources and a writer and returns a [`Report`]. The output
//! does not depend on the number of threads, the backend, or the size of the chunks.

mod alias_file;
mod aliases;
mod audit;
mod batches;
mod census;
mod check;
mod classes;
mod dedup;
mod driver;
mod dupes;
mod equivalence;
mod error;
mod explain;
mod extract;
mod faults;
mod firsts;
mod forecast;
mod input;
mod invalid;
mod ladder;
mod limit;
mod links;
mod list;
mod long;
mod map;
mod members;
mod numbered;
mod options;
mod parse;
mod pending;
mod proof;
mod report;
mod reread;
mod resolve;
mod rfc2396;
mod row_job;
mod scan;
mod settings;
mod slot;
mod top;
mod writer;

pub use crate::survivors::{Keep, MemoryLimit, Seen, Select};
pub use aliases::{AliasFault, Aliases};
pub use audit::{AuditFormat, AuditOptions, FindingCounts, audit, redact};
pub use census::{Census, CensusOptions, RulesCensus, RungCensus, census};
pub use check::{CheckFormat, check};
pub use classes::{classes, classes_unseen};
pub use dedup::{dedup, dedup_unseen};
pub use equivalence::Equivalence;
#[cfg(feature = "arrow")]
pub(crate) use equivalence::Scratch;
pub use error::Error;
pub use explain::{ExplainFormat, ExplainOptions, explain, explain_one, explain_pair};
pub use extract::{LinkFormat, LinkShape, extract};
pub use invalid::OnInvalid;
pub use links::ExtractOptions;
pub use list::{Skipped, links_of, records_of};
pub use map::{keys, normalize, surts};
pub use members::{MemberOptions, collect, first_seen, members};
pub use options::{ClassOptions, ClassRows, DedupOptions, Emit};
pub use parse::{RowFormat, parse};
#[cfg(feature = "arrow")]
pub(crate) use pending::Pending;
#[cfg(feature = "parquet")]
pub(crate) use proof::Proof;
pub use report::{Invalid, Report};
pub use resolve::{Against, ResolveOptions, SameDocument, resolve};
pub use rfc2396::{LegacyQuestion, inspect_rfc2396};
pub use settings::{Settings, Sinks};
pub use top::{By, Fault, Lengths, Top, TopOptions, TopRow, TopTable, UnknownPart, top};
#[cfg(feature = "parquet")]
pub(crate) use writer::{Origins, RecordWriter};
