//! Points in time, as RFC 3339 and logs write them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// A point in time: whole seconds since 1970-01-01T00:00:00Z, up to the year 2106.
///
/// The text format is that of RFC 3339: `2026-03-01T12:00:00Z`. A day alone means its first second;
/// a number means seconds.
///
/// ```
/// use uriscan::set::Timestamp;
/// let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
/// assert_eq!(noon, Timestamp(1_772_366_400));
/// assert_eq!("2026-03-01T13:00:00+01:00".parse(), Ok(noon));
/// assert_eq!("2026-03-01".parse(), Ok(Timestamp(1_772_323_200)));
/// assert_eq!("1772366400".parse(), Ok(noon));
/// assert_eq!(noon.to_string(), "2026-03-01T12:00:00Z");
/// assert!("2026-13-01".parse::<Timestamp>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u32);

impl Timestamp {
    /// Converts `time`, clamped to the range of the type.
    pub fn of(time: SystemTime) -> Timestamp {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        Timestamp(u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// The time `text` of an entry of a log: `10/Oct/2000:13:55:36 -0700`, a form of ISO 8601 with `T` or a space, or a
    /// number of seconds, milli-, micro- or nanoseconds since 1970, which its length shows. Without a zone it is in
    /// UTC. Fractions of a second are truncated.
    pub(crate) fn of_log(text: &[u8]) -> Option<Timestamp> {
        let text = text.strip_prefix(b"[").unwrap_or(text);
        let text = text.strip_suffix(b"]").unwrap_or(text).trim_ascii();
        let (date, rest) = match memchr::memchr2(b'/', b'-', text) {
            None => return of_number(text),
            Some(4) => (Date::of_iso(text.first_chunk()?)?, &text[10..]),
            Some(_) => Date::of_clf(text)?,
        };
        let (between, rest) = rest.split_first()?;
        if !b"Tt: ".contains(between) {
            return None;
        }
        let (clock, rest) = rest.split_first_chunk()?;
        let rest = after_fraction(rest, b".,")?.trim_ascii_start();
        let offset = match rest {
            b"" | b"Z" | b"z" | b"UTC" | b"GMT" => 0,
            rest => offset(rest)?,
        };
        date.at(*clock, offset)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.into());
        humantime::format_rfc3339_seconds(time).fmt(f)
    }
}

/// The text is not a [`Timestamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write a time from 1970 to 2106 as a day, 2026-03-01, a date and time, 2026-03-01T12:00:00Z, or seconds since 1970")
    }
}

impl std::error::Error for NotATime {}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Timestamp, NotATime> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Timestamp).map_err(|_| NotATime);
        }
        of_rfc_3339(text.as_bytes()).ok_or(NotATime)
    }
}

/// A day (its first second) or a point in time of RFC 3339.
fn of_rfc_3339(text: &[u8]) -> Option<Timestamp> {
    let (date, rest) = text.split_first_chunk()?;
    if date.contains(&b'/') {
        return None;
    }
    let date = Date::of_iso(date)?;
    if rest.is_empty() {
        return date.at(*b"00:00:00", 0);
    }
    let (clock, rest) = rest.strip_prefix(b"T")?.split_first_chunk()?;
    match after_fraction(rest, b".")? {
        b"Z" => date.at(*clock, 0),
        zone @ [_, _, _, b':', _, _] => date.at(*clock, offset(zone)?),
        _ => None,
    }
}

/// A date as `YYYY-MM-DD`.
struct Date([u8; 10]);

impl Date {
    /// `YYYY-MM-DD` or `YYYY/MM/DD`.
    fn of_iso(text: &[u8; 10]) -> Option<Date> {
        let mut date = *text;
        if date[4] == b'/' {
            (date[4], date[7]) = (b'-', if date[7] == b'/' { b'-' } else { b'/' });
        }
        is_like(&date, b"0000-00-00").then_some(Date(date))
    }

    /// The date `D/Mon/YYYY` or `DD/Mon/YYYY` at the beginning of `text`, and the text after it.
    fn of_clf(text: &[u8]) -> Option<(Date, &[u8])> {
        const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
        let (day, rest) = match text {
            [day, b'/', rest @ ..] => ([b'0', *day], rest),
            [ten, day, b'/', rest @ ..] => ([*ten, *day], rest),
            _ => return None,
        };
        let (month, rest) = rest.split_first_chunk::<3>()?;
        let month = MONTHS.chunks(3).position(|name| month.eq_ignore_ascii_case(name))? as u8 + 1;
        let ([y, e, a, r], rest) = rest.strip_prefix(b"/")?.split_first_chunk()?;
        let [m, o] = [month / 10 + b'0', month % 10 + b'0'];
        let date = [*y, *e, *a, *r, b'-', m, o, b'-', day[0], day[1]];
        is_like(&date, b"0000-00-00").then_some((Date(date), rest))
    }

    /// This date at `clock`, `HH:MM:SS`, in a zone `offset` seconds ahead of UTC. A leap second equals the second
    /// before it, as in POSIX.
    fn at(&self, clock: [u8; 8], offset: i64) -> Option<Timestamp> {
        if !is_like(&clock, b"00:00:00") {
            return None;
        }
        let mut text = *b"0000-00-00T00:00:00Z";
        text[..10].copy_from_slice(&self.0);
        text[11..19].copy_from_slice(&clock);
        let time = humantime::parse_rfc3339(str::from_utf8(&text).ok()?).ok()?;
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        let seconds = i64::try_from(seconds).ok()? - offset;
        u32::try_from(seconds).ok().map(Timestamp)
    }
}

/// Whether `text` has digits where `like` has zeros, and is the same elsewhere.
fn is_like(text: &[u8], like: &[u8]) -> bool {
    text.iter().zip(like).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        like => byte == like,
    })
}

/// The text after a fraction of a second, which follows one of `points`, if `text` begins with one.
fn after_fraction<'t>(text: &'t [u8], points: &[u8]) -> Option<&'t [u8]> {
    let Some((_, rest)) = text.split_first().filter(|(point, _)| points.contains(point)) else {
        return Some(text);
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then_some(&rest[digits..])
}

/// The seconds by which the zone `+HH`, `+HHMM` or `+HH:MM` is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, digits) = zone.split_first()?;
    let (hours, minutes) = match digits {
        [a, b] => ([*a, *b], [b'0'; 2]),
        [a, b, c, d] | [a, b, b':', c, d] => ([*a, *b], [*c, *d]),
        _ => return None,
    };
    let number = |digits: [u8; 2], most: i64| {
        let number: i64 = str::from_utf8(&digits).ok()?.parse().ok()?;
        (is_like(&digits, b"00") && number <= most).then_some(number)
    };
    let seconds = 3600 * number(hours, 23)? + 60 * number(minutes, 59)?;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// The time that is `text` seconds, or by its length milli-, micro- or nanoseconds, since 1970.
fn of_number(text: &[u8]) -> Option<Timestamp> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole: u64 = str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    if !after_fraction(&text[len..], b".")?.is_empty() {
        return None;
    }
    let seconds = match len {
        0..=10 => whole,
        11..=13 => whole / 1_000,
        14..=16 => whole / 1_000_000,
        _ => whole / 1_000_000_000,
    };
    u32::try_from(seconds).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_round_trips() {
        for day in 0..=u32::MAX / 86_400 {
            let start = Timestamp(day * 86_400);
            let text = start.to_string();
            assert_eq!((text.parse(), text[..10].parse()), (Ok(start), Ok(start)));
            assert_eq!(Timestamp::of_log(text.as_bytes()), Some(start));
        }
        assert_eq!(Timestamp(u32::MAX).to_string(), "2106-02-07T06:28:15Z");
    }

    #[test]
    fn points_in_time_are_those_of_rfc_3339() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29", 951_782_400),
            ("2024-12-31T23:59:60Z", 1_735_689_599),
            ("2106-02-07T06:28:15Z", u32::MAX),
            ("2024-02-29T12:00:00.5Z", 1_709_208_000),
            ("2024-02-29T12:00:00.1234567891Z", 1_709_208_000),
            ("2024-02-29T12:00:00+00:00", 1_709_208_000),
            ("2024-02-29T12:00:00.5+00:00", 1_709_208_000),
            ("2024-02-29T13:30:00+01:30", 1_709_208_000),
            ("2024-02-28T23:00:00.5-13:00", 1_709_208_000),
        ] {
            assert_eq!(text.parse(), Ok(Timestamp(seconds)), "{text}");
        }
        let days = "1969-12-31 1999-02-29 2100-02-29 2024-02-30 2024-04-31 2024-12-32 2024-00-01 2024-01-00 \
            2024-13-01 2106-02-08 9999-12-31 2024-1-01 02024-01-01 2024-01-011 2024/01/01 2024-01/01 +024-01-01 2024-01-1x 2024-01-1T";
        let ends = "T23:59:61Z T24:00:00Z T12:60:00Z T12:00:00 T12:00Z T12:00:00.Z T12:00:00.+00:00 T12:00:00+0100 \
            T12:00:00+24:00 T12:00:00+01:60 T12:00:00*01:00 T12:00:00+01 T12:00:00+1x:00 T12:00:00,5Z \
            T12:00:00ZZ T12:00:00ZxZ T12:00:00.x5Z T12:00:00x5Z T1é:00:00Z T12:00:00:00Z t12:00:00z é T";
        let times = ends.split_whitespace().map(|end| format!("2024-01-01{end}"));
        for text in days.split_whitespace().map(str::to_owned).chain(times) {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn times_of_logs_are_read_in_their_usual_forms() {
        for text in [
            "10/Oct/2000:13:55:36 -0700",
            "[10/Oct/2000:13:55:36 -0700]",
            "10/Oct/2000:20:55:36.655",
            "10/oct/2000 22:55:36.655 +0200",
            "10/Oct/2000:20:55:36",
            "2000-10-10T20:55:36Z",
            "2000-10-10T20:55:36.186641Z",
            "2000-10-10T13:55:36-07:00",
            "2000-10-10T13:55:36-0700",
            "2000-10-10T13:55:36,5-07",
            "2000-10-10 20:55:36",
            "2000-10-10 20:55:36,123",
            "2000-10-10 13:55:36 -0700",
            "2000-10-10 20:55:36 UTC",
            "2000/10/10 20:55:36.123",
            "[2000-10-10T20:55:36.310Z]",
            "971211336",
            "971211336.450",
            "971211336450",
            "971211336450.5",
            "971211336450123",
            "971211336450123456",
        ] {
            let found = Timestamp::of_log(text.as_bytes()).map(|time| time.to_string());
            assert_eq!(found.as_deref(), Some("2000-10-10T20:55:36Z"), "{text}");
        }
        let day = |text: &str| Timestamp::of_log(text.as_bytes()).map(|time| time.to_string());
        assert_eq!(day("1/Jan/2026:00:00:00 +0000").as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(day("31/Dec/2016:23:59:60 +0000").as_deref(), Some("2016-12-31T23:59:59Z"));
        assert_eq!(day("01/Jan/2017:08:59:60 +0900").as_deref(), Some("2016-12-31T23:59:59Z"));
    }

    #[test]
    fn what_is_not_a_time_of_a_log_is_unknown() {
        for text in [
            "",
            "-",
            "[]",
            "[",
            "/",
            "//",
            "-1",
            "-971211336.5",
            "1e9",
            ".5",
            "971211336.",
            "99999999999999999999999999",
            "4294967296",
            "99/Xxx/99999",
            "99/Xxx/9999:99:99:99",
            "31/Feb/2020:00:00:00 +0000",
            "00/Jan/2020:00:00:00 +0000",
            "10/Oct/10000:00:00:00 +0000",
            "10000-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "10/Oct/2000:24:00:00 +0000",
            "10/Oct/2000:13:60:36 -0700",
            "10/Oct/2000:13:55:61 -0700",
            "10/Oct/2000:13:55:36 -07:0",
            "10/Oct/2000:13:55:36 -9900",
            "10/Oct/2000:13:55:36 PST",
            "2000-10-10 20:55:36 +0000 UTC",
            "10/Oct/2000:13:55:36.",
            "10/Oct/2000:13:55",
            "10/Oct/2000",
            "10/October/2000:13:55:36",
            "2000-10-10",
            "2000-10-10T",
            "2000-10-10X13:55:36",
            "2000-10/10T13:55:36Z",
            "2000-10-1\u{e9}T13:55:36Z",
            "10/Oc\u{e9}/2000:13:55:36",
            "20001010T135536Z",
            "1/2",
            "abcd-",
        ] {
            assert_eq!(Timestamp::of_log(text.as_bytes()), None, "{text}");
        }
    }
}
