//! Formats records and classes: results, omitted records, and classes as JSON.

use std::borrow::Cow;
use std::sync::Arc;

use super::class_row::{ClassRow, ClassSink};
use super::invalid::{LongRecord, push_record};
use super::long::long_record_key;
use crate::io::write::explanation::RULES;
use crate::io::write::json;
use crate::io::write::row::push_decimal;
use crate::pipeline::compare::equivalence::Canonicalizer;
use crate::pipeline::compare::ladder::{Ladder, levels};
use crate::pipeline::engine::fields::RowFields;
use crate::pipeline::{ClassOptions, DedupOptions, Emit, Equivalence, Settings};
use crate::survivors::{ClassMode, ClassSession, ClassWriter, Select};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::explain::{self, Comparer, Step};
use uriscan_core::key::{Key, PublicHasher};
use uriscan_core::normalize::{FormBuffer, Level};
use uriscan_core::row::PassedRow;
use uriscan_core::rules::Rules;
use uriscan_core::simd::Kernels;

/// The sources of records, by the positions of these.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    names: Vec<String>,
    /// The sources with records, each with the position of its first one, in order.
    starts: Vec<(u64, usize)>,
}

impl Origins {
    /// Sources of these names.
    pub(crate) fn new(names: Vec<String>) -> Origins {
        Origins { names, starts: Vec::new() }
    }

    /// Starts a source called `name` at `position`.
    pub fn begin(&mut self, position: u64, name: &str) {
        self.starts.push((position, self.names.len()));
        self.names.push(name.to_owned());
    }

    /// Records that `position` and those after it are in the source of this number.
    pub(crate) fn note(&mut self, position: u64, source: usize) {
        if self.starts.last().is_none_or(|&(_, last)| last != source) {
            self.starts.push((position, source));
        }
    }

    /// The name of the source of the record at `position`, and the number of its line in it, counted from 1.
    fn line(&self, position: u64) -> (&str, u64) {
        let after = self.starts.partition_point(|&(start, _)| start <= position);
        // The first source with records starts at 0.
        let (start, source) = self.starts[after - 1];
        (&self.names[source], position - start + 1)
    }
}

/// Formats records.
#[derive(Clone, Debug)]
pub struct RecordWriter {
    equivalence: Equivalence,
    /// The equivalences of the levels, without rules.
    levels: Vec<Equivalence>,
    emit: Emit,
    /// Makes public keys, if they are written.
    public: Option<PublicHasher>,
    select: Select,
    has_counts: bool,
    /// Whether omitted records are rows, and whether the members of classes are.
    dupe_rows: bool,
    member_rows: bool,
    /// Makes the keys of rows, if there are any.
    row_hasher: Option<PublicHasher>,
    kernels: Kernels,
    record_end: u8,
    redact: bool,
    /// How rows of tables are written, if records are rows.
    table: Option<TableRows>,
    /// Whether records are values, which may have line ends.
    has_values: bool,
    /// The sources of the records, once they are known.
    pub origins: Origins,
}

/// How rows of tables are written.
#[derive(Clone, Debug)]
pub(crate) struct TableRows {
    /// The field that is added: the number of rows of a class.
    pub(crate) count: Option<Arc<RowFields>>,
    /// Whether the texts of records are rows after their URIs.
    pub(crate) has_uris: bool,
}

impl TableRows {
    /// The URI in the `text` of a record, and the row.
    fn split<'t>(&self, text: &'t [u8]) -> (&'t [u8], &'t [u8]) {
        if self.has_uris { ClassMode::split_key(text) } else { (text, text) }
    }
}

impl RecordWriter {
    /// Formats the first record of each class, as `options` specify; their hasher must make public keys if these are written.
    pub(crate) fn of_firsts(options: &DedupOptions, settings: &Settings) -> RecordWriter {
        RecordWriter {
            equivalence: options.equivalence.clone(),
            levels: levels(&options.equivalence),
            emit: options.emit,
            public: options.hasher.public_hasher().cloned(),
            select: Select::All,
            has_counts: false,
            dupe_rows: false,
            member_rows: false,
            row_hasher: None,
            kernels: settings.kernels,
            record_end: settings.record_end,
            redact: settings.redact,
            table: None,
            has_values: false,
            origins: Origins::default(),
        }
    }

    /// Formats values of columns.
    pub fn of_values(self) -> RecordWriter {
        RecordWriter { has_values: true, ..self }
    }

    /// Formats rows of tables.
    pub(crate) fn of_table(self, table: TableRows) -> RecordWriter {
        RecordWriter { has_counts: false, table: Some(table), ..self }
    }

    /// Appends a row of a class of `count` rows.
    pub(crate) fn push_row(&self, row: &[u8], count: u64, out: &mut Vec<u8>) {
        if let Some(fields) = self.count_field() {
            return fields.push(row, out, |fields| fields.number(count));
        }
        out.extend_from_slice(row);
        out.push(b'\n');
    }

    /// Appends the row at its place in `text`, which is in no class; one is the `header`.
    pub(crate) fn push_passed(
        &self,
        (passed, header): (PassedRow, Option<Span>),
        text: &[u8],
        out: &mut Vec<u8>,
    ) {
        match self.count_field() {
            Some(fields) if header == Some(passed.row) => {
                fields.push_header(passed.row.of(text), out);
            }
            Some(fields) => fields.push_passed(passed, text, out),
            None => {
                out.extend_from_slice(passed.row.of(text));
                out.push(b'\n');
            }
        }
    }

    fn count_field(&self) -> Option<&RowFields> {
        self.table.as_ref()?.count.as_deref()
    }

    /// The URI in the `text` of a record.
    fn uri<'t>(&self, text: Prefix<'t>) -> Prefix<'t> {
        self.table.as_ref().map_or(text, |table| table.split(text.bytes()).0.into())
    }

    /// Formats classes, as `options` specify, and as `sides`, the sinks of omitted records and of classes, take them.
    pub fn of_classes(
        options: &ClassOptions,
        settings: &Settings,
        origins: Origins,
        sides: [Option<&ClassSink<'_>>; 2],
    ) -> RecordWriter {
        let ClassOptions { dedup, select, count: has_counts, .. } = options;
        let [dupe_rows, member_rows] = sides.map(|sink| sink.is_some_and(ClassSink::takes_rows));
        let has_rows = dupe_rows || member_rows;
        RecordWriter {
            select: *select,
            has_counts: *has_counts,
            dupe_rows,
            member_rows,
            row_hasher: has_rows.then(|| dedup.equivalence.public_hasher(dedup.hash)),
            origins,
            ..RecordWriter::of_firsts(dedup, settings)
        }
    }

    /// Whether omitted records are rows, which say where the records are.
    pub(crate) fn has_dupe_rows(&self) -> bool {
        self.dupe_rows
    }

    /// Whether records are rows of tables.
    pub(crate) fn is_of_table(&self) -> bool {
        self.table.is_some()
    }

    /// Which classes are written.
    pub(crate) fn select(&self) -> Select {
        self.select
    }

    /// Formats results, one after the other.
    pub(crate) fn results(&self) -> Results<'_> {
        Results { writer: self, forms: Canonicalizer::new(&self.equivalence, self.kernels) }
    }

    /// A record as it is shown.
    fn masked<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if !self.redact {
            return Cow::Borrowed(text);
        }
        let mut masked = Vec::with_capacity(text.len());
        push_record(text, true, &mut masked);
        Cow::Owned(masked)
    }

    /// Appends the number of records, right-aligned as by `uniq -c`, if counts are written.
    #[inline]
    pub(crate) fn push_count(&self, count: u64, out: &mut Vec<u8>) {
        const WIDTH: usize = 7;
        if !self.has_counts {
            return;
        }
        if count < 10 {
            // Nearly all.
            out.extend_from_slice(&[b' ', b' ', b' ', b' ', b' ', b' ', b'0' + count as u8, b' ']);
            return;
        }
        let digits = count.ilog10() as usize + 1;
        out.extend(std::iter::repeat_n(b' ', WIDTH.saturating_sub(digits)));
        push_decimal(count, out);
        out.push(b' ');
    }

    /// What is written for an overlong record.
    pub(crate) fn long_record(&self) -> LongRecord {
        let mut head = Vec::new();
        self.push_count(1, &mut head);
        match self.emit {
            Emit::Key => {
                head.extend(long_record_key(self.record_end));
                LongRecord::Row(head)
            }
            Emit::Original | Emit::Normalized => LongRecord::AsIs { head },
        }
    }

    /// Appends the class of an overlong record of `bytes`.
    pub fn push_long_cluster(&self, position: u64, bytes: u64, out: &mut Vec<u8>) {
        let ((source, line), level) = (self.origins.line(position), Level::String.name());
        if !self.member_rows {
            return json::long_cluster(source, line, bytes, level, out);
        }
        let row = ClassRow { source, line, count: 1, level, ..ClassRow::default() };
        ClassRow { bytes: Some(bytes), ..row }.push(out);
    }
}

/// Formats results; owns the buffers.
pub(crate) struct Results<'w> {
    writer: &'w RecordWriter,
    forms: Canonicalizer<&'w Equivalence>,
}

impl Results<'_> {
    /// [`Results::push`] of the record at `span` of a chunk.
    #[inline]
    pub(crate) fn push_in(&mut self, text: Padded<'_>, span: Span, count: u64, out: &mut Vec<u8>) {
        /// Bytes that are copied without asking for the length; what is too much is cut off.
        const ROOM: usize = 128;
        let RecordWriter { emit, redact, has_counts, record_end, .. } = *self.writer;
        let (start, len) = (span.start as usize, span.len());
        if emit != Emit::Original || redact || count >= 10 || len > ROOM {
            return self.push(span.of(text.content()), count, out);
        }
        let before = if has_counts { 8 } else { 0 };
        let digit = b'0' + count as u8;
        let line = out.len() + before;
        out.extend_from_slice(&[b' ', b' ', b' ', b' ', b' ', b' ', digit, b' ']);
        out.truncate(line);
        out.extend_from_slice(&text.padded()[start..start + ROOM]);
        out.truncate(line + len);
        out.push(record_end);
    }

    /// Appends the line for the kept record of a class of `count` records.
    pub(crate) fn push(&mut self, kept: &[u8], count: u64, out: &mut Vec<u8>) {
        let RecordWriter { equivalence, redact, table, .. } = self.writer;
        if let Some(table) = table {
            return self.writer.push_row(table.split(kept).1, count, out);
        }
        self.writer.push_count(count, out);
        match self.writer.emit {
            Emit::Original => push_record(kept, *redact, out),
            Emit::Normalized => {
                push_record(equivalence.aliased(self.forms.form(kept)), *redact, out);
            }
            Emit::Key => {
                let form = equivalence.aliased(self.forms.form(kept));
                if let Some(public) = &self.writer.public {
                    public.key(form).write_hex(out);
                }
            }
        }
        out.push(self.writer.record_end);
    }
}

impl ClassWriter for RecordWriter {
    fn select(&self) -> Select {
        self.select
    }

    fn session(&self) -> Box<dyn ClassSession + '_> {
        let Equivalence { normalize, rules, aliases, .. } = &self.equivalence;
        let has_rules = rules.is_some() || normalize.drop_fragment;
        let is_by_forms = self.equivalence.is_plain() && aliases.is_none();
        let explains_all = has_rules && is_by_forms;
        let ladder = Ladder::new(&self.levels, has_rules && !explains_all, self.kernels);
        let comparer = Comparer::new(*normalize, rules.as_deref());
        Box::new(Classes {
            results: self.results(),
            ladder,
            comparer,
            explains_all,
            has_levels_only: is_by_forms && !has_rules,
            class: (0, None),
        })
    }
}

/// Formats classes; owns the buffers.
struct Classes<'w> {
    results: Results<'w>,
    ladder: Ladder<'w>,
    comparer: Comparer<'w>,
    /// Whether there are rules, and nothing but them and levels makes records equivalent: then the comparer decides what
    /// does, and the ladder finds levels without asking for rules.
    explains_all: bool,
    /// Whether nothing but levels makes records equivalent.
    has_levels_only: bool,
    /// The number of records of the class whose members are written as rows, and their key.
    class: (u64, Option<Key>),
}

impl Classes<'_> {
    /// The name of the lowest level at which a record and the kept one are equivalent, or [`RULES`] where no level is enough,
    /// and a minimal set of rules that make them so; there is none where records are compared by another grammar.
    fn merged_at(&mut self, record: Prefix<'_>, kept: Prefix<'_>) -> (&'static str, Rules) {
        if !self.explains_all
            && let Some(level) = self.ladder.level(record, kept)
        {
            return (level.name(), Rules::default());
        }
        let rules = self.targets(record, kept, |comparer, a, b| comparer.necessary(a, b));
        let level = match rules {
            Some(rules) if self.explains_all && rules.is_empty() => self.ladder.level(record, kept),
            _ => None,
        };
        (level.map_or(RULES, Level::name), rules.unwrap_or_default())
    }

    /// The same, with the steps in place of the rules.
    fn merged_by(
        &mut self,
        record: Prefix<'_>,
        kept: Prefix<'_>,
    ) -> (&'static str, Vec<&'static Step>) {
        let is_long = record.len().max(kept.len()) > explain::LONGEST;
        if is_long || record.bytes() == kept.bytes() {
            return (self.merged_at(record, kept).0, Vec::new());
        }
        if self.has_levels_only
            && let Some(level) = self.ladder.level(record, kept)
        {
            let steps = self.targets(record, kept, |it, a, b| it.steps_at(a, b, level));
            return (level.name(), steps);
        }
        let merged = self.targets(record, kept, |it, a, b| it.merged_by(a, b));
        let (level, steps) =
            merged.map_or((None, Vec::new()), |(level, steps)| (Some(level), steps));
        let has_rules = steps.iter().any(|step| step.level.is_none());
        let merged_at = match level {
            _ if !self.explains_all => self.merged_at(record, kept).0,
            Some(level) if !has_rules => level.name(),
            _ => RULES,
        };
        (merged_at, steps)
    }

    /// What `compare` finds out about the targets of the two.
    fn targets<T>(
        &mut self,
        record: Prefix<'_>,
        kept: Prefix<'_>,
        compare: impl FnOnce(&mut Comparer<'_>, &[u8], &[u8]) -> T,
    ) -> T {
        let equivalence = &self.results.writer.equivalence;
        let [record, kept] = [record, kept].map(Prefix::bytes);
        compare(&mut self.comparer, &equivalence.target(record), &equivalence.target(kept))
    }

    /// Appends what a row of an omitted record says of it: `seen` without a kept record, or what [`Classes::merged_at`]
    /// finds, as `rules:www+trailing-slash`.
    fn push_why(&mut self, record: Prefix<'_>, kept: Option<Prefix<'_>>, out: &mut Vec<u8>) {
        let Some(kept) = kept else { return out.extend_from_slice(b"seen") };
        let (name, rules) = self.merged_at(record, kept);
        out.extend_from_slice(name.as_bytes());
        if rules.is_empty() {
            return;
        }
        for (i, rule) in rules.iter().enumerate() {
            out.push(if i == 0 { b':' } else { b'+' });
            out.extend_from_slice(rule.name().as_bytes());
        }
    }

    /// Appends the line or the row of an omitted record.
    fn push_dupe(
        &mut self,
        position: u64,
        record: Prefix<'_>,
        kept: Option<Prefix<'_>>,
        out: &mut Vec<u8>,
    ) {
        let writer = self.results.writer;
        let &RecordWriter { redact, record_end, .. } = writer;
        if writer.dupe_rows {
            let mut why = Vec::new();
            self.push_why(record, kept, &mut why);
            let (record, kept) = (record.bytes(), kept.map(Prefix::bytes));
            let key = self.key(record);
            let kept = kept.map(|kept| writer.masked(kept));
            let ((source, line), record) = (writer.origins.line(position), writer.masked(record));
            let level = str::from_utf8(&why).unwrap_or_default();
            let (record, kept) = (Some(&*record), kept.as_deref());
            let row = ClassRow { source, line, record, kept, level, key, ..ClassRow::default() };
            return row.push(out);
        }
        let is_table = writer.is_of_table();
        let push = |text: Prefix<'_>, out: &mut Vec<u8>| match is_table || writer.has_values {
            true => push_record(&on_one_line(text.bytes(), is_table), redact, out),
            false if redact => push_record(text.bytes(), redact, out),
            false => text.append_to(out),
        };
        push(record, out);
        out.push(b'\t');
        if let Some(kept) = kept {
            push(kept, out);
        }
        out.push(b'\t');
        self.push_why(record, kept, out);
        out.push(record_end);
    }

    /// The public key of a record, if there are rows.
    fn key(&mut self, record: &[u8]) -> Option<Key> {
        let RecordWriter { equivalence, row_hasher, .. } = self.results.writer;
        let form = equivalence.aliased(self.results.forms.form(record));
        row_hasher.as_ref().map(|hasher| hasher.key(form))
    }
}

/// The value in a line of `--dupes`. One of a text table may have line ends and tabs, which would make lines of their
/// own, and no URI has them: they are percent-encoded. A record of a list has no line end, and its tabs stay.
fn on_one_line(record: &[u8], is_of_table: bool) -> Cow<'_, [u8]> {
    let is_special = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\t');
    let is_apart = match is_of_table {
        true => !record.iter().any(is_special),
        false => memchr::memchr(b'\n', record).is_none(),
    };
    if is_apart {
        return Cow::Borrowed(record);
    }
    let mut line = Vec::with_capacity(record.len() + 8);
    for byte in record {
        match byte {
            b'\n' => line.extend_from_slice(b"%0A"),
            b'\r' => line.extend_from_slice(b"%0D"),
            b'\t' => line.extend_from_slice(b"%09"),
            _ => line.push(*byte),
        }
    }
    Cow::Owned(line)
}

impl ClassSession for Classes<'_> {
    fn result(&mut self, kept: &[u8], count: u64, out: &mut Vec<u8>) {
        self.results.push(kept, count, out);
    }

    fn dupe(
        &mut self,
        position: u64,
        record: Prefix<'_>,
        kept: Option<Prefix<'_>>,
        out: &mut Vec<u8>,
    ) {
        let writer = self.results.writer;
        let (record, kept) = (writer.uri(record), kept.map(|text| writer.uri(text)));
        if kept.is_some_and(Prefix::is_empty) {
            let mut room: FormBuffer = [0; _];
            let Some(form) = self.results.forms.common_form(record, &mut room) else {
                let form = self.results.forms.form(record.bytes()).to_vec();
                return self.push_dupe(position, record, Some(Prefix::from(&form)), out);
            };
            return self.push_dupe(position, record, Some(form), out);
        }
        self.push_dupe(position, record, kept, out);
    }

    fn cluster_start(&mut self, kept: &[u8], count: u64, out: &mut Vec<u8>) {
        let kept = self.results.writer.uri(kept.into()).bytes();
        if self.results.writer.member_rows {
            self.class = (count, self.key(kept));
            return;
        }
        json::cluster_start(&self.results.writer.masked(kept), count, out);
    }

    fn cluster_member(&mut self, position: u64, member: &[u8], kept: &[u8], out: &mut Vec<u8>) {
        let writer = self.results.writer;
        let [member, kept] = [member, kept].map(|text| writer.uri(text.into()));
        let (level, steps) = self.merged_by(member, kept);
        let [member, kept] = [member, kept].map(Prefix::bytes);
        let ((source, line), member) = (writer.origins.line(position), writer.masked(member));
        if !writer.member_rows {
            return json::cluster_member((source, line), &member, level, &steps, out);
        }
        let ((count, key), kept) = (self.class, writer.masked(kept));
        let (record, kept) = (Some(&*member), Some(&*kept));
        let rules = steps.iter().map(|step| step.name).collect();
        ClassRow { source, line, record, bytes: None, kept, count, level, rules, key }.push(out);
    }

    fn cluster_end(&mut self, out: &mut Vec<u8>) {
        if !self.results.writer.member_rows {
            json::cluster_end(out);
        }
    }
}
