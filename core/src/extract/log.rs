//! The links of the entries of a log, whatever its format.

use core::ops::Range;
use std::borrow::Cow;

use super::how::How;
use super::reference::{encoded, scheme};
use super::request::{Fate, LogPart, Request};
use super::value::Values;
use super::{Context, ExtractorOptions, Links, json, sniff};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::class::{ALPHA, SCHEME, URI_BYTE};
use crate::normalize::percent::push_triplet;
use crate::uri::split;

/// A field of an entry.
#[derive(Debug)]
pub(crate) struct Field<'t> {
    /// Its range in the line.
    pub(crate) at: Range<usize>,
    /// Its value: that range of the line, without the escapes of the log.
    pub(crate) text: Cow<'t, [u8]>,
}

/// What an entry has of the scheme and the authority of its request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin<'t> {
    pub(crate) scheme: Option<&'t [u8]>,
    /// With or without a port.
    pub(crate) host: Option<&'t [u8]>,
    pub(crate) port: Option<&'t [u8]>,
}

impl Origin<'_> {
    /// Scheme and authority; `None` without a host. What has no scheme has that of its port, or
    /// `scheme`.
    fn site(&self, scheme: &[u8]) -> Option<Vec<u8>> {
        let host = self.host?;
        let is_port = |port: &[u8]| !port.is_empty() && port.iter().all(u8::is_ascii_digit);
        let colon = memchr::memrchr(b':', host).filter(|&at| is_port(&host[at + 1..]));
        let own = colon.map(|at| &host[at + 1..]);
        if !is_host(&host[..colon.unwrap_or(host.len())]) {
            return None;
        }
        let port = self.port.filter(|port| own.is_none() && is_port(port));
        let by_port: &[u8] = match own.or(port) {
            Some(b"443") => b"https",
            Some(b"80") => b"http",
            _ => scheme,
        };
        let scheme = self.scheme.filter(|scheme| is_scheme(scheme)).unwrap_or(by_port);
        let mut site = [scheme, b"://"].concat();
        for &byte in host {
            // What would end the authority, or begin it anew, is a part of the host.
            if URI_BYTE.has(byte) && !b"/?#@".contains(&byte) {
                site.push(byte);
            } else {
                push_triplet(byte, &mut site);
            }
        }
        if let Some(port) = port {
            site.push(b':');
            site.extend_from_slice(port);
        }
        Some(site)
    }
}

/// Whether `host` names one: servers write `-` and `_` for none, and patterns.
pub(crate) fn is_host(host: &[u8]) -> bool {
    !matches!(host, b"" | b"-" | b"_") && host[0] != b'~' && memchr::memchr(b'*', host).is_none()
}

/// Whether `text` is a scheme by its grammar (RFC 3986 section 3.1).
pub(crate) fn is_scheme(text: &[u8]) -> bool {
    text.first().is_some_and(|&first| ALPHA.has(first)) && text.iter().all(|&byte| SCHEME.has(byte))
}

/// The fields of an entry that may hold links.
#[derive(Debug, Default)]
pub(crate) struct Entry<'t> {
    pub(crate) target: Option<Field<'t>>,
    pub(crate) origin: Origin<'t>,
    pub(crate) referer: Option<Field<'t>>,
    pub(crate) agent: Option<Field<'t>>,
}

/// The targets that are noted for the links of an entry have at most this many times the bytes of its line together.
const REPEATED: usize = 8;

/// A log, and the fields to search.
pub(crate) struct Log<'a> {
    pub(super) how: How<'a>,
    pub(super) text: Padded<'a>,
    /// Scheme and authority of the base.
    site: Option<Vec<u8>>,
}

impl<'a> Log<'a> {
    /// The log `text`. Its links are the target of a request (appended to the host in its entry, or
    /// to the authority of the base), the referrer, and links in the user agent, as far as the options select them.
    pub(crate) fn new(how: How<'a>, text: Padded<'a>) -> Log<'a> {
        let site = how.base.and_then(|base| {
            let parts = split(base);
            Some([parts.scheme?, b"://", parts.authority?].concat())
        });
        Log { how, text, site }
    }

    /// The same log, if it had this `text`.
    pub(super) fn with_text<'b>(&'b self, text: Padded<'b>) -> Log<'b> {
        Log { text, site: self.site.clone(), ..*self }
    }

    /// Whether more than the links of entries matters.
    pub(crate) fn reads_requests(&self) -> bool {
        let ExtractorOptions { requests, notes_requests, log_part, .. } = self.how.options;
        *notes_requests || log_part.is_some() || !requests.is_empty()
    }

    /// Adds the links of `entry`, the line at `span`, and those that `others` adds; none if its `request` is not selected.
    pub(crate) fn take_entry<'t>(
        &self,
        span: Span,
        entry: Entry<'_>,
        request: impl FnOnce() -> Request<'t>,
        links: &mut Links,
        others: impl FnOnce(&mut Links),
    ) {
        if !self.reads_requests() {
            self.take(span.start, entry, links);
            return others(links);
        }
        let request = request();
        match self.how.options.requests.apply(&request) {
            Fate::Read => {}
            Fate::Drop(cause) => return links.filtered.add(cause),
            Fate::Unknown => return links.omitted.unknown_entries += 1,
        }
        if let Some(part) = self.how.options.log_part {
            return self.take_part(part, (span, &request), entry, links);
        }
        let first = links.len();
        let target = entry.target.as_ref().map(|target| encoded(&target.text).into_owned());
        self.take(span.start, entry, links);
        others(links);
        let count = links.len() - first;
        if self.how.options.notes_requests && count > 0 {
            let is_short = |target: &&[u8]| target.len() * count <= REPEATED * span.len();
            let target = target.as_deref().filter(is_short).unwrap_or_default();
            links.note_request(span, Request { target, ..request });
        }
    }

    /// Adds a part of an entry, the line at `span`, if its target is one of the links that are kept.
    fn take_part(
        &self,
        part: LogPart,
        (span, request): (Span, &Request<'_>),
        entry: Entry<'_>,
        links: &mut Links,
    ) {
        let filter = &self.how.options.filter;
        if !filter.is_empty() || self.how.finder.options().schemes.is_list() {
            let (mark, first) = (links.mark(), links.len());
            if let Some(target) = entry.target {
                self.target(span, &target.text, &entry.origin, links);
            }
            links.retain_from(first, self.text.content(), filter);
            let is_kept = links.len() > first;
            links.back_to(&mark);
            if !is_kept {
                return;
            }
        }
        links.push_made(span, Context::Target, |out| part.write(request, out));
    }

    /// Adds the links of `entry`, the line that begins at `start`.
    fn take(&self, start: u32, entry: Entry<'_>, links: &mut Links) {
        let place = |field: &Field<'_>| Span {
            start: start + field.at.start as u32,
            end: start + field.at.end as u32,
        };
        if self.has(Context::Target) {
            let is_target = entry.target.is_some_and(|target| {
                self.target(place(&target), &target.text, &entry.origin, links)
            });
            links.omitted.other_targets += u64::from(!is_target && !self.has_text());
        }
        if let Some(referer) = entry.referer.filter(|_| self.has(Context::Referer))
            && !self.whole(place(&referer), &referer.text, Context::Referer, links)
        {
            self.search(place(&referer), &referer, Context::Referer, links);
        }
        if let Some(agent) = entry.agent.filter(|_| self.has(Context::Agent)) {
            self.search(place(&agent), &agent, Context::Agent, links);
        }
    }

    /// Adds the links of a line that is not an entry, which is searched as text unless fields or entries were selected.
    pub(crate) fn take_other(&self, line: Span, links: &mut Links) {
        if self.has_others() {
            self.take_text(line, links);
        } else if !is_remark(line.of(self.text.content())) {
            links.omitted.other_lines += 1;
        }
    }

    /// Whether lines are searched that are not entries: neither fields nor entries were selected.
    pub(crate) fn has_others(&self) -> bool {
        !self.how.options.is_of_logs()
    }

    /// Adds the links in the text of `line` unless fields were selected.
    pub(crate) fn take_text(&self, line: Span, links: &mut Links) {
        if self.has_text() {
            self.how.find(self.text, line, Context::Text, links);
        }
    }

    /// Adds the links in the strings of the JSON text at `span` unless fields were selected. Returns whether it breaks off.
    pub(crate) fn take_json(&self, span: Span, links: &mut Links) -> bool {
        if !self.has_text() {
            return false;
        }
        let first = links.len();
        let part = self.text.part(span.start as usize, span.len());
        let mut values = Values::new(self.how.with_base(None), part, false);
        let breaks_off = json::lines(&mut values, &[], links);
        links.shift(first, span.start);
        breaks_off
    }

    /// Adds the links in `field`, a text in the line that begins at `start`, unless fields were selected.
    pub(crate) fn take_made(&self, start: u32, field: &Field<'_>, links: &mut Links) {
        if self.has_text() {
            let at = start + field.at.start as u32..start + field.at.end as u32;
            let span = Span { start: at.start, end: at.end };
            self.search(span, field, Context::Text, links);
        }
    }

    /// Whether text is searched that is not a field: no fields were selected.
    pub(crate) fn has_text(&self) -> bool {
        self.how.options.log_fields.is_empty()
    }

    /// Adds the links in the text of `field`, which is at `span`.
    fn search(&self, span: Span, field: &Field<'_>, context: Context, links: &mut Links) {
        let options = self.how.finder.options();
        let needs_colon = !options.bare_hosts && !options.email && !options.refang;
        if needs_colon && memchr::memchr(b':', &field.text).is_none() {
            return;
        }
        match &field.text {
            Cow::Borrowed(_) => self.how.find(self.text, span, context, links),
            Cow::Owned(text) => {
                let buf = PaddedBuf::from_content(text);
                let How { finder, kernels, .. } = self.how;
                finder.find_made(kernels, buf.padded(), span, context, links);
            }
        }
    }

    /// Whether all of `typed`, which is at `span`, is a URI with an authority, which is added if its
    /// scheme is allowed.
    fn whole(&self, span: Span, typed: &[u8], context: Context, links: &mut Links) -> bool {
        let Some(scheme) = scheme(typed) else { return false };
        // `host:port` of a CONNECT does not name a resource.
        if !typed[scheme.len()..].starts_with(b"://") {
            return false;
        }
        if self.how.finder.options().schemes.allows(scheme) {
            self.push(span, &encoded(typed), context, links);
        }
        true
    }

    /// Adds `uri`, which was read from `span`.
    fn push(&self, span: Span, uri: &[u8], context: Context, links: &mut Links) {
        let text = span.of(self.text.content());
        if core::ptr::eq(uri, text) || *uri == *text {
            links.push(span, context);
        } else {
            links.push_made(span, context, |out| out.extend_from_slice(uri));
        }
    }

    /// The scheme of what has none: `https` if that is the scheme of the base, otherwise `http`.
    fn scheme(&self) -> &[u8] {
        let of_base = self.site.as_deref().and_then(scheme);
        of_base.filter(|scheme| scheme.eq_ignore_ascii_case(b"https")).unwrap_or(b"http")
    }

    fn has(&self, context: Context) -> bool {
        self.has_text() || self.how.options.log_fields.contains(&context)
    }

    /// Adds the target of a request, which is at `span`; `origin` is that of its entry.
    ///
    /// A target that begins with a slash is in origin-form, and is not a reference: it is appended
    /// to the authority (RFC 9112 section 3.3), so `//x` is a path. Returns whether it names a resource.
    fn target(&self, span: Span, typed: &[u8], origin: &Origin<'_>, links: &mut Links) -> bool {
        if !typed.starts_with(b"/") {
            // In absolute-form, or it does not name a resource.
            return self.whole(span, typed, Context::Target, links);
        }
        self.resource(span, typed, origin, links);
        true
    }

    /// Adds the target in origin-form.
    fn resource(&self, span: Span, typed: &[u8], origin: &Origin<'_>, links: &mut Links) {
        let schemes = &self.how.finder.options().schemes;
        let own = origin.site(self.scheme());
        let Some(site) = own.as_deref().or(self.site.as_deref()) else {
            // Without a base, those who select targets, or entries, get the paths.
            let options = self.how.options;
            let is_wanted = (options.is_of_logs() || options.keeps_relative) && !schemes.is_list();
            return match is_wanted && self.how.base.is_none() {
                true => self.path(span, typed, links),
                false => links.relative += 1,
            };
        };
        if scheme(site).is_some_and(|scheme| schemes.allows(scheme)) {
            let path = encoded(typed);
            links.push_made(span, Context::Target, |out| {
                out.extend_from_slice(site);
                out.extend_from_slice(&path);
            });
        }
    }

    /// Adds the path `typed`, which is at `span`, as a reference: one to `//x` would name a host
    /// (RFC 3986 section 4.2).
    fn path(&self, span: Span, typed: &[u8], links: &mut Links) {
        let path = encoded(typed);
        if path.starts_with(b"//") {
            links.push_made(span, Context::Target, |out| {
                out.extend_from_slice(b"/.");
                out.extend_from_slice(&path);
            });
        } else {
            self.push(span, &path, Context::Target, links);
        }
    }
}

/// Whether `line` is not a part of a log, but about it: blank, a comment, or the name of a file that
/// `tail` writes.
pub(crate) fn is_remark(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.is_empty() || line[0] == b'#' || line.starts_with(b"==> ") && line.ends_with(b" <==")
}

/// Whether a source that begins with `head` is a log: half of its lines or more are entries. Remarks
/// do not count, and neither does the last line if it is cut.
pub(crate) fn is_log(head: &[u8], is_entry: impl Fn(&[u8]) -> bool) -> bool {
    let (mut entries, mut others) = (0, 0);
    let mut left = memchr::memchr_iter(b'\n', head).count();
    for line in sniff::lines(head) {
        let is_whole = line.ends_with(b"\n");
        left -= usize::from(is_whole);
        if is_remark(line) {
            continue;
        }
        if is_entry(line.trim_ascii_end()) {
            entries += 1;
        } else if is_whole {
            others += 1;
        }
        // No more than `left` lines and one that is cut follow.
        if entries + left + 1 < others {
            return false;
        }
    }
    entries > 0 && entries >= others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_is_that_of_the_entry() {
        let site = |scheme: &'static str, host: &'static str, port: &'static str| {
            let of = |text: &'static str| Some(text.as_bytes()).filter(|text| !text.is_empty());
            let origin = Origin { scheme: of(scheme), host: of(host), port: of(port) };
            origin.site(b"http").map(|site| String::from_utf8(site).unwrap())
        };
        for (scheme, host, port, expected) in [
            ("", "h", "", "http://h"),
            ("https", "h", "", "https://h"),
            ("HTTP/1.1", "h", "", "http://h"),
            ("-", "h", "-", "http://h"),
            ("", "h", "8443", "http://h:8443"),
            ("", "h", "443", "https://h:443"),
            ("http", "h", "443", "http://h:443"),
            ("", "h:443", "8080", "https://h:443"),
            ("", "[::1]", "80", "http://[::1]:80"),
            ("", "[::443]", "", "http://[::443]"),
            ("", "[::1]:443", "1", "https://[::1]:443"),
            ("", "a/b?c#d@e\\\"", "", "http://a%2Fb%3Fc%23d%40e%5C%22"),
        ] {
            assert_eq!(
                site(scheme, host, port).as_deref(),
                Some(expected),
                "{scheme} {host} {port}"
            );
        }
        for host in ["", "-", "_", "*.h", "~^www", "-:80", "_:443", "*:80"] {
            assert_eq!(site("https", host, "80"), None, "{host}");
        }
    }

    #[test]
    fn half_of_the_lines_make_a_log() {
        let is = |text: &str| is_log(text.as_bytes(), |line| line.starts_with(b"e"));
        for text in
            ["e", "e\n", "# c\n\ne1\n", "==> a.log <==\ne\n", "cut\ne\n", "e\nx\ne", "e\ncut"]
        {
            assert!(is(text), "{text}");
        }
        for text in ["", "\n", "# c\n", "x", "x\ny\ne\n", "==> a\ny\ne\n"] {
            assert!(!is(text), "{text}");
        }
    }
}
