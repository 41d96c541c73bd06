//! Rows of the input: a URL and what is known of its content.

use std::borrow::Cow;

use super::fields::{Fields, Legend};
use uriscan_core::extract::warc::ArchivedPage;
use uriscan_core::key::Hasher;
use uriscan_core::normalize::{Level, Normalizer, Options};
use uriscan_core::repair::{Repairs, repair};
use uriscan_core::resolve::{BaseUri, Resolver};
use uriscan_core::rules::{host_of, registrable_domain};
use uriscan_core::simd::Kernels;
use uriscan_core::uri::{UriErrorKind, split};

/// Reads rows, and makes labels of what they say.
#[derive(Debug)]
pub(super) struct Reader {
    normalizer: Normalizer,
    hasher: Hasher,
    /// The canonical URL of a page, and where it redirects to.
    targets: [Target; 2],
    repairs: Repairs,
    /// Rows whose URL was repaired.
    pub(super) repaired: u64,
}

/// A URL that another one names.
#[derive(Debug)]
struct Target {
    normalizer: Normalizer,
    kernels: Kernels,
    resolved: Vec<u8>,
    /// Its canonical form; empty if there is none.
    form: Vec<u8>,
}

/// A row about a URL. Labels are hashes of digests and of URLs, of which 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row<'t> {
    pub(super) url: &'t [u8],
    /// Of the digest of its content.
    pub(super) same: u64,
    /// Of the URL that the page names as its canonical one.
    pub(super) names: u64,
    /// Of the URL that it redirects to.
    pub(super) leads: u64,
    /// It is not about a page: the query has the names of parameters that the site declares to be without meaning.
    pub(super) is_declared: bool,
}

/// What a line is.
pub(super) enum Line<'a> {
    /// A row about a web page, and the URLs of its site that it names, which are pages, too.
    Row(Row<'a>, [Option<&'a [u8]>; 2]),
    /// Not a URI.
    Invalid(UriErrorKind),
    /// A URI that no rule changes, or one without a host.
    Other,
}

impl Reader {
    pub(super) fn new(hasher: Hasher, repairs: Repairs, kernels: Kernels) -> Reader {
        // Fragments are not sent to a server, which cannot tell such URLs apart.
        let options = Options::new(Level::Scheme).drop_fragment(true);
        let normalizer = Normalizer::with_kernels(options, kernels);
        let target = || Target::new(normalizer.clone(), kernels);
        Reader { hasher, targets: [target(), target()], normalizer, repairs, repaired: 0 }
    }

    /// Reads `line`: fields with a tab between them (URL, digest, canonical URL, target of a redirect), or a line of an index, which
    /// may have a `legend`.
    pub(super) fn read(&mut self, line: &[u8], legend: Option<&Legend>) -> Line<'_> {
        match Fields::of(line, legend) {
            Ok(Some(fields)) => self.row(&fields),
            Ok(None) => Line::Other,
            Err(kind) => Line::Invalid(kind),
        }
    }

    /// The site of `url`; `None` if it makes no [`Line::Row`].
    pub(super) fn site(&mut self, url: &[u8]) -> Option<&[u8]> {
        let url = as_repaired(url, self.repairs);
        let url = self.normalizer.normalize(&url).ok()?;
        is_web(url).then(|| site_of(url))
    }

    /// Reads what an archive says about a page.
    pub(super) fn read_archived(&mut self, page: &ArchivedPage<'_>) -> Line<'_> {
        let ArchivedPage { url, digest, canonical, location, .. } = page;
        self.row(&Fields {
            url: Cow::Borrowed(url),
            same: Cow::Borrowed(digest),
            names: Cow::Borrowed(canonical),
            leads: Cow::Borrowed(location),
        })
    }

    /// Reads that the site of `url` declares the parameters of these `names`, with `&` between them, to be without meaning.
    pub(super) fn read_declared(&mut self, url: &[u8], names: &[u8]) -> Line<'_> {
        let authority = split(url).authority.unwrap_or_default();
        let scheme = split(url).scheme.unwrap_or_default();
        let url = [scheme, b"://", authority, b"/?", names].concat();
        match self.row(&Fields { url: url.into(), ..Fields::default() }) {
            Line::Row(row, targets) => Line::Row(Row { is_declared: true, ..row }, targets),
            other => other,
        }
    }

    fn row(&mut self, fields: &Fields<'_>) -> Line<'_> {
        let Reader { normalizer, hasher, targets: [canonical, location], repairs, repaired } = self;
        let as_repaired = |text| as_repaired(text, *repairs);
        let typed = as_repaired(&fields.url);
        let url = match normalizer.normalize(&typed) {
            Ok(url) => url,
            Err(error) => return Line::Invalid(error.kind),
        };
        if !is_web(url) {
            return Line::Other;
        }
        *repaired += u64::from(matches!(typed, Cow::Owned(_)));
        canonical.read(&as_repaired(&fields.names), url);
        location.read(&as_repaired(&fields.leads), url);
        let label_of = |target: &Target| match &target.form[..] {
            b"" => 0,
            form => label_of_url(hasher, form),
        };
        let (names, leads) = (label_of(canonical), label_of(location));
        // A redirect to the same page, as one that sets a cookie, says nothing.
        let leads = if location.form == url { 0 } else { leads };
        let has_digest = !is_absent(&fields.same);
        let same = if has_digest { label(hasher, b'd', &digest(&fields.same)) } else { 0 };
        let targets = [canonical.of_site(url), location.of_site(url)];
        Line::Row(Row { url, same, names, leads, is_declared: false }, targets)
    }
}

/// The digest `typed` in one spelling: writers of archives name an algorithm `sha256:` or `sha-256:`, and write hexadecimal digits in
/// either case. In other alphabets case has a meaning.
fn digest(typed: &[u8]) -> Vec<u8> {
    const LONGEST_NAME: usize = 16;
    let colon = memchr::memchr(b':', &typed[..typed.len().min(LONGEST_NAME)]);
    let (name, value) = typed.split_at(colon.map_or(0, |colon| colon + 1));
    let is_hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    let value = if is_hex { value.to_ascii_lowercase() } else { value.to_vec() };
    let name = name.iter().filter(|byte| !b"-_".contains(byte)).map(u8::to_ascii_lowercase);
    name.chain(value).collect()
}

/// What `repairs` make of `text`; as it is if they do not help.
fn as_repaired(text: &[u8], repairs: Repairs) -> Cow<'_, [u8]> {
    if repairs.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::new();
    match repair(text, repairs, &mut out) {
        Ok(changes) if !changes.is_empty() => Cow::Owned(out),
        _ => Cow::Borrowed(text),
    }
}

impl Target {
    fn new(normalizer: Normalizer, kernels: Kernels) -> Target {
        Target { normalizer, kernels, resolved: Vec::new(), form: Vec::new() }
    }

    /// Reads the reference `typed` in the page of `url`.
    fn read(&mut self, typed: &[u8], url: &[u8]) {
        let Target { normalizer, kernels, resolved, form } = self;
        form.clear();
        if is_absent(typed) {
            return;
        }
        if let Ok(absolute) = normalizer.normalize(typed) {
            // An app, a script or a blank page is none that rules could be about.
            return form.extend_from_slice(if is_web(absolute) { absolute } else { b"" });
        }
        let Ok(base) = BaseUri::new(url) else { return };
        resolved.clear();
        let options = uriscan_core::resolve::Options::default();
        let mut resolver = Resolver::with_kernels(base, options, *kernels);
        if resolver.resolve_into(typed, resolved).is_ok()
            && let Ok(absolute) = normalizer.normalize(resolved)
            && is_web(absolute)
        {
            form.extend_from_slice(absolute);
        }
    }

    /// The form if it is a URL of the site of `url`: what a page says about those of others is none of their rows.
    fn of_site(&self, url: &[u8]) -> Option<&[u8]> {
        let form = &self.form[..];
        (!form.is_empty() && is_web(form) && site_of(form) == site_of(url)).then_some(form)
    }
}

/// Whether `text` is what programs write where there is no value. As a reference it would lead to the same URL from all pages of a folder.
fn is_absent(text: &[u8]) -> bool {
    const ABSENT: [&[u8]; 9] =
        [b"", b"-", b"\\N", b"n/a", b"nan", b"nil", b"none", b"null", b"undefined"];
    ABSENT.iter().any(|absent| text.eq_ignore_ascii_case(absent))
}

/// Whether rules may change the canonical `url`.
fn is_web(url: &[u8]) -> bool {
    let parts = split(url);
    let authority = parts.authority.unwrap_or_default();
    matches!(parts.scheme, Some(b"http" | b"https")) && !host_of(authority).is_empty()
}

/// The name of the site of the canonical `url`: its registrable domain, or else its host.
pub(super) fn site_of(url: &[u8]) -> &[u8] {
    let host = host_of(split(url).authority.unwrap_or_default());
    registrable_domain(host).unwrap_or(host)
}

/// The label of the canonical `url` as a target.
pub(super) fn label_of_url(hasher: &Hasher, url: &[u8]) -> u64 {
    label(hasher, b'u', url)
}

fn label(hasher: &Hasher, kind: u8, text: &[u8]) -> u64 {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.push(kind);
    bytes.extend_from_slice(text);
    (hasher.key(&bytes).0 as u64).max(1)
}
