//! Headers of records of an ARC archive, the format of the Internet Archive before WARC: lines of a URL, an address, a
//! date, a media type and a length, in version 2 with more fields before the length.

/// Maximum number of bytes of a line.
const LONGEST: usize = 16 << 10;

/// The line of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) url: &'t [u8],
    /// The media type of the document.
    pub(super) media: &'t [u8],
    /// The length of the block after the line.
    pub(super) length: usize,
    /// Offset of the block.
    pub(super) block: usize,
}

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begins<'t> {
    /// A record.
    Record(Line<'t>),
    /// Something that may become one.
    Open,
    /// Something else.
    Other,
}

/// What `text` begins with; line ends, which separate records, are skipped.
pub(super) fn begins(text: &[u8]) -> Begins<'_> {
    /// Maximum number of line ends between two records; writers leave one or two.
    const MOST_ENDS: usize = 4;
    let ends = text.iter().take(MOST_ENDS).take_while(|byte| b"\r\n".contains(byte)).count();
    let head = &text[ends..text.len().min(ends + LONGEST)];
    let scheme = head.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let is_like_url = head.first().is_some_and(u8::is_ascii_alphabetic)
        && head.get(scheme).is_none_or(|&byte| byte == b':');
    if !is_like_url {
        return Begins::Other;
    }
    let Some(end) = memchr::memchr(b'\n', head) else {
        return if head.len() < LONGEST { Begins::Open } else { Begins::Other };
    };
    match fields(&head[..end]) {
        Some((url, media, length)) => {
            Begins::Record(Line { url, media, length, block: ends + end + 1 })
        }
        None => Begins::Other,
    }
}

/// URL, media type and length of a line.
fn fields(line: &[u8]) -> Option<(&[u8], &[u8], usize)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let last = memchr::memrchr(b' ', line)?;
    let length = str::from_utf8(&line[last + 1..]).ok()?.parse().ok()?;
    // A URL may hold spaces: the first address and date are searched for.
    let mut from = 0;
    while let Some(at) = memchr::memchr(b' ', &line[from..last]) {
        let (url, rest) = (&line[..from + at], &line[from + at + 1..last]);
        let mut words = rest.splitn(4, |&byte| byte == b' ');
        let (address, date, media) = (words.next()?, words.next(), words.next());
        if let (true, Some(date), Some(media)) = (is_address(address), date, media)
            && is_date(date)
            && !url.is_empty()
        {
            return Some((url, media, length));
        }
        from += at + 1;
    }
    None
}

/// Whether `word` is like an address of IP.
fn is_address(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_hexdigit() || b".:".contains(byte))
        && word.iter().any(|byte| b".:".contains(byte))
}

/// Whether `word` is a date of 12 or 14 digits.
fn is_date(word: &[u8]) -> bool {
    matches!(word.len(), 12 | 14) && word.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record<'t>(url: &'t str, media: &'t str, length: usize, block: usize) -> Begins<'t> {
        Begins::Record(Line { url: url.as_bytes(), media: media.as_bytes(), length, block })
    }

    #[test]
    fn lines_of_both_versions_are_read() {
        for (text, expected) in [
            (
                "filedesc://a.arc 0.0.0.0 19960923142103 text/plain 76\n1",
                record("filedesc://a.arc", "text/plain", 76, 54),
            ),
            (
                "\nhttp://h/ 1.2.3.4 20000101000000 text/html 5\n",
                record("http://h/", "text/html", 5, 46),
            ),
            (
                "http://h/ 1.2.3.4 20000101000000 text/html 200 abc - 7 a.arc 5\n",
                record("http://h/", "text/html", 5, 63),
            ),
            (
                "\r\n\nhttp://h/a b 1.2.3.4 200001010000 no-type 0\r\n",
                record("http://h/a b", "no-type", 0, 48),
            ),
            ("https://h/ ::1 20000101000000 - 12\n", record("https://h/", "-", 12, 35)),
            ("dns:h 10.0.0.1 20000101000000 text/dns 3\n", record("dns:h", "text/dns", 3, 41)),
        ] {
            assert_eq!(begins(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn other_lines_are_not_records() {
        for text in [
            "http://h/ 1.2.3.4 2000 text/html 5\n",
            "http://h/ 1.2.3.4 20000101000000 5\n",
            "http://h/ 1.2.3.4 20000101000000 text/html x\n",
            "http://h/ 1.2.3.4 20000101000000 text/html -1\n",
            "http://h/ a 20000101000000 text/html 5\n",
            "http://h/\n",
            " http://h/ 1.2.3.4 20000101000000 text/html 5\n",
            "<a href=x>",
            "\n\n\n\n\nhttp://h/ 1.2.3.4 20000101000000 text/html 5\n",
            "",
        ] {
            assert_eq!(begins(text.as_bytes()), Begins::Other, "{text}");
        }
        for text in ["h", "http", "\nhttp://h/ 1.2.3.4 20000101000000 text/html 5"] {
            assert_eq!(begins(text.as_bytes()), Begins::Open, "{text}");
        }
        assert_eq!(begins(&[b'a'; LONGEST + 9]), Begins::Other);
    }
}
