//! Which object a location leads to, whatever it is called: by another scheme, at another endpoint of the same store, or as a
//! file of a web server.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::azure;
use super::google;
use super::location::{Location, Service};
use super::options::Options;

/// Where the objects of S3 are, in any region: its buckets have different names everywhere.
const AMAZON: &str = "https://s3.amazonaws.com";

const GOOGLE: &str = "https://storage.googleapis.com";

/// Other names of the server of [`GOOGLE`].
const GOOGLE_TOO: [&str; 2] = ["storage.cloud.google.com", "commondatastorage.googleapis.com"];

impl Location {
    /// The address of the object: locations that lead to the same one with these options have the same address. It holds no
    /// scheme, no user information and no query.
    ///
    /// Names that only the store knows, such as those of access points, and redirects of web servers, are not followed.
    ///
    /// ```
    /// use uriscan_remote::{Location, Options};
    /// let options = Options::default().set("AZURE_STORAGE_ACCOUNT", "me");
    /// let address = |text| Location::parse(text).unwrap().address(&options);
    /// assert_eq!(address("az://c/a"), address("abfss://c@me.dfs.core.windows.net/a"));
    /// assert_eq!(address("s3://b/a"), address("https://b.s3.eu-west-1.amazonaws.com/%61"));
    /// ```
    pub fn address(&self, options: &Options) -> String {
        let (bucket, key) = (self.bucket(), self.key());
        match self.service() {
            Service::S3 => at(&amazon(options), bucket, key),
            Service::Google => at(&google_base(options), bucket, key),
            Service::Azure => {
                let container = bucket.split_once('@').map_or(bucket, |(container, _)| container);
                at(&azure_base(options, self), container, key)
            }
            Service::Web => self.of_web(options),
        }
    }

    /// The address of a file of a web server, which may be one of a store.
    fn of_web(&self, options: &Options) -> String {
        let Ok(url) = Url::parse(&self.url()) else { return self.url() };
        let path = decoded(url.path());
        let path = path.strip_prefix('/').unwrap_or(&path);
        let host = host(&url);
        if let Some(bucket) = bucket_of_amazon(&host) {
            let base = without_scheme(AMAZON);
            return join(&[base, &bucket, path]);
        }
        // The bucket is part of the path, or of the name of the host.
        for base in [amazon(options), google_base(options), GOOGLE.to_owned()] {
            let Ok(base) = Url::parse(&base) else { continue };
            let base = self::host(&base);
            if let Some(bucket) = host.strip_suffix(&base).and_then(|it| it.strip_suffix('.')) {
                return join(&[&base, bucket, path]);
            }
        }
        // The name of a bucket is in lower case.
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        join(&[&host, &bucket.to_lowercase(), key])
    }
}

/// The address of the object `key` in the `bucket` of the store at the URL `base`.
fn at(base: &str, bucket: &str, key: &str) -> String {
    let bucket = bucket.to_lowercase();
    let Ok(url) = Url::parse(base) else { return join(&[base, &bucket, key]) };
    let host = host(&url);
    if let Some(of_host) = bucket_of_amazon(&host) {
        // An endpoint may have the bucket in its name.
        let bucket = if of_host.is_empty() { &bucket } else { &of_host };
        return join(&[without_scheme(AMAZON), bucket, key]);
    }
    // Where a path begins with an account, it is the first part.
    let path = decoded(url.path());
    join(&[&host, path.trim_matches('/'), &bucket, key])
}

/// The parts that are not empty, except for the last one, which may begin with a slash.
fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Host and port in one spelling.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_lowercase();
    let host = match host.as_str() {
        "localhost" | "[::1]" => "127.0.0.1",
        host if GOOGLE_TOO.contains(&host) => without_scheme(GOOGLE),
        host => host,
    };
    let host = match host.split_once('.') {
        Some((account, "dfs.core.windows.net" | "blob.core.windows.net")) => {
            let account = account.strip_suffix("-secondary").unwrap_or(account);
            Cow::Owned(format!("{account}.blob.core.windows.net"))
        }
        _ => Cow::Borrowed(host),
    };
    url.port().map_or_else(|| host.clone().into_owned(), |port| format!("{host}:{port}"))
}

fn without_scheme(url: &'static str) -> &'static str {
    url.split_once("://").map_or(url, |(_, host)| host)
}

/// The bucket in the name of a host of Amazon's, in any region; empty if there is none in it. `None` for other hosts.
fn bucket_of_amazon(host: &str) -> Option<String> {
    let name = host.strip_suffix(".cn").unwrap_or(host).strip_suffix(".amazonaws.com")?;
    let labels: Vec<&str> = name.split('.').collect();
    let is_service = |label: &&str| *label == "s3" || label.starts_with("s3-");
    let service = labels.iter().rposition(is_service)?;
    Some(labels[..service].join("."))
}

/// `text` without percent-encoding.
fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// The URL of S3, or of a store that speaks its protocol.
fn amazon(options: &Options) -> String {
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let url = names.into_iter().find_map(|name| options.value(name));
    url.unwrap_or(AMAZON).to_owned()
}

fn google_base(options: &Options) -> String {
    google::url(options).unwrap_or_else(|| GOOGLE.to_owned())
}

fn azure_base(options: &Options, location: &Location) -> String {
    azure::url(options, location).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(values: &[(&str, &str)], text: &str) -> String {
        let set = |options: Options, (name, value): &(&str, &str)| options.set(*name, *value);
        let options = values.iter().fold(Options::default(), set);
        Location::parse(text).unwrap().address(&options)
    }

    #[test]
    fn an_object_has_one_address() {
        let account = ("AZURE_STORAGE_ACCOUNT", "me");
        let emulator = ("AZURE_STORAGE_USE_EMULATOR", "true");
        let connection = (
            "AZURE_STORAGE_CONNECTION_STRING",
            "AccountName=me;AccountKey=a2V5;EndpointSuffix=core.windows.net",
        );
        let minio = ("AWS_ENDPOINT_URL", "http://Localhost:9000/");
        let google = ("AWS_ENDPOINT_URL", "https://storage.googleapis.com");
        let west = ("AWS_ENDPOINT", "https://s3.us-west-2.amazonaws.com");
        for (values, names) in [
            (
                &[account][..],
                &[
                    "az://c/p/a",
                    "AZ://c/p/a",
                    "abfs://c/p/a",
                    "abfss://c/p/a",
                    "abfss://c@me.dfs.core.windows.net/p/a",
                    "abfs://c@me.blob.core.windows.net/p/a",
                    "abfss://c@ME.dfs.core.windows.net/p/a",
                    "https://me.blob.core.windows.net/c/p/a",
                    "https://me-secondary.blob.core.windows.net:443/c/p/%61?sv=1",
                    "https://me.dfs.core.windows.net/c/x/../p/a",
                ][..],
            ),
            (&[connection], &["az://c/a", "abfss://c@me.dfs.core.windows.net/a"]),
            (&[emulator], &["az://c/a", "http://127.0.0.1:10000/devstoreaccount1/c/a"]),
            (
                &[],
                &[
                    "s3://b/p/a%20",
                    "https://b.s3.amazonaws.com/p/a%2520",
                    "https://s3.amazonaws.com/b/p/a%2520",
                    "https://s3.eu-west-1.amazonaws.com/b/p/a%2520",
                    "https://s3-eu-west-1.amazonaws.com/b/p/a%2520",
                    "https://b.s3.dualstack.eu-west-1.amazonaws.com/p/a%2520?X-Amz-Signature=1",
                    "http://B.s3.eu-west-1.amazonaws.com/p/a%2520",
                ],
            ),
            (&[west], &["s3://s3.b/a", "https://s3.b.s3.eu-west-1.amazonaws.com/a"]),
            (
                &[minio],
                &[
                    "s3://b/p/a",
                    "http://127.0.0.1:9000/b/p/a",
                    "http://localhost:9000/b/p/a?versionId=1",
                    "http://me@[::1]:9000/b/p%2Fa",
                ],
            ),
            (
                &[google],
                &[
                    "gs://b/a",
                    "s3://b/a",
                    "https://storage.googleapis.com/b/a",
                    "https://b.storage.googleapis.com/a",
                    "https://storage.cloud.google.com/b/a",
                ],
            ),
        ] {
            let first = address(values, names[0]);
            for name in names {
                assert_eq!(address(values, name), first, "{name}");
            }
        }
    }

    #[test]
    fn other_objects_have_other_addresses() {
        let account = &[("AZURE_STORAGE_ACCOUNT", "me")];
        let names = [
            "az://c/a",
            "az://c/A",
            "az://d/a",
            "az://c/a/b",
            "abfss://c@you.dfs.core.windows.net/a",
            "s3://c/a",
            "s3://c//a",
            "s3://c/a%41",
            "s3://c/aA",
            "gs://c/a",
            "https://example.com/c/a",
        ];
        let mut found: Vec<String> = names.iter().map(|name| address(account, name)).collect();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), names.len(), "{found:?}");
    }
}
