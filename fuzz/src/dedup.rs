//! Lists, cut and processed in any way and under any memory limit, against a map from canonical
//! form to first record.

use std::collections::BTreeMap;
use std::io::Cursor;

use uriscan::audit::redact_into;
use uriscan::key::{Hasher, Key, PublicHash};
use uriscan::normalize::{Level, Options};
use uriscan::uri::UriError;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    DedupOptions, Emit, MemoryLimit, OnInvalid, Report, Settings, Sinks, dedup, keys, normalize,
};
use uriscan_core::normalize::normalize_exact;

use crate::BACKENDS;

/// The last bytes choose what is done and how; the rest is two lists.
pub fn check(data: &[u8]) {
    let case = Case::new(data);
    // The others are a byte away.
    match case.pick % 3 {
        0 => case.check_forms(),
        1 => case.check_keys(),
        _ => case.check_dedup(),
    }
}

/// Draws choices from the end of the input, so that lists at its start stay as they are.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        let Some((&last, rest)) = self.0.split_last() else { return 0 };
        self.0 = rest;
        usize::from(last)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.byte() % all.len()]
    }
}

/// The expected outcome of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    out: Vec<u8>,
    rejects: Vec<u8>,
    records: u64,
    blank: u64,
    written: u64,
    duplicates: u64,
    invalid: u64,
    /// Source, line and error of the record that ends it.
    stop: Option<(String, u64, UriError)>,
}

struct Case<'a> {
    sources: Vec<(&'static str, &'a [u8])>,
    options: DedupOptions,
    settings: Settings,
    /// Chooses the command.
    pick: usize,
}

impl Case<'_> {
    fn new(data: &[u8]) -> Case<'_> {
        let mut choices = Choices(data);
        let level = choices.of(&Level::ALL);
        let drop_fragment = choices.of(&[false, true]);
        let options = DedupOptions::default()
            .equivalence(Options::default().level(level).drop_fragment(drop_fragment).into())
            .emit(choices.of(&[Emit::Original, Emit::Normalized, Emit::Key]))
            .on_invalid(choices.of(&[
                OnInvalid::Pass,
                OnInvalid::Drop,
                OnInvalid::Divert,
                OnInvalid::Fail,
            ]))
            .hasher(Hasher::with_secret([choices.byte() as u8; 32]))
            .hash(choices.of(&PublicHash::ALL))
            .limit(choices.of(&[None, Some(0), Some(4 << 10)]).map(|set_bytes| {
                MemoryLimit::new(1 << 30, crate::directory()).set_bytes(set_bytes)
            }))
            .approximate(None);
        let settings = Settings::default()
            // Each further thread is waited for.
            .threads(choices.of(&[1, 1, 1, 1, 1, 1, 2, 3]))
            .kernels(choices.of(&BACKENDS))
            .record_end(choices.of(b"\n\0"))
            .chunk_bytes(1 + choices.byte())
            .redact(choices.byte() % 4 == 0);
        let (cut, pick) = (choices.byte() * 16, choices.byte());
        let text = choices.0;
        let (first, second) = text.split_at(cut.min(text.len()));
        Case { sources: vec![("first", first), ("second", second)], options, settings, pick }
    }

    fn sources(&self) -> Vec<Source> {
        let source = |&(name, text): &(&str, &[u8])| Source::new(name, Cursor::new(text.to_vec()));
        self.sources.iter().map(source).collect()
    }

    /// Source, line, and bytes of every line, blank ones too, white space trimmed.
    fn lines(&self) -> impl Iterator<Item = (&'static str, u64, &[u8])> {
        let end = self.settings.record_end;
        self.sources.iter().flat_map(move |&(name, text)| {
            let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
            let text = text.strip_suffix(&[end]).unwrap_or(text);
            let lines = (!text.is_empty() || self.ends_blank(name)).then(|| {
                text.split(move |&byte| byte == end)
                    .zip(1..)
                    .map(move |(line, number)| (name, number, trimmed(line)))
            });
            lines.into_iter().flatten()
        })
    }

    /// Whether the source is a single blank line.
    fn ends_blank(&self, name: &str) -> bool {
        let (_, text) = self.sources.iter().find(|source| source.0 == name).expect("a source");
        text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text) == [self.settings.record_end]
    }

    fn form(&self, record: &[u8]) -> Result<Vec<u8>, UriError> {
        let Options { level, drop_fragment, .. } = self.options.equivalence.normalize;
        let mut form = Vec::new();
        normalize_exact(record, level, drop_fragment, &mut form).map(|()| form)
    }

    /// The public key of a form, computed alone.
    fn key(&self, form: &[u8]) -> Key {
        self.options.equivalence.public_hasher(self.options.hash).key(form)
    }

    /// What is written for `record`: its secrets are masked if that is asked for.
    fn shown(&self, record: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        if self.settings.redact {
            redact_into(record, &mut shown);
        } else {
            shown.extend(record);
        }
        shown
    }

    /// The plain oracle of [`dedup`].
    fn expected(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut first_of: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (source, number, record) in self.lines() {
            if record.is_empty() {
                outcome.blank += 1;
                continue;
            }
            let id = outcome.records;
            outcome.records += 1;
            let form = match self.form(record) {
                Ok(form) => form,
                Err(error) => {
                    outcome.invalid += 1;
                    match self.options.on_invalid {
                        OnInvalid::Pass => record.to_vec(),
                        OnInvalid::Drop => continue,
                        OnInvalid::Divert => {
                            outcome.rejects.extend(self.shown(record));
                            outcome.rejects.push(self.settings.record_end);
                            continue;
                        }
                        OnInvalid::Fail => {
                            outcome.stop = Some((source.to_owned(), number, error));
                            break;
                        }
                    }
                }
            };
            if *first_of.entry(form.clone()).or_insert(id) != id {
                outcome.duplicates += 1;
                continue;
            }
            outcome.written += 1;
            match self.options.emit {
                Emit::Original => outcome.out.extend(self.shown(record)),
                Emit::Normalized => outcome.out.extend(self.shown(&form)),
                Emit::Key => self.key(&form).write_hex(&mut outcome.out),
            }
            outcome.out.push(self.settings.record_end);
        }
        outcome
    }

    fn found(&self) -> Outcome {
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
        let result = dedup(self.sources(), &self.options, &self.settings, &mut sinks);
        let outcome = Outcome { out, rejects, ..Outcome::default() };
        match result {
            Ok(Report { records, blank, written, duplicates, invalid, bytes, .. }) => {
                assert_eq!(bytes as usize, self.bytes());
                let invalid = invalid.total();
                Outcome { records, blank, written, duplicates, invalid, ..outcome }
            }
            Err(error) => match (error.source_name(), error.line(), error.uri()) {
                (Some(source), Some(line), Some(uri)) => {
                    Outcome { stop: Some((source.to_owned(), line, uri)), ..outcome }
                }
                _ => panic!("{error}"),
            },
        }
    }

    /// Bytes of the sources without byte order marks.
    fn bytes(&self) -> usize {
        let len = |text: &[u8]| text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).len();
        self.sources.iter().map(|source| len(source.1)).sum()
    }

    fn check_dedup(&self) {
        let (mut expected, found) = (self.expected(), self.found());
        if expected.stop.is_some() {
            // An error carries no counts.
            expected = Outcome {
                out: expected.out,
                rejects: expected.rejects,
                stop: expected.stop,
                ..Outcome::default()
            };
        }
        assert_eq!(
            found.out.escape_ascii().to_string(),
            expected.out.escape_ascii().to_string(),
            "{:?} {:?}",
            self.options,
            self.settings
        );
        assert_eq!(found, expected);
    }

    /// Forms have one line for each line of the input.
    fn check_forms(&self) {
        let Case { options, settings, .. } = self;
        let mut forms = Vec::new();
        normalize(
            self.sources(),
            &options.equivalence,
            OnInvalid::Pass,
            settings,
            &mut Sinks::new(&mut forms),
        )
        .expect("nothing can fail");
        let expected = self
            .each_line(|record| self.shown(&self.form(record).unwrap_or_else(|_| record.to_vec())));
        assert_eq!(forms.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    /// Keys have one line for each line of the input.
    fn check_keys(&self) {
        let Case { options, settings, .. } = self;
        let mut hexes = Vec::new();
        keys(
            self.sources(),
            &options.equivalence,
            options.hash,
            OnInvalid::Pass,
            settings,
            &mut Sinks::new(&mut hexes),
        )
        .expect("nothing can fail");
        let expected = self.each_line(|record| {
            let form = self.form(record).unwrap_or_else(|_| record.to_vec());
            let mut hex = Vec::new();
            self.key(&form).write_hex(&mut hex);
            hex
        });
        assert_eq!(hexes, expected);
    }

    /// A line for each line of the input, with what `make` makes of the record in it.
    fn each_line(&self, make: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut out = Vec::new();
        for (_, _, record) in self.lines() {
            if !record.is_empty() {
                out.extend(make(record));
            }
            out.push(self.settings.record_end);
        }
        out
    }
}

/// `line` without the white space around it (Appendix C).
fn trimmed(line: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !b" \t\n\x0b\x0c\r".contains(byte);
    let start = line.iter().position(is_text).unwrap_or(line.len());
    let end = line.iter().rposition(is_text).map_or(start, |last| last + 1);
    &line[start..end]
}
