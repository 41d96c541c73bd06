//! The parts of URIs that can be counted.

use core::fmt;
use core::str::FromStr;

use super::buffers::Buffers;
use uriscan_core::extract::LogPart;
use uriscan_core::rules::ends;
use uriscan_core::uri::Components;

/// A part of a URI by which [`super::top()`] counts.
///
/// ```
/// use uriscan_bulk::pipeline::By;
/// assert_eq!("path:2".parse(), Ok(By::Path(2)));
/// assert_eq!(By::Path(2).to_string(), "path:2");
/// assert_eq!("path".parse(), Ok(By::WholePath));
/// assert!("path:0".parse::<By>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum By {
    /// The host, unless it is empty.
    Host,
    /// The registrable domain of the host, by the public suffix list.
    Domain,
    /// The public suffix of the host.
    Suffix,
    /// The scheme.
    Scheme,
    /// The port; normalization drops the default port of a scheme.
    Port,
    /// What follows the last dot of the last path segment, in lower case: up to 16 ASCII letters and digits, if
    /// something precedes the dot.
    Extension,
    /// The names of the parameters of the query, separated by `&`; a name that a URI repeats counts once.
    Param,
    /// The path, unless it is empty.
    WholePath,
    /// All of the URI.
    Url,
    /// The [shape](uriscan_core::shape) of the URI, with `{slug}` if so asked.
    Shape {
        /// Whether segments of words are typed.
        slugs: bool,
    },
    /// The first segments of a path that begins with a slash: this many of them.
    Path(u16),
    /// The last labels of a host that is a name: this many of them.
    Label(u16),
    /// A part of the entries of access logs. The records must be these parts, as [`crate::pipeline::links_of`] lists them with
    /// [`ExtractorOptions::log_part`](uriscan_core::extract::ExtractorOptions::log_part).
    Log(LogPart),
}

/// The longest extension.
const EXTENSION: usize = 16;

impl By {
    /// Parts of URIs that have no number and mostly few values.
    pub const PLAIN: [By; 7] =
        [By::Host, By::Domain, By::Suffix, By::Scheme, By::Port, By::Extension, By::Param];

    /// The name, without the number of segments or labels.
    pub const fn name(self) -> &'static str {
        match self {
            By::Host => "host",
            By::Domain => "domain",
            By::Suffix => "suffix",
            By::Scheme => "scheme",
            By::Port => "port",
            By::Extension => "extension",
            By::Param => "param",
            By::Path(_) | By::WholePath => "path",
            By::Url => "url",
            By::Shape { .. } => "shape",
            By::Label(_) => "label",
            By::Log(part) => part.name(),
        }
    }

    /// The part of an entry of a log; `None` for parts of URIs.
    pub const fn log_part(self) -> Option<LogPart> {
        match self {
            By::Log(part) => Some(part),
            _ => None,
        }
    }

    /// Calls `found` with each value of this part of `form`, whose components are `parts`, with the help of `buffers`;
    /// never if it has none.
    #[inline]
    pub(super) fn each(
        self,
        form: &[u8],
        parts: &Components,
        buffers: &mut Buffers,
        mut found: impl FnMut(&[u8]),
    ) {
        match self {
            By::Host | By::Domain | By::Suffix | By::Label(_) => {
                let host = parts.host(form);
                host.and_then(|host| self.of_host(host)).into_iter().for_each(found);
            }
            By::Scheme => parts.scheme(form).into_iter().for_each(found),
            By::Port => parts.port(form).into_iter().for_each(found),
            By::Extension => {
                let mut lower = [0; EXTENSION];
                if let Some(extension) = extension(parts.path(form)) {
                    let lower = &mut lower[..extension.len()];
                    lower.copy_from_slice(extension);
                    lower.make_ascii_lowercase();
                    found(lower);
                }
            }
            By::Param => buffers.names.each(parts.query(form).unwrap_or_default(), found),
            By::WholePath => {
                let path = parts.path(form);
                if !path.is_empty() {
                    found(path);
                }
            }
            By::Url => found(form),
            By::Shape { slugs } => found(buffers.shape(slugs, form, parts)),
            By::Log(_) => {}
            By::Path(count) => first_segments(parts.path(form), count).into_iter().for_each(found),
        }
    }

    pub(super) fn is_of_host(self) -> bool {
        matches!(self, By::Host | By::Domain | By::Suffix | By::Label(_))
    }

    /// This part of `host`, if it is one of hosts and `host` has it.
    #[inline(always)]
    pub(super) fn of_host(self, host: &[u8]) -> Option<&[u8]> {
        match self {
            By::Host => Some(host).filter(|host| !host.is_empty()),
            By::Domain => ends(host).domain,
            By::Suffix => ends(host).suffix,
            By::Label(count) => {
                let name = host.strip_suffix(b".").unwrap_or(host);
                // Addresses have no suffix.
                ends(name).suffix.map(|_| last_labels(name, count))
            }
            _ => None,
        }
    }
}

fn extension(path: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memrchr(b'/', path);
    let segment = &path[slash.map_or(0, |slash| slash + 1)..];
    let dot = memchr::memrchr(b'.', segment).filter(|&dot| dot > 0)?;
    let extension = &segment[dot + 1..];
    let is_one = (1..=EXTENSION).contains(&extension.len())
        && extension.iter().all(u8::is_ascii_alphanumeric);
    is_one.then_some(extension)
}

fn first_segments(path: &[u8], count: u16) -> Option<&[u8]> {
    if !path.starts_with(b"/") {
        return None;
    }
    let next = memchr::memchr_iter(b'/', path).nth(count.into());
    Some(&path[..next.unwrap_or(path.len())])
}

fn last_labels(name: &[u8], count: u16) -> &[u8] {
    let dot = memchr::memrchr_iter(b'.', name).nth(usize::from(count) - 1);
    &name[dot.map_or(0, |dot| dot + 1)..]
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Path(count) | By::Label(count) => write!(f, "{}:{count}", self.name()),
            By::Shape { slugs: true } => f.write_str("shape:slugs"),
            _ => f.write_str(self.name()),
        }
    }
}

/// The text is not the name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPart;

impl fmt::Display for UnknownPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the parts are host, domain, suffix, scheme, port, extension, param, path, path:N, url, shape, shape:slugs and label:N; of logs day, hour, status and method",
        )
    }
}

impl core::error::Error for UnknownPart {}

impl FromStr for By {
    type Err = UnknownPart;

    fn from_str(text: &str) -> Result<By, UnknownPart> {
        let of_logs = LogPart::ALL.map(By::Log);
        let named = By::PLAIN.into_iter().chain([By::WholePath, By::Url]).chain(of_logs);
        if let Some(by) = named.into_iter().find(|by| by.name() == text) {
            return Ok(by);
        }
        match text {
            "shape" => return Ok(By::Shape { slugs: false }),
            "shape:slugs" => return Ok(By::Shape { slugs: true }),
            _ => {}
        }
        let (name, count) = text.split_once(':').ok_or(UnknownPart)?;
        let count = count.parse().ok().filter(|&count| count > 0).ok_or(UnknownPart)?;
        match name {
            "path" => Ok(By::Path(count)),
            "label" => Ok(By::Label(count)),
            _ => Err(UnknownPart),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::uri::parse;

    fn values(by: &str, uri: &str) -> Vec<String> {
        let mut values = Vec::new();
        let (by, uri): (By, _) = (by.parse().unwrap(), uri.as_bytes());
        by.each(uri, &parse(uri).unwrap(), &mut Buffers::default(), |value| {
            values.push(String::from_utf8(value.to_vec()).unwrap());
        });
        values
    }

    #[test]
    fn parts_have_their_values() {
        let full = "http://u@a.b.example.co.uk:81/x/y.tar.GZ?b=1&a&b=2&&=c#f";
        for (by, uri, expected) in [
            ("host", full, &["a.b.example.co.uk"][..]),
            ("host", "file:///a", &[]),
            ("host", "mailto:a@b", &[]),
            ("domain", full, &["example.co.uk"]),
            ("domain", "http://127.0.0.1/", &[]),
            ("suffix", full, &["co.uk"]),
            ("scheme", full, &["http"]),
            ("port", full, &["81"]),
            ("port", "http://h/", &[]),
            ("extension", full, &["gz"]),
            ("extension", "http://h/.htaccess", &[]),
            ("extension", "http://h/a.b/c", &[]),
            ("extension", "http://h/a.", &[]),
            ("extension", "http://h/a.abcdefghijklmnopq", &[]),
            ("extension", "http://h/a.abcdefghijklmnop", &["abcdefghijklmnop"]),
            ("extension", "urn:a:b.txt", &["txt"]),
            ("param", full, &["b", "a", ""]),
            ("param", "http://h/?", &[]),
            ("path", full, &["/x/y.tar.GZ"]),
            ("path", "http://h", &[]),
            ("path", "urn:a:b", &["a:b"]),
            ("url", full, &[full]),
            ("shape", full, &["http://a.b.example.co.uk:81/x/y.tar.GZ?={text}&a&b={int}"]),
            ("shape:slugs", "http://h/a-b-c/1", &["http://h/{slug}/{int}"]),
            ("shape", "mailto:a", &["mailto:{text}"]),
            ("day", full, &[]),
            ("path:1", full, &["/x"]),
            ("path:2", full, &["/x/y.tar.GZ"]),
            ("path:9", full, &["/x/y.tar.GZ"]),
            ("path:1", "http://h/", &["/"]),
            ("path:1", "http://h", &[]),
            ("path:1", "http://h/a/", &["/a"]),
            ("path:2", "http://h/a/", &["/a/"]),
            ("path:1", "mailto:a/b", &[]),
            ("label:1", full, &["uk"]),
            ("label:3", full, &["example.co.uk"]),
            ("label:9", full, &["a.b.example.co.uk"]),
            ("label:2", "http://b.c./", &["b.c"]),
            ("label:1", "http://[::1]/", &[]),
            ("label:1", "http://10.0.0.1/", &[]),
        ] {
            assert_eq!(values(by, uri), expected, "{by} {uri}");
        }
    }

    #[test]
    fn names_round_trip() {
        let numbered = [By::Path(1), By::Path(u16::MAX), By::Label(3), By::WholePath, By::Url];
        let shapes = [false, true].map(|slugs| By::Shape { slugs });
        let of_logs = LogPart::ALL.map(By::Log);
        for by in By::PLAIN.into_iter().chain(numbered).chain(shapes).chain(of_logs) {
            assert_eq!(by.to_string().parse(), Ok(by));
        }
        for wrong in [
            "",
            "Host",
            "path:",
            "url:1",
            "day:1",
            "path:0",
            "label:65536",
            "host:1",
            "shape:",
            "shape:1",
            "path:-1",
        ] {
            assert_eq!(wrong.parse::<By>(), Err(UnknownPart), "{wrong}");
        }
    }
}
