//! What each function does, and with what a caller may get wrong.

use std::ptr::{null, null_mut};

use uriscan_c::*;

use crate::caller::{Equivalence, at, checked, extract, is_valid, parse, resolve};

#[test]
fn forms_and_keys_are_those_of_the_library() {
    use uriscan_arrow::{Columns, Single};
    let texts: [&[u8]; 9] = [
        b"HTTP://Example.com:80/%7Ebob?utm_source=a#x",
        b"http://h",
        b" http://h/a/../b \r\n",
        b"no uri",
        b"",
        b"\0",
        b"http://b\xC3\xBCcher.example/",
        b"\xFF\xFE",
        b"mailto:Joe@EXAMPLE.com",
    ];
    let no_file = |_: &str| Err(String::new());
    for (lines, named) in [
        ("", vec![]),
        ("level=syntax", vec![("level", "syntax".into())]),
        ("preset=crawl\nhash=sha256", vec![("preset", "crawl".into()), ("hash", "sha256".into())]),
        ("drop_fragment=true", vec![("drop_fragment", true.into())]),
    ] {
        let ours = Equivalence::new(lines).unwrap();
        let mut single = Single::new(Columns::from_options(named, no_file).unwrap());
        for text in texts {
            let form = single.normalize(text).unwrap().unwrap();
            assert_eq!(ours.normalize(text).unwrap(), form, "{lines} {}", text.escape_ascii());
            let key = single.key(text).unwrap().unwrap().0.to_be_bytes();
            assert_eq!(ours.key(text).unwrap(), key);
        }
    }
}

#[test]
fn an_invalid_text_is_passed_dropped_or_an_error() {
    let text = b"  http://h/%zz";
    assert_eq!(Equivalence::new("").unwrap().normalize(text).unwrap(), b"http://h/%zz");
    let failed = Equivalence::new("on_invalid=drop").unwrap().normalize(text).unwrap_err();
    assert_eq!((failed.status, failed.at), (URISCAN_DROPPED, URISCAN_NONE));
    let failed = Equivalence::new("on_invalid=error").unwrap().normalize(text).unwrap_err();
    assert_eq!((failed.status, &failed.kind[..], failed.at), (URISCAN_INVALID, "percent", 11));
    assert!(failed.text.contains("percent at byte 11"), "{}", failed.text);
    let failed = Equivalence::new("on_invalid=error").unwrap().key(b"x").unwrap_err();
    assert_eq!((&failed.kind[..], failed.at), ("relative", 0));
}

#[test]
fn texts_are_equal_under_the_options() {
    let rfc = Equivalence::new("").unwrap();
    assert!(rfc.is_equal(b"http://h", b"HTTP://H:80/").unwrap());
    assert!(!rfc.is_equal(b"http://h/?utm_source=a", b"http://h/").unwrap());
    assert!(rfc.is_equal(b"a b", b" a b").unwrap() && !rfc.is_equal(b"a b", b"a  b").unwrap());
    let crawl = Equivalence::new("preset=crawl").unwrap();
    assert!(crawl.is_equal(b"http://h/?utm_source=a", b"http://h/").unwrap());
    let strict = Equivalence::new("on_invalid=error").unwrap();
    assert_eq!(strict.is_equal(b"http://h", b"http://h/ x").unwrap_err().at, 9);
}

#[test]
fn rules_files_are_read_from_paths() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.toml");
    std::fs::write(&path, "[[site]]\nhosts = ['h']\nrules = ['drop-param=id']\n").unwrap();
    let mine = Equivalence::new(&format!("rules={}", path.display()));
    if let Ok(mine) = &mine {
        assert!(mine.is_equal(b"http://h/?id=1", b"http://h/").unwrap());
    }
    let failed = Equivalence::new("rules=/nowhere/mine.toml").err().unwrap();
    assert_eq!(failed.status, URISCAN_OPTION);
    assert!(failed.text.contains("/nowhere/mine.toml"), "{}", failed.text);
}

#[test]
fn components_are_offsets_in_what_was_passed() {
    let text = b" http://u@[::1]:8/p?#f\n";
    let parts = parse(text).unwrap();
    let of = |span: UriscanSpan| &text[span.start..span.end];
    assert_eq!((of(parts.scheme), of(parts.authority)), (&b"http"[..], &b"u@[::1]:8"[..]));
    assert_eq!((of(parts.userinfo), of(parts.host)), (&b"u"[..], &b"[::1]"[..]));
    assert_eq!((of(parts.port), of(parts.path)), (&b"8"[..], &b"/p"[..]));
    assert_eq!((of(parts.query), of(parts.fragment)), (&b""[..], &b"f"[..]));
    assert_eq!((parts.query.start, parts.host_kind), (20, URISCAN_HOST_IPV6));

    let parts = parse(b"").unwrap();
    assert_eq!((parts.path.start, parts.path.end), (0, 0));
    let absent = UriscanSpan { start: URISCAN_NONE, end: URISCAN_NONE };
    assert_eq!((parts.scheme, parts.host, parts.query), (absent, absent, absent));
    let failed = parse(b"  a b").unwrap_err();
    assert_eq!((failed.status, &failed.kind[..], failed.at), (URISCAN_INVALID, "space", 3));
}

#[test]
fn a_relative_reference_is_parsed_and_is_not_a_uri() {
    assert_eq!(is_valid(b"http://h"), Ok(()));
    assert!(parse(b"\t../x").is_ok());
    let failed = is_valid(b"\t../x").unwrap_err();
    assert_eq!((&failed.kind[..], failed.at), ("relative", 1));
}

#[test]
fn references_are_resolved_and_a_wrong_base_is_distinguished_from_them() {
    assert_eq!(resolve(b"http://a/b/c/d;p?q", b" ../g#s ").unwrap(), b"http://a/b/g#s");
    assert_eq!(resolve(b"http://a/b?q#f", b"").unwrap(), b"http://a/b?q");
    let failed = resolve(b" //a", b"g").unwrap_err();
    assert_eq!((failed.status, &failed.kind[..], failed.at), (URISCAN_INVALID_BASE, "relative", 1));
    let failed = resolve(b"http://a", b"a b").unwrap_err();
    assert_eq!((failed.status, failed.at), (URISCAN_INVALID, 1));
}

#[test]
fn links_are_found_text_after_text() {
    let page = b"<base href='http://h/a/'><a href='../x?a&amp;b'>x</a><img src=y>";
    let none = b"<p>nothing";
    let found = extract("format=html", &[page, none, page]).unwrap();
    let expected = vec![
        (34, 46, "http://h/x?a&b".to_owned(), "href".to_owned()),
        (62, 63, "http://h/a/y".to_owned(), "src".to_owned()),
    ];
    assert_eq!(found, [expected.clone(), vec![], expected]);
    let page = b"<html><a href=//h/x?a&amp;b>x</a>";
    let found = extract("base=https://i", &[page]).unwrap();
    assert_eq!(found[0][0].2, "https://h/x?a&b", "the format is told by the content");

    let found =
        extract("bare_hosts=true\nscheme=https", &[b"see https://a/ or http://b/."]).unwrap();
    assert_eq!(found[0].len(), 1);
    let failed = extract("format=pdf", &[]).unwrap_err();
    assert!(failed.status == URISCAN_OPTION && failed.text.contains("markdown"), "{failed:?}");
    assert!(extract("depth=1", &[]).unwrap_err().text.contains("no option depth"));
    assert!(extract("base=//h", &[]).is_err());
}

#[test]
fn null_is_an_argument_that_is_refused_and_never_read() {
    let uri = b"http://h/";
    let equivalence = Equivalence::new("").unwrap();
    let mut buffer = [0u8; 16];
    let (to, mut length) = (buffer.as_mut_ptr().cast(), 0);
    let eq = equivalence.0.cast_const();
    let refused = |work: &mut dyn FnMut(*mut UriscanError) -> i32| {
        assert_eq!(checked(work).unwrap_err().status, URISCAN_ARGUMENT);
    };
    unsafe {
        // Texts, buffers, lengths and handles.
        refused(&mut |e| uriscan_normalize(eq, null(), 1, to, 16, &mut length, e));
        refused(&mut |e| uriscan_normalize(eq, at(uri), 9, null_mut(), 16, &mut length, e));
        refused(&mut |e| uriscan_normalize(eq, at(uri), 9, to, 16, null_mut(), e));
        refused(&mut |e| uriscan_normalize(null(), at(uri), 9, to, 16, &mut length, e));
        refused(&mut |e| uriscan_normalize(eq, at(uri), usize::MAX, to, 16, &mut length, e));
        refused(&mut |e| uriscan_key(eq, at(uri), 9, null_mut(), e));
        refused(&mut |e| uriscan_is_equal(eq, at(uri), 9, at(uri), 9, null_mut(), e));
        refused(&mut |e| uriscan_parse(at(uri), 9, null_mut(), e));
        refused(&mut |e| uriscan_equivalence_new(null(), 0, null_mut(), e));
        refused(&mut |e| uriscan_set_new(eq, null_mut(), e));
        refused(&mut |e| uriscan_set_insert(null(), at(uri), 9, buffer.as_mut_ptr(), e));
        refused(&mut |e| uriscan_set_commit(null(), null_mut(), e));
        let (mut found, mut count) = (null(), 0);
        refused(&mut |e| {
            uriscan_extract(null(), at(uri), 9, null_mut(), &mut found, &mut count, e)
        });

        // Length 0 goes without a text, and every function without an error handle.
        assert_eq!(uriscan_normalize(eq, null(), 0, null_mut(), 0, &mut length, null_mut()), 0);
        assert_eq!(length, 0);
        assert_eq!(uriscan_is_valid(null(), 0, null_mut()), URISCAN_INVALID);
        assert_eq!(uriscan_is_valid(null(), 1, null_mut()), URISCAN_ARGUMENT);

        // Freeing nothing, and asking it.
        uriscan_error_free(null_mut());
        uriscan_equivalence_free(null_mut());
        uriscan_set_free(null_mut());
        uriscan_extractor_free(null_mut());
        uriscan_links_free(null_mut());
        assert_eq!(uriscan_error_status(null()), URISCAN_OK);
        assert_eq!(uriscan_error_position(null()), URISCAN_NONE);
        assert_eq!(uriscan_error_text(null(), to, 16, &mut length), URISCAN_ARGUMENT);
    }
}

#[test]
fn an_error_handle_keeps_the_last_failure() {
    unsafe {
        let error = uriscan_error_new();
        assert_eq!(uriscan_error_status(error), URISCAN_OK);
        uriscan_is_valid(at(b"a b"), 3, error);
        uriscan_is_valid(at(b"http://h"), 8, error);
        assert_eq!((uriscan_error_status(error), uriscan_error_position(error)), (1, 1));
        uriscan_is_valid(null(), 3, error);
        assert_eq!(uriscan_error_status(error), URISCAN_ARGUMENT);
        assert_eq!(uriscan_error_position(error), URISCAN_NONE);
        uriscan_error_free(error);
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = unsafe { core::ffi::CStr::from_ptr(uriscan_version()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
}
