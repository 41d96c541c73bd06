//! The first bytes of an input, which hints look at.

use std::io::{Cursor, Read};
use std::path::Path;

use uriscan_bulk::io::decompressed;
use uriscan_files::File;

/// Bytes of an input that are examined.
const HEAD_BYTES: u64 = 8 << 10;

pub(crate) struct Beginning {
    pub(super) name: String,
    pub(super) head: Vec<u8>,
    /// The byte that ends its records.
    pub(super) end: u8,
}

#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: usize,
    /// The white space before its text, in characters.
    pub(super) indent: usize,
    /// Without white space around it; not empty.
    pub(super) text: &'a [u8],
}

impl Beginning {
    /// That of the file at `path`, if it can be read again; its records end in `end`.
    pub(crate) fn of_file(path: &Path, end: u8) -> Option<Beginning> {
        let head = head_of(file(path)?)?;
        Some(Beginning { name: path.display().to_string(), head, end })
    }

    /// That of standard input, which began with `head`.
    pub(crate) fn of_stdin(head: &[u8], end: u8) -> Option<Beginning> {
        let head = head_of(Cursor::new(head.to_vec()))?;
        Some(Beginning { name: "-".to_owned(), head, end })
    }

    /// Whether there is anything but white space.
    pub(crate) fn has_text(&self) -> bool {
        self.first_byte().is_some()
    }

    /// The first byte that is not white space.
    pub(crate) fn first_byte(&self) -> Option<u8> {
        self.lines().next()?.first().copied()
    }

    /// What comes before the first line feed.
    pub(crate) fn first_line(&self) -> &[u8] {
        let text = self.head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.head);
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Its whole records that are not blank.
    pub(super) fn records(&self) -> impl Iterator<Item = Line<'_>> {
        let is_whole = (self.head.len() as u64) < HEAD_BYTES;
        let end = self.head.iter().rposition(|&byte| byte == self.end).filter(|_| !is_whole);
        let text = &self.head[..end.unwrap_or(self.head.len())];
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let lines = text.split(|&byte| byte == self.end);
        let lines = lines.enumerate().map(|(at, line)| {
            let text = line.trim_ascii_start();
            let indent = line.len() - text.len();
            Line { number: at + 1, indent, text: text.trim_ascii_end() }
        });
        lines.filter(|line| !line.text.is_empty())
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.records().map(|line| line.text)
    }

    /// Whether most of its lines are as `is_such` says.
    pub(super) fn is_mostly(&self, is_such: impl Fn(&[u8]) -> bool) -> bool {
        is_most(self.lines(), is_such)
    }
}

/// Whether most of `texts` are as `is_such` says.
pub(super) fn is_most<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
    is_such: impl Fn(&[u8]) -> bool,
) -> bool {
    let (such, all) =
        texts.fold((0, 0_usize), |(such, all), text| (such + usize::from(is_such(text)), all + 1));
    2 * such > all
}

fn file(path: &Path) -> Option<File> {
    // A pipe cannot be read again.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

fn head_of(stream: impl Read + Send + 'static) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    // On error, what was read so far is enough.
    let _ = decompressed(Box::new(stream)).ok()?.take(HEAD_BYTES).read_to_end(&mut head);
    Some(head)
}
