//! Rows about links: where each was found.

use super::json;
use super::row::push_decimal;
use uriscan_core::extract::{Context, Detail, Request};

/// A link and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkRow<'a> {
    /// The name of the source.
    pub(crate) source: &'a str,
    /// Its line there, counted from 1.
    pub(crate) line: u64,
    /// Its first byte there, counted from 0.
    pub(crate) byte: u64,
    pub(crate) context: Context,
    pub(crate) detail: Option<Detail<'a>>,
    /// Of a link in an entry of an access log.
    pub(crate) request: Option<Request<'a>>,
    pub(crate) uri: &'a [u8],
}

/// The fields before the URI in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) source: bool,
    pub(crate) line: bool,
    pub(crate) byte: bool,
    pub(crate) context: bool,
}

/// Appends `found` as a line, with fields separated by `:`.
pub(crate) fn line(found: &LinkRow<'_>, fields: Fields, record_end: u8, out: &mut Vec<u8>) {
    if fields.source {
        out.extend_from_slice(found.source.as_bytes());
        out.push(b':');
    }
    let numbers = [fields.line.then_some(found.line), fields.byte.then_some(found.byte)];
    for number in numbers.into_iter().flatten() {
        push_decimal(number, out);
        out.push(b':');
    }
    if fields.context {
        let context = found.context.name().as_bytes();
        out.extend_from_slice(context);
        let Detail { element, lastmod, priority, .. } = found.detail.unwrap_or_default();
        let element = if element == context { b"" } else { element };
        for (name, text) in [("element", element), ("lastmod", lastmod), ("priority", priority)] {
            if !text.is_empty() {
                out.push(b';');
                out.extend_from_slice(name.as_bytes());
                out.push(b'=');
                out.extend_from_slice(text);
            }
        }
        if let Some(request) = found.request {
            request_fields(found.context, request, |name, text, _| {
                out.push(b';');
                out.extend_from_slice(name.as_bytes());
                out.push(b'=');
                out.extend_from_slice(text);
            });
        }
        out.push(b':');
    }
    out.extend_from_slice(found.uri);
    out.push(record_end);
}

/// Calls `field` with the name and the text of what is known of the `request` with a link of this `context`, and
/// whether it is a number. The target of a request is not repeated.
fn request_fields(
    context: Context,
    request: Request<'_>,
    mut field: impl FnMut(&str, &[u8], bool),
) {
    if let Some(status) = request.status {
        field("status", status.to_string().as_bytes(), true);
    }
    if !request.method.is_empty() {
        field("method", request.method, false);
    }
    if let Some(time) = request.time {
        field("time", time.to_string().as_bytes(), false);
    }
    if !request.target.is_empty() && context != Context::Target {
        field("target", request.target, false);
    }
}

/// Appends `found` as a JSON object and a line feed.
pub(crate) fn json(found: &LinkRow<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"file\":");
    push_string(found.source.as_bytes(), out);
    out.extend_from_slice(b",\"line\":");
    push_decimal(found.line, out);
    out.extend_from_slice(b",\"byte\":");
    push_decimal(found.byte, out);
    out.extend_from_slice(b",\"context\":\"");
    out.extend_from_slice(found.context.name().as_bytes());
    out.push(b'"');
    if let Some(Detail { element, lastmod, priority, .. }) = found.detail {
        for (name, text) in [("element", element), ("lastmod", lastmod), ("priority", priority)] {
            if !text.is_empty() {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":");
                push_string(text, out);
            }
        }
    }
    if let Some(request) = found.request {
        request_fields(found.context, request, |name, text, is_number| {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            if is_number {
                out.extend_from_slice(text);
            } else {
                push_string(text, out);
            }
        });
    }
    out.extend_from_slice(b",\"uri\":");
    push_string(found.uri, out);
    out.extend_from_slice(b"}\n");
}

/// Appends `text` as a JSON string.
fn push_string(text: &[u8], out: &mut Vec<u8>) {
    json::push_string(&String::from_utf8_lossy(text), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_json_whatever_the_bytes() {
        for (source, uri) in
            [("a", &b"http://h/"[..]), ("a\"\n\\", "http://h/é".as_bytes()), ("é", b"x:\xFF\"")]
        {
            let found = LinkRow {
                source,
                line: 7,
                byte: 9,
                context: Context::Text,
                detail: None,
                request: None,
                uri,
            };
            let mut out = Vec::new();
            json(&found, &mut out);
            let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
            let expected = serde_json::json!({
                "file": source, "line": 7, "byte": 9, "context": "text", "uri": String::from_utf8_lossy(uri),
            });
            assert_eq!(value, expected);
        }
    }
}
