//! Other spellings of a URI, each with a known level at which it is equivalent to the canonical one.
//!
//! A spelling is a pair: `form` is the number of a difference that only level `scheme` removes (0
//! for none), and `marks` is a set of differences that level `syntax` removes. Both are applied by
//! fixed rules from (seed, id, form, marks), and each leaves a trace that the other edits can
//! neither leave nor remove (a port, a capital in scheme or host, a small hex digit in a needed
//! triplet, a triplet of an unreserved character, a dot segment). So the text determines the pair:
//! different spellings of one id have different bytes, and spellings with one form are equivalent
//! at level `syntax`.

use std::ops::Range;

use super::draw::{Draw, derive};
use super::uri::{Host, Scheme, Uri};
use super::vocabulary::IDN;

/// Capitals in the scheme or the host.
pub(crate) const CASE: u8 = 1;
/// Small hex digits in the triplets that a URI needs.
pub(crate) const SMALL_HEX: u8 = 2;
/// One or two unreserved characters encoded.
pub(crate) const ENCODED: u8 = 4;
/// A dot segment in the path.
pub(crate) const DOTS: u8 = 8;
/// Forms are numbers below this one.
pub(crate) const FORMS: u8 = 4;

/// A spelling of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The difference that level `scheme` removes: 0 for none; 1 to 3 depend on the URI.
    pub(crate) form: u8,
    /// The differences that level `syntax` removes: a set of [`CASE`], [`SMALL_HEX`], [`ENCODED`],
    /// [`DOTS`].
    pub(crate) marks: u8,
}

impl Spelling {
    /// The spelling's bit among the 64 of its id; the canonical spelling is bit 0.
    pub(crate) const fn bit(self) -> u32 {
        self.form as u32 * 16 + self.marks as u32
    }

    /// The spelling of a bit below 64.
    pub(crate) const fn of_bit(bit: u32) -> Spelling {
        Spelling { form: (bit / 16) as u8, marks: (bit % 16) as u8 }
    }
}

/// The edit of a form.
#[derive(Clone, Copy)]
enum Edit {
    Port(&'static str),
    /// The given port with this many leading zeros.
    Zeros(usize),
    NoPath,
    /// The UTF-8 of an internationalized label, in triplets.
    Unicode(usize),
    LongIpv6,
    Localhost,
    /// The path from its start to the first `:`, or after its `@`, in capitals; all or the first letter.
    Capitals {
        all: bool,
    },
}

fn edit_of(uri: &Uri, form: u8) -> Option<Edit> {
    match uri.scheme {
        Scheme::File => return (form == 1).then_some(Edit::Localhost),
        Scheme::Mailto | Scheme::Urn => {
            return (form <= 2).then_some(Edit::Capitals { all: form == 1 });
        }
        _ => {}
    }
    let (port, zero_port) = uri.scheme.default_port()?;
    match (form, uri.has_port()) {
        (1 | 2, true) => Some(Edit::Zeros(form.into())),
        (1, false) => Some(Edit::Port(port)),
        (2, false) => Some(Edit::Port(":")),
        _ => match uri.host_kind {
            Host::Idn(row) => Some(Edit::Unicode(row)),
            Host::Ipv6 => Some(Edit::LongIpv6),
            _ if uri.path.len() == 1 && uri.scheme.empty_path_is_root() => Some(Edit::NoPath),
            _ if !uri.has_port() => Some(Edit::Port(zero_port)),
            _ => None,
        },
    }
}

/// Whether `form` exists for this canonical URI; 0 always does.
pub(crate) fn has_form(uri: &Uri, form: u8) -> bool {
    form == 0 || edit_of(uri, form).is_some()
}

/// Applies a form that exists for the canonical URI in `uri`.
pub(crate) fn apply_form(uri: &mut Uri, form: u8) {
    if form == 0 {
        return;
    }
    match edit_of(uri, form) {
        Some(Edit::Port(port)) => uri.set_port(port.as_bytes()),
        Some(Edit::Zeros(count)) => {
            let mut port = [b'0'; 8];
            port[0] = b':';
            let digits = &uri.text[uri.host.end + 1..uri.path.start];
            let len = 1 + count + digits.len();
            port[1 + count..len].copy_from_slice(digits);
            uri.set_port(&port[..len]);
        }
        Some(Edit::NoPath) => uri.edit_path(uri.path.clone(), b""),
        Some(Edit::Unicode(row)) => {
            let (label, utf8) = IDN[row];
            let host = &uri.text[uri.host.clone()];
            let at = host.windows(label.len()).position(|text| text == label.as_bytes());
            let at = uri.host.start + at.expect("the host holds its label");
            uri.edit_host(at..at + label.len(), utf8.as_bytes());
        }
        Some(Edit::LongIpv6) => {
            let at = uri.host.start + "[2001:db8:".len();
            uri.edit_host(at..at + 1, b"0:0:0:0:");
        }
        Some(Edit::Localhost) => uri.edit_host(uri.host.clone(), b"localhost"),
        Some(Edit::Capitals { all }) => {
            let path = &mut uri.text[uri.path.clone()];
            let part = if uri.scheme == Scheme::Urn {
                let end = path.iter().position(|&b| b == b':').expect("a URN has a namespace");
                &mut path[..end]
            } else {
                let at = path.iter().position(|&b| b == b'@').expect("a mail address has a domain");
                &mut path[at + 1..]
            };
            let len = if all { part.len() } else { 1 };
            part[..len].make_ascii_uppercase();
        }
        None => unreachable!("a form is applied where it exists"),
    }
}

/// The marks that exist for a URI to which its form was applied.
pub(crate) fn marks_of(uri: &Uri) -> u8 {
    let mut marks = CASE;
    let has_letter = |at: usize| uri.text[at..].iter().take(3).any(u8::is_ascii_uppercase);
    if (0..uri.text.len()).any(|at| uri.text[at] == b'%' && has_letter(at)) {
        marks |= SMALL_HEX;
    }
    if !encodable(uri).is_empty() {
        marks |= ENCODED;
    }
    if uri.authority && !uri.path.is_empty() {
        marks |= DOTS;
    }
    marks
}

/// Applies marks that exist for `uri`, to which `form` was applied.
pub(crate) fn apply_marks(uri: &mut Uri, marks: u8, seed: u64, id: u32, form: u8) {
    if marks == 0 {
        return;
    }
    let spelling = Spelling { form, marks };
    let mut draw = Draw::new(derive(
        derive(seed, 0x0073_7065_6C6C),
        u64::from(id) << 6 | u64::from(spelling.bit()),
    ));
    if marks & CASE != 0 {
        put_capitals(uri, &mut draw);
    }
    if marks & SMALL_HEX != 0 {
        for at in 0..uri.text.len() {
            if uri.text[at] == b'%' {
                uri.text[at..at + 3].make_ascii_lowercase();
            }
        }
    }
    if marks & ENCODED != 0 {
        encode(uri, &mut draw);
    }
    if marks & DOTS != 0 {
        put_dots(uri, &mut draw);
    }
}

fn put_capitals(uri: &mut Uri, draw: &mut Draw) {
    let scheme = uri.scheme.name().len() - 1;
    let style = draw.below(5);
    let mut changed = false;
    if style >= 2 {
        let mut first = true;
        let mut at = uri.host.start;
        while at < uri.host.end {
            let byte = uri.text[at];
            if byte == b'%' {
                at += 3;
                first = false;
                continue;
            }
            // All letters, or the first of each label.
            if byte.is_ascii_lowercase() && (style == 2 || first) {
                uri.text[at] = byte.to_ascii_uppercase();
                changed = true;
            }
            first = byte == b'.';
            at += 1;
        }
    }
    if style < 2 || style == 4 || !changed {
        let end = if style == 0 { 1 } else { scheme };
        uri.text[..end].make_ascii_uppercase();
    }
}

/// Whether encoding the byte at `at` leaves an unambiguous trace.
///
/// A capital of the host is not encoded, since it is the trace of [`CASE`].
fn is_encodable(uri: &Uri, at: usize) -> bool {
    let byte = uri.text[at];
    let in_triplet = uri.text[at - 1] == b'%' || uri.text[at - 2] == b'%';
    let in_host = at < uri.host.end;
    !in_triplet
        && (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
        && !(in_host && byte.is_ascii_uppercase())
}

/// The range in which a character is encoded; empty if there is none to encode.
fn encodable(uri: &Uri) -> Range<usize> {
    let range = match uri.scheme {
        // RFC 8141 compares URNs without decoding, so nothing is encoded there.
        Scheme::Urn => 0..0,
        Scheme::Mailto => {
            let at = uri.text.iter().position(|&b| b == b'@').expect("a mail address has a domain");
            uri.path.start..at
        }
        _ => uri.path.start..uri.text.len(),
    };
    if range.clone().any(|at| is_encodable(uri, at)) {
        range
    } else if uri.host_kind == Host::Name {
        // A host has at least dots.
        uri.host.clone()
    } else {
        0..0
    }
}

/// Encodes one unreserved character, or two.
fn encode(uri: &mut Uri, draw: &mut Draw) {
    // Sometimes in the host, even if the path would do: `%45x` is `ex` there.
    let prefer_host = uri.host_kind == Host::Name && draw.per_mille(60);
    for _ in 0..1 + u32::from(draw.per_mille(200)) {
        let range = if prefer_host { uri.host.clone() } else { encodable(uri) };
        if range.is_empty() {
            return;
        }
        let start = draw.below(range.len() as u32) as usize;
        let mut turn = (0..range.len()).map(|step| range.start + (start + step) % range.len());
        let Some(at) = turn.find(|&at| is_encodable(uri, at)) else {
            return;
        };
        let in_host = at < uri.host.end;
        // In a host the capital means the same letter: it is lower-cased once decoded.
        let capital = in_host && draw.per_mille(500);
        let byte = if capital { uri.text[at].to_ascii_uppercase() } else { uri.text[at] };
        let digits = if draw.per_mille(700) { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        let triplet = [b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]];
        if in_host {
            uri.edit_host(at..at + 1, &triplet);
        } else if at < uri.path.end {
            uri.edit_path(at..at + 1, &triplet);
        } else {
            uri.edit_tail(at..at + 1, &triplet);
        }
    }
}

/// Writes a dot segment that 5.2.4 removes together with the segment that it undoes.
fn put_dots(uri: &mut Uri, draw: &mut Draw) {
    let path = uri.path.clone();
    if draw.per_mille(150) && uri.text[path.end - 1] == b'/' {
        let dot = if draw.per_mille(700) { "." } else { "%2e" };
        return uri.edit_path(path.end..path.end, dot.as_bytes());
    }
    let slashes = uri.text[path.clone()].iter().filter(|&&b| b == b'/').count();
    let chosen = draw.below(slashes as u32) as usize;
    let mut slash =
        uri.text[path.clone()].iter().enumerate().filter(|&(_, &b)| b == b'/').map(|(at, _)| at);
    let at = path.start + slash.nth(chosen).expect("counted above");
    let inserted = match draw.below(20) {
        // Above the root there is nothing to undo.
        0..3 if chosen == 0 => "/..",
        0..9 => "/.",
        9..15 => "/old/..",
        15 => "/%2e",
        16 => "/%2E",
        17 => "/img/%2e%2E",
        18 => "/a/b/../..",
        _ => "/x/.%2e",
    };
    uri.edit_path(at..at, inserted.as_bytes());
}
