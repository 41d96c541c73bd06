//! Where the quoted fields of a table of CSV end.

/// What is wrong where [`Quotes::take`] fails.
pub const AFTER_QUOTE: &str =
    "the closing quote of a field is followed by neither a delimiter nor the end of the row";

/// Follows the quotes of a table of CSV (RFC 4180), whose bytes come in order.
///
/// A stray quote would make all rows up to the next quote one field. The next quote then closes it in the middle of a row, so
/// what may follow a closing quote tells most stray quotes from those that enclose fields.
#[derive(Clone, Debug)]
pub struct Quotes {
    delimiter: u8,
    quote: u8,
    state: State,
}

/// What the last byte was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next one begins a field.
    Start,
    /// It belongs to a field without quotes.
    Plain,
    /// It belongs to a field in quotes.
    Quoted,
    /// It was a quote in such a field, which it closes unless another one follows.
    Closed,
}

impl Quotes {
    /// Those of a table whose fields are between these bytes.
    pub fn new(delimiter: u8, quote: u8) -> Quotes {
        Quotes { delimiter, quote, state: State::Start }
    }

    /// Takes the next bytes of the table.
    ///
    /// # Errors
    /// The offset of the first byte that follows a closing quote and is neither a delimiter nor a line end.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let found = memchr::memchr(self.quote, rest);
            at += found.map_or(rest.len(), |found| found + 1);
            self.state = match (self.state, found) {
                (State::Closed, Some(0)) => State::Quoted,
                (State::Closed, _) if !self.ends_field(rest[0]) => {
                    return Err(bytes.len() - rest.len());
                }
                (State::Quoted, Some(_)) => State::Closed,
                (State::Quoted, None) => State::Quoted,
                (State::Start, Some(0)) => State::Quoted,
                (_, Some(found)) if found > 0 && self.ends_field(rest[found - 1]) => State::Quoted,
                (_, None) if self.ends_field(rest[rest.len() - 1]) => State::Start,
                _ => State::Plain,
            };
        }
        Ok(())
    }

    /// Whether the table may not end here.
    pub fn is_open(&self) -> bool {
        self.state == State::Quoted
    }

    fn ends_field(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where `text` is wrong, or whether a quote is open at its end, however it is cut.
    fn taken(text: &[u8]) -> Result<bool, usize> {
        let mut whole = Quotes::new(b',', b'"');
        let expected = whole.take(text).map(|()| whole.is_open());
        for cut in 0..=text.len() {
            let mut quotes = Quotes::new(b',', b'"');
            let found = quotes.take(&text[..cut]).and_then(|()| {
                quotes.take(&text[cut..]).map_err(|at| cut + at).map(|()| quotes.is_open())
            });
            assert_eq!(found, expected, "{text:?} {cut}");
        }
        let mut quotes = Quotes::new(b',', b'"');
        let mut bytes = text.iter().enumerate();
        let found = bytes.try_for_each(|(at, &byte)| quotes.take(&[byte]).map_err(|_| at));
        assert_eq!(found.map(|()| quotes.is_open()), expected, "{text:?} byte by byte");
        expected
    }

    #[test]
    fn a_field_in_quotes_ends_with_a_quote_and_a_delimiter_or_a_line_end() {
        for text in [
            &b""[..],
            b"a,b\n",
            b"\"a\",\"b\"\n\"c\"",
            b"\"\",\"\"\r\n",
            b"\"a\"\"b\",\"\"\"\"\n",
            b"\"a\r\n,b\"\r\n",
            b"it\"s,5\" x 3\"\n \"a\",b\n",
            b"a\"b\"c,\"d\"\n",
        ] {
            assert_eq!(taken(text), Ok(false), "{text:?}");
        }
        for (text, at) in [
            (&b"http://a/,\"oops\nhttp://b/,1\nhttp://c/,\"2\"\n"[..], 39),
            (b"\"a\"x", 3),
            (b"\"a\" ,b\n", 3),
            (b"\"a\"\"\"x\n", 5),
            (b"\"\"x", 2),
            (b"x,\"a\"\t\n", 5),
            (b"\n\"a\";\"b\"\n", 4),
        ] {
            assert_eq!(taken(text), Err(at), "{text:?}");
        }
        for text in [&b"\""[..], b"a,\"b\nc,d\n", b"\"\"\"", b"\"a\",\"\"\"\"\"\n"] {
            assert_eq!(taken(text), Ok(true), "{text:?}");
        }
    }
}
