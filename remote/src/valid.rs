//! Checks settings before requests are made of them: the crate that speaks to stores takes them as they are, and panics if they
//! cannot be part of a request.

use std::io;
use std::path::Path;

use reqwest::Url;

use super::error::invalid;
use uriscan_files::read_limited;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Url,
    Path,
    /// A part of the name of a host, or of a path.
    Word,
    /// What a header may hold.
    Text,
    /// The path of a file of credentials.
    File,
    Document,
}

/// Checks the settings of a store, each by its name.
/// A value may be a secret, and errors do not show it.
pub(super) fn check<'s>(settings: impl Iterator<Item = (&'s str, &'s str)>) -> io::Result<()> {
    for (name, value) in settings {
        if name.ends_with("use_azure_cli") {
            return Err(invalid("AZURE_USE_AZURE_CLI: no program is run; set AZURE_STORAGE_TOKEN"));
        }
        let form = form_of(name);
        let what = match form {
            Form::File => {
                check_file(name, value)?;
                continue;
            }
            Form::Document => {
                check_document(name, value.as_bytes())?;
                continue;
            }
            _ if value.len() > LONGEST => "is too long",
            Form::Url if !is_url(value) => {
                "is not the URL of a server, http://host or https://host"
            }
            Form::Path if !value.starts_with('/') || !is_graphic(value) => "is not a path",
            Form::Word if !is_word(value) => {
                "has other characters than letters, digits, `.`, `_` and `-`"
            }
            Form::Text if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => {
                "has control characters or letters beyond ASCII"
            }
            _ => continue,
        };
        return Err(invalid(format!("{} {what}", name.to_ascii_uppercase())));
    }
    Ok(())
}

/// Checks the file at `path`, which is read without a limit later: what has no end is refused. What cannot be read is reported
/// then.
fn check_file(name: &str, path: &str) -> io::Result<()> {
    let path = Path::new(path);
    let refuse = |what: &str| Err(invalid(format!("{}: {what}", name.to_ascii_uppercase())));
    match path.metadata() {
        Err(_) => return Ok(()),
        Ok(metadata) if !metadata.is_file() => return refuse("is not a regular file"),
        Ok(_) => {}
    }
    match read_limited(path, MOST_CREDENTIALS) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => refuse(&error.to_string()),
        Ok(text) if name.starts_with("google") => check_document(name, &text),
        Ok(_) => Ok(()),
    }
}

/// Checks credentials of Google, which may name a server.
fn check_document(name: &str, text: &[u8]) -> io::Result<()> {
    // What is not JSON is reported when it is needed.
    let document: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    match &document["gcs_base_url"] {
        serde_json::Value::String(url) if !is_url(url) => {
            let what = "its gcs_base_url is not the URL of a server, http://host or https://host";
            Err(invalid(format!("{}: {what}", name.to_ascii_uppercase())))
        }
        _ => Ok(()),
    }
}

const MOST_CREDENTIALS: u64 = 1 << 20;

/// The longest value, in bytes, which becomes a part of a URL or of a header. Tokens of Azure are the longest.
const LONGEST: usize = 16 << 10;

/// The longest name of a bucket or container with its account, in bytes.
const LONGEST_BUCKET: usize = 512;

/// Checks the name of a bucket or container, which becomes a part of a URL.
pub(super) fn check_bucket(name: &str) -> io::Result<()> {
    match name.len() <= LONGEST_BUCKET
        && is_graphic(name)
        && !name.contains(['%', '?', '#', '[', ']'])
    {
        true => Ok(()),
        false => Err(invalid("is not the name of a bucket")),
    }
}

/// The form of the values of the setting `name`, in lower case.
fn form_of(name: &str) -> Form {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&["_service_account_key"]) {
        Form::Document
    } else if ends(&["_file", "_path", "_credentials", "_service_account"]) {
        Form::File
    } else if name.starts_with("azure_use_") {
        Form::Text
    } else if name.contains("endpoint") || ends(&["_url", "_full_uri", "authority_host"]) {
        Form::Url
    } else if ends(&["_relative_uri"]) {
        Form::Path
    } else if ends(&["region", "tenant_id", "authority_id", "account_name"]) {
        Form::Word
    } else {
        Form::Text
    }
}

fn is_url(text: &str) -> bool {
    let url = Url::parse(text).ok().filter(|_| is_graphic(text));
    url.is_some_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
            // Others are read as these by browsers only.
            && text.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
    })
}

/// Whether all bytes of `text` may be in a URL.
fn is_graphic(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONSENSE: [&str; 7] =
        ["not a url", "a\nb", "\x1b[31m", "ü", "http://[::1", "%zz\\", "{a}"];

    #[test]
    fn nonsense_is_refused_without_being_shown() {
        for name in [
            "aws_endpoint_url",
            "aws_endpoint",
            "aws_endpoint_url_s3",
            "aws_endpoint_url_sts",
            "aws_metadata_endpoint",
            "aws_container_credentials_full_uri",
            "aws_container_credentials_relative_uri",
            "aws_region",
            "aws_default_region",
            "google_base_url",
            "azure_storage_endpoint",
            "azure_authority_host",
            "azure_tenant_id",
            "azure_storage_account_name",
            "azure_msi_endpoint",
        ] {
            for value in NONSENSE {
                let error = check([(name, value)].into_iter()).unwrap_err().to_string();
                assert!(error.starts_with(&name.to_ascii_uppercase()), "{error}");
                assert!(!error.contains(value), "{error}");
            }
        }
        assert!(check([("azure_use_azure_cli", "true")].into_iter()).is_err());
        for name in [
            "aws_access_key_id",
            "aws_session_token",
            "aws_token",
            "google_bearer_token",
            "azure_storage_token",
        ] {
            for value in ["a\nb", "\x1b[31m", "ü", "a\x7f"] {
                assert!(check([(name, value)].into_iter()).is_err(), "{name}");
            }
        }
        for url in [
            "",
            "x",
            "http://",
            "http:///h",
            "http:h",
            "http://h:99999",
            "ftp://h",
            "/a",
            "http://h?x",
            "http://h#x",
        ] {
            assert!(check([("aws_endpoint", url)].into_iter()).is_err(), "{url}");
        }
        for bucket in ["a b", "a?b", "a#b", "ü", "a%zz", "{a}", "[", "a\n", "a\"b"] {
            assert!(check_bucket(bucket).is_err(), "{bucket}");
        }
    }

    #[test]
    fn files_of_credentials_are_bounded_and_name_servers_that_can_be_asked() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("long"), vec![b'x'; MOST_CREDENTIALS as usize + 1]).unwrap();
        std::fs::write(at("whole"), vec![b'x'; MOST_CREDENTIALS as usize]).unwrap();
        for name in [
            "aws_web_identity_token_file",
            "aws_container_authorization_token_file",
            "azure_federated_token_file",
            "google_application_credentials",
            "google_service_account",
            "google_service_account_path",
        ] {
            let check = |path: &str| check([(name, path)].into_iter());
            for path in ["/dev/zero", "/dev", &at("long")] {
                let error = check(path).unwrap_err().to_string();
                assert!(error.starts_with(&name.to_ascii_uppercase()), "{error}");
            }
            assert!(check(&at("whole")).is_ok() && check(&at("none")).is_ok(), "{name}");
        }
        for url in NONSENSE.into_iter().chain(["", "x", "http:///", "ftp://h", "http://h?S"]) {
            let document = serde_json::json!({"gcs_base_url": url}).to_string();
            std::fs::write(at("key.json"), &document).unwrap();
            for (name, value) in [
                ("google_service_account_key", &document),
                ("google_service_account", &at("key.json")),
                ("google_service_account_path", &at("key.json")),
                ("google_application_credentials", &at("key.json")),
            ] {
                let error = check([(name, value.as_str())].into_iter()).unwrap_err().to_string();
                assert!(error.contains("gcs_base_url") && !error.contains("?S"), "{error}");
            }
        }
        for document in ["", "{", "[]", "{}", r#"{"gcs_base_url":"http://127.0.0.1:9000"}"#] {
            assert!(check([("google_service_account_key", document)].into_iter()).is_ok());
        }
    }

    #[test]
    fn values_that_make_sense_are_taken() {
        for (name, value) in [
            ("aws_endpoint_url", "http://127.0.0.1:9000"),
            ("aws_endpoint", "https://h.example/minio/"),
            ("aws_endpoint_url_s3", "http://[::1]:9000"),
            ("aws_container_credentials_relative_uri", "/v2/credentials?id=1"),
            ("aws_region", "eu-west-1"),
            ("aws_secret_access_key", "very/secret+key="),
            ("aws_web_identity_token_file", "/tmp/a b/ü"),
            ("google_application_credentials", "/home/jörg/key.json"),
            ("google_service_account_key", "{\n}"),
            ("azure_storage_account_name", "devstoreaccount1"),
            ("azure_storage_sas_token", "?sv=1&sig=a%3D"),
            ("azure_use_fabric_endpoint", "true"),
        ] {
            assert!(check([(name, value)].into_iter()).is_ok(), "{name}");
        }
        for bucket in ["b", "my.bucket-1_x", "$logs", "c@a.dfs.core.windows.net"] {
            assert!(check_bucket(bucket).is_ok(), "{bucket}");
        }
    }
}
