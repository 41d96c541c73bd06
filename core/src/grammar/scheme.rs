//! What is known about schemes: the facts that the level `scheme` (6.2.3) uses.
//!
//! A false merge is the worst fault (6.1), so a row states a fact only if the document named in
//! [`SchemeFacts::source`] states it. The consequences of RFC 3986 alone hold for every scheme, in
//! the table or not: an empty port and the leading zeros of a port are dropped, and an empty path
//! after an authority is `/` ("in general, a URI that uses the generic syntax for authority with an
//! empty path should be normalized to a path of `/`"). A row may revoke the last one for a scheme
//! whose own syntax has no authority, or no path after it.
//!
//! Facts omitted on purpose:
//! - `sip:` and `sips:` have no default port here: by RFC 3261 section 19.1.4, naming the default
//!   port makes a different URI.
//! - `irc:` has none: the draft says 194, deployed servers use 6667.
//! - `smb:` has none: by its draft, a client without a port tries two of them.
//! - `svn+ssh:` has none: it depends on the user's ssh configuration.
//! - Only `file:` has a default host. The empty host of other schemes stays.

/// Facts that the level `scheme` (6.2.3) needs about one scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemeFacts {
    /// The scheme's name, lower case.
    pub name: &'static str,
    /// The port assumed when none is given.
    pub default_port: Option<u16>,
    /// Whether an empty path after an authority equals `/`.
    pub empty_path_is_root: bool,
    /// The host that an empty host means, and no authority before a path with a root (3.2.2): `file://localhost/x` and
    /// `file:/x` are `file:///x`.
    pub default_host: Option<&'static str>,
    /// Whether the host is a DNS name, so that IDNA applies to it.
    pub dns_host: bool,
    /// The form of the path of a URI without authority, where its case rules differ from the
    /// generic ones.
    pub path_form: PathForm,
    /// The document that states these facts.
    pub source: &'static str,
}

/// Scheme-specific shape of the path of a URI that has no authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathForm {
    /// Nothing beyond the generic syntax.
    Generic,
    /// Comma-separated `local@domain` addresses (RFC 6068). A domain that is a dot-atom or the literal of an IP
    /// address has no case; what follows an `@` and is neither keeps its case.
    Mailto,
    /// `NID:NSS`; the NID is case-insensitive (RFC 8141). The NSS keeps its case, but not its
    /// needless percent-encodings: RFC 8141 section 3.1 decodes none when it compares URNs, but by RFC 3986
    /// section 2.3 an encoded unreserved character is equivalent to the plain one in every URI. The
    /// latter is followed: `urn:x:%61` is `urn:x:a`.
    Urn,
}

impl SchemeFacts {
    /// A scheme with a DNS host, a default port and the generic rules for the rest.
    const fn server(name: &'static str, port: u16, source: &'static str) -> SchemeFacts {
        SchemeFacts { default_port: Some(port), ..SchemeFacts::portless(name, source) }
    }

    /// A scheme with a DNS host, without a default port.
    const fn portless(name: &'static str, source: &'static str) -> SchemeFacts {
        SchemeFacts {
            name,
            default_port: None,
            empty_path_is_root: true,
            default_host: None,
            dns_host: true,
            path_form: PathForm::Generic,
            source,
        }
    }

    /// A scheme whose own syntax has no authority.
    const fn opaque(name: &'static str, path_form: PathForm, source: &'static str) -> SchemeFacts {
        SchemeFacts {
            empty_path_is_root: false,
            dns_host: false,
            path_form,
            ..SchemeFacts::portless(name, source)
        }
    }

    /// The same scheme, whose syntax ends after the authority.
    const fn without_path(self) -> SchemeFacts {
        SchemeFacts { empty_path_is_root: false, ..self }
    }

    /// The same scheme, whose host need not be a DNS name.
    const fn without_dns(self) -> SchemeFacts {
        SchemeFacts { dns_host: false, ..self }
    }
}

/// All schemes in the table, by length of name; common ones first within a length.
static SCHEMES: [SchemeFacts; 46] = [
    SchemeFacts::server("ws", 80, "RFC 6455 section 3"),
    SchemeFacts::server("ftp", 21, "RFC 1738 sections 3.2 and 3.2.2"),
    SchemeFacts::server("wss", 443, "RFC 6455 section 3"),
    SchemeFacts::opaque("urn", PathForm::Urn, "RFC 8141 section 3.1"),
    SchemeFacts::opaque("tel", PathForm::Generic, "RFC 3966 section 3"),
    SchemeFacts::opaque("sip", PathForm::Generic, "RFC 3261 sections 19.1.1 and 19.1.4"),
    SchemeFacts::server("ssh", 22, "IANA URI schemes: draft-ietf-secsh-scp-sftp-ssh-uri"),
    SchemeFacts::server("git", 9418, "gitprotocol-pack, Git transport; IANA port registry"),
    SchemeFacts::server(
        "svn",
        3690,
        "Version Control with Subversion, svnserve; IANA port registry",
    ),
    SchemeFacts::portless("smb", "draft-crhertel-smb-url: NetBIOS names or DNS").without_dns(),
    SchemeFacts::server("pop", 110, "RFC 2384").without_path(),
    SchemeFacts::server("nfs", 2049, "RFC 2224"),
    SchemeFacts::server("ipp", 631, "RFC 3510 section 4"),
    SchemeFacts::opaque("cid", PathForm::Generic, "RFC 2392 section 2"),
    SchemeFacts::opaque("mid", PathForm::Generic, "RFC 2392 section 2"),
    SchemeFacts::opaque("sms", PathForm::Generic, "RFC 5724 section 2"),
    SchemeFacts::portless("irc", "draft-butcher-irc-url"),
    SchemeFacts::server("http", 80, "RFC 9110 sections 4.2.1 and 4.2.3"),
    SchemeFacts {
        default_host: Some("localhost"),
        ..SchemeFacts::portless("file", "RFC 8089 sections 2 and 3")
    },
    SchemeFacts::server("sftp", 22, "IANA URI schemes: draft-ietf-secsh-scp-sftp-ssh-uri"),
    SchemeFacts::opaque("data", PathForm::Generic, "RFC 2397 section 3"),
    SchemeFacts::server("ldap", 389, "RFC 4516 sections 2 and 3"),
    SchemeFacts::server("imap", 143, "RFC 5092"),
    SchemeFacts::server("rtsp", 554, "RFC 7826 section 4.2"),
    SchemeFacts::opaque("sips", PathForm::Generic, "RFC 3261 sections 19.1.1 and 19.1.4"),
    SchemeFacts::server("news", 119, "RFC 5538"),
    SchemeFacts::server("nntp", 119, "RFC 5538"),
    SchemeFacts::server("dict", 2628, "RFC 2229 section 5"),
    SchemeFacts::server("tftp", 69, "RFC 3617 section 3"),
    SchemeFacts::server("coap", 5683, "RFC 7252 sections 6.1 and 6.3"),
    SchemeFacts::server("ipps", 631, "RFC 7472"),
    // The authority is an account and the path the addressee: `xmpp://a@h` alone is a URI, a bare `/` is not.
    SchemeFacts::portless("xmpp", "RFC 5122 section 2").without_path(),
    SchemeFacts::server("https", 443, "RFC 9110 sections 4.2.2 and 4.2.3"),
    SchemeFacts::server("ldaps", 636, "IANA port registry: ldaps"),
    SchemeFacts::server("rtsps", 322, "RFC 7826 section 4.2"),
    SchemeFacts::server("rtspu", 554, "RFC 2326 section 3.2"),
    SchemeFacts::server("snews", 563, "IANA port registry: nntps; RFC 5538"),
    SchemeFacts::server("rsync", 873, "RFC 5781"),
    SchemeFacts::server("coaps", 5684, "RFC 7252 sections 6.2 and 6.3"),
    SchemeFacts::server("redis", 6379, "IANA URI schemes: prov/redis"),
    SchemeFacts::opaque("mailto", PathForm::Mailto, "RFC 6068 section 2; RFC 3986 section 6.2.3"),
    SchemeFacts::server("telnet", 23, "RFC 4248 section 2"),
    SchemeFacts::server("gopher", 70, "RFC 4266 sections 2.1 and 2.2"),
    SchemeFacts::server("rediss", 6379, "IANA URI schemes: prov/rediss"),
    SchemeFacts::portless("svn+ssh", "Version Control with Subversion, svnserve over SSH"),
    SchemeFacts::server("coap+tcp", 5683, "RFC 8323 section 8.1"),
];

/// The longest name in the table.
const LONGEST: usize = SCHEMES[SCHEMES.len() - 1].name.len();

/// `STARTS[n]..STARTS[n + 1]` are the rows whose names have `n` bytes.
static STARTS: [u8; LONGEST + 2] = starts();

const fn starts() -> [u8; LONGEST + 2] {
    let mut starts = [0u8; LONGEST + 2];
    let mut row = 0;
    let mut len = 0;
    while row < SCHEMES.len() {
        assert!(SCHEMES[row].name.len() >= len, "rows are ordered by length of name");
        while len < SCHEMES[row].name.len() {
            len += 1;
            starts[len] = row as u8;
        }
        row += 1;
    }
    starts[LONGEST + 1] = SCHEMES.len() as u8;
    starts
}

/// Returns the facts about the scheme `name`, without its `:` and in any case, or `None` for a
/// scheme not in the table, for which the generic rules of the module text apply.
///
/// ```
/// use uriscan_core::grammar::scheme_facts;
/// assert_eq!(scheme_facts(b"HTTPS").unwrap().default_port, Some(443));
/// assert!(scheme_facts(b"example").is_none());
/// ```
#[inline]
pub fn scheme_facts(name: &[u8]) -> Option<&'static SchemeFacts> {
    if name.len() > LONGEST {
        return None;
    }
    let rows = usize::from(STARTS[name.len()])..usize::from(STARTS[name.len() + 1]);
    SCHEMES[rows].iter().find(|facts| facts.name.as_bytes().eq_ignore_ascii_case(name))
}

/// Every scheme in the table, for listings and for tests of derived code.
pub fn known_schemes() -> &'static [SchemeFacts] {
    &SCHEMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_in_any_case() {
        for (i, facts) in SCHEMES.iter().enumerate() {
            assert_eq!(facts.name, facts.name.to_ascii_lowercase());
            assert!(!facts.source.is_empty());
            let upper = facts.name.to_ascii_uppercase();
            for name in [facts.name, &upper] {
                let found = scheme_facts(name.as_bytes()).expect(name);
                assert!(core::ptr::eq(found, &SCHEMES[i]), "{name} is listed twice");
            }
        }
    }

    #[test]
    fn other_names_are_unknown() {
        for name in
            ["", "h", "htt", "httpx", "https+", "httpt", "example", "a-very-long-scheme-name"]
        {
            assert!(scheme_facts(name.as_bytes()).is_none(), "{name}");
        }
    }

    #[test]
    fn ports_are_those_of_the_specifications() {
        let ports = [
            ("http", Some(80)),
            ("https", Some(443)),
            ("ws", Some(80)),
            ("wss", Some(443)),
            ("ftp", Some(21)),
            ("sftp", Some(22)),
            ("ldap", Some(389)),
            ("ldaps", Some(636)),
            ("rtsps", Some(322)),
            ("sip", None),
            ("file", None),
            ("irc", None),
        ];
        for (name, port) in ports {
            assert_eq!(scheme_facts(name.as_bytes()).unwrap().default_port, port, "{name}");
        }
    }

    #[test]
    fn schemes_without_authority_take_no_server_rules() {
        for name in ["mailto", "urn", "tel", "sip", "sips", "data"] {
            let facts = scheme_facts(name.as_bytes()).unwrap();
            assert!(!facts.empty_path_is_root && !facts.dns_host, "{name}");
            assert_eq!((facts.default_port, facts.default_host), (None, None), "{name}");
        }
    }
}
