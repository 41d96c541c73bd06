//! Keys as text: `# ` and a fact of their meaning a line, their number, then 32 hexadecimal digits a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use uriscan::key::Key;
use uriscan::set::{Fault, KeySet, Loader, Meaning, SetError, SetWriter};

use super::Unwritten;
use super::records::LOAD_BYTES;
use crate::args::Import;
use crate::exit::{Failure, Outcome};

/// What stands before the number of keys.
const KEYS: &str = "keys ";

/// Writes the keys of `set`.
pub(super) fn export(set: &KeySet, out: &mut (impl Write + Send)) -> Result<(), Unwritten> {
    for fact in set.meaning().as_str().lines() {
        writeln!(out, "# {fact}")?;
    }
    // By which one can see that a part of the file is missing.
    writeln!(out, "# {KEYS}{}", set.len())?;
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
    let (facts, told) = lines.facts()?;
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
    let found = lines.load(&mut loader)?;
    if let Some(told) = told.filter(|&told| told != found) {
        return Err(lines.wrong(&format!(
            "the file ends here and has {found} keys; it says that it has {told}"
        )));
    }
    writer.add(loader)?;
    Ok(Outcome::Done)
}

/// The set at `path` to be added to, made if need be.
///
/// # Errors
/// When it can be neither; when its keys mean something else.
pub(super) fn open_or_create(path: &Path, meaning: Meaning) -> Result<SetWriter, SetError> {
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

    /// The lines of a meaning in front, and the number of keys, if they tell it. The line behind them is the one that was
    /// read last.
    fn facts(&mut self) -> Result<(String, Option<u64>), Failure> {
        let (mut facts, mut keys) = (String::new(), None);
        while self.next()? {
            let Some(fact) = self.line.strip_prefix(b"# ") else { break };
            let fact = String::from_utf8_lossy(fact);
            match fact.strip_prefix(KEYS).and_then(|number| number.trim_end().parse().ok()) {
                Some(number) => keys = Some(number),
                None => facts += &fact,
            }
        }
        Ok((facts, keys))
    }

    /// Gives the keys of all lines, from the one that was read last on, to `loader`; gives their number.
    fn load(&mut self, loader: &mut Loader) -> Result<u64, Failure> {
        let mut count = 0;
        while !self.line.is_empty() {
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                let is_hex = line.len() == 32 && line.iter().all(u8::is_ascii_hexdigit);
                let key = std::str::from_utf8(line).ok().filter(|_| is_hex);
                let key = key.and_then(|digits| u128::from_str_radix(digits, 16).ok());
                // What was too long to be judged has no key.
                match key {
                    Some(Key::VACANT) => {}
                    Some(key) => {
                        loader.push([Key(key)])?;
                        count += 1;
                    }
                    None => return Err(self.wrong("a key has 32 hexadecimal digits")),
                }
            }
            self.next()?;
        }
        Ok(count)
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::new(format!("{}:{}: {what}", self.name, self.number))
    }
}
