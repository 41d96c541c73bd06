//! Links of an access log, line by line, in a [`LogFormat`] or any that has a name.
//!
//! An entry may be within a line of another program: Docker and the like keep it in a member of an object, Kubernetes after
//! a time, the name of the stream and a letter.

use core::iter::once;
use core::ops::Range;
use std::borrow::Cow;

use super::combined::{Marks, by_marks};
use super::log::{Entry, Field, Log};
use super::log_fields::Escapes;
use super::log_format::{LogFormat, Read};
use super::request::Request;
use super::split_lines::{self, Joined, Parts, Splits};
use super::{Links, json, json_log};
use crate::chunk::{PaddedBuf, Span};

/// Number of bytes whose marks are collected at a time.
const WINDOW: usize = 32 << 10;

/// Appends the links of the entries of a log, line by line.
///
/// A line that is not an entry is searched as text, unless fields were selected.
pub(crate) fn entries(entries: &Entries<'_>, splits: Splits, links: &mut Links) {
    let (text, kernels) = (entries.log.text, entries.log.how.kernels);
    let content = text.content();
    let (mut marks, mut parts) = (Vec::new(), Parts::new(splits));
    let mut start = 0;
    while start < content.len() && !(parts.are_done(start) && links.is_full(start)) {
        let window = Span { start: start as u32, end: content.len().min(start + WINDOW) as u32 };
        marks.clear();
        kernels.run(Marks(text, window, &mut marks));
        let (mut line, mut first) = (start, 0);
        for (i, &mark) in marks.iter().enumerate() {
            if content[mark as usize] == b'\n' {
                let span = Span { start: line as u32, end: mark };
                entries.line(span, &marks[first..i], &mut parts, links);
                (line, first) = (mark as usize + 1, i + 1);
            }
        }
        if line == start {
            // A line longer than the window, or a last one without an end.
            let rest = &content[start..];
            let end = memchr::memchr(b'\n', rest).map_or(content.len(), |at| start + at);
            let span = Span { start: start as u32, end: end as u32 };
            entries.line(span, &[], &mut parts, links);
            line = end + 1;
        }
        start = line;
    }
}

/// A log, and the format of its entries.
pub(crate) struct Entries<'a> {
    log: Log<'a>,
    log_format: &'a LogFormat,
}

impl<'a> Entries<'a> {
    /// The entries of `log` in `log_format`, or in any format that has a name.
    pub(crate) fn new(log: Log<'a>, log_format: Option<&'a LogFormat>) -> Entries<'a> {
        Entries { log, log_format: log_format.unwrap_or(LogFormat::auto()) }
    }

    /// Adds the links of the line at `span`, which holds `marks`; `[]` if they were not collected.
    fn line(&self, span: Span, marks: &[u32], parts: &mut Parts, links: &mut Links) {
        let content = self.log.text.content();
        match parts.read(content, span, links.is_cut()) {
            split_lines::Read::Alone => {}
            split_lines::Read::Done => return,
            split_lines::Read::Joined(joined) => return self.joined(&joined, links),
        }
        let line = span.of(content);
        let from = split_lines::start_in_cri(line);
        if from > 0 {
            let rest = Span { start: span.start + from as u32, end: span.end };
            return self.whole(rest, links);
        }
        if self.log_format.is_combined()
            && !self.log.reads_requests()
            && let Some((fields, escapes)) = by_marks(span, content, marks)
        {
            let entry = fields.entry(line, escapes);
            self.log.take_entry(span, entry, Request::default, links, |_| ());
            return;
        }
        self.whole(span, links);
    }

    /// Adds the links of an entry whose parts were `joined`.
    fn joined(&self, joined: &Joined, links: &mut Links) {
        let buf = PaddedBuf::from_content(&joined.line);
        let log = self.log.with_text(buf.padded());
        let mut found = Links::new();
        let whole = Span { start: 0, end: joined.line.len() as u32 };
        Entries { log, log_format: self.log_format }.whole(whole, &mut found);
        if links.is_cut() && !joined.is_closed {
            found.drop_cut(&joined.line, false);
        }
        links.take_entry(&found, &joined.line, |span| joined.place(span));
    }

    /// Adds the links of the line at `span`, which no time precedes. It may have several objects.
    fn whole(&self, mut span: Span, links: &mut Links) {
        let content = self.log.text.content();
        while let Some(len) = json_log::before_another(span.of(content)) {
            let next = span.start + len as u32;
            self.one(Span { start: span.start, end: next }, links);
            span.start = next;
        }
        self.one(span, links);
    }

    /// Adds the links of the line, or of one of its objects, at `span`.
    fn one(&self, span: Span, links: &mut Links) {
        let line = span.of(self.log.text.content());
        match self.log_format.read(line) {
            Some(read) => self.entry(span, read, links),
            None => match json_log::wrapped(line) {
                Some(range) => self.member(span, range, links),
                None => self.after_prefix(span, links),
            },
        }
    }

    /// Adds the links of the line at `span`, which may have an object that is an entry after what syslog or Docker Compose
    /// writes.
    fn after_prefix(&self, span: Span, links: &mut Links) {
        let line = span.of(self.log.text.content());
        let read = json_log::after_prefix(line)
            .and_then(|len| Some((len, self.log_format.read(&line[len..])?)));
        let Some((len, read)) = read else { return self.other(span, links) };
        let start = span.start + len as u32;
        if self.log.has_others() {
            self.log.take_text(Span { start: span.start, end: start }, links);
        }
        self.entry(Span { start, end: span.end }, read, links);
    }

    /// Adds the links of the line at `span`, which was `read`.
    fn entry(&self, span: Span, read: Read, links: &mut Links) {
        let line = span.of(self.log.text.content());
        let Read { fields, facts, escapes, used } = read;
        let (entry, request) = (fields.entry(line, escapes), || facts.request(line, escapes));
        self.log.take_entry(span, entry, request, links, |links| {
            let Some(used) = used else { return };
            for gap in gaps(used, line.len()) {
                let gap = within(span, &gap);
                match escapes {
                    Escapes::None | Escapes::Bytes => self.log.take_text(gap, links),
                    Escapes::Json => {
                        self.log.take_json(gap, links);
                    }
                }
            }
        });
    }

    /// Adds the links of the line at `span`, whose member with the value at `range` may be an entry.
    fn member(&self, span: Span, range: Range<usize>, links: &mut Links) {
        let line = span.of(self.log.text.content());
        let inner = json::decoded(&line[range.clone()]);
        let inner = inner.trim_ascii_end();
        let Some(read) = self.log_format.read(inner) else { return self.other(span, links) };
        let Read { fields, facts, escapes, .. } = read;
        let entry = fields.entry(inner, escapes);
        let used = read.used.unwrap_or_else(|| used(&entry));
        let field = |text: &[u8]| Field { at: range.clone(), text: Cow::Owned(text.to_vec()) };
        let moved = |old: Option<Field<'_>>| old.map(|old| field(&old.text));
        let entry = Entry {
            target: moved(entry.target),
            origin: entry.origin,
            referer: moved(entry.referer),
            agent: moved(entry.agent),
        };
        self.log.take_entry(
            span,
            entry,
            || facts.request(inner, escapes),
            links,
            |links| {
                for gap in gaps(used, inner.len()) {
                    self.log.take_made(span.start, &field(&inner[gap]), links);
                }
                for gap in gaps(once(range.start - 1..range.end + 1), line.len()) {
                    self.log.take_json(within(span, &gap), links);
                }
            },
        );
    }

    /// Adds the links of the line at `span`, which is not an entry.
    fn other(&self, span: Span, links: &mut Links) {
        let content = self.log.text.content();
        if span.of(content).trim_ascii_start().starts_with(b"{") && self.log.has_others() {
            let breaks_off = self.log.take_json(span, links);
            if breaks_off && span.end as usize == content.len() {
                links.count_fault(super::fault::Fault::LastLine(span.end));
            }
            return;
        }
        self.log.take_other(span, links);
    }
}

/// The ranges of the fields of `entry`, in their order.
fn used(entry: &Entry<'_>) -> Vec<Range<usize>> {
    let fields = [&entry.target, &entry.referer, &entry.agent].into_iter().flatten();
    let mut used: Vec<_> = fields.map(|field| field.at.clone()).collect();
    used.sort_unstable_by_key(|range| range.start);
    used
}

/// The span of `range` of the line at `line`.
fn within(line: Span, range: &Range<usize>) -> Span {
    Span { start: line.start + range.start as u32, end: line.start + range.end as u32 }
}

/// What is between the ranges `used` of a line of `len` bytes.
fn gaps(
    used: impl IntoIterator<Item = Range<usize>>,
    len: usize,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    used.into_iter().chain(once(len..len)).filter_map(move |range| {
        let gap = start..range.start;
        start = start.max(range.end);
        (gap.start < gap.end).then_some(gap)
    })
}

/// Whether `line` is an entry in a format that has a name, or was written by Kubernetes.
pub fn is_entry(line: &[u8]) -> bool {
    if split_lines::start_in_cri(line) > 0 {
        return true;
    }
    let is = |line: &[u8]| LogFormat::auto().read(line).is_some();
    let line = &line[..json_log::before_another(line).unwrap_or(line.len())];
    is(line)
        || json_log::after_prefix(line).is_some_and(|len| is(&line[len..]))
        || json_log::wrapped(line)
            .is_some_and(|range| is(json::decoded(&line[range]).trim_ascii_end()))
}

/// Whether there is an entry, or a line of Docker, in the lines of JSON at the beginning of a source, `head`.
pub(crate) fn has_json_entry(head: &[u8]) -> bool {
    if split_lines::is_of_docker(head) {
        return true;
    }
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.any(|line| line.starts_with(b"{") && is_entry(line))
}
