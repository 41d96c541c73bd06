//! What was found in a chunk.

use crate::chunk::{Padded, Span};
use crate::shown::escaped_bytes;

/// Where in its document a link stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Context {
    /// In running text.
    #[default]
    Text,
    /// In an `href`.
    Href,
    /// In a `src`.
    Src,
    /// In a `srcset` or `imagesrcset`.
    Srcset,
    /// In the `action` of a form.
    Action,
    /// In a `formaction`.
    Formaction,
    /// In a `cite`.
    Cite,
    /// In the `data` of an `object`.
    Data,
    /// In a `poster`.
    Poster,
    /// In a `background`.
    Background,
    /// In a `longdesc`.
    Longdesc,
    /// In a `meta` element that sends elsewhere.
    Refresh,
    /// In a string or field of a record.
    Field,
    /// The target of a request in an access log, or of an archived record.
    Target,
    /// The referrer of a request in an access log.
    Referer,
    /// In the user agent of a request in an access log.
    Agent,
    /// In a link of a Markdown document that holds its destination.
    Inline,
    /// In a link of a Markdown document whose destination is defined elsewhere in it.
    Reference,
    /// Between `<` and `>` in a Markdown document.
    Autolink,
    /// In an image of a Markdown document.
    Image,
}

impl Context {
    /// The stable name used in machine output.
    pub const fn name(self) -> &'static str {
        match self {
            Context::Text => "text",
            Context::Href => "href",
            Context::Src => "src",
            Context::Srcset => "srcset",
            Context::Action => "action",
            Context::Formaction => "formaction",
            Context::Cite => "cite",
            Context::Data => "data",
            Context::Poster => "poster",
            Context::Background => "background",
            Context::Longdesc => "longdesc",
            Context::Refresh => "refresh",
            Context::Field => "field",
            Context::Target => "target",
            Context::Referer => "referer",
            Context::Agent => "agent",
            Context::Inline => "inline",
            Context::Reference => "reference",
            Context::Autolink => "autolink",
            Context::Image => "image",
        }
    }
}

/// One link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// The bytes of the chunk that it was read from.
    pub span: Span,
    /// What kind of place that is.
    pub context: Context,
    /// Where its URI stands in the bytes made by the extractor; empty when it is the span's own bytes.
    made: Span,
}

/// What was not, or not wholly, looked into, while the rest was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A coded body in an archive.
    Body {
        /// Offset of the first byte of its record in the chunk.
        at: u32,
        /// Its `Content-Encoding`.
        codings: Box<[u8]>,
        /// The URI that the record is about.
        target: Box<[u8]>,
        /// Some of it was looked into.
        is_partial: bool,
    },
    /// A Markdown document with so many marks.
    Marks(usize),
}

impl Fault {
    /// Faults that are described, of a chunk as of a run; further ones are counted.
    pub(crate) const MOST: usize = 20;

    /// Bytes of a coding and of a URI that are shown, at the most.
    const SHOWN: usize = 200;

    pub(crate) fn of_body(
        at: u32,
        codings: &[u8],
        target: Option<&[u8]>,
        is_partial: bool,
    ) -> Fault {
        let shown = |text: &[u8]| text[..text.len().min(Fault::SHOWN)].into();
        let (codings, target) = (shown(codings), shown(target.unwrap_or_default()));
        Fault::Body { at, codings, target, is_partial }
    }

    /// What is said of it where its chunk begins at byte `start` of the source.
    pub(crate) fn message(&self, start: u64) -> String {
        match self {
            Fault::Body { at, codings, target, is_partial } => {
                let at = start + u64::from(*at);
                let (coding, target) = (escaped_bytes(codings), escaped_bytes(target));
                let about = if target.is_empty() { String::new() } else { format!(" ({target})") };
                let what = match is_partial {
                    true => "breaks off or has more than 64 MiB; its beginning was searched",
                    false => "cannot be decoded and was left out",
                };
                format!("record at byte {at}{about}: its body, Content-Encoding {coding}, {what}")
            }
            Fault::Marks(count) => format!(
                "has {count} marks of Markdown, more than the {} that are parsed; it was searched as plain text, without relative references",
                MOST_MARKS
            ),
        }
    }
}

/// The links of a chunk, in order. Reusable: [`Links::clear`] keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct Links {
    links: Vec<Link>,
    made: Vec<u8>,
    relative: u64,
    lost: u64,
    broken: u64,
    partial: u64,
    undecoded: u64,
    unparsed: u64,
    /// The first faults that can be described.
    faults: Vec<Fault>,
    /// Memory for those who have to collect places before they can make links of them.
    places: Vec<(Context, Span)>,
}

/// Marks of a document that is parsed, at the most: its tree takes up to 300 bytes for each, so memory stays below
/// 450 MiB. Prose has one in thirty bytes, tables and lists of links one in ten.
pub(super) const MOST_MARKS: usize = if cfg!(test) { 10_000 } else { 1 << 20 };

/// Bytes of URIs that are made for one chunk, at the most: a page may name a long base and have millions of
/// references to it.
const MOST_MADE: usize = 128 << 20;

impl Links {
    /// No links.
    pub fn new() -> Links {
        Links::default()
    }

    /// Forgets all links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.made.clear();
        (self.relative, self.lost, self.broken) = (0, 0, 0);
        (self.partial, self.undecoded) = (0, 0);
        self.unparsed = 0;
        self.faults.clear();
    }

    /// The number of relative references that were left out, as there is no base.
    pub fn relative(&self) -> u64 {
        self.relative
    }

    /// The number of links that were left out, as they would take too much memory.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of places where something else stood than a record of the format should.
    pub fn broken(&self) -> u64 {
        self.broken
    }

    /// The number of coded bodies in archives of which only a part was looked into: they break off, or have more than 64 MiB.
    pub fn partial(&self) -> u64 {
        self.partial
    }

    /// The number of bodies in archives that were not looked into, as their coding cannot be undone.
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    /// The number of Markdown documents that were searched as plain text, as they have too many marks.
    pub fn unparsed(&self) -> u64 {
        self.unparsed
    }

    /// The first faults that can be described, [`Fault::MOST`] at the most.
    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn count_fault(&mut self, fault: Fault) {
        *match fault {
            Fault::Body { is_partial: true, .. } => &mut self.partial,
            Fault::Body { is_partial: false, .. } => &mut self.undecoded,
            Fault::Marks(_) => &mut self.unparsed,
        } += 1;
        if self.faults.len() < Fault::MOST {
            self.faults.push(fault);
        }
    }

    pub(crate) fn count_broken(&mut self) {
        self.broken += 1;
    }

    /// An empty list of places, to be given back.
    pub(crate) fn take_places(&mut self) -> Vec<(Context, Span)> {
        core::mem::take(&mut self.places)
    }

    pub(crate) fn give_back_places(&mut self, mut places: Vec<(Context, Span)>) {
        places.clear();
        self.places = places;
    }

    /// Adds what was found in `text`, which was made of what stands at `place`.
    pub(crate) fn take_made(&mut self, found: &Links, text: &[u8], place: Span) {
        for (link, uri) in found.iter(text) {
            self.push_made(place, link.context, |out| out.extend_from_slice(uri));
        }
        self.relative += found.relative;
        self.lost += found.lost;
        self.broken += found.broken;
        self.partial += found.partial;
        self.undecoded += found.undecoded;
    }

    pub(crate) fn count_relative(&mut self) {
        self.relative += 1;
    }

    /// The number of links.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The links in order, each with its URI; `text` is the chunk they were found in.
    pub fn iter<'a>(
        &'a self,
        text: &'a [u8],
    ) -> impl ExactSizeIterator<Item = (&'a Link, &'a [u8])> {
        self.links.iter().map(move |link| (link, self.uri(link, text)))
    }

    /// Appends the URIs in order, each with `record_end` after it, to `out`; `text` is the chunk they were found in.
    pub(crate) fn write_lines(&self, text: Padded<'_>, record_end: u8, out: &mut Vec<u8>) {
        let own = self.links.iter().filter(|link| link.made.is_empty());
        let own: usize = own.map(|link| link.span.len()).sum();
        // Room for all at once: what grows step by step takes fresh memory with each step.
        out.reserve(own + self.made.len() + self.links.len() + Padded::needed(0));
        for link in &self.links {
            if link.made.is_empty() {
                text.part(link.span.start as usize, link.span.len()).append_to(out);
            } else {
                append(&self.made, link.made, out);
            }
            out.push(record_end);
        }
    }

    fn uri<'a>(&'a self, link: &Link, text: &'a [u8]) -> &'a [u8] {
        if link.made.is_empty() { link.span.of(text) } else { link.made.of(&self.made) }
    }

    /// Adds a link whose URI is the bytes at `span`.
    #[inline]
    pub(crate) fn push(&mut self, span: Span, context: Context) {
        self.links.push(Link { span, context, made: Span::default() });
    }

    /// Adds a link read from `span` whose URI is what `make` appends to the buffer it is given.
    pub(crate) fn push_made(
        &mut self,
        span: Span,
        context: Context,
        make: impl FnOnce(&mut Vec<u8>),
    ) {
        if self.made.len() > MOST_MADE {
            self.lost += 1;
            return;
        }
        let start = self.made.len();
        make(&mut self.made);
        self.push_made_from(start, span, context);
    }

    /// The bytes made so far, for a URI to be appended, as [`Links::push_made_from`] has it; `None` if no more may be made.
    #[inline(always)]
    pub(crate) fn made(&mut self) -> Option<&mut Vec<u8>> {
        (self.made.len() <= MOST_MADE).then_some(&mut self.made)
    }

    /// Adds a link read from `span` whose URI is what stands in [`Links::made`] from byte `start` on.
    #[inline(always)]
    pub(crate) fn push_made_from(&mut self, start: usize, span: Span, context: Context) {
        let made = Span { start: start as u32, end: self.made.len() as u32 };
        self.links.push(Link { span, context, made });
    }

    /// The links from number `first` on, taken out, with what was made for them still at hand.
    pub(crate) fn split_off(&mut self, first: usize) -> Vec<Link> {
        self.links.split_off(first)
    }

    /// Moves the places of the links from number `first` on by `by` bytes.
    #[inline]
    pub(crate) fn shift(&mut self, first: usize, by: u32) {
        if by > 0 {
            for link in &mut self.links[first..] {
                link.span = Span { start: link.span.start + by, end: link.span.end + by };
            }
        }
    }

    /// Puts back a link that [`Links::split_off`] took out.
    pub(crate) fn restore(&mut self, link: Link) {
        self.links.push(link);
    }
}

/// Appends the bytes of `text` at `span` to `out`; short ones as a whole block, which is faster, if there is one.
#[inline(always)]
fn append(text: &[u8], span: Span, out: &mut Vec<u8>) {
    const BLOCK: usize = 128;
    let end = out.len() + span.len();
    match text[span.start as usize..].first_chunk::<BLOCK>() {
        Some(block) if span.len() <= BLOCK => {
            out.extend_from_slice(block);
            out.truncate(end);
        }
        _ => out.extend_from_slice(span.of(text)),
    }
}
