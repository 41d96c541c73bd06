//! One reference: the strict parser against the split of Appendix B and two independent parsers; and all records of
//! the text at once against the parser of one.

use std::cell::RefCell;

use fluent_uri::UriRef;
use fluent_uri::component::Host;
use iri_string::types::UriReferenceStr;
use uriscan::PaddedBuf;
use uriscan::uri::{Components, HostKind, Parser, UriError, UriErrorKind, host_kind, parse, split};

use crate::{BACKENDS, Choice};

thread_local! {
    /// A buffer, and a parser for each backend. They are reused: they hold earlier inputs, as in practice.
    static PARSERS: RefCell<(PaddedBuf, Vec<Parser>)> = RefCell::new((
        PaddedBuf::default(),
        BACKENDS.iter().map(|&kernels| Parser::with_kernels(kernels)).collect(),
    ));
}

/// The first byte chooses the backend and the end of records; the rest is the text.
pub fn check(data: &[u8]) {
    let Some((mut choice, text)) = Choice::split(data) else { return };
    check_bulk(text, choice.backend(), choice.of(b"\n\0"));
    let ours = parse(text);
    match &ours {
        Ok(parts) => check_against_split(text, parts),
        Err(error) => check_error(text, *error),
    }
    // The other parsers take strings; a URI is ASCII.
    let Ok(string) = std::str::from_utf8(text) else {
        assert!(ours.is_err());
        return;
    };
    check_against_fluent_uri(string, ours.as_ref().map_err(|error| *error));
    check_against_iri_string(string, ours.as_ref().map_err(|error| *error));
}

fn check_against_split(text: &[u8], parts: &Components) {
    let twin = split(text);
    assert_eq!(parts.scheme(text), twin.scheme);
    assert_eq!(parts.authority(text), twin.authority);
    assert_eq!(parts.path(text), twin.path);
    assert_eq!(parts.query(text), twin.query);
    assert_eq!(parts.fragment(text), twin.fragment);
    assert_eq!(twin.recompose(), text);
    // The parts of an authority make up the authority.
    let mut authority = Vec::new();
    if let Some(userinfo) = parts.userinfo(text) {
        authority.extend(userinfo);
        authority.push(b'@');
    }
    authority.extend(parts.host(text).unwrap_or(b""));
    if let Some(port) = parts.port(text) {
        authority.push(b':');
        authority.extend(port);
    }
    assert_eq!(authority, twin.authority.unwrap_or(b""));
    assert_eq!(parts.host(text).is_some(), twin.authority.is_some());
    if let Some(host) = parts.host(text) {
        assert_eq!(host_kind(host), Some(parts.host_kind));
    }
}

fn check_error(text: &[u8], error: UriError) {
    assert!(error.at as usize <= text.len(), "{error}");
    let byte = text.get(error.at as usize).copied();
    match error.kind {
        UriErrorKind::Percent => assert_eq!(byte, Some(b'%')),
        UriErrorKind::Control => assert!(byte.is_some_and(|byte| byte.is_ascii_control())),
        UriErrorKind::Space => assert_eq!(byte, Some(b' ')),
        UriErrorKind::NonAscii => assert!(byte.is_some_and(|byte| !byte.is_ascii())),
        UriErrorKind::Bracket => assert!(matches!(byte, Some(b'[' | b']'))),
        UriErrorKind::Relative | UriErrorKind::TooLong => panic!("not from the parser: {error}"),
        _ => {}
    }
}

fn check_against_fluent_uri(text: &str, ours: Result<&Components, UriError>) {
    let theirs = UriRef::parse(text);
    match (&theirs, ours) {
        (Err(_), Err(_)) => {}
        (Ok(theirs), Ok(parts)) => {
            let bytes = text.as_bytes();
            let scheme = theirs.scheme().map(|scheme| scheme.as_str().as_bytes());
            assert_eq!(parts.scheme(bytes), scheme);
            assert_eq!(parts.path(bytes), theirs.path().as_str().as_bytes());
            assert_eq!(parts.query(bytes), theirs.query().map(|it| it.as_str().as_bytes()));
            assert_eq!(parts.fragment(bytes), theirs.fragment().map(|it| it.as_str().as_bytes()));
            let authority = theirs.authority();
            assert_eq!(parts.authority(bytes), authority.map(|it| it.as_str().as_bytes()));
            let Some(authority) = authority else { return };
            let userinfo = authority.userinfo().map(|it| it.as_str().as_bytes());
            assert_eq!(parts.userinfo(bytes), userinfo);
            assert_eq!(parts.host(bytes), Some(authority.host().as_bytes()));
            assert_eq!(parts.port(bytes), authority.port().map(|it| it.as_str().as_bytes()));
            let kind = match authority.host_parsed() {
                Host::Ipv4 { .. } => HostKind::Ipv4,
                Host::Ipv6 { .. } => HostKind::Ipv6,
                Host::IpvFuture { .. } => HostKind::IpFuture,
                Host::RegName(..) => HostKind::RegName,
            };
            assert_eq!(parts.host_kind, kind);
        }
        (theirs, ours) => {
            panic!("fluent-uri differs on {text:?}: {:?}, ours {ours:?}", theirs.is_ok())
        }
    }
}

fn check_against_iri_string(text: &str, ours: Result<&Components, UriError>) {
    match (UriReferenceStr::new(text), ours) {
        (Err(_), Err(_)) => {}
        (Ok(theirs), Ok(parts)) => {
            let bytes = text.as_bytes();
            assert_eq!(parts.scheme(bytes), theirs.scheme_str().map(str::as_bytes));
            assert_eq!(parts.authority(bytes), theirs.authority_str().map(str::as_bytes));
            assert_eq!(parts.path(bytes), theirs.path_str().as_bytes());
            assert_eq!(parts.query(bytes), theirs.query_str().map(str::as_bytes));
            let fragment = theirs.fragment_str().map(str::as_bytes);
            assert_eq!(parts.fragment(bytes), fragment);
        }
        (theirs, ours) => {
            panic!("iri-string differs on {text:?}: {:?}, ours {ours:?}", theirs.is_ok())
        }
    }
}

/// Compares every record of `text` on a backend with the result of [`parse`].
fn check_bulk(text: &[u8], backend: usize, record_end: u8) {
    PARSERS.with_borrow_mut(|(buf, parsers)| {
        buf.set(text);
        let mut records = 0;
        let lines = parsers[backend].parse_each(buf.padded(), record_end, |record| {
            records += 1;
            assert_eq!(record.result, parse(record.bytes), "{:?}", BACKENDS[backend]);
            assert_eq!(&text[record.start..][..record.bytes.len()], record.bytes);
        });
        let ends = text.iter().filter(|&&byte| byte == record_end).count();
        let unfinished = text.last().is_some_and(|&last| last != record_end);
        assert_eq!(lines, ends + usize::from(unfinished));
        assert!(records <= lines);
    });
}
