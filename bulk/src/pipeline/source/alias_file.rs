//! Aliases read from a file of pairs.

use std::collections::HashMap;
use std::io;

use crate::io::write::fields::members;
use crate::io::{Chunk, ChunkReader, ReadError, Shape, Source};
use crate::pipeline::{AliasFault, Aliases, Equivalence, Error, Settings};
use uriscan_core::alias::{AliasRows, AliasTable, Lookup};
use uriscan_core::key::{Hasher, Key, PublicHash, PublicHasher};
use uriscan_core::normalize::Normalizer;
use uriscan_core::rules;

/// How the two columns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Tsv,
    Csv,
    Jsonl,
}

impl Columns {
    /// By a row: `{` begins an object, a tab parts columns, and so does a comma otherwise.
    fn of(row: &[u8]) -> Columns {
        match row {
            [b'{', ..] => Columns::Jsonl,
            _ if row.contains(&b'\t') => Columns::Tsv,
            _ => Columns::Csv,
        }
    }

    /// The two columns of `row`.
    fn split(self, row: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut cells = match self {
            Columns::Tsv => row.split(|&byte| byte == b'\t').map(<[u8]>::to_vec).collect(),
            Columns::Csv => csv(row)?,
            Columns::Jsonl => {
                let (from, to) = members(row, "from", "to").ok()?;
                [from, to].map(|cell| cell.text.into_owned().into_bytes()).into()
            }
        };
        let to = cells.pop()?;
        let from = cells.pop()?;
        cells.is_empty().then(|| (from.trim_ascii().to_vec(), to.trim_ascii().to_vec()))
    }
}

/// The cells of a row of CSV (RFC 4180), which is on one line.
fn csv(row: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut cells = Vec::new();
    let mut rest = row;
    loop {
        let mut cell = Vec::new();
        if let Some(mut quoted) = rest.strip_prefix(b"\"") {
            loop {
                let end = memchr::memchr(b'"', quoted)?;
                cell.extend_from_slice(&quoted[..end]);
                quoted = &quoted[end + 1..];
                let Some(more) = quoted.strip_prefix(b"\"") else { break };
                cell.push(b'"');
                quoted = more;
            }
            rest = quoted;
        } else {
            let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
            cell.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        cells.push(cell);
        match rest {
            [] => return Some(cells),
            [b',', more @ ..] => rest = more,
            _ => return None,
        }
    }
}

impl Aliases {
    /// Reads the aliases that `open` gives: two columns, the URI and what it represents, as TSV, CSV or JSON lines with
    /// `from` and `to`; the first valid row decides which. A first row of the words `from` and `to` is a header.
    ///
    /// `equivalence` decides which spellings are equivalent, without aliases; `hasher` makes the keys of the run. With
    /// `keep_targets` the targets can be shown ([`crate::pipeline::normalize`], [`crate::pipeline::Emit::Normalized`])
    /// and have public keys. `on_fault` receives every ignored row with its line; `open` is called again if there are
    /// conflicts or cycles, to find their rows.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn read(
        open: &dyn Fn() -> Source,
        equivalence: &Equivalence,
        hasher: Hasher,
        keep_targets: bool,
        settings: &Settings,
        on_fault: &mut dyn FnMut(AliasFault, u64),
    ) -> Result<Aliases, Error> {
        let reader = Reader::new(equivalence, hasher, settings);
        Aliases::read_by(reader, open, keep_targets, on_fault)
    }

    fn read_by(
        mut reader: Reader<'_>,
        open: &dyn Fn() -> Source,
        keep_targets: bool,
        on_fault: &mut dyn FnMut(AliasFault, u64),
    ) -> Result<Aliases, Error> {
        let mut rows = AliasRows::new();
        let mut targets = keep_targets.then(HashMap::new);
        reader.each(open(), &mut |line, row| match row {
            Ok((from, (to, form))) => {
                rows.push(from, to);
                if let Some(targets) = &mut targets {
                    targets.entry(to.0).or_insert_with(|| form.into());
                }
            }
            Err(fault) => on_fault(fault, line),
        })?;
        let digest = reader.digest();
        let table = AliasTable::new(rows);
        if table.conflicts() + table.loops() > 0 {
            reader.each(open(), &mut |line, row| {
                let Ok((from, (to, _))) = row else { return };
                match table.lookup(from) {
                    Lookup::Conflict if from != to => on_fault(AliasFault::Conflict, line),
                    Lookup::Loop if from != to => on_fault(AliasFault::Loop, line),
                    _ => {}
                }
            })?;
        }
        Ok(Aliases { table, hasher: reader.hasher, digest, targets })
    }
}

/// Bytes of a file of aliases when it is decompressed, all of which may be pairs that are held in memory.
const MOST_BYTES: u64 = 16 << 30;

/// The key of the left side, the key and the canonical form of the right one; or what is wrong.
type RowOf<'a> = Result<(Key, (Key, &'a [u8])), AliasFault>;

/// Reads rows and makes keys of them.
struct Reader<'a> {
    equivalence: &'a Equivalence,
    hasher: Hasher,
    settings: &'a Settings,
    normalizer: Normalizer,
    rules: rules::Scratch,
    /// Bytes that the file may have.
    limit: u64,
    /// The canonical form of the right side.
    to: Vec<u8>,
    /// The public keys of the pairs that were read, while that is done for the first time.
    pairs: Vec<u128>,
}

impl<'a> Reader<'a> {
    fn new(equivalence: &'a Equivalence, hasher: Hasher, settings: &'a Settings) -> Reader<'a> {
        let normalizer = Normalizer::with_kernels(equivalence.normalize, settings.kernels);
        Reader {
            equivalence,
            hasher,
            settings,
            normalizer,
            rules: rules::Scratch::default(),
            limit: MOST_BYTES,
            to: Vec::new(),
            pairs: Vec::new(),
        }
    }

    fn each(&mut self, source: Source, each: &mut dyn FnMut(u64, RowOf<'_>)) -> Result<(), Error> {
        let Settings { chunk_bytes, max_record, .. } = *self.settings;
        let name = source.name.clone();
        let mut chunks = ChunkReader::new(vec![source], b'\n', chunk_bytes, max_record);
        chunks.count_lines();
        let mut chunk = Chunk::default();
        let mut columns = None;
        let mut bytes = 0;
        while chunks.fill(&mut chunk)? {
            bytes += chunk.text.padded().content().len() as u64;
            if bytes > self.limit {
                let what = format!("has more than {} bytes, the limit for aliases", self.limit);
                let error = io::Error::new(io::ErrorKind::InvalidData, what);
                return Err(ReadError { source: name, error }.into());
            }
            match chunk.shape {
                Shape::Records => {}
                Shape::LongFirst => {
                    each(chunk.line, Err(AliasFault::Malformed));
                    continue;
                }
                _ => continue,
            }
            let lines = chunk.text.padded().content().split(|&byte| byte == b'\n');
            for (line, row) in (chunk.line..).zip(lines) {
                let row = row.trim_ascii();
                if row.is_empty() {
                    continue;
                }
                let is_first = columns.is_none();
                let by = columns.unwrap_or_else(|| Columns::of(row));
                let cells = by.split(row);
                let is_heading = |(from, to): &(Vec<u8>, Vec<u8>)| from == b"from" && to == b"to";
                if is_first && by != Columns::Jsonl && cells.as_ref().is_some_and(is_heading) {
                    columns = Some(by);
                    continue;
                }
                let row = match cells {
                    None => Err(AliasFault::Malformed),
                    Some((from, to)) => self.keys(&from, &to).ok_or(AliasFault::Invalid),
                };
                if row.is_ok() {
                    // What is not a row, such as a comment, does not say how rows are written.
                    columns = Some(by);
                }
                each(line, row.map(|(from, to)| (from, (to, &self.to[..]))));
            }
        }
        Ok(())
    }

    /// The keys of the two sides; `None` when one is not a URI.
    fn keys(&mut self, from: &[u8], to: &[u8]) -> Option<(Key, Key)> {
        let mut from = self.form(from)?;
        let key = self.hasher.key(&from);
        self.to = self.form(to)?;
        // A canonical form holds no space.
        from.push(b' ');
        from.extend_from_slice(&self.to);
        self.pairs.push(PublicHasher::new(PublicHash::Blake3).key(&from).0);
        Some((key, self.hasher.key(&self.to)))
    }

    /// The digest of the pairs so far, which are forgotten.
    fn digest(&mut self) -> [u8; 32] {
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.sort_unstable();
        let mut digest = blake3::Hasher::new();
        for pair in pairs {
            digest.update(&pair.to_be_bytes());
        }
        *digest.finalize().as_bytes()
    }

    fn form(&mut self, uri: &[u8]) -> Option<Vec<u8>> {
        let mut repaired = Vec::new();
        let form = match self.normalizer.normalize(uri) {
            _ if self.equivalence.repairs.change_valid(uri) => {
                self.equivalence.decode(uri, &mut 0, &mut repaired).ok()?;
                &repaired
            }
            Ok(form) => form,
            Err(error) => {
                self.equivalence.repair_into(error, uri, &mut repaired).ok()?;
                &repaired
            }
        };
        Some(match &self.equivalence.rules {
            None => form.to_vec(),
            Some(rules) => rules.apply(form, &mut self.rules).0.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_in_every_form() {
        let two = |from: &str, to: &str| Some((from.as_bytes().to_vec(), to.as_bytes().to_vec()));
        for (row, columns, cells) in [
            ("http://a/\thttp://b/", Columns::Tsv, two("http://a/", "http://b/")),
            ("http://a/,x\thttp://b/", Columns::Tsv, two("http://a/,x", "http://b/")),
            ("http://a/\tb\tc", Columns::Tsv, None),
            ("http://a/,http://b/", Columns::Csv, two("http://a/", "http://b/")),
            ("\"http://a/,\"\"x\", http://b/ ", Columns::Csv, two("http://a/,\"x", "http://b/")),
            ("http://a/", Columns::Csv, None),
            ("\"http://a/,b", Columns::Csv, None),
            ("\"a\"b,c", Columns::Csv, None),
            ("a,b,c", Columns::Csv, None),
            (r#"{"to":"b:","x":1,"from":"a:\u002f"}"#, Columns::Jsonl, two("a:/", "b:")),
            (r#"{"from":"a:"}"#, Columns::Jsonl, None),
            (r#"{"from":"a:","to":1}"#, Columns::Jsonl, None),
            ("{", Columns::Jsonl, None),
        ] {
            assert_eq!(Columns::of(row.as_bytes()), columns, "{row}");
            assert_eq!(columns.split(row.as_bytes()), cells, "{row}");
        }
    }

    #[test]
    fn a_file_has_a_limit() {
        let text = "a:1\ta:2\n".repeat(100);
        let (equivalence, settings) = (Equivalence::default(), Settings::default());
        let read = |limit: u64| {
            let mut reader = Reader::new(&equivalence, Hasher::random(), &settings);
            reader.limit = limit;
            let text = text.clone();
            let open = || Source::new("aliases", io::Cursor::new(text.clone()));
            Aliases::read_by(reader, &open, false, &mut |_, _| {})
                .map(|aliases| aliases.table.len())
        };
        assert_eq!(read(text.len() as u64).unwrap(), 1);
        let error = read(text.len() as u64 - 1).unwrap_err().to_string();
        assert!(error.contains("aliases: has more than 799 bytes"), "{error}");
    }

    #[test]
    fn the_first_valid_row_decides_how_rows_are_written() {
        let text = "# seen, by the crawler\nfrom\tto\nhttp://a/,x\thttp://b/\n";
        let open = || Source::new("aliases", text.as_bytes());
        let mut faults = Vec::new();
        let (equivalence, hasher) = (Equivalence::default(), Hasher::random());
        let mut on_fault = |fault: AliasFault, line| faults.push((fault, line));
        let aliases =
            Aliases::read(&open, &equivalence, hasher, true, &Settings::default(), &mut on_fault)
                .unwrap();
        assert_eq!(aliases.form(b"http://a/,x"), b"http://b/");
        assert_eq!(faults, [(AliasFault::Invalid, 1)]);
    }

    #[test]
    fn faults_are_reported_with_their_line() {
        let text = "from\tto\nHTTP://a:80\thttp://b/\n\nhttp://b\thttp://c/\nx\nhttp://d/\tno uri\n\
            http://l/\thttp://m/\nhttp://m/\thttp://l/\nhttp://k/\thttp://1/\nhttp://k/\thttp://2/\n";
        let open = || Source::new("aliases", text.as_bytes());
        let (mut faults, mut digest) = (Vec::new(), None);
        let (equivalence, hasher) = (Equivalence::default(), Hasher::random());
        for chunk_bytes in [1, 64, 1 << 16] {
            faults.clear();
            let settings = Settings { chunk_bytes, ..Settings::default() };
            let mut on_fault = |fault: AliasFault, line| faults.push((fault, line));
            let aliases =
                Aliases::read(&open, &equivalence, hasher.clone(), true, &settings, &mut on_fault)
                    .unwrap();
            assert_eq!(
                faults,
                [
                    (AliasFault::Malformed, 5),
                    (AliasFault::Invalid, 6),
                    (AliasFault::Loop, 7),
                    (AliasFault::Loop, 8),
                    (AliasFault::Conflict, 9),
                    (AliasFault::Conflict, 10),
                ]
            );
            assert_eq!(digest.get_or_insert(aliases.digest()), &aliases.digest());
            assert_eq!(aliases.form(b"http://a/"), b"http://c/");
            assert_eq!(aliases.key(b"http://a/"), hasher.key(b"http://c/"));
            for itself in [&b"http://l/"[..], b"http://k/", b"http://c/", b"http://z/"] {
                assert_eq!(aliases.form(itself), itself);
            }
        }
    }
}
