//! Dates as URLs have them.
//!
//! ```text
//! date   = day-of-year [ time ]
//! day    = YYYY sep MM [ sep DD ] / DD sep MM sep YYYY / YYYYMMDD      ; the same sep twice
//! sep    = "-" / "_" / "." / "/"
//! time   = [ "T" / "t" / "_" / "-" / "+" / " " ] hh [":"] mm [ [":"] ss [ "." 1*digit ] ] [ zone ]
//! zone   = "Z" / "z" / ( "+" / "-" / " " ) hh [":"] mm
//! ```
//!
//! Years are 1900 to 2099, months 01 to 12, days 01 to 31. A time follows a whole day only, and without a letter or
//! another byte before it only `YYYYMMDD`, with seconds.

/// The longest text that is a date, more than what is in use.
const LONGEST: usize = 40;

/// Whether `text` is a date, with or without a time.
pub(super) fn is_date(text: &[u8]) -> bool {
    if !(6..=LONGEST).contains(&text.len()) {
        return false;
    }
    let Some((rest, form)) = day(text) else { return false };
    match (rest, form) {
        ([], Form::Compact | Form::Day | Form::Month) => true,
        (_, Form::Month) => false,
        ([b'T' | b't' | b'_' | b'-' | b'+' | b' ', rest @ ..], _) => is_time(rest, false),
        (_, Form::Compact) => is_time(rest, true),
        (_, Form::Day) => false,
    }
}

/// How a day is written.
#[derive(Clone, Copy)]
enum Form {
    /// `20240131`
    Compact,
    /// `2024-01-31` or `31-01-2024`
    Day,
    /// `2024-01`
    Month,
}

/// What follows the longest day, or else the month, at the beginning of `text`.
fn day(text: &[u8]) -> Option<(&[u8], Form)> {
    if let Some(rest) = year(text) {
        return match separator(rest) {
            None => Some((number(number(rest, 1, 12)?, 1, 31)?, Form::Compact)),
            Some((separator, rest)) => {
                let rest = number(rest, 1, 12)?;
                let day = rest.strip_prefix(&[separator]).and_then(|rest| number(rest, 1, 31));
                Some(day.map_or((rest, Form::Month), |rest| (rest, Form::Day)))
            }
        };
    }
    let (separator, rest) = separator(number(text, 1, 31)?)?;
    let rest = number(rest, 1, 12)?.strip_prefix(&[separator])?;
    Some((year(rest)?, Form::Day))
}

fn year(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"19").or_else(|| text.strip_prefix(b"20"))?;
    number(rest, 0, 99)
}

fn separator(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, rest) = text.split_first()?;
    b"-_./".contains(&first).then_some((first, rest))
}

/// What follows the two digits at the beginning of `text`, if they are a number from `least` to `most`.
fn number(text: &[u8], least: u8, most: u8) -> Option<&[u8]> {
    let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = text else { return None };
    (least..=most).contains(&((tens - b'0') * 10 + (ones - b'0'))).then_some(rest)
}

/// Whether `text` is a time of day, which has seconds if it `needs_seconds`.
fn is_time(text: &[u8], needs_seconds: bool) -> bool {
    let Some(rest) = minutes(text) else { return false };
    let seconds = number(rest.strip_prefix(b":").unwrap_or(rest), 0, 60);
    if seconds.is_none() && needs_seconds {
        return false;
    }
    let rest = match seconds {
        None => rest,
        Some([b'.', fraction @ ..]) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        Some(rest) => rest,
    };
    match rest {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-' | b' ', zone @ ..] => minutes(zone) == Some(b""),
        _ => false,
    }
}

/// What follows `hh:mm` or `hhmm` at the beginning of `text`.
fn minutes(text: &[u8]) -> Option<&[u8]> {
    let rest = number(text, 0, 24)?;
    number(rest.strip_prefix(b":").unwrap_or(rest), 0, 59)
}
