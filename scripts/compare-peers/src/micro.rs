//! Nanoseconds per URI of each engine on one thread, without reading, hashing or a set.
//!
//! Rounds are interleaved (every engine once, then again), so that a slow moment of the machine
//! affects all alike. The result of every round is asserted: the number of accepted lines and the
//! total length of the results must not change between rounds; engines of the same grammar must
//! accept the same number, and those with the same form must return the same number of bytes.

use crate::engines::{Answer, BASES, Engine, Input, STRICT, UTF8_HOSTS, engines};
use crate::lines::record;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

/// Measures all engines on the first `limit` records of `path` and prints a Markdown table, or with
/// `json` one JSON object.
///
/// # Errors
///
/// Those of reading the file; `InvalidData` if it holds no UTF-8 record; `Other`, after everything
/// is printed, if engines disagree that should not.
///
/// # Panics
///
/// If the result of an engine changes between rounds.
pub fn run(path: &Path, limit: usize, rounds: usize, json: bool) -> io::Result<()> {
    let text = head(path, limit)?;
    let input = Input::new(&text, limit);
    if input.lines.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no record"));
    }
    let results = measure(engines(), &input, rounds);
    let found = disagreements(&results, input.lines.iter().all(|line| line.is_ascii()));
    let report = Report {
        records: input.lines.len(),
        bytes: input.lines.iter().map(|line| line.len()).sum(),
        not_utf8: input.not_utf8,
        rounds,
        results,
    };
    print!("{}", if json { report.json() } else { report.table() });
    if found.is_empty() { Ok(()) } else { Err(io::Error::other(found.join("; "))) }
}

/// Enough of the file for `limit` lines, or all of it.
fn head(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut input = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut text = Vec::new();
    let mut records = 0;
    while records < limit {
        let start = text.len();
        if input.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        records += usize::from(record(&text[start..]).is_some());
    }
    Ok(text)
}

/// The result of an engine and its times, sorted, in nanoseconds per record.
struct Measured {
    engine: Engine,
    answer: Answer,
    ns: Vec<f64>,
}

impl Measured {
    fn median(&self) -> f64 {
        let middle = self.ns.len() / 2;
        match self.ns.len() % 2 {
            0 => f64::midpoint(self.ns[middle - 1], self.ns[middle]),
            _ => self.ns[middle],
        }
    }
}

fn measure(engines: Vec<Engine>, input: &Input, rounds: usize) -> Vec<Measured> {
    let mut results: Vec<Measured> = engines
        .into_iter()
        .map(|engine| {
            // The warm-up, and the result that every round must repeat.
            let answer = (engine.pass)(input);
            Measured { engine, answer, ns: Vec::with_capacity(rounds) }
        })
        .collect();
    for _ in 0..rounds {
        for result in &mut results {
            let start = Instant::now();
            let answer = (result.engine.pass)(input);
            let ns = start.elapsed().as_nanos() as f64 / input.lines.len() as f64;
            assert_eq!(answer, result.answer, "{}", result.engine.name);
            result.ns.push(ns);
        }
    }
    for result in &mut results {
        result.ns.sort_by(f64::total_cmp);
    }
    results
}

/// Messages: engines of one grammar that accept different numbers of lines, and engines of one form
/// whose results differ in length. If all lines are ASCII (`is_ascii`), accepting UTF-8 in hosts is
/// not a difference.
fn disagreements(results: &[Measured], is_ascii: bool) -> Vec<String> {
    let mut accepted: BTreeMap<&str, &Measured> = BTreeMap::new();
    let mut written: BTreeMap<(&str, &str), &Measured> = BTreeMap::new();
    let mut found = Vec::new();
    for b in results {
        let Engine { name, grammar, form, .. } = &b.engine;
        let as_strict = is_ascii && *grammar == UTF8_HOSTS;
        let a = accepted.entry(if as_strict { STRICT } else { grammar }).or_insert(b);
        if a.answer.ok != b.answer.ok {
            let (first, ok, other) = (&a.engine.name, a.answer.ok, b.answer.ok);
            found.push(format!("{first} accepts {ok} lines, {name} {other}"));
        }
        let a = written.entry((grammar, form)).or_insert(b);
        if a.answer.bytes != b.answer.bytes {
            let (first, bytes, other) = (&a.engine.name, a.answer.bytes, b.answer.bytes);
            found.push(format!("{first} gives {bytes} bytes, {name} {other}"));
        }
    }
    found
}

/// The output.
struct Report {
    records: usize,
    bytes: usize,
    not_utf8: usize,
    rounds: usize,
    results: Vec<Measured>,
}

impl Report {
    /// The time of an engine relative to that of each of [`BASES`].
    fn ratios(&self, result: &Measured) -> [f64; BASES.len()] {
        BASES.map(|name| {
            let base = self.results.iter().find(|base| base.engine.name == name);
            base.map_or(f64::NAN, |base| result.median() / base.median())
        })
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{} records, {} bytes ({} more are no UTF-8), {} rounds, one thread\n\n\
             | engine | ns/URI median | min | max | of {} | of {} | accepted | result bytes |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
            self.records, self.bytes, self.not_utf8, self.rounds, BASES[0], BASES[1]
        );
        for result in &self.results {
            let Measured { engine, answer: Answer { ok, bytes }, ns } = result;
            let (median, min, max) = (result.median(), ns[0], ns[ns.len() - 1]);
            let [parse, normalize] = self.ratios(result);
            writeln!(
                text,
                "| {} | {median:.1} | {min:.1} | {max:.1} | {parse:.3} | {normalize:.3} | {ok} \
                 | {bytes} |",
                engine.name
            )
            .expect("writing to a String");
        }
        text
    }

    /// One line; the names hold nothing that JSON would escape.
    fn json(&self) -> String {
        let engines: Vec<String> = self
            .results
            .iter()
            .map(|result| {
                let Measured { engine, answer: Answer { ok, bytes }, ns } = result;
                let (median, min, max) = (result.median(), ns[0], ns[ns.len() - 1]);
                let [parse, normalize] = self.ratios(result);
                let Engine { name, grammar, form, .. } = engine;
                format!(
                    "{{\"engine\":\"{name}\",\"grammar\":\"{grammar}\",\"form\":\"{form}\",\
                     \"accepted\":{ok},\"result_bytes\":{bytes},\
                     \"ns_median\":{median:.2},\"ns_min\":{min:.2},\"ns_max\":{max:.2},\
                     \"of_parse\":{parse:.4},\"of_parse_and_normalize\":{normalize:.4}}}"
                )
            })
            .collect();
        format!(
            "{{\"records\":{},\"bytes\":{},\"not_utf8\":{},\"rounds\":{},\"engines\":[{}]}}\n",
            self.records,
            self.bytes,
            self.not_utf8,
            self.rounds,
            engines.join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(grammar: &'static str, ok: usize, bytes: usize, ns: &[f64]) -> Measured {
        let answer = Answer { ok, bytes };
        let pass = Box::new(move |_: &Input| answer);
        let engine = Engine { name: "x".into(), grammar, form: "as read", pass };
        Measured { engine, answer, ns: ns.to_vec() }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(measured(STRICT, 0, 0, &[1.0, 2.0, 9.0]).median(), 2.0);
        assert_eq!(measured(STRICT, 0, 0, &[1.0, 2.0, 4.0, 9.0]).median(), 3.0);
    }

    #[test]
    fn only_engines_of_one_grammar_must_agree() {
        let three = |grammar| [measured(STRICT, 2, 9, &[]), measured(grammar, 3, 9, &[])];
        assert_eq!(disagreements(&three(STRICT), false), ["x accepts 2 lines, x 3"]);
        assert_eq!(disagreements(&three(UTF8_HOSTS), true), ["x accepts 2 lines, x 3"]);
        assert!(disagreements(&three(UTF8_HOSTS), false).is_empty());
        let bytes = [measured(STRICT, 2, 9, &[]), measured(STRICT, 2, 8, &[])];
        assert_eq!(disagreements(&bytes, true), ["x gives 9 bytes, x 8"]);
    }

    #[test]
    fn ratios_are_to_the_named_engines() {
        let input = Input::new(b"HTTP://A/%7e\nno uri\nhttp://a/[\nmailto:a@b", 4);
        let results = measure(engines(), &input, 2);
        assert_eq!(disagreements(&results, true), [""; 0]);
        let report = Report { records: 4, bytes: 0, not_utf8: 0, rounds: 2, results };
        for (i, name) in BASES.iter().enumerate() {
            let base = report.results.iter().find(|base| base.engine.name == *name).unwrap();
            assert_eq!(report.ratios(base)[i], 1.0);
        }
        let rows = report.table().lines().count();
        assert_eq!(rows, 4 + report.results.len());
    }
}
