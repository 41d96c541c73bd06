//! What the search of a text needs besides the text.

use super::reference::Absolute;
use super::{Context, ExtractorOptions, Finder, Links};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// What is searched for, and against what references are resolved.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) finder: &'a Finder,
    pub(crate) options: &'a ExtractorOptions,
    pub(crate) kernels: Kernels,
    /// The URI of the text, or the one that was given for it.
    pub(crate) base: Option<&'a [u8]>,
}

impl<'a> How<'a> {
    /// The same with another base.
    pub(crate) fn with_base(self, base: Option<&'a [u8]>) -> How<'a> {
        How { base, ..self }
    }

    /// Resolves references against the base.
    pub(crate) fn absolute(self) -> Absolute<'a> {
        self.absolute_to(self.base)
    }

    /// Resolves references against another base.
    pub(crate) fn absolute_to(self, base: Option<&[u8]>) -> Absolute<'a> {
        let schemes = &self.finder.options().schemes;
        let keeps_relative = self.options.keeps_relative && !schemes.is_list();
        Absolute::new(schemes, self.kernels, base).keeping_relative(keeps_relative)
    }

    /// Adds the links in the text at `span`.
    #[inline]
    pub(crate) fn find(self, text: Padded<'_>, span: Span, context: Context, links: &mut Links) {
        self.finder.find_span(self.kernels, text, span, context, links);
    }
}
