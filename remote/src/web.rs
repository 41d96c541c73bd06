//! Requests to web servers, which are repeated as those to stores are.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use reqwest::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_MATCH,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE,
};
use reqwest::{Client, Response, StatusCode, Url};

use super::engine::{FIRST_PAUSE, LONGEST_PAUSE};
use super::error::{cause_of, changed, invalid, of_status, tried, wrong_length};
use super::location::{Location, Service};
use super::options::{RETRIES, RETRY_TIME};

/// How often a connection is tried again.
const MOST_CONNECTS: u64 = 2;

#[derive(Clone)]
pub(super) struct Page {
    client: Client,
    url: Url,
}

/// What the server says of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) bytes: Option<u64>,
    /// Whether parts of it can be requested, and are known to belong to the same content.
    pub(super) has_ranges: bool,
    pub(super) mark: Option<Mark>,
}

/// What identifies a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Etag(String),
    Modified(String),
}

impl Mark {
    fn of(headers: &HeaderMap) -> Option<Mark> {
        let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
        // A weak one is shared by contents that differ.
        let strong = text(ETAG).filter(|tag| !tag.starts_with("W/"));
        strong.map(Mark::Etag).or_else(|| text(LAST_MODIFIED).map(Mark::Modified))
    }
}

pub(super) enum Fault {
    /// It may succeed if it is repeated.
    Passing(io::Error),
    /// There is no connection, which rarely passes.
    Unconnected(io::Error),
    Final(io::Error),
}

/// The pauses between the attempts of a request.
pub(super) struct Retry {
    left: u64,
    done: u64,
    until: Instant,
    pause: Duration,
}

impl Retry {
    pub(super) fn new() -> Retry {
        let until = Instant::now() + RETRY_TIME;
        Retry { left: RETRIES as u64, done: 0, until, pause: FIRST_PAUSE }
    }

    /// The same with at most so many attempts after the first one.
    pub(super) fn at_most(self, retries: u64) -> Retry {
        Retry { left: self.left.min(retries), ..self }
    }

    /// Waits before the next attempt; returns the error if there is to be none.
    pub(super) async fn after(&mut self, fault: Fault) -> io::Result<()> {
        let error = match fault {
            Fault::Final(error) => return Err(error),
            Fault::Passing(error) => error,
            Fault::Unconnected(error) => {
                self.left = self.left.min(MOST_CONNECTS.saturating_sub(self.done));
                error
            }
        };
        if self.left == 0 || Instant::now() > self.until {
            return Err(io::Error::new(error.kind(), format!("{error}{}", tried(self.done))));
        }
        (self.left, self.done) = (self.left - 1, self.done + 1);
        tokio::time::sleep(self.pause).await;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        Ok(())
    }
}

impl Page {
    pub(super) fn new(client: Client, location: &Location) -> io::Result<Page> {
        let url = Url::parse(&location.url()).map_err(|_| invalid("is not a valid URL"))?;
        Ok(Page { client, url })
    }

    /// What the server says of the file, from a request for its first byte: signed URLs are often good for `GET` only.
    pub(super) async fn look(&self) -> io::Result<Known> {
        let mut retry = Retry::new();
        loop {
            match self.look_once().await {
                Ok(known) => return Ok(known),
                Err(fault) => retry.after(fault).await?,
            }
        }
    }

    async fn look_once(&self) -> Result<Known, Fault> {
        let response = self.send(&[(RANGE, "bytes=0-0")]).await?;
        let headers = response.headers();
        let mark = Mark::of(headers);
        Ok(match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let part = Part::of(headers).filter(|part| (part.first, part.last) == (0, 0));
                let bytes = part.ok_or_else(other_part)?.whole;
                Known { has_ranges: bytes.is_some() && mark.is_some(), bytes, mark }
            }
            // An empty file has no first byte.
            StatusCode::RANGE_NOT_SATISFIABLE => Known::default(),
            StatusCode::OK => {
                let says_so = headers.get(ACCEPT_RANGES).is_some_and(|value| value == "bytes");
                let bytes = response.content_length();
                Known { has_ranges: says_so && bytes.is_some() && mark.is_some(), bytes, mark }
            }
            status => return Err(refusal(status)),
        })
    }

    /// Appends the bytes of `range` to `buffer`, as far as they are not there yet.
    pub(super) async fn read(
        &self,
        range: &Range<u64>,
        known: &Known,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let expected = range.end - range.start;
        let start = range.start + buffer.len() as u64;
        let mut response = self.part(start, range.end, known).await?;
        while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
            if (buffer.len() + bytes.len()) as u64 > expected {
                let found = (buffer.len() + bytes.len()) as u64;
                return Err(Fault::Final(wrong_length(found, expected)));
            }
            buffer.extend_from_slice(&bytes);
        }
        match buffer.len() as u64 {
            found if found < expected => Err(Fault::Passing(wrong_length(found, expected))),
            _ => Ok(()),
        }
    }

    /// A response with the whole content, and how many bytes that has, if it was announced.
    pub(super) async fn whole(&self, known: &Known) -> Result<(Response, Option<u64>), Fault> {
        let response = self.send(&[]).await?;
        if response.status() != StatusCode::OK {
            return Err(refusal(response.status()));
        }
        // A page that is made for each request may have another length each time, and has no mark.
        let expected = response.content_length().or(known.bytes);
        let is_same = known.mark.is_none()
            || Mark::of(response.headers()) == known.mark
                && known.bytes.is_none_or(|bytes| Some(bytes) == expected);
        if is_same { Ok((response, expected)) } else { Err(Fault::Final(changed())) }
    }

    /// A response with the bytes from `start` to `end`.
    async fn part(&self, start: u64, end: u64, known: &Known) -> Result<Response, Fault> {
        let range = format!("bytes={start}-{}", end - 1);
        let response = match &known.mark {
            Some(Mark::Etag(tag)) => self.send(&[(RANGE, &range), (IF_MATCH, tag)]).await?,
            Some(Mark::Modified(time)) => {
                self.send(&[(RANGE, &range), (IF_UNMODIFIED_SINCE, time)]).await?
            }
            None => self.send(&[(RANGE, &range)]).await?,
        };
        match response.status() {
            // The range is beyond the end of another, shorter content.
            StatusCode::PRECONDITION_FAILED
            | StatusCode::RANGE_NOT_SATISFIABLE
            | StatusCode::OK => Err(Fault::Final(changed())),
            StatusCode::PARTIAL_CONTENT => {
                let headers = response.headers();
                let part = Part::of(headers).filter(|part| part.first == start && part.last < end);
                let part = part.ok_or_else(other_part)?;
                let is_same = Mark::of(headers) == known.mark && part.whole == known.bytes;
                if is_same { Ok(response) } else { Err(Fault::Final(changed())) }
            }
            status => Err(refusal(status)),
        }
    }

    async fn send(&self, headers: &[(HeaderName, &str)]) -> Result<Response, Fault> {
        let mut request = self.client.get(self.url.clone()).header(ACCEPT_ENCODING, "identity");
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        request.send().await.map_err(|error| broken(&error))
    }
}

/// The fault of a request that did not come to its end.
pub(super) fn broken(error: &reqwest::Error) -> Fault {
    if error.is_redirect() {
        let what =
            "refused to follow redirects: there are too many, or one leads from https to http";
        return Fault::Final(io::Error::other(what));
    }
    if error.is_builder() {
        return Fault::Final(io::Error::other("the request cannot be made"));
    }
    let cause = cause_of(error);
    if error.is_timeout() {
        return Fault::Passing(io::Error::other("the server does not answer in time"));
    }
    if !error.is_connect() {
        return Fault::Passing(io::Error::other(format!("the connection broke off: {cause}")));
    }
    let what = io::Error::other(format!("cannot connect: {cause}"));
    // It will not be trusted the next time either.
    if cause.contains("certificate") { Fault::Final(what) } else { Fault::Unconnected(what) }
}

fn refusal(status: StatusCode) -> Fault {
    if status.is_success() {
        let what = format!("the server did not send the file (HTTP status {})", status.as_u16());
        return Fault::Final(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let error = of_status(status.as_u16().into(), None, 0, Service::Web);
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Fault::Passing(error),
        status if status.is_server_error() => Fault::Passing(error),
        _ => Fault::Final(error),
    }
}

/// What a response says of the part that it has.
struct Part {
    first: u64,
    last: u64,
    /// The bytes of the whole, if they are known.
    whole: Option<u64>,
}

impl Part {
    /// What is said in `headers`, if that is possible.
    fn of(headers: &HeaderMap) -> Option<Part> {
        let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
        let (range, whole) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        let whole = if whole == "*" { None } else { Some(whole.parse().ok()?) };
        (first <= last && whole.is_none_or(|whole| last < whole)).then_some(Part {
            first,
            last,
            whole,
        })
    }
}

fn other_part() -> Fault {
    let what = "the server sent another part of the file than was asked for, or does not say which";
    Fault::Final(io::Error::new(io::ErrorKind::InvalidData, what))
}
