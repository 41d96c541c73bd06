//! Tests that the bytes after the content are not part of any record.
use uriscan::normalize::{Normalizer, Options};

#[test]
fn bytes_of_an_earlier_content_are_not_read_as_the_record() {
    for (before, text) in [
        ("http://h/%41", "http://h/%4"),
        ("http://h/%41", "http://h/%"),
        ("http://h/%41", "http:"),
        ("https://h/%41", "http"),
        ("https://h/%41", "https:/"),
        ("news://h/%41", "news:"),
        ("news://h/%41", "news:/"),
    ] {
        let mut used = Normalizer::new(Options::default());
        used.normalize(before.as_bytes()).unwrap();
        let mut fresh = Normalizer::new(Options::default());
        assert_eq!(
            used.normalize(text.as_bytes()).map(<[u8]>::to_vec),
            fresh.normalize(text.as_bytes()).map(<[u8]>::to_vec),
            "{text} after {before}"
        );
    }
}
