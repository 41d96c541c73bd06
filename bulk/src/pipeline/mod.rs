//! Read, index, parse, key, deduplicate, write: in parallel, in order.
//!
//! Each function takes sources and a writer and returns a [`Report`]. The output
//! does not depend on the number of threads, the backend, or the size of the chunks.

mod compare;
mod engine;
mod groups;
mod job;
mod params;
mod report;
mod source;
mod survey;
mod value;

use crate::error::{Error, ErrorKind};
pub use crate::survivors::{Keep, MemoryLimit, Seen, Select};
pub use compare::aliases::{AliasFault, Aliases};
pub use compare::equivalence::Equivalence;
#[doc(hidden)]
pub use compare::equivalence::{Canonicalizer, Scratch};
#[doc(hidden)]
pub use compare::ladder::{Ladder, levels};
pub use engine::class_row::{ClassRow, ClassSink, TakeRows};
pub use engine::invalid::OnInvalid;
#[doc(hidden)]
pub use engine::invalid::reason;
pub use engine::options::{ClassOptions, DedupOptions, Emit};
#[doc(hidden)]
pub use engine::pending::Pending;
pub use engine::rows::RowOptions;
#[doc(hidden)]
pub use engine::scan::row_at;
pub use engine::settings::{Settings, Sinks};
pub use engine::stored::StoredError;
#[doc(hidden)]
pub use engine::writer::{Origins, RecordWriter};
pub use groups::classes::{class_rows, classes, classes_unseen};
pub use groups::dedup::{dedup, dedup_by_shape, dedup_rows, dedup_unseen};
pub use groups::members::{
    MemberOptions, collect, first_seen, first_seen_rows, member_rows, members,
};
pub use groups::on_set::SetDeduplicator;
pub use groups::sample::ByShape;
pub use groups::single::{Deduplicator, dedup_text};
pub use job::added::{check_rows, extract_rows};
pub use job::audit::{AuditFormat, AuditOptions, FindingCounts, audit, redact};
pub use job::census::{Census, CensusOptions, LevelCensus, RulesCensus, census};
pub use job::check::{CheckFormat, check};
pub use job::explain::{ExplainFormat, ExplainOptions, explain, explain_one, explain_pair};
pub use job::extract::{LinkFormat, LinkShape, extract};
pub use job::map::{keys, normalize, surts};
pub use job::parse::{RowFormat, parse};
pub use job::resolve::{Against, ResolveOptions, SameDocument, resolve};
pub use job::rfc2396::{LegacyQuestion, inspect_rfc2396};
pub use job::top::{By, Top, TopOptions, TopRow, TopTable, UnknownPart, top};
pub use report::{Invalid, Report};
pub use source::kept::records_of;
#[doc(hidden)]
pub use source::links::cut as cut_documents;
pub use source::links::{Entities, ExtractOptions};
pub use source::list::{Skipped, fields_of, links_of, values_of};
pub use survey::{
    Fault, FindingExample, Frequency, Groups, LargestOf, Lengths, MergeLevel, MergeStep, Overview,
    Survey, SurveyOptions, Trap,
};
#[doc(hidden)]
pub use value::{push_field, push_value};
