//! What was found in a chunk.

use crate::chunk::Span;

/// Where in its document a link stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Context {
    /// In running text.
    #[default]
    Text,
}

impl Context {
    /// The stable name used in machine output.
    pub const fn name(self) -> &'static str {
        match self {
            Context::Text => "text",
        }
    }
}

/// One link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the chunk that it was read from.
    pub span: Span,
    /// What kind of place that is.
    pub context: Context,
    /// Where its URI stands in the bytes made by the extractor; empty when it is the span's own bytes.
    made: Span,
}

/// The links of a chunk, in order. Reusable: [`Links::clear`] keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct Links {
    links: Vec<Link>,
    made: Vec<u8>,
}

impl Links {
    /// No links.
    pub fn new() -> Links {
        Links::default()
    }

    /// Forgets all links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.made.clear();
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
        let start = self.made.len() as u32;
        make(&mut self.made);
        let made = Span { start, end: self.made.len() as u32 };
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
