//! Read, index, parse, key, deduplicate, write: in parallel, in order.
//!
//! Each function takes sources and a writer and returns a [`Report`]. The output
//! does not depend on the number of threads, the backend, or the size of the chunks.

mod added;
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
mod explain;
mod extract;
mod faults;
mod fields;
mod firsts;
mod forecast;
mod gathered;
mod input;
mod invalid;
mod ladder;
mod limit;
mod lines;
mod links;
mod list;
mod long;
mod map;
mod members;
mod mergers;
mod numbered;
mod on_set;
mod options;
mod parse;
mod pending;
mod report;
mod reread;
mod resolve;
mod rfc2396;
mod row_job;
mod rows;
mod sample;
mod scan;
mod settings;
mod single;
mod slot;
mod stored;
mod survey;
mod top;
mod value;
mod writer;

use crate::error::{Error, ErrorKind};
pub use crate::survivors::{Keep, MemoryLimit, Seen, Select};
pub use added::{check_rows, extract_rows};
pub use aliases::{AliasFault, Aliases};
pub use audit::{AuditFormat, AuditOptions, FindingCounts, audit, redact};
pub use census::{Census, CensusOptions, LevelCensus, RulesCensus, census};
pub use check::{CheckFormat, check};
pub use classes::{class_rows, classes, classes_unseen};
pub use dedup::{dedup, dedup_by_shape, dedup_rows, dedup_unseen};
pub use equivalence::Equivalence;
pub(crate) use equivalence::{Canonicalizer, Scratch};
pub use explain::{ExplainFormat, ExplainOptions, explain, explain_one, explain_pair};
pub use extract::{LinkFormat, LinkShape, extract};
pub use invalid::OnInvalid;
pub(crate) use invalid::reason;
pub(crate) use links::cut as cut_documents;
pub use links::{Entities, ExtractOptions};
pub use list::{Skipped, fields_of, links_of, records_of, values_of};
pub use map::{keys, normalize, surts};
pub use members::{MemberOptions, collect, first_seen, first_seen_rows, member_rows, members};
pub use on_set::SetDeduplicator;
pub use options::{ClassOptions, ClassRows, DedupOptions, Emit};
pub use parse::{RowFormat, parse};
pub(crate) use pending::Pending;
pub use report::{Invalid, Report};
pub use resolve::{Against, ResolveOptions, SameDocument, resolve};
pub use rfc2396::{LegacyQuestion, inspect_rfc2396};
pub use rows::RowOptions;
pub use sample::ByShape;
pub(crate) use scan::row_at;
pub use settings::{Settings, Sinks};
pub use single::{Deduplicator, dedup_text};
pub use stored::StoredError;
pub use survey::{
    Fault, FindingExample, Frequency, Groups, LargestOf, Lengths, MergeLevel, MergeStep, Overview,
    Survey, SurveyOptions, Trap,
};
pub use top::{By, Top, TopOptions, TopRow, TopTable, UnknownPart, top};
#[cfg(feature = "tables")]
pub(crate) use value::push_value;
pub(crate) use writer::{Origins, RecordWriter};
