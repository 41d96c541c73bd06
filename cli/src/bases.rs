//! The bases of files below a directory.

use std::path::{Component, Path};

use uriscan::resolve::{BaseUri, Options, Resolver};

/// The base of the file at the path `below` a directory whose own base is `base`; a file with a
/// name in `index` represents its directory. `None` if `base` is not a URI.
pub(crate) fn of_file(base: &[u8], below: &Path, index: &[String]) -> Option<Vec<u8>> {
    // A first segment with a `:` would be read as a scheme.
    let mut reference = b"./".to_vec();
    let mut names = below.components().peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { continue };
        if names.peek().is_some() {
            encode(name.as_encoded_bytes(), &mut reference);
            reference.push(b'/');
        } else if !index.iter().any(|index| name == index.as_str()) {
            encode(name.as_encoded_bytes(), &mut reference);
        }
    }
    let mut target = Vec::new();
    let base = BaseUri::new(base).ok()?;
    Resolver::new(base, Options::default()).resolve_into(&reference, &mut target).ok()?;
    Some(target)
}

/// Appends `name` to `out`, percent-encoded where it must be.
fn encode(name: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in name {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            out.push(byte);
        } else {
            let digit = |half: u8| DIGITS[usize::from(half & 15)];
            out.extend([b'%', digit(byte >> 4), digit(byte)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_with_the_base() {
        let index = ["index.html".to_owned()];
        for (base, path, expected) in [
            ("http://h/", "a.html", "http://h/a.html"),
            ("http://h", "a/b.html", "http://h/a/b.html"),
            ("http://h/x/", "a/b", "http://h/x/a/b"),
            ("http://h/x?q#f", "a", "http://h/a"),
            ("file:///srv/", "a:b/c d", "file:///srv/a:b/c%20d"),
            ("http://h/", "x?y#z%41/\u{E9}[1]", "http://h/x%3Fy%23z%2541/%C3%A9%5B1%5D"),
            ("http://h/", "index.html", "http://h/"),
            ("http://h/", "a/index.html", "http://h/a/"),
            ("http://h/", "index.html/b", "http://h/index.html/b"),
        ] {
            let found = of_file(base.as_bytes(), Path::new(path), &index);
            assert_eq!(found.as_deref(), Some(expected.as_bytes()), "{base} {path}");
        }
        let whole = of_file(b"http://h/", Path::new("a/index.html"), &[]);
        assert_eq!(whole.as_deref(), Some(&b"http://h/a/index.html"[..]));
        assert_eq!(of_file(b"/a", Path::new("b"), &[]), None);
    }
}
