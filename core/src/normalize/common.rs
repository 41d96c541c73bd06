//! The changes that most records which are not canonical need: case of the head, default port, empty path,
//! percent-encodings, dot segments.
//!
//! [`Split`](super::Split) has seen that the record is an `http` or `https` URI of less than 128 bytes, and where its
//! path begins. What is left is done in one go, nearly without a branch: the record is copied to a buffer, from one
//! percent-encoding to the next. A record that needs anything else is left to the other paths.

use crate::chunk::{PAD, Prefix};
use crate::grammar::class::UNRESERVED;
use crate::index::low_bits;
use crate::simd::{BLOCK, Isa};
use crate::uri::dots::remove_dot_segments_in_blocks;

/// The length from which a record is not looked at by the split: two windows, and room for a mark in its hash.
pub(super) const LONG: usize = 2 * BLOCK;

/// What the split has seen of a record.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitRecord {
    /// Bytes of the first 128 that need a closer look.
    pub(super) look: [u64; 2],
    /// `:`, `@` and upper case in scheme and authority, without the colon of the scheme.
    pub(super) head: u64,
    /// The number of the record.
    pub(super) number: u32,
    /// Offset of the path, or the length if nothing follows the authority. It is 0 unless the record is common: an
    /// `http` or `https` URI of less than 128 bytes whose authority ends in the first 64 and has no byte that is in `look`.
    pub(super) path: u8,
    pub(super) is_https: bool,
}

/// Where a form is written: 128 bytes, one more for a `/`, and what wide stores write after them.
pub type FormBuffer = [u8; 3 * BLOCK + PAD];

/// Where a host is written, and what may be read after it.
#[derive(Clone, Copy, Debug)]
pub struct HostBuffer([u8; 4 * BLOCK]);

impl Default for HostBuffer {
    fn default() -> HostBuffer {
        HostBuffer([0; _])
    }
}

/// As many bytes of the text from the start of a record on as are read here.
type Text = [u8; PAD];

impl SplitRecord {
    /// The number of the record.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The canonical form on level `scheme` of the record of `len` bytes at the start of `text`, which keeps its
    /// fragment; `None` if another path has to decide.
    #[inline(always)]
    pub fn canonical<'a, I: Isa>(
        &self,
        isa: I,
        text: &[u8],
        len: usize,
        out: &'a mut FormBuffer,
    ) -> Option<Prefix<'a>> {
        let text: &Text = text.first_chunk()?;
        let mut path = usize::from(self.path);
        if path == 0 {
            return None;
        }
        // Bytes of the text before `copied` are written or dropped; the next one goes to `to`.
        let (mut copied, mut to) = (0, 0);
        let has_path = path < len && text[path % PAD] == b'/';
        if (self.head != 0) | !has_path {
            copied = path;
            path = self.kept_end(isa, text)?;
            let block: &[u8; BLOCK] = text.first_chunk()?;
            for (to, from) in out[..BLOCK].iter_mut().zip(block) {
                *to = from.to_ascii_lowercase();
            }
            // Written again below, if there is a path.
            out[path % PAD] = b'/';
            to = path + usize::from(!has_path);
        }
        let mut looks = u128::from(self.look[0]) | u128::from(self.look[1]) << BLOCK;
        let (mut hashes, mut has_dots) = (0, false);
        while looks != 0 {
            let at = looks.trailing_zeros() as usize;
            looks &= looks - 1;
            let word = u32::from_le_bytes(*text[at % 128..].first_chunk()?);
            let digits = (DIGITS[(word >> 8) as u8 as usize], DIGITS[(word >> 16) as u8 as usize]);
            let byte = digits.0 << 4 | digits.1 & 15;
            if word as u8 != b'%' {
                // A dot after a slash need not be a segment, nor be in the path.
                has_dots |= word as u8 == b'.';
                hashes += u32::from(word as u8 == b'#');
                if matches!(word as u8, b'.' | b'#') && hashes < 2 {
                    continue;
                }
                return None;
            }
            if ((digits.0 | digits.1) > 15) | (at + 2 >= len) {
                return None;
            }
            has_dots |= byte == b'.';
            put::<BLOCK>(text, copied, out, to);
            let gap = at - copied;
            if gap > BLOCK {
                put::<BLOCK>(text, copied + BLOCK, out, to + BLOCK);
            }
            to += gap;
            let form = TRIPLETS[usize::from(byte)];
            out[to % PAD..][..4].copy_from_slice(&form.to_le_bytes());
            to += (form >> 24) as usize;
            copied = at + 3;
        }
        put::<{ 2 * BLOCK }>(text, copied, out, to);
        let end = to + len - copied;
        let end =
            if has_dots { remove_dot_segments_in_blocks(isa, out, path, path, end) } else { end };
        Some(Prefix::new(out, end))
    }

    /// Whether a dot follows a slash in the record at the start of `text`, as one does that begins a dot segment. Says yes of some
    /// other records.
    #[inline(always)]
    pub fn may_have_dots<I: Isa>(&self, isa: I, text: &[u8]) -> bool {
        let Some(text) = text.first_chunk::<PAD>() else { return true };
        let blocks = text.as_chunks::<BLOCK>().0;
        let [first, second] = self.look;
        (isa.equal(&blocks[0], b'.') & first) | (isa.equal(&blocks[1], b'.') & second) != 0
    }

    /// Whether [`SplitRecord::canonical`] gives a form, which takes less to find out than to make it: the record is a
    /// URI then. If not, another path has to decide.
    #[inline(always)]
    pub fn has_form<I: Isa>(&self, isa: I, text: &[u8], len: usize) -> bool {
        let Some(text) = text.first_chunk::<PAD>() else { return false };
        if self.path == 0 || self.head != 0 && self.kept_end(isa, text).is_none() {
            return false;
        }
        let (mut odd, mut hashes) = (0, 0);
        for (half, look) in self.look.into_iter().enumerate() {
            let block =
                |at: usize| text[half * BLOCK + at..].first_chunk().expect("within the text");
            let (first, second) = (isa.hex_digits(block(1)), isa.hex_digits(block(2)));
            let digits = (first.0 | first.1) & (second.0 | second.1);
            let percents = isa.equal(block(0), b'%') & look;
            let hash = isa.equal(block(0), b'#') & look;
            let whole = low_bits(len.saturating_sub(half * BLOCK + 2));
            odd |= look & !(percents | hash | isa.equal(block(0), b'.'));
            odd |= percents & !(digits & whole);
            hashes += hash.count_ones();
        }
        (odd == 0) & (hashes < 2)
    }

    /// The host of [`SplitRecord::canonical`], if that gives a form.
    #[inline(always)]
    pub fn host<'a, I: Isa>(
        &self,
        isa: I,
        text: &'a [u8],
        len: usize,
        out: &'a mut HostBuffer,
    ) -> Option<Prefix<'a>> {
        if !self.has_form(isa, text, len) {
            return None;
        }
        let host = 7 + usize::from(self.is_https);
        if self.head == 0 {
            return Some(Prefix::new(&text[host..], usize::from(self.path) - host));
        }
        let block: &[u8; BLOCK] = text.first_chunk()?;
        for (to, from) in out.0.iter_mut().zip(block) {
            *to = from.to_ascii_lowercase();
        }
        let colons = isa.equal(block, b':') & self.head;
        let end = (colons.trailing_zeros() as usize).min(self.path.into());
        Some(Prefix::new(&out.0[host..], end - host))
    }

    /// Where the authority ends without a port that is dropped; `None` if another path has to decide.
    #[inline(always)]
    fn kept_end<I: Isa>(&self, isa: I, text: &Text) -> Option<usize> {
        const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        let path = usize::from(self.path);
        let block: &[u8; BLOCK] = text.first_chunk()?;
        let colons = isa.equal(block, b':') & self.head;
        if colons == 0 {
            return (isa.equal(block, b'@') & self.head == 0).then_some(path);
        }
        let colon = colons.trailing_zeros() as usize;
        let digits = path - colon - 1;
        if digits > 8 {
            return None;
        }
        // A second colon, an `@` or a letter is not a digit.
        let word = u64::from_le_bytes(*text[(colon + 1) % BLOCK..].first_chunk()?);
        let inside = if digits < 8 { !(!0 << (8 * digits)) } else { !0 };
        let values = (word ^ ZEROS) & inside;
        if (values | values.wrapping_add(6 * ONES)) & (0xF0 * ONES) != 0 {
            return None;
        }
        let default = if self.is_https { 443 } else { 80 };
        let is_default = (digits == 0) | (decimal(values, digits) == default);
        let has_leading_zero = (digits > 1) & (values as u8 == 0);
        let before_colon = self.head & ((1 << colon) - 1);
        if has_leading_zero & !is_default | (isa.equal(block, b'@') & before_colon != 0) {
            return None;
        }
        Some(if is_default { colon } else { path })
    }
}

/// The canonical form on level `scheme` of `text`, a record that keeps its fragment, if it can be found as quickly as that of a record
/// in bulk: `None` if another path has to decide, or not enough bytes may be read after the text.
#[inline(always)]
pub fn common_form<'a, I: Isa>(
    isa: I,
    text: Prefix<'_>,
    out: &'a mut FormBuffer,
) -> Option<Prefix<'a>> {
    let bytes = text.slack().first_chunk()?;
    SplitRecord::of_one(isa, bytes, text.len()).canonical(isa, bytes, text.len(), out)
}

/// Whether the level `scheme` changes the form that `text`, which is a URI, has on level `syntax`, if that can be seen at once: its
/// scheme is `http` or `https`, and its authority, within the first 64 bytes, a name, and perhaps a port.
#[inline(always)]
pub fn changes_by_scheme<I: Isa>(isa: I, text: Prefix<'_>) -> Option<bool> {
    // What comes after the authority does not matter.
    let len = text.len().min(LONG - 1);
    let mut start: Text = [0; _];
    let bytes = match text.slack().first_chunk() {
        Some(bytes) => bytes,
        None => {
            start[..len].copy_from_slice(&text[..len]);
            &start
        }
    };
    let seen = SplitRecord::of_one(isa, bytes, len);
    let (path, host) = (usize::from(seen.path), 7 + usize::from(seen.is_https));
    // What an empty host means is left to the reference path.
    if path <= host || bytes[host] == b':' {
        return None;
    }
    let has_path = path < len && bytes[path % PAD] == b'/';
    let is_kept = seen.head == 0 || seen.kept_end(isa, bytes)? == path;
    Some(!(has_path & is_kept))
}

/// The number whose `count` digits, at most eight, are the bytes of `values`, the first one lowest.
#[inline(always)]
fn decimal(values: u64, count: usize) -> u64 {
    // With zeros before it, the number has eight digits. Neighbours are joined: digits, then pairs, then fours.
    let digits = if count == 0 { 0 } else { values << (64 - 8 * count) };
    let pairs = (digits * 10 + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    (fours * 10_000 + (fours >> 32)) & 0xFFFF_FFFF
}

/// Copies `N` bytes.
#[inline(always)]
fn put<const N: usize>(text: &Text, from: usize, out: &mut FormBuffer, to: usize) {
    out[to % PAD..][..N].copy_from_slice(&text[from % 128..][..N]);
}

/// The value of each hexadecimal digit, and more than 15 for all other bytes.
static DIGITS: [u8; 256] = {
    let mut values = [0xF0; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// The canonical form of the percent-encoding of each byte, and its length in the highest byte.
static TRIPLETS: [u32; 256] = {
    let mut forms = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let digits = b"0123456789ABCDEF";
        forms[byte] = if UNRESERVED.has(byte as u8) {
            u32::from_le_bytes([byte as u8, 0, 0, 1])
        } else {
            u32::from_le_bytes([b'%', digits[byte >> 4], digits[byte & 15], 3])
        };
        byte += 1;
    }
    forms
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::{Padded, Span};
    use crate::index::Index;
    use crate::normalize::{Level, Split, normalize_exact};
    use crate::simd::{Kernels, Task};
    use crate::uri::parse;

    struct Forms<'a>(Padded<'a>, &'a Index, &'a mut [Span]);

    impl Task for Forms<'_> {
        type Output = Vec<(usize, Option<Vec<u8>>)>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            let Forms(text, index, spans) = self;
            let mut split = Split::default();
            split.split(isa, text, index, spans, true);
            // What is left in the room from the record before must not matter.
            let mut room = [b'/'; _];
            let mut forms = Vec::new();
            for seen in split.others() {
                let number = seen.number() as usize;
                let bytes = &text.padded()[spans[number].start as usize..];
                let len = spans[number].len();
                let form = seen.canonical(isa, bytes, len, &mut room);
                assert_eq!(seen.has_form(isa, bytes, len), form.is_some(), "{seen:?}");
                let mut room_of_one = [b'/'; _];
                let form_of_one = common_form(isa, Prefix::new(bytes, len), &mut room_of_one);
                assert_eq!(form_of_one.as_deref(), form.as_deref(), "{seen:?}");
                let mut host_room = HostBuffer::default();
                let host = seen.host(isa, bytes, len, &mut host_room);
                let host_of = |form: &Prefix<'_>| {
                    parse(form.bytes()).unwrap().host(form.bytes()).unwrap().to_vec()
                };
                assert_eq!(host.map(|host| host.bytes().to_vec()), form.as_ref().map(host_of));
                forms.push((number, form.map(|form| form.bytes().to_vec())));
            }
            forms
        }
    }

    /// The forms of the records of `text`, lines, that are not canonical as they stand. Checks that they are those of
    /// the reference path, by every backend.
    fn forms(text: &[u8], after: u8) -> Vec<(usize, Option<Vec<u8>>)> {
        let mut bytes = text.to_vec();
        bytes.resize(Padded::needed(text.len()), after);
        let padded = Padded::new(&bytes, text.len()).unwrap();
        let mut found = None;
        for kernels in Kernels::available() {
            let mut index = Index::new();
            index.build(kernels, padded, b'\n');
            let mut spans: Vec<Span> = index.spans().collect();
            let forms = kernels.run(Forms(padded, &index, &mut spans));
            for (number, form) in &forms {
                let Some(form) = form else { continue };
                let mut expected = Vec::new();
                let record = spans[*number].of(text);
                normalize_exact(record, Level::Scheme, false, &mut expected)
                    .unwrap_or_else(|error| panic!("{}: {error}", record.escape_ascii()));
                assert_eq!(form.escape_ascii().to_string(), expected.escape_ascii().to_string());
            }
            assert_eq!(found.get_or_insert_with(|| forms.clone()), &forms, "{kernels:?}");
        }
        found.unwrap_or_default()
    }

    /// The form of one record among others, at several places and whatever follows.
    fn form(record: &str) -> Option<Vec<u8>> {
        let mut found = None;
        for shift in [1, 40, 63, 64, 65] {
            for after in *b"/?#%8:@\r\n" {
                let text = format!("{}\n{record}", "x".repeat(shift));
                let [_, (1, form)] = &forms(text.as_bytes(), after)[..] else {
                    panic!("{record:?} is canonical")
                };
                forms(record.as_bytes(), after);
                assert_eq!(found.get_or_insert_with(|| form.clone()), form, "{record:?}");
            }
        }
        found.unwrap()
    }

    #[test]
    fn the_usual_changes_are_made() {
        let long = "a".repeat(128 - "http://h/%7e".len());
        for (record, expected) in [
            ("HTTP://h/", "http://h/"),
            ("hTTps://EXAMPLE.com/A%2f", "https://example.com/A%2F"),
            ("http://h", "http://h/"),
            ("https://H?q", "https://h/?q"),
            ("http://", "http:///"),
            ("http://h:/", "http://h/"),
            ("http://h:80", "http://h/"),
            ("http://h:0080/a", "http://h/a"),
            ("https://h:0000443?a", "https://h/?a"),
            ("http://h:443/", "http://h:443/"),
            ("https://h:80/", "https://h:80/"),
            ("http://h:12345678/", "http://h:12345678/"),
            ("http://h/%41%7e%2d%5f%2E%39%20%c3%A9", "http://h/A~-_.9%20%C3%A9"),
            ("http://h/a%2e%2E/b", "http://h/a../b"),
            ("http://h/%2e%2E/b/%2E", "http://h/b/"),
            ("http://h:80/a/../b/./c?/../d", "http://h/b/c?/../d"),
            ("http://H/..?%7e", "http://h/?~"),
            ("http://h/.a/..b/...", "http://h/.a/..b/..."),
            ("http://h/a#b/../c%7e?", "http://h/a#b/../c~?"),
            (&format!("http://h/%7e{}", &long[1..]), &format!("http://h/~{}", &long[1..])),
            (&format!("http://h/{}%7e", &long[1..]), &format!("http://h/{}~", &long[1..])),
            (&format!("http://{}.:80", &long[..50]), &format!("http://{}./", &long[..50])),
        ] {
            let found = form(record).unwrap_or_else(|| panic!("{record:?}"));
            assert_eq!(
                found.escape_ascii().to_string(),
                expected.as_bytes().escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn unusual_records_are_left_to_the_other_paths() {
        let long = "a".repeat(128 - "http://h/%7e".len());
        for record in [
            "http:/",
            "https:/",
            "ftp://h/%7e",
            "http://h#f",
            "http://u@h/%7e",
            "http://U@h:80/",
            "http://U@h:081/",
            "http://h:8a/",
            "http://h:80:80/",
            "http://h:80@h/",
            "http://h:08080/",
            "http://h:123456789/",
            "http://[::1]/",
            "http://%41/",
            "http://h /",
            "http://h/%4",
            "http://h/%",
            "http://h/%4g",
            "http://h/%g4",
            "http://h/%%41",
            "http://h/a#b#c",
            "http://h/a\"b%41",
            "http://h/\u{e9}",
            "//h/%41",
            "h\u{1a}//h/",
            "http:\u{f}/h/",
            &format!("http://h/%7e{long}"),
            &format!("http://{long}/%7e"),
        ] {
            assert_eq!(form(record), None, "{record:?}");
        }
    }

    #[test]
    fn numbers_of_up_to_eight_digits_are_read() {
        for text in ["", "0", "7", "80", "0080", "443", "65535", "12345678", "99999999"] {
            let mut values = [0; 8];
            values.iter_mut().zip(text.bytes()).for_each(|(to, digit)| *to = digit - b'0');
            let expected = text.parse().unwrap_or(0);
            assert_eq!(decimal(u64::from_le_bytes(values), text.len()), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_common_path_agrees_with_the_reference_path(
            text in "((http|https|HTTP|hTtPs|ftp)(://|:/|:)[a-zA-Z0-9.:@%]{0,3}[a-zA-Z.]{0,66}(:[0-9]{0,9})?([/?#][a-zA-Z./]{0,6}(%[0-9a-fA-F]{2}|%2[eEfFdD]|/\\.{1,2}/|[?#%\u{e9} ]|/){0,2}){0,6}[\r]?\n){0,4}",
            after in any::<u8>(),
        ) {
            forms(text.as_bytes(), after);
        }
    }
}
