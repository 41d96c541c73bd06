//! Where the rows of a source have their URIs.

use super::csv::{self, Rows};
use super::{Fault, RawValue, TextFormat, TextTable};
use crate::chunk::Span;
use crate::simd::{Isa, Kernels, Task};

/// Bytes at the start of a source that are looked at for its header.
pub const HEADER_BYTES: usize = 256 << 10;

const NO_HEADER: &str = "the header, the row with the names of columns, is missing";
const NO_ROWS: &str = "the number of columns is unknown, as there are no rows";
const IS_ARRAY: &str =
    "is an array of JSON, and not an object per line; `jq -c '.[]'` makes lines of it";

const IS_SPREAD: &str = "has objects over several lines; `jq -c .` makes a line of each";

/// Whether the first line ends after the brace of an object, whose members follow on the next ones.
fn is_spread(rest: &[u8]) -> bool {
    let line = memchr::memchr(b'\n', rest).filter(|&end| rest[..end].trim_ascii().is_empty());
    line.is_some_and(|end| rest[end..].trim_ascii_start().first() == Some(&b'"'))
}

/// Where the rows of a source have their URIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The number of the column, from 0.
    pub(super) column: usize,
    /// How many fields each row has; 0 for any number.
    pub(super) fields: usize,
    /// The numbers of the other columns that are looked at.
    pub(super) others: Vec<usize>,
    /// The names in the header.
    names: Vec<Vec<u8>>,
}

impl Layout {
    /// That of a source of `table` that begins with `head`, up to [`HEADER_BYTES`] of it.
    ///
    /// # Errors
    /// A sentence, when there is no header, or no such column.
    pub fn of_head(table: &TextTable, head: &[u8]) -> Result<Layout, String> {
        match (table.format, table.separators()) {
            (_, Some(separators)) => Kernels::detect().run(First { table, head, separators }),
            (TextFormat::Fields, _) => {
                let number = |name: &String| {
                    number(name).ok_or_else(|| "columns of fields have numbers, from 1".to_owned())
                };
                let others = table.others().map(number).collect::<Result<_, _>>()?;
                Ok(Layout { column: number(&table.column)?, others, ..Layout::default() })
            }
            _ => match head.trim_ascii_start() {
                [b'[', ..] => Err(IS_ARRAY.to_owned()),
                [b'{', rest @ ..] if is_spread(rest) => Err(IS_SPREAD.to_owned()),
                _ => Ok(Layout::default()),
            },
        }
    }

    /// Whether `head`, the first bytes of a source of `table`, has all that decides about the layout.
    pub fn is_shown(table: &TextTable, head: &[u8]) -> bool {
        match table.separators() {
            Some(separators) => Kernels::detect().run(HasFirst { head, separators }),
            None => !head.trim_ascii().is_empty(),
        }
    }

    /// Ensures that a source with the layout `other` can follow one with this layout.
    ///
    /// # Errors
    /// A sentence, when its columns are others.
    pub fn require_same(&self, other: &Layout) -> Result<(), String> {
        match self == other {
            true => Ok(()),
            false => Err("its columns are not those of the first table; rows can be written as they are only if they \
                          have the same columns"
                .to_owned()),
        }
    }

    /// Ensures that columns of these `names` can be added.
    ///
    /// # Errors
    /// A sentence, when there is one already.
    pub fn require_new(&self, names: &[String]) -> Result<(), String> {
        match names.iter().find(|name| self.names.iter().any(|it| it == name.as_bytes())) {
            None => Ok(()),
            Some(name) => Err(format!("a column {name} already exists")),
        }
    }

    /// The fault of a row with this number of `fields`.
    #[cold]
    pub(super) fn wrong_width(&self, fields: usize) -> Fault {
        let ending = if self.fields == 1 { "" } else { "s" };
        Fault::from(format!("expected {} field{ending}, found {fields}", self.fields))
    }

    /// The field with the URI in `line`, which is trimmed, between white space.
    pub(super) fn field(&self, line: &[u8]) -> Result<Span, Fault> {
        self.field_at(line, self.column)
    }

    /// The field of this number, from 0, in such a line.
    pub(super) fn field_at(&self, line: &[u8], column: usize) -> Result<Span, Fault> {
        let (mut count, mut at) = (0, 0);
        loop {
            let is_space = |byte: &u8| byte.is_ascii_whitespace();
            let len = line[at..].iter().position(is_space).unwrap_or(line.len() - at);
            if count == column {
                return Ok(Span { start: at as u32, end: (at + len) as u32 });
            }
            count += 1;
            let Some(skipped) = line[at + len..].iter().position(|byte| !is_space(byte)) else {
                let what = format!("expected {} fields or more, found {count}", column + 1);
                return Err(Fault::from(what));
            };
            at += len + skipped;
        }
    }
}

/// The position that a number counted from 1 names.
fn number(text: &str) -> Option<usize> {
    text.parse::<usize>().ok()?.checked_sub(1)
}

/// Whether a line feed ends the first row that is not blank.
struct HasFirst<'a> {
    head: &'a [u8],
    separators: csv::Separators,
}

impl Task for HasFirst<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let mut rows = Rows::new(isa, self.head, self.separators);
        loop {
            match rows.next_row(|_, _| {}) {
                Some(row) if row.is_ended && row.is_blank(self.head) => {}
                row => return row.is_some_and(|row| row.is_ended),
            }
        }
    }
}

/// Reads the first row.
struct First<'a> {
    table: &'a TextTable,
    head: &'a [u8],
    separators: csv::Separators,
}

impl Task for First<'_> {
    type Output = Result<Layout, String>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let First { table, head, separators } = self;
        let mut rows = Rows::new(isa, head, separators);
        loop {
            let mut raws = Vec::new();
            let row = rows.next_row(|_, raw| raws.push(raw));
            let Some(row) = row else {
                return Err(if table.has_header { NO_HEADER } else { NO_ROWS }.to_owned());
            };
            if row.is_blank(head) {
                continue;
            }
            // A byte order mark was among the bytes.
            if !row.is_ended && head.len() + 3 >= HEADER_BYTES {
                return Err(format!("its first row has more than {} KiB", HEADER_BYTES >> 10));
            }
            if let Some(fault) = row.fault {
                return Err(format!("its first row: {}", fault.what));
            }
            return of_row(table, head, &raws, separators);
        }
    }
}

/// The layout of `table`, whose first row has fields at these `raws` of `head`.
fn of_row(
    table: &TextTable,
    head: &[u8],
    raws: &[RawValue],
    separators: csv::Separators,
) -> Result<Layout, String> {
    let name = |raw: &RawValue| {
        let mut name = Vec::new();
        match (raw.is_escaped, separators.quote) {
            (true, Some(quote)) => csv::unescape(raw.span.of(head), quote, &mut name),
            _ => name.extend_from_slice(raw.span.of(head)),
        }
        name
    };
    let fields = raws.len();
    let names: Vec<Vec<u8>> = match table.has_header {
        true => raws.iter().map(name).collect(),
        false => Vec::new(),
    };
    let find = |column: &String| match table.has_header {
        true => find(table, column, &names),
        false => number(column.strip_prefix("column_").unwrap_or(column))
            .filter(|&column| column < fields)
            .ok_or_else(|| format!("there is no column {column}; there are: 1 to {fields}")),
    };
    let column = find(&table.column)?;
    Ok(Layout {
        column,
        fields,
        others: table.others().map(find).collect::<Result<_, _>>()?,
        names,
    })
}

/// The number of the `column` of `table` among these `names`.
fn find(table: &TextTable, column: &str, names: &[Vec<u8>]) -> Result<usize, String> {
    let by_number = number(column).filter(|&column| column < names.len());
    let mut named = names.iter().enumerate().filter(|(_, name)| *name == column.as_bytes());
    match (named.next(), named.next()) {
        (Some((first, _)), Some((second, _))) => {
            let how = match by_number {
                Some(_) => "--no-header takes it for a number",
                None => "give its number",
            };
            let (first, second) = (first + 1, second + 1);
            Err(format!("columns {first} and {second} are both named {column}; {how}"))
        }
        (Some((first, _)), None) => Ok(first),
        (None, _) => by_number.ok_or_else(|| missing((table, column), names)),
    }
}

/// The message where there is no such `column` of `table` among these `names`.
fn missing((table, column): (&TextTable, &str), names: &[Vec<u8>]) -> String {
    // White space around a name is to be seen.
    let shown = names.iter().map(|name| match name.trim_ascii().len() == name.len() {
        true => String::from_utf8_lossy(name).escape_debug().to_string(),
        false => format!("{:?}", String::from_utf8_lossy(name)),
    });
    let shown: Vec<String> = shown.collect();
    let hint = match (names, table.format) {
        ([name], TextFormat::Csv) => other_delimiter(name, table.delimiter),
        ([name, ..], TextFormat::Csv) if name == b"sep=" => other_delimiter(name, table.delimiter),
        _ => None,
    };
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let names = shown.join(", ");
    format!("there is no column {column}; there are: {names}{hint}")
}

/// The advice where `name` is all of the header of a table of CSV that is read with this `delimiter`: which other one
/// parts it into names, if one does.
///
/// ```
/// use uriscan::row::other_delimiter;
/// assert_eq!(other_delimiter(b"id;url", None).unwrap(), "--delimiter ';' parts them");
/// assert_eq!(other_delimiter(b"url", None), None);
/// ```
#[must_use]
pub fn other_delimiter(name: &[u8], delimiter: Option<u8>) -> Option<String> {
    if name.starts_with(b"sep=") {
        return Some("the first line is for Excel: tail -n +2 takes it off".to_owned());
    }
    let mut others = b";\t|,".iter().copied().filter(|&byte| Some(byte) != delimiter);
    let byte = others.find(|&byte| memchr::memchr(byte, name).is_some())?;
    Some(match byte {
        b'\t' => "--delimiter tab parts them".to_owned(),
        byte => format!("--delimiter '{}' parts them", char::from(byte)),
    })
}
