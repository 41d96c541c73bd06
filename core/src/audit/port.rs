//! Ports (RFC 3986 section 7.2): the well-known ports of other protocols.

use super::{Detail, Found, Rule};
use crate::grammar::scheme_facts;

/// Well-known ports with the services registered for them by IANA. Only those that are common or
/// have been abused are listed; any other port below 1024 is [`Rule::PortWellKnown`].
const SERVICES: &[(u16, &str)] = &[
    (7, "echo"),
    (9, "discard"),
    (11, "systat"),
    (13, "daytime"),
    (15, "netstat"),
    (17, "qotd"),
    (19, "chargen"),
    (20, "ftp-data"),
    (21, "ftp"),
    (22, "ssh"),
    (23, "telnet"),
    (25, "smtp"),
    (37, "time"),
    (42, "nameserver"),
    (43, "whois"),
    (53, "domain"),
    (67, "bootps"),
    (69, "tftp"),
    (70, "gopher"),
    (79, "finger"),
    (80, "http"),
    (88, "kerberos"),
    (109, "pop2"),
    (110, "pop3"),
    (111, "sunrpc"),
    (113, "auth"),
    (115, "sftp"),
    (119, "nntp"),
    (123, "ntp"),
    (135, "epmap"),
    (137, "netbios-ns"),
    (138, "netbios-dgm"),
    (139, "netbios-ssn"),
    (143, "imap"),
    (161, "snmp"),
    (179, "bgp"),
    (194, "irc"),
    (322, "rtsps"),
    (389, "ldap"),
    (427, "svrloc"),
    (443, "https"),
    (445, "microsoft-ds"),
    (465, "submissions"),
    (512, "exec"),
    (513, "login"),
    (514, "shell"),
    (515, "printer"),
    (526, "tempo"),
    (530, "courier"),
    (531, "chat"),
    (532, "netnews"),
    (540, "uucp"),
    (543, "klogin"),
    (544, "kshell"),
    (548, "afpovertcp"),
    (554, "rtsp"),
    (556, "remotefs"),
    (563, "nntps"),
    (587, "submission"),
    (601, "syslog-conn"),
    (631, "ipp"),
    (636, "ldaps"),
    (853, "domain-s"),
    (873, "rsync"),
    (989, "ftps-data"),
    (990, "ftps"),
    (992, "telnets"),
    (993, "imaps"),
    (995, "pop3s"),
];

/// Ports that the protocol of a scheme commonly uses besides its default port.
const ALSO: &[(&str, &[u16])] = &[
    ("http", &[443, 591]),
    ("https", &[80]),
    ("ws", &[443]),
    ("wss", &[80]),
    ("ftp", &[990]),
    ("ldap", &[636]),
    ("imap", &[993]),
    ("pop", &[995]),
    ("news", &[563]),
    ("nntp", &[563]),
    ("irc", &[194]),
    ("smb", &[139, 445]),
    ("svn+ssh", &[22]),
    ("telnet", &[992]),
    // IPP runs over HTTP, and printers answer on both.
    ("ipp", &[80, 443]),
    ("ipps", &[443]),
];

/// The service expected on `port`.
pub(super) fn service(port: u16) -> Option<&'static str> {
    SERVICES.binary_search_by_key(&port, |row| row.0).ok().map(|row| SERVICES[row].1)
}

/// Checks `digits`, the port after the `:` at `colon`.
pub(super) fn check(scheme: Option<&[u8]>, digits: &[u8], colon: usize, found: &mut Found<'_>) {
    if let Some((rule, detail)) = warning(scheme, digits) {
        found.add(rule, colon + 1..colon + 1 + digits.len(), detail);
    }
}

/// The finding for the port `digits`, if any.
pub(super) fn warning(scheme: Option<&[u8]>, digits: &[u8]) -> Option<(Rule, Detail)> {
    if digits.is_empty() {
        return None;
    }
    let port = digits.iter().try_fold(0u32, |port, digit| {
        let value = port * 10 + u32::from(digit.wrapping_sub(b'0'));
        (digit.is_ascii_digit() && value <= 0xFFFF).then_some(value)
    });
    let Some(port) = port.and_then(|port| u16::try_from(port).ok()) else {
        // An invalid port is reported by another rule.
        return digits.iter().all(u8::is_ascii_digit).then_some((Rule::PortOverflow, Detail::None));
    };
    if port >= 1024 {
        return None;
    }
    let facts = scheme.and_then(scheme_facts);
    let name = facts.map_or("", |facts| facts.name);
    let also = ALSO.iter().find(|row| row.0 == name).map_or(&[][..], |row| row.1);
    if facts.is_some_and(|facts| facts.default_port == Some(port)) || also.contains(&port) {
        return None;
    }
    Some(match service(port) {
        // Nothing is known about the ports of an unknown scheme.
        Some(service) if facts.is_some() => (Rule::PortOtherProtocol, Detail::Service(service)),
        _ => (Rule::PortWellKnown, Detail::None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_agrees_with_the_schemes() {
        assert!(SERVICES.is_sorted_by_key(|row| row.0));
        assert!(SERVICES.iter().all(|row| row.0 < 1024));
        assert_eq!(service(25), Some("smtp"));
        assert_eq!(service(8), None);
        for (name, _) in ALSO {
            assert!(scheme_facts(name.as_bytes()).is_some(), "{name}");
        }
    }
}
