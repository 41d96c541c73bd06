//! Tags that hold no link, passed over by masks: most tags of most pages.
//!
//! What is passed over is plainly a tag to the tokenizer ([`super::html`]), has no attribute that may hold a link,
//! and is followed by markup. Everything else is left to the tokenizer, which is the judge.

use crate::chunk::Padded;
use crate::grammar::ByteClass;
use crate::index::{Bits, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Kernels, Task};

/// Where the first `<` from the one at `at` on stands whose tag has to be looked at; the length of `text` if there
/// is none.
pub(super) fn skip(kernels: Kernels, text: Padded<'_>, at: usize) -> usize {
    struct Skip<'a>(Padded<'a>, usize);
    impl Task for Skip<'_> {
        type Output = usize;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> usize {
            skip_in(isa, self.0, self.1)
        }
    }
    kernels.run(Skip(text, at))
}

#[inline(always)]
fn skip_in<I: Isa>(isa: I, text: Padded<'_>, mut at: usize) -> usize {
    while at < text.len() {
        let block = text.block(at);
        // A tag that is cut off by the end of the text is none.
        let Some(close) = plain_end(isa, block).filter(|close| at + close < text.len()) else {
            return at;
        };
        let mut opens = isa.equal(block, b'<') & !low_bits(close);
        while opens == 0 {
            at += BLOCK;
            if at >= text.len() {
                return text.len();
            }
            opens = isa.equal(text.block(at), b'<');
        }
        at += opens.trailing_zeros() as usize;
    }
    text.len()
}

/// White space, `/` and `>`: what ends a name in a tag.
static BREAKS: NibbleTables = nibble_tables(ByteClass::of(b"\t\n\x0C\r />"));

/// The place of the `>` of the tag at the beginning of `block`, if it is there and the tag holds no link.
#[inline(always)]
fn plain_end<I: Isa>(isa: I, block: &[u8; BLOCK]) -> Option<usize> {
    let is_end = block[1] == b'/';
    if !block[1 + usize::from(is_end)].is_ascii_alphabetic() {
        return None;
    }
    let (closes, quotes) = (isa.equal(block, b'>'), isa.equal(block, b'"'));
    if is_end {
        // Without quotes nothing hides a `>`.
        let close = closes.trailing_zeros() as usize;
        let hiding = (quotes | isa.equal(block, b'\'')) & low_bits(close);
        return (closes != 0 && hiding == 0).then_some(close);
    }
    // From an opening quote up to the closing one, that one left out.
    let inside = prefix_xor(quotes);
    let closes = closes & !inside;
    if closes == 0 {
        return None;
    }
    let close = closes.trailing_zeros() as usize;
    let within = low_bits(close);
    let equals = isa.equal(block, b'=') & !inside & within;
    let breaks = isa.members(block, &BREAKS) & !inside;
    let name_end = breaks.trailing_zeros() as usize;
    // Every value stands in quotes right behind its `=`, and there are no other quotes. So a quote in `'` is a value's.
    let is_regular = equals << 1 == quotes & inside & within
        // A name stands right before each `=`.
        && (equals >> 1) & (breaks | quotes) == 0
        && equals & low_bits(name_end) == 0;
    if !is_regular || is_raw(block, name_end - 1) {
        return None;
    }
    let stops = breaks | equals;
    let last_letters = (stops >> 1) & !stops & !quotes & within & !low_bits(name_end);
    let is_plain = Bits(last_letters).all(|bit| !is_suspect(block, bit as usize));
    is_plain.then_some(close)
}

/// The bits of a word that have an odd number of set bits among them and those below.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Whether the tag at the beginning of `block`, whose name has `len` bytes, may be followed by what holds no tags.
#[inline(always)]
fn is_raw(block: &[u8; BLOCK], len: usize) -> bool {
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
    )
}

/// The attributes that may hold a link.
const LINKS: [&[u8]; 12] = [
    b"src",
    b"href",
    b"cite",
    b"data",
    b"srcset",
    b"action",
    b"poster",
    b"content",
    b"longdesc",
    b"formaction",
    b"background",
    b"imagesrcset",
];

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
    use super::*;
    use crate::chunk::PaddedBuf;

    /// Where the first tag of `text` that is not passed over stands, on every backend.
    fn skipped(text: &str) -> usize {
        let buf = PaddedBuf::from_content(text.as_bytes());
        let mut all: Vec<usize> =
            Kernels::available().map(|kernels| skip(kernels, buf.padded(), 0)).collect();
        all.dedup();
        assert_eq!(all.len(), 1, "{text} {all:?}");
        all[0]
    }

    #[test]
    fn plain_tags_are_passed_over() {
        for tag in [
            "<p>",
            "</p>",
            "<span class=\"kw\">",
            "<b a=\"x>y\">",
            "<i a=\"'\" b>",
            "<br/>",
            "<br />",
            "<a\n\tb=\"\"c=\"\">",
            "<H1 ID=\"a=b\">",
            "</a b=c>",
            "<a b=\"\u{E9}\">",
            "<table>",
            "<section>",
            "<input disabled>",
            "</script>",
        ] {
            let far = " ".repeat(100);
            for tail in ["", "x", " text ", &far] {
                let text = format!("{tag}{tail}<!>");
                assert_eq!(skipped(&text), text.len() - 3, "{text}");
                assert_eq!(skipped(&format!("{tag}{tail}")), tag.len() + tail.len());
            }
        }
    }

    #[test]
    fn what_may_matter_is_not() {
        for name in LINKS.map(|name| str::from_utf8(name).unwrap()) {
            for name in [name, &name.to_uppercase()] {
                for tag in [
                    format!("<a {name}>"),
                    format!("<a {name}/>"),
                    format!("<a {name}=\"\">"),
                    format!("<a b=\"c\"{name}=\"d\">"),
                    format!("<a {name} =x>"),
                    format!("<a\n{name}\n>"),
                ] {
                    assert_eq!(skipped(&tag), 0, "{tag}");
                }
            }
        }
        let long = format!("<p class=\"{}\">", "x".repeat(60));
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
            "<a b=c>",
            "<a b='>'>",
            "<a b =\"c\">",
            "<a b==\">\">",
            "<a =\">\">",
            "<a=\">\">",
            "<a b=\"\"=\">\">",
            "<a b=c=\">\">",
            "</a b=\">\">",
            "</a b='>'>",
            "<a\"b\">",
            &long,
        ] {
            assert_eq!(skipped(&format!("{tag}<p>")), 0, "{tag}");
        }
        for cut in ["<a", "</a", "<a b=\"c\"", "<a href"] {
            assert_eq!(skipped(cut), 0, "{cut}");
        }
    }
}
