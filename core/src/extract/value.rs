//! The value of a field: a URI as a whole, or text that holds links.

use core::ops::Range;

use super::how::How;
use super::reference::{Absolute, encoded, scheme};
use super::{Context, Links, fragment};
use crate::chunk::{Padded, PaddedBuf, Span};

/// Extracts links from the values of a text.
pub(crate) struct Values<'a> {
    how: How<'a>,
    text: Padded<'a>,
    /// Whether fields were selected by name or number, so that a value may be a URI as a whole.
    is_chosen: bool,
    /// Whether only relative references count.
    is_relative: bool,
    /// A stretch of the text without a `<`, which nearly all of it is: no value within holds HTML.
    plain_text: Range<usize>,
    context: Context,
    absolute: Absolute<'a>,
    /// A value that differs from the bytes in the text.
    plain: PaddedBuf,
}

impl<'a> Values<'a> {
    /// Values of `text`. With `is_chosen`, a value that is a URI as a whole counts as one, and with
    /// a base, or if those are kept as they are, so does a relative reference.
    pub(crate) fn new(how: How<'a>, text: Padded<'a>, is_chosen: bool) -> Values<'a> {
        Values {
            how,
            text,
            is_chosen,
            is_relative: false,
            plain_text: 0..0,
            context: Context::Field,
            absolute: how.absolute(),
            plain: PaddedBuf::default(),
        }
    }

    /// The same values, of which only relative references count.
    pub(crate) fn of_relative(self) -> Values<'a> {
        Values { is_relative: true, ..self }
    }

    /// The same values with this kind of links.
    pub(crate) fn of_context(self, context: Context) -> Values<'a> {
        Values { context, ..self }
    }

    /// The text.
    pub(crate) fn content(&self) -> &'a [u8] {
        self.text.content()
    }

    /// Adds the links of the text at `span`, which is not a value.
    pub(crate) fn take_text(&self, span: Span, links: &mut Links) {
        self.how.find(self.text, span, Context::Text, links);
    }

    /// Whether there is a `<` in the value at `span`. Values come in order, so that a text is searched once.
    fn has_less_than(&mut self, span: Span) -> bool {
        let (start, end) = (span.start as usize, span.end as usize);
        if !self.plain_text.contains(&start) {
            let content = self.text.content();
            let found = memchr::memchr(b'<', &content[start..]);
            self.plain_text = start..found.map_or(content.len() + 1, |at| start + at);
        }
        end > self.plain_text.end
    }

    /// Adds the links of the value at `span`; `made` is the value if it differs from those bytes.
    pub(crate) fn take(&mut self, span: Span, made: Option<&[u8]>, links: &mut Links) {
        let may_be_html = made.is_some() || self.has_less_than(span);
        let Values { how, text, is_chosen, is_relative, context, absolute, plain, .. } = self;
        let context = *context;
        let value = made.unwrap_or(span.of(text.content()));
        if *is_relative && (scheme(value.trim_ascii_start()).is_some() || !is_whole(value, true)) {
            return;
        }
        if *is_chosen && is_whole(value, absolute.takes_relative()) {
            absolute.push(value, span, context, links);
        } else if may_be_html && fragment::is_html(value) {
            let base = absolute.has_base().then(|| absolute.base());
            let is_made = made.is_some();
            let place = |found: Span| match is_made {
                true => span,
                false => Span { start: span.start + found.start, end: span.start + found.end },
            };
            fragment::search(how.with_base(base), (value, context), place, links);
        } else if made.is_some() {
            plain.set(value);
            how.finder.find_made(how.kernels, plain.padded(), span, context, links);
        } else {
            how.find(*text, span, context, links);
        }
    }
}

/// Whether the whole `value` is a URI, or a relative reference where those are allowed. With an
/// authority it need not be valid.
fn is_whole(value: &[u8], takes_relative: bool) -> bool {
    let value = value.trim_ascii();
    if value.is_empty() || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    let value = encoded(value);
    match scheme(&value) {
        Some(scheme) if value[scheme.len()..].starts_with(b"://") => true,
        Some(_) => crate::uri::parse(&value).is_ok(),
        None => takes_relative,
    }
}
