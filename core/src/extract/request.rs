//! What an entry of an access log says about its request besides links: its status, method and time.

use core::fmt;
use core::ops::{Range, RangeInclusive};
use core::str::FromStr;

use super::Cause;
use crate::time::Timestamp;

/// What an entry of an access log says about its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Its status; `None` if it is not known.
    pub status: Option<u16>,
    /// Its method; empty if it is not known.
    pub method: &'a [u8],
    /// Its time; `None` if it is not known.
    pub time: Option<Timestamp>,
    /// Its target, with what a URI cannot hold percent-encoded; empty if there is none, or if it is long and the entry has many
    /// links.
    pub target: &'a [u8],
}

/// The longest method that is known as one.
const LONGEST_METHOD: usize = 32;

/// Whether `text` is a method: a token (RFC 9110 section 9.1) that names one.
fn is_method(text: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    (1..=LONGEST_METHOD).contains(&text.len()) && text != b"-" && text.iter().all(is_token)
}

/// The status that `text` is: up to three digits.
fn status(text: &[u8]) -> Option<u16> {
    let is_status = (1..=3).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| is_status)?.parse().ok()
}

impl<'a> Request<'a> {
    /// What these texts say; the method is the first word of its own.
    pub(crate) fn of(
        of_status: Option<&[u8]>,
        of_method: Option<&'a [u8]>,
        time: Option<&[u8]>,
    ) -> Request<'a> {
        let word = of_method.map(|text| &text[..memchr::memchr(b' ', text).unwrap_or(text.len())]);
        Request {
            status: of_status.and_then(status),
            method: word.filter(|word| is_method(word)).unwrap_or_default(),
            time: time.and_then(Timestamp::of_log),
            target: b"",
        }
    }
}

/// A range of statuses: `404`, `4xx`, `500-599` or `4xx-5xx`.
///
/// ```
/// use uriscan::extract::StatusRange;
/// let errors: StatusRange = "4xx-5xx".parse().unwrap();
/// assert!(errors.contains(404) && errors.contains(599) && !errors.contains(399));
/// assert_eq!("404".parse(), Ok(StatusRange::new(404..=404)));
/// assert!("599-500".parse::<StatusRange>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusRange(RangeInclusive<u16>);

impl StatusRange {
    /// The statuses in `range`.
    pub fn new(range: RangeInclusive<u16>) -> StatusRange {
        StatusRange(range)
    }

    /// Whether `status` is in it.
    pub fn contains(&self, status: u16) -> bool {
        self.0.contains(&status)
    }
}

/// The text is not a [`StatusRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAStatus;

impl fmt::Display for NotAStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write statuses of three digits as 404, 4xx or 500-599, separated by commas")
    }
}

impl core::error::Error for NotAStatus {}

impl FromStr for StatusRange {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<StatusRange, NotAStatus> {
        let bound = |text: &str| -> Option<RangeInclusive<u16>> {
            match text.as_bytes() {
                [class @ b'0'..=b'9', b'x' | b'X', b'x' | b'X'] => {
                    let first = 100 * u16::from(class - b'0');
                    Some(first..=first + 99)
                }
                digits @ [_, _, _] => status(digits).map(|one| one..=one),
                _ => None,
            }
        };
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let (from, to) = (bound(from).ok_or(NotAStatus)?, bound(to).ok_or(NotAStatus)?);
        let range = *from.start()..=*to.end();
        if range.is_empty() { Err(NotAStatus) } else { Ok(StatusRange(range)) }
    }
}

/// Which entries of access logs are read.
///
/// ```
/// use uriscan::extract::{ExtractorOptions, RequestFilter};
/// let missing = RequestFilter::default().statuses(vec!["404".parse().unwrap()]).methods(vec!["GET".to_owned()]);
/// let options = ExtractorOptions::default().requests(missing);
/// assert!(options.is_of_logs());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct RequestFilter {
    /// Those with a status in one of these ranges; all if there are none.
    pub statuses: Vec<StatusRange>,
    /// Those with one of these methods, in any case; all if there are none.
    pub methods: Vec<String>,
    /// Those at this time or later.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Read,
    Drop(Cause),
    /// What decides is not known of it.
    Unknown,
}

setters! { RequestFilter
    { statuses: Vec<StatusRange>, methods: Vec<String> }
    into { since: Option<Timestamp>, until: Option<Timestamp> }
}

impl RequestFilter {
    /// Whether all entries are read.
    pub fn is_empty(&self) -> bool {
        *self == RequestFilter::default()
    }

    /// What becomes of an entry with this `request`.
    pub(crate) fn apply(&self, request: &Request<'_>) -> Fate {
        let RequestFilter { statuses, methods, since, until } = self;
        let &Request { status, method, time, .. } = request;
        let is_method = |named: &String| named.as_bytes().eq_ignore_ascii_case(method);
        let is_status = |status| statuses.iter().any(|range| range.contains(status));
        let has_method = (!method.is_empty()).then(|| methods.iter().any(is_method));
        let is_since = |since| time.map(|time| since <= time);
        let is_until = |until| time.map(|time| time < until);
        let checks = [
            (Cause::Status, (!statuses.is_empty()).then(|| status.map(is_status))),
            (Cause::Method, (!methods.is_empty()).then_some(has_method)),
            (Cause::Since, since.map(is_since)),
            (Cause::Until, until.map(is_until)),
        ];
        let asked = || checks.iter().filter_map(|&(cause, is)| Some((cause, is?)));
        match asked().find(|&(_, is)| is == Some(false)) {
            Some((cause, _)) => Fate::Drop(cause),
            None if asked().all(|(_, is)| is.is_some()) => Fate::Read,
            None => Fate::Unknown,
        }
    }
}
named! {
    /// A part of the entries of access logs that is not a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum LogPart {
        /// The day of the request in UTC: `2000-10-10`.
        Day = "day",
        /// The hour of the day in UTC: `00` to `23`.
        Hour = "hour",
        /// The status of the response: `404`.
        Status = "status",
        /// The method of the request: `GET`.
        Method = "method",
    }
}

impl LogPart {
    /// What is written for an entry that does not have the part.
    pub const ABSENT: &[u8] = b"-";

    /// Appends this part of `request` to `out`.
    pub(crate) fn write(self, request: &Request<'_>, out: &mut Vec<u8>) {
        let of_time =
            |range: Range<usize>| Some(request.time?.to_string().as_bytes()[range].to_vec());
        let value = match self {
            LogPart::Day => of_time(0..10),
            LogPart::Hour => of_time(11..13),
            LogPart::Status => request.status.map(|status| format!("{status:03}").into_bytes()),
            LogPart::Method => Some(request.method.to_vec()).filter(|method| !method.is_empty()),
        };
        out.extend_from_slice(value.as_deref().unwrap_or(LogPart::ABSENT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_statuses_have_digits_or_a_class() {
        let range = |text: &str| text.parse::<StatusRange>().map(|range| range.0);
        for (text, expected) in [
            ("404", 404..=404),
            ("000", 0..=0),
            ("4xx", 400..=499),
            ("5XX", 500..=599),
            ("500-503", 500..=503),
            ("4xx-5xx", 400..=599),
            ("404-5xx", 404..=599),
        ] {
            assert_eq!(range(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "4",
            "40",
            "4x",
            "4040",
            "xx4",
            "x04",
            "40x",
            "4xxx",
            "-404",
            "404-",
            "503-500",
            "5xx-4xx",
            "4-5",
            "404,500",
            " 404",
            "4\u{e9}",
            "-",
            "--",
            "\u{e9}",
            "500-599-600",
        ] {
            assert_eq!(range(text), Err(NotAStatus), "{text}");
        }
    }

    #[test]
    fn methods_are_tokens_and_statuses_up_to_three_digits() {
        for (text, method) in [
            ("GET / HTTP/1.1", "GET"),
            ("PROPFIND", "PROPFIND"),
            ("M-SEARCH * HTTP/1.1", "M-SEARCH"),
            ("-", ""),
            ("", ""),
            ("\\x16\\x03\\x01", ""),
            ("<BADREQ>", ""),
            (" GET", ""),
            ("G\u{e9}T /", ""),
            ("AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDD /", ""),
        ] {
            let found = Request::of(None, Some(text.as_bytes()), None);
            assert_eq!(String::from_utf8_lossy(found.method), method, "{text}");
        }
        for (text, expected) in [
            ("404", Some(404)),
            ("000", Some(0)),
            ("0", Some(0)),
            ("-1", None),
            ("", None),
            ("-", None),
            ("4040", None),
            ("4x4", None),
        ] {
            assert_eq!(Request::of(Some(text.as_bytes()), None, None).status, expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_matters_only_where_nothing_else_decides() {
        let filter = RequestFilter::default()
            .statuses(vec![StatusRange::new(404..=404)])
            .methods(vec!["get".to_owned(), "HEAD".to_owned()])
            .since(Timestamp(10))
            .until(Timestamp(20));
        let is = |status, method: &'static str, time: Option<u32>| {
            let time = time.map(Timestamp);
            filter.apply(&Request { status, method: method.as_bytes(), time, target: b"" })
        };
        assert_eq!(is(Some(404), "GET", Some(10)), Fate::Read);
        assert_eq!(is(Some(404), "HEAD", Some(19)), Fate::Read);
        for (status, method, time, cause) in [
            (Some(200), "GET", Some(10), Cause::Status),
            (Some(404), "POST", Some(10), Cause::Method),
            (Some(404), "GET", Some(9), Cause::Since),
            (Some(404), "GET", Some(20), Cause::Until),
            (Some(200), "", None, Cause::Status),
            (None, "POST", None, Cause::Method),
            (None, "", Some(20), Cause::Until),
        ] {
            assert_eq!(is(status, method, time), Fate::Drop(cause), "{status:?} {method} {time:?}");
        }
        for (status, method, time) in [
            (None, "GET", Some(10)),
            (Some(404), "", Some(10)),
            (Some(404), "GET", None),
            (None, "", None),
        ] {
            assert_eq!(is(status, method, time), Fate::Unknown, "{status:?} {method} {time:?}");
        }
        assert_eq!(RequestFilter::default().apply(&Request::default()), Fate::Read);
    }
}
