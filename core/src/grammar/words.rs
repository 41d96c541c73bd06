//! Lists of names, written as text with spaces between them: they are divided when the program is compiled.

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
    }

    #[test]
    #[should_panic = "there are fewer words"]
    fn another_number_of_words_is_a_fault() {
        let _: [&str; 3] = words("a b");
    }
}
