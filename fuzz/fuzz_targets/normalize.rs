//! One reference: the fast path against the reference path, and the reference path against its
//! properties.

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use uriscan::Kernels;
use uriscan::normalize::{Normalizer, Options, Rung, normalize_exact};
use uriscan::uri::{ErrorKind, UriError, parse, split};

thread_local! {
    /// One normalizer per backend, rung and rule for fragments. They are reused: their buffers hold
    /// earlier inputs, as in practice.
    static NORMALIZERS: RefCell<Vec<(Options, Kernels, Normalizer)>> = RefCell::new(normalizers());
}

fn normalizers() -> Vec<(Options, Kernels, Normalizer)> {
    let options = Rung::ALL.into_iter().flat_map(|rung| {
        [false, true].map(|drop_fragment| Options::new(rung).drop_fragment(drop_fragment))
    });
    options
        .flat_map(|options| {
            Kernels::available()
                .map(move |kernels| (options, kernels, Normalizer::with_kernels(options, kernels)))
        })
        .collect()
}

fn exact(text: &[u8], options: Options) -> Result<Vec<u8>, UriError> {
    // The buffer keeps its content.
    let mut out = b"before ".to_vec();
    let result = normalize_exact(text, options.rung, options.drop_fragment, &mut out);
    assert!(out.starts_with(b"before "));
    assert!(result.is_ok() || out.len() == 7);
    result.map(|()| out.split_off(7))
}

/// The properties of the form of any `text`.
fn check_laws(text: &[u8], options: Options, form: &[u8]) {
    let show = || format!("{} {options:?}: {}", text.escape_ascii(), form.escape_ascii());
    assert_eq!(exact(form, options).as_deref(), Ok(form), "not idempotent: {}", show());
    let parts = parse(form).unwrap_or_else(|error| panic!("{error}: {}", show()));
    assert!(parts.is_uri(), "{}", show());
    let (before, after) = (split(text), split(form));
    assert_eq!(after.recompose(), form);
    assert_eq!(before.query.is_some(), after.query.is_some(), "{}", show());
    let keeps_fragment = !options.drop_fragment && before.fragment.is_some();
    assert_eq!(keeps_fragment, after.fragment.is_some(), "{}", show());
    assert_eq!(before.authority.is_some(), after.authority.is_some(), "{}", show());
    if !before.path.starts_with(b"/") && before.authority.is_none() {
        // A rootless path keeps its dot segments, and so all of its segments.
        let segments = |path: &[u8]| path.split(|&byte| byte == b'/').count();
        assert_eq!(segments(before.path), segments(after.path), "{}", show());
    }
    let has_user = |authority: Option<&[u8]>| authority.is_some_and(|it| it.contains(&b'@'));
    assert_eq!(has_user(before.authority), has_user(after.authority), "{}", show());
}

fuzz_target!(|text: &[u8]| {
    NORMALIZERS.with_borrow_mut(|normalizers| {
        for (options, kernels, normalizer) in normalizers {
            let expected = exact(text, *options);
            let found = normalizer.normalize(text);
            assert_eq!(
                found,
                expected.as_deref().map_err(|error| *error),
                "{} {options:?} {kernels:?}",
                text.escape_ascii()
            );
        }
    });
    for drop_fragment in [false, true] {
        let at = |rung| Options::new(rung).drop_fragment(drop_fragment);
        for rung in Rung::ALL {
            if let Ok(form) = exact(text, at(rung)) {
                check_laws(text, at(rung), &form);
            }
        }
        // The ladder nests: the additions of a rung are a function of the form below it.
        let scheme = exact(text, at(Rung::Scheme));
        for lower in [Rung::String, Rung::Syntax] {
            match exact(text, at(lower)) {
                Ok(form) => assert_eq!(exact(&form, at(Rung::Scheme)), scheme, "{lower}"),
                // UTF-8 in a DNS host is accepted from rung `scheme` on.
                Err(error) if error.kind == ErrorKind::NonAscii => {}
                Err(error) => assert_eq!(scheme, Err(error)),
            }
        }
    }
});
