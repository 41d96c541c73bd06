//! Extracts links: a row per link, in order.

use crate::io::{Chunk, Source, escaped, write::link_row};
use crate::pipeline::engine::batches::PART_BYTES;
use crate::pipeline::engine::driver::{Drops, Job, Reading, run};
use crate::pipeline::engine::lines::Lines;
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::source::links::{self, ExtractOptions, LinkRow};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::extract::{self, Extractor, Links};
use uriscan_core::simd::{Isa, Kernels};
use uriscan_core::uri::parse;

/// The fields that are written for each link.
///
/// ```
/// use uriscan_bulk::pipeline::{LinkFormat, LinkShape};
/// let format = LinkFormat::default().line_number(true);
/// assert_eq!((format.shape, format.line_number), (LinkShape::Line, true));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct LinkFormat {
    /// The shape of a row.
    pub shape: LinkShape,
    /// Whether a line begins with the name of the source.
    pub with_filename: bool,
    /// Whether names are written with control characters escaped ([`crate::io::escaped`]), for terminals; otherwise they are
    /// written unchanged.
    pub escapes_names: bool,
    /// Whether it has the number of the line in the source, counted from 1.
    pub line_number: bool,
    /// Whether it has the offset of the link's first byte in the source, counted from 0; in compressed
    /// sources, the offset after decompression.
    pub byte_offset: bool,
    /// Whether it has the context of the link, as named by [`uriscan_core::extract::Context::name`].
    pub context: bool,
}

/// The shape of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkShape {
    /// The URI, after the fields that [`LinkFormat`] selects, separated by `:` as by `grep`.
    #[default]
    Line,
    /// A JSON object: `{"file":"a","line":1,"byte":0,"context":"text","uri":"http://h/"}`, always with all of
    /// them, and with what an entry of a log says about its request ([`uriscan_core::extract::Request`]). Bytes that are not UTF-8 become U+FFFD.
    Jsonl,
    /// No rows, but the number of links: one for all sources, or one for each after its name and `:`.
    Count,
}

/// Writes every link of `sources`, in order.
///
/// [`Report::written`] counts the links. [`Report::invalid`] counts relative references without a base, and lines longer
/// than [`Settings::max_record`] of which some members, columns or fields were to be searched, which are skipped; [`Report::records`] both. What else
/// is longer is searched in pieces, as text after the first one; [`Omitted::unparsed`](uriscan_core::extract::Omitted::unparsed) counts it unless all of it is text. With
/// [`ExtractOptions::count_invalid`], [`Report::invalid`] also counts the links that are written but not valid.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{ExtractOptions, LinkFormat, Settings, Sinks, extract}};
/// let text = Source::new("a", &b"See http://h/, or\n<http://h/x>.\n"[..]);
/// let mut out = Vec::new();
/// let format = LinkFormat::default().line_number(true);
/// extract(vec![text], &ExtractOptions::default(), format, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"1:http://h/\n2:http://h/x\n");
/// ```
///
/// # Errors
/// See [`Error`].
pub fn extract(
    sources: Vec<Source>,
    options: &ExtractOptions,
    format: LinkFormat,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let name = |source: &Source| match format.escapes_names && format.shape != LinkShape::Jsonl {
        true => escaped(&source.name).to_string(),
        false => source.name.clone(),
    };
    let names: Vec<String> = sources.iter().map(name).collect();
    let mut job = Extract {
        extractor: Extractor::new(options.extractor.clone().notes_requests(
            format.context || format.shape == LinkShape::Jsonl || options.extractor.notes_requests,
        )),
        kernels: settings.kernels,
        options,
        format,
        record_end: settings.record_end,
        per_source: vec![0; names.len()],
        names,
    };
    let report = run(&mut job, sources, settings, sinks)?;
    if format.shape == LinkShape::Count {
        let mut text = Vec::new();
        job.write_counts(&mut text);
        sinks.out.write_all(&text).and_then(|()| sinks.out.flush()).map_err(Error::write)?;
    }
    Ok(report)
}

/// The next link of a chunk to be written.
struct Next<'t> {
    link: usize,
    lines: Lines<'t>,
}

impl Next<'_> {
    /// Number `link` of the links of `chunk`.
    fn of(chunk: &Chunk, link: usize, record_end: u8) -> Next<'_> {
        let line_end = chunk.kind.format.line_end(record_end);
        Next { link, lines: Lines::new(chunk.text.padded().content(), chunk.line, line_end) }
    }
}

struct Extract<'a> {
    extractor: Extractor,
    kernels: Kernels,
    options: &'a ExtractOptions,
    format: LinkFormat,
    record_end: u8,
    names: Vec<String>,
    per_source: Vec<u64>,
}

impl Extract<'_> {
    /// Appends rows for the links of a chunk, from `next` on, until there are `most` bytes.
    #[inline(never)]
    fn rows(
        &self,
        chunk: &Chunk,
        links: &Links,
        next: &mut Next<'_>,
        most: usize,
        out: &mut Vec<u8>,
    ) {
        let text = chunk.text.padded().content();
        let format = self.format;
        if format == LinkFormat::default() {
            let text = (chunk.text.padded(), self.record_end);
            next.link = links.write_lines(text, next.link, most, out);
            return;
        }
        let needs_line = format.line_number || format.shape == LinkShape::Jsonl;
        let source = &self.names[chunk.source];
        let Next { link: number, lines } = next;
        for (link, uri) in links.iter_from(*number, text) {
            if out.len() > most {
                return;
            }
            *number += 1;
            let start = link.span.start as usize;
            let line = if needs_line { lines.of(start).0 } else { chunk.line };
            let found = LinkRow {
                source,
                line,
                byte: chunk.byte + start as u64,
                context: link.context,
                detail: links.detail(link),
                request: links.request(link),
                uri,
            };
            match format.shape {
                LinkShape::Line => link_row::line(&found, format.fields(), self.record_end, out),
                LinkShape::Jsonl => link_row::json(&found, out),
                LinkShape::Count => {}
            }
        }
    }

    /// Bytes of a row besides the URI, about.
    fn row_bytes(&self, source: usize) -> usize {
        const FIELDS: usize = 100;
        match (self.format.shape, self.format.with_filename) {
            (LinkShape::Jsonl, _) | (_, true) => FIELDS + self.names[source].len(),
            _ => 1,
        }
    }

    fn write_counts(&self, out: &mut Vec<u8>) {
        use std::io::Write;
        // Writing to a `Vec` does not fail.
        if self.format.with_filename {
            for (name, count) in self.names.iter().zip(&self.per_source) {
                let _ = writeln!(out, "{name}:{count}");
            }
        } else {
            let _ = writeln!(out, "{}", self.per_source.iter().sum::<u64>());
        }
    }
}

setters! { LinkFormat {
    shape: LinkShape, with_filename: bool, escapes_names: bool, line_number: bool,
    byte_offset: bool, context: bool,
} }

impl LinkFormat {
    fn fields(self) -> link_row::Fields {
        link_row::Fields {
            source: self.with_filename,
            line: self.line_number,
            byte: self.byte_offset,
            context: self.context,
        }
    }
}

impl Job for Extract<'_> {
    type Rows = Links;

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, _worker: &mut Worker, work: &mut ChunkWork<Links>) {
        let of_link = self.row_bytes(work.chunk.source);
        let (bytes, is_alone) = (work.room.most, work.room.is_alone);
        let room = extract::Room { bytes, of_link, is_alone, left: None };
        links::of_chunk(isa, self.kernels, &self.extractor, &work.chunk, room, &mut work.rows);
        work.room.cut = work.rows.left().map(|at| at as usize);
        links::count_faults(&work.rows, &mut work.report);
        let start = work.chunk.byte;
        work.faults.extend(work.rows.faults().iter().map(|fault| fault.message(start)));
        work.report.written = work.rows.len() as u64;
        work.report.records = work.report.written + work.report.invalid.total();
        if self.options.count_invalid {
            let text = work.chunk.text.padded().content();
            let errors = work.rows.iter(text).filter_map(|(_, uri)| parse(uri).err());
            errors.for_each(|error| work.report.invalid.add(error.kind));
        }
        if let Some(part) = &mut work.survey {
            let mut lines = Next::of(&work.chunk, 0, self.record_end).lines;
            let text = work.chunk.text.padded().content();
            part.take_values();
            for (link, uri) in work.rows.iter(text) {
                let at = link.span.start as usize;
                part.push(uri, start + at as u64, lines.of(at).0 - work.chunk.line);
            }
        }
        let ChunkWork { chunk, rows, out, room, has_rest, .. } = work;
        // Rows may have many times the bytes of their links, so those of a long line are written in parts.
        let mut next = Next::of(chunk, 0, self.record_end);
        self.rows(chunk, rows, &mut next, room.most.min(PART_BYTES), out);
        room.next = next.link;
        *has_rest = room.next < rows.len();
    }

    fn write_rest(&self, work: &ChunkWork<Links>, sinks: &mut Sinks<'_>) -> Result<(), Error> {
        let mut next = Next::of(&work.chunk, work.room.next, self.record_end);
        let mut out = Vec::new();
        while work.has_rest && next.link < work.rows.len() {
            out.clear();
            self.rows(&work.chunk, &work.rows, &mut next, PART_BYTES, &mut out);
            sinks.out.write_all(&out).map_err(Error::write)?;
        }
        Ok(())
    }

    fn commit(&mut self, batch: &mut [ChunkWork<Links>]) -> Result<(), Error> {
        for work in batch {
            self.per_source[work.chunk.source] += work.report.written;
        }
        Ok(())
    }

    fn reading(&self) -> Reading {
        Reading {
            has_lines: self.format.line_number || self.format.shape == LinkShape::Jsonl,
            drops: Drops { text: true, rows: true },
            cut: Some(links::cut(self.options, self.record_end)),
            ..Reading::default()
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_for_terminals_only() {
        let name = "a\u{1b}[2J\u{202e}.txt";
        let rows = |shape, escapes_names| {
            let format =
                LinkFormat { shape, with_filename: true, escapes_names, ..LinkFormat::default() };
            let source = Source::new(name, &b"see http://h/\n"[..]);
            let (mut out, settings) = (Vec::new(), Settings::default());
            let (options, mut sinks) = (ExtractOptions::default(), Sinks::new(&mut out));
            extract(vec![source], &options, format, &settings, &mut sinks).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(rows(LinkShape::Line, false), format!("{name}:http://h/\n"));
        assert_eq!(rows(LinkShape::Line, true), "a\\x1b[2J\\u{202e}.txt:http://h/\n");
        assert_eq!(rows(LinkShape::Count, true), "a\\x1b[2J\\u{202e}.txt:1\n");
        assert_eq!(rows(LinkShape::Jsonl, true), rows(LinkShape::Jsonl, false));
    }
}
