//! What a store must answer for a request to be taken as done.
//!
//! The crate that speaks to stores takes any page of XML for a listing, ends one where a page has no token, and takes every
//! status from 200 to 299 for success. A server that is half broken, or a proxy in front of one, would thus make objects
//! disappear from a listing, or let an upload seem done.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt;
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};
use quick_xml::Reader;
use quick_xml::events::Event;
use reqwest::{Client, Method, StatusCode};

use uriscan_files::escape::counted;

/// Bytes of a page of a listing at most: a thousand names of a kilobyte, each byte escaped, are a tenth of it.
const LONGEST_PAGE: usize = 64 << 20;

/// An answer that is none: of the request, nothing is done or known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Refused {}

impl From<Refused> for HttpError {
    fn from(refused: Refused) -> HttpError {
        HttpError::new(HttpErrorKind::Decode, refused)
    }
}

fn refused(what: impl Into<String>) -> Refused {
    Refused(what.into())
}

/// Sends requests of a store, and looks at the answers to those that write and that list.
#[derive(Debug)]
pub(super) struct Checked(pub(super) Client);

impl HttpService for Checked {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let is_put = request.method() == Method::PUT;
        // What S3 and Google Cloud Storage call their listings.
        let is_listing = request.method() == Method::GET
            && request
                .uri()
                .query()
                .is_some_and(|query| query.split('&').any(|pair| pair == "list-type=2"));
        Box::pin(async move {
            let response = self.0.call(request).await?;
            let status = response.status();
            if is_put && status.is_success() {
                let is_done = [StatusCode::OK, StatusCode::CREATED, StatusCode::NO_CONTENT];
                return match is_done.contains(&status) {
                    true => Ok(response),
                    false => Err(unexpected(status).into()),
                };
            }
            if !is_listing || !status.is_success() {
                return Ok(response);
            }
            if status != StatusCode::OK {
                return Err(unexpected(status).into());
            }
            let (parts, body) = response.into_parts();
            let (mut pieces, mut page) = (body.bytes_stream(), Vec::new());
            while let Some(piece) = pieces.next().await {
                // The request is repeated by the caller, who takes what breaks off here for that.
                page.extend_from_slice(
                    &piece.map_err(|error| HttpError::new(HttpErrorKind::Decode, error))?,
                );
                if page.len() > LONGEST_PAGE {
                    let most = LONGEST_PAGE >> 20;
                    return Err(
                        refused(format!("a page of the listing has more than {most} MiB")).into()
                    );
                }
            }
            check(&page)?;
            Ok(HttpResponse::from_parts(parts, page.into()))
        })
    }
}

fn unexpected(status: StatusCode) -> Refused {
    refused(format!("the server did not say that it is done (HTTP status {})", status.as_u16()))
}

/// The error for what is not a page of a listing.
fn no_page(why: impl fmt::Display) -> Refused {
    refused(format!("the server sent no page of a listing: {why}"))
}

/// Checks a page of a listing: that it is one, is whole, has all names that it announces, and either says that it is the last
/// one or where the next one begins.
fn check(page: &[u8]) -> Result<(), Refused> {
    let page = str::from_utf8(page).map_err(|_| no_page("it is not UTF-8"))?;
    let mut reader = Reader::from_str(page);
    let (mut depth, mut is_empty, mut names) = (0, true, 0u64);
    // The text of the child of the root that is being read, and those that count.
    let mut text = String::new();
    let (mut is_truncated, mut token, mut announced) = (None, None, None);
    loop {
        let event = reader.read_event().map_err(|_| no_page("it is not well-formed"))?;
        match event {
            Event::Start(tag) | Event::Empty(tag) if depth == 0 => {
                if !is_empty || tag.local_name().as_ref() != "ListBucketResult" {
                    return Err(no_page("its root is another element"));
                }
                (is_empty, depth) = (false, 1);
            }
            Event::Start(_) => {
                depth += 1;
                text.clear();
            }
            Event::Text(part) if depth == 2 => text += &part,
            Event::CData(part) if depth == 2 => text += &part,
            Event::End(tag) => {
                if depth == 2 {
                    match tag.local_name().as_ref() {
                        "IsTruncated" => is_truncated = Some(text.trim() == "true"),
                        "NextContinuationToken" => token = Some(!text.trim().is_empty()),
                        "KeyCount" => announced = text.trim().parse().ok(),
                        "Contents" | "CommonPrefixes" => names += 1,
                        _ => {}
                    }
                }
                depth -= 1;
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if is_empty || depth > 0 {
        return Err(no_page(if is_empty { "it has no element" } else { "it breaks off" }));
    }
    match (is_truncated, token.unwrap_or(false)) {
        (Some(false), _) | (Some(true), true) => {}
        (Some(true), false) => {
            return Err(refused("the listing goes on, and the server did not say where"));
        }
        (None, _) => return Err(no_page("it does not say whether it is the last one")),
    }
    match announced {
        Some(announced) if announced > names => Err(refused(format!(
            "a page of the listing announced {} and has {names}",
            counted(announced, "name")
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_listing_is_whole_and_says_whether_it_is_the_last_one() {
        const ONE: &str = "<Contents><Key>a&lt;IsTruncated&gt;</Key><Size>1</Size></Contents>";
        for page in [
            "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://h/\"><IsTruncated>false</IsTruncated></ListBucketResult>\n",
            &format!(
                "<ListBucketResult><IsTruncated> true </IsTruncated><NextContinuationToken>t&amp;</NextContinuationToken>{ONE}</ListBucketResult>"
            ),
            &format!(
                "<!-- x --><s3:ListBucketResult>{ONE}<KeyCount>1</KeyCount><IsTruncated>false</IsTruncated></s3:ListBucketResult>"
            ),
        ] {
            assert_eq!(check(page.as_bytes()), Ok(()), "{page}");
        }
        let last = "<IsTruncated>false</IsTruncated>";
        for (page, what) in [
            (String::new(), "it has no element"),
            ("<Error><Code>InternalError</Code></Error>".to_owned(), "its root is another"),
            (format!("<Error>{last}</Error>"), "its root is another"),
            ("<!DOCTYPE html><html><body>login</body></html>".to_owned(), "its root is another"),
            ("no XML".to_owned(), "it has no element"),
            ("<ListBucketResult/>".to_owned(), "it breaks off"),
            (format!("<ListBucketResult>{last}{ONE}"), "it breaks off"),
            (format!("<ListBucketResult>{last}<Contents>"), "it breaks off"),
            (format!("<ListBucketResult>{last}</Error>"), "it is not well-formed"),
            (format!("<ListBucketResult>{last}</ListBucketResult><Error/>"), "its root is another"),
            (format!("<ListBucketResult>{ONE}</ListBucketResult>"), "it does not say whether"),
            (
                format!("<ListBucketResult>{ONE}<Contents>{last}</Contents></ListBucketResult>"),
                "it does not say whether",
            ),
            (
                "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>".to_owned(),
                "did not say where",
            ),
            (
                "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken> </NextContinuationToken></ListBucketResult>".to_owned(),
                "did not say where",
            ),
            (
                format!("<ListBucketResult>{last}<KeyCount>2</KeyCount>{ONE}</ListBucketResult>"),
                "announced 2 names and has 1",
            ),
        ] {
            let error = check(page.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{page}: {error}, not {what}");
        }
    }
}
