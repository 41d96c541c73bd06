//! The strict parser of RFC 2396, appendix A: `URI-reference = [ absoluteURI | relativeURI ] [ "#" fragment ]`.
//!
//! One pass from left to right, no recursion, no allocation, time linear in the length.
//!
//! # How the text is split
//!
//! 1. A `scheme` and its `:` at the start make the text an absoluteURI; otherwise it is a
//!    relativeURI.
//! 2. `//` next makes a net_path: "the authority component wins" (4.3). The authority ends before
//!    the first `/`, `?` or `#`. It is a `server` if it has the form of one, otherwise a
//!    `reg_name`: `a_b`, `h:8x`, `u@v@w` and `1.2.3` are not servers, so they have no host.
//! 3. Otherwise a `/` makes an abs_path. After a scheme anything else is an `opaque_part`, which
//!    extends to the `#`: a `?` in it does not begin a query. Without a scheme it is a rel_path.
//! 4. Path, query and fragment end as in RFC 3986.
//!
//! One text is accepted that the BNF does not derive: a query alone, `?y`, which appendix C.1
//! resolves.
//!
//! Errors are reported as by [`crate::uri::parse()`]: the parts are checked in reading order, and the
//! first fault ends the parse. Nothing after a scheme is [`UriErrorKind::NoPath`], at the end of the
//! text or at its `#`. An authority that is not a server is validated as a `reg_name`; under RFC
//! 2732 a `[` at the start of a host that is not an IPv6 address is [`UriErrorKind::IpLiteral`].

use super::grammar::{
    ALPHANUM, BRACKETS, Legacy, PATH_SEGMENTS, REG_NAME, REL_SEGMENT, URIC, URIC_NO_SLASH, USERINFO,
};
use crate::grammar::class::{ALPHA, ByteClass, DIGIT, HEXDIG, SCHEME};
use crate::uri::parse_ipv6;
use crate::uri::{UriError, UriErrorKind};

/// What follows the scheme, or the start of a reference without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LegacyForm {
    /// No path: an empty reference, a query or a fragment alone.
    #[default]
    Empty,
    /// `net_path = "//" authority [ abs_path ]`
    NetPath,
    /// `abs_path = "/" path_segments`
    AbsPath,
    /// `rel_path = rel_segment [ abs_path ]`, in a relativeURI
    RelPath,
    /// `opaque_part = uric_no_slash *uric`, in an absoluteURI
    OpaquePart,
}

/// The kind of an authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LegacyAuthority {
    /// There is none.
    #[default]
    None,
    /// `server` in its empty form, `//` alone.
    EmptyServer,
    /// `server` with a `hostname`.
    Hostname,
    /// `server` with an `IPv4address`.
    Ipv4,
    /// `server` with an IPv6 address in brackets (RFC 2732).
    Ipv6,
    /// `reg_name`
    RegName,
}

impl LegacyAuthority {
    /// The stable name of the kind of host used in machine output; `None` without a host.
    pub const fn host_kind(self) -> Option<&'static str> {
        match self {
            LegacyAuthority::Hostname => Some("hostname"),
            LegacyAuthority::Ipv4 => Some("IPv4address"),
            LegacyAuthority::Ipv6 => Some("IPv6reference"),
            _ => None,
        }
    }
}

/// Offsets of the components of a reference by RFC 2396; "undefined" and "empty" are distinct.
///
/// All offsets count bytes from the start of the reference, as those of [`crate::uri::Components`] do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyComponents {
    /// Offset of the `:` that ends the scheme, or 0.
    pub scheme_end: u32,
    /// Offset after the `//`, or 0.
    pub authority_start: u32,
    /// Offset of the host's first byte, for a server that has a host.
    pub host_start: u32,
    /// Offset after the host's last byte, for such a server.
    pub host_end: u32,
    /// Offset of the first byte of the path, or of the opaque_part.
    pub path_start: u32,
    /// Offset after its last byte.
    pub path_end: u32,
    /// Offset after the query's last byte.
    pub query_end: u32,
    /// Length of the reference.
    pub len: u32,
    /// What follows the scheme.
    pub form: LegacyForm,
    /// The kind of the authority.
    pub authority: LegacyAuthority,
}

impl LegacyComponents {
    fn part<'t>(&self, text: &'t [u8], is_defined: bool, start: u32, end: u32) -> Option<&'t [u8]> {
        is_defined.then(|| &text[start as usize..end as usize])
    }

    fn has_host(&self) -> bool {
        self.authority.host_kind().is_some()
    }

    fn is_net_path(&self) -> bool {
        self.form == LegacyForm::NetPath
    }

    /// The scheme without its `:`.
    pub fn scheme<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.part(text, self.scheme_end != 0, 0, self.scheme_end)
    }

    /// The opaque_part.
    pub fn opaque_part<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_defined = self.form == LegacyForm::OpaquePart;
        self.part(text, is_defined, self.path_start, self.path_end)
    }

    /// The net_path, with its `//`.
    pub fn net_path<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let start = self.authority_start.saturating_sub(2);
        self.part(text, self.is_net_path(), start, self.path_end)
    }

    /// The abs_path, also that of a net_path if it has one.
    pub fn abs_path<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_part = self.is_net_path() && self.path_start != self.path_end;
        let is_defined = self.form == LegacyForm::AbsPath || is_part;
        self.part(text, is_defined, self.path_start, self.path_end)
    }

    /// The rel_path.
    pub fn rel_path<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_defined = self.form == LegacyForm::RelPath;
        self.part(text, is_defined, self.path_start, self.path_end)
    }

    /// The authority without its `//`.
    pub fn authority<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.part(text, self.is_net_path(), self.authority_start, self.path_start)
    }

    /// The authority, if it is a server; the empty authority is one.
    pub fn server<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_server = self.authority != LegacyAuthority::RegName;
        self.authority(text).filter(|_| is_server)
    }

    /// The authority, if it is a registry-based name.
    pub fn reg_name<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_name = self.authority == LegacyAuthority::RegName;
        self.authority(text).filter(|_| is_name)
    }

    /// The user information of a server, without its `@`.
    pub fn userinfo<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_defined = self.has_host() && self.host_start != self.authority_start;
        self.part(text, is_defined, self.authority_start, self.host_start.saturating_sub(1))
    }

    /// The host of a server, an IPv6 address with its brackets.
    pub fn host<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.part(text, self.has_host(), self.host_start, self.host_end)
    }

    /// The host, if it is a hostname.
    pub fn hostname<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.host(text).filter(|_| self.authority == LegacyAuthority::Hostname)
    }

    /// The last label of a hostname, without a dot after it.
    pub fn toplabel<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let name = self.hostname(text)?;
        without_last_dot(name).rsplit(|&byte| byte == b'.').next()
    }

    /// The port of a server, without its `:`.
    pub fn port<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let is_defined = self.has_host() && self.host_end != self.path_start;
        self.part(text, is_defined, self.host_end + 1, self.path_start)
    }

    /// The path: `[ abs_path | opaque_part ]`, or a rel_path; empty if there is none.
    pub fn path<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.path_start as usize..self.path_end as usize]
    }

    /// The segments of a hierarchical path, each with the params after its `;`; none for an opaque_part.
    pub fn segments<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        let path = if self.form == LegacyForm::OpaquePart { b"" } else { self.path(text) };
        let path = path.strip_prefix(b"/").map_or((!path.is_empty()).then_some(path), Some);
        path.into_iter().flat_map(|path| path.split(|&byte| byte == b'/'))
    }

    /// The query without its `?`; an opaque_part has none.
    pub fn query<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.part(text, self.path_end != self.query_end, self.path_end + 1, self.query_end)
    }

    /// The fragment without its `#`.
    pub fn fragment<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.part(text, self.query_end != self.len, self.query_end + 1, self.len)
    }

    /// Whether the reference has a scheme.
    pub fn is_absolute(&self) -> bool {
        self.scheme_end != 0
    }
}

/// Parses `text` as a `URI-reference` of RFC 2396 and validates every byte of it.
///
/// ```
/// use uriscan::rfc2396::Legacy;
/// use uriscan_core::rfc2396::parse_rfc2396;
/// let text = b"mailto:joe@example.com?subject=x";
/// let parts = parse_rfc2396(text, Legacy::default()).unwrap();
/// assert_eq!(parts.opaque_part(text), Some(&b"joe@example.com?subject=x"[..]));
/// let text = b"http://a_b:80/";
/// let parts = parse_rfc2396(text, Legacy::default()).unwrap();
/// assert_eq!((parts.reg_name(text), parts.host(text)), (Some(&b"a_b:80"[..]), None));
/// ```
///
/// # Errors
/// The first fault in reading order, as at the top of this file.
/// [`UriErrorKind::TooLong`], at `u32::MAX`, when the text is longer than `u32::MAX` bytes.
pub fn parse_rfc2396(text: &[u8], legacy: Legacy) -> Result<LegacyComponents, UriError> {
    let Ok(len) = u32::try_from(text.len()) else {
        return Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
    };
    let uric = if legacy.has_rfc2732 { URIC.or(BRACKETS) } else { URIC };
    let mut c = LegacyComponents { len, ..LegacyComponents::default() };
    let mut at = 0;
    if let Some(colon) = scheme(text)? {
        c.scheme_end = colon as u32;
        at = colon + 1;
    }
    let rest = &text[at..];
    if rest.starts_with(b"//") {
        c.form = LegacyForm::NetPath;
        at = authority(text, at + 2, legacy, &mut c)?;
    }
    c.path_start = at as u32;
    if c.form != LegacyForm::NetPath && c.is_absolute() && !rest.starts_with(b"/") {
        c.form = LegacyForm::OpaquePart;
        let first = run_of(text, at, at + 1, URIC_NO_SLASH);
        if first == at {
            return Err(match text.get(at) {
                None | Some(b'#') => UriError::new(UriErrorKind::NoPath, at),
                Some(_) => fault(text, at),
            });
        }
        at = run(text, first, uric);
        (c.path_end, c.query_end) = (at as u32, at as u32);
    } else {
        at = run(text, at, PATH_SEGMENTS);
        c.path_end = at as u32;
        if c.form != LegacyForm::NetPath && c.path_end > c.path_start {
            let is_absolute = text[c.path_start as usize] == b'/';
            c.form = if is_absolute { LegacyForm::AbsPath } else { LegacyForm::RelPath };
        }
        if text.get(at) == Some(&b'?') {
            at = run(text, at + 1, uric);
        }
        c.query_end = at as u32;
    }
    if text.get(at) == Some(&b'#') {
        at = run(text, at + 1, uric);
    }
    if at < text.len() { Err(fault(text, at)) } else { Ok(c) }
}

/// The error of the byte at `at`, which its part may not hold.
#[cold]
fn fault(text: &[u8], at: usize) -> UriError {
    UriError::new(UriErrorKind::of_byte(text[at]), at)
}

/// The end of the longest run of bytes of `class` and of `escaped` that starts at `at`.
fn run(text: &[u8], at: usize, class: ByteClass) -> usize {
    run_of(text, at, text.len(), class)
}

/// [`run`], of characters that begin before `limit`.
fn run_of(text: &[u8], mut at: usize, limit: usize, class: ByteClass) -> usize {
    while at < limit && at < text.len() {
        match &text[at..] {
            [byte, ..] if class.has(*byte) => at += 1,
            [b'%', high, low, ..] if HEXDIG.has(*high) && HEXDIG.has(*low) => at += 3,
            _ => break,
        }
    }
    at
}

/// The offset of the `:` after the scheme; `None` for a relativeURI.
fn scheme(text: &[u8]) -> Result<Option<usize>, UriError> {
    let end = text.iter().position(|&byte| !SCHEME.has(byte)).unwrap_or(text.len());
    if text.get(end) == Some(&b':') && ALPHA.has(text[0]) {
        return Ok(Some(end));
    }
    let end = run(text, 0, REL_SEGMENT);
    match text.get(end) {
        None | Some(b'/' | b'?' | b'#') => Ok(None),
        Some(b':') => {
            let refused = |at: usize| !SCHEME.has(text[at]) || at == 0 && !ALPHA.has(text[0]);
            let at = (0..end).find(|&at| refused(at)).unwrap_or(end);
            Err(UriError::new(UriErrorKind::Scheme, at))
        }
        Some(_) => Err(fault(text, end)),
    }
}

/// Checks the authority that starts at `start`, notes what it is, and returns its end.
fn authority(
    text: &[u8],
    start: usize,
    legacy: Legacy,
    c: &mut LegacyComponents,
) -> Result<usize, UriError> {
    let rest = &text[start..];
    let len = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (end, name) = (start + len, &rest[..len]);
    c.authority_start = start as u32;
    if name.is_empty() {
        c.authority = LegacyAuthority::EmptyServer;
    } else if let Some((kind, host_start, host_end)) = server(name, legacy) {
        c.authority = kind;
        c.host_start = (start + host_start) as u32;
        c.host_end = (start + host_end) as u32;
    } else {
        let fault_at = run(name, 0, REG_NAME);
        if fault_at < len {
            let is_host_start = fault_at == 0 || name[fault_at - 1] == b'@';
            let error = fault(name, fault_at);
            let is_literal = legacy.has_rfc2732 && name[fault_at] == b'[' && is_host_start;
            let kind = if is_literal { UriErrorKind::IpLiteral } else { error.kind };
            return Err(UriError::new(kind, start + fault_at));
        }
        c.authority = LegacyAuthority::RegName;
    }
    Ok(end)
}

/// The kind and the range of the host in the `server` `name`, which is not empty; `None` if it is
/// not a server.
fn server(name: &[u8], legacy: Legacy) -> Option<(LegacyAuthority, usize, usize)> {
    let mut start = 0;
    if let Some(at_sign) = name.iter().position(|&byte| byte == b'@') {
        if run(&name[..at_sign], 0, USERINFO) != at_sign {
            return None;
        }
        start = at_sign + 1;
    }
    let hostport = &name[start..];
    let (kind, len) = if legacy.has_rfc2732 && hostport.starts_with(b"[") {
        let close = hostport.iter().position(|&byte| byte == b']')?;
        parse_ipv6(&hostport[1..close])?;
        (LegacyAuthority::Ipv6, close + 1)
    } else {
        let len = hostport.iter().position(|&byte| byte == b':').unwrap_or(hostport.len());
        let host = &hostport[..len];
        if is_hostname(host) {
            (LegacyAuthority::Hostname, len)
        } else if is_ipv4(host, legacy) {
            (LegacyAuthority::Ipv4, len)
        } else {
            return None;
        }
    };
    let is_port = |digits: &[u8]| digits.iter().all(|&byte| DIGIT.has(byte));
    let has_end = match &hostport[len..] {
        [] => true,
        [b':', digits @ ..] => is_port(digits),
        _ => false,
    };
    has_end.then_some((kind, start, start + len))
}

fn without_last_dot(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".").unwrap_or(name)
}

/// `hostname = *( domainlabel "." ) toplabel [ "." ]`
pub(super) fn is_hostname(name: &[u8]) -> bool {
    let name = without_last_dot(name);
    let (mut before, mut top, mut is_one) = (b'.', 0, true);
    for (at, &byte) in name.iter().enumerate() {
        // A label neither begins nor ends with a hyphen.
        is_one &= match byte {
            b'.' => !matches!(before, b'.' | b'-'),
            b'-' => before != b'.',
            _ => ALPHANUM.has(byte),
        };
        top = if byte == b'.' { at + 1 } else { top };
        before = byte;
    }
    is_one && before != b'-' && name.get(top).is_some_and(|&byte| ALPHA.has(byte))
}

/// `IPv4address = 1*digit "." 1*digit "." 1*digit "." 1*digit`; at most three digits each by RFC 2732.
fn is_ipv4(host: &[u8], legacy: Legacy) -> bool {
    let is_group = |group: &[u8]| {
        !group.is_empty()
            && group.iter().all(|&byte| DIGIT.has(byte))
            && !(legacy.has_rfc2732 && group.len() > 3)
    };
    let mut groups = host.split(|&byte| byte == b'.');
    groups.by_ref().take(4).filter(|group| is_group(group)).count() == 4 && groups.next().is_none()
}
