//! The peak of memory of every extractor on what costs it most, as the input grows.
//!
//! `floods.tsv` has the inputs; `scripts/check-linear` counts the instructions that they take.

use std::fs;

use crate::memory::peak_and_code;
use crate::run::Place;

/// Bytes that the program takes for any input: its code, its tables, and the buffers of two threads.
const LEAST: u64 = 48 << 20;

/// Bytes that are taken for each byte of a line, a record or a document that is searched as a whole: those of its text, of
/// its links, and of what is written of them.
const FOR_EACH: u64 = 16;

/// Bytes that are taken at most for Markdown, the tree of which is many times its text.
const MARKDOWN: u64 = 460 << 20;

/// The sizes of the inputs in bytes; those of Markdown are a quarter, since only a million marks are parsed.
const SIZES: [usize; 3] = [1 << 20, 2 << 20, 4 << 20];

/// An input of `floods.tsv`.
struct Flood<'t> {
    name: &'t str,
    args: Vec<String>,
    head: Vec<u8>,
    unit: Vec<u8>,
    close: Vec<u8>,
}

impl Flood<'_> {
    fn new(line: &str) -> Flood<'_> {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, args, head, unit, close] = columns[..] else { panic!("{line:?}") };
        let [head, unit, close] = [head, unit, close].map(unescaped);
        Flood { name, args: words(args), head, unit, close }
    }

    /// About `bytes` bytes.
    fn text(&self, bytes: usize) -> Vec<u8> {
        let count = (bytes / (self.unit.len() + self.close.len())).max(1);
        [&self.head[..], &self.unit.repeat(count), &self.close.repeat(count)].concat()
    }
}

/// `text` with its escapes undone: `\t`, `\n`, `\r`, `\\` and `\xNN`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((plain, tail)) = rest.split_once('\\') {
        out.extend(plain.bytes());
        let taken = match tail.as_bytes()[0] {
            b'x' => {
                out.push(u8::from_str_radix(&tail[1..3], 16).unwrap());
                3
            }
            letter => {
                out.push(match letter {
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    other => other,
                });
                1
            }
        };
        rest = &tail[taken..];
    }
    out.extend(rest.bytes());
    out
}

/// The words of `text`, one of which may be in `'`.
fn words(text: &str) -> Vec<String> {
    let mut parts = text.split('\'');
    let mut words: Vec<String> = Vec::new();
    while let Some(plain) = parts.next() {
        words.extend(plain.split_whitespace().map(str::to_owned));
        words.extend(parts.next().map(str::to_owned));
    }
    words
}

/// What is extracted from.
fn floods() -> impl Iterator<Item = Flood<'static>> {
    include_str!("floods.tsv").lines().filter(|line| !line.starts_with('#')).map(Flood::new)
}

/// Checks the peak for inputs of `format` with so many bytes.
fn memory_is_bounded(format: &str, sizes: &[usize]) {
    let has_format = |flood: &Flood<'_>| flood.args[1] == format;
    let mut count = 0;
    for flood in floods().filter(has_format) {
        let is_markdown = format == "markdown";
        let peak = |bytes: &usize| {
            let bytes = if is_markdown { bytes / 4 } else { *bytes };
            let place = Place::new(&[]);
            fs::write(place.path("in"), flood.text(bytes)).unwrap();
            let args: Vec<&str> = flood.args.iter().map(String::as_str).collect();
            let fixed = ["extract", "-j2", "-q", "in", "-o", "out"];
            let (peak, code) = peak_and_code(place.command(&[&fixed[..], &args].concat()));
            // What is broken is reported; nothing crashes.
            assert!(matches!(code, Some(0 | 2)), "{}: {code:?}", flood.name);
            let bound = if is_markdown { MARKDOWN } else { LEAST + FOR_EACH * bytes as u64 };
            assert!(peak <= bound, "{}: {} MiB for {bytes} bytes", flood.name, peak >> 20);
            peak >> 20
        };
        let peaks: Vec<u64> = sizes.iter().map(peak).collect();
        println!("{:32} {peaks:>5?} MiB", flood.name);
        count += 1;
    }
    assert!(count > 0, "{format}");
}

/// Makes two tests of each format, and one that knows whether these are all.
macro_rules! formats {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                memory_is_bounded(stringify!($name), &SIZES[..1]);
            }
        )*

        #[test]
        fn all_have_a_test() {
            let known = [$(stringify!($name)),*];
            assert!(floods().all(|flood| flood.args[0] == "--from" && known.contains(&&*flood.args[1])));
        }

        mod full {
            $(
                #[test]
                fn $name() {
                    super::memory_is_bounded(stringify!($name), &super::SIZES[1..]);
                }
            )*
        }
    };
}

formats! { cdxj clf css csv eml folded har html json markdown markup mbox robots text tsv w3c warc xml }
