//! Links in the columns of tables: CSV (RFC 4180), TSV without quotes, and the indexes of archives
//! (CDX and CDXJ).

use super::Links;
use super::value::Values;
use crate::chunk::Span;

/// What is between the fields of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separator {
    /// The byte between two fields.
    pub byte: u8,
    /// Whether fields may be in quotes.
    pub(crate) has_quotes: bool,
}

impl Separator {
    /// The one of TSV.
    pub(crate) const TAB: Separator = Separator { byte: b'\t', has_quotes: false };

    /// The ones that CSV has in use, the most usual one first.
    const USUAL: [u8; 4] = *b",;\t|";

    /// `byte` in CSV.
    pub(crate) fn of_csv(byte: u8) -> Separator {
        Separator { byte, has_quotes: true }
    }

    /// The one in the first row of `head`, a table of CSV: with it, the row has the columns in `fields`. Without those it has
    /// the most columns, but a comma is taken if the row holds a URL: that may have any of them.
    pub(crate) fn of_heading(fields: &[String], head: &[u8]) -> Separator {
        let all = Separator::USUAL.map(Separator::of_csv);
        let columns = |it: &Separator| Row { text: head, at: Some(0), separator: *it }.count();
        let needed = fields.iter().filter_map(|field| field.parse().ok()).max().unwrap_or(0);
        let line = &head[..memchr::memchr(b'\n', head).unwrap_or(head.len())];
        let is_heading = memchr::memmem::find(line, b"://").is_none();
        let named = all.into_iter().find(|it| Columns::are_in(fields, *it, head));
        let found = named.or_else(|| match needed {
            // The first one of several with the most columns.
            0 => all.into_iter().rev().filter(|_| is_heading).max_by_key(columns),
            _ => all.into_iter().find(|it| columns(it) >= needed),
        });
        found.unwrap_or(all[0])
    }
}

/// The columns of a table to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub separator: Separator,
    /// A bit for each; zero for all columns.
    wanted: u128,
    /// The first row is a header and is not searched.
    has_heading: bool,
}

impl Columns {
    /// The columns whose names in the first row of `head`, or numbers from 1, are in `fields`.
    ///
    /// # Errors
    /// A sentence if there is no such column, or its number is above 128.
    pub(crate) fn new(
        fields: &[String],
        separator: Separator,
        head: &[u8],
    ) -> Result<Columns, String> {
        let mut columns = Columns { separator, ..Columns::default() };
        for field in fields {
            let number = match field.parse::<usize>() {
                Ok(number) => number.checked_sub(1).ok_or("columns are counted from 1")?,
                Err(_) => {
                    columns.has_heading = true;
                    let mut names = Row { text: head, at: Some(0), separator };
                    names
                        .position(|cell| *cell.value(head) == *field.as_bytes())
                        .ok_or_else(|| format!("its first row has no column '{field}'"))?
                }
            };
            let bit = u32::try_from(number).ok().and_then(|number| 1u128.checked_shl(number));
            columns.wanted |= bit.ok_or("columns above 128 cannot be selected")?;
        }
        Ok(columns)
    }

    /// Whether the first row of `head` has the names in `fields`, and at least one is a name and not a number.
    pub(crate) fn are_in(fields: &[String], separator: Separator, head: &[u8]) -> bool {
        Columns::new(fields, separator, head).is_ok_and(|columns| columns.has_heading)
    }

    /// The same columns for later rows.
    pub(crate) fn without_heading(self) -> Columns {
        Columns { has_heading: false, ..self }
    }

    /// Whether only some columns are searched, so that a value must be in its own.
    pub fn are_selected(self) -> bool {
        self.wanted != 0
    }

    fn has(self, column: usize) -> bool {
        self.wanted == 0 || (column < 128 && self.wanted >> column & 1 != 0)
    }
}

/// A field: its bytes, without the quotes around it, and the position of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    start: usize,
    end: usize,
    /// It holds doubled quotes.
    is_escaped: bool,
    /// Where the next field of the row begins; `None` for the last one.
    next: Option<usize>,
    /// The offset after the field and the separator or line end that follows it.
    after: usize,
}

impl Cell {
    /// The field that begins at `start`. A quoted field extends to the closing quote, across line
    /// ends.
    fn read(text: &[u8], start: usize, separator: Separator) -> Cell {
        let Separator { byte: separator, has_quotes } = separator;
        let is_quoted = has_quotes && text.get(start) == Some(&b'"');
        let (quote, is_escaped) =
            if is_quoted { quote_end(text, start + 1) } else { (start, false) };
        let end = memchr::memchr2(separator, b'\n', &text[quote..]);
        let end = end.map_or(text.len(), |at| quote + at);
        let is_last = text.get(end) != Some(&separator);
        let after = text.len().min(end + 1);
        let next = (!is_last).then_some(end + 1);
        let trimmed = match text[..end].last() {
            Some(b'\r') if is_last && end > start => end - 1,
            _ => end,
        };
        // A field with text after its closing quote is used unchanged.
        if is_quoted && (trimmed == quote || quote == text.len()) {
            let closing = quote - usize::from(quote > start + 1 && text[quote - 1] == b'"');
            return Cell { start: start + 1, end: closing, is_escaped, next, after };
        }
        Cell { start, end: trimmed, is_escaped: false, next, after }
    }

    /// Its bytes, with doubled quotes reduced to one.
    fn value<'t>(&self, text: &'t [u8]) -> std::borrow::Cow<'t, [u8]> {
        let raw = &text[self.start..self.end];
        if !self.is_escaped {
            return raw.into();
        }
        without_doubled_quotes(raw).into()
    }
}

/// `raw` with doubled quotes reduced to one.
pub(super) fn without_doubled_quotes(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The offset after the quote that ends the field whose text begins at `from`, or the end, and
/// whether there are doubled quotes before it.
fn quote_end(text: &[u8], from: usize) -> (usize, bool) {
    let (mut at, mut is_escaped) = (from, false);
    while let Some(found) = memchr::memchr(b'"', text.get(at..).unwrap_or_default()) {
        at += found + 1;
        if text.get(at) != Some(&b'"') {
            return (at, is_escaped);
        }
        is_escaped = true;
        at += 1;
    }
    (text.len(), is_escaped)
}

/// The fields of a row.
struct Row<'t> {
    text: &'t [u8],
    /// Where the next one begins.
    at: Option<usize>,
    separator: Separator,
}

impl Iterator for Row<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let cell = Cell::read(self.text, self.at?, self.separator);
        self.at = cell.next;
        Some(cell)
    }
}

/// The end of the last complete row of `text`, which begins with a row.
pub fn last_row_end(text: &[u8], separator: Separator) -> Option<usize> {
    let last_line = memchr::memrchr(b'\n', text)? + 1;
    if !separator.has_quotes || memchr::memchr(b'"', text).is_none() {
        return Some(last_line);
    }
    let (mut at, mut end) = (0, None);
    while at < text.len() {
        let cell = Cell::read(text, at, separator);
        at = cell.after;
        if cell.next.is_none() && text[at - 1] == b'\n' && cell.end < at {
            end = Some(at);
        }
    }
    end
}

/// Appends the links of `columns` of the rows in `text`: the whole value of a selected column if it
/// is a URI, otherwise the links in it.
pub(crate) fn rows(values: &mut Values<'_>, columns: Columns, links: &mut Links) {
    let (text, separator) = (values.content(), columns.separator);
    let mut at = 0;
    let mut is_heading = columns.has_heading;
    while at < text.len() && !links.is_full(at) {
        let row = Row { text, at: Some(at), separator };
        for (column, cell) in row.enumerate() {
            at = cell.after;
            if !is_heading && columns.has(column) && cell.start < cell.end {
                let span = Span { start: cell.start as u32, end: cell.end as u32 };
                let made = cell.is_escaped.then(|| cell.value(text));
                values.take(span, made.as_deref(), links);
            }
        }
        is_heading = false;
    }
}

/// Appends the URIs of the lines of an archive index: for CDXJ, the member `url` of the object at
/// the end of a line; for CDX, the third field. Other lines are searched as text, unless `fields` are selected.
pub(crate) fn index_lines(values: &mut Values<'_>, fields: &[String], links: &mut Links) {
    let text = values.content();
    let url = ["url".to_owned()];
    let has_fields = !fields.is_empty();
    let fields = if fields.is_empty() { &url } else { fields };
    let mut start = 0;
    while start < text.len() && !links.is_full(start) {
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        let line = &text[start..end];
        let from = start;
        start = end + 1;
        if line.starts_with(b"!") || line.starts_with(b" CDX") {
            // A line about the index itself.
            continue;
        }
        if !is_index_line(line) && !has_fields {
            // What else a file holds is text, as in other formats of lines.
            values.take_text(Span { start: from as u32, end: end as u32 }, links);
        } else if let Some(object) = memchr::memmem::find(line, b" {") {
            super::json::line(values, fields, from + object, end, links);
        } else if let Some(third) = line.split(|&byte| byte == b' ').nth(2) {
            let at = from + (third.as_ptr().addr() - line.as_ptr().addr());
            let third = third.trim_ascii_end();
            let span = Span { start: at as u32, end: (at + third.len()) as u32 };
            values.take(span, None, links);
        }
    }
}

/// Whether `line` belongs to an index: a key, a timestamp, and an object or more fields; or a
/// header.
pub(crate) fn is_index_line(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ');
    let (Some(key), Some(time), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return line.starts_with(b"!OpenWayback-CDXJ") || line.starts_with(b"!cdxj");
    };
    let is_time = (4..=17).contains(&time.len()) && time.iter().all(u8::is_ascii_digit);
    let is_key = memchr::memchr(b')', key).is_some() || key.contains(&b':');
    // The space at its start may have been trimmed.
    let letters = line.trim_ascii().strip_prefix(b"CDX ");
    let is_letter = |word: &[u8]| word.len() == 1;
    letters.is_some_and(|letters| letters.split(|&byte| byte == b' ').all(is_letter))
        || (is_key && is_time && (rest.starts_with(b"{") || words.count() >= 6))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMA: Separator = Separator { byte: b',', has_quotes: true };

    fn all(text: &[u8], separator: Separator) -> Vec<Vec<Vec<u8>>> {
        let (mut at, mut rows) = (0, Vec::new());
        while at < text.len() {
            let mut row = Vec::new();
            for cell in (Row { text, at: Some(at), separator }) {
                at = cell.after;
                row.push(cell.value(text).into_owned());
            }
            rows.push(row);
        }
        rows
    }

    #[test]
    fn fields_are_those_of_the_standard() {
        let text = |cell: Vec<u8>| String::from_utf8(cell).unwrap();
        let cells = |typed: &str, separator| -> Vec<Vec<String>> {
            let rows = all(typed.as_bytes(), separator).into_iter();
            rows.map(|row| row.into_iter().map(text).collect()).collect()
        };
        assert_eq!(cells("a,b\r\nc,\n", COMMA), [["a", "b"], ["c", ""]]);
        assert_eq!(cells("\"a,\nb\",\"c\"\"d\"\r\n\"\",e", COMMA), [["a,\nb", "c\"d"], ["", "e"]]);
        assert_eq!(cells("\"a\"x,b\"c\n", COMMA), [["\"a\"x", "b\"c"]]);
        assert_eq!(cells("\"a\tb\"\tc\n", Separator::TAB), [["\"a", "b\"", "c"]]);
        assert_eq!(cells("\"open\nx", COMMA), [["open\nx"]]);
        assert_eq!(cells("\"\n", COMMA), [["\n"]]);
    }

    #[test]
    fn columns_have_names_or_numbers() {
        let head = b"id,\"the url\",x\n1,2,3\n";
        let new = |field: &str| Columns::new(&[field.to_owned()], COMMA, head);
        assert_eq!(new("the url"), Ok(Columns { separator: COMMA, wanted: 2, has_heading: true }));
        assert_eq!(new("3"), Ok(Columns { separator: COMMA, wanted: 4, has_heading: false }));
        assert_eq!(new("url"), Err("its first row has no column 'url'".to_owned()));
        assert!(new("0").is_err() && new("129").is_err() && new("128").is_ok());
    }

    #[test]
    fn the_heading_decides_about_the_separator() {
        for (head, field, expected) in [
            ("a,b\n1,2\n", "", b','),
            ("id;url;note\n", "", b';'),
            ("id\turl\n", "", b'\t'),
            ("id|url|x,y\n", "", b'|'),
            ("\"a;b;c\",d\n", "", b','),
            ("url\n", "", b','),
            ("", "", b','),
            ("a,b,c;url\n", "url", b';'),
            ("a;b;c,url\n", "url", b','),
            ("a;\"url\"\n", "url", b';'),
            ("http://h/a;b=1;c\n", "", b','),
            ("http://h/a|b\n", "1", b','),
            ("1;http://h/a\n", "2", b';'),
            ("a;b,c;d\n", "2", b','),
        ] {
            let fields: Vec<String> =
                [field].iter().filter(|it| !it.is_empty()).map(|&it| it.to_owned()).collect();
            assert_eq!(
                Separator::of_heading(&fields, head.as_bytes()),
                Separator::of_csv(expected),
                "{head}"
            );
        }
    }

    #[test]
    fn lines_of_indexes_are_recognized() {
        for line in [
            "com,example)/ 20200101000000 {\"url\": \"http://example.com/\"}",
            "com,example)/ 20200101 http://example.com/ text/html 200 ABC - - 12 34 w.warc.gz",
            " CDX N b a m s k r M S V g",
        ] {
            assert!(is_index_line(line.as_bytes()), "{line}");
        }
        for line in ["a b c", "see http://h/ 2020 {x", "1.2.3.4 - - [x]", ""] {
            assert!(!is_index_line(line.as_bytes()), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn rows_are_complete_wherever_a_table_is_cut(text in "([a,\"\r\n]|\"a\"|,\"\"){0,30}") {
            let text = text.as_bytes();
            let whole = all(text, COMMA);
            for cut in 0..=text.len() {
                let Some(end) = last_row_end(&text[..cut], COMMA) else { continue };
                prop_assert!(end <= cut);
                let mut parts = all(&text[..end], COMMA);
                parts.extend(all(&text[end..], COMMA));
                prop_assert_eq!(&parts, &whole, "{} {}", cut, end);
            }
        }
    }
}
