//! The search for links in running text.

use super::context::Context;
use super::links::Links;
use super::script::{self, Run};
use super::{Options, Schemes, address, ends, refang, scheme};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::ByteClass;
use crate::index::{Bits, low_bits};
use crate::simd::table::{NibbleTables, PLAIN, nibble_tables};
use crate::simd::{BLOCK, Isa, Kernels, Task, prefetch};

/// Number of bytes ahead of the search that are prefetched: processing a link takes time, in which
/// the CPU reads no further.
const FAR: usize = 1024;

/// Finds links in running text.
///
/// - A link begins with a scheme: see [`super::Schemes`]. `http`, `https` and `ftp` are found even
///   if a word directly precedes them (`seehttp://`); `://` must be followed by the beginning of a
///   host.
/// - It extends over the bytes that a URI may hold. It is therefore ended by white space, `"`, `<`,
///   `>`, ``
///   ` ``, `\`, `^`, `{`, `|`, `}` and control characters, and by non-ASCII letters unless [`Options::unicode`]
///   allows them.
/// - A closing `)` or `]` that was not opened in it ends it, and so does a `[` before its query, but for an address of
///   IPv6, or a `[/`; so does a `,` or `;` that the scheme of another link directly follows, unless
///   [`Options::unsplit`] is set.
/// - With a `'` directly before it, it ends at the next `'`.
/// - Trailing `.`, `,`, `:`, `;`, `!`, `?`, `'` and opening brackets do not belong to it; nor do
///   trailing `*`, `_`, `~` if the same character directly precedes it.
/// - An escaped slash of scripts and JSON (`\/`, `\u002F`, `\x2F`) is a slash, and so are other bytes of URIs that are
///   escaped like this: `https:\/\/h\/a?b\u0026c`.
/// - Between `<` (or `<URL:`) and `>`, everything belongs to it.
///
/// ```
/// use uriscan::extract::{Finder, Options};
/// use uriscan::Kernels;
/// let finder = Finder::new(Options::default());
/// let text = "See (http://example.com/a_(b)), or mailto:joe@example.com.";
/// let found = finder.find(Kernels::detect(), text.as_bytes());
/// let found: Vec<&str> = found.iter().map(|span| &text[span.clone()]).collect();
/// assert_eq!(found, ["http://example.com/a_(b)", "mailto:joe@example.com"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Finder {
    options: Options,
}

/// [`Finder::find_in`], in a function of its own.
struct Find<'a>(&'a Finder, Padded<'a>, Span, Context, &'a mut Links);

impl Task for Find<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.find_in(isa, self.1, self.2, self.3, self.4);
    }
}

impl Finder {
    /// Creates a finder with `options`.
    pub fn new(options: Options) -> Finder {
        Finder { options }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the ranges of all links of `text`, in order, without overlaps.
    pub fn find(&self, kernels: Kernels, text: &[u8]) -> Vec<core::ops::Range<usize>> {
        let buf = crate::chunk::PaddedBuf::from_content(text);
        let mut links = Links::new();
        self.find_all(kernels, buf.padded(), &mut links);
        let place = |span: Span| span.start as usize..span.end as usize;
        links.iter(text).map(|(link, _)| place(link.span)).collect()
    }

    /// Appends all links of `text` to `links`.
    pub fn find_all(&self, kernels: Kernels, text: Padded<'_>, links: &mut Links) {
        let whole = Span { start: 0, end: text.len() as u32 };
        self.find_span(kernels, text, whole, Context::Text, links);
    }

    /// [`Finder::find_all`] in `span` of `text`, as if there were nothing around it.
    pub(crate) fn find_span(
        &self,
        kernels: Kernels,
        text: Padded<'_>,
        span: Span,
        context: Context,
        links: &mut Links,
    ) {
        kernels.run(Find(self, text, span, context, links));
    }

    /// [`Finder::find_all`] in `text`, which was generated from the bytes at `place`; its links get
    /// that position.
    pub(crate) fn find_made(
        &self,
        kernels: Kernels,
        text: Padded<'_>,
        place: Span,
        context: Context,
        links: &mut Links,
    ) {
        let mut found = Links::new();
        let whole = Span { start: 0, end: text.len() as u32 };
        self.find_span(kernels, text, whole, context, &mut found);
        for (_, uri) in found.iter(text.content()) {
            links.push_made(place, context, |out| out.extend_from_slice(uri));
        }
    }

    /// [`Finder::find_all`] in `range` of `text`, as if there were nothing around it, inside a task
    /// that already runs on `isa`.
    #[inline(always)]
    pub(crate) fn find_in<I: Isa>(
        &self,
        isa: I,
        text: Padded<'_>,
        range: Span,
        context: Context,
        links: &mut Links,
    ) {
        let first = links.len();
        let text = text.part(range.start as usize, range.len());
        let (content, end) = (text.content(), text.len());
        // Earlier bytes belong to links already found.
        let mut floor = 0;
        let is_usual = self.is_usual();
        for at in (0..end).step_by(BLOCK) {
            prefetch(text.padded(), at + FAR);
            let block = text.block(at);
            let colons = isa.equal(block, b':') & low_bits(end - at);
            if colons == 0 {
                continue;
            }
            for bit in Bits(self.likely(isa, block, colons)) {
                let colon = at + bit as usize;
                if colon < floor {
                    continue;
                }
                if content.get(colon + 1) == Some(&b'\\')
                    && script::is_authority(&content[colon + 1..])
                {
                    floor = self.escaped(isa, text, (floor, colon), context, links);
                    continue;
                }
                if is_usual {
                    if let Some(span) = self.usual(isa, text, floor, colon) {
                        if script::goes_on(&content[span.end as usize..]) {
                            floor = self.escaped(isa, text, (floor, colon), context, links);
                            continue;
                        }
                        floor = span.end as usize;
                        links.push(span, context);
                        continue;
                    }
                    // As in `rv:1.0`.
                    if !scheme::may_end_at(content, colon) {
                        continue;
                    }
                }
                let Some(begin) = address::begin(&self.options, content, floor, colon) else {
                    continue;
                };
                // A quote before it limits it. Tested first: the rest of the text is not to be
                // searched for each link.
                let limit = ends::quote_limit(content, begin.start, begin.from);
                let content = &content[..limit];
                let splits = self.splits(&content[begin.start..begin.from]);
                let stop = first_stop(isa, text, begin.from, limit, splits);
                if stop < limit && script::goes_on(&content[stop..]) {
                    floor = self.escaped(isa, text, (floor, colon), context, links);
                    continue;
                }
                let Some(found) =
                    ends::end(&self.options, splits, content, begin.start, begin.from, stop)
                else {
                    continue;
                };
                floor = found.at;
                let span = Span { start: begin.start as u32, end: found.at as u32 };
                self.push(content, span, found.is_broken, context, links);
            }
        }
        if self.options.bare_hosts || self.options.email || self.options.refang {
            address::fill_gaps(&self.options, content, first, context, links);
        }
        links.shift(first, range.start);
    }

    /// Adds the links in the run of bytes and escapes around `colon` ([`script`]), no byte of which is before `floor`; returns
    /// where that ends.
    #[inline(never)]
    fn escaped<I: Isa>(
        &self,
        isa: I,
        text: Padded<'_>,
        (floor, colon): (usize, usize),
        context: Context,
        links: &mut Links,
    ) -> usize {
        let run = Run::around(text.content(), floor, colon);
        let is_string = text.content()[colon + 1..].starts_with(b"//") || !run.is_pattern;
        if is_string {
            let buf = PaddedBuf::from_content(&run.text);
            let whole = Span { start: 0, end: run.text.len() as u32 };
            // What has no scheme is found later, in the gaps between links.
            let options = Options { bare_hosts: false, email: false, ..self.options.clone() };
            let mut found = Links::new();
            isa.call(Find(&Finder { options }, buf.padded(), whole, context, &mut found));
            links.take_made(&found, &run.text, run.positions(text.content()));
        }
        run.end
    }

    /// The link whose scheme ends at `colon`, in the common case: see [`scheme::usual_start`] and
    /// [`ends::is_usual`].
    #[inline(always)]
    fn usual<I: Isa>(&self, isa: I, text: Padded<'_>, floor: usize, colon: usize) -> Option<Span> {
        let content = text.content();
        let start = scheme::usual_start(content, floor, colon)?;
        let stop = first_stop(isa, text, colon + 3, content.len(), !self.options.unsplit);
        let next = content.get(stop).copied().unwrap_or(b' ');
        // A bracket that was not opened in it ends it.
        let is_open = next == b')' && content[colon + 3..stop].contains(&b'(');
        (!is_open && ends::is_usual(content[start - 1], content[stop - 1], next))
            .then_some(Span { start: start as u32, end: stop as u32 })
    }

    /// Those of `colons`, the `:` of `block`, that may end a scheme: none before a space or a line
    /// end. Bytes outside the block are not read; at its ends any `:` may be one.
    #[inline(always)]
    fn likely<I: Isa>(&self, isa: I, block: &[u8; BLOCK], colons: u64) -> u64 {
        let goes_on = !((isa.equal(block, b' ') | isa.equal(block, b'\n')) >> 1);
        if !self.is_usual() {
            return colons & goes_on;
        }
        // A letter before it, as in the known schemes without `//`, or a `//` after it.
        let letters = isa.letters(block) << 1 | 1;
        let slashes = isa.equal(block, b'/');
        let slashes = (slashes >> 1 | 1 << 63) & (slashes >> 2 | 0b11 << 62);
        colons & (letters & goes_on | slashes)
    }

    /// Whether the schemes without `//` are the known ones, and defanged links are not searched.
    #[inline(always)]
    fn is_usual(&self) -> bool {
        self.options.schemes == Schemes::Known && !self.options.refang
    }

    /// Whether another link may end one with this `scheme`, given with its delimiters. The content
    /// of a `data:` follows a comma.
    fn splits(&self, scheme: &[u8]) -> bool {
        !self.options.unsplit && !scheme.eq_ignore_ascii_case(b"data:")
    }

    #[inline]
    fn push(&self, text: &[u8], span: Span, is_broken: bool, context: Context, links: &mut Links) {
        if !is_broken && !self.options.refang {
            return links.push(span, context);
        }
        let bytes = span.of(text);
        if is_broken {
            let kept = |byte: &u8| !b" \t\r\n".contains(byte);
            links.push_made(span, context, |out| out.extend(bytes.iter().copied().filter(kept)));
        } else if refang::is_defanged(bytes) {
            links.push_made(span, context, |out| refang::refang(bytes, out));
        } else {
            links.push(span, context);
        }
    }
}

/// The bytes in a link that need no closer look.
static INSIDE: NibbleTables = nibble_tables(PLAIN.without(ByteClass::of(b"),;")));

/// The first byte from `from` on that no URI may hold, or that is a bracket or `)`, or, with
/// `splits`, at which another link ends this one; `end` if there is none.
#[inline(always)]
fn first_stop<I: Isa>(isa: I, text: Padded<'_>, from: usize, end: usize, splits: bool) -> usize {
    let mut at = from;
    while at < end {
        let stops = !isa.members(text.block(at), &INSIDE);
        for bit in Bits(stops) {
            let stop = at + bit as usize;
            if stop >= end {
                return end;
            }
            let content = text.content();
            let is_separator = matches!(content[stop], b',' | b';');
            // Most separators are not followed by a letter.
            let may_split = splits && content.get(stop + 1).is_some_and(u8::is_ascii_alphabetic);
            if !is_separator || may_split && ends::is_split(content, stop) {
                return stop;
            }
        }
        at += BLOCK;
    }
    end
}
