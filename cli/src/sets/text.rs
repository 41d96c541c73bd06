//! Keys as text: `# ` and a fact of their meaning a line, their number, then 32 hexadecimal digits a line; behind them a space
//! and the time at which the key was first seen, if that is told.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use uriscan::key::Key;
use uriscan::set::{KeySet, Loader, Meaning, SetError, Timestamp, is_old_meaning};

use super::writing::{LOAD_BYTES, Writing};
use crate::args::Import;
use crate::exit::{Failure, Outcome};

/// What stands before the number of keys.
const KEYS: &str = "keys ";

/// The line that says that behind every key stands a time.
const FIRST_SEEN: &str = "with first-seen";

/// Why something could not be written.
pub(crate) enum Unwritten {
    Set(SetError),
    Output(io::Error),
}

impl From<SetError> for Unwritten {
    fn from(error: SetError) -> Unwritten {
        Unwritten::Set(error)
    }
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Unwritten {
        Unwritten::Output(error)
    }
}

/// Writes the keys of `set`.
pub(super) fn export(set: &KeySet, out: &mut (impl Write + Send)) -> Result<(), Unwritten> {
    for fact in set.meaning().as_str().lines() {
        writeln!(out, "# {fact}")?;
    }
    // By which one can see that a part of the file is missing.
    writeln!(out, "# {KEYS}{}", set.len())?;
    let mut text = Vec::new();
    if set.is_dated() {
        writeln!(out, "# {FIRST_SEEN}")?;
        return set.each_dated(|keys| {
            text.clear();
            for (key, time) in keys {
                key.write_hex(&mut text);
                writeln!(text, " {time}")?;
            }
            Ok(out.write_all(&text)?)
        });
    }
    set.each_key(|keys| {
        text.clear();
        for key in keys {
            key.write_hex(&mut text);
            text.push(b'\n');
        }
        Ok(out.write_all(&text)?)
    })
}

/// Makes a set of keys, or adds them to one.
pub(super) fn import(typed: &Import) -> Result<Outcome, Failure> {
    let (name, source): (String, Box<dyn Read>) = match &typed.file {
        Some(path) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|error| Failure::at(&name, error))?;
            (name, Box::new(file))
        }
        _ => ("-".to_owned(), Box::new(io::stdin())),
    };
    let mut lines = Lines {
        name,
        source: BufReader::with_capacity(1 << 16, source),
        number: 0,
        line: Vec::new(),
    };
    let told = lines.facts()?;
    let (meaning, is_like_dated) = lines.meaning(&told, typed.like.as_deref())?;
    let mut writer = Writing::open_or_create(&typed.set, meaning, told.is_dated || is_like_dated)?;
    if told.is_dated || typed.at.is_some() {
        writer.set().expect_dated(true)?;
    }
    let mut loader = match typed.at {
        None => writer.loader(LOAD_BYTES)?,
        Some(at) => writer.loader_at(LOAD_BYTES, at)?,
    };
    let times = match (told.is_dated, writer.set().is_dated()) {
        (true, _) => Times::Everywhere,
        (false, true) => Times::Anywhere,
        (false, false) => Times::Nowhere,
    };
    let found = lines.load(&mut loader, times)?;
    if let Some(told) = told.keys.filter(|&told| told != found) {
        return Err(lines.wrong(&format!(
            "the file ends here and has {found} keys; it says that it has {told}"
        )));
    }
    writer.add(loader)?;
    Ok(Outcome::Done)
}

/// The lines of a file of keys.
struct Lines {
    name: String,
    source: BufReader<Box<dyn Read>>,
    /// Of the line that was read last, counted from 1.
    number: u64,
    line: Vec<u8>,
}

/// What the lines in front of keys tell.
#[derive(Default)]
struct Told {
    /// The lines of a meaning.
    facts: String,
    /// The number of keys, if they tell it.
    keys: Option<u64>,
    /// Whether behind every key stands a time.
    is_dated: bool,
}

/// Where times stand behind keys.
#[derive(Clone, Copy)]
enum Times {
    /// The file says so, so where there is none something is lost.
    Everywhere,
    /// The set takes them.
    Anywhere,
    /// The set takes none.
    Nowhere,
}

/// The form of times.
const FORM: &str = "2026-03-01T12:00:00Z";

/// The key of 32 hexadecimal digits.
fn key(digits: &[u8]) -> Option<Key> {
    let is_hex = digits.len() == 32 && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u128::from_str_radix(digits, 16).ok().map(Key)
}

/// Bytes of the longest line that can be right.
const LONGEST: u64 = 1 << 16;

/// Bytes of all lines before the keys: what a set can keep.
const LONGEST_MEANING: usize = 16 << 20;

impl Lines {
    /// Reads a line; there is none at the end.
    fn next(&mut self) -> Result<bool, Failure> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut self.source).take(LONGEST);
        let read = limited.read_until(b'\n', &mut self.line);
        Ok(read.map_err(|error| Failure::at(&self.name, error))? > 0)
    }

    /// What the lines in front tell. The line behind them is the one that was read last.
    fn facts(&mut self) -> Result<Told, Failure> {
        let mut told = Told::default();
        while self.next()? {
            let Some(fact) = self.line.strip_prefix(b"# ") else { break };
            let fact = String::from_utf8_lossy(fact);
            match fact.strip_prefix(KEYS).and_then(|number| number.trim_end().parse().ok()) {
                Some(number) => told.keys = Some(number),
                None if fact.trim_end() == FIRST_SEEN => told.is_dated = true,
                None => told.facts += &fact,
            }
            if told.facts.len() > LONGEST_MEANING {
                return Err(self.wrong("the lines before the keys are too long for a meaning"));
            }
        }
        Ok(told)
    }

    /// What the keys mean, by the file or by the set `like`, and whether that set keeps times.
    fn meaning(&self, told: &Told, like: Option<&Path>) -> Result<(Meaning, bool), Failure> {
        match (like, told.facts.is_empty()) {
            (Some(like), true) => {
                let like = KeySet::open(like)?;
                Ok((like.meaning().clone(), like.is_dated()))
            }
            (None, false) if is_old_meaning(&told.facts) => Err(self.wrong(
                "these keys have the old format and can be forged; make them again from their list",
            )),
            (None, false) => {
                let known = Meaning::from_text(&told.facts).map(|meaning| (meaning, false));
                known.ok_or_else(|| {
                    self.wrong("these lines tell no meaning of keys that is known here")
                })
            }
            (Some(_), false) => {
                Err(self.wrong("the file tells what its keys mean; leave --like out"))
            }
            (None, true) => Err(self.wrong("nothing tells what these keys mean; --like SET does")),
        }
    }

    /// Gives the keys of all lines, from the one that was read last on, to `loader`; gives their number.
    fn load(&mut self, loader: &mut Loader, times: Times) -> Result<u64, Failure> {
        let mut count = 0;
        while !self.line.is_empty() {
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                let (digits, time) = match line.iter().position(|&byte| byte == b' ') {
                    Some(space) => (&line[..space], Some(&line[space + 1..])),
                    None => (line, None),
                };
                let key =
                    key(digits).ok_or_else(|| self.wrong("a key has 32 hexadecimal digits"))?;
                // What was too long to be judged has no key.
                if key.0 != Key::VACANT {
                    match (time, times) {
                        (None, Times::Everywhere) => return Err(self.wrong("a time is missing")),
                        (None, _) => loader.push([key])?,
                        (Some(_), Times::Nowhere) => {
                            return Err(self.wrong("a time stands here, and the set keeps none"));
                        }
                        (Some(time), _) => loader.push_dated([(key, self.time(time)?)])?,
                    }
                    count += 1;
                }
            }
            self.next()?;
        }
        Ok(count)
    }

    /// The time that `text` is, in the one form that is exported: a shorter one may be a part of it.
    fn time(&self, text: &[u8]) -> Result<Timestamp, Failure> {
        let text = std::str::from_utf8(text).ok().filter(|text| text.len() == FORM.len());
        let time = text.and_then(|text| text.parse().ok());
        time.ok_or_else(|| self.wrong(&format!("a time has the form {FORM}")))
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::new(format!("{}:{}: {what}", self.name, self.number))
    }
}
