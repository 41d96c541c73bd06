//! The port at the level `scheme` (RFC 3986 sections 3.2.3 and 6.2.3).
//!
//! A port is a decimal number of any length. It is compared as text without its leading zeros, so
//! it cannot overflow: `:4294967376` is not `:80`, and `:0080` is.

/// The canonical digits of `port` (digits only, without the `:`), or `None` if the port and its `:`
/// are dropped because it is empty or equals `default`.
pub(crate) fn canonical(port: &[u8], default: Option<u16>) -> Option<&[u8]> {
    let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
    let digits = match &port[zeros..] {
        // No digits, or zeros only, of which one stays.
        [] => &port[..port.len().min(1)],
        digits => digits,
    };
    let is_default = default.is_some_and(|default| equals(digits, default));
    (!digits.is_empty() && !is_default).then_some(digits)
}

/// Whether `digits`, without leading zeros, is the number `port`.
fn equals(digits: &[u8], port: u16) -> bool {
    // More than five digits exceed any u16; five fit a u32.
    (1..=5).contains(&digits.len())
        && digits.iter().fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'))
            == u32::from(port)
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn leading_zeros_and_default_ports_are_dropped() {
        let cases: [(&str, Option<u16>, Option<&str>); 14] = [
            ("", None, None),
            ("", Some(80), None),
            ("80", Some(80), None),
            ("0080", Some(80), None),
            ("80", None, Some("80")),
            ("0080", None, Some("80")),
            ("443", Some(80), Some("443")),
            ("0", Some(80), Some("0")),
            ("000", None, Some("0")),
            ("4294967376", Some(80), Some("4294967376")),
            ("65616", Some(80), Some("65616")),
            ("18446744073709551696", Some(80), Some("18446744073709551696")),
            ("800", Some(80), Some("800")),
            ("8", Some(80), Some("8")),
        ];
        for (port, default, expected) in cases {
            let found = canonical(port.as_bytes(), default);
            assert_eq!(found, expected.map(str::as_bytes), "{port} {default:?}");
        }
    }
}
