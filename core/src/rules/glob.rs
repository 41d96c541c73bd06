//! Patterns for names: `*` matches any bytes, `?` one byte, and `\` escapes the byte after it.

/// A pattern for the name of a parameter or for a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Glob {
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Piece {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Any,
}

/// Length limit of a pattern: names are short, and matching takes time proportional to both
/// lengths.
const LIMIT: usize = 256;

/// Why a pattern is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobError {
    Empty,
    TooLong,
    /// A `\` that is the last byte.
    Dangling,
}

impl GlobError {
    pub(super) const fn message(self) -> &'static str {
        match self {
            GlobError::Empty => "an empty pattern",
            GlobError::TooLong => "a pattern of more than 256 bytes",
            GlobError::Dangling => "`\\` without a byte after it",
        }
    }
}

impl Glob {
    /// Parses the pattern `text`.
    pub(super) fn new(text: &[u8]) -> Result<Glob, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        if text.len() > LIMIT {
            return Err(GlobError::TooLong);
        }
        let mut pieces = Vec::with_capacity(text.len());
        let mut bytes = text.iter();
        while let Some(&byte) = bytes.next() {
            pieces.push(match byte {
                // Two stars in a row are equivalent to one.
                b'*' if pieces.last() == Some(&Piece::Any) => continue,
                b'*' => Piece::Any,
                b'?' => Piece::One,
                b'\\' => Piece::Byte(*bytes.next().ok_or(GlobError::Dangling)?),
                byte => Piece::Byte(byte),
            });
        }
        Ok(Glob { pieces })
    }

    /// The pattern that matches all names.
    pub(super) fn any() -> Glob {
        Glob { pieces: vec![Piece::Any] }
    }

    /// Whether this is [`Glob::any`].
    pub(super) fn is_any(&self) -> bool {
        self.pieces == [Piece::Any]
    }

    /// Whether the whole `name` matches. Backtracks to the last `*` only, so it takes at most the
    /// product of both lengths.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        let (mut piece, mut at) = (0, 0);
        // Where to backtrack on a mismatch: after a star, which then matches one more byte.
        let mut back: Option<(usize, usize)> = None;
        loop {
            match self.pieces.get(piece) {
                Some(Piece::Any) => {
                    piece += 1;
                    back = Some((piece, at));
                    continue;
                }
                Some(Piece::One) if at < name.len() => {
                    (piece, at) = (piece + 1, at + 1);
                    continue;
                }
                Some(&Piece::Byte(byte)) if name.get(at) == Some(&byte) => {
                    (piece, at) = (piece + 1, at + 1);
                    continue;
                }
                None if at == name.len() => return true,
                _ => {}
            }
            match back {
                Some((after, from)) if from < name.len() => {
                    (piece, at) = (after, from + 1);
                    back = Some((after, from + 1));
                }
                _ => return false,
            }
        }
    }

    /// The only name that matches, if there is only one.
    pub(super) fn literal(&self) -> Option<Vec<u8>> {
        bytes_of(&self.pieces)
    }

    /// `p` for a pattern `p*` that is otherwise literal.
    pub(super) fn prefix(&self) -> Option<Vec<u8>> {
        match self.pieces.split_last() {
            Some((Piece::Any, rest)) if !rest.is_empty() => bytes_of(rest),
            _ => None,
        }
    }

    /// The bytes after the last `*` or `?`.
    pub(super) fn tail(&self) -> Vec<u8> {
        let plain = self.pieces.iter().rposition(|piece| !matches!(piece, Piece::Byte(_)));
        bytes_of(&self.pieces[plain.map_or(0, |at| at + 1)..]).unwrap_or_default()
    }

    /// The runs of bytes that all matching names hold, none of them empty.
    pub(super) fn runs(&self) -> impl Iterator<Item = Vec<u8>> {
        let runs = self.pieces.split(|piece| !matches!(piece, Piece::Byte(_)));
        runs.filter_map(bytes_of).filter(|run| !run.is_empty())
    }
}

fn bytes_of(pieces: &[Piece]) -> Option<Vec<u8>> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Byte(byte) => Some(*byte),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: tries all bytes that each piece may match.
    fn matches_by_definition(pieces: &[Piece], name: &[u8]) -> bool {
        match pieces.split_first() {
            None => name.is_empty(),
            Some((Piece::Any, rest)) => {
                (0..=name.len()).any(|taken| matches_by_definition(rest, &name[taken..]))
            }
            Some((Piece::One, rest)) => !name.is_empty() && matches_by_definition(rest, &name[1..]),
            Some((Piece::Byte(byte), rest)) => {
                name.first() == Some(byte) && matches_by_definition(rest, &name[1..])
            }
        }
    }

    fn glob(text: &str) -> Glob {
        Glob::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn stars_and_question_marks() {
        for (pattern, yes, no) in [
            ("utm_*", &["utm_", "utm_x"][..], &["utm", "xutm_", "UTM_x"][..]),
            ("*_id", &["_id", "a_id_id"], &["_idx", "id"]),
            ("a?c", &["abc", "a?c"], &["ac", "abbc"]),
            (r"a\*\?\\", &[r"a*?\"], &["ab", r"a\*\?\\"]),
            ("*", &["", "x"], &[]),
            ("a*b*c", &["abc", "aXbYc", "abcbc"], &["acb", "ab"]),
        ] {
            let glob = glob(pattern);
            assert!(yes.iter().all(|name| glob.matches(name.as_bytes())), "{pattern}");
            assert!(!no.iter().any(|name| glob.matches(name.as_bytes())), "{pattern}");
        }
        assert_eq!(Glob::new(b""), Err(GlobError::Empty));
        assert_eq!(Glob::new(b"a\\"), Err(GlobError::Dangling));
        assert_eq!(Glob::new(&[b'a'; 257]), Err(GlobError::TooLong));
        assert!(glob("***").is_any() && !glob("*?").is_any());
    }

    #[test]
    fn parts_that_help_to_find_a_pattern() {
        assert_eq!(glob("gclid").literal(), Some(b"gclid".to_vec()));
        assert_eq!(glob("utm_*").literal(), None);
        assert_eq!(glob("utm_*").prefix(), Some(b"utm_".to_vec()));
        assert_eq!(glob("*").prefix(), None);
        assert_eq!(glob("a*b*").prefix(), None);
        assert_eq!(glob("*.a?b.example").tail(), b"b.example");
        assert!(glob("a*bcd?ef").runs().eq(["a", "bcd", "ef"].map(Vec::from)));
        assert_eq!(glob("*?").runs().count(), 0);
    }

    #[test]
    fn many_stars_are_fast() {
        let pattern = "a*".repeat(120);
        assert!(!glob(&pattern).matches(&[b'a'; 100]));
        assert!(!glob(&(pattern + "b")).matches(&[b'a'; 4000]));
    }

    proptest! {
        #[test]
        fn matches_the_definition(pattern in "[ab*?]{1,8}", name in "[ab]{0,8}") {
            let glob = glob(&pattern);
            let name = name.as_bytes();
            prop_assert_eq!(glob.matches(name), matches_by_definition(&glob.pieces, name));
            if glob.matches(name) {
                prop_assert!(name.ends_with(&glob.tail()));
                prop_assert!(glob.runs().all(|run| memchr::memmem::find(name, &run).is_some()));
            }
        }
    }
}
