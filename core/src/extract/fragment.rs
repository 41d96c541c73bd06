//! Values that hold HTML: strings of JSON, fields of tables, and texts and attributes of XML.
//!
//! Nothing is lost that a search of the text finds: the attributes that hold references are read as those of a page, and
//! everything else is searched as text, with its character references decoded.

use super::attribute::decoded;
use super::how::How;
use super::{Context, Links, charset, page};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::byte_words;

/// Elements of HTML that make a value a part of a page.
const ELEMENTS: [&[u8]; 44] = byte_words(
    "a abbr article aside b blockquote body br button center code div em embed figure font form h1 \
     h2 h3 h4 head hr html i iframe img input li link meta ol p pre script section span strong \
     style table td tr ul video",
);

/// More elements, which begin pages and documents in Markdown.
const OTHER_ELEMENTS: [&[u8]; 36] = byte_words(
    "address audio base big canvas caption cite dd del details dl dt fieldset figcaption footer \
     frameset h5 h6 header ins kbd label main marquee nav noscript object picture samp small sub \
     summary sup template title tt",
);

/// Whether `name` is that of an element of HTML.
pub(super) fn is_element(name: &[u8]) -> bool {
    ELEMENTS.iter().chain(&OTHER_ELEMENTS).any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether `value` has a tag of HTML in it.
pub(super) fn is_html(value: &[u8]) -> bool {
    let Some(last) = memchr::memrchr(b'>', value) else { return false };
    memchr::memchr_iter(b'<', &value[..last]).any(|at| {
        let rest = &value[at + 1..];
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        let len = rest.iter().take(11).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        matches!(rest.get(len), Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'))
            && ELEMENTS.iter().any(|name| name.eq_ignore_ascii_case(&rest[..len]))
    })
}

/// Adds the links of the HTML in `value`; those in its text have this `context`. `place` is called with the span of each in
/// `value`, and returns that in the source.
pub(super) fn search(
    how: How<'_>,
    (value, context): (&[u8], Context),
    place: impl FnMut(Span) -> Span,
    links: &mut Links,
) {
    let buf = PaddedBuf::from_content(value);
    let text = buf.padded();
    let found = Links::of_part(value.len(), |found| {
        page::page(how, (text, charset::UTF8), None, found);
        let (places, _) = page::places(text, Vec::new(), |at, _| at);
        let mut plain = PaddedBuf::default();
        let mut from = 0;
        let ends = places.iter().map(|(_, span)| (span.start, span.end));
        for (start, end) in ends.chain([(value.len() as u32, value.len() as u32)]) {
            let gap = Span { start: from, end: start.max(from) };
            take_text(how, text, (gap, context), &mut plain, found);
            from = end.max(from);
        }
        found.sort_from(0);
    });
    links.take_made(&found, value, place);
}

/// Adds the links of the text at `span`, whose character references are decoded.
fn take_text(
    how: How<'_>,
    text: Padded<'_>,
    (span, context): (Span, Context),
    plain: &mut PaddedBuf,
    links: &mut Links,
) {
    let typed = span.of(text.content());
    if memchr::memchr(b'&', typed).is_none() {
        return how.find(text, span, context, links);
    }
    plain.set(&decoded(typed));
    let plain = plain.padded();
    let whole = Span { start: 0, end: plain.len() as u32 };
    let found = Links::of_part(plain.len(), |found| how.find(plain, whole, context, found));
    let mut positions = Positions::new(typed);
    links.take_made(&found, plain.content(), |found| positions.original(found, span.start));
}

/// Where the bytes of a decoded text are in what was typed.
pub(super) struct Positions<'t> {
    typed: &'t [u8],
    /// Offsets that correspond.
    at: usize,
    decoded: usize,
}

impl<'t> Positions<'t> {
    pub(super) fn new(typed: &'t [u8]) -> Positions<'t> {
        Positions { typed, at: 0, decoded: 0 }
    }

    /// The span of what was typed for `span` of the decoded text, from `start` on; spans come in order.
    pub(super) fn original(&mut self, span: Span, start: u32) -> Span {
        let from = self.offset(span.start);
        Span { start: start + from, end: start + self.offset(span.end).max(from) }
    }

    /// Longest reference that is considered.
    const LONGEST: usize = 40;

    /// The offset of byte number `target` of the decoded text; not less than for those before it.
    fn offset(&mut self, target: u32) -> u32 {
        let target = target as usize;
        while self.decoded < target {
            let rest = &self.typed[self.at..];
            let plain = memchr::memchr(b'&', rest).unwrap_or(rest.len());
            let step = plain.min(target - self.decoded);
            (self.at, self.decoded) = (self.at + step, self.decoded + step);
            if self.decoded == target || step == rest.len() {
                break;
            }
            let rest = &rest[step..];
            let near = &rest[..rest.len().min(Positions::LONGEST)];
            let len = memchr::memchr(b';', near).map_or(1, |end| end + 1);
            let made = decoded(&near[..len]);
            let (typed, made) = if made.len() == len { (1, 1) } else { (len, made.len()) };
            (self.at, self.decoded) = (self.at + typed, self.decoded + made);
        }
        self.at as u32
    }
}
