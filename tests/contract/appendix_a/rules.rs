//! RFC 3986 Appendix A, transcribed rule by rule.
//!
//! Each ABNF rule is one function of the same name, in the order of the appendix, and uses nothing
//! from the library.

use super::at::At;

pub(crate) fn uri(at: At<'_>) -> At<'_> {
    at.then(scheme)
        .lit(":")
        .then(hier_part)
        .opt(|at| at.lit("?").then(query))
        .opt(|at| at.lit("#").then(fragment))
}

pub(crate) fn hier_part(at: At<'_>) -> At<'_> {
    at.any(&[
        |at| at.lit("//").then(authority).then(path_abempty),
        path_absolute,
        path_rootless,
        path_empty,
    ])
}

pub(crate) fn uri_reference(at: At<'_>) -> At<'_> {
    at.any(&[uri, relative_ref])
}

pub(crate) fn absolute_uri(at: At<'_>) -> At<'_> {
    at.then(scheme).lit(":").then(hier_part).opt(|at| at.lit("?").then(query))
}

pub(crate) fn relative_ref(at: At<'_>) -> At<'_> {
    at.then(relative_part).opt(|at| at.lit("?").then(query)).opt(|at| at.lit("#").then(fragment))
}

pub(crate) fn relative_part(at: At<'_>) -> At<'_> {
    at.any(&[
        |at| at.lit("//").then(authority).then(path_abempty),
        path_absolute,
        path_noscheme,
        path_empty,
    ])
}

pub(crate) fn scheme(at: At<'_>) -> At<'_> {
    at.then(alpha)
        .star(|at| at.any(&[alpha, digit, |at| at.lit("+"), |at| at.lit("-"), |at| at.lit(".")]))
}

pub(crate) fn authority(at: At<'_>) -> At<'_> {
    at.opt(|at| at.then(userinfo).lit("@")).then(host).opt(|at| at.lit(":").then(port))
}

pub(crate) fn userinfo(at: At<'_>) -> At<'_> {
    at.star(|at| at.any(&[unreserved, pct_encoded, sub_delims, |at| at.lit(":")]))
}

pub(crate) fn host(at: At<'_>) -> At<'_> {
    at.any(&[ip_literal, ipv4address, reg_name])
}

pub(crate) fn port(at: At<'_>) -> At<'_> {
    at.star(digit)
}

pub(crate) fn ip_literal(at: At<'_>) -> At<'_> {
    at.lit("[").any(&[ipv6address, ipvfuture]).lit("]")
}

pub(crate) fn ipvfuture(at: At<'_>) -> At<'_> {
    at.lit("v").plus(hexdig).lit(".").plus(|at| at.any(&[unreserved, sub_delims, |at| at.lit(":")]))
}

pub(crate) fn ipv6address(at: At<'_>) -> At<'_> {
    fn h16_colon(at: At<'_>) -> At<'_> {
        at.then(h16).lit(":")
    }
    at.any(&[
        |at| at.times(6, h16_colon).then(ls32),
        |at| at.lit("::").times(5, h16_colon).then(ls32),
        |at| at.opt(h16).lit("::").times(4, h16_colon).then(ls32),
        |at| {
            at.opt(|at| at.at_most(1, h16_colon).then(h16)).lit("::").times(3, h16_colon).then(ls32)
        },
        |at| {
            at.opt(|at| at.at_most(2, h16_colon).then(h16)).lit("::").times(2, h16_colon).then(ls32)
        },
        |at| {
            at.opt(|at| at.at_most(3, h16_colon).then(h16)).lit("::").then(h16).lit(":").then(ls32)
        },
        |at| at.opt(|at| at.at_most(4, h16_colon).then(h16)).lit("::").then(ls32),
        |at| at.opt(|at| at.at_most(5, h16_colon).then(h16)).lit("::").then(h16),
        |at| at.opt(|at| at.at_most(6, h16_colon).then(h16)).lit("::"),
    ])
}

pub(crate) fn h16(at: At<'_>) -> At<'_> {
    at.then(hexdig).at_most(3, hexdig)
}

pub(crate) fn ls32(at: At<'_>) -> At<'_> {
    at.any(&[|at| at.then(h16).lit(":").then(h16), ipv4address])
}

pub(crate) fn ipv4address(at: At<'_>) -> At<'_> {
    at.then(dec_octet).lit(".").then(dec_octet).lit(".").then(dec_octet).lit(".").then(dec_octet)
}

pub(crate) fn dec_octet(at: At<'_>) -> At<'_> {
    at.any(&[
        digit,
        |at| at.range(0x31, 0x39).then(digit),
        |at| at.lit("1").times(2, digit),
        |at| at.lit("2").range(0x30, 0x34).then(digit),
        |at| at.lit("25").range(0x30, 0x35),
    ])
}

pub(crate) fn reg_name(at: At<'_>) -> At<'_> {
    at.star(|at| at.any(&[unreserved, pct_encoded, sub_delims]))
}

pub(crate) fn path(at: At<'_>) -> At<'_> {
    at.any(&[path_abempty, path_absolute, path_noscheme, path_rootless, path_empty])
}

pub(crate) fn path_abempty(at: At<'_>) -> At<'_> {
    at.star(|at| at.lit("/").then(segment))
}

pub(crate) fn path_absolute(at: At<'_>) -> At<'_> {
    at.lit("/").opt(|at| at.then(segment_nz).star(|at| at.lit("/").then(segment)))
}

pub(crate) fn path_noscheme(at: At<'_>) -> At<'_> {
    at.then(segment_nz_nc).star(|at| at.lit("/").then(segment))
}

pub(crate) fn path_rootless(at: At<'_>) -> At<'_> {
    at.then(segment_nz).star(|at| at.lit("/").then(segment))
}

pub(crate) fn path_empty(at: At<'_>) -> At<'_> {
    at
}

pub(crate) fn segment(at: At<'_>) -> At<'_> {
    at.star(pchar)
}

pub(crate) fn segment_nz(at: At<'_>) -> At<'_> {
    at.plus(pchar)
}

pub(crate) fn segment_nz_nc(at: At<'_>) -> At<'_> {
    at.plus(|at| at.any(&[unreserved, pct_encoded, sub_delims, |at| at.lit("@")]))
}

pub(crate) fn pchar(at: At<'_>) -> At<'_> {
    at.any(&[unreserved, pct_encoded, sub_delims, |at| at.lit(":"), |at| at.lit("@")])
}

pub(crate) fn query(at: At<'_>) -> At<'_> {
    at.star(|at| at.any(&[pchar, |at| at.lit("/"), |at| at.lit("?")]))
}

pub(crate) fn fragment(at: At<'_>) -> At<'_> {
    at.star(|at| at.any(&[pchar, |at| at.lit("/"), |at| at.lit("?")]))
}

pub(crate) fn pct_encoded(at: At<'_>) -> At<'_> {
    at.lit("%").then(hexdig).then(hexdig)
}

pub(crate) fn unreserved(at: At<'_>) -> At<'_> {
    at.any(&[alpha, digit, |at| at.lit("-"), |at| at.lit("."), |at| at.lit("_"), |at| at.lit("~")])
}

pub(crate) fn sub_delims(at: At<'_>) -> At<'_> {
    at.any(&[
        |at| at.lit("!"),
        |at| at.lit("$"),
        |at| at.lit("&"),
        |at| at.lit("'"),
        |at| at.lit("("),
        |at| at.lit(")"),
        |at| at.lit("*"),
        |at| at.lit("+"),
        |at| at.lit(","),
        |at| at.lit(";"),
        |at| at.lit("="),
    ])
}

// The core rules of RFC 5234 appendix B.1.

pub(crate) fn alpha(at: At<'_>) -> At<'_> {
    at.any(&[|at| at.range(0x41, 0x5A), |at| at.range(0x61, 0x7A)])
}

pub(crate) fn digit(at: At<'_>) -> At<'_> {
    at.range(0x30, 0x39)
}

pub(crate) fn hexdig(at: At<'_>) -> At<'_> {
    at.any(&[
        digit,
        |at| at.lit("A"),
        |at| at.lit("B"),
        |at| at.lit("C"),
        |at| at.lit("D"),
        |at| at.lit("E"),
        |at| at.lit("F"),
    ])
}
