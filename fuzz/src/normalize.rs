//! One reference: the fast path against the reference path, and the reference path against its properties.

use std::cell::RefCell;

use uriscan::normalize::{Level, Normalizer, Options};
use uriscan::uri::{UriError, UriErrorKind, parse, split};
use uriscan_core::normalize::normalize_exact;

use crate::{BACKENDS, Choice};

thread_local! {
    /// One normalizer per backend, level and rule for fragments. They are reused: their buffers hold
    /// earlier inputs, as in practice.
    static NORMALIZERS: RefCell<Vec<[[Normalizer; 2]; Level::ALL.len()]>> = RefCell::new(
        BACKENDS
            .iter()
            .map(|&kernels| {
                Level::ALL.map(|level| {
                    [false, true].map(|drop_fragment| {
                        let options = Options::default().level(level).drop_fragment(drop_fragment);
                        Normalizer::with_kernels(options, kernels)
                    })
                })
            })
            .collect(),
    );
}

/// The first byte chooses the backend, the level and the rule for fragments; the rest is the reference.
pub fn check(data: &[u8]) {
    let Some((mut choice, text)) = Choice::split(data) else { return };
    let drops = choice.below(2);
    let (level, backend) = (choice.below(Level::ALL.len()), choice.backend());
    let options = Options::default().level(Level::ALL[level]).drop_fragment(drops == 1);
    let expected = exact(text, options);
    NORMALIZERS.with_borrow_mut(|normalizers| {
        assert_eq!(
            normalizers[backend][level][drops].normalize(text),
            expected.as_deref().map_err(|error| *error),
            "{} {options:?} {:?}",
            text.escape_ascii(),
            BACKENDS[backend]
        );
    });
    if let Ok(form) = &expected {
        check_laws(text, options, form);
    }
    if options.level < Level::Scheme {
        check_nesting(text, options, expected);
    }
}

fn exact(text: &[u8], options: Options) -> Result<Vec<u8>, UriError> {
    // The buffer keeps its content.
    let mut out = b"before ".to_vec();
    let result = normalize_exact(text, options.level, options.drop_fragment, &mut out);
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
    // No authority is an empty one in `file:/x` (RFC 8089).
    let is_local = options.level >= Level::Scheme && form.starts_with(b"file:///");
    let has_authority = before.authority.is_some() || is_local;
    assert_eq!(has_authority, after.authority.is_some(), "{}", show());
    if !before.path.starts_with(b"/") && before.authority.is_none() {
        // A rootless path keeps its dot segments, and so all of its segments.
        let segments = |path: &[u8]| path.split(|&byte| byte == b'/').count();
        assert_eq!(segments(before.path), segments(after.path), "{}", show());
    }
    let has_user = |authority: Option<&[u8]>| authority.is_some_and(|it| it.contains(&b'@'));
    assert_eq!(has_user(before.authority), has_user(after.authority), "{}", show());
}

/// The ladder nests: the additions of a level are a function of the form below it.
fn check_nesting(text: &[u8], options: Options, lower: Result<Vec<u8>, UriError>) {
    let higher = options.level(Level::Scheme);
    let scheme = exact(text, higher);
    match lower {
        Ok(form) => assert_eq!(exact(&form, higher), scheme, "{options:?}"),
        // UTF-8 in a DNS host is accepted from level `scheme` on.
        Err(error) if error.kind == UriErrorKind::NonAscii => {}
        Err(error) => assert_eq!(scheme, Err(error)),
    }
}
