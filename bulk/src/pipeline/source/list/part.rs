//! The records of a chunk as a part of a list: links, and values of rows.

use std::ops::Range;

use crate::io::read::origins::RecordOrigin;
use crate::io::{Chunk, Shape};
use crate::pipeline::Settings;
use crate::pipeline::engine::batches::PART_BYTES;
use crate::pipeline::engine::lines::Lines;
use crate::pipeline::engine::rows::RowFinder;
use crate::pipeline::source::links::{Entities, of_chunk};
use crate::pipeline::value::{push_field, push_value};
use uriscan_core::extract::{Extractor, Filtered, Links, Room};
use uriscan_core::grammar::has_reference;
use uriscan_core::index::trimmed;
use uriscan_core::repair::decode;
use uriscan_core::row;
use uriscan_core::simd::{Isa, Task};

/// The records of a chunk.
#[derive(Default)]
pub(super) struct Part {
    pub(super) chunk: Chunk,
    pub(super) links: Links,
    /// The number of the next link; those before it are in `out`, or have been read.
    pub(super) next: usize,
    pub(super) out: Vec<u8>,
    /// An origin for each line of `out`.
    pub(super) origins: Vec<RecordOrigin>,
    /// The records of the chunk, or its rows, that a filter does not keep.
    pub(super) filtered: Filtered,
    /// The rows, if they are those of a table.
    pub(super) rows: row::FoundRows,
}

/// Makes the list of the links of a chunk.
pub(super) struct Fill<'a> {
    pub(super) settings: &'a Settings,
    pub(super) extractor: &'a Extractor,
    pub(super) part: &'a mut Part,
    pub(super) room: Room,
    /// Whether origins are noted, and which links are decoded.
    pub(super) how: (bool, Entities),
}

impl Task for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Fill { settings, extractor, part, room, how } = self;
        let Part { chunk, links, next, .. } = &mut *part;
        links.clear();
        *next = 0;
        if chunk.shape == Shape::Records {
            of_chunk(isa, settings.kernels, extractor, chunk, room, links);
        }
        part.take_links(settings.record_end, how);
    }
}

/// Makes the list of the URIs of the rows of a chunk, and of the values of other columns.
pub(super) struct FillValues<'a> {
    pub(super) finder: &'a RowFinder,
    /// For each field after the URI whether it is a column, and not empty.
    pub(super) fields: &'a [bool],
    pub(super) part: &'a mut Part,
    pub(super) record_end: u8,
}

impl Task for FillValues<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let FillValues { finder, fields, part, record_end } = self;
        let Part { chunk, out, rows, filtered, .. } = part;
        out.clear();
        rows.clear();
        if chunk.shape != Shape::Records {
            return;
        }
        let len = chunk.text.padded().len();
        *filtered += &finder.find(isa, chunk, rows);
        let text = chunk.text.padded().content();
        let ended_by = |is_last: bool| if is_last { record_end } else { b'\t' };
        for (i, value) in rows.values.iter().enumerate() {
            push_value(value.of(text), record_end, ended_by(fields.is_empty()), out);
            if fields.is_empty() {
                continue;
            }
            let mut values = rows.others.values(i);
            for (field, is_column) in (1..).zip(fields) {
                let value = if *is_column { values.next().unwrap_or_default() } else { b"" };
                push_field(trimmed(value), ended_by(field == fields.len()), out);
            }
        }
        if !finder.has_filter() {
            out.extend(std::iter::repeat_n(record_end, rows.blank as usize));
        }
        chunk.text.set_len(len);
    }
}

impl Part {
    /// Makes lines of the next links, and notes the origins of these.
    pub(super) fn take_links(&mut self, record_end: u8, (has_origins, entities): (bool, Entities)) {
        let Part { chunk, links, next, out, .. } = self;
        let first = *next;
        out.clear();
        for (link, uri) in links.iter(chunk.text.padded().content()).skip(first) {
            if out.len() > PART_BYTES {
                break;
            }
            match entities.are_decoded_in(link.context) {
                true => out.extend_from_slice(&decode(uri)),
                false => out.extend_from_slice(uri),
            }
            out.push(record_end);
            *next += 1;
        }
        if has_origins {
            self.note_links(first..self.next, record_end, entities);
        }
    }

    /// Notes the origins of the links with these numbers.
    fn note_links(&mut self, numbers: Range<usize>, record_end: u8, entities: Entities) {
        let Part { chunk, links, origins, .. } = self;
        let text = chunk.text.padded().content();
        let line_end = chunk.kind.format.line_end(record_end);
        let mut lines = Lines::new(text, chunk.line, line_end);
        for (link, uri) in links.iter(text).take(numbers.end).skip(numbers.start) {
            let start = link.span.start as usize;
            let (line, line_start) = lines.of(start);
            let is_decoded = entities.are_decoded_in(link.context) && has_reference(uri);
            let origin = RecordOrigin {
                line,
                indent: (start - line_start) as u64,
                byte: chunk.byte + start as u64,
                context: Some(link.context),
                is_literal: !is_decoded && link.span.of(text) == uri,
            };
            // A value that is taken whole may have line ends.
            let lines = 1 + memchr::memchr_iter(record_end, uri).count();
            origins.extend(std::iter::repeat_n(origin, lines));
        }
    }
}
