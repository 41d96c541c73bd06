//! One reference: its components, whether it is valid, its target.

use core::ffi::c_char;

use uriscan::resolve::{BaseUri, Options, Resolver};
use uriscan::trimmed;
use uriscan::uri::{Components, HostKind, UriErrorKind, parse};

use crate::border::{Buffer, Place, bytes, call};
use crate::error::{Failure, URISCAN_NONE, UriscanError, leading};

/// No authority, hence no host.
pub const URISCAN_HOST_NONE: i32 = 0;
/// A registered name, possibly empty.
pub const URISCAN_HOST_REG_NAME: i32 = 1;
/// An IPv4 address.
pub const URISCAN_HOST_IPV4: i32 = 2;
/// An IPv6 address, in brackets.
pub const URISCAN_HOST_IPV6: i32 = 3;
/// An address of a later version, in brackets.
pub const URISCAN_HOST_IPVFUTURE: i32 = 4;

/// Bytes of a text: from `start`, counted from 0, to before `end`. Of a component that is not there both are `URISCAN_NONE`; one
/// that is empty is there.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UriscanSpan {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// The components of a reference (RFC 3986, section 3), without their delimiters. The path is always there.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UriscanComponents {
    /// Before the first `:`; a relative reference has none.
    pub scheme: UriscanSpan,
    /// After `//`.
    pub authority: UriscanSpan,
    /// Before the `@` of the authority.
    pub userinfo: UriscanSpan,
    /// An IPv6 address with its brackets.
    pub host: UriscanSpan,
    /// After the `:` of the authority.
    pub port: UriscanSpan,
    /// May be empty.
    pub path: UriscanSpan,
    /// After `?`.
    pub query: UriscanSpan,
    /// After `#`.
    pub fragment: UriscanSpan,
    /// One of `URISCAN_HOST_*`.
    pub host_kind: i32,
}

const ABSENT: UriscanSpan = UriscanSpan { start: URISCAN_NONE, end: URISCAN_NONE };

const NOTHING: UriscanComponents = UriscanComponents {
    scheme: ABSENT,
    authority: ABSENT,
    userinfo: ABSENT,
    host: ABSENT,
    port: ABSENT,
    path: ABSENT,
    query: ABSENT,
    fragment: ABSENT,
    host_kind: URISCAN_HOST_NONE,
};

impl UriscanComponents {
    /// The components of `given`, of which `text` is what is left without white space.
    fn new(given: &[u8], text: &[u8], parts: &Components) -> UriscanComponents {
        let span = |part: Option<&[u8]>| {
            part.map_or(ABSENT, |part| {
                let start = part.as_ptr().addr() - given.as_ptr().addr();
                UriscanSpan { start, end: start + part.len() }
            })
        };
        UriscanComponents {
            scheme: span(parts.scheme(text)),
            authority: span(parts.authority(text)),
            userinfo: span(parts.userinfo(text)),
            host: span(parts.host(text)),
            port: span(parts.port(text)),
            path: span(Some(parts.path(text))),
            query: span(parts.query(text)),
            fragment: span(parts.fragment(text)),
            host_kind: match parts.host_kind {
                HostKind::None => URISCAN_HOST_NONE,
                HostKind::RegName => URISCAN_HOST_REG_NAME,
                HostKind::Ipv4 => URISCAN_HOST_IPV4,
                HostKind::Ipv6 => URISCAN_HOST_IPV6,
                HostKind::IpFuture => URISCAN_HOST_IPVFUTURE,
            },
        }
    }
}

/// Writes where the components of `text`, a URI or a relative reference, begin and end. White space around it is not part of
/// it; offsets count from its first byte all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_parse(
    text: *const c_char,
    text_length: usize,
    components: *mut UriscanComponents,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (place, given) =
            unsafe { (Place::new(components, NOTHING)?, bytes(text, text_length)?) };
        let text = trimmed(given);
        let parts = parse(text).map_err(|error| Failure::invalid(error, given))?;
        place.put(UriscanComponents::new(given, text, &parts));
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Returns `URISCAN_OK` if `text` is a URI, otherwise `URISCAN_INVALID`, with kind and position in `error`. A relative reference
/// is not a URI: its kind is `relative`, and `uriscan_parse` takes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_is_valid(
    text: *const c_char,
    text_length: usize,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let given = unsafe { bytes(text, text_length)? };
        let parts = parse(trimmed(given)).map_err(|error| Failure::invalid(error, given))?;
        match parts.is_uri() {
            true => Ok(()),
            false => Err(Failure::Invalid {
                kind: UriErrorKind::Relative,
                at: leading(given),
                row: None,
            }),
        }
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Writes the target of `reference` against `base`, as section 5 of RFC 3986 defines it, to `buffer`. It is not normalized beyond
/// that. `URISCAN_INVALID_BASE` if `base` is not a URI.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_resolve(
    base: *const c_char,
    base_length: usize,
    reference: *const c_char,
    reference_length: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let buffer = unsafe { Buffer::new(buffer, capacity, length)? };
        // SAFETY: the same.
        let (base, reference) =
            unsafe { (bytes(base, base_length)?, bytes(reference, reference_length)?) };
        let parsed = BaseUri::new(trimmed(base));
        let parsed = parsed.map_err(|error| Failure::invalid_base(error, base))?;
        let mut resolver = Resolver::new(parsed, Options::default());
        let target = resolver.resolve(trimmed(reference));
        buffer.put(target.map_err(|error| Failure::invalid(error, reference))?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}
