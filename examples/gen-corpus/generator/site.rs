//! Hosts: a fixed population for each seed, a few of them very popular.

use super::draw::{Draw, derive};
use super::token::{Form, Token, push_decimal, push_hex};
use super::uri::{Host, Uri};
use super::vocabulary::{IDN, SUBDOMAINS, SUFFIXES, SYLLABLES, WORDS, Word};

/// Sites are ranks below 2 to this power.
const RANK_BITS: u32 = 20;

/// One site; all its properties follow from its rank and the seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    seed: u64,
    rank: u64,
}

impl Site {
    /// Draws a site by Zipf's law: the probability of a rank falls as 1 / rank.
    ///
    /// Each power of two of ranks is equally likely, which approximates that law in steps and needs
    /// no floating point.
    pub(crate) fn draw(seed: u64, draw: &mut Draw) -> Site {
        let power = draw.below(RANK_BITS);
        let rank = (1u64 << power) + draw.below_u64(1 << power);
        Site { seed: derive(derive(seed, 0x7369_7465), rank), rank }
    }

    /// Whether the site serves `http` rather than `https`.
    pub(crate) fn is_plain_http(self) -> bool {
        self.seed % 100 < 14
    }

    /// The `n`th section of the site, for first path segments: sites have few.
    pub(crate) fn section(self, n: u32) -> Word {
        let word = derive(self.seed, u64::from(n)) % WORDS.len() as u64;
        WORDS[word as usize]
    }

    /// Writes the host into `uri`, with `token` in its name if there is one.
    ///
    /// Sets the kind and range of the host; port and path start at its end.
    pub(crate) fn write_host(self, uri: &mut Uri, token: Option<(Token, Form)>) {
        let start = uri.text.len();
        let mut draw = Draw::new(self.seed);
        let odd = draw.below(1000);
        uri.host_kind = match token {
            // The most popular sites are ordinary ones, so that no seed gives an odd corpus.
            None if self.rank >= 64 && odd < 6 => write_ipv4(&mut uri.text, &mut draw),
            None if self.rank >= 64 && odd < 7 => write_ipv6(&mut uri.text, &mut draw),
            None if self.rank >= 64 && odd < 12 => write_idn(&mut uri.text, &mut draw),
            _ => write_name(&mut uri.text, &mut draw, token),
        };
        let end = uri.text.len();
        uri.host = start..end;
        uri.path = end..end;
    }

    /// Appends the site's DNS name alone, always of ASCII letters, for schemes whose domain is not a host.
    pub(crate) fn write_domain(self, out: &mut Vec<u8>) {
        write_name(out, &mut Draw::new(self.seed), None);
    }
}

fn write_name(out: &mut Vec<u8>, draw: &mut Draw, token: Option<(Token, Form)>) -> Host {
    match draw.below(100) {
        0..45 => out.extend_from_slice(b"www."),
        45..65 => {
            out.extend_from_slice(draw.one_of(&SUBDOMAINS).as_bytes());
            out.push(b'.');
        }
        _ => {}
    }
    match draw.below(10) {
        0..3 => {
            draw.one_of(&WORDS).write(out);
            if draw.per_mille(250) {
                out.push(b'-');
            }
            draw.one_of(&WORDS).write(out);
        }
        3..5 => {
            draw.one_of(&WORDS).write(out);
            draw.one_of(&SYLLABLES).write(out);
        }
        _ => {
            for _ in 0..2 + draw.below(3) {
                draw.one_of(&SYLLABLES).write(out);
            }
        }
    }
    if let Some((token, form)) = token {
        out.push(b'-');
        token.write(form, out);
    }
    out.push(b'.');
    draw.one_of(&SUFFIXES).write(out);
    Host::Name
}

fn write_idn(out: &mut Vec<u8>, draw: &mut Draw) -> Host {
    if draw.per_mille(500) {
        out.extend_from_slice(b"www.");
    }
    draw.one_of(&SYLLABLES).write(out);
    out.push(b'.');
    let row = draw.below(IDN.len() as u32) as usize;
    out.extend_from_slice(IDN[row].0.as_bytes());
    out.push(b'.');
    draw.one_of(&SUFFIXES).write(out);
    Host::Idn(row)
}

fn write_ipv4(out: &mut Vec<u8>, draw: &mut Draw) -> Host {
    for octet in 0..4 {
        if octet > 0 {
            out.push(b'.');
        }
        let first = u64::from(octet == 0);
        push_decimal(out, first + u64::from(draw.below(254)));
    }
    Host::Ipv4
}

/// An address in the form of RFC 5952: `[2001:db8::x:y]`, both groups of four digits.
///
/// Neither has the shape of a token: one is short and decimal, the other begins with two letters.
fn write_ipv6(out: &mut Vec<u8>, draw: &mut Draw) -> Host {
    out.extend_from_slice(b"[2001:db8::");
    push_decimal(out, 1000 + u64::from(draw.below(9000)));
    out.push(b':');
    let letters = draw.one_of(&[0xAB00, 0xBE00, 0xCA00, 0xDD00, 0xEF00, 0xFA00]);
    push_hex(out, letters + u64::from(draw.below(0x100)));
    out.push(b']');
    Host::Ipv6
}
