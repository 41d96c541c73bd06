//! Decimal numbers in text: bytes that compare as the numbers do, exactly, whatever the number of their digits.
//!
//! A number other than 0 is 0.DIGITS times a power of ten, where neither the first nor the last digit is 0. So of two
//! positive ones the one with the greater exponent is greater, and of equal exponents the digits decide as text does.

/// What a text is, in ascending order.
const NEGATIVE_INFINITY: u8 = 0;
const NEGATIVE: u8 = 1;
const ZERO: u8 = 2;
const POSITIVE: u8 = 3;
const INFINITY: u8 = 4;
const OTHER: u8 = 5;

/// Bytes that compare as the values of texts do: first numbers by value, then other text by its bytes; `None` for a
/// text that is empty, but for white space, or `NaN`. A number has decimal digits, with or without a sign, a point, an
/// exponent of up to 18 digits and white space around it; or it is `inf` or `infinity`, in any case.
pub fn key(text: &[u8]) -> Option<Vec<u8>> {
    let number = text.trim_ascii();
    let (is_negative, number) = match number {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, number),
    };
    let is = |name: &str| number.eq_ignore_ascii_case(name.as_bytes());
    if text.trim_ascii().is_empty() || is("nan") {
        return None;
    }
    if is("inf") || is("infinity") {
        return Some(vec![if is_negative { NEGATIVE_INFINITY } else { INFINITY }]);
    }
    Some(of_number(is_negative, number).unwrap_or_else(|| of_text(text)))
}

/// Appends [`key`] to `out`, or nothing if there is none.
pub fn push_key(text: &[u8], out: &mut Vec<u8>) {
    // Most are whole numbers, which need no look at each of their parts.
    let is_whole = matches!(text, [b'1'..=b'9', ..]) && text.iter().all(u8::is_ascii_digit);
    let last = text.iter().rposition(|&digit| digit != b'0').filter(|_| is_whole);
    match last {
        Some(last) => {
            out.push(POSITIVE);
            out.extend(exponent_bytes(text.len() as i64));
            out.extend_from_slice(&text[..=last]);
        }
        None => out.extend(key(text).into_iter().flatten()),
    }
}

/// The key of a `text` that is not a number, whatever it looks like.
pub fn of_text(text: &[u8]) -> Vec<u8> {
    [&[OTHER][..], text].concat()
}

/// The key of `number`, which has no sign; `None` if it is not a number.
fn of_number(is_negative: bool, number: &[u8]) -> Option<Vec<u8>> {
    let (mantissa, exponent) = match number.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&number[..at], exponent(&number[at + 1..])?),
        None => (number, 0),
    };
    let point = mantissa.iter().position(|&byte| byte == b'.');
    let whole = point.unwrap_or(mantissa.len());
    let fraction = point.map_or(&[][..], |at| &mantissa[at + 1..]);
    let digits = [&mantissa[..whole], fraction].concat();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let Some(first) = digits.iter().position(|&digit| digit != b'0') else {
        return Some(vec![ZERO]);
    };
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
    let exponent = exponent + whole as i64 - first as i64;
    let mut key = [&[POSITIVE][..], &exponent_bytes(exponent), &digits[first..=last]].concat();
    if is_negative {
        key[0] = NEGATIVE;
        key[1..].iter_mut().for_each(|byte| *byte = !*byte);
        // Of digits that begin alike, the fewer are the greater number.
        key.push(u8::MAX);
    }
    Some(key)
}

/// Bytes that compare as exponents do.
fn exponent_bytes(exponent: i64) -> [u8; 8] {
    (exponent.cast_unsigned() ^ 1 << 63).to_be_bytes()
}

/// Whether `text`, which [`key`] has made this key of, has digits, but is neither a number nor a date with the year
/// first and two digits for month and day: it is compared by its bytes, which may not be the order that it is meant to have.
pub fn has_other_order(key: &[u8], text: &[u8]) -> bool {
    if key.first() != Some(&OTHER) {
        return false;
    }
    let is_other = |byte: &u8| !byte.is_ascii_digit();
    let mut numbers = text.split(is_other).filter(|digits| !digits.is_empty());
    let is_date = text.trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
        && numbers.clone().zip([4, 2, 2]).all(|(digits, width)| digits.len() == width);
    !is_date && numbers.next().is_some()
}

/// The exponent `text`, with or without a sign.
fn exponent(text: &[u8]) -> Option<i64> {
    let digits = match text {
        [b'-' | b'+', digits @ ..] => digits,
        digits => digits,
    };
    if !(1..=18).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// [`key`], the slow way: which of two texts is greater, or which are as good as null.
    fn compared(one: &str, other: &str) -> Option<Ordering> {
        let null = |text: &str| {
            let text = text.trim().to_lowercase();
            text.is_empty() || ["nan", "+nan", "-nan"].contains(&&*text)
        };
        if null(one) || null(other) {
            return None;
        }
        Some(match (spelled(one), spelled(other)) {
            (Some(one), Some(other)) => by_digits(&one, &other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => one.as_bytes().cmp(other.as_bytes()),
        })
    }

    /// Whether the number `text` is negative, and its digits with a point somewhere, if it is one.
    fn spelled(text: &str) -> Option<(bool, String)> {
        let text = text.trim().to_lowercase();
        let is_negative = text.starts_with('-');
        let rest = text.strip_prefix(['-', '+']).unwrap_or(&text);
        if ["inf", "infinity"].contains(&rest) {
            return Some((is_negative, format!("{}.", "9".repeat(400))));
        }
        let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let is_digits = mantissa.chars().all(|c| c.is_ascii_digit() || c == '.');
        if !is_digits || mantissa.matches('.').count() > 1 || mantissa.replace('.', "").is_empty() {
            return None;
        }
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (mut whole, mut fraction) = (whole.to_owned(), fraction.to_owned());
        for _ in 0..exponent.abs() {
            if exponent > 0 {
                whole.push(if fraction.is_empty() { '0' } else { fraction.remove(0) });
            } else {
                fraction.insert(0, whole.pop().unwrap_or('0'));
            }
        }
        Some((is_negative, format!("{whole}.{fraction}")))
    }

    /// Compares numbers digit by digit, with as many zeros around them as that takes.
    fn by_digits((minus, one): &(bool, String), (other_minus, other): &(bool, String)) -> Ordering {
        let padded = |text: &str| {
            let (whole, fraction) = text.split_once('.').unwrap();
            format!("{whole:0>450}{fraction:0<450}")
        };
        let (one, other) = (padded(one), padded(other));
        let zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        match (*minus && !zero(&one), *other_minus && !zero(&other)) {
            (false, false) => one.cmp(&other),
            (true, true) => other.cmp(&one),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    /// Texts of all kinds, most of them numbers.
    const TEXTS: [&str; 60] = [
        "9",
        "10",
        "-9",
        "-10",
        "0",
        "-0",
        "+0.0",
        "0e5",
        ".5",
        "5.",
        "0.5",
        "00.50",
        "5e-1",
        "1e3",
        "1000",
        "999.999",
        "1E+3",
        "-1e-3",
        "-0.001",
        "-.0010",
        "9007199254740993",
        "9007199254740992",
        "9007199254740992.5",
        "18446744073709551616",
        "-18446744073709551616.1",
        "0.1",
        "0.10000000000000001",
        "1e300",
        "-1e300",
        "1e-300",
        "-1e-300",
        "inf",
        "-Infinity",
        "+INF",
        " 7 ",
        "\t8",
        "07",
        "",
        "  ",
        "NaN",
        "-nan",
        "a",
        "A",
        "1a",
        "1e",
        "e1",
        ".",
        "-",
        "+",
        "--1",
        "1.2.3",
        "0x10",
        "1_000",
        "1,000",
        "2026-03-01",
        "2026-03-01T00:00:00Z",
        "1e1.5",
        "\u{661}",
        "n/a",
        "null",
    ];

    #[test]
    fn keys_compare_as_numbers_and_text_do() {
        for one in TEXTS {
            for other in TEXTS {
                let keys = (key(one.as_bytes()), key(other.as_bytes()));
                let found = match &keys {
                    (Some(one), Some(other)) => Some(one.cmp(other)),
                    _ => None,
                };
                assert_eq!(found, compared(one, other), "{one:?} {other:?} {keys:?}");
            }
        }
    }

    #[test]
    fn keys_that_are_appended_are_the_same() {
        let whole =
            ["1", "10", "120", "7000", "123456789012345678901234567890", "1000000000000000000000"];
        for text in TEXTS.into_iter().chain(whole) {
            let mut out = b"x".to_vec();
            push_key(text.as_bytes(), &mut out);
            assert_eq!(out[1..], *key(text.as_bytes()).unwrap_or_default(), "{text:?}");
        }
    }

    #[test]
    fn exponents_without_end_are_text() {
        let long = format!("1e{}", "9".repeat(19));
        assert_eq!(key(long.as_bytes()).unwrap()[0], OTHER);
        for (less, greater) in
            [("1e999999999999999998", "1e999999999999999999"), ("-1e999999999999999999", "-9")]
        {
            assert!(key(less.as_bytes()) < key(greater.as_bytes()));
        }
    }
}
