//! The fast paths: what RFC 3986 makes of most records, where RFC 2396 makes the same of them.
//!
//! They are those with a hostname that both grammars know as one, and without user information. Under both the same bytes may be in
//! path, query and fragment. The forms are the same in `http` and `https`, without percent-encodings and dot segments.

use super::parse::is_hostname;
use super::{
    Legacy, LegacyAuthority, LegacyComponents, LegacyForm, normalize_rfc2396, parse_rfc2396,
};
use crate::index::{Record, low_bits};
use crate::normalize::fast::{self, Canonical};
use crate::normalize::{Level, Options};
use crate::simd::{BLOCK, Isa};
use crate::uri::{UriError, fast::components};

/// [`parse_rfc2396`] for `record`, which is not empty.
///
/// # Errors
/// Those of [`parse_rfc2396`].
#[inline(always)]
pub fn parse_by<I: Isa>(
    isa: I,
    record: Record<'_>,
    legacy: Legacy,
) -> Result<LegacyComponents, UriError> {
    match plain(isa, record) {
        Some(parts) => Ok(parts),
        None => parse_rfc2396(record.bytes(), legacy),
    }
}

/// The components of a reference with a hostname; `None` if they are others, or the parser has to decide.
#[inline(always)]
fn plain<I: Isa>(isa: I, record: Record<'_>) -> Option<LegacyComponents> {
    let parts = components(isa, record)?;
    let has_userinfo = parts.host_start != parts.authority_start;
    if has_userinfo || !is_hostname(parts.host(record.bytes())?) {
        return None;
    }
    Some(LegacyComponents {
        scheme_end: parts.scheme_end,
        authority_start: parts.authority_start,
        host_start: parts.host_start,
        host_end: parts.host_end,
        path_start: parts.path_start,
        path_end: parts.path_end,
        query_end: parts.query_end,
        len: parts.len,
        form: LegacyForm::NetPath,
        authority: LegacyAuthority::Hostname,
    })
}

/// The canonical form of `record`, which is not empty, by RFC 2396: a prefix of its own bytes, or bytes in `out`.
///
/// # Errors
/// Those of [`normalize_rfc2396`].
#[inline(always)]
pub fn canonical_by<'a, I: Isa>(
    isa: I,
    record: Record<'a>,
    legacy: Legacy,
    options: Options,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    match form(isa, record, options, out) {
        Some(Canonical::InPlace(len)) => return Ok(&record.bytes()[..len]),
        Some(Canonical::InScratch(len)) => return Ok(&out[..len]),
        None => {}
    }
    out.clear();
    normalize_rfc2396(record.bytes(), legacy, options.level, options.drop_fragment, out)?;
    Ok(out)
}

/// The canonical form by RFC 3986, if that by RFC 2396 is the same.
#[inline(always)]
fn form<I: Isa>(
    isa: I,
    record: Record<'_>,
    options: Options,
    out: &mut Vec<u8>,
) -> Option<Canonical> {
    let (plan, end) = fast::plan(isa, options, record)?;
    let block = record.block(0);
    let host = match block.map(|byte| byte | 0x20) {
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
        _ => return None,
    };
    let mut percents = 0;
    for at in (0..record.len()).step_by(BLOCK) {
        percents |= isa.equal(record.block(at), b'%') & low_bits(record.len() - at);
    }
    if plan.dots || percents != 0 || !is_hostname(block.get(host..plan.host_end)?) {
        return None;
    }
    if options.level == Level::String {
        return Some(Canonical::InPlace(end));
    }
    Some(fast::carry_out(isa, &plan, record, end, out))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::index::Index;
    use crate::simd::{Kernels, Task};

    struct Both<'a>(Record<'a>, Legacy, Options, &'a mut Vec<u8>);

    impl<'a> Task for Both<'a> {
        type Output = (Result<LegacyComponents, UriError>, Result<&'a [u8], UriError>);
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            let Both(record, legacy, options, out) = self;
            (parse_by(isa, record, legacy), canonical_by(isa, record, legacy, options, out))
        }
    }

    fn assert_same(text: &str, legacy: Legacy, options: Options) {
        let bytes = text.as_bytes();
        let mut expected = Vec::new();
        let form =
            normalize_rfc2396(bytes, legacy, options.level, options.drop_fragment, &mut expected);
        for kernels in Kernels::available() {
            let (mut buffer, mut index, mut out) =
                (PaddedBuf::default(), Index::new(), b"used".to_vec());
            buffer.set(bytes);
            let record = index.only_record(kernels, buffer.padded());
            let (parts, found) = kernels.run(Both(record, legacy, options, &mut out));
            assert_eq!(parts, parse_rfc2396(bytes, legacy), "{text}");
            assert_eq!(found, form.map(|()| &expected[..]), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn parts_and_forms_are_those_of_the_slow_paths(
            head in "(http|HTTPS|foo|file|mailto|)(://|:/|:|//|)",
            host in "([aB1]{1,3}[._-]{0,2}){1,3}(%41)?|1\\.2\\.3\\.4|u@h|\\[::1\\]|",
            port in "(:(80|443|081|8|))?",
            path in "(/(\\.|\\.\\.|[aB!*;]{0,2}|%7e|%21|%|'|\\[)){0,4}",
            rest in "(\\?[a&=%41?/\\[]{0,4})?(#[a?/]{0,2}%7e?)?",
            has_long_host in any::<bool>(),
            has_rfc2732 in any::<bool>(),
            drop_fragment in any::<bool>(),
            level in prop::sample::select(&Level::ALL[..]),
        ) {
            let long = if has_long_host { "a.".repeat(30) } else { String::new() };
            let text = format!("{head}{long}{host}{port}{path}{rest}");
            if !text.is_empty() {
                let options = Options::new(level).drop_fragment(drop_fragment);
                assert_same(&text, Legacy { has_rfc2732 }, options);
            }
        }
    }

    #[test]
    fn what_the_grammars_read_differently_is_left_to_the_parser() {
        for text in [
            "http://A_b:80/",
            "http://a-:80/",
            "http://-a/",
            "http://a..b/",
            "http://1a/",
            "http://a.1/",
            "http://h./",
            "http://h../",
            "http://h/..",
            "http://h/%21",
            "foo://H",
            "//H/a",
            "HTTP:a",
            "http:///",
        ] {
            for legacy in [false, true].map(|has_rfc2732| Legacy { has_rfc2732 }) {
                for level in Level::ALL {
                    assert_same(text, legacy, Options::new(level));
                }
            }
        }
    }
}
