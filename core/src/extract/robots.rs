//! The sitemaps that a robots.txt names (sitemaps.org).

use super::how::How;
use super::{Context, Links};
use crate::chunk::{Padded, Span};

/// Appends the URIs of the `Sitemap` lines of `text` to `links`.
pub(super) fn lines(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    const NAME: &[u8] = b"sitemap";
    let content = text.content();
    let mut absolute = how.absolute();
    for line in content.split(|&byte| byte == b'\n' || byte == b'\r') {
        if links.is_full(line.as_ptr().addr() - content.as_ptr().addr()) {
            return;
        }
        let line = line.trim_ascii();
        let Some((name, rest)) = line.split_at_checked(NAME.len()) else { continue };
        let Some(value) = rest.trim_ascii_start().strip_prefix(b":") else { continue };
        // A comment begins with a `#`, which a URI may hold as well.
        let value = value.trim_ascii_start();
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        let value = &value[..end];
        if name.eq_ignore_ascii_case(NAME) && !value.is_empty() {
            let start = (value.as_ptr().addr() - content.as_ptr().addr()) as u32;
            let span = Span { start, end: start + end as u32 };
            absolute.push(value, span, Context::Sitemap, links);
        }
    }
}
