//! Lines that a container runtime split: the parts of an entry are joined before it is read.
//!
//! Kubernetes marks each part but the last with a `P` in place of an `F`, and Docker leaves out the line end within the
//! string. The two streams of a container alternate at any line, so parts are joined for each stream.

use super::json_log::{Raw, walk};
use crate::chunk::Span;
use crate::grammar::words;
use core::ops::Range;

/// Maximum number of bytes between two parts of an entry. What follows later belongs to another one, so that a part without
/// an end does not keep the rest of a log from being read.
const MOST_BETWEEN: usize = 1 << 20;

/// Bytes of the parts of Docker, which splits what is longer.
const DOCKER_PART: usize = 16 << 10;

/// The members of an object that is a line of one container. Objects with others are of programs that collect the lines of many
/// containers, and are not joined.
const MEMBERS: [&str; 11] =
    words("log message stream time attrs logtag _p date timestamp @timestamp tag");

/// Which lines of a log are parts of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splits {
    /// No line is.
    #[default]
    None,
    /// Those that are marked, and long ones of Docker without a line end.
    Marked,
    /// Also short ones of Docker, whose lines have line ends here.
    Unended,
}

/// A line of a container, which may be a part of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// 0 for the standard output, 1 for errors.
    stream: usize,
    /// Whether the entry goes on in another line.
    pub(super) is_open: bool,
    /// What the container wrote, in the line.
    content: Range<usize>,
    /// Whether that is a string of JSON.
    is_json: bool,
}

impl Splits {
    /// Which lines are parts in a log that begins with `head`.
    pub(crate) fn of_head(head: &[u8]) -> Splits {
        let mut found = Splits::None;
        for line in head.split(|&byte| byte == b'\n') {
            match Splits::Unended.part(line) {
                Some(part) if part.is_json && !part.is_open => return Splits::Unended,
                Some(_) => found = Splits::Marked,
                None if begins_long(line) => found = Splits::Marked,
                None => {}
            }
        }
        found
    }

    /// The part that `line` is; `None` if it is not one of a container.
    pub(super) fn part(self, line: &[u8]) -> Option<Part> {
        match line.first()? {
            _ if self == Splits::None => None,
            b'{' => self.of_json(line),
            _ => of_cri(line),
        }
    }

    fn of_json(self, line: &[u8]) -> Option<Part> {
        let (mut content, mut stream, mut mark) = (None, None, None);
        let (mut is_alone, mut has_time) = (true, false);
        walk(line, |path, raw| {
            let [name] = *path else {
                is_alone &= path.first() == Some(&&b"attrs"[..]);
                return;
            };
            is_alone &= MEMBERS.iter().any(|member| member.as_bytes() == name);
            match (name, raw) {
                (b"log" | b"message", Raw::Text(range)) => content = Some(range),
                (b"stream", Raw::Text(range)) => stream = stream_of(&line[range]),
                (b"logtag" | b"_p", Raw::Text(range)) => mark = Some(range),
                (b"time", _) => has_time = true,
                _ => {}
            }
        })?;
        let (content, stream) = (content?, stream?);
        let is_open = match mark {
            Some(mark) => is_partial(&line[mark])?,
            None if !has_time => return None,
            None => {
                let is_long = self == Splits::Unended || content.len() >= DOCKER_PART;
                is_long && !has_line_end(&line[content.clone()])
            }
        };
        is_alone.then_some(Part { stream, is_open, content, is_json: true })
    }

    /// The end of the last line of `content` after which no entry goes on.
    pub fn last_end(self, content: &[u8]) -> Option<usize> {
        let mut end = memchr::memrchr(b'\n', content)? + 1;
        let (mut to, mut is_closed) = (end, [false; 2]);
        while to > 0 && end - to <= MOST_BETWEEN && is_closed != [true; 2] {
            let start = memchr::memrchr(b'\n', &content[..to - 1]).map_or(0, |at| at + 1);
            if let Some(part) = self.part(&content[start..to - 1]) {
                if part.is_open && !is_closed[part.stream] {
                    (end, is_closed) = (start, [false; 2]);
                } else {
                    is_closed[part.stream] = true;
                }
            }
            to = start;
        }
        (end > 0).then_some(end)
    }
}

/// An entry whose parts were joined.
pub(super) struct Joined {
    /// The line that it would be.
    pub(super) line: Vec<u8>,
    /// Whether its end is there.
    pub(super) is_closed: bool,
    /// What the container wrote, in the first line.
    first: Span,
    is_json: bool,
}

impl Joined {
    /// The position of what is at `span` of the line. An entry is at its first line, and so is all that follows that.
    pub(super) fn place(&self, span: Span) -> Span {
        let place = |at: u32| self.first.start.saturating_add(at).min(self.first.end);
        match self.is_json {
            true => self.first,
            false => Span { start: place(span.start), end: place(span.end) },
        }
    }
}

/// The parts of the entries of a text, in order.
#[derive(Debug)]
pub(super) struct Parts {
    splits: Splits,
    /// For each stream, the end of the last part that was joined.
    done: [usize; 2],
}

/// How a line is to be read.
pub(super) enum Read {
    /// As it is.
    Alone,
    /// Not at all: it was a part of an earlier one.
    Done,
    Joined(Joined),
}

impl Parts {
    pub(super) fn new(splits: Splits) -> Parts {
        Parts { splits, done: [0; 2] }
    }

    /// Whether no line from `at` on was joined with one before it.
    pub(super) fn are_done(&self, at: usize) -> bool {
        self.done.iter().all(|&done| done <= at)
    }

    /// How the line at `span` of `text` is to be read. With `is_cut`, the source could not be read further than `text`.
    #[inline]
    pub(super) fn read(&mut self, text: &[u8], span: Span, is_cut: bool) -> Read {
        match self.splits.part(span.of(text)) {
            None => Read::Alone,
            Some(part) if (span.start as usize) < self.done[part.stream] => Read::Done,
            Some(part) if part.is_open => Read::Joined(self.join(text, span, &part, is_cut)),
            Some(_) => Read::Alone,
        }
    }

    /// Joins `first`, the part in the line at `span`, with those that follow.
    fn join(&mut self, text: &[u8], span: Span, first: &Part, is_cut: bool) -> Joined {
        let begin = span.of(text);
        let from = if first.is_json { 0 } else { first.content.start };
        let mut line = begin[from..first.content.end].to_vec();
        let mut tail = &begin[first.content.end..];
        let (mut last, mut at, mut is_closed) = (span.end as usize, span.end as usize + 1, false);
        while !is_closed && at < text.len() && at - last <= MOST_BETWEEN {
            let len = memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
            let next = &text[at..at + len];
            let is_own = |part: &Part| (part.stream, part.is_json) == (first.stream, first.is_json);
            if let Some(part) = self.splits.part(next).filter(is_own) {
                line.extend_from_slice(&next[part.content.clone()]);
                tail = &next[part.content.end..];
                last = at + len;
                // The end of a line that breaks off is not its end.
                is_closed = !part.is_open && (part.is_json || !is_cut || last < text.len());
            }
            at += len + 1;
        }
        self.done[first.stream] = last;
        if first.is_json && (is_closed || !is_cut) {
            line.extend_from_slice(tail);
        }
        let place = |at: usize| span.start + at as u32;
        let place = Span { start: place(first.content.start), end: place(first.content.end) };
        Joined { line, is_closed, first: place, is_json: first.is_json }
    }
}

/// The part in what the container runtime interface of Kubernetes writes: `2016-10-06T00:17:09.669794202Z stdout F ` and a line.
fn of_cri(line: &[u8]) -> Option<Part> {
    if line.get(10) != Some(&b'T') {
        return None;
    }
    let mut words = line.splitn(4, |&byte| byte == b' ').skip(1);
    let stream = stream_of(words.next()?)?;
    let end = line.strip_suffix(b"\r").unwrap_or(line).len();
    let mark = words.next()?;
    // More tags may follow the first one.
    let is_open = is_partial(mark.trim_ascii_end().split(|&byte| byte == b':').next()?)?;
    let start = words.next().map_or(end, |rest| line.len() - rest.len());
    Some(Part { stream, is_open, content: start.min(end)..end, is_json: false })
}

/// Where the line begins that a container wrote, in `line` of [`of_cri`]; 0 if it is not one.
pub(super) fn start_in_cri(line: &[u8]) -> usize {
    of_cri(line).map_or(0, |part| part.content.start)
}

/// Whether a line of Docker is in `head`, or the beginning of a long one.
pub(super) fn is_of_docker(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.any(|line| Splits::Unended.of_json(line).is_some() || begins_long(line))
}

/// Whether `line`, which breaks off, is the beginning of a long line of Docker.
fn begins_long(line: &[u8]) -> bool {
    const LONG: usize = 4 << 10;
    let is_string = |rest: &[u8]| super::json::string_end(rest, 0).0 >= rest.len();
    let value = line.strip_prefix(b"{\"log\":").map(<[u8]>::trim_ascii_start);
    line.len() > LONG && value.and_then(|value| value.strip_prefix(b"\"")).is_some_and(is_string)
}

fn stream_of(name: &[u8]) -> Option<usize> {
    [&b"stdout"[..], b"stderr"].iter().position(|known| *known == name)
}

fn is_partial(mark: &[u8]) -> Option<bool> {
    match mark {
        b"P" => Some(true),
        b"F" => Some(false),
        _ => None,
    }
}

/// Whether `raw`, a string of JSON, ends with a line end.
fn has_line_end(raw: &[u8]) -> bool {
    let Some(before) = raw.strip_suffix(b"n") else { return false };
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_distinguished_by_their_marks() {
        for (line, expected) in [
            ("2016-10-06T00:17:09.669794202Z stdout P a b", Some((0, true, "a b"))),
            ("2016-10-06T00:17:09.669794202+02:00 stderr F a\r", Some((1, false, "a"))),
            ("2016-10-06T00:17:09Z stdout P:x a", Some((0, true, "a"))),
            ("2016-10-06T00:17:09Z stdout F ", Some((0, false, ""))),
            ("2016-10-06T00:17:09Z stdout F", Some((0, false, ""))),
            ("2016-10-06T00:17:09Z stdout F\r", Some((0, false, ""))),
            ("2016-10-06T00:17:09Z stdout G a", None),
            ("2016-10-06 00:17:09Z stdout F a", None),
            (r#"{"log":"a","stream":"stdout","time":"t"}"#, Some((0, true, "a"))),
            (r#"{"log":"a\n","stream":"stderr","time":"t"}"#, Some((1, false, "a\\n"))),
            (
                r#"{"log":"a\\n","stream":"stdout","attrs":{"x":"y"},"time":"t"}"#,
                Some((0, true, "a\\\\n")),
            ),
            (r#"{"time":"t","stream":"stdout","logtag":"P","message":"a"}"#, Some((0, true, "a"))),
            (r#"{"date":1.5,"stream":"stdout","_p":"F","log":"a"}"#, Some((0, false, "a"))),
            (r#"{"log":"a","stream":"stdout"}"#, None),
            (r#"{"log":"a","stream":"stdout","time":"t","kubernetes":{}}"#, None),
            (r#"{"log":"a","stream":"other","time":"t"}"#, None),
            ("", None),
        ] {
            let found = Splits::Unended.part(line.as_bytes());
            let shown = found.map(|part| (part.stream, part.is_open, &line[part.content]));
            assert_eq!(shown, expected, "{line}");
            assert_eq!(Splits::None.part(line.as_bytes()), None);
        }
        let long = |len| format!(r#"{{"log":"{}","stream":"stdout","time":"t"}}"#, "a".repeat(len));
        for (len, expected) in [(DOCKER_PART - 1, false), (DOCKER_PART, true)] {
            assert_eq!(Splits::Marked.part(long(len).as_bytes()).unwrap().is_open, expected);
        }
    }

    #[test]
    fn the_beginning_of_a_log_shows_how_lines_are_split() {
        let long = format!(r#"{{"log":"{}"#, "a".repeat(5000));
        for (head, expected) in [
            ("2016-10-06T00:17:09Z stdout F a\n", Splits::Marked),
            ("x\n{\"log\":\"a\",\"stream\":\"stdout\",\"time\":\"t\"}\n", Splits::Marked),
            ("{\"log\":\"a\\n\",\"stream\":\"stdout\",\"time\":\"t\"}\n", Splits::Unended),
            (&long, Splits::Marked),
            ("{\"log\":\"a\\n\"}\nx", Splits::None),
            ("", Splits::None),
        ] {
            assert_eq!(Splits::of_head(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn a_log_is_cut_where_no_stream_has_an_open_entry() {
        let line = |stream: &str, mark: &str| format!("2016-10-06T00:17:09Z {stream} {mark} a\n");
        let [op, of, ep, ef] = [("stdout", "P"), ("stdout", "F"), ("stderr", "P"), ("stderr", "F")]
            .map(|(s, m)| line(s, m));
        let len = of.len();
        let far = format!("{}\n", "x".repeat(MOST_BETWEEN + 1));
        for (lines, expected) in [
            (vec![&of, &op], Some(len)),
            (vec![&of, &op, &of], Some(3 * len)),
            (vec![&of, &op, &ef], Some(len)),
            (vec![&of, &op, &ep, &of], Some(len)),
            (vec![&of, &op, &ep, &of, &ef], Some(5 * len)),
            (vec![&of, &ep, &of, &of, &of], Some(len)),
            (vec![&op, &ef], None),
            (vec![&op, &far], Some(len + far.len())),
        ] {
            let text: String = lines.iter().map(|line| &line[..]).collect();
            assert_eq!(Splits::Marked.last_end(text.as_bytes()), expected, "{:.200}", text);
            let open = format!("{text}2016-10");
            assert_eq!(Splits::Marked.last_end(open.as_bytes()), expected, "{:.200}", text);
        }
    }
}
