//! Maps an id to its canonical URI: the one spelling that level `scheme` does not change.

use super::draw::{Draw, derive};
use super::site::Site;
use super::token::{Form, Token, push_decimal, push_hex};
use super::uri::{Scheme, Uri};
use super::vocabulary::{
    DELIMITED, ENCODED, EXTENSIONS, GROUPS, KEYS, NAMESPACES, PEOPLE, PORTS, SHORT, TITLES, USERS,
    VALUES, WORDS,
};

/// The position of the token in a web address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Path,
    Query,
}

/// Writes the canonical URI of `id` under `seed` into `uri`.
///
/// A pure function of `(seed, id)`; different ids give different URIs.
pub(crate) fn write(uri: &mut Uri, seed: u64, id: u32) {
    let mut draw = Draw::new(derive(seed, u64::from(id)));
    let token = Token::new(seed, id);
    if draw.per_mille(38) {
        write_other(uri, seed, token, &mut draw);
    } else {
        write_web(uri, seed, token, &mut draw);
    }
}

fn write_web(uri: &mut Uri, seed: u64, token: Token, draw: &mut Draw) {
    let site = Site::draw(seed, draw);
    let place = match draw.below(100) {
        0..7 => Place::Host,
        7..31 => Place::Query,
        _ => Place::Path,
    };
    uri.begin(if site.is_plain_http() { Scheme::Http } else { Scheme::Https }, true);
    write_authority(uri, site, (place == Place::Host).then_some(token), draw);
    let root = match place {
        Place::Host => draw.per_mille(600),
        Place::Query => draw.per_mille(80),
        Place::Path => false,
    };
    if root {
        uri.push("/");
    } else {
        write_path(uri, site, (place == Place::Path).then_some(token), draw);
    }
    uri.path.end = uri.text.len();
    if place == Place::Query || draw.per_mille(145) {
        write_query(uri, (place == Place::Query).then_some(token), draw);
    }
    if draw.per_mille(30) {
        uri.push(if draw.per_mille(100) { "#/" } else { "#" });
        draw.one_of(&WORDS).write(&mut uri.text);
        if draw.per_mille(300) {
            uri.push("-");
            draw.one_of(&WORDS).write(&mut uri.text);
        }
    }
}

/// Occasionally userinfo, the host, occasionally a port; the path begins after it.
fn write_authority(uri: &mut Uri, site: Site, token: Option<Token>, draw: &mut Draw) {
    if draw.per_mille(1) {
        uri.push(draw.one_of(&USERS));
    }
    let form = if draw.per_mille(500) { Form::Base36 } else { Form::Hex };
    site.write_host(uri, token.map(|token| (token, form)));
    if draw.per_mille(8) {
        uri.push(draw.one_of(&PORTS));
    }
    let end = uri.text.len();
    uri.path = end..end;
}

/// One to six segments; the token, if any, mostly in the last.
fn write_path(uri: &mut Uri, site: Site, token: Option<Token>, draw: &mut Draw) {
    let count = match draw.below(100) {
        0..9 => 1,
        9..29 => 2,
        29..55 => 3,
        55..77 => 4,
        77..91 => 5,
        _ => 6,
    };
    let token_at = if draw.per_mille(780) { count - 1 } else { draw.below(count) };
    let mut is_file = false;
    for at in 0..count {
        uri.push("/");
        if draw.below(4000) == 0 {
            // An empty segment: `//` in a path stays.
            uri.push("/");
        }
        is_file = match token {
            Some(token) if at == token_at => write_token_segment(uri, token, draw),
            _ if at == 0 && draw.per_mille(500) => {
                site.section(draw.below(6)).write(&mut uri.text);
                false
            }
            _ => write_segment(uri, at + 1 == count, draw),
        };
    }
    if !is_file && draw.per_mille(330) {
        uri.push("/");
    }
}

/// Writes a segment that holds the token; returns whether it is a file name.
fn write_token_segment(uri: &mut Uri, token: Token, draw: &mut Draw) -> bool {
    let form = match draw.below(100) {
        0..55 => Form::Decimal,
        55..75 => Form::Base36,
        75..90 => Form::Hex,
        _ => Form::Upper36,
    };
    match draw.below(100) {
        0..24 => {
            token.write(form, &mut uri.text);
            false
        }
        24..50 => {
            write_slug(uri, 2 + draw.below(4), draw);
            uri.push("-");
            token.write(form, &mut uri.text);
            false
        }
        50..62 => {
            token.write(form, &mut uri.text);
            uri.push("-");
            write_slug(uri, 2 + draw.below(4), draw);
            false
        }
        62..68 => {
            uri.push(draw.one_of(&TITLES));
            uri.push("_");
            token.write(form, &mut uri.text);
            false
        }
        68..72 => {
            uri.push(draw.one_of(&ENCODED));
            uri.push("-");
            token.write(form, &mut uri.text);
            false
        }
        72..88 => {
            write_slug(uri, 1 + draw.below(3), draw);
            uri.push(if draw.per_mille(800) { "-" } else { "_" });
            token.write(form, &mut uri.text);
            draw.one_of(&EXTENSIONS).write(&mut uri.text);
            true
        }
        _ => {
            token.write(form, &mut uri.text);
            draw.one_of(&EXTENSIONS).write(&mut uri.text);
            true
        }
    }
}

/// Writes a segment without a token; returns whether it is a file name.
fn write_segment(uri: &mut Uri, last: bool, draw: &mut Draw) -> bool {
    match draw.below(100) {
        0..42 => draw.one_of(&WORDS).write(&mut uri.text),
        42..56 => write_slug(uri, 2 + draw.below(3), draw),
        56..64 => push_decimal(&mut uri.text, u64::from(draw.below(2000))),
        64..70 => {
            push_decimal(&mut uri.text, 2000 + u64::from(draw.below(26)));
            uri.push("/");
            let month = 1 + draw.below(12);
            uri.push(if month < 10 { "0" } else { "" });
            push_decimal(&mut uri.text, u64::from(month));
        }
        70..80 => uri.push(draw.one_of(&SHORT)),
        80..87 => uri.push(draw.one_of(&TITLES)),
        87..92 => uri.push(draw.one_of(&ENCODED)),
        92..95 => uri.push(draw.one_of(&DELIMITED)),
        95..96 => write_digest(uri, draw),
        _ if last => {
            draw.one_of(&WORDS).write(&mut uri.text);
            draw.one_of(&EXTENSIONS).write(&mut uri.text);
            return true;
        }
        _ => draw.one_of(&WORDS).write(&mut uri.text),
    }
    false
}

/// Words joined by `-`.
fn write_slug(uri: &mut Uri, words: u32, draw: &mut Draw) {
    for word in 0..words {
        if word > 0 {
            uri.push("-");
        }
        draw.one_of(&WORDS).write(&mut uri.text);
    }
}

/// 32 hexadecimal digits, as of an MD5: too long for a token.
fn write_digest(uri: &mut Uri, draw: &mut Draw) {
    for _ in 0..2 {
        // A first digit that is not 0 makes 16 of them.
        let bits = draw.bits() | 1 << 60;
        push_hex(&mut uri.text, bits);
    }
}

/// `?` and one to four parameters, the token, if any, in one of them.
fn write_query(uri: &mut Uri, token: Option<Token>, draw: &mut Draw) {
    let count = match draw.below(100) {
        0..58 => 1,
        58..83 => 2,
        83..94 => 3,
        _ => 4,
    };
    let token_at = draw.below(count);
    for at in 0..count {
        uri.push(if at == 0 { "?" } else { "&" });
        draw.one_of(&KEYS).write(&mut uri.text);
        match token {
            Some(token) if at == token_at => {
                uri.push("=");
                let form = match draw.below(10) {
                    0..6 => Form::Decimal,
                    6..8 => Form::Hex,
                    8 => Form::Base36,
                    _ => Form::Upper36,
                };
                token.write(form, &mut uri.text);
            }
            _ => write_value(uri, draw),
        }
    }
}

fn write_value(uri: &mut Uri, draw: &mut Draw) {
    let kind = draw.below(100);
    if kind < 2 {
        return;
    }
    uri.push("=");
    match kind {
        0..40 => draw.one_of(&WORDS).write(&mut uri.text),
        40..65 => push_decimal(&mut uri.text, u64::from(draw.below(3000))),
        65..96 => uri.push(draw.one_of(&VALUES)),
        _ => write_digest(uri, draw),
    }
}

/// The few percent that are not web addresses.
fn write_other(uri: &mut Uri, seed: u64, token: Token, draw: &mut Draw) {
    match draw.below(38) {
        0..8 => write_ftp(uri, seed, token, draw),
        8..16 => return write_mailto(uri, seed, token, draw),
        16..20 => {
            uri.begin(Scheme::Urn, false);
            uri.push(draw.one_of(&NAMESPACES));
            token.write(Form::Decimal, &mut uri.text);
        }
        20..22 => {
            uri.begin(Scheme::News, false);
            uri.push(draw.one_of(&GROUPS));
            token.write(Form::Base36, &mut uri.text);
        }
        22..25 => {
            uri.begin(Scheme::Tel, false);
            uri.push("+");
            token.write(Form::Decimal, &mut uri.text);
        }
        25..28 => {
            let site = Site::draw(seed, draw);
            uri.begin(if draw.per_mille(300) { Scheme::Ws } else { Scheme::Wss }, true);
            let in_host = draw.per_mille(200);
            write_authority(uri, site, in_host.then_some(token), draw);
            uri.push("/");
            if !in_host {
                uri.push("socket/");
                token.write(Form::Hex, &mut uri.text);
            }
        }
        28..30 => write_sip(uri, seed, token, draw),
        30..32 => {
            let site = Site::draw(seed, draw);
            uri.begin(Scheme::Ldap, true);
            write_authority(uri, site, None, draw);
            uri.push("/ou=People,dc=");
            draw.one_of(&WORDS).write(&mut uri.text);
            uri.path.end = uri.text.len();
            uri.push("?cn?sub?(uid=");
            token.write(Form::Base36, &mut uri.text);
            uri.push(")");
            return;
        }
        32..36 => {
            uri.begin(Scheme::File, true);
            uri.push("/home/");
            uri.push(draw.one_of(&PEOPLE));
            uri.push("/");
            uri.push(draw.one_of(&TITLES));
            uri.push("/");
            write_token_segment(uri, token, draw);
        }
        _ => {
            uri.begin(Scheme::Data, false);
            if draw.per_mille(500) {
                uri.push("text/plain;charset=utf-8,");
                uri.push(draw.one_of(&ENCODED));
                uri.push("%20");
                token.write(Form::Decimal, &mut uri.text);
            } else {
                uri.push("image/png;base64,iVBORw+KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ/");
                token.write(Form::Upper36, &mut uri.text);
                uri.push("==");
            }
        }
    }
    uri.path.end = uri.text.len();
}

fn write_ftp(uri: &mut Uri, seed: u64, token: Token, draw: &mut Draw) {
    let site = Site::draw(seed, draw);
    uri.begin(Scheme::Ftp, true);
    write_authority(uri, site, None, draw);
    uri.push("/pub/");
    write_slug(uri, 1, draw);
    uri.push("/");
    write_token_segment(uri, token, draw);
}

/// Sets the end of the path itself.
fn write_mailto(uri: &mut Uri, seed: u64, token: Token, draw: &mut Draw) {
    let site = Site::draw(seed, draw);
    uri.begin(Scheme::Mailto, false);
    uri.push(draw.one_of(&PEOPLE));
    uri.push(".");
    token.write(Form::Base36, &mut uri.text);
    uri.push("@");
    // The domain is not a host: mailto has no authority (RFC 6068).
    site.write_domain(&mut uri.text);
    uri.path.end = uri.text.len();
    if draw.per_mille(150) {
        uri.push("?subject=");
        uri.push(draw.one_of(&ENCODED));
    }
}

fn write_sip(uri: &mut Uri, seed: u64, token: Token, draw: &mut Draw) {
    let site = Site::draw(seed, draw);
    uri.begin(Scheme::Sip, false);
    uri.push(draw.one_of(&PEOPLE));
    uri.push("-");
    token.write(Form::Base36, &mut uri.text);
    uri.push("@");
    site.write_domain(&mut uri.text);
    if draw.per_mille(300) {
        uri.push(";transport=tcp");
    }
}
