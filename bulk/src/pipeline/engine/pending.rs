//! Canonical forms to be hashed together: public keys are computed for many records at a time.

use uriscan_core::chunk::{PAD, Padded, Prefix, Span};
use uriscan_core::dedup::remove_at;
use uriscan_core::key::{Key, PublicHasher};
use uriscan_core::simd::{Isa, Task};

/// The forms of the records of a chunk, in their order. Reusable.
#[derive(Debug, Default)]
pub struct Pending {
    spans: Vec<FormSpan>,
    /// The forms that are not bytes of the chunk, concatenated, followed by unused bytes.
    copied: Vec<u8>,
    /// The number of bytes of `copied` in use.
    used: usize,
    keys: Vec<Key>,
}

/// The position of a form, in the chunk or among the copies.
#[derive(Clone, Copy, Debug, Default)]
struct FormSpan {
    start: usize,
    len: u32,
    is_copied: bool,
}

impl Pending {
    /// Removes all forms.
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.used = 0;
    }

    /// Number of forms.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Bytes of the forms that are not bytes of the text.
    pub(crate) fn copied_bytes(&self) -> usize {
        self.used
    }

    /// Adds `form`, which may be a part of `text`.
    #[inline(always)]
    pub fn push(&mut self, text: Padded<'_>, form: Prefix<'_>) {
        let span = self.span(text, form);
        self.spans.push(span);
    }

    /// Makes it `count` forms, which are those of [`Pending::set`].
    pub(crate) fn resize(&mut self, count: usize) {
        self.spans.resize(count, FormSpan::default());
    }

    /// Makes `form` number `i`, which was missing.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, text: Padded<'_>, form: Prefix<'_>) {
        self.spans[i] = self.span(text, form);
    }

    /// Makes the bytes of the text at `span` form number `i`, which was missing.
    #[inline(always)]
    pub(crate) fn set_in_text(&mut self, i: usize, span: Span) {
        let (start, len) = (span.start as usize, span.len() as u32);
        self.spans[i] = FormSpan { start, len, is_copied: false };
    }

    /// Removes the forms of these numbers, which ascend.
    pub(crate) fn remove(&mut self, numbers: &[u32]) {
        remove_at(&mut self.spans, numbers);
    }

    #[inline(always)]
    fn span(&mut self, text: Padded<'_>, form: Prefix<'_>) -> FormSpan {
        // Forms of records of a chunk fit 32 bits, as these do.
        let len = form.len() as u32;
        match text.offset_of(form.bytes()) {
            Some(start) => FormSpan { start, len, is_copied: false },
            None => FormSpan { start: self.copy(form.bytes()), len, is_copied: true },
        }
    }

    #[inline(always)]
    fn copy(&mut self, form: &[u8]) -> usize {
        let start = self.used;
        self.used += form.len();
        if self.copied.len() < Padded::needed(self.used) {
            self.copied.resize(2 * Padded::needed(self.used), 0);
        }
        self.copied[start..self.used].copy_from_slice(form);
        start
    }

    /// The public keys of the forms, in order; `text` is the text with which they were added.
    #[inline(always)]
    pub fn keys<I: Isa>(&mut self, isa: I, hasher: &PublicHasher, text: Padded<'_>) -> &[Key] {
        isa.call(Keys { pending: self, hasher, text });
        &self.keys
    }
}

/// Computes the keys, in a function of its own.
struct Keys<'a> {
    pending: &'a mut Pending,
    hasher: &'a PublicHasher,
    text: Padded<'a>,
}

impl Task for Keys<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Keys { pending, hasher, text } = self;
        let Pending { spans, copied, used, keys } = pending;
        if copied.is_empty() {
            copied.resize(PAD, 0);
        }
        let copied = Padded::new(copied, *used).expect("what is copied is padded");
        keys.clear();
        let form = |i: usize| {
            let FormSpan { start, len, is_copied } = spans[i];
            if is_copied { copied } else { text }.part(start, len as usize)
        };
        hasher.keys(isa, spans.len(), form, keys);
    }
}
