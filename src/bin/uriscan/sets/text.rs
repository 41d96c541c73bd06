//! Keys as text: `# ` and a fact of their meaning a line, then 32 hexadecimal digits a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use uriscan::key::Key;
use uriscan::set::{Fault, KeySet, Loader, Meaning, SetError, SetWriter};

use super::Unwritten;
use super::records::LOAD_BYTES;
use crate::args::Import;
use crate::exit::{Failure, Outcome};

/// Writes the keys of `set`.
pub(super) fn export(set: &KeySet, out: &mut impl Write) -> Result<(), Unwritten> {
    for fact in set.meaning().as_str().lines() {
        writeln!(out, "# {fact}")?;
    }
    let mut text = Vec::new();
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
    let facts = lines.facts()?;
    let meaning = match (&typed.like, facts.is_empty()) {
        (Some(like), true) => KeySet::open(like)?.meaning().clone(),
        (None, false) => Meaning::from_text(&facts)
            .ok_or_else(|| lines.wrong("these lines tell no meaning of keys that is known here"))?,
        (Some(_), false) => {
            return Err(lines.wrong("the file tells what its keys mean; leave --like out"));
        }
        (None, true) => {
            return Err(lines.wrong("nothing tells what these keys mean; --like SET does"));
        }
    };
    let mut writer = open_or_create(&typed.set, meaning)?;
    let mut loader = writer.loader(LOAD_BYTES)?;
    lines.load(&mut loader)?;
    writer.add(loader)?;
    Ok(Outcome::Done)
}

/// The set at `path` to be added to, made if need be.
///
/// # Errors
/// When it can be neither; when its keys mean something else.
pub(crate) fn open_or_create(path: &Path, meaning: Meaning) -> Result<SetWriter, SetError> {
    match SetWriter::open(path) {
        Ok(writer) => {
            writer.set().expect(&meaning)?;
            Ok(writer)
        }
        Err(SetError { fault: Fault::NotASet, .. }) => SetWriter::create(path, meaning),
        Err(error) => Err(error),
    }
}

/// The lines of a file of keys.
struct Lines {
    name: String,
    source: BufReader<Box<dyn Read>>,
    /// Of the line that was read last, counted from 1.
    number: u64,
    line: Vec<u8>,
}

/// Bytes of the longest line that can be right.
const LONGEST: u64 = 1 << 16;

impl Lines {
    /// Reads a line; there is none at the end.
    fn next(&mut self) -> Result<bool, Failure> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut self.source).take(LONGEST);
        let read = limited.read_until(b'\n', &mut self.line);
        Ok(read.map_err(|error| Failure::at(&self.name, error))? > 0)
    }

    /// The lines of a meaning in front. The line behind them is the one that was read last.
    fn facts(&mut self) -> Result<String, Failure> {
        let mut facts = String::new();
        while self.next()? {
            let Some(fact) = self.line.strip_prefix(b"# ") else { break };
            facts += &String::from_utf8_lossy(fact);
        }
        Ok(facts)
    }

    /// Gives the keys of all lines, from the one that was read last on, to `loader`.
    fn load(&mut self, loader: &mut Loader) -> Result<(), Failure> {
        while !self.line.is_empty() {
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                let is_hex = line.len() == 32 && line.iter().all(u8::is_ascii_hexdigit);
                let key = std::str::from_utf8(line).ok().filter(|_| is_hex);
                let key = key.and_then(|digits| u128::from_str_radix(digits, 16).ok());
                // What was too long to be judged has no key.
                match key {
                    Some(Key::VACANT) => {}
                    Some(key) => loader.push([Key(key)])?,
                    None => return Err(self.wrong("a key has 32 hexadecimal digits")),
                }
            }
            self.next()?;
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::new(format!("{}:{}: {what}", self.name, self.number))
    }
}
