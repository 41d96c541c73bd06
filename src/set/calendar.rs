//! Points in time in the format of RFC 3339, in UTC, for the years 1970 to 2106, the range of 32
//! bits of seconds.

use std::fmt;

/// Days of a year before each month, in a year without February 29.
const BEFORE_MONTH: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

const DAY: u32 = 24 * 60 * 60;

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days from 1970-01-01 to January 1 of `year`, which is 1970 or later.
fn before_year(year: u32) -> u32 {
    let leap_years = |year: u32| year / 4 - year / 100 + year / 400;
    365 * (year - 1970) + leap_years(year - 1) - leap_years(1969)
}

/// Days of `year` before `month`, which is 1 to 12.
fn before_month(year: u32, month: u32) -> u32 {
    BEFORE_MONTH[month as usize - 1] + u32::from(month > 2 && is_leap(year))
}

/// Days of `month` of `year`.
fn length_of(year: u32, month: u32) -> u32 {
    let end =
        if month == 12 { 365 + u32::from(is_leap(year)) } else { before_month(year, month + 1) };
    end - before_month(year, month)
}

/// Writes `seconds` since 1970: `2026-03-01T12:00:00Z`.
pub(super) fn write(seconds: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (days, second) = (seconds / DAY, seconds % DAY);
    // At most one year too early: no year has more than 366 days, and 137 of them have at most 34
    // days fewer.
    let mut year = 1970 + days / 366;
    while before_year(year + 1) <= days {
        year += 1;
    }
    let days = days - before_year(year);
    let month = (1..=12).rfind(|&month| before_month(year, month) <= days).unwrap_or(1);
    let day = days - before_month(year, month) + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The seconds since 1970 of a day (`2026-03-01`, its first second) or of a point in time
/// (`2026-03-01T12:00:00Z`). Fractions of a second are truncated, and a leap second equals the
/// second before it, as in POSIX.
pub(super) fn parse(text: &str) -> Option<u32> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z').or(time.strip_suffix("+00:00"))?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_day = (1970..=2106).contains(&year)
        && (1..=12).contains(&month)
        && (1..=length_of(year, month)).contains(&day);
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !(is_day && is_time && is_fraction) {
        return None;
    }
    let days = before_year(year) + before_month(year, month) + day - 1;
    days.checked_mul(DAY)?.checked_add(3600 * hour + 60 * minute + second.min(59))
}

/// Three numbers between two `separator`s, with the given numbers of digits.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u32; 3]> {
    let mut found = [0; 3];
    let mut parts = text.split(separator);
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use crate::set::Timestamp;

    /// The oracle: a crate for the same format, which only the tests depend on.
    fn by_humantime(seconds: u32) -> String {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(seconds));
        humantime::format_rfc3339_seconds(time).to_string()
    }

    #[test]
    fn every_day_agrees_with_humantime_and_round_trips() {
        for day in 0..=u32::MAX / super::DAY {
            let start = day * super::DAY;
            for seconds in
                [start, start.saturating_add(super::DAY - 1), start.saturating_add(45_296)]
            {
                let text = Timestamp(seconds).to_string();
                assert_eq!(text, by_humantime(seconds));
                assert_eq!(text.parse(), Ok(Timestamp(seconds)));
            }
            assert_eq!(Timestamp(start).to_string()[..10].parse(), Ok(Timestamp(start)));
        }
    }

    #[test]
    fn times_are_accepted_as_by_humantime() {
        let dates = [
            "1969-12-31",
            "1970-01-01",
            "1999-02-29",
            "2000-02-29",
            "2100-02-29",
            "2024-02-29",
            "2024-02-30",
            "2024-04-31",
            "2024-12-31",
            "2024-12-32",
            "2024-00-01",
            "2024-01-00",
            "2024-13-01",
            "2106-02-07",
            "2106-02-08",
            "2107-01-01",
            "9999-12-31",
            "2024-1-01",
            "02024-01-01",
            "2024-01-011",
            "2024/01/01",
            "+024-01-01",
            "2024-01-1x",
            "",
        ];
        let times = [
            "",
            "T00:00:00Z",
            "T23:59:59Z",
            "T23:59:60Z",
            "T23:59:61Z",
            "T24:00:00Z",
            "T12:60:00Z",
            "T06:28:15Z",
            "T06:28:16Z",
            "T12:00:00",
            "T12:00Z",
            "T12:00:00.5Z",
            "T12:00:00.Z",
            "T12:00:00.1234567891Z",
            "T12:00:00+01:00",
            "T12:00:00+00:00",
            "T12:00:00.5+00:00",
            " 12:00:00Z",
            "t12:00:00z",
            "T12:00:00ZZ",
            "T12:00:00.x5Z",
            "T1é:00:00Z",
            "T12:00:00:00Z",
        ];
        for (date, time) in dates.iter().flat_map(|date| times.iter().map(move |time| (date, time)))
        {
            let text = format!("{date}{time}");
            let whole = if time.is_empty() { format!("{date}T00:00:00Z") } else { text.clone() };
            // RFC 3339 requires a digit after the point, and one `Z`; humantime does not.
            let is_lax = [".Z", "ZZ"].iter().any(|end| whole.ends_with(end));
            let expected = humantime::parse_rfc3339(&whole).ok().filter(|_| !is_lax);
            let expected = expected
                .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok())
                .and_then(|time| u32::try_from(time.as_secs()).ok());
            assert_eq!(super::parse(&text), expected, "{text:?}");
        }
    }
}
