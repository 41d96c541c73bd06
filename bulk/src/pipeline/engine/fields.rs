//! Fields that are added to the rows of text tables, after their own.

use crate::io::write::json;
use crate::io::write::row::push_decimal;
use uriscan_core::row::{FoundRows, PassedRow, Separators, TextFormat, TextTable};

/// Adds fields to rows of one format. A row stays as the bytes it was; what is added stands before its line end, or
/// before the brace that ends its object.
#[derive(Clone, Debug)]
pub(crate) struct RowFields {
    /// Those of CSV and TSV; `None` for lines of JSON.
    separators: Option<Separators>,
    names: Vec<String>,
}

impl RowFields {
    /// Fields of these `names` for rows of `table`; `None` if its format cannot hold them.
    pub(crate) fn new(table: &TextTable, names: Vec<String>) -> Option<RowFields> {
        let separators = table.separators();
        // Letters, digits, - and : are in what is added, and without quotes none may be a delimiter.
        let is_apart = separators.is_none_or(|Separators { delimiter, quote }| {
            let is_special = |byte: u8| byte == delimiter || b"\r\n".contains(&byte);
            let is_added = delimiter.is_ascii_alphanumeric() || b"_-:".contains(&delimiter);
            quote.is_some() || !is_added && !names.iter().any(|name| name.bytes().any(is_special))
        });
        (table.format != TextFormat::Fields && is_apart).then_some(RowFields { separators, names })
    }

    /// Whether rows may have lists, as JSON: text that has no tabs and line ends, but other delimiters.
    pub(crate) fn may_be_lists(&self) -> bool {
        self.separators.is_none_or(|it| it.quote.is_some() || it.delimiter == b'\t')
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Appends `row` with the fields that `add` appends, and a line feed.
    #[inline(always)]
    pub(crate) fn push(&self, row: &[u8], out: &mut Vec<u8>, add: impl FnOnce(&mut Fields<'_>)) {
        let end = match self.separators {
            Some(_) => row.strip_suffix(b"\r").map_or(row.len(), <[u8]>::len),
            None => memchr::memrchr(b'}', row).unwrap_or(row.len()),
        };
        let (row, rest) = row.split_at(end);
        let is_empty = self.separators.is_none() && row.trim_ascii_end().last() == Some(&b'{');
        out.extend_from_slice(row);
        let names = self.names.iter();
        add(&mut Fields { separators: self.separators, names, is_empty, out: &mut *out });
        out.extend_from_slice(rest);
        out.push(b'\n');
    }

    /// Appends the rows that were `found` in `text`: those that are passed on with nothing, and each of the others, by number, as `add`
    /// does.
    #[inline(always)]
    pub(crate) fn push_rows(
        &self,
        found: &FoundRows,
        text: &[u8],
        out: &mut Vec<u8>,
        mut add: impl FnMut(usize, &mut Vec<u8>),
    ) {
        let mut passed = found.passed.iter().copied().peekable();
        let pass = |passed: PassedRow, out: &mut Vec<u8>| match found.header {
            Some(header) if header == passed.row => self.push_header(header.of(text), out),
            _ => self.push_passed(passed, text, out),
        };
        for (number, row) in found.rows.iter().enumerate() {
            while let Some(other) = passed.next_if(|other| other.row.start < row.start) {
                pass(other, out);
            }
            add(number, out);
        }
        passed.for_each(|other| pass(other, out));
    }

    /// Appends the `header` with the names.
    pub(crate) fn push_header(&self, header: &[u8], out: &mut Vec<u8>) {
        self.push(header, out, |fields| self.names.iter().for_each(|name| fields.text(name)));
    }

    /// Appends the row at its place in `text`, of which there is nothing to say; one that does not fit stays as it is.
    pub(crate) fn push_passed(&self, passed: PassedRow, text: &[u8], out: &mut Vec<u8>) {
        let row = passed.row.of(text);
        if passed.fits {
            return self.push(row, out, |fields| self.names.iter().for_each(|_| fields.null()));
        }
        out.extend_from_slice(row);
        out.push(b'\n');
    }
}

/// Writes fields after those of a row.
pub(crate) struct Fields<'a> {
    separators: Option<Separators>,
    names: std::slice::Iter<'a, String>,
    /// Whether the row has no members yet.
    is_empty: bool,
    out: &'a mut Vec<u8>,
}

impl Fields<'_> {
    /// Ends the field before, and names the next one where fields have names.
    #[inline(always)]
    fn begin(&mut self) {
        if let Some(Separators { delimiter, .. }) = self.separators {
            return self.out.push(delimiter);
        }
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        json::push_string(self.names.next().map_or("", String::as_str), self.out);
        self.out.push(b':');
    }

    /// No value.
    #[inline(always)]
    pub(crate) fn null(&mut self) {
        self.begin();
        if self.separators.is_none() {
            self.out.extend_from_slice(b"null");
        }
    }

    /// A number.
    pub(crate) fn number(&mut self, number: u64) {
        if self.separators.is_some() {
            // A digit may be a delimiter.
            return self.text(&number.to_string());
        }
        self.begin();
        push_decimal(number, self.out);
    }

    /// A text, in quotes where the format asks for them.
    pub(crate) fn text(&mut self, text: &str) {
        self.begin();
        let Some(Separators { delimiter, quote }) = self.separators else {
            return json::push_string(text, self.out);
        };
        let needs = |&quote: &u8| {
            let is_special = |byte| byte == delimiter || byte == quote || b"\r\n".contains(&byte);
            text.bytes().any(is_special)
        };
        let quote = quote.filter(needs);
        self.out.extend(quote);
        for byte in text.bytes() {
            self.out.extend(quote.filter(|&quote| quote == byte));
            self.out.push(byte);
        }
        self.out.extend(quote);
    }

    /// A list of texts, as JSON.
    pub(crate) fn list<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        let mut list = vec![b'['];
        for (i, text) in texts.enumerate() {
            list.extend((i > 0).then_some(b','));
            json::push_string(&String::from_utf8_lossy(text), &mut list);
        }
        list.push(b']');
        if self.separators.is_some() {
            return self.text(&String::from_utf8_lossy(&list));
        }
        self.begin();
        self.out.append(&mut list);
    }
}
