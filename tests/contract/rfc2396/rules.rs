//! RFC 2396 Appendix A, transcribed rule by rule, and the changes of RFC 2732 as its variant.
//!
//! Each rule is one function of the same name, in the order of the appendix, and uses nothing from
//! the library.

use crate::appendix_a::at::At;

/// `[ absoluteURI | relativeURI ] [ "#" fragment ]`, and the query alone that appendix C.1 resolves
/// but the BNF does not derive.
pub(crate) fn uri_reference(at: At<'_>) -> At<'_> {
    let start = at.any(&[|at| at, absolute_uri, relative_uri, |at| at.lit("?").then(query)]);
    start.opt(|at| at.lit("#").then(fragment))
}

pub(crate) fn absolute_uri(at: At<'_>) -> At<'_> {
    at.then(scheme).lit(":").any(&[hier_part, opaque_part])
}

pub(crate) fn relative_uri(at: At<'_>) -> At<'_> {
    at.any(&[net_path, abs_path, rel_path]).opt(|at| at.lit("?").then(query))
}

pub(crate) fn hier_part(at: At<'_>) -> At<'_> {
    at.any(&[net_path, abs_path]).opt(|at| at.lit("?").then(query))
}

pub(crate) fn opaque_part(at: At<'_>) -> At<'_> {
    at.then(uric_no_slash).star(uric)
}

pub(crate) fn uric_no_slash(at: At<'_>) -> At<'_> {
    at.any(&[unreserved, escaped, |at| at.one_of(";?:@&=+$,")])
}

pub(crate) fn net_path(at: At<'_>) -> At<'_> {
    at.lit("//").then(authority).opt(abs_path)
}

pub(crate) fn abs_path(at: At<'_>) -> At<'_> {
    at.lit("/").then(path_segments)
}

pub(crate) fn rel_path(at: At<'_>) -> At<'_> {
    at.then(rel_segment).opt(abs_path)
}

pub(crate) fn rel_segment(at: At<'_>) -> At<'_> {
    at.plus(|at| at.any(&[unreserved, escaped, |at| at.one_of(";@&=+$,")]))
}

pub(crate) fn scheme(at: At<'_>) -> At<'_> {
    at.then(alpha).star(|at| at.any(&[alpha, digit, |at| at.one_of("+-.")]))
}

pub(crate) fn authority(at: At<'_>) -> At<'_> {
    at.any(&[server, reg_name])
}

pub(crate) fn reg_name(at: At<'_>) -> At<'_> {
    at.plus(|at| at.any(&[unreserved, escaped, |at| at.one_of("$,;:@&=+")]))
}

pub(crate) fn server(at: At<'_>) -> At<'_> {
    at.opt(|at| at.opt(|at| at.then(userinfo).lit("@")).then(hostport))
}

pub(crate) fn userinfo(at: At<'_>) -> At<'_> {
    at.star(|at| at.any(&[unreserved, escaped, |at| at.one_of(";:&=+$,")]))
}

pub(crate) fn hostport(at: At<'_>) -> At<'_> {
    at.then(host).opt(|at| at.lit(":").then(port))
}

pub(crate) fn host(at: At<'_>) -> At<'_> {
    let plain = at.any(&[hostname, ipv4address]);
    if at.is_variant { plain.or(at.then(ipv6reference)) } else { plain }
}

/// RFC 2732, with the addresses of RFC 2373 section 2.2 as parsed by the standard library.
pub(crate) fn ipv6reference(at: At<'_>) -> At<'_> {
    let is_address = |text: &[u8]| {
        let text = std::str::from_utf8(text).unwrap_or("");
        text.parse::<std::net::Ipv6Addr>().is_ok()
    };
    at.lit("[").run_of(is_address).lit("]")
}

pub(crate) fn hostname(at: At<'_>) -> At<'_> {
    at.star(|at| at.then(domainlabel).lit(".")).then(toplabel).opt(|at| at.lit("."))
}

pub(crate) fn domainlabel(at: At<'_>) -> At<'_> {
    at.any(&[alphanum, |at| at.then(alphanum).star(alphanum_or_hyphen).then(alphanum)])
}

pub(crate) fn toplabel(at: At<'_>) -> At<'_> {
    at.any(&[alpha, |at| at.then(alpha).star(alphanum_or_hyphen).then(alphanum)])
}

fn alphanum_or_hyphen(at: At<'_>) -> At<'_> {
    at.any(&[alphanum, |at| at.lit("-")])
}

/// `1*digit "." …`; `1*3DIGIT` by RFC 2373, with which RFC 2732 replaces it.
pub(crate) fn ipv4address(at: At<'_>) -> At<'_> {
    fn group(at: At<'_>) -> At<'_> {
        if at.is_variant { at.then(digit).at_most(2, digit) } else { at.plus(digit) }
    }
    at.then(group).lit(".").then(group).lit(".").then(group).lit(".").then(group)
}

pub(crate) fn port(at: At<'_>) -> At<'_> {
    at.star(digit)
}

pub(crate) fn path_segments(at: At<'_>) -> At<'_> {
    at.then(segment).star(|at| at.lit("/").then(segment))
}

pub(crate) fn segment(at: At<'_>) -> At<'_> {
    at.star(pchar).star(|at| at.lit(";").then(param))
}

pub(crate) fn param(at: At<'_>) -> At<'_> {
    at.star(pchar)
}

pub(crate) fn pchar(at: At<'_>) -> At<'_> {
    at.any(&[unreserved, escaped, |at| at.one_of(":@&=+$,")])
}

pub(crate) fn query(at: At<'_>) -> At<'_> {
    at.star(uric)
}

pub(crate) fn fragment(at: At<'_>) -> At<'_> {
    at.star(uric)
}

pub(crate) fn uric(at: At<'_>) -> At<'_> {
    at.any(&[reserved, unreserved, escaped])
}

pub(crate) fn reserved(at: At<'_>) -> At<'_> {
    let plain = at.one_of(";/?:@&=+$,");
    if at.is_variant { plain.or(at.one_of("[]")) } else { plain }
}

pub(crate) fn unreserved(at: At<'_>) -> At<'_> {
    at.any(&[alphanum, mark])
}

pub(crate) fn mark(at: At<'_>) -> At<'_> {
    at.one_of("-_.!~*'()")
}

pub(crate) fn escaped(at: At<'_>) -> At<'_> {
    at.lit("%").then(hex).then(hex)
}

pub(crate) fn hex(at: At<'_>) -> At<'_> {
    at.any(&[digit, |at| at.one_of("ABCDEFabcdef")])
}

pub(crate) fn alphanum(at: At<'_>) -> At<'_> {
    at.any(&[alpha, digit])
}

pub(crate) fn alpha(at: At<'_>) -> At<'_> {
    at.any(&[|at| at.range(0x41, 0x5A), |at| at.range(0x61, 0x7A)])
}

pub(crate) fn digit(at: At<'_>) -> At<'_> {
    at.range(0x30, 0x39)
}
