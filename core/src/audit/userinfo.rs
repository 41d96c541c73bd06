//! The userinfo of an authority, as software finds it: after a scheme and slashes of either kind, however many, and before the
//! last `@` of what may be an authority.

use core::ops::Range;

use super::layers::Layers;
use super::secret::{self, Kind, MASK};
use crate::grammar::class::{ByteClass, DIGIT, UNRESERVED};

/// The number of slashes and backslashes from `at` up to `end`.
pub(super) fn slashes(bytes: &[u8], at: usize, end: usize) -> usize {
    let rest = bytes.get(at..end).unwrap_or_default();
    rest.iter().position(|byte| !b"/\\".contains(byte)).unwrap_or(rest.len())
}

/// What may be an authority.
#[derive(Clone, Copy)]
pub(super) struct Authority {
    /// Where it begins, after so many slashes.
    pub(super) from: usize,
    pub(super) slashes: usize,
    /// It is that of the reference itself, by the grammar.
    pub(super) is_own: bool,
}

/// What an authority has.
pub(super) struct Found {
    pub(super) end: usize,
    /// What is secret: a password, or the name of a user without one.
    pub(super) secret: Option<(Range<usize>, Kind)>,
}

/// Where an authority ends, its last `@`, and the last one that is encoded more often than the slashes.
struct Extent {
    end: usize,
    outer: Option<usize>,
    inner: Option<usize>,
}

impl Authority {
    pub(super) fn search(self, text: &Layers<'_>) -> Found {
        let extent = self.extent(text);
        let at_sign = extent.outer.or(extent.inner);
        let password = at_sign.and_then(|at_sign| self.password(text, at_sign));
        let name = || match self.is_own {
            // What is encoded is part of the host.
            true => self.own_name(text, extent.outer?),
            false => self.name(text.bytes()),
        };
        let name = || Some((name()?, Kind::UserName));
        Found { end: extent.end, secret: password.or_else(name) }
    }

    /// The password before `at_sign`, or a name that is a token.
    fn password(&self, text: &Layers<'_>, at_sign: usize) -> Option<(Range<usize>, Kind)> {
        let userinfo = &text.bytes()[self.from..at_sign];
        if secret::is_token(userinfo) {
            return Some((self.from..at_sign, Kind::Token));
        }
        let found = match self.colon(text, at_sign) {
            Some(colon) => colon + 1..at_sign,
            // One that is encoded more often may be part of the name.
            None if userinfo.contains(&b':') => self.from..at_sign,
            None => return None,
        };
        (!found.is_empty()).then_some((found, Kind::Password))
    }

    /// The colon that ends the name before `at_sign`.
    fn colon(&self, text: &Layers<'_>, at_sign: usize) -> Option<usize> {
        let depth = self.depth(text).max(text.depth(at_sign));
        let mut colons = memchr::memchr_iter(b':', &text.bytes()[self.from..at_sign]);
        let colon = colons.find(|colon| text.depth(self.from + colon) <= depth)?;
        Some(self.from + colon)
    }

    /// The name before `at_sign`, of a user without a password.
    fn own_name(&self, text: &Layers<'_>, at_sign: usize) -> Option<Range<usize>> {
        let end = self.colon(text, at_sign).unwrap_or(at_sign);
        (end > self.from).then_some(self.from..end)
    }

    /// The name of a user without a password, nested: a word, since what precedes an `@` in text may be a host, followed by an
    /// address of mail.
    fn name(&self, bytes: &[u8]) -> Option<Range<usize>> {
        const NAME: ByteClass = UNRESERVED.or(ByteClass::of(b"%"));
        let rest = &bytes[self.from..];
        let len = match rest.starts_with(MASK) {
            true => MASK.len(),
            false => rest.iter().position(|&byte| !NAME.has(byte))?,
        };
        let is_one =
            len > 0 && self.slashes == 2 && matches!(rest[len..], [b'@', ..] | [b':', b'@', ..]);
        is_one.then_some(self.from..self.from + len)
    }

    /// In how many layers the last byte before the authority is encoded.
    fn depth(&self, text: &Layers<'_>) -> usize {
        self.from.checked_sub(1).map_or(0, |before| text.depth(before))
    }

    /// Whether a secret of another kind was masked at `at`: it may have had what ends an authority. A password that is masked
    /// has nothing that makes the authority doubtful.
    fn is_other_secret(&self, bytes: &[u8], at: usize, is_doubtful: bool) -> bool {
        let Some(rest) = bytes[at..].strip_prefix(MASK) else { return false };
        let is_own = match rest {
            [b'@', ..] => at == self.from || bytes[at - 1] == b':',
            [b':', b'@', ..] => at == self.from,
            _ => false,
        };
        is_doubtful || !is_own
    }

    /// Finds the end of the authority, and its `@`. Nested, it also ends where a parameter does, unless a password with `&` or
    /// `;` is more likely.
    fn extent(&self, text: &Layers<'_>) -> Extent {
        const ENDS: ByteClass = ByteClass::of(b"@/\\?#&;=* \"'<>\t\r\n");
        let depth = self.depth(text);
        let component_end = text.component_end(self.from.saturating_sub(1));
        let has_backslash = text.bytes()[self.from - self.slashes..self.from].contains(&b'\\');
        let mut extent = Extent { end: component_end, outer: None, inner: None };
        let mut is_doubtful = false;
        for at in self.from..component_end {
            let byte = text.bytes()[at];
            if !ENDS.has(byte) {
                continue;
            }
            let own = text.depth(at);
            let is_end = match byte {
                b'@' if own <= depth => {
                    // What precedes it is a password, so a parameter does not begin there.
                    (extent.outer, is_doubtful) = (Some(at), false);
                    false
                }
                b'@' => {
                    extent.inner = Some(at);
                    false
                }
                b'*' => !self.is_own && self.is_other_secret(text.bytes(), at, is_doubtful),
                _ if own > depth => false,
                b'/' | b'?' | b'#' => true,
                b'\\' => has_backslash,
                _ if self.is_own => false,
                b'&' | b';' if text.has_parameters(at, own) && !is_doubtful => {
                    is_doubtful =
                        extent.outer.is_none() && is_password(&text.bytes()[self.from..at]);
                    !is_doubtful
                }
                b'&' | b';' => false,
                b'=' => is_doubtful,
                _ => true,
            };
            if is_end {
                extent.end = at;
                break;
            }
        }
        extent
    }
}

/// Whether `text`, what may be `host:port` or `user:password`, ends with a password.
fn is_password(text: &[u8]) -> bool {
    let colon = memchr::memchr(b':', text);
    colon.is_some_and(|colon| {
        let rest = &text[colon + 1..];
        text[0] != b'[' && rest.iter().any(|&byte| !DIGIT.has(byte)) && !rest.contains(&b'{')
    })
}
