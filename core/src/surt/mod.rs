//! Sort-friendly forms of URIs (SURT), the keys of web archive indexes.

mod ia;
mod parts;
mod session;

use parts::Parts;

use crate::normalize::{Options, normalize_exact};
use crate::uri::parse;
#[cfg(feature = "bulk")]
use crate::{chunk::Prefix, simd::Isa};

named! {
    /// A sort-friendly form.
    ///
    /// ```
    /// use uriscan::surt::Form;
    /// assert_eq!(Form::from_name("surt"), Some(Form::Cdxj));
    /// assert_eq!(Form::from_name("surt:ia"), Some(Form::Ia));
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Form {
        /// Host reversed, then port, scheme and userinfo; reversible.
        Ssurt = "ssurt",
        /// Host reversed, then port, path and query, all in lower case.
        Cdxj = "surt:cdxj" | "surt",
        /// The key in the Internet Archive's index.
        Ia = "surt:ia",
    }
}

/// Reusable buffers of [`write()`].
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    text: Vec<u8>,
    params: Vec<(u32, u32)>,
}

/// Appends the sort-friendly form of `uri`, a canonical form, to `out`.
///
/// Accepts any URI, canonical or not; without normalization its scheme and host keep their case.
/// The result for bytes that are not a URI is unspecified. Linear in the length except for the
/// sorting of `surt:ia`; allocates only to grow its buffers.
///
/// ```
/// use uriscan::surt::{Form, Scratch, write};
/// let mut out = Vec::new();
/// write(b"http://www.example.com/Goo?b&a", Form::Ia, &mut Scratch::default(), &mut out);
/// assert_eq!(out, b"com,example)/goo?a&b");
/// ```
pub fn write(uri: &[u8], form: Form, scratch: &mut Scratch, out: &mut Vec<u8>) {
    write_parts(&Parts::of(uri), uri, form, scratch, out);
}

/// [`write()`] for a form after which bytes may be read: faster.
#[cfg(feature = "bulk")]
#[inline(always)]
pub fn write_by<I: Isa>(
    isa: I,
    uri: Prefix<'_>,
    form: Form,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) {
    write_parts(&Parts::by(isa, uri), uri.bytes(), form, scratch, out);
}

fn write_parts(
    parts: &Parts<'_>,
    uri: &[u8],
    form: Form,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) {
    match form {
        Form::Ssurt => ssurt(parts, uri, out),
        Form::Cdxj => cdxj(parts, out),
        Form::Ia => ia::write(parts, memchr::memchr(b'%', uri).is_none(), scratch, out),
    }
}

/// Appends the `surt:ia` form of `record`, which is not a URI, to `out`, as the Wayback Machine's and the Common
/// Crawl's indexes have it: `http://h/a b`, `http://h/100%`. What is wrong elsewhere does not change the host: it is
/// normalized at the level of `options` if it is valid. Returns `false` and appends nothing for other forms, and for a
/// record without a scheme, with a broken IP literal, or with a port that is not a number up to 65,535.
///
/// ```
/// use uriscan::{normalize::Options, surt::{Form, Scratch, write_invalid}};
/// let mut out = Vec::new();
/// let (options, mut scratch) = (Options::default(), Scratch::default());
/// assert!(write_invalid(b"http://B%C3%BCcher.example/a b?c=100%", Form::Ia, options, &mut scratch, &mut out));
/// assert_eq!(out, b"example,xn--bcher-kva)/a%20b?c=100%25");
/// ```
pub fn write_invalid(
    record: &[u8],
    form: Form,
    options: Options,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> bool {
    if form != Form::Ia {
        return false;
    }
    let record = record.trim_ascii();
    let parts = Parts::of(record);
    // Without a colon the scheme is all of it.
    let has_scheme = parts.scheme.len() < record.len()
        && parse(&[parts.scheme, b":"].concat()).is_ok_and(|uri| uri.is_uri());
    if !has_scheme || !parts.port.is_none_or(is_port) {
        return false;
    }
    let host = parts.host.unwrap_or_default();
    let mut head = Vec::new();
    let text = [parts.scheme, b"://", host].concat();
    match normalize_exact(&text, options.level, false, &mut head) {
        Ok(()) if parts.host.is_some() => {
            ia::write(&Parts { host: Parts::of(&head).host, ..parts }, false, scratch, out);
        }
        Err(_) if host.contains(&b'[') => return false,
        _ => ia::write(&parts, false, scratch, out),
    }
    true
}

fn is_port(port: &[u8]) -> bool {
    let number = str::from_utf8(port).ok().and_then(|port| port.parse::<u16>().ok());
    port.is_empty() || (port[0].is_ascii_digit() && number.is_some())
}

fn ssurt(parts: &Parts<'_>, uri: &[u8], out: &mut Vec<u8>) {
    let Some(host) = parts.host else {
        out.extend_from_slice(uri);
        return;
    };
    out.reserve(uri.len() + 4);
    if parts.is_address() {
        out.extend_from_slice(host);
    } else if !host.is_empty() {
        reversed(host, out);
        out.push(b',');
    }
    out.extend_from_slice(b"//");
    if let Some(port) = parts.port {
        out.extend_from_slice(port);
        out.push(b':');
    }
    out.extend_from_slice(parts.scheme);
    if let Some(userinfo) = parts.userinfo {
        out.push(b'@');
        out.extend_from_slice(userinfo);
    }
    out.push(b':');
    out.extend_from_slice(parts.after_authority);
}

fn cdxj(parts: &Parts<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    match parts.host.filter(|host| !host.is_empty()) {
        Some(host) => {
            if host[0] == b'[' {
                out.extend_from_slice(host);
            } else {
                reversed(host, out);
            }
            if let Some(port) = parts.port {
                out.push(b':');
                out.extend_from_slice(port);
            }
            out.push(b')');
        }
        None => {
            out.extend_from_slice(parts.scheme);
            out.push(b':');
        }
    }
    out.extend_from_slice(parts.path);
    if let Some(query) = parts.query {
        out.push(b'?');
        out.extend_from_slice(query);
    }
    out[start..].make_ascii_lowercase();
}

/// Appends the labels of `host` in reverse order, separated by commas.
fn reversed(host: &[u8], out: &mut Vec<u8>) {
    let mut end = host.len();
    // Hosts are short: looking at each byte is faster than calling a search for every label.
    for at in (0..host.len()).rev() {
        if host[at] == b'.' {
            out.extend_from_slice(&host[at + 1..end]);
            out.push(b',');
            end = at;
        }
    }
    out.extend_from_slice(&host[..end]);
}
