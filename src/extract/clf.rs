//! The links of an access log in the Common or Combined Log Format, as Apache and nginx write it:
//!
//! ```text
//! host ident user [time] "request" status bytes "referer" "user agent"
//! ```

use super::reference::{Absolute, scheme};
use super::{Context, Finder, Links, page};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Appends the links of the entries in `text`, line by line: the target of the request (a relative one by `base`), the
/// referrer, and links in the user agent; of them those whose kind is in `wanted`.
///
/// A line that is no entry is searched as text.
pub(crate) fn entries(
    finder: &Finder,
    kernels: Kernels,
    text: Padded<'_>,
    wanted: &[Context],
    base: Option<&[u8]>,
    links: &mut Links,
) {
    let content = text.content();
    let absolute = Absolute::new(base);
    let has = |context: Context| wanted.is_empty() || wanted.contains(&context);
    let mut start = 0;
    while start < content.len() {
        let end = memchr::memchr(b'\n', &content[start..]).map_or(content.len(), |at| start + at);
        let line = Span { start: start as u32, end: end as u32 };
        start = end + 1;
        let Some(fields) = fields(line.of(content)) else {
            finder.find_span(kernels, text, line, Context::Text, links);
            continue;
        };
        let place = |range: core::ops::Range<usize>| Span {
            start: line.start + range.start as u32,
            end: line.start + range.end as u32,
        };
        if has(Context::Target)
            && let Some(target) = target(line.of(content), fields.request)
        {
            let typed = &line.of(content)[target.clone()];
            let typed = unescaped(typed);
            // `host:port` of a CONNECT and `*` name no resource.
            if typed.starts_with(b"/")
                || scheme(&typed).is_some_and(|s| typed[s.len()..].starts_with(b"://"))
            {
                page::push(
                    &finder.options().schemes,
                    &absolute,
                    &typed,
                    place(target),
                    Context::Target,
                    links,
                );
            }
        }
        for (field, context) in [(fields.referer, Context::Referer), (fields.agent, Context::Agent)]
        {
            if let Some(field) = field.filter(|_| has(context)) {
                finder.find_span(kernels, text, place(field), context, links);
            }
        }
    }
}

/// Where the fields of an entry stand in its line, without their quotes.
struct Fields {
    request: (usize, usize),
    referer: Option<core::ops::Range<usize>>,
    agent: Option<core::ops::Range<usize>>,
}

/// Whether `line` is an entry.
pub(crate) fn is_entry(line: &[u8]) -> bool {
    fields(line).is_some()
}

fn fields(line: &[u8]) -> Option<Fields> {
    // `[time] "request" status`
    let bracket = memchr::memchr(b'[', line)?;
    let close = bracket + memchr::memchr(b']', &line[bracket..])?;
    let is_time = line.get(bracket + 1).is_some_and(u8::is_ascii_digit)
        && line[bracket..close].contains(&b':');
    let words = line[..bracket].split(|&byte| byte == b' ').filter(|word| !word.is_empty()).count();
    if !is_time || words < 3 || !line[close..].starts_with(b"] \"") {
        return None;
    }
    let request = (close + 3, quote_end(line, close + 3)?);
    let rest = line.get(request.1 + 1..)?;
    let is_status =
        matches!(rest, [b' ', a, b, c, ..] if [a, b, c].iter().all(|b| b.is_ascii_digit()));
    if !is_status {
        return None;
    }
    let quoted = |from: usize| {
        let open = from + memchr::memchr(b'"', line.get(from..)?)? + 1;
        Some(open..quote_end(line, open)?)
    };
    let referer = quoted(request.1 + 1);
    let agent = referer.as_ref().and_then(|referer| quoted(referer.end + 1));
    Some(Fields { request, referer, agent })
}

/// Where the quoted field that begins at `from` ends; a quote in it has a backslash before it.
fn quote_end(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        from += memchr::memchr2(b'"', b'\\', line.get(from..)?)?;
        if line[from] == b'"' {
            return Some(from);
        }
        from += 2;
    }
}

/// Where the target stands in the request `METHOD target HTTP/1.1`.
fn target(line: &[u8], (start, end): (usize, usize)) -> Option<core::ops::Range<usize>> {
    let from = start + memchr::memchr(b' ', &line[start..end])? + 1;
    let to = memchr::memrchr(b' ', &line[from..end]).map_or(end, |at| from + at);
    (from < to).then_some(from..to)
}

/// `field` with `\xhh`, `\"` and `\\` as what they stand for.
fn unescaped(field: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr::memchr(b'\\', field).is_none() {
        return field.into();
    }
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        let byte;
        (rest, byte) = match rest {
            [b'\\', b'x', high, low, tail @ ..] if hex(high).is_some() && hex(low).is_some() => {
                (tail, (hex(high).unwrap_or(0) * 16 + hex(low).unwrap_or(0)) as u8)
            }
            [b'\\', byte @ (b'"' | b'\\'), tail @ ..] => (tail, *byte),
            _ => (tail, *first),
        };
        out.push(byte);
    }
    out.into()
}
