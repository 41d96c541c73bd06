//! Marks where two texts differ.

use super::html::{Escaped, Html};

/// Cells of the table of a comparison; for longer texts only what they begin and end with alike is left unmarked.
const MOST_CELLS: usize = 1 << 16;

/// Both texts with what differs marked, word by word: a word is of letters and digits, or one other character.
pub(super) fn marked(a: &str, b: &str) -> [Html; 2] {
    let (a, b) = (words(a), words(b));
    let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[before..], &b[before..]);
    let after = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (mid_a, mid_b) = (&rest_a[..rest_a.len() - after], &rest_b[..rest_b.len() - after]);
    let [in_a, in_b] = common(mid_a, mid_b);
    let html = |words: &[&str], is_common: &[bool]| {
        let is_same = |i: usize| i < before || i >= words.len() - after || is_common[i - before];
        let (mut html, mut is_open) = (String::new(), false);
        for (i, word) in words.iter().enumerate() {
            let is_marked = !is_same(i);
            if is_marked != is_open {
                html += if is_marked { "<mark>" } else { "</mark>" };
                is_open = is_marked;
            }
            html += &Escaped(word).to_string();
        }
        Html(html + if is_open { "</mark>" } else { "" })
    };
    [html(&a, &in_a), html(&b, &in_b)]
}

fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut was_word) = (0, false);
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric();
        if at > start && !(is_word && was_word) {
            words.push(&text[start..at]);
            start = at;
        }
        was_word = is_word;
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Which words of each are in a longest common subsequence of both.
fn common(a: &[&str], b: &[&str]) -> [Vec<bool>; 2] {
    let mut found = [vec![false; a.len()], vec![false; b.len()]];
    if (a.len() + 1) * (b.len() + 1) > MOST_CELLS {
        return found;
    }
    let width = b.len() + 1;
    // The length of the longest one of what follows.
    let mut longest = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = match a[i] == b[j] {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (found[0][i], found[1][j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(a: &str, b: &str) -> [String; 2] {
        marked(a, b).map(|html| html.0)
    }

    #[test]
    fn what_differs_is_marked_and_nothing_else() {
        for (a, b, marked_a, marked_b) in [
            ("http://h/", "http://h/", "http://h/", "http://h/"),
            (
                "HTTP://H:80/a",
                "http://h/a",
                "<mark>HTTP</mark>://<mark>H:80</mark>/a",
                "<mark>http</mark>://<mark>h</mark>/a",
            ),
            (
                "http://h/%7Ea",
                "http://h/~a",
                "http://h/<mark>%7Ea</mark>",
                "http://h/<mark>~a</mark>",
            ),
            ("h?a=1&utm=2&b", "h?a=1&b", "h?a=1&amp;<mark>utm=2&amp;</mark>b", "h?a=1&amp;b"),
            ("<a>", "", "<mark>&lt;a&gt;</mark>", ""),
            ("", "", "", ""),
        ] {
            assert_eq!(texts(a, b), [marked_a, marked_b], "{a} {b}");
        }
    }

    #[test]
    fn marks_change_no_text() {
        let long = "a/".repeat(1000);
        for (a, b) in [("a.b.c", "c.b.a"), ("ä%C3-b", "b-ä"), (&*long, "a/b/"), ("", "x")] {
            for (html, text) in texts(a, b).iter().zip([a, b]) {
                let plain = html.replace("<mark>", "").replace("</mark>", "");
                assert_eq!(plain, Escaped(text).to_string());
            }
        }
    }
}
