//! Reads tags by masks: nearly all tags of nearly all pages.
//!
//! A tag is read here only if the tokenizer ([`super::html`]) would certainly see the same tag,
//! followed by markup. Everything else is left to the tokenizer, which is the reference: names that
//! extend beyond a block, white space around `=`, attributes that may hold a link but have no
//! value, and elements that change how the rest is read.

use super::Context;
use super::attribute::context;
use crate::chunk::{Padded, Span};
use crate::grammar::ByteClass;
use crate::grammar::byte_words;
use crate::index::low_bits;
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Kernels, Task};
use std::ops::Range;

/// Appends to `found` the positions that may hold a link, in the tags from the one whose `<` is at
/// `at` on, up to the first tag that is left to the tokenizer. Returns the offset of that tag, or
/// the length of `text`.
pub(super) fn take(
    kernels: Kernels,
    text: Padded<'_>,
    at: usize,
    found: &mut Vec<(Context, Span)>,
) -> usize {
    struct Take<'a>(Padded<'a>, usize, &'a mut Vec<(Context, Span)>);
    impl Task for Take<'_> {
        type Output = usize;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> usize {
            take_in(isa, self.0, self.1, self.2)
        }
    }
    kernels.run(Take(text, at, found))
}

#[inline(always)]
fn take_in<I: Isa>(isa: I, text: Padded<'_>, at: usize, found: &mut Vec<(Context, Span)>) -> usize {
    let Some(mut window) = Window::new(isa, text, at) else { return text.len() };
    // Offsets of the start of the tag in the window, and in the text.
    let (mut open, mut at) = (0, at);
    loop {
        let first = found.len();
        let close = regular_end(isa, text, &mut window, open, found);
        // A tag that is cut off by the end of the text does not count.
        let Some(close) = close.filter(|&close| window.from + close < text.len()) else {
            found.truncate(first);
            return at;
        };
        open = next(window.opens, close);
        at = window.from + open;
        if open == BLOCK {
            // Text that is not markup does not need the other masks.
            (open, at) = (0, find(isa, text, b'<', at));
            match Window::new(isa, text, at) {
                Some(new) => window = new,
                None => return text.len(),
            }
        }
        if at >= text.len() {
            return text.len();
        }
    }
}

/// The first `byte` from `from` on; the length of `text` if there is none.
#[inline(always)]
fn find<I: Isa>(isa: I, text: Padded<'_>, byte: u8, from: usize) -> usize {
    let mut at = from;
    while at < text.len() {
        let found = isa.equal(text.block(at), byte);
        if found != 0 {
            return (at + found.trailing_zeros() as usize).min(text.len());
        }
        at += BLOCK;
    }
    text.len()
}

/// White space and `/`, which end a name in a tag as `>` does.
static GAPS: NibbleTables = nibble_tables(ByteClass::of(b"\t\n\x0C\r /"));

/// The masks of a block.
#[derive(Clone, Copy)]
struct Window {
    /// Offset of the block in the text.
    from: usize,
    opens: u64,
    closes: u64,
    /// White space and `/`.
    gaps: u64,
    equals: u64,
    quotes: u64,
}

impl Window {
    /// The block at `from`; `None` after the end of the text.
    #[inline(always)]
    fn new<I: Isa>(isa: I, text: Padded<'_>, from: usize) -> Option<Window> {
        if from >= text.len() {
            return None;
        }
        let block = text.block(from);
        Some(Window {
            from,
            opens: isa.equal(block, b'<'),
            closes: isa.equal(block, b'>'),
            gaps: isa.members(block, &GAPS),
            equals: isa.equal(block, b'='),
            quotes: isa.equal(block, b'"'),
        })
    }

    /// Whether the bytes `range` of the window are free of quotes, which could hide a `>`.
    #[inline(always)]
    fn is_unquoted<I: Isa>(&self, isa: I, text: Padded<'_>, range: Range<usize>) -> bool {
        let quotes = self.quotes | isa.equal(text.block(self.from), b'\'');
        quotes & low_bits(range.end) & !low_bits(range.start) == 0
    }

    /// The end of the name of the start tag, or end tag, whose `<` is at `open`; 64 if it is not
    /// within the window.
    #[inline(always)]
    fn first_end(&self, is_end: bool, open: usize) -> usize {
        next(if is_end { self.closes } else { self.closes | self.gaps }, open + 2)
    }
}

/// The first of `bits` from number `at` (at most 64) on; 64 if there is none.
#[inline(always)]
fn next(bits: u64, at: usize) -> usize {
    (bits & !low_bits(at)).trailing_zeros() as usize
}

/// The position in `window`, which may have been moved, of the `>` of the tag whose `<` is at
/// `open`, if it can be determined; the positions in the tag that may hold a link are added to
/// `found` in any case. A position outside the text has no meaning.
#[inline(always)]
fn regular_end<I: Isa>(
    isa: I,
    text: Padded<'_>,
    window: &mut Window,
    mut open: usize,
    found: &mut Vec<(Context, Span)>,
) -> Option<usize> {
    let start = window.from + open;
    let block = text.block(start);
    let is_end = block[1] == b'/';
    let mut end = window.first_end(is_end, open);
    if open > 0 && end == BLOCK {
        *window = Window::new(isa, text, start)?;
        (open, end) = (0, window.first_end(is_end, 0));
    }
    if is_end {
        let is_plain = end < BLOCK && window.is_unquoted(isa, text, open..end);
        return (is_plain && block[2].is_ascii_alphabetic()).then_some(end);
    }
    let name_len = end - open - 1;
    if !block[1].is_ascii_alphabetic() || end == BLOCK || is_special(block, name_len) {
        return None;
    }
    let is_meta = name_len == 4 && block[1] | 0x20 == b'm' && block[2] | 0x20 == b'e';
    let tag = start + 1..start + 1 + name_len;
    let mut seen = Contexts::default();
    // Where to continue reading the window.
    let mut at = end;
    loop {
        let name = next(!window.gaps, at);
        if name == BLOCK {
            (*window, at) = (Window::new(isa, text, window.from + BLOCK)?, 0);
            continue;
        }
        if window.closes >> name & 1 != 0 {
            return Some(name);
        }
        // A `=` at its beginning is part of the name.
        let stop = next(window.gaps | window.closes | window.equals, name + 1);
        // The byte after it must be in the window too.
        if stop + 1 >= BLOCK {
            if name == 0 {
                return None;
            }
            (*window, at) = (Window::new(isa, text, window.from + name)?, 0);
            continue;
        }
        let len = stop - name;
        // A `meta` may be a refresh if it has an `http-equiv`.
        if is_meta && len == b"http-equiv".len() {
            return None;
        }
        let may_hold = len >= SHORTEST && is_suspect(text.block(window.from), stop - 1);
        if window.equals >> stop & 1 == 0 {
            // White space may precede a `=`.
            let after = next(!window.gaps, stop);
            if may_hold || after == BLOCK || window.equals >> after & 1 != 0 {
                return None;
            }
            at = stop;
            continue;
        }
        let Value { start, end, after } = value(isa, text, window, stop + 1)?;
        if after > text.len() {
            return None;
        }
        if may_hold {
            let content = text.content();
            let name = &content[window.from + name..window.from + stop];
            let context = context(&content[tag.clone()], name);
            if let Some(context) = context.filter(|&it| it != Context::Refresh && seen.add(it)) {
                found.push((context, Span { start: start as u32, end: end as u32 }));
            }
        }
        at = after - window.from;
        if at >= BLOCK {
            (*window, at) = (Window::new(isa, text, after)?, 0);
        }
    }
}

/// The contexts of the attributes of a tag; of duplicate ones the first counts.
#[derive(Default)]
struct Contexts(u64);

impl Contexts {
    /// Adds `context`; whether it is new.
    #[inline(always)]
    fn add(&mut self, context: Context) -> bool {
        let before = self.0;
        self.0 |= 1 << context as u32;
        self.0 != before
    }
}

/// The value of an attribute: the range of its bytes, without quotes, and where the following text
/// begins.
struct Value {
    start: usize,
    end: usize,
    after: usize,
}

/// The value after the `=` before byte `at` of `window`; one without an end extends past the text.
#[inline(always)]
fn value<I: Isa>(isa: I, text: Padded<'_>, window: &Window, at: usize) -> Option<Value> {
    let first = window.from + at;
    let start = first + 1;
    let end = match text.padded()[first] {
        b'"' => match next(window.quotes, at + 1) {
            BLOCK => find(isa, text, b'"', window.from + BLOCK),
            end => window.from + end,
        },
        b'\'' => find(isa, text, b'\'', start),
        b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' => return None,
        _ => {
            let is_end = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'>');
            let end = first + text.content().get(first..)?.iter().position(is_end)?;
            return Some(Value { start: first, end, after: end });
        }
    };
    Some(Value { start, end, after: end + 1 })
}

/// Whether the tag at the beginning of `block`, whose name has `len` bytes, may be followed by text
/// without tags, or does more than hold links.
#[inline(always)]
fn is_special(block: &[u8; BLOCK], len: usize) -> bool {
    matches!(
        (len, block[1] | 0x20, block[2] | 0x20),
        (6, b's', b'c')
            | (5, b's', b't')
            | (5, b't', b'i')
            | (8, b't', b'e')
            | (3, b'x', b'm')
            | (6, b'i', b'f')
            | (7 | 8, b'n', b'o')
            | (9, b'p', b'l')
            | (4, b'b', b'a')
    )
}

/// The attributes that may hold a link.
const LINKS: [&[u8]; 12] = byte_words(
    "src href cite data srcset action poster content longdesc formaction background imagesrcset",
);

/// Length of the shortest of them.
const SHORTEST: usize = 3;

/// By the low five bits of the last two letters of a name, whether it may be one of [`LINKS`].
static SUSPECT: [u32; 32] = {
    let mut table = [0; 32];
    let mut i = 0;
    while i < LINKS.len() {
        let name = LINKS[i];
        table[(name[name.len() - 2] & 31) as usize] |= 1 << (name[name.len() - 1] & 31);
        i += 1;
    }
    table
};

/// Whether the attribute whose name's last letter is at `last` may hold a link.
#[inline(always)]
fn is_suspect(block: &[u8; BLOCK], last: usize) -> bool {
    let (before, last) = (block[last - 1], block[last]);
    SUSPECT[usize::from(before & 31)] >> (last & 31) & 1 != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::extract::page::places;

    /// Checks that masks, on every backend, find the same as the tokenizer alone.
    fn same(text: &[u8]) {
        let buf = PaddedBuf::from_content(text);
        let expected = places(buf.padded(), Vec::new(), |at, _| at);
        for kernels in Kernels::available() {
            let found = places(buf.padded(), Vec::new(), |at, found| {
                take(kernels, buf.padded(), at, found)
            });
            assert_eq!(found, expected, "{kernels:?} {}", String::from_utf8_lossy(text));
        }
    }

    /// The offset of the first tag of `text` that is left to the tokenizer, on every backend, and
    /// what was found before it.
    fn taken(text: &str) -> (usize, usize) {
        let buf = PaddedBuf::from_content(text.as_bytes());
        let mut all: Vec<(usize, usize)> = Kernels::available()
            .map(|kernels| {
                let mut found = Vec::new();
                (take(kernels, buf.padded(), 0, &mut found), found.len())
            })
            .collect();
        all.dedup();
        assert_eq!(all.len(), 1, "{text} {all:?}");
        same(text.as_bytes());
        all[0]
    }

    #[test]
    fn regular_tags_are_read() {
        let long = "x".repeat(200);
        for (tag, links) in [
            ("<p>", 0),
            ("</p>", 0),
            ("<span class=\"kw\">", 0),
            ("<b a=\"x>y\">", 0),
            ("<i a=\"'\" b>", 0),
            ("<br/>", 0),
            ("<br />", 0),
            ("<a\n\tb=\"\"c=\"\">", 0),
            ("<H1 ID=\"a=b\">", 0),
            ("</a b=c>", 0),
            ("<a b=\"\u{E9}\">", 0),
            ("<table>", 0),
            ("<input disabled>", 0),
            ("</script>", 0),
            ("<a b=c>", 0),
            ("<a b='>'>", 0),
            ("<a b==\">\">", 0),
            ("<a =\">\">", 0),
            ("<a=\">\">", 0),
            ("<a href=\"x\">", 1),
            ("<a href='x\"'>", 1),
            ("<a href=x/y>", 1),
            ("<a href=>", 1),
            ("<A HREF=\"\">", 1),
            ("<a href=x/href=y>", 1),
            ("<a href=\"x\"href=y>", 1),
            ("<a href=\"x\" src='y'cite=z>", 3),
            ("<link imagesrcset=\"a\" srcset=b>", 1),
            ("<div data=x action=y>", 0),
            ("<meta name=\"a\" content='x'>", 0),
            ("<menu content=x>", 0),
            ("<p><b></b></p><a href=x></a><a href=\"y\">", 2),
            (
                &format!(
                    "<p>{}<a href=\"x\" class=\"y\"></a>{}</p>",
                    " ".repeat(30),
                    " ".repeat(30)
                ),
                1,
            ),
            (&format!("<a class=\"{long}\" href=\"x\">"), 1),
            (&format!("<a title='{long}' href=\"{long}\" src={long} b>"), 2),
            (&format!("<a {} href=x>", "bcd ".repeat(50)), 1),
            (&format!("<a{}href=x>", " ".repeat(150)), 1),
        ] {
            let far = " ".repeat(100);
            for tail in ["", "x", " text ", &far] {
                let text = format!("{tag}{tail}<!>");
                assert_eq!(taken(&text), (text.len() - 3, links), "{text}");
                assert_eq!(taken(&format!("{tag}{tail}")), (tag.len() + tail.len(), links));
            }
        }
    }

    #[test]
    fn irregular_tags_are_left_to_the_tokenizer() {
        for name in LINKS.map(|name| str::from_utf8(name).unwrap()) {
            for name in [name, &name.to_uppercase()] {
                for tag in [
                    format!("<a {name}>"),
                    format!("<a {name}/>"),
                    format!("<a {name} =x>"),
                    format!("<a {name}= x>"),
                    format!("<a\n{name}\n>"),
                ] {
                    assert_eq!(taken(&tag), (0, 0), "{tag}");
                }
            }
        }
        let long = format!("<{}>", "x".repeat(64));
        for tag in [
            "<",
            "</",
            "<a b=\"",
            "< a>",
            "<1>",
            "</ a>",
            "<!-->",
            "<?x>",
            "<script>",
            "<STYLE>",
            "<title>",
            "<textarea>",
            "<xmp>",
            "<iframe>",
            "<noembed>",
            "<noframes>",
            "<plaintext>",
            "<base href=x>",
            "<meta content=x http-equiv=refresh>",
            "<META HTTP-EQUIV=refresh content=x>",
            "<a b =\"c\">",
            "</a b=\">\">",
            "</a b='>'>",
            &long,
        ] {
            assert_eq!(taken(&format!("{tag}<p>")), (0, 0), "{tag}");
        }
        for cut in ["<a", "</a", "<a b=\"c\"", "<a href", "<a href=x", "<a href=\"x", "<a b='"] {
            assert_eq!(taken(cut), (0, 0), "{cut}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn links_are_those_of_the_tokenizer(pieces in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(vec![
                "<a ", "<a", "<IMG\n", "<link ", "</a", "<p", "<meta ", "<base ", "<script", "</script>", "<!--", "-->", " ",
                "href", "src", "HREF=", "href=\"", "' cite='", "\" href=\"", "data", "srcset=", "content=x", "http-equiv=refresh",
                "class=\"", "x1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "          ", "\" ", "\">", "/>", "<a href=\"u\">", "<b c=\"d\" src='e'>",
            ]),
            2 => prop::sample::select(vec!["<", ">", "\"", "'", "=", "/", " ", "\t", "\x0C", "a", "-", "!", "\u{E9}"]),
        ], 0..40)) {
            same(pieces.concat().as_bytes());
        }
    }
}
