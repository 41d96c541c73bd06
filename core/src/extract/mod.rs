//! Finds URIs in sources other than lists: running text (RFC 3986 Appendix C and
//! practice), pages, logs, mail, archives.

mod address;
mod arc;
mod attribute;
mod body;
mod charset;
pub mod clf;
mod coding;
mod columns;
mod combined;
mod context;
mod css;
mod ends;
mod extras;
mod fault;
mod filter;
mod folded;
mod format;
mod fragment;
mod har;
mod how;
mod html;
pub(crate) mod json;
mod json_log;
mod links;
mod log;
mod log_fields;
mod log_format;
mod log_pattern;
pub mod mail;
mod markdown;
mod markup;
mod mime;
mod page;
pub mod quotes;
mod refang;
mod reference;
mod regular_tags;
mod request;
mod robots;
mod scheme;
mod script;
mod sniff;
mod split_lines;
mod text;
mod transfer;
mod value;
mod w3c;
pub mod warc;
mod wide;
mod xml;

pub use columns::{Separator, last_row_end};
pub use context::Context;
pub use ends::wrapped_cut;
pub use extras::PageParts;
pub use fault::{Fault, PartFault};
pub use filter::{Cause, Filter, Filtered, Limit, List, Property, Texts};
pub use folded::last_folded_end;
pub use format::Format;
pub use format::Kind;
pub use links::Room;
pub use links::{Detail, Link, Links, Omitted};
pub use log_format::LogFormat;
pub use markup::last_token_end;
pub use request::{LogPart, NotAStatus, Request, RequestFilter, StatusRange};
pub use scheme::Schemes;
pub use split_lines::Splits;
pub use text::Finder;

use crate::chunk::{Padded, Span};
use crate::simd::{Isa, Kernels};
use how::How;

/// What to extract, for all formats.
///
/// ```
/// use uriscan::extract::{ExtractorOptions, Options};
/// let options = ExtractorOptions::default().find(Options::default().bare_hosts(true)).fields(vec!["url".to_owned()]);
/// assert!(options.find.bare_hosts);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct ExtractorOptions {
    /// The definition of a link.
    pub find: Options,
    /// The base URI for relative references, for documents that do not specify one.
    pub base: Option<Vec<u8>>,
    /// Whether relative references without a base are links as they are, if they are not empty and no schemes are selected; otherwise
    /// they are counted.
    pub keeps_relative: bool,
    /// For JSON, the members whose values are searched, by name or by a path such as `request.url`;
    /// for CSV and TSV the columns, by name in the first row or by number from 1. Empty for all. Jobs on sources
    /// (those of `uriscan-bulk`) refuse those of other formats then, and read text as a table if its first row has these names.
    pub fields: Vec<String>,
    /// The byte between the fields of CSV; `None` for the one in the first row: `,`, `;`, a tab or `|`.
    pub delimiter: Option<u8>,
    /// The format of the lines of an access log; by default any that has a name.
    pub log_format: Option<LogFormat>,
    /// For access logs, the kinds of fields to extract: [`Context::Target`], [`Context::Referer`],
    /// [`Context::Agent`]. Empty for all, and for the links in lines that are not entries. A target
    /// that is named here, and has neither a host in its entry nor a base, is written as a path.
    pub log_fields: Vec<Context>,
    /// For access logs, the entries that are read; lines that are not entries are skipped then.
    pub requests: RequestFilter,
    /// For access logs, whether status, method and time of entries are noted for their links ([`Links::request`]).
    pub notes_requests: bool,
    /// For access logs, extract this part of each entry, `-` where it is not known, instead of its links. The filter
    /// of links applies to the target then.
    pub log_part: Option<LogPart>,
    /// For archives, extract the URIs of the records instead of the links in them.
    pub warc_targets: bool,
    /// For archives, the types of the records that are read, such as `response`. Empty for all.
    pub warc_types: Vec<String>,
    /// For archives, the media types of the records that are read, or of the responses in them, such
    /// as `text/html` or `text/*`. Empty for all.
    pub media_types: Vec<String>,
    /// For archives, how many times the bytes of its `Content-Encoding` a body may have, if it has more than 1 MiB; what
    /// is beyond is not searched, and reported. `None` for 256 times.
    pub max_expansion: Option<u64>,
    /// Parts of pages that are read besides the attributes that hold references.
    pub page_parts: PageParts,
    /// The links to keep.
    pub filter: Filter,
}

setters! { ExtractorOptions
    {
        find: Options, keeps_relative: bool, fields: Vec<String>, log_fields: Vec<Context>, requests: RequestFilter, notes_requests: bool,
        warc_targets: bool, warc_types: Vec<String>, media_types: Vec<String>, page_parts: PageParts, filter: Filter,
    }
    into {
        base: Option<Vec<u8>>, delimiter: Option<u8>, log_format: Option<LogFormat>, log_part: Option<LogPart>,
        max_expansion: Option<u64>,
    }
}

impl ExtractorOptions {
    /// Whether they select what only access logs have, so that all input is read as one.
    pub fn is_of_logs(&self) -> bool {
        !self.log_fields.is_empty() || !self.requests.is_empty() || self.log_part.is_some()
    }

    /// Whether they select records of archives, or their URIs.
    pub fn selects_records(&self) -> bool {
        self.warc_targets || !self.warc_types.is_empty() || !self.media_types.is_empty()
    }
}

/// Finds the links of sources of any [`Format`].
#[derive(Clone, Debug, Default)]
pub struct Extractor {
    finder: Finder,
    options: ExtractorOptions,
}

impl Extractor {
    /// Creates an extractor with `options`.
    pub fn new(options: ExtractorOptions) -> Extractor {
        Extractor { finder: Finder::new(options.find.clone()), options }
    }

    /// The options.
    pub fn options(&self) -> &ExtractorOptions {
        &self.options
    }

    /// How it searches a text with this `base`.
    pub(crate) fn how<'a>(&'a self, kernels: Kernels, base: Option<&'a [u8]>) -> How<'a> {
        How { finder: &self.finder, options: &self.options, kernels, base }
    }

    /// Appends the links of `text` to `links`; `text` is a whole document, or consists of whole
    /// lines or records.
    ///
    /// ```
    /// use uriscan::extract::{Extractor, ExtractorOptions, Format, Links};
    /// use uriscan::{Kernels, PaddedBuf};
    /// let extractor = Extractor::new(ExtractorOptions::default().base(b"http://example.com/a/".to_vec()));
    /// let page = PaddedBuf::from_content(b"<a href='../x?a&amp;b'><!-- <a href=no> --><img src=y>");
    /// let mut links = Links::new();
    /// extractor.extract(Kernels::detect(), Format::Html, page.padded(), &mut links);
    /// let found: Vec<&[u8]> = links.iter(page.padded().content()).map(|(_, uri)| uri).collect();
    /// assert_eq!(found, [&b"http://example.com/x?a&b"[..], b"http://example.com/a/y"]);
    /// ```
    pub fn extract(&self, kernels: Kernels, format: Format, text: Padded<'_>, links: &mut Links) {
        // A table without the selected columns has nothing to search.
        let format = format.of_kind(text.content());
        if let Ok(kind) =
            Kind::new(format, &self.options.fields, self.options.delimiter, text.content())
        {
            let first = links.len();
            self.extract_kind(kernels, kind, text, self.options.base.as_deref(), links);
            self.refang(first, text, links);
            self.select(first, text, links);
        }
    }

    /// [`Extractor::extract`] for a part of a document of this kind, with this base.
    pub(crate) fn extract_kind(
        &self,
        kernels: Kernels,
        kind: Kind,
        text: Padded<'_>,
        base: Option<&[u8]>,
        links: &mut Links,
    ) {
        let how = self.how(kernels, base);
        if kind.format.is_document() {
            let find = |links: &mut Links| extract_part(how, kind, text, links);
            return links.search(fault::Document::default, text.len(), find);
        }
        extract_part(how, kind, text, links);
    }

    /// `extract_kind` inside a task that already runs on `isa`, one of `kernels`.
    #[inline(always)]
    pub fn extract_in<I: Isa>(
        &self,
        isa: I,
        kernels: Kernels,
        kind: Kind,
        text: Padded<'_>,
        base: Option<&[u8]>,
        links: &mut Links,
    ) {
        let first = links.len();
        if kind.format == Format::Text && self.options.log_part.is_none() {
            let whole = Span { start: 0, end: text.len() as u32 };
            self.finder.find_in(isa, text, whole, Context::Text, links);
        } else {
            self.extract_kind(kernels, kind, text, base, links);
            self.refang(first, text, links);
        }
        self.select(first, text, links);
    }

    /// Restores those of `links` from number `first` on that are defanged: those of texts are restored as they are found.
    fn refang(&self, first: usize, text: Padded<'_>, links: &mut Links) {
        if self.finder.options().refang && self.options.log_part.is_none() {
            links.refang_from(first, text.content());
        }
    }

    /// Drops those of `links` from number `first` on that are not selected.
    #[inline]
    fn select(&self, first: usize, text: Padded<'_>, links: &mut Links) {
        let filter = &self.options.filter;
        // Parts of entries are not links; the targets of those were filtered.
        if !filter.is_empty() && self.options.log_part.is_none() {
            links.retain_from(first, text.content(), filter);
        }
    }
}

/// Appends the links of `text`, which is of this kind.
fn extract_part(how: How<'_>, kind: Kind, text: Padded<'_>, links: &mut Links) {
    let How { finder, options, kernels, .. } = how;
    if options.log_part.is_some() && !matches!(kind.format, Format::Clf | Format::W3c) {
        return;
    }
    let fields = &options.fields[..];
    let values = |is_chosen| value::Values::new(how, text, is_chosen);
    let in_utf8 = |links: &mut Links, find: fn(How<'_>, Padded<'_>, &mut Links)| {
        charset::search_text((text, kind.charset()), links, |text, links| find(how, text, links));
    };
    match kind.format {
        Format::Text => finder.find_all(kernels, text, links),
        Format::Html => {
            extras::page_and_parts(how, (text, kind.charset()), options.page_parts, links);
        }
        Format::Markdown => markdown::document(how, text, links),
        Format::Json => {
            if json::lines(&mut values(!fields.is_empty()), fields, links) {
                links.count_fault(fault::Fault::LastLine(text.content().len() as u32));
            }
        }
        Format::Csv | Format::Tsv => {
            columns::rows(&mut values(!fields.is_empty()), kind.columns, links);
        }
        Format::Cdxj => columns::index_lines(&mut values(true), fields, links),
        Format::Clf => {
            let entries = clf::Entries::new(log::Log::new(how, text), options.log_format.as_ref());
            clf::entries(&entries, kind.splits, links);
        }
        Format::W3c => w3c::lines(&log::Log::new(how, text), kind.layout, links),
        Format::Warc => warc::records(how, text, links),
        Format::Har => har::archive(how, text, links),
        Format::Mbox => mail::mailbox(how, text, links),
        Format::Eml => mime::message(how, text, 0..text.len(), links),
        Format::Xml => in_utf8(links, xml::document),
        Format::Markup => in_utf8(links, markup::tokens),
        Format::Folded => in_utf8(links, folded::lines),
        Format::Robots => robots::lines(how, text, links),
        Format::Css => in_utf8(links, css::sheet),
    }
}

/// Which links to find in running text, and how to write them.
///
/// ```
/// use uriscan::Kernels;
/// use uriscan::extract::{Finder, Options};
/// let finder = Finder::new(Options::default().email(true));
/// assert_eq!(finder.find(Kernels::detect(), b"Write to joe@example.com."), [9..24]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Options {
    /// The schemes to find.
    pub schemes: Schemes,
    /// Treat non-ASCII letters and digits as part of a link; otherwise any byte of 0x80 and above
    /// ends it.
    pub unicode: bool,
    /// Allow line breaks in a link between `<` and `>`; white space in it is dropped (Appendix C).
    pub unwrap: bool,
    /// Also find defanged links (`hxxp://evil[.]example/`), and write their original form, and hosts
    /// with a defanged dot (`evil[.]example/x`), and write them with `http://`.
    pub refang: bool,
    /// Also find hosts without a scheme (`www.example.com/x`), and write them with `http://`.
    pub bare_hosts: bool,
    /// Also find mail addresses, and write them with `mailto:`.
    pub email: bool,
    /// Read `http://a/x,http://b/y` as one link; by default it is two.
    pub unsplit: bool,
}

setters! { Options {
    schemes: Schemes, unicode: bool, unwrap: bool, refang: bool, bare_hosts: bool, email: bool,
    unsplit: bool,
} }
