//! Numbers of JSON that a double does not hold.
//!
//! A number is held if it is how a double is written: in the fewest digits that identify it, or rounded to as many digits as the
//! number has. So `0.1`, `0.10000000000000001` and `0.1000000000000000055` are, and `0.12345678901234567890` is not.

use std::collections::HashMap;

/// What is lost if a number is read as a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// It is an integer, and does not fit 64 bits.
    Integer,
    /// Some of its digits.
    Digits,
}

impl Loss {
    /// What is wrong with the member.
    pub(super) fn what(self) -> &'static str {
        match self {
            Loss::Integer => "is an integer that does not fit 64 bits; jsonl keeps it",
            Loss::Digits => "has more digits than a 64-bit float holds; jsonl keeps them",
        }
    }
}

/// The most significant digits that a double has, all others being zeros.
const MOST_DIGITS: usize = 767;

/// The numbers in the JSON of `line` that are not held by the doubles that they are read as, by the bits of these.
pub(super) fn losses(line: &str) -> HashMap<u64, Loss> {
    let mut found = HashMap::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        let end = match rest.strip_prefix('"') {
            Some(string) => 1 + end_of_string(string),
            None => rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        if let (Some(loss), Ok(number)) = (loss(token), token.parse::<f64>()) {
            found.insert(number.to_bits(), loss);
        }
        rest = after;
    }
    found
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-')
}

/// Where a string ends, with its quote; `string` has no quote at its start.
fn end_of_string(string: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in string.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at + 1,
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    string.len()
}

fn loss(number: &str) -> Option<Loss> {
    let is_whole = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_whole && (number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()) {
        return None;
    }
    let double: f64 = number.parse().ok()?;
    if is_whole {
        // `-0` is a double.
        return (double != 0.0).then_some(Loss::Integer);
    }
    let written = Decimal::of(number);
    let digits = written.digits.len();
    // So few digits come back from every double that they are read as.
    if digits <= 15 && double.is_normal() || written == Decimal::of(&format!("{double:e}")) {
        return None;
    }
    let is_held = digits <= MOST_DIGITS
        && written == Decimal::of(&format!("{double:.*e}", digits.saturating_sub(1)));
    (!is_held).then_some(Loss::Digits)
}

/// The magnitude of a number: its digits without zeros at both ends, and the power of ten of the first one.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    digits: String,
    power: i64,
}

impl Decimal {
    fn of(number: &str) -> Decimal {
        let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('-');
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0');
        let zeros = all.len() - digits.len();
        let digits = digits.trim_end_matches('0').to_owned();
        let power = power.parse::<i64>().unwrap_or(i64::MIN / 2);
        let power = if digits.is_empty() { 0 } else { power + whole.len() as i64 - zeros as i64 };
        Decimal { digits, power }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_written_doubles_are_held() {
        for number in [
            "0.1",
            "1.10",
            "-0.0",
            "0e5",
            "1e3",
            "1E+3",
            "0.30000000000000004",
            "5e-324",
            "4.9e-324",
            "0.10000000000000001",
            "0.1000000000000000055511151231257827",
            "1.7976931348623157e308",
            "9007199254740992.0",
            "5.684341886080802E-14",
            "5.6843418860808015E-14",
            "123456789012345.67",
            "9223372036854775807",
            "18446744073709551615",
            "-9223372036854775808",
            "-0",
            "1.5000000000000000000000000",
        ] {
            assert_eq!(loss(number), None, "{number}");
        }
        let long = format!("0.5{}", "0".repeat(100_000));
        assert_eq!(loss(&long), None);
    }

    #[test]
    fn numbers_that_a_double_changes_are_found() {
        for number in [
            "0.1234567890123456789012345",
            "12345678901234567890.123456789",
            "99999999999999.999",
            "9007199254740993.0",
            "-9007199254740993.0",
            "9007199254740993e0",
            "1e-400",
            "0.1000000000000000055511151231257828",
            "1.00000000000000000000001",
        ] {
            assert_eq!(loss(number), Some(Loss::Digits), "{number}");
        }
        assert_eq!(loss(&format!("0.{}", "3".repeat(100_000))), Some(Loss::Digits));
        for number in ["18446744073709551616", "-9223372036854775809", "12345678901234567890123"] {
            assert_eq!(loss(number), Some(Loss::Integer), "{number}");
        }
    }

    #[test]
    fn every_double_is_held_however_it_is_written() {
        let mut bits = 1u64;
        for _ in 0..2_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let double = f64::from_bits(bits);
            if double.is_finite() {
                for text in
                    [format!("{double:e}"), format!("{double:.16e}"), format!("{double:.30e}")]
                {
                    assert_eq!(loss(&text), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn texts_are_no_numbers() {
        let line = r#"{"a\"":"0.1234567890123456789012345","b":["x\\",1.00000000000000000000001]}"#;
        let found = losses(line);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(1f64.to_bits(), Loss::Digits)]);
    }
}
