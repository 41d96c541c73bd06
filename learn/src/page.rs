//! What is left of the path of a URL whatever rules are applied to it, as a number that is the same in every run.

use xxhash_rust::xxh3::xxh3_64;

use uriscan_core::grammar::byte_words;
use uriscan_core::uri::split;

/// The number of the reduced path of the canonical `url` without its first segment, which could be a prefix.
///
/// URLs that a rule joins have the same number in most cases: a sample by numbers has whole groups, and content under URLs with
/// many numbers is not that of one page.
pub(super) fn number(url: &[u8]) -> u64 {
    let path = reduced(split(url).path);
    let rest = memchr::memchr(b'/', &path).map_or(&path[..], |slash| &path[slash + 1..]);
    xxh3_64(rest)
}

/// What pages are made of, by extension: scripts, styles, images, fonts.
const PARTS: [&[u8]; 21] = byte_words(
    "avif bmp cur css eot gif ico jpeg jpg js map mjs otf png svg swf ttf webmanifest webp woff \
     woff2",
);

/// Whether the canonical `url` is, by its name, that of a part of pages, or of a file for robots.
pub(super) fn is_part(url: &[u8]) -> bool {
    let path = split(url).path;
    let name = &path[memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1)..];
    let extension = memchr::memrchr(b'.', name).map_or(&b""[..], |dot| &name[dot + 1..]);
    name.eq_ignore_ascii_case(b"robots.txt")
        || PARTS.iter().any(|part| extension.eq_ignore_ascii_case(part))
}

/// Words in URLs that do something when they are fetched.
const ACTIONS: [&[u8]; 16] = byte_words(
    "add buy cancel checkout confirm delete destroy logoff logout purchase remove signoff signout \
     subscribe unsubscribe vote",
);

/// Whether a word of the canonical `url` says that something is done when it is fetched: `/log-out`, `?action=delete`, `/cart/add/7`.
pub(super) fn is_action(url: &[u8]) -> bool {
    let parts = split(url);
    let pieces = [parts.path, parts.query.unwrap_or_default()];
    let pieces = pieces.into_iter().flat_map(|text| text.split(|byte| b"/?&=;.".contains(byte)));
    pieces.filter(|piece| !piece.is_empty()).any(|piece| {
        let joined: Vec<u8> = piece.iter().filter(|byte| !b"-_".contains(byte)).copied().collect();
        let mut words = piece.split(|byte| b"-_".contains(byte)).chain([&joined[..]]);
        words.any(|word| ACTIONS.iter().any(|action| word.eq_ignore_ascii_case(action)))
    })
}

/// The number of the whole reduced path: that of URLs which rules join unless they drop a prefix.
pub(super) fn whole_number(url: &[u8]) -> u64 {
    xxh3_64(&reduced(split(url).path))
}

/// Whether what begins with `url` is held back from what is learned: a fifth of all.
pub(super) fn is_held_back(url: &[u8]) -> bool {
    xxh3_64(url).is_multiple_of(5)
}

/// The segments of `path` that have a name, in lower case, without what follows a `;`; the last one without an extension, and not
/// an index page.
fn reduced(path: &[u8]) -> Vec<u8> {
    let mut reduced = Vec::with_capacity(path.len());
    // Where the last segment begins, with its slash.
    let mut last = 0;
    for segment in path.split(|&byte| byte == b'/') {
        let end = memchr::memchr(b';', segment).unwrap_or(segment.len());
        if end > 0 {
            last = reduced.len();
            if last > 0 {
                reduced.push(b'/');
            }
            reduced.extend_from_slice(&segment[..end]);
        }
    }
    reduced.make_ascii_lowercase();
    let start = last + usize::from(last > 0);
    let dot = memchr::memrchr(b'.', &reduced[start..]).filter(|&at| at > 0);
    reduced.truncate(dot.map_or(reduced.len(), |dot| start + dot));
    if matches!(&reduced[start..], b"index" | b"default" | b"home") {
        reduced.truncate(last);
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_rules_join_have_the_same_number() {
        let all = [
            "http://h/a/Boots",
            "https://www.h/a/boots/",
            "http://h/a/boots.html",
            "http://h/a/boots/index.php?x=1",
            "http://h//a//boots;jsessionid=1?sid=2",
        ];
        for number in [number, whole_number] {
            assert!(all.iter().all(|url| number(url.as_bytes()) == number(b"http://h/a/boots")));
            assert_ne!(number(b"http://h/boots"), number(b"http://h/shoes"));
            assert_eq!(number(b"http://h/"), number(b"http://h/index.html?a"));
        }
        assert_eq!(number(b"http://h/boots"), number(b"http://h/en/boots"));
        assert_ne!(whole_number(b"http://h/boots"), whole_number(b"http://h/en/boots"));
        for (path, left) in [
            ("/a/.htaccess", "a/.htaccess"),
            ("", ""),
            ("//", ""),
            ("/Index.html", ""),
            ("/a;b/home", "a"),
            ("/a/;b/c.tar.gz;d", "a/c.tar"),
            ("/a/index/", "a"),
            ("/;x", ""),
        ] {
            assert_eq!(reduced(path.as_bytes()), left.as_bytes(), "{path}");
        }
    }

    #[test]
    fn urls_that_do_something_are_known_by_their_words() {
        for (url, is) in [
            ("http://h/logout", true),
            ("http://h/user/Log-Out.php?x=1", true),
            ("http://h/w/index.php?title=A&action=delete", true),
            ("http://h/cart/add/7", true),
            ("http://h/?remove_item=3", true),
            ("http://h/address", false),
            ("http://h/voted/logouts?addr=1", false),
            ("http://add.example/", false),
        ] {
            assert_eq!(is_action(url.as_bytes()), is, "{url}");
        }
    }
}
