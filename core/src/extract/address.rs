//! Links without a scheme (`www.example.com`, mail addresses) and defanged links and hosts
//! (`hxxp://`, `example[.]com`). Found on request only, and searched byte by byte.

use core::ops::Range;

use super::context::Context;
use super::links::Links;
use super::refang::{DEFANGED, HIDDEN, hidden_at, hidden_dot, hidden_dot_before, restore};
use super::{Options, ends, scheme};
use crate::chunk::Span;
use crate::grammar::ByteClass;
use crate::grammar::class::{ALPHA, DIGIT, SCHEME, URI_BYTE};
use crate::grammar::scheme_facts;

/// The beginning of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Its first byte.
    pub(crate) start: usize,
    /// The first byte after its scheme and `:` or `://`.
    pub(crate) from: usize,
}

/// The beginning of the link whose scheme ends at the `:` at `colon`, if any.
#[inline(never)]
pub(crate) fn begin(options: &Options, text: &[u8], floor: usize, colon: usize) -> Option<Begin> {
    if options.refang
        && let Some(begin) = defanged_begin(options, text, floor, colon)
    {
        return Some(begin);
    }
    let (start, from) = scheme::start(&options.schemes, options.unicode, text, floor, colon)?;
    Some(Begin { start, from })
}

fn defanged_begin(options: &Options, text: &[u8], floor: usize, colon: usize) -> Option<Begin> {
    let is_bracketed = colon > floor && text[colon - 1] == b'[';
    let scheme_end = colon - usize::from(is_bracketed);
    let rest = &text[colon + 1..];
    let ends: &[&[u8]] = if is_bracketed { &[b"]//", b"//]"] } else { &[b"//"] };
    let from = colon + 1 + ends.iter().find(|&&end| rest.starts_with(end))?.len();
    let before = &text[floor..scheme_end];
    let ends_with = |name: &[u8]| {
        before.len() >= name.len() && before[before.len() - name.len()..].eq_ignore_ascii_case(name)
    };
    let (typed, meant) = DEFANGED.iter().find(|(typed, _)| ends_with(typed))?;
    let is_host = text.get(from).is_some_and(|&byte| ALPHA.has(byte) || DIGIT.has(byte));
    (is_host && options.schemes.allows(meant))
        .then_some(Begin { start: scheme_end - typed.len(), from })
}

/// The bytes of a host name.
const HOST: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b".-"));
/// The bytes of the part of a mail address before its `@`, as common in prose.
const LOCAL: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"._%+-"));
/// The bytes of a defanged host at most: each of its dots may take five.
const LONGEST_DEFANGED: usize = 16 * 253;
/// The bytes that may precede a host in prose, or in what programs write, such as `host=h.example`.
const BEFORE: ByteClass = ByteClass::of(b" \t\r\n\x0b\x0c\0\"'`()[]<>{}|,;*=");

/// Adds hosts and addresses that `text` holds between the links from number `first` on.
#[inline(never)]
pub(crate) fn fill_gaps(
    options: &Options,
    text: &[u8],
    first: usize,
    context: Context,
    links: &mut Links,
) {
    let known = links.split_off(first);
    let mut from = 0;
    for link in known {
        search_gap(options, text, Span { start: from, end: link.span.start }, context, links);
        from = link.span.end;
        links.restore(link);
    }
    search_gap(options, text, Span { start: from, end: text.len() as u32 }, context, links);
}

fn search_gap(options: &Options, text: &[u8], gap: Span, context: Context, links: &mut Links) {
    let text = &text[..gap.end as usize];
    let (start, mut floor) = (gap.start as usize, gap.start as usize);
    let mut at = floor;
    let next_mark = |at: usize| match options.refang {
        true => text[at..].iter().position(|byte| b".@[(".contains(byte)),
        false => memchr::memchr2(b'.', b'@', &text[at..]),
    };
    while let Some(found) = next_mark(at) {
        let mark = at + found;
        at = mark + 1;
        if mark < floor {
            continue;
        }
        let found = match text[mark] {
            b'@' if options.email => {
                let span = mail(options, text, start, floor, mark..mark + 1);
                span.map(|span| (span, &b"mailto:"[..]))
            }
            b'[' | b'(' if options.email && hidden_at(&text[mark..]).is_some() => {
                let len = hidden_at(&text[mark..]).map_or(0, <[u8]>::len);
                let span = mail(options, text, start, floor, mark..mark + len);
                span.map(|span| (span, &b"mailto:"[..]))
            }
            b'.' if options.bare_hosts => {
                let run = host_run(options, text, floor, mark);
                // The result is the same for all dots of the run.
                at = at.max(run.end);
                // A defanged host, which is found by the mark that follows.
                let is_part = options.refang && hidden_dot(&text[run.end..]).is_some();
                let span = host(options, text, start, floor, run).filter(|_| !is_part);
                span.map(|span| (span, &b"http://"[..]))
            }
            b'[' | b'(' if hidden_dot(&text[mark..]).is_some() => {
                let run = defanged_run(text, floor, mark);
                at = run.end;
                let span = defanged_host(options, text, start, floor, run);
                span.map(|span| (span, &b"http://"[..]))
            }
            _ => None,
        };
        if let Some((span, prefix)) = found {
            floor = span.end as usize;
            at = at.max(floor);
            let bytes = span.of(text);
            links.push_made(span, context, |out| {
                out.extend_from_slice(prefix);
                match options.refang {
                    true => restore(bytes, out),
                    false => out.extend_from_slice(bytes),
                }
            });
        }
    }
}

/// The bytes of host names and defanged dots around the defanged dot at `mark`.
fn defanged_run(text: &[u8], floor: usize, mark: usize) -> Range<usize> {
    let mut start = run_start(text, floor, mark, HOST);
    let end = defanged_end(text, mark);
    // A dot before the first label, or after the last one, is not part of the host.
    while start < mark && matches!(text[start], b'.' | b'-') {
        start += 1;
    }
    start..end
}

/// The end of the bytes of host names and defanged dots from `at` on.
fn defanged_end(text: &[u8], at: usize) -> usize {
    let mut end = run_end(text, at, HOST);
    while let Some(dot) = hidden_dot(&text[end..]) {
        end = run_end(text, end + dot.len(), HOST);
    }
    end
}

/// `text` without the defanged dots, and the bytes that cannot end a host name, at its end; returns its new end.
fn defanged_host_end(text: &[u8], begin: usize, mut end: usize) -> usize {
    while let Some(dot) = hidden_dot_before(&text[begin..end]) {
        end -= dot.len();
    }
    host_end(text, begin, end)
}

/// The host at `run`, with the port, path, query and fragment that follow it: a registrable name,
/// or an IPv4 address.
fn defanged_host(
    options: &Options,
    text: &[u8],
    start: usize,
    floor: usize,
    Range { start: begin, end: run }: Range<usize>,
) -> Option<Span> {
    let is_free = is_free(text, start, floor, begin);
    let before = &text[start..begin];
    let is_mail = HIDDEN.iter().any(|(typed, meant)| *meant == b"@" && before.ends_with(typed));
    // Longer ones are not hosts, in any form.
    if !is_free || is_mail || run - begin > LONGEST_DEFANGED {
        return None;
    }
    let end = defanged_host_end(text, begin, run);
    let mut name = Vec::new();
    restore(&text[begin..end], &mut name);
    let is_host = memchr::memchr2(b'[', b'(', &text[begin..end]).is_some()
        && (crate::uri::parse_ipv4(&name).is_some()
            || has_clean_labels(&name) && is_registrable(&name));
    if !is_host {
        return None;
    }
    Some(Span { start: begin as u32, end: tail_end(options, text, begin, end) as u32 })
}

/// The bytes of a host name around `mark`, with letters that are not ASCII in an IRI. A `www.` after such a letter begins a
/// name, where prose has no spaces.
fn host_run(options: &Options, text: &[u8], floor: usize, mark: usize) -> Range<usize> {
    let (mut start, mut end) = (run_start(text, floor, mark, HOST), run_end(text, mark, HOST));
    if !options.unicode {
        return start..end;
    }
    while let Some(letter) = ends::letter_before(&text[floor..start]) {
        start = run_start(text, floor, start - letter, HOST);
    }
    while let letter @ 1.. = ends::letter_len(&text[end..]) {
        end = run_end(text, end + letter, HOST);
    }
    let www = memchr::memmem::rfind(&text[start..end], b"www.").map(|at| start + at);
    start = www.filter(|&at| at > start && !text[at - 1].is_ascii()).unwrap_or(start);
    start..end
}

/// Whether a name may begin at `begin` of `text`, after `floor` or at the start.
fn is_free(text: &[u8], start: usize, floor: usize, begin: usize) -> bool {
    if begin == start {
        return true;
    }
    begin > floor
        && match text[begin - 1] {
            // A letter may be part of the name, which is then not found.
            0x80.. => {
                text[begin..].starts_with(b"www.")
                    || ends::letter_before(&text[floor..begin]).is_none()
            }
            // After a scheme it is another URI.
            b':' => {
                let name = run_start(text, floor, begin - 1, SCHEME);
                text[begin..].starts_with(b"www.") && scheme_facts(&text[name..begin - 1]).is_none()
            }
            b'/' => is_after_slashes(&text[start..begin], floor - start),
            byte => BEFORE.has(byte),
        }
}

/// Whether `before` ends in `//` that no scheme and no other path precedes; what is before `floor` is part of a link.
fn is_after_slashes(before: &[u8], floor: usize) -> bool {
    let Some(rest) = before.strip_suffix(b"//") else { return false };
    rest.len() >= floor && rest.last().is_none_or(|&byte| BEFORE.has(byte))
}

/// Where the run of bytes of `class` that ends before `at` begins.
fn run_start(text: &[u8], floor: usize, at: usize, class: ByteClass) -> usize {
    let len = text[floor..at].iter().rev().take_while(|&&byte| class.has(byte)).count();
    at - len
}

fn run_end(text: &[u8], at: usize, class: ByteClass) -> usize {
    at + text[at..].iter().take_while(|&&byte| class.has(byte)).count()
}

/// `text` without the bytes that cannot end a host name.
fn host_end(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(text[end - 1], b'.' | b'-') {
        end -= 1;
    }
    end
}

fn has_clean_labels(host: &[u8]) -> bool {
    host.len() <= 253
        && host.split(|&byte| byte == b'.').all(|label| {
            (1..=63).contains(&label.len()) && label[0] != b'-' && label[label.len() - 1] != b'-'
        })
}

/// Whether `host` ends in a public suffix and has more labels.
fn is_registrable(host: &[u8]) -> bool {
    uriscan_suffixes::ends(host).is_some_and(|ends| ends.is_known && ends.domain.is_some())
}

/// The host in `run`, a run of host bytes, with the port, path, query and fragment that follow it.
fn host(
    options: &Options,
    text: &[u8],
    start: usize,
    floor: usize,
    Range { start: begin, end: run }: Range<usize>,
) -> Option<Span> {
    let end = host_end(text, begin, run);
    let name = text.get(begin..end)?;
    let is_free = is_free(text, start, floor, begin);
    if !is_free || text.get(run) == Some(&b'@') || !has_clean_labels(name) || !is_registrable(name)
    {
        return None;
    }
    Some(Span { start: begin as u32, end: tail_end(options, text, begin, end) as u32 })
}

/// The end of the port, path, query and fragment after the host from `begin` to `end`.
fn tail_end(options: &Options, text: &[u8], begin: usize, end: usize) -> usize {
    let port = match text.get(end..) {
        Some([b':', digit, ..]) if DIGIT.has(*digit) => run_end(text, end + 1, DIGIT),
        _ => end,
    };
    // After the port there is a path, or nothing: `main.rs:12:34`.
    if !matches!(text.get(port), Some(b'/' | b'?' | b'#')) {
        return port;
    }
    let text = &text[..ends::quote_limit(text, begin, end)];
    let stop = run_end(text, end, URI_BYTE.without(ByteClass::of(b"()[]")));
    match ends::end(options, !options.unsplit, text, begin, end, stop) {
        Some(found) if !found.is_broken => found.at,
        _ => end,
    }
}

/// The mail address around the `@` at `mark`, which may be defanged if these are searched.
fn mail(
    options: &Options,
    text: &[u8],
    start: usize,
    floor: usize,
    Range { start: mark, end: after }: Range<usize>,
) -> Option<Span> {
    let mut begin = run_start(text, floor, mark, LOCAL);
    if options.refang {
        while let Some(dot) = hidden_dot_before(&text[floor..begin]) {
            begin = run_start(text, floor, begin - dot.len(), LOCAL);
        }
    }
    let begin = (begin..mark).find(|&at| ALPHA.has(text[at]) || DIGIT.has(text[at]))?;
    let run = if options.refang { defanged_end(text, after) } else { run_end(text, after, HOST) };
    if run - after > LONGEST_DEFANGED {
        return None;
    }
    let end = defanged_host_end(text, after, run);
    let mut restored = Vec::new();
    let mut domain = text.get(after..end)?;
    if options.refang {
        restore(domain, &mut restored);
        domain = &restored;
    }
    let is_free =
        begin == start || (begin > floor && text[begin - 1] != b'/' && text[begin - 1] != b':');
    let is_mail = is_free
        && (mark - begin) <= 64
        && has_clean_labels(domain)
        && is_registrable(domain)
        && !is_remote(&text[end..]);
    is_mail.then_some(Span { start: begin as u32, end: end as u32 })
}

/// Whether `rest` makes a path on a machine of the address before it: `git@h.example:a/b.git`.
fn is_remote(rest: &[u8]) -> bool {
    /// No more is looked at, since another address may follow at once.
    const LOOKED_AT: usize = 256;
    let Some(path) = rest.strip_prefix(b":") else { return false };
    let mut path = path.iter().take(LOOKED_AT).take_while(|&&byte| URI_BYTE.has(byte));
    path.any(|&byte| byte == b'/')
}
