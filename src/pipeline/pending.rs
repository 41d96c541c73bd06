//! Canonical forms that wait to be hashed together: public keys are made of many records at a time.

use crate::chunk::{PAD, Padded, Prefix, Span};
use crate::dedup::remove_at;
use crate::key::{Key, PublicHasher};
use crate::simd::{Isa, Task};

/// The forms of the records of a chunk, in their order. Reusable.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    places: Vec<Place>,
    /// Forms that are not bytes of the chunk, one after the other, and then bytes of no meaning.
    copied: Vec<u8>,
    /// How many bytes of these count.
    used: usize,
    keys: Vec<Key>,
}

/// Where a form stands: in the chunk, or among those that were copied.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    len: u32,
    is_copied: bool,
}

impl Pending {
    /// Forgets all forms.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.used = 0;
    }

    /// Number of forms.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds `form`, which may be a part of `text`.
    #[inline(always)]
    pub(crate) fn push(&mut self, text: Padded<'_>, form: Prefix<'_>) {
        let place = self.place(text, form);
        self.places.push(place);
    }

    /// Makes it `count` forms, which are those of [`Pending::set`].
    pub(crate) fn resize(&mut self, count: usize) {
        self.places.resize(count, Place::default());
    }

    /// Makes `form` number `i`, which was missing.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, text: Padded<'_>, form: Prefix<'_>) {
        self.places[i] = self.place(text, form);
    }

    /// Makes the bytes of the text at `span` form number `i`, which was missing.
    #[inline(always)]
    pub(crate) fn set_in_text(&mut self, i: usize, span: Span) {
        let (start, len) = (span.start as usize, span.len() as u32);
        self.places[i] = Place { start, len, is_copied: false };
    }

    /// Removes the forms of these numbers, which ascend.
    pub(crate) fn remove(&mut self, numbers: &[u32]) {
        remove_at(&mut self.places, numbers);
    }

    #[inline(always)]
    fn place(&mut self, text: Padded<'_>, form: Prefix<'_>) -> Place {
        // Forms of records of a chunk fit 32 bits, as these do.
        let len = form.len() as u32;
        match text.offset_of(form.bytes()) {
            Some(start) => Place { start, len, is_copied: false },
            None => Place { start: self.copy(form.bytes()), len, is_copied: true },
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

    /// The public keys of the forms, in their order; `text` is what they were added with.
    #[inline(always)]
    pub(crate) fn keys<I: Isa>(
        &mut self,
        isa: I,
        hasher: &PublicHasher,
        text: Padded<'_>,
    ) -> &[Key] {
        isa.call(Keys { pending: self, hasher, text });
        &self.keys
    }
}

/// Makes the keys in a function of its own.
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
        let Pending { places, copied, used, keys } = pending;
        if copied.is_empty() {
            copied.resize(PAD, 0);
        }
        let copied = Padded::new(copied, *used).expect("what is copied is padded");
        keys.clear();
        let form = |i: usize| {
            let Place { start, len, is_copied } = places[i];
            if is_copied { copied } else { text }.part(start, len as usize)
        };
        hasher.keys(isa, places.len(), form, keys);
    }
}
