//! Keys as text: header lines that begin with `# ` and have the meaning and the number of the keys, then a key of 32
//! hexadecimal digits per line, optionally followed by a space and the time at which it was first seen.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use uriscan::key::Key;
use uriscan::set::{KeySet, Loader, Meaning, Timestamp};
use uriscan_files::File;

use super::records;
use super::writing::{LOAD_BYTES, Writing};
use crate::args::{Import, Remove};
use crate::exit::{Failure, Outcome, Stop};
use crate::output::{Destination, write_text};
use crate::summary::plural;

/// The prefix of the number of keys.
const KEYS: &str = "keys ";

/// The header line which says that every key has a time.
const FIRST_SEEN: &str = "with first-seen";

pub(super) fn export(set: &KeySet, out: &mut (impl Write + Send)) -> Result<(), Stop> {
    for fact in set.meaning().to_text().lines() {
        writeln!(out, "# {fact}")?;
    }
    // Truncated files are detected by it.
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

/// Creates a set of keys, or adds them to one.
pub(super) fn import(typed: &Import) -> Result<Outcome, Failure> {
    let mut lines = Lines::open(typed.file.as_deref())?;
    let header = lines.facts()?;
    let (meaning, is_like_dated) = lines.meaning(&header, typed.like.as_deref())?;
    let mut writer =
        Writing::open_or_create(&typed.set, meaning, header.is_dated || is_like_dated)?;
    if header.is_dated || typed.at.is_some() {
        writer.set().expect_dated(true)?;
    }
    let mut loader = match typed.at {
        None => writer.loader(LOAD_BYTES)?,
        Some(at) => writer.loader_at(LOAD_BYTES, at)?,
    };
    let times = match (header.is_dated, writer.set().is_dated()) {
        (true, _) => Times::Required,
        (false, true) => Times::Optional,
        (false, false) => Times::None,
    };
    lines.load_all(&header, &mut loader, times)?;
    writer.add(loader)?;
    Ok(Outcome::Done)
}

/// Removes keys from a set: those that `export` or `key` has written.
pub(super) fn remove(typed: &Remove) -> Result<Outcome, Failure> {
    let writer = Writing::open(&typed.set)?;
    let mut loader = writer.loader(LOAD_BYTES)?;
    let files = &typed.filling.input.files;
    let stdin = [PathBuf::from("-")];
    for file in if files.is_empty() { &stdin[..] } else { files } {
        let mut lines = Lines::open(Some(file))?;
        let header = lines.facts()?;
        if !header.facts.is_empty() {
            let (meaning, _) = lines.meaning(&header, None)?;
            writer.set().expect(&meaning)?;
        }
        let times = if header.is_dated { Times::Required } else { Times::Optional };
        lines.load_all(&header, &mut loader, times)?;
    }
    write_text(&records::remove(writer, loader)?.to_string(), &Destination::Stdout)
}

struct Lines {
    name: String,
    source: BufReader<Box<dyn Read>>,
    /// The number of the current line, from 1.
    number: u64,
    line: Vec<u8>,
}

#[derive(Default)]
struct Header {
    facts: String,
    /// The number of keys, if declared.
    keys: Option<u64>,
    /// Whether every key has a time.
    is_dated: bool,
}

/// Whether keys have times.
#[derive(Clone, Copy)]
enum Times {
    /// The file declares them, so a missing one is an error.
    Required,
    /// The set records them.
    Optional,
    /// The set records none.
    None,
}

const FORM: &str = "2026-03-01T12:00:00Z";

/// The key of 32 hexadecimal digits.
fn key(digits: &[u8]) -> Option<Key> {
    let is_hex = digits.len() == 32 && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u128::from_str_radix(digits, 16).ok().map(Key)
}

/// Bytes of all header lines, and of the longest line: what a set can store.
const LONGEST_MEANING: usize = 16 << 20;

impl Lines {
    /// Opens the file at `path`; standard input without one, or for `-`.
    fn open(path: Option<&Path>) -> Result<Lines, Failure> {
        let (name, source): (String, Box<dyn Read>) = match path {
            Some(path) if path.as_os_str() != "-" => {
                let name = path.display().to_string();
                let file = File::open(path).map_err(|error| Failure::at(&name, error))?;
                (name, Box::new(file))
            }
            _ => ("-".to_owned(), Box::new(io::stdin())),
        };
        let source = BufReader::with_capacity(1 << 16, source);
        Ok(Lines { name, source, number: 0, line: Vec::new() })
    }

    /// Reads the next line; `false` at the end.
    fn next(&mut self) -> Result<bool, Failure> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut self.source).take(LONGEST_MEANING as u64);
        let read = limited.read_until(b'\n', &mut self.line);
        Ok(read.map_err(|error| Failure::at(&self.name, error))? > 0)
    }

    /// Parses the header; the current line is then the first one after it.
    fn facts(&mut self) -> Result<Header, Failure> {
        let mut header = Header::default();
        while self.next()? {
            let Some(fact) = self.line.strip_prefix(b"# ") else { break };
            let fact = String::from_utf8_lossy(fact);
            match fact.strip_prefix(KEYS).and_then(|number| number.trim_end().parse().ok()) {
                Some(number) => header.keys = Some(number),
                None if fact.trim_end() == FIRST_SEEN => header.is_dated = true,
                None => header.facts += &fact,
            }
            if header.facts.len() > LONGEST_MEANING {
                return Err(self.wrong("the lines before the keys are too long"));
            }
        }
        Ok(header)
    }

    /// The meaning of the keys, by the header or by the set `like`, and whether that set records times.
    fn meaning(&self, header: &Header, like: Option<&Path>) -> Result<(Meaning, bool), Failure> {
        match (like, header.facts.is_empty()) {
            (Some(like), true) => {
                let like = KeySet::open(like)?;
                Ok((like.meaning().clone(), like.is_dated()))
            }
            (None, false) => {
                let known = Meaning::from_text(&header.facts).map(|meaning| (meaning, false));
                known.ok_or_else(|| self.wrong("these lines have no known meaning of keys"))
            }
            (Some(_), false) => {
                Err(self.wrong("the file declares what its keys mean; omit --like"))
            }
            (None, true) => {
                Err(self.wrong("the file does not declare what its keys mean; use --like SET"))
            }
        }
    }

    /// Adds the keys of the current and all further lines to `loader`.
    fn load_all(
        &mut self,
        header: &Header,
        loader: &mut Loader,
        times: Times,
    ) -> Result<(), Failure> {
        let found = self.load(loader, times)?;
        match header.keys {
            Some(declared) if declared != found => Err(self.wrong(&format!(
                "the file ends here with {found} key{}; it declares {declared}",
                plural(found)
            ))),
            _ => Ok(()),
        }
    }

    /// Adds the keys of the current and all further lines to `loader`; returns their number.
    fn load(&mut self, loader: &mut Loader, times: Times) -> Result<u64, Failure> {
        let mut count = 0;
        while !self.line.is_empty() {
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                let (digits, time) = match line.iter().position(|&byte| byte == b' ') {
                    Some(space) => (&line[..space], Some(&line[space + 1..])),
                    None => (line, None),
                };
                let key = key(digits)
                    .ok_or_else(|| self.wrong("expected a key of 32 hexadecimal digits"))?;
                // Records that are too long have no key.
                if key.0 != Key::VACANT {
                    match (time, times) {
                        (None, Times::Required) => return Err(self.wrong("a time is missing")),
                        (None, _) => loader.push([key])?,
                        (Some(_), Times::None) => {
                            return Err(self.wrong("unexpected time: the set records none"));
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

    /// Parses a time in the exported format only: a shorter one may be truncated.
    fn time(&self, text: &[u8]) -> Result<Timestamp, Failure> {
        let text = std::str::from_utf8(text).ok().filter(|text| text.len() == FORM.len());
        let time = text.and_then(|text| text.parse().ok());
        time.ok_or_else(|| self.wrong(&format!("expected a time such as {FORM}")))
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::new(format!("{}:{}: {what}", self.name, self.number))
    }
}
