//! The input files: checked before the run, opened one by one during it.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use uriscan::extract::Format;
use uriscan_bulk::io::{Container, Source};
use uriscan_files::File;

use crate::exit::Failure;
use crate::hint;
use crate::output::is_dash;
use crate::remote::{self, Url};
use crate::tables::NO_COLUMN;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
    Remote(Url),
    /// Records from the command line, each with its end.
    Typed(Vec<u8>),
}

impl Input {
    /// The path of a file; `None` for other inputs.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Input::Stdin | Input::Typed(_) | Input::Remote(_) => None,
            Input::File(path) => Some(path),
        }
    }

    /// The input that the argument `path` names.
    pub(crate) fn named(path: PathBuf) -> Input {
        Url::of_path(&path).map_or_else(|| Input::File(path), Input::Remote)
    }
}

/// The inputs that `files` name: standard input if there are none.
pub(crate) fn of_arguments(files: Vec<PathBuf>) -> Result<Vec<Input>, Failure> {
    if files.is_empty() {
        return Ok(vec![Input::Stdin]);
    }
    let named = |path: PathBuf| if is_dash(&path) { Input::Stdin } else { Input::named(path) };
    let inputs: Vec<Input> = files.into_iter().map(named).collect();
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Failure::at("-", "standard input can be read only once; name `-` once"));
    }
    Ok(inputs)
}

/// `inputs`, which are lists, with the objects below prefixes instead of these.
pub(crate) fn with_listed(inputs: &[Input]) -> Result<Vec<Input>, Failure> {
    let mut all = Vec::with_capacity(inputs.len());
    for input in inputs {
        match input {
            Input::Remote(url) => all.extend(remote::listed(url)?.into_iter().map(Input::Remote)),
            input => all.push(input.clone()),
        }
    }
    Ok(all)
}

pub(crate) struct Inputs {
    pub(crate) sources: Vec<Source>,
    /// Bytes of all inputs, if they are regular files.
    pub(crate) total_bytes: Option<u64>,
    /// Hidden files and directories that were skipped.
    pub(crate) hidden: u64,
    pub(crate) stdin_head: StdinHead,
}

impl Inputs {
    /// The inputs with what `change` makes of each source.
    pub(crate) fn map(self, change: impl Fn(Source) -> Source) -> Inputs {
        Inputs { sources: self.sources.into_iter().map(change).collect(), ..self }
    }
}

/// The first bytes of standard input, for [`hint`].
pub(crate) type StdinHead = Arc<OnceLock<Vec<u8>>>;

/// Makes sources of `inputs`.
/// One that is missing, unreadable, or a directory is an error before anything is written.
pub(crate) fn open(inputs: &[Input]) -> Result<Inputs, Failure> {
    let stdin_head = StdinHead::default();
    let sources = Vec::with_capacity(inputs.len());
    let mut opened =
        Inputs { sources, total_bytes: Some(0), hidden: 0, stdin_head: stdin_head.clone() };
    for input in inputs {
        let (source, bytes) = match input {
            Input::Stdin => {
                let stdin = Text { kept: Some(stdin_head.clone()), ..text(io::stdin()) };
                (stdin_source(stdin), None)
            }
            Input::Typed(list) => {
                let bytes = list.len() as u64;
                (Source::new("-e", io::Cursor::new(list.clone())), Some(bytes))
            }
            Input::File(path) => {
                let bytes = look(path)?;
                if bytes.is_some() {
                    refuse_table(path).map_err(|error| Failure::at(path.display(), error))?;
                }
                (Source::file(path), bytes)
            }
            Input::Remote(url) => remote_source(url, url.is_web())?,
        };
        opened.sources.push(source);
        opened.total_bytes = opened.total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    }
    Ok(opened)
}

/// What `url` names as a list, and its size, if that is known. A web page is an error if the URL itself may have been meant.
pub(crate) fn remote_source(
    url: &Url,
    refuses_pages: bool,
) -> Result<(Source, Option<u64>), Failure> {
    let stored = remote::open(url)?;
    let bytes = stored.bytes();
    let stream = stored.stream().map_err(|error| Failure::at(url, error))?;
    let source = Source::new(stored.name(), Text { refuses_pages, ..text(stream) }).bytes(bytes);
    Ok((source.early(stored.has_ranges()), bytes))
}

/// Standard input, read as `text`. What is done is passed on before anything waits for it.
pub(crate) fn stdin_source(text: Text<io::Stdin>) -> Source {
    let source = Source::new("-", text);
    #[cfg(unix)]
    let source = source.wait(uriscan_bulk::io::readable(io::stdin()));
    source
}

/// The first byte of standard input that is not white space; it is waited for, and left to be read.
pub(crate) fn first_of_stdin() -> Option<u8> {
    head_of_stdin().trim_ascii_start().first().copied()
}

/// What is there of standard input, which stays there.
pub(crate) fn head_of_stdin() -> Vec<u8> {
    io::stdin().lock().fill_buf().map_or(Vec::new(), <[u8]>::to_vec)
}

/// The bytes of all of `inputs`, which are tables, if known.
#[cfg(feature = "full")]
pub(crate) fn total_bytes(inputs: &[Input]) -> Result<Option<u64>, Failure> {
    let bytes = inputs.iter().map(|input| match input {
        Input::Stdin | Input::Typed(_) => Ok(None),
        Input::File(path) => look(path),
        Input::Remote(url) => Ok(remote::open(url)?.bytes()),
    });
    // All of them are checked, also after one of unknown size.
    let bytes = bytes.collect::<Result<Vec<_>, Failure>>()?;
    Ok(bytes.into_iter().sum())
}

/// An error if the regular file at `path` is a table, an archive or a document.
pub(crate) fn refuse_table(path: &Path) -> io::Result<()> {
    text(File::open(path)?).begin()
}

/// A reader of `inner` that fails if it is a table or a [`Container`].
pub(crate) fn text<R: Read>(inner: R) -> Text<R> {
    Text { inner, head: None, kept: None, refuses_pages: false }
}

const TABLE_BYTES: usize = 8;

/// A reader of text that checks its first bytes.
pub(crate) struct Text<R> {
    inner: R,
    head: Option<io::Cursor<Vec<u8>>>,
    /// Where to store its first bytes.
    kept: Option<StdinHead>,
    /// Fails if it is a web page.
    refuses_pages: bool,
}

impl<R: Read> Text<R> {
    fn begin(&mut self) -> io::Result<()> {
        let (mut head, mut len) = (vec![0; Container::HEAD_BYTES], 0);
        while !Container::is_head(&head[..len]) {
            match self.inner.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        head.truncate(len);
        let format = match &head[..head.len().min(TABLE_BYTES)] {
            // Pages and footer begin with the number of a first field.
            [b'P', b'A', b'R', b'1', 0x15, ..] => "Parquet",
            b"ARROW1\0\0" => "Arrow",
            // A stream begins with a padded length, which is not text.
            [0xFF, 0xFF, 0xFF, 0xFF, low, _, _, 0] if low % 8 == 0 => "Arrow",
            _ => {
                if let Some(container) = Container::of_head(&head) {
                    return Err(container.refusal());
                }
                // What can be nothing else: Markdown may begin with other tags.
                if self.refuses_pages && Format::of_source(".md", &head) == Format::Html {
                    return Err(io::Error::other(
                        "is a web page, not a list of URIs; use -e URL or `echo URL | uriscan ...` for the URL itself, \
                         `uriscan extract URL` for its links",
                    ));
                }
                if let Some(kept) = &self.kept {
                    // Set once, as there is one standard input.
                    let _ = kept.set(head.clone());
                }
                self.head = Some(io::Cursor::new(head));
                return Ok(());
            }
        };
        Err(io::Error::other(format!("is a table in format {format}, not text; {NO_COLUMN}")))
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            self.begin()?;
        }
        match self.head.as_mut().map_or(Ok(0), |head| head.read(buffer))? {
            0 => self.inner.read(buffer),
            count => Ok(count),
        }
    }
}

/// The message for the file at `path`, which cannot be opened because of `error`.
pub(crate) fn missing(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if hint::is_url(path) => {
            let by = if cfg!(feature = "full") { "" } else { " without the feature `full`" };
            format!(
                "is a URL, not a file, and is not fetched{by}; use -e URL or `echo URL | uriscan ...` for the URL \
                 itself, `curl -s URL | uriscan ...` for its content"
            )
        }
        _ => error.to_string(),
    }
}

/// Checks that the file at `path` can be read; returns its size if it is a regular file.
pub(crate) fn look(path: &Path) -> Result<Option<u64>, Failure> {
    let name = path.display();
    let metadata = path.metadata().map_err(|error| Failure::at(name, missing(path, &error)))?;
    if metadata.is_dir() {
        let all = path.join("*");
        let what = format_args!("is a directory; name its files, for example {}", all.display());
        return Err(Failure::at(path.display(), what));
    }
    if !metadata.is_file() {
        // Opening a pipe may block, and it can be read only once.
        return Ok(None);
    }
    File::open(path).map_err(|error| Failure::at(path.display(), error))?;
    Ok(Some(metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_table_is_taken_for_one() {
        let is_text = |bytes: &[u8]| {
            let mut read = Vec::new();
            let done = text(bytes).read_to_end(&mut read);
            assert!(done.is_err() || read == bytes);
            done.is_ok()
        };
        for table in [&b"PAR1\x15\x04"[..], b"ARROW1\0\0\xFF", b"\xFF\xFF\xFF\xFF\x88\x03\0\0\x10"]
        {
            assert!(!is_text(table), "{table:?}");
        }
        for list in [&b""[..], b"PAR1", b"PAR1/a\n", b"ARROW1\nb\n", b"http://h/\n"] {
            assert!(is_text(list), "{list:?}");
        }
        // Bytes that are neither a URI nor a table.
        for noise in
            [&b"\xFF\xFF\xFF\xFF"[..], b"\xFF\xFF\xFF\xFFa b\n", b"\xFF\xFF\xFF\xFF\x01\x02\0\0"]
        {
            assert!(is_text(noise), "{noise:?}");
        }
    }
}
