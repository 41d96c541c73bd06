//! The fields of a line of evidence: with tabs between them, or of an index of a web archive (CDX, CDXJ).

use std::borrow::Cow;
use std::net::IpAddr;

use serde::Deserialize;

use uriscan_core::uri::UriErrorKind;

/// What a line says. All but the URL may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields<'t> {
    pub(super) url: Cow<'t, [u8]>,
    pub(super) same: Cow<'t, [u8]>,
    pub(super) names: Cow<'t, [u8]>,
    pub(super) leads: Cow<'t, [u8]>,
}

/// The fields of a line; `None` if it has none, or is about something that is not a page. An error if some are missing.
type Read<'t> = Result<Option<Fields<'t>>, UriErrorKind>;

/// Which field of the lines of a CDX index is what, as its first line says: ` CDX N b a m s k r M S V g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Legend {
    separator: u8,
    /// The numbers of the fields with the URL, the time, the type, the status, the digest, and the target of a redirect.
    places: [Option<u8>; 6],
}

/// That of indexes without one, which have at least these fields.
const USUAL: Legend =
    Legend { separator: b' ', places: [Some(2), Some(1), Some(3), Some(4), Some(5), Some(6)] };

/// The object of a line of CDXJ.
#[derive(Deserialize)]
struct Cdxj<'t> {
    #[serde(borrow)]
    url: Cow<'t, str>,
    #[serde(borrow, default)]
    status: Option<Status<'t>>,
    #[serde(borrow, default)]
    mime: Option<Cow<'t, str>>,
    #[serde(borrow, default)]
    digest: Option<Cow<'t, str>>,
    #[serde(borrow, default)]
    redirect: Option<Cow<'t, str>>,
}

/// The status of a response, as indexes write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Status<'t> {
    Number(u64),
    Text(#[serde(borrow)] Cow<'t, str>),
}

/// What a response is, by its status.
enum Answer {
    Page,
    Redirect,
    Other,
}

impl Answer {
    /// That of `status`, which is `-` for a page that was seen before; `None` if that is none. Some indexes have lines of all records
    /// of an archive; the type `media` distinguishes responses.
    fn of(media: &[u8], status: &[u8]) -> Option<Answer> {
        let number = status.strip_prefix(b"-").unwrap_or(status);
        let is_response = media == b"warc/revisit" || !media.starts_with(b"warc");
        match status {
            _ if !is_response => Some(Answer::Other),
            b"200" | b"-" | b"" => Some(Answer::Page),
            _ if !number.iter().all(u8::is_ascii_digit) => None,
            [b'3', _, _] => Some(Answer::Redirect),
            _ => Some(Answer::Other),
        }
    }

    /// The fields of a line about it: a redirect has no content of its own.
    fn fields<'t>(
        self,
        url: Cow<'t, [u8]>,
        same: Cow<'t, [u8]>,
        leads: Cow<'t, [u8]>,
    ) -> Option<Fields<'t>> {
        // In place of what is not known; a number is another field.
        let is_target = *leads != *b"-" && !leads.iter().all(u8::is_ascii_digit);
        match self {
            Answer::Page => Some(Fields { url, same, ..Fields::default() }),
            Answer::Redirect if is_target => Some(Fields { url, leads, ..Fields::default() }),
            Answer::Redirect | Answer::Other => None,
        }
    }
}

impl Legend {
    /// The legend that `line` is, if it is one.
    pub(super) fn of(line: &[u8]) -> Option<Legend> {
        /// A row of columns has fewer fields after the second one, whatever is in them.
        const LEAST: usize = 3;
        let letters = match line {
            [b'C', b'D', b'X', letters @ ..] | [_, b'C', b'D', b'X', letters @ ..] => letters,
            _ => return None,
        };
        let letters = letters.strip_suffix(b"\n").unwrap_or(letters);
        let letters = letters.strip_suffix(b"\r").unwrap_or(letters);
        let (&separator, letters) = letters.split_first()?;
        let begins = line[0] == b'C' || line[0] == separator;
        // Tabs at the end are those of a row of columns.
        let end = letters.iter().rposition(|&byte| byte != b' ').map_or(0, |at| at + 1);
        let letters = &letters[..end];
        let words = || letters.split(|&byte| byte == separator);
        let is_legend = begins
            && !separator.is_ascii_alphanumeric()
            && words().count() >= LEAST
            && words().all(|word| word.len() == 1 && word[0].is_ascii_graphic());
        if !is_legend {
            return None;
        }
        let place = |letter: u8| words().position(|word| word[0] == letter)?.try_into().ok();
        let digest = place(b'k').or(place(b'c'));
        let places = [place(b'a'), place(b'b'), place(b'm'), place(b's'), digest, place(b'r')];
        places[1].is_some().then_some(Legend { separator, places })
    }

    /// The last one in `text`, which begins with a line.
    pub(super) fn last_in(text: &[u8]) -> Option<Legend> {
        let begins = |at: usize| at == 0 || text[at - 1] == b'\n';
        let found = memchr::memmem::find_iter(text, b"CDX").filter_map(|at| {
            let from = if begins(at) { at } else { at - 1 };
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            if begins(from) { Legend::of(&text[from..end]) } else { None }
        });
        found.last()
    }

    /// The fields of `line`; `None` if it is of another form, without a time.
    fn read<'t>(&self, line: &'t [u8]) -> Option<Read<'t>> {
        // Some writers have tabs between fields, and spaces in the legend.
        let has_tabs = self.separator == b' ' && memchr::memchr(b'\t', line).is_some();
        let separator = if has_tabs { b'\t' } else { self.separator };
        let mut found = [None; 6];
        for (at, field) in line.split(|&byte| byte == separator).enumerate() {
            for (found, place) in found.iter_mut().zip(self.places) {
                if place.is_some_and(|place| usize::from(place) == at) {
                    *found = Some(field.trim_ascii());
                }
            }
        }
        let [url, time, media, status, digest, redirect] = found;
        if !time.is_some_and(is_time) {
            return None;
        }
        let is_short = self
            .places
            .iter()
            .zip(&found)
            .take(5)
            .any(|(place, found)| place.is_some() && found.is_none());
        let answer = Answer::of(media.unwrap_or_default(), status.unwrap_or_default());
        let (Some(url), Some(answer), false) = (url, answer, is_short) else {
            return Some(Err(UriErrorKind::Field));
        };
        let [digest, redirect] = [digest, redirect].map(|field| field.unwrap_or_default().into());
        Some(Ok(answer.fields(with_scheme(url), digest, redirect)))
    }
}

impl<'t> Fields<'t> {
    /// The fields of `line`, in an index with this `legend`, if it has one.
    ///
    /// # Errors
    /// If it is a line of CDX without all fields, or one of CDXJ whose object cannot be read.
    pub(super) fn of(line: &'t [u8], legend: Option<&Legend>) -> Read<'t> {
        if Legend::of(line).is_some() {
            return Ok(None);
        }
        let trimmed = line.trim_ascii();
        let has_tabs = memchr::memchr(b'\t', line).is_some();
        let mut words = trimmed.splitn(3, |&byte| byte == b' ');
        let [_key, time, rest] = [words.next(), words.next(), words.next()];
        let is_timed = !has_tabs && rest.is_some() && time.is_some_and(is_time);
        if let Some(object) = rest.filter(|rest| is_timed && rest.starts_with(b"{")) {
            return Fields::of_object(object);
        }
        if let Some(read) = legend.and_then(|legend| legend.read(trimmed)) {
            return read;
        }
        if has_tabs {
            let mut fields = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
            let mut next = || Cow::Borrowed(fields.next().unwrap_or_default());
            return Ok(Some(Fields { url: next(), same: next(), names: next(), leads: next() }));
        }
        let of_index = match (is_timed, rest) {
            (true, _) => USUAL.read(trimmed),
            (false, Some(_)) => Fields::of_netarchive(trimmed).map(|fields| Ok(Some(fields))),
            // A legend of nothing.
            (false, None) => (trimmed == b"CDX").then_some(Ok(None)),
        };
        let alone = || Ok(Some(Fields { url: trimmed.into(), ..Fields::default() }));
        of_index.unwrap_or_else(alone)
    }

    /// The fields of a line of an index of NetarchiveSuite: URL, address of the server, time, type, length, file, offset and, in most,
    /// a digest, without a status.
    fn of_netarchive(line: &'t [u8]) -> Option<Fields<'t>> {
        let mut fields = line.split(|&byte| byte == b' ');
        let mut next = || fields.next();
        let (url, address, time) = (next()?, next()?, next()?);
        let (_media, length, _file, offset) = (next()?, next()?, next()?, next()?);
        let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let is_address = str::from_utf8(address).is_ok_and(|it| it.parse::<IpAddr>().is_ok());
        let is_it = is_address && is_time(time) && is_number(length) && is_number(offset);
        let same = next().unwrap_or_default();
        is_it.then(|| Fields { url: url.into(), same: same.into(), ..Fields::default() })
    }

    /// The fields of the object of a line of CDXJ.
    fn of_object(object: &'t [u8]) -> Read<'t> {
        let read = serde_json::from_slice(object).map_err(|_| UriErrorKind::Field)?;
        let Cdxj { url, mime, status, digest, redirect } = read;
        let bytes = |text: Cow<'t, str>| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        let media = mime.as_ref().map_or(&b""[..], |mime| mime.as_bytes());
        let answer = match status {
            Some(Status::Number(number)) => Answer::of(media, number.to_string().as_bytes()),
            Some(Status::Text(text)) => Answer::of(media, text.as_bytes()),
            None => Answer::of(media, b""),
        };
        let [digest, redirect] = [digest, redirect].map(|text| bytes(text.unwrap_or_default()));
        Ok(answer.ok_or(UriErrorKind::Field)?.fields(bytes(url), digest, redirect))
    }
}

/// Whether `field` is the time of a record, to the second or finer.
fn is_time(field: &[u8]) -> bool {
    (14..=17).contains(&field.len()) && field.iter().all(u8::is_ascii_digit)
}

/// `url` with a scheme: the first indexes have none, as in `example.com:80/a`.
fn with_scheme(url: &[u8]) -> Cow<'_, [u8]> {
    let end = url.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(url.len());
    let colon = memchr::memchr(b':', &url[..end]).unwrap_or(end);
    let (name, port) = url[..end].split_at(colon);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    let is_host = name.contains(&b'.') && name.iter().all(is_name);
    if !is_host || !port.iter().skip(1).all(u8::is_ascii_digit) {
        return Cow::Borrowed(url);
    }
    let scheme: &[u8] = if port == b":443" { b"https://" } else { b"http://" };
    Cow::Owned([scheme, url].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The URL, the digest and the target of a redirect, with `|` between them; what is not a page is empty.
    fn read(line: &str, legend: Option<&str>) -> String {
        let legend = legend.map(|legend| Legend::of(legend.as_bytes()).unwrap());
        match Fields::of(line.as_bytes(), legend.as_ref()) {
            Ok(Some(Fields { url, same, leads, .. })) => {
                String::from_utf8([&url[..], &same, &leads].join(&b'|')).unwrap()
            }
            Ok(None) => String::new(),
            Err(kind) => kind.name().to_owned(),
        }
    }

    #[test]
    fn lines_of_cdx_are_read_by_their_legend() {
        let alexa = " CDX A b e a m s c k r V v D d g M n";
        let time = "20010424210551";
        for (legend, line, expected) in [
            (
                " CDX N b a m s k r M S V g\n",
                "h)/a {t} http://h/a text/html 200 K - - 1 2 f",
                "http://h/a|K|",
            ),
            (
                " CDX N b a m s k r V g\r\n",
                "h)/a {t} http://h/a text/html 302 K http://h/b 2 f",
                "http://h/a||http://h/b",
            ),
            (
                "CDX a b a m s k r M V g u",
                "http://h/a {t} http://h/a text/html 200 K - - 2 f <u>",
                "http://h/a|K|",
            ),
            (
                alexa,
                "h.de/ {t} 1.2.3.4 h.de:80/A text/html 200 old new - 1 2 3 4 f - 5",
                "http://h.de:80/A|new|",
            ),
            (
                alexa,
                "h.de/ {t} 1.2.3.4 h.de:443/A?x text/html 200 old new - 1 2 3 4 f - 5",
                "https://h.de:443/A?x|new|",
            ),
            (
                alexa,
                "dns:h.de {t} 1.2.3.4 dns:h.de text/dns - old new - 1 2 3 4 f - 5",
                "dns:h.de|new|",
            ),
            (
                "CDX A b e a m s c k",
                "h\t{t}\t1.2.3.4\thttp://h/a b\ttext/html\t200\told\tnew",
                "http://h/a b|new|",
            ),
            ("\tCDX\tk\tb\ta", "K\t{t}\thttp://h/a", "http://h/a|K|"),
            (",CDX,b,a,c", "{t},http://h/a,C", "http://h/a|C|"),
            (" CDX b s a r", "{t} 301 http://h/a login.php", "http://h/a||login.php"),
            (" CDX b s a r", "{t} 301 http://h/a -", ""),
            (" CDX b s a r", "{t} 404 http://h/a -", ""),
            (" CDX b s a k", "{t} - http://h/a K", "http://h/a|K|"),
            // Fields are missing, or there is another one in the place of the status.
            (" CDX b s a k", "{t} 200 http://h/a", "field"),
            (" CDX b a s k", "{t} http://h/a b 200 K", "field"),
            (" CDX N b m s k", "h)/a {t} text/html 200 K", "field"),
            // Lines of other forms, between those of the index.
            (" CDX b s a k", "http://h/a\tK", "http://h/a|K|"),
            (" CDX b s a k", "h)/a {t} {\"url\":\"http://h/a\",\"digest\":\"K\"}", "http://h/a|K|"),
            (" CDX k b a s", "h)/a {t} {\"url\":\"http://h/a\"}", "http://h/a||"),
        ] {
            let line = line.replace("{t}", time);
            assert_eq!(read(&line, Some(legend)), expected, "{legend} {line}");
        }
    }

    #[test]
    fn lines_of_indexes_without_a_legend_are_read_as_is_usual() {
        let time = "20040708140342";
        for (line, expected) in [
            ("h)/a {t} http://h/a text/html 200 K - - 1 2 f", "http://h/a|K|"),
            ("h/a {t} http://h/a text/html 302 K http://h/b 1 f", "http://h/a||http://h/b"),
            ("h/a {t} http://h/a text/html 302 K 1 f", ""),
            ("h/a {t} http://h/a text/html 200", "field"),
            ("h)/a {t} http://h/a warc/revisit - K - - 1 2 f", "http://h/a|K|"),
            ("h)/a {t} http://h/a warc/request - K - - 1 2 f", ""),
            ("h)/a {t} http://h/a warc/metadata 200 K - - 1 2 f", ""),
            ("h)/a {t} {\"url\":\"http://h/a\",\"mime\":\"warc/request\",\"digest\":\"K\"}", ""),
            ("h/a {t} http://h/a b text/html 200 K", "field"),
            (
                "h)/a {t} {\"url\":\"http://h/a\",\"status\":301,\"redirect\":\"/b\",\"digest\":\"K\"}",
                "http://h/a||/b",
            ),
            (
                "h)/a {t} {\"url\":\"http://h/a\",\"status\":\"200\",\"digest\":\"K\"}",
                "http://h/a|K|",
            ),
            ("h)/a {t} {\"url\":\"http://h/a\",\"status\":\"ok\",\"digest\":\"K\"}", "field"),
            ("http://h/a 1.2.3.4 {t} image/gif 741 x.arc 710193 56bf412e", "http://h/a|56bf412e|"),
            ("http://h/a 2001:db8::1 {t} image/gif 741 x.arc 710193", "http://h/a||"),
            (
                "http://h/a b 1.2.3.4 {t} image/gif 741 x.arc 7",
                "http://h/a b 1.2.3.4 {t} image/gif 741 x.arc 7||",
            ),
            ("http://h/a 1.2.3.4 {t} image/gif 741", "http://h/a 1.2.3.4 {t} image/gif 741||"),
            (" CDX N b a m s k r M S V g", ""),
            ("CDX", ""),
        ] {
            let line = line.replace("{t}", time);
            assert_eq!(read(&line, None), expected.replace("{t}", time), "{line}");
        }
    }

    #[test]
    fn a_legend_is_no_row_of_columns() {
        for line in [
            "CDX b a k\tdigest\t\t",
            "CDX b a k\t\t\t",
            "\tCDX\tb\ta",
            "xCDX b a k",
            "CDXxbxaxk",
            "CDX http b a",
            "CDX a k s",
            "CDX b",
            "CDX",
            "",
        ] {
            assert_eq!(Legend::of(line.as_bytes()), None, "{line}");
        }
        let [first, last] = [" CDX N b a k", "CDX b a c s"].map(|it| Legend::of(it.as_bytes()));
        assert!(first.is_some() && last.is_some());
        let text = b" CDX N b a k\nACDX b a k s\nx CDX b a k s\nCDX b a c s\r\nCDX b\n";
        assert_eq!(Legend::last_in(text), last);
        assert_eq!(Legend::last_in(&text[..40]), first);
        assert_eq!(Legend::last_in(b"CDX"), None);
    }
}
