//! Names: lists of them, written as text with spaces between them and divided when the program is compiled, and what begins
//! with one.

/// The `N` words of `text`. Another number of them does not compile where the result is a constant.
pub const fn words<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut found = [""; N];
    let (mut rest, mut count) = (text, 0);
    loop {
        let mut len = 0;
        while len < rest.len() && rest.as_bytes()[len] != b' ' {
            len += 1;
        }
        found[count] = rest.split_at(len).0;
        count += 1;
        if len == rest.len() {
            break;
        }
        rest = rest.split_at(len + 1).1;
    }
    assert!(count == N, "there are fewer words");
    found
}

/// [`words`] as bytes.
pub const fn byte_words<const N: usize>(text: &'static str) -> [&'static [u8]; N] {
    let (words, mut at) = (words::<N>(text), 0);
    let mut found: [&[u8]; N] = [b""; N];
    while at < N {
        found[at] = words[at].as_bytes();
        at += 1;
    }
    found
}

/// Whether `text` begins with `prefix`, in any case.
#[inline]
pub fn has_prefix(text: &[u8], prefix: &[u8]) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_spaces_divide() {
        const WORDS: [&str; 3] = words(
            "a bc \
                                        d-e",
        );
        assert_eq!(WORDS, ["a", "bc", "d-e"]);
        assert_eq!(byte_words("a bc"), [&b"a"[..], b"bc"]);
        assert_eq!(words("a"), ["a"]);
        assert!(has_prefix(b"ABC", b"ab") && !has_prefix(b"a", b"ab"));
    }

    #[test]
    #[should_panic = "there are fewer words"]
    fn another_number_of_words_is_a_fault() {
        let _: [&str; 3] = words("a b");
    }
}
