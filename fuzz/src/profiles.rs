//! One URL: its form under a profile is the same on every backend; forms of `whatwg` are those of the `url` crate; forms
//! are forms of themselves.

use std::cell::RefCell;

use uriscan::profile::{Profile, Profiler};
use uriscan::uri::UriErrorKind;

use crate::{BACKENDS, Choice};

thread_local! {
    /// For each profile a profiler per backend. They are reused: their buffers hold earlier inputs, as in practice.
    static PROFILERS: RefCell<Vec<Vec<Profiler>>> = RefCell::new(
        Profile::ALL
            .iter()
            .map(|&profile| {
                BACKENDS.iter().map(|&kernels| Profiler::with_kernels(profile, kernels)).collect()
            })
            .collect(),
    );
}

/// The first byte chooses the backend and the profile; the rest is the URL.
pub fn check(data: &[u8]) {
    let Some((mut choice, url)) = Choice::split(data) else { return };
    let (number, backend) = (choice.below(Profile::ALL.len()), choice.backend());
    let profile = Profile::ALL[number];
    let form = |backend: usize, url: &[u8]| {
        PROFILERS
            .with_borrow_mut(|profilers| profilers[number][backend].form(url).map(<[u8]>::to_vec))
    };
    let found = form(backend, url);
    if backend != 0 {
        assert_eq!(found, form(0, url), "{profile}: {}", url.escape_ascii());
    }
    match found {
        Ok(once) if matches!(profile, Profile::Whatwg | Profile::CrawlerCommons) => {
            assert_eq!(form(backend, &once).as_ref(), Ok(&once), "{}", url.escape_ascii());
        }
        Ok(_) => {}
        Err(error) => {
            assert!(profile == Profile::Surt || error.kind == UriErrorKind::Profile, "{error}");
        }
    }
    if profile == Profile::Whatwg
        && let Ok(url) = str::from_utf8(url)
        && !differs(url)
    {
        let found = form(backend, url.as_bytes()).ok();
        let found = found.map(|form| String::from_utf8(form).expect("a form is UTF-8"));
        assert_eq!(found, href(url), "{url:?}");
    }
}

/// The result of the crate, with the bytes encoded that only the standard encodes: `^` in a path of segments, a last
/// space before `?` or `#` in another.
fn href(url: &str) -> Option<String> {
    use url::Position::{AfterPath, BeforePath};
    let url = url::Url::parse(url).ok()?;
    if url.cannot_be_a_base() {
        let href = String::from(url);
        let end = href.find(['?', '#']).unwrap_or(href.len());
        return Some(match href[..end].strip_suffix(' ') {
            Some(front) if end < href.len() => format!("{front}%20{}", &href[end..]),
            _ => href,
        });
    }
    let path = url[BeforePath..AfterPath].replace('^', "%5E");
    Some(format!("{}{path}{}", &url[..BeforePath], &url[AfterPath..]))
}

/// Whether the crate is known to differ from the standard: on `file` URLs, and on segments that look like a drive.
fn differs(url: &str) -> bool {
    let trimmed = url.trim_start_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "");
    let is_drive = |at: &[u8]| matches!(at, [b'/' | b'\\', letter, b':' | b'|'] if letter.is_ascii_alphabetic());
    trimmed.is_empty()
        || trimmed.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("file:"))
        || trimmed.as_bytes().windows(3).any(is_drive)
}
