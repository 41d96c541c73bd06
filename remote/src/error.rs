//! What messages say of failed requests: the status, how often it was tried, and what to do.
//!
//! They are made of parts that are known, not of the texts of other crates, which may hold URLs with signatures. What a
//! server says is shown only where it is a plain word.

use std::error::Error;
use std::io;

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

use super::answer::Refused;
use super::location::Service;
use uriscan_files::escape::{counted, escaped};

/// The error for an argument or a setting that cannot be meant.
pub(super) fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.into())
}

pub(super) fn changed() -> io::Error {
    io::Error::other("changed while it was read; run it again")
}

/// The error for a response that does not have the `expected` number of bytes.
pub(super) fn wrong_length(found: u64, expected: u64) -> io::Error {
    let what = if found > expected { "more than " } else { "" };
    let sent = found.min(expected);
    let text = format!("the server announced {} and sent {what}{sent}", counted(expected, "byte"));
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// `error` of a store of this service.
pub(super) fn of_store(error: &StoreError, service: Service) -> io::Error {
    if let StoreError::Precondition { .. } = error {
        return changed();
    }
    if let Some(refused) = refused(error) {
        return io::Error::new(io::ErrorKind::InvalidData, refused.to_string());
    }
    let texts = texts(error);
    let status = match error {
        StoreError::NotFound { .. } => Some(404),
        StoreError::PermissionDenied { .. } => Some(403),
        StoreError::Unauthenticated { .. } => Some(401),
        _ => texts.iter().find_map(|text| number_after(text, "status code: ")),
    };
    let retries = texts.iter().find_map(|text| number_after(text, ", after ")).unwrap_or(0);
    if status == Some(416) {
        // Nothing beyond the end is requested: the content was longer.
        return changed();
    }
    if let Some(status) = status {
        let code = texts.iter().find_map(|text| code_in(text));
        return of_status(status, code, retries, service);
    }
    if texts.iter().any(|text| text.contains("redirect without LOCATION")) {
        return of_status(301, None, retries, service);
    }
    let transport = chain(error).find_map(|cause| cause.downcast_ref::<HttpError>());
    let what = match transport.map(HttpError::kind) {
        Some(HttpErrorKind::Timeout) => "the server does not answer in time".to_owned(),
        Some(HttpErrorKind::Connect) => format!("cannot connect{}", because(error)),
        Some(_) => format!("the connection broke off{}", because(error)),
        None if texts.iter().any(|text| text.contains(ERROR_AS_ANSWER)) => {
            let code = texts.iter().find_map(|text| code_in(text));
            let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
            format!("the server reports an error{code}")
        }
        None => return io::Error::other(cause_of(error)),
    };
    io::Error::other(what + &tried(retries))
}

/// Whether a response broke off after it had begun.
pub(super) fn is_cut_off(error: &StoreError) -> bool {
    let transport = chain(error).find_map(|cause| cause.downcast_ref::<HttpError>());
    use HttpErrorKind::{Decode, Interrupted, Unknown};
    let is_broken = |error: &HttpError| matches!(error.kind(), Interrupted | Decode | Unknown);
    transport.is_some_and(is_broken) && refused(error).is_none()
}

/// What was wrong with an answer that came whole.
fn refused(error: &StoreError) -> Option<&Refused> {
    chain(error).find_map(|cause| cause.downcast_ref::<Refused>())
}

/// The error for a response with this `status`, and this `code` of an error that the store names.
pub(super) fn of_status(
    status: u64,
    code: Option<&str>,
    retries: u64,
    service: Service,
) -> io::Error {
    let login = match service {
        Service::S3 => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for public buckets"
        }
        Service::Google => {
            "GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for public buckets"
        }
        Service::Azure => {
            "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN"
        }
        Service::Web => "the URL",
    };
    let (kind, what) = match (status, service) {
        (404 | 410, Service::Web) => (io::ErrorKind::NotFound, "there is no such file".to_owned()),
        (404, _) => (
            io::ErrorKind::NotFound,
            match code {
                Some("NoSuchBucket" | "ContainerNotFound") => "there is no such bucket".to_owned(),
                Some("NoSuchUpload") => "the upload was aborted by somebody else".to_owned(),
                _ => "there is no such object, or no such bucket".to_owned(),
            },
        ),
        (401 | 403, _) => (io::ErrorKind::PermissionDenied, format!("access denied; check {login}")),
        (301 | 302 | 307 | 308 | 400, Service::S3) => (
            io::ErrorKind::InvalidInput,
            "the request is not accepted; check AWS_REGION, which must be that of the bucket, and AWS_ENDPOINT_URL"
                .to_owned(),
        ),
        (429 | 500..=599, _) => {
            (io::ErrorKind::Other, "the server is busy or broken; try again later".to_owned())
        }
        _ => (io::ErrorKind::Other, "the request failed".to_owned()),
    };
    let code = code.map(|code| format!(", {code}")).unwrap_or_default();
    io::Error::new(kind, format!("{what} (HTTP status {status}{code}{})", tried(retries)))
}

/// How often a request was repeated, if it was.
pub(super) fn tried(retries: u64) -> String {
    match retries {
        0 => String::new(),
        1 => " after 1 retry".to_owned(),
        retries => format!(" after {retries} retries"),
    }
}

/// The innermost cause of `error`, as far as it can be shown.
pub(super) fn cause_of(error: &(dyn Error + 'static)) -> String {
    let cause = chain(error).last().map(ToString::to_string).unwrap_or_default();
    // What a server sent may hold what was sent to it; a signature would be in a URL.
    if ["://", "<", "{", "`", ERROR_AS_ANSWER].iter().any(|mark| cause.contains(mark)) {
        return "the request failed".to_owned();
    }
    let cut = cause.char_indices().nth(LONGEST_CAUSE).map_or(cause.len(), |(at, _)| at);
    let rest = if cut < cause.len() { "..." } else { "" };
    format!("{}{rest}", escaped(&cause[..cut]))
}

const LONGEST_CAUSE: usize = 200;

/// How the crate that speaks to stores begins the message for an error that is the body of an answer with status 200.
const ERROR_AS_ANSWER: &str = "Server returned error response: ";

fn because(error: &(dyn Error + 'static)) -> String {
    format!(": {}", cause_of(error))
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

fn texts(error: &(dyn Error + 'static)) -> Vec<String> {
    chain(error).map(ToString::to_string).collect()
}

/// The number that follows `mark` in `text`.
fn number_after(text: &str, mark: &str) -> Option<u64> {
    let rest = &text[text.find(mark)? + mark.len()..];
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

/// The code of an error in the XML of a store.
fn code_in(text: &str) -> Option<&str> {
    const LONGEST: usize = 64;
    let code = text.split_once("<Code>")?.1.split_once("</Code>")?.0;
    let is_word = code.len() <= LONGEST && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_of_a_server_are_shown() {
        let text = "Server returned non-2xx status code: 503 Service Unavailable: <Error><Code>SlowDown</Code>";
        assert_eq!(number_after(text, "status code: "), Some(503));
        assert_eq!(code_in(text), Some("SlowDown"));
        assert_eq!(code_in("<Code>\x1b[2J</Code>"), None);
        let error = of_status(503, Some("SlowDown"), 2, Service::S3).to_string();
        assert_eq!(
            error,
            "the server is busy or broken; try again later (HTTP status 503, SlowDown after 2 retries)"
        );
        let signed = io::Error::other("error for url (https://h/?sig=1)");
        assert_eq!(cause_of(&signed), "the request failed");
        for body in ["<html>secret</html>", "{\"token\":\"secret\"}", "unknown variant `secret`"] {
            assert_eq!(cause_of(&io::Error::other(body)), "the request failed");
        }
        let long = cause_of(&io::Error::other("ä".repeat(1 << 20)));
        assert_eq!(long, "ä".repeat(200) + "...");
        assert_eq!(cause_of(&io::Error::other("no\x1b route")), "no\\x1b route");
    }

    #[test]
    fn a_length_is_wrong_in_two_ways() {
        assert_eq!(
            wrong_length(5, 4).to_string(),
            "the server announced 4 bytes and sent more than 4"
        );
        assert_eq!(wrong_length(3, 4).to_string(), "the server announced 4 bytes and sent 3");
    }
}
