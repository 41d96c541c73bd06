//! Which record of a class survives, and which classes are written.

use super::varint;

/// Which record of a class is kept, its survivor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The first one.
    #[default]
    First,
    /// The last one.
    Last,
    /// The one of the fewest bytes; the first of equals.
    Shortest,
    /// The first one that begins with `https:` as it is written, whatever a base or a repair would make of
    /// it; the first one if there is none.
    Https,
    /// The one whose bytes come first when all are sorted.
    Min,
    /// The one whose bytes come last.
    Max,
}

impl Keep {
    /// Whether records are compared by their ranks.
    #[inline]
    pub(super) fn has_ranks(self) -> bool {
        matches!(self, Keep::Shortest | Keep::Https)
    }

    /// Whether the records themselves are compared, so that they have to be held.
    #[inline]
    pub fn has_order(self) -> bool {
        matches!(self, Keep::Min | Keep::Max)
    }

    /// Whether the position of a record alone decides.
    #[inline]
    pub(crate) fn is_by_position(self) -> bool {
        matches!(self, Keep::First | Keep::Last)
    }

    /// Whether the record `text`, which comes after `kept`, is kept instead, in a group that is looked at as a whole.
    pub(crate) fn replaces(self, text: &[u8], kept: &[u8]) -> bool {
        match self {
            Keep::First => false,
            Keep::Last => true,
            Keep::Shortest | Keep::Https => self.rank(text) < self.rank(kept),
            Keep::Min => text < kept,
            Keep::Max => text > kept,
        }
    }

    /// How good a record is: the first one of the lowest rank is kept.
    fn rank(self, text: &[u8]) -> u32 {
        match self {
            Keep::First | Keep::Last | Keep::Min | Keep::Max => 0,
            // A record of a chunk fits 32 bits.
            Keep::Shortest => text.len() as u32,
            Keep::Https => {
                let scheme = text.get(..6);
                u32::from(!scheme.is_some_and(|s| s.eq_ignore_ascii_case(b"https:")))
            }
        }
    }
}

/// Which classes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// Those with two records and more.
    Repeated,
    /// Those with one record.
    Unique,
}

impl Select {
    /// Whether a class of `count` records is written.
    pub fn has(self, count: u64) -> bool {
        match self {
            Select::All => true,
            Select::Repeated => count > 1,
            Select::Unique => count == 1,
        }
    }
}

/// What is kept of each record.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassMode {
    /// Which record of a class survives.
    pub keep: Keep,
    /// Keep the bytes of survivors.
    pub has_texts: bool,
    /// Keep the omitted records, too, with their bytes.
    pub has_members: bool,
    /// Sort keys are compared instead of texts; they precede the texts ([`ClassMode::push_key`]).
    pub has_sort_keys: bool,
    /// Texts are rows of tables, after their URIs ([`ClassMode::push_key`]), which are all that reports have of omitted ones.
    pub has_uris: bool,
}

/// A record on its way into a class: its unique position, and its bytes: a sort key, if there is one, and
/// the text. Positions rise from record to record.
pub type Record<'t> = (u64, &'t [u8]);

impl ClassMode {
    /// Appends a sort key to `out`, the bytes of a record that its text is to follow.
    pub fn push_key(key: &[u8], out: &mut Vec<u8>) {
        ClassMode::push_key_of([key, b""], out);
    }

    /// [`ClassMode::push_key`] of a key in two parts.
    pub fn push_key_of(parts: [&[u8]; 2], out: &mut Vec<u8>) {
        varint::push((parts[0].len() + parts[1].len()) as u64, out);
        parts.iter().for_each(|part| out.extend_from_slice(part));
    }

    /// Whether records after the first of their class are counted, and not looked at.
    #[inline(always)]
    pub(super) fn is_counted_only(self) -> bool {
        !self.has_members && self.keep == Keep::First
    }

    /// Whether the bytes of records are looked at as they come.
    #[inline(always)]
    pub(super) fn reads_bytes(self) -> bool {
        self.has_texts || self.keep == Keep::Https
    }

    /// What is compared of the bytes of a record, and its text.
    #[inline]
    fn split(self, bytes: &[u8]) -> (&[u8], &[u8]) {
        if self.has_sort_keys { ClassMode::split_key(bytes) } else { (bytes, bytes) }
    }

    /// What [`ClassMode::push_key`] has written, and what follows it.
    pub(crate) fn split_key(bytes: &[u8]) -> (&[u8], &[u8]) {
        let mut at = 0;
        let len = varint::take(bytes, &mut at) as usize;
        bytes[at..].split_at(len)
    }

    /// What is kept of the bytes of a record that is omitted, and will never be kept instead.
    #[inline]
    pub(super) fn omitted(self, bytes: &[u8]) -> &[u8] {
        if !self.has_uris || self.keep != Keep::First {
            return bytes;
        }
        &bytes[..bytes.len() - ClassMode::split_key(bytes).1.len()]
    }

    #[inline]
    pub(super) fn rank(self, bytes: &[u8]) -> u32 {
        if self.keep.has_ranks() { self.keep.rank(self.split(bytes).0) } else { 0 }
    }

    #[inline]
    pub(super) fn text(self, bytes: &[u8]) -> &[u8] {
        self.split(bytes).1
    }

    /// Whether the record of the bytes `new` survives instead of that of `old`, if bytes decide.
    #[inline]
    pub(super) fn prefers(self, new: &[u8], old: &[u8]) -> bool {
        let (new, old) = (self.split(new).0, self.split(old).0);
        match self.keep {
            Keep::Min => new < old,
            Keep::Max => new > old,
            _ => false,
        }
    }
}
