//! The engines that `micro` measures: the loop of each over all lines, and its results.
//!
//! Engines that take one line at a time get the lines as `&str`. uriscan's bulk calls get the same
//! lines as one text, each followed by LF, which is prepared before the clock starts; its pipeline
//! reads that text through a [`Source`], cuts it into chunks and writes the result to a sink, and
//! all of that is measured.

use crate::lines::{record, spans};
use fluent_uri::Uri;
use iri_string::format::ToDedicatedString;
use iri_string::types::UriStr;
use std::hint::black_box;
use std::io::{self, Cursor, Write};
use std::sync::Arc;
use uriscan::PaddedBuf;
use uriscan::io::Source;
use uriscan::normalize::{Normalizer, Options, Rung};
use uriscan::pipeline::{self, OnInvalid, Settings, Sinks};
use uriscan::uri::{self, Parser};
use uriscan::{Backend, Kernels};
use url::Url;

/// The lines, in all forms that engines need.
pub struct Input<'t> {
    /// Each line, without white space around it.
    pub lines: Vec<&'t str>,
    /// Number of lines skipped because they are not UTF-8, which most engines require.
    pub not_utf8: usize,
    padded: PaddedBuf,
    source: Arc<[u8]>,
}

impl<'t> Input<'t> {
    /// The first `limit` records of `text`.
    pub fn new(text: &'t [u8], limit: usize) -> Input<'t> {
        let all: Vec<&[u8]> = spans(text).take(limit).map(|span| &text[span]).collect();
        // Validating UTF-8 is not part of the measurement.
        let lines: Vec<&str> = all.iter().filter_map(|line| str::from_utf8(line).ok()).collect();
        let joined: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        debug_assert!(lines.iter().all(|line| record(line.as_bytes()) == Some(line.as_bytes())));
        Input {
            not_utf8: all.len() - lines.len(),
            lines,
            padded: PaddedBuf::from_content(joined.as_bytes()),
            source: Arc::from(joined.as_bytes()),
        }
    }
}

/// The results of one engine for all lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number of accepted lines.
    pub ok: usize,
    /// Sum of the lengths of its results in bytes.
    pub bytes: usize,
}

/// RFC 3986, URI: with a scheme, strictly by Appendix A.
pub const STRICT: &str = "RFC 3986";
/// The same, but raw UTF-8 in a DNS host is accepted and becomes A-labels.
pub const UTF8_HOSTS: &str = "RFC 3986 + UTF-8 hosts";
const WHATWG: &str = "WHATWG";

/// One engine under measurement.
pub struct Engine {
    /// The name in the table; holds nothing that JSON would escape.
    pub name: String,
    /// The definition that it follows; engines with the same one must accept the same lines.
    pub grammar: &'static str,
    /// The kind of its results; engines with the same kind must return results of the same length.
    pub form: &'static str,
    /// Runs it over all lines. A closure for the loop and not for one line, so that the engine is
    /// compiled into the loop and calls are not measured.
    pub pass: Box<dyn Fn(&Input) -> Answer>,
}

impl Engine {
    fn new(
        name: impl Into<String>,
        (grammar, form): (&'static str, &'static str),
        pass: impl Fn(&Input) -> Answer + 'static,
    ) -> Engine {
        Engine { name: name.into(), grammar, form, pass: Box::new(pass) }
    }

    /// An engine for one line: returns the length of its result in bytes, or `None` for a
    /// rejection.
    fn by_line(
        name: &str,
        what: (&'static str, &'static str),
        engine: impl Fn(&str) -> Option<usize> + 'static,
    ) -> Engine {
        Engine::new(name, what, move |input| each(input, &engine))
    }
}

/// Sums the results of `engine` for each line.
fn each(input: &Input, mut engine: impl FnMut(&str) -> Option<usize>) -> Answer {
    let mut answer = Answer::default();
    for line in &input.lines {
        if let Some(bytes) = engine(black_box(line)) {
            answer.ok += 1;
            answer.bytes += bytes;
        }
    }
    answer
}

/// The parse and the normalization with which the others are compared.
pub const BASES: [&str; 2] = ["fluent-uri parse", "fluent-uri parse + normalize"];

/// Every engine, in the order of a round.
pub fn engines() -> Vec<Engine> {
    let mut engines = peers();
    engines.extend(uriscan_engines());
    engines
}

fn peers() -> Vec<Engine> {
    let read = (STRICT, "as read");
    vec![
        Engine::by_line(BASES[0], read, |s| Some(black_box(Uri::parse(s).ok()?).as_str().len())),
        Engine::by_line(BASES[1], (STRICT, "fluent-uri"), |s| {
            Some(black_box(Uri::parse(s).ok()?.normalize()).as_str().len())
        }),
        Engine::by_line("iri-string parse", read, |s| {
            Some(black_box(UriStr::new(s).ok()?).as_str().len())
        }),
        Engine::by_line("iri-string parse + normalize", (STRICT, "iri-string"), |s| {
            let normal = UriStr::new(s).ok()?.normalize().to_dedicated_string();
            Some(black_box(normal).as_str().len())
        }),
        Engine::by_line("url parse (normalizes as it parses)", (WHATWG, WHATWG), |s| {
            Some(black_box(Url::parse(s).ok()?).as_str().len())
        }),
    ]
}

fn uriscan_engines() -> Vec<Engine> {
    let best = Kernels::detect();
    let mut backends = vec![best];
    backends.extend(Kernels::with(Backend::Avx2).filter(|&avx2| avx2 != best));
    let mut engines = Vec::new();
    for &kernels in &backends {
        let name = format!("uriscan parse in bulk, {}", kernels.backend().name());
        engines.push(Engine::new(name, (STRICT, "as read"), move |input| {
            parse_in_bulk(input, kernels)
        }));
    }
    engines.push(Engine::by_line("uriscan strict::parse", (STRICT, "as read"), |s| {
        let parts = black_box(uri::parse(s.as_bytes())).ok()?;
        parts.is_uri().then_some(parts.len as usize)
    }));
    let canonical = (UTF8_HOSTS, "uriscan, rung scheme");
    for &kernels in &backends {
        let name = format!("uriscan normalize, pipeline, {}", kernels.backend().name());
        engines.push(Engine::new(name, canonical, move |input| normalize_in_bulk(input, kernels)));
    }
    engines.push(Engine::new("uriscan normalize, one by one", canonical, |input| {
        let mut normalizer = Normalizer::new(SCHEME);
        each(input, |s| Some(black_box(normalizer.normalize(s.as_bytes()).ok()?).len()))
    }));
    engines
}

const SCHEME: Options = Options::new(Rung::Scheme);

/// Parses and validates all lines together; relative references are not counted.
fn parse_in_bulk(input: &Input, kernels: Kernels) -> Answer {
    let mut answer = Answer::default();
    Parser::with_kernels(kernels).parse_each(input.padded.padded(), b'\n', |record| {
        if let Ok(parts) = black_box(record.result)
            && parts.is_uri()
        {
            answer.ok += 1;
            answer.bytes += record.bytes.len();
        }
    });
    answer
}

/// Normalizes all lines through the pipeline on one thread: reads, writes, starts the thread.
fn normalize_in_bulk(input: &Input, kernels: Kernels) -> Answer {
    let source = Source::new("memory", Cursor::new(Arc::clone(&input.source)));
    let settings = Settings::default().threads(1).kernels(kernels);
    let mut out = Counted(0);
    let report = pipeline::normalize(
        vec![source],
        &SCHEME.into(),
        OnInvalid::Drop,
        &settings,
        &mut Sinks::new(&mut out),
    )
    .expect("memory is read, and what is written is only counted");
    let ok = report.written as usize;
    // Each form is followed by an LF.
    Answer { ok, bytes: out.0 - ok }
}

/// A sink that counts bytes.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += black_box(bytes).len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_accept_and_normalize_what_they_should() {
        let text =
            "HTTP://A/%7e\nno uri\n\n http://a/[ \nmailto:a@b\r\n//relative/\nhttp://\u{e9}/";
        let input = Input::new(text.as_bytes(), 100);
        let parsed = Answer { ok: 2, bytes: 12 + 10 };
        let normalized = Answer { ok: 2, bytes: 10 + 10 };
        for engine in engines() {
            let expected = match (engine.grammar, engine.form) {
                (STRICT, "as read") => parsed,
                (STRICT, _) => normalized,
                // "http://xn--9ca/"
                (UTF8_HOSTS, _) => Answer { ok: 3, bytes: 10 + 10 + 15 },
                // WHATWG accepts `[` in a path and keeps `%7e`.
                _ => Answer { ok: 4, bytes: 12 + 10 + 10 + 15 },
            };
            assert_eq!((engine.pass)(&input), expected, "{}", engine.name);
        }
    }

    #[test]
    fn the_input_is_the_first_records_that_are_text() {
        let input = Input::new(b"a\n\n b \n\xff\nc\nd\n", 4);
        assert_eq!((input.lines, input.not_utf8), (vec!["a", "b", "c"], 1));
        assert_eq!(&input.source[..], b"a\nb\nc\n");
        assert_eq!(input.padded.padded().content(), b"a\nb\nc\n");
    }
}
