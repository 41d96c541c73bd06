//! A server on this machine that speaks as much of the protocol of S3 as a client needs, and fails as it is told to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Names in a page of a listing.
const PAGE: usize = 3;

/// How a response goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// This status, with a code in the body.
    Status(u16, &'static str),
    /// The connection is closed after so many bytes of the body.
    CutAfter(usize),
    /// The body stops after so many bytes, and the connection stays open.
    StallAfter(usize),
    /// So much time passes between two pieces of the body.
    Slow(Duration),
    /// Fewer bytes than were requested, by all headers.
    Short,
    /// The object is replaced before it is answered.
    Replaced(Vec<u8>),
    /// A redirect to this URL.
    Redirect(String),
    /// Another answer: its status, headers and body. The request has no effect.
    Instead(u16, Vec<(&'static str, &'static str)>, String),
}

/// When a response goes wrong.
#[derive(Clone, Debug)]
struct Rule {
    method: &'static str,
    /// What the path contains.
    part: String,
    /// Requests for which it holds: those with these numbers, of the ones that match.
    times: Range<usize>,
    seen: usize,
    fault: Fault,
}

/// A request as it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) range: Option<String>,
    pub(crate) sent: usize,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    uploads: HashMap<String, BTreeMap<usize, Vec<u8>>>,
    begun: usize,
    rules: Vec<Rule>,
    log: Vec<Seen>,
    /// Objects that were replaced, a second after all were made.
    replaced: HashSet<String>,
    /// Lists ETags that are not those of its headers.
    lists_other_etags: bool,
    /// Answers without lengths, ranges and what identifies the content.
    is_plain: bool,
}

/// A running server.
pub(crate) struct Server {
    address: String,
    state: Arc<Mutex<State>>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let of_server = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&of_server);
                // A client that goes away is not a fault of the server.
                thread::spawn(move || drop(serve(stream, &state)));
            }
        });
        Server { address, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The URL of what is at `path`, which begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        self.address.clone() + path
    }

    /// From now on it answers as the simplest of web servers.
    pub(crate) fn be_plain(&self) {
        self.state().is_plain = true;
    }

    /// From now on it lists ETags that are not those of its headers.
    pub(crate) fn list_other_etags(&self) {
        self.state().lists_other_etags = true;
    }

    /// Stores an object; its name is `bucket/key`.
    pub(crate) fn put(&self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.state().objects.insert(format!("/{name}"), bytes.into());
    }

    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.state().objects.get(&format!("/{name}")).cloned()
    }

    /// The objects whose names begin so, without that.
    pub(crate) fn below(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let beginning = format!("/{name}");
        let state = self.state();
        let own = state.objects.iter().filter_map(|(name, bytes)| {
            Some((name.strip_prefix(&beginning)?.to_owned(), bytes.clone()))
        });
        own.collect()
    }

    /// Removes all objects and uploads, and lets requests succeed.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.objects.clear();
        state.uploads.clear();
        state.rules.clear();
    }

    /// Uploads that are neither completed nor aborted.
    pub(crate) fn open_uploads(&self) -> usize {
        self.state().uploads.len()
    }

    /// The requests so far.
    pub(crate) fn log(&self) -> Vec<Seen> {
        self.state().log.clone()
    }

    /// The requests with these numbers, of those with `method` whose path contains `part`, go wrong.
    pub(crate) fn fail(&self, method: &'static str, part: &str, times: Range<usize>, fault: Fault) {
        let part = part.to_owned();
        self.state().rules.push(Rule { method, part, times, seen: 0, fault });
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    while let Some(request) = read(&mut input)? {
        let fault = fault_of(&request, state);
        let response = match &fault {
            Some(Fault::Status(status, code)) => {
                let body =
                    format!("<Error><Code>{code}</Code><Message>\u{1b}[2Jsecret</Message></Error>");
                Response { status: *status, headers: Vec::new(), body: body.into_bytes() }
            }
            Some(Fault::Instead(status, headers, body)) => {
                let headers =
                    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                let body = body.clone().into_bytes();
                Response { status: *status, headers: headers.collect(), body }
            }
            Some(Fault::Redirect(to)) => {
                let headers = vec![("Location".to_owned(), to.clone())];
                Response { status: 302, headers, body: Vec::new() }
            }
            Some(Fault::Replaced(bytes)) => {
                let mut all = lock(state);
                all.objects.insert(request.path.clone(), bytes.clone());
                all.replaced.insert(request.path.clone());
                drop(all);
                answer(&request, state)
            }
            _ => answer(&request, state),
        };
        let sent = if request.method == "HEAD" { 0 } else { response.body.len() };
        lock(state).log.push(Seen {
            method: request.method.clone(),
            target: format!("{}?{}", request.path, request.query),
            range: request.headers.get("range").cloned(),
            sent,
        });
        let is_plain = lock(state).is_plain;
        if !write(&mut out, &request, response, fault.as_ref(), is_plain)? {
            break;
        }
    }
    Ok(())
}

fn fault_of(request: &Request, state: &Mutex<State>) -> Option<Fault> {
    let target = format!("{}?{}", request.path, request.query);
    let mut state = lock(state);
    let mut found = None;
    for rule in &mut state.rules {
        if rule.method == request.method && target.contains(&rule.part) {
            if found.is_none() && rule.times.contains(&rule.seen) {
                found = Some(rule.fault.clone());
            }
            rule.seen += 1;
        }
    }
    found
}

fn read(input: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let bytes = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; bytes];
    input.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (decoded(path), query.to_owned());
    Ok(Some(Request { method, path, query, headers, body }))
}

/// Writes `response`; returns whether the connection stays.
fn write(
    out: &mut TcpStream,
    request: &Request,
    mut response: Response,
    fault: Option<&Fault>,
    is_plain: bool,
) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} X\r\n", response.status);
    for (name, value) in &response.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let is_head = request.method == "HEAD";
    if is_plain {
        // The end of the connection is that of the body.
        head += "Connection: close\r\n";
    } else if !is_head {
        head += &format!("Content-Length: {}\r\n", response.body.len());
    }
    if fault == Some(&Fault::Short) && response.body.len() > 1 {
        let bytes = response.body.len();
        head = head.replace(
            &format!("Content-Length: {bytes}"),
            &format!("Content-Length: {}", bytes - 1),
        );
        response.body.pop();
    }
    out.write_all((head + "\r\n").as_bytes())?;
    if is_head {
        return Ok(true);
    }
    match fault {
        Some(Fault::CutAfter(bytes)) if response.body.len() > *bytes => {
            out.write_all(&response.body[..*bytes])?;
            out.flush()?;
            // What was sent arrives before the end does.
            thread::sleep(Duration::from_millis(50));
            return Ok(false);
        }
        Some(Fault::StallAfter(bytes)) if response.body.len() > *bytes => {
            out.write_all(&response.body[..*bytes])?;
            thread::sleep(Duration::from_secs(20));
            return Ok(false);
        }
        Some(Fault::Slow(pause)) => {
            for piece in response.body.chunks(1 << 16) {
                out.write_all(piece)?;
                thread::sleep(*pause);
            }
        }
        _ => out.write_all(&response.body)?,
    }
    Ok(!is_plain)
}

fn etag(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(7u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("\"{sum:016x}-{}\"", bytes.len())
}

fn status(status: u16, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code></Error>").into_bytes();
    Response { status, headers: Vec::new(), body }
}

fn answer(request: &Request, state: &Mutex<State>) -> Response {
    let mut state = lock(state);
    let parameter = |name: &str| {
        let mut pairs =
            request.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    };
    match request.method.as_str() {
        "GET" if parameter("list-type").is_some() => {
            let named = |name: &str| decoded(&parameter(name).unwrap_or_default());
            let most = parameter("max-keys").map_or(PAGE, |text| text.parse().unwrap());
            let place = (named("prefix"), named("continuation-token"));
            list(request, &state, (&place.0, &place.1), most)
        }
        "GET" | "HEAD" => content(request, &state),
        "PUT" => match (parameter("uploadId"), parameter("partNumber")) {
            (Some(id), Some(number)) => match state.uploads.get_mut(&id) {
                None => status(404, "NoSuchUpload"),
                Some(parts) => {
                    parts.insert(number.parse().unwrap(), request.body.clone());
                    tagged(&request.body)
                }
            },
            _ => {
                state.objects.insert(request.path.clone(), request.body.clone());
                tagged(&request.body)
            }
        },
        "POST" if parameter("uploads").is_some() => {
            state.begun += 1;
            let id = format!("u{}", state.begun);
            state.uploads.insert(id.clone(), BTreeMap::new());
            xml(format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        "POST" if parameter("delete").is_some() => {
            let body = String::from_utf8(request.body.clone()).unwrap();
            let keys = body.split("<Key>").skip(1).map(|rest| rest.split_once("</Key>").unwrap().0);
            let mut answer = "<DeleteResult>".to_owned();
            for key in keys {
                state.objects.remove(&format!("{}/{key}", request.path.trim_end_matches('/')));
                answer += &format!("<Deleted><Key>{key}</Key></Deleted>");
            }
            xml(answer + "</DeleteResult>")
        }
        "POST" => match state.uploads.remove(&parameter("uploadId").unwrap_or_default()) {
            None => status(404, "NoSuchUpload"),
            Some(parts) => {
                let all = parts.into_values().flatten().collect::<Vec<u8>>();
                let tag = etag(&all).replace('"', "");
                state.objects.insert(request.path.clone(), all);
                xml(format!(
                    "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
                ))
            }
        },
        "DELETE" => {
            state.uploads.remove(&parameter("uploadId").unwrap_or_default());
            Response { status: 204, headers: Vec::new(), body: Vec::new() }
        }
        _ => status(405, "MethodNotAllowed"),
    }
}

fn tagged(body: &[u8]) -> Response {
    Response { status: 200, headers: vec![("ETag".to_owned(), etag(body))], body: Vec::new() }
}

fn xml(text: String) -> Response {
    Response { status: 200, headers: Vec::new(), body: text.into_bytes() }
}

/// The second at which an object was last modified.
fn second_of(state: &State, name: &str) -> u8 {
    u8::from(state.replaced.contains(name))
}

fn content(request: &Request, state: &State) -> Response {
    let Some(bytes) = state.objects.get(&request.path) else { return status(404, "NoSuchKey") };
    if state.is_plain {
        return Response { status: 200, headers: Vec::new(), body: bytes.clone() };
    }
    let tag = etag(bytes);
    let second = second_of(state, &request.path);
    if request.headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
        return status(412, "PreconditionFailed");
    }
    let mut headers = vec![
        ("ETag".to_owned(), tag),
        ("Last-Modified".to_owned(), format!("Mon, 23 Nov 2026 10:00:0{second} GMT")),
        ("Accept-Ranges".to_owned(), "bytes".to_owned()),
    ];
    if request.method == "HEAD" {
        headers.push(("Content-Length".to_owned(), bytes.len().to_string()));
        return Response { status: 200, headers, body: Vec::new() };
    }
    let range = request.headers.get("range").and_then(|text| text.strip_prefix("bytes="));
    let Some((start, end)) = range.and_then(|range| range.split_once('-')) else {
        return Response { status: 200, headers, body: bytes.clone() };
    };
    let start: usize = start.parse().unwrap();
    let end = end.parse::<usize>().map_or(bytes.len(), |end| bytes.len().min(end + 1));
    if start >= bytes.len() {
        return status(416, "InvalidRange");
    }
    let shown = format!("bytes {start}-{}/{}", end - 1, bytes.len());
    headers.push(("Content-Range".to_owned(), shown));
    Response { status: 206, headers, body: bytes[start..end].to_vec() }
}

/// A page of at most `most` names after `after`, which is also the token for it.
fn list(request: &Request, state: &State, (prefix, after): (&str, &str), most: usize) -> Response {
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let mut body = "<ListBucketResult>".to_owned();
    let names = state.objects.iter().filter_map(|(name, bytes)| {
        let key = name.strip_prefix(&bucket)?;
        (key.starts_with(prefix) && key > after).then_some((name, key, bytes))
    });
    let mut names = names.peekable();
    let mut last = "";
    for (name, key, bytes) in names.by_ref().take(most) {
        let etag = match state.lists_other_etags {
            true => key.to_owned(),
            false => etag(bytes).replace('"', "&quot;"),
        };
        let second = second_of(state, name);
        body += &format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-23T10:00:0{second}.250Z</LastModified><ETag>{etag}</ETag><Size>{}</Size></Contents>",
            bytes.len()
        );
        last = key;
    }
    body += &format!("<IsTruncated>{}</IsTruncated>", names.peek().is_some());
    if names.peek().is_some() {
        body += &format!("<NextContinuationToken>{last}</NextContinuationToken>");
    }
    xml(body + "</ListBucketResult>")
}

/// `text` without percent-encodings.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}
