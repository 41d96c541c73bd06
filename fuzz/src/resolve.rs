//! A base and a reference: the target on a backend is that of the transcription of section 5, and is its own target.

use std::cell::RefCell;

use uriscan::resolve::{BaseUri, Options, Resolver};
use uriscan::uri::{parse, split};

use crate::{BACKENDS, Choice};

#[path = "../../tests/contract/resolve/transcribed.rs"]
mod transcribed;

/// Bases for inputs that have none.
const BASES: [&str; 6] = [
    "http://a/b/c/d;p?q",
    "http://a",
    "http://u@[::1]:8/x/./../y/?q#f",
    "https://host.example/with/a/path/that/fills/more/than/one/block/of/sixty-four/bytes/index.html?and=query",
    "foo:a/b",
    "foo:/.//b/c",
];

thread_local! {
    /// The resolvers of [`BASES`] for each backend. They are reused: their buffers hold earlier inputs, as in practice.
    static RESOLVERS: RefCell<Vec<Vec<Resolver>>> = RefCell::new(
        BACKENDS
            .iter()
            .map(|&kernels| {
                BASES
                    .map(|base| {
                        let base = BaseUri::new(base.as_bytes()).expect("a URI");
                        Resolver::with_kernels(base, Options::default(), kernels)
                    })
                    .into()
            })
            .collect(),
    );
}

/// The first byte chooses the backend, the base for references without one, and whether schemes are read leniently. The
/// rest is a reference, or a base and a reference on a line each.
pub fn check(data: &[u8]) {
    let Some((mut choice, text)) = Choice::split(data) else { return };
    let (backend, lenient_scheme) = (choice.backend(), choice.below(2) == 1);
    let number = choice.below(BASES.len());
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else {
        RESOLVERS.with_borrow_mut(|resolvers| {
            check_target(&mut resolvers[backend][number], BASES[number], text, true);
        });
        return;
    };
    let (base, reference) = (&text[..end], &text[end + 1..]);
    match BaseUri::new(base) {
        Ok(uri) => {
            let options = Options::default().lenient_scheme(lenient_scheme);
            let mut resolver = Resolver::with_kernels(uri, options, BACKENDS[backend]);
            let base = str::from_utf8(base).expect("a URI is ASCII");
            check_target(&mut resolver, base, reference, !lenient_scheme);
        }
        Err(_) => assert!(parse(base).is_ok_and(|parts| !parts.is_uri()) || parse(base).is_err()),
    }
}

fn check_target(resolver: &mut Resolver, base: &str, reference: &[u8], strict: bool) {
    let mut out = b"before ".to_vec();
    let result = resolver.resolve_into(reference, &mut out);
    let found = out.strip_prefix(b"before ").expect("the buffer keeps its content");
    let show = || format!("{base} {} {}", reference.escape_ascii(), found.escape_ascii());
    let string = str::from_utf8(reference).ok();
    let expected = string.and_then(|it| transcribed::transcribed(base, it, strict));
    match expected {
        None => {
            assert_eq!(result, parse(reference).map(|_| ()), "{}", show());
            assert!(result.is_err() && found.is_empty(), "{}", show());
        }
        Some(expected) => {
            assert_eq!(result, Ok(()), "{}", show());
            assert_eq!(found, expected.as_bytes(), "{}", show());
            assert!(parse(found).is_ok_and(|parts| parts.is_uri()), "{}", show());
            let is_same =
                split(found).fragment.map_or(found.len(), |it| found.len() - it.len() - 1);
            let base_end = base.find('#').unwrap_or(base.len());
            assert_eq!(
                resolver.is_same_document(found),
                found[..is_same] == base.as_bytes()[..base_end]
            );
            let is_clean = |path: &[u8]| {
                !path.split(|&byte| byte == b'/').any(|it| b"..".starts_with(it) && !it.is_empty())
            };
            if strict && is_clean(split(base.as_bytes()).path) {
                assert_eq!(resolver.resolve(found), Ok(found), "{}", show());
            }
        }
    }
}
