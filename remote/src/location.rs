//! What names an object.

use std::fmt;

/// The service that a [`Location`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Amazon S3, or a store that speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Web,
}

/// The name of an object, of all objects whose names begin so, or of a file of a web server.
///
/// What it prints holds no secrets: neither user information nor the query of a URL.
///
/// ```
/// use uriscan_remote::{Location, Service};
/// let location = Location::parse("s3://bucket/lists/urls.txt").unwrap();
/// assert_eq!((location.service(), location.key()), (Service::S3, "lists/urls.txt"));
/// let signed = Location::parse("https://me:pass@host/list?sig=123").unwrap();
/// assert_eq!(signed.to_string(), "https://host/list?...");
/// assert!(!Location::is_one("lists/urls.txt"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location {
    service: Service,
    /// The scheme in lower case.
    scheme: &'static str,
    /// The bucket or container; for a web server, user information, host and port.
    bucket: String,
    /// The name of the object; for a web server, everything after the first slash.
    key: String,
}

const SCHEMES: [(&str, Service); 7] = [
    ("s3", Service::S3),
    ("gs", Service::Google),
    ("az", Service::Azure),
    ("abfs", Service::Azure),
    ("abfss", Service::Azure),
    ("https", Service::Web),
    ("http", Service::Web),
];

/// The longest key of an object, in bytes: four times that of all services.
const LONGEST_KEY: usize = 4096;

impl Location {
    /// Whether `text` begins like a location: with one of the schemes `s3`, `gs`, `az`, `abfs`, `abfss`, `https`, `http`,
    /// and `://`.
    pub fn is_one(text: &str) -> bool {
        split(text).is_some()
    }

    /// The location that `text` names.
    ///
    /// The name of an object is everything after the bucket, as it is: nothing in it is decoded.
    ///
    /// # Errors
    /// When it has another scheme or no bucket.
    pub fn parse(text: &str) -> Result<Location, LocationError> {
        let Some(((scheme, service), rest)) = split(text) else {
            return Err(LocationError(
                "the scheme is not one of s3, gs, az, abfs, abfss, https and http",
            ));
        };
        let end = match service {
            Service::Web => rest.find(['/', '?', '#']).unwrap_or(rest.len()),
            _ => rest.find('/').unwrap_or(rest.len()),
        };
        let (bucket, key) = rest.split_at(end);
        if bucket.is_empty() {
            return Err(LocationError(match service {
                Service::Web => "the URL has no host",
                _ => "the name of the bucket is missing",
            }));
        }
        if service != Service::Web && !bucket.bytes().all(is_of_bucket) {
            return Err(LocationError("the name of the bucket has characters that none may have"));
        }
        if service != Service::Web
            && bucket.contains('@')
            && (service != Service::Azure || bucket.contains(':'))
        {
            return Err(LocationError(
                "stores take no user and password from a URL, but from the environment",
            ));
        }
        let key = key.strip_prefix('/').unwrap_or(key);
        if service != Service::Web && key.len() > LONGEST_KEY {
            return Err(LocationError("the key is longer than that of any object"));
        }
        Ok(Location { service, scheme, bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// The service.
    pub fn service(&self) -> Service {
        self.service
    }

    /// The bucket or container, as it is written; for a web server, what precedes the path.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The name of the object in its bucket; empty for the bucket itself.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Another object of the same bucket.
    #[must_use]
    pub fn with_key(&self, key: impl Into<String>) -> Location {
        Location { key: key.into(), ..self.clone() }
    }

    /// The key without what is not part of the name: for a web server, query and fragment.
    pub fn path(&self) -> &str {
        match self.service {
            Service::Web => &self.key[..self.key.find(['?', '#']).unwrap_or(self.key.len())],
            _ => &self.key,
        }
    }

    pub(super) fn url(&self) -> String {
        let slash = if self.key.starts_with(['?', '#']) { "" } else { "/" };
        format!("{}://{}{slash}{}", self.scheme, self.bucket, self.key)
    }
}

/// Whether names of buckets, or of a container and an account, may have `byte`. Others have a meaning in the URLs of requests.
fn is_of_bucket(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._:$@".contains(&byte)
}

fn split(text: &str) -> Option<((&'static str, Service), &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let known = SCHEMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme))?;
    Some((known, rest))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The part before `@` is the container in URLs of Azure, and a secret in those of web servers.
        let host = match (self.service, self.bucket.rsplit_once('@')) {
            (Service::Web, Some((_, host))) => host,
            _ => &self.bucket,
        };
        write!(f, "{}://{host}/{}", self.scheme, self.path())?;
        let has_query = self.path().len() < self.key.len();
        f.write_str(if has_query { "?..." } else { "" })
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Why a text is no [`Location`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationError(&'static str);

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for LocationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_have_a_bucket_and_a_key() {
        for (text, bucket, key, shown) in [
            ("s3://b/a/b?c#d", "b", "a/b?c#d", "s3://b/a/b?c#d"),
            ("S3://b", "b", "", "s3://b/"),
            ("gs://b/", "b", "", "gs://b/"),
            (
                "abfss://c@a.dfs.core.windows.net/k",
                "c@a.dfs.core.windows.net",
                "k",
                "abfss://c@a.dfs.core.windows.net/k",
            ),
            ("https://u:p@h:8/a?sig=x", "u:p@h:8", "a?sig=x", "https://h:8/a?..."),
            ("http://h?sig=x", "h", "?sig=x", "http://h/?..."),
            ("http://h#f", "h", "#f", "http://h/?..."),
        ] {
            let location = Location::parse(text).unwrap();
            assert_eq!((location.bucket(), location.key()), (bucket, key), "{text}");
            assert_eq!(location.to_string(), shown);
            assert!(!format!("{location:?}").contains("sig"));
        }
        let signed = Location::parse("https://u:p@h/a?sig=x").unwrap();
        assert_eq!((signed.url().as_str(), signed.path()), ("https://u:p@h/a?sig=x", "a"));
        assert_eq!(Location::parse("http://h?q").unwrap().url(), "http://h?q");
        for text in [
            "",
            "s3:/b/k",
            "ftp://h/",
            "a/s3://b",
            "s3:///k",
            "https:///x",
            "https://?x",
            "s3://b?x/k",
            "s3://%62/k",
            "az://c#/k",
            "abfss://%63@a.dfs.core.windows.net/k",
            "gs://b\\c/k",
        ] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
    }
}
