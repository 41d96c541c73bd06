//! The format of a source, detected by its content, and by its name where the content does not
//! decide.

use super::charset;
use super::columns::{Columns, Separator};
use super::sniff::{self, Sign};
use super::split_lines::Splits;
use super::w3c::Layout;
use super::wide;
use crate::grammar::words;

named! {
    /// The kinds of sources that links are extracted from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Format {
        /// Running text, lists, logs: anything in which links are delimited by other bytes.
        #[default]
        Text = "text",
        /// An HTML document: the references in attributes.
        Html = "html",
        /// JSON texts, one per line or any other way: the links in all strings, or the values of some members.
        Json = "json",
        /// An access log, line by line in any format that [`super::LogFormat`] has a name for, or in one that is given.
        Clf = "clf",
        /// A log in the Extended Log File Format of the W3C, as of IIS and CloudFront: a directive names its fields.
        W3c = "w3c",
        /// A WARC or ARC archive.
        Warc = "warc",
        /// A Markdown document: its links and images, URIs in its text, and references in its HTML.
        Markdown = "markdown",
        /// Comma-separated values (RFC 4180).
        Csv = "csv",
        /// Tab-separated values, without quoting.
        Tsv = "tsv",
        /// An archive index, CDXJ or CDX: the URIs of its lines.
        Cdxj = "cdxj",
        /// A sitemap or a feed: RSS, Atom or OPML.
        Xml = "xml",
        /// XML of any other kind: the links in texts, attributes and comments.
        Markup = "markup",
        /// A calendar, vCards or LDIF, whose lines are folded.
        Folded = "folded",
        /// A robots.txt: the sitemaps that it names.
        Robots = "robots",
        /// A style sheet.
        Css = "css",
        /// An HTTP archive of a browser: the requested URLs, and the links of the responses.
        Har = "har",
        /// A mail message: the links in its parts that are text or pages.
        Eml = "eml",
        /// A mailbox: messages with a `From ` line before each.
        Mbox = "mbox",
    }
}

/// The ends of the names of files of JSON.
const JSON_NAMES: &[&str] = &words::<11>(
    ".json .jsonl .ndjson .geojson .topojson .jsonld .json5 .jsonc .webmanifest .ipynb .map",
);

/// The ends of the names of files of XML.
const XML_NAMES: &[&str] = &words::<27>(
    ".xml .kml .gpx .svg .xsl .xslt .xsd .wsdl .rdf .owl .plist .dbk .docbook .dae .tei .xmp .resx \
     .xliff .xlf .csproj .nuspec .gml .osm .tcx .musicxml .fo .dita",
);

impl Format {
    /// The byte that ends a line of such a source, if records end at `record_end`: only text
    /// follows that setting.
    pub fn line_end(self, record_end: u8) -> u8 {
        if self == Format::Text { record_end } else { b'\n' }
    }

    /// Whether some columns or members of such a source can be selected ([`super::ExtractorOptions::fields`]).
    pub(crate) fn has_fields(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv | Format::Json | Format::Cdxj)
    }

    /// [`Format::of_source`], where `fields` are selected: text is a table if its first row has columns of these names.
    pub fn with_fields(name: &str, head: &[u8], fields: &[String]) -> Format {
        let mut format = Format::of_source(name, head);
        if format == Format::Clf && !fields.is_empty() && head.trim_ascii_start().starts_with(b"{")
        {
            // The members of a log in JSON can be selected as those of any other JSON.
            format = Format::Json;
        }
        if format != Format::Text {
            return format;
        }
        let comma = Separator::of_csv(b',');
        let (csv, tsv) = (Format::Csv, Format::Tsv);
        let others = *b";|";
        let [semicolon, bar] = others.map(Separator::of_csv);
        let tables = [(csv, comma), (tsv, Separator::TAB), (csv, semicolon), (csv, bar)];
        let is_named =
            |&(_, separator): &(Format, Separator)| Columns::are_in(fields, separator, head);
        tables.into_iter().find(is_named).map_or(format, |(format, _)| format)
    }

    /// Why `fields` cannot be selected in a source of this format that begins with `head`; `None` if they can, or if
    /// it is blank.
    pub fn refusal(self, fields: &[String], head: &[u8]) -> Option<String> {
        if fields.is_empty() || self.has_fields() || head.trim_ascii().is_empty() {
            return None;
        }
        let names = fields.join(", ");
        Some(match self {
            Format::Text => format!(
                "is read as text, which has no columns or members to select ({names}); --from csv, tsv or json names \
                 what it is"
            ),
            format => format!(
                "is read as {format}, which has no columns or members to select ({names}); they are those of csv, \
                 tsv, json and cdxj"
            ),
        })
    }

    /// The format of a source that begins with `head` and is said to be of this one: XML may be a feed, or of any other kind.
    pub fn of_kind(self, head: &[u8]) -> Format {
        // The root element is among the first bytes.
        const MOST: usize = 64 << 10;
        let is_feed = || match charset::by_mark(head).flatten() {
            Some(wide) => {
                let (text, _) = wide.decode_without_bom_handling(&head[..head.len().min(MOST)]);
                super::xml::is_document(text.as_bytes())
            }
            None => super::xml::is_document(head),
        };
        if self == Format::Xml && !is_feed() { Format::Markup } else { self }
    }

    /// Whether such a source is one record.
    pub fn is_document(self) -> bool {
        matches!(
            self,
            Format::Html | Format::Markdown | Format::Xml | Format::Css | Format::Eml | Format::Har
        )
    }

    /// Whether such a source has coded parts: the links in one are at the position of all of it.
    pub fn has_parts(self) -> bool {
        matches!(self, Format::Warc | Format::Har | Format::Eml | Format::Mbox)
    }

    /// Detects the format of a source that begins with `head`, some thousand bytes of it.
    ///
    /// One in which half of the lines are entries of a log is a log, whatever its first line.
    ///
    /// ```
    /// use uriscan::extract::Format;
    /// assert_eq!(Format::of_head(b" <!doctype html><p>"), Format::Html);
    /// assert_eq!(Format::of_head(b"{\"url\":\"http://h/\"}\n"), Format::Json);
    /// assert_eq!(Format::of_head(b"http://h/\n"), Format::Text);
    /// ```
    pub fn of_head(head: &[u8]) -> Format {
        if super::warc::is_archive(head) {
            return Format::Warc;
        }
        let page = sniff::page(head);
        if page == Some(Sign::Likely) && super::markup::sign(head) == Some(Sign::Certain) {
            return Format::Markup;
        } else if page.is_some() {
            return Format::Html;
        } else if super::xml::is_document(head) {
            return Format::Xml;
        } else if super::markup::sign(head) == Some(Sign::Certain) {
            return Format::Markup;
        }
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
        let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
        match text {
            [b'{', ..] if super::har::is_archive(text) => Format::Har,
            [b'{', ..] if super::clf::has_json_entry(text) => Format::Clf,
            [b'{' | b'[', ..] if super::json::is_json(text) => Format::Json,
            _ if super::columns::is_index_line(line) => Format::Cdxj,
            _ if super::folded::is_folded(text) => Format::Folded,
            _ if super::mail::is_mailbox(head) => Format::Mbox,
            _ if super::mail::is_message(head) => Format::Eml,
            _ => match Format::log_of_head(head) {
                Some(log) => log,
                None if super::json::is_json(text) => Format::Json,
                None if super::markup::sign(head).is_some() => Format::Markup,
                None => Format::Text,
            },
        }
    }

    /// The format of the log that begins with `head`, if it is known.
    pub fn log_of_head(head: &[u8]) -> Option<Format> {
        if super::w3c::is_w3c(head) {
            return Some(Format::W3c);
        }
        super::log::is_log(head, super::clf::is_entry).then_some(Format::Clf)
    }

    /// Detects the format of the source `name` that begins with `head`: by its content, and by its
    /// name if it begins like plain text, or like a page as other formats may (`<div>`).
    ///
    /// ```
    /// use uriscan::extract::Format;
    /// assert_eq!(Format::of_source("a/README.md.gz", b"# Title\n"), Format::Markdown);
    /// assert_eq!(Format::of_source("README.md", b"<div align=center>\n# Title\n"), Format::Markdown);
    /// assert_eq!(Format::of_source("-", b"<p>Title</p>\n\n[a](https://example.com/)\n"), Format::Markdown);
    /// assert_eq!(Format::of_source("page.csv", b"<html>"), Format::Html);
    /// assert_eq!(Format::of_source("page.htm", b"Hello <a href=b.htm>"), Format::Html);
    /// ```
    pub fn of_source(name: &str, head: &[u8]) -> Format {
        match Format::of_head(head) {
            Format::Text => Format::of_name(name).unwrap_or_default(),
            Format::Json if Format::of_name(name) == Some(Format::Har) => Format::Har,
            Format::Html if sniff::page(head) == Some(Sign::Likely) => {
                let by_content =
                    || if sniff::has_marked_links(head) { Format::Markdown } else { Format::Html };
                Format::of_name(name).unwrap_or_else(by_content)
            }
            Format::Markup if super::markup::sign(head) == Some(Sign::Likely) => {
                Format::of_name(name).unwrap_or(Format::Markup)
            }
            by_content => by_content,
        }
    }

    /// The format of plain text in a file of this `name`.
    fn of_name(name: &str) -> Option<Format> {
        if name.rsplit(['/', '\\']).next() == Some("robots.txt") {
            return Some(Format::Robots);
        }
        let has_end = |ends: &[&str]| {
            let packed = ["", ".gz", ".zst", ".bz2", ".xz", ".lz4"];
            packed.iter().any(|packed| {
                let name = name.strip_suffix(packed).unwrap_or_default().as_bytes();
                ends.iter().any(|end| {
                    let tail = name.len().checked_sub(end.len()).map(|at| &name[at..]);
                    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
                })
            })
        };
        let by_name: [(Format, &[&str]); 12] = [
            (Format::Folded, &[".ics", ".ical", ".vcs", ".vcf", ".vcard", ".ldif"]),
            (Format::Markup, XML_NAMES),
            (Format::Json, JSON_NAMES),
            (Format::Css, &[".css"]),
            (Format::Har, &[".har"]),
            (Format::Eml, &[".eml", ".mht", ".mhtml"]),
            (Format::Mbox, &[".mbox"]),
            (Format::Html, &[".html", ".htm", ".xhtml", ".xht", ".shtml"]),
            (Format::Markdown, &[".md", ".markdown"]),
            (Format::Csv, &[".csv"]),
            (Format::Tsv, &[".tsv", ".tab"]),
            (Format::Cdxj, &[".cdxj", ".cdx"]),
        ];
        let found = by_name.into_iter().find(|(_, ends)| has_end(ends));
        found.map(|(format, _)| format)
    }

    /// Whether `head`, which has a NUL, is the beginning of the page `name` in UTF-16 and not of
    /// something binary.
    pub fn is_wide_page(name: &str, head: &[u8]) -> bool {
        wide::order(head).is_some() && Format::of_source(name, head) == Format::Html
    }
}

/// The format of a source, and the parts of it to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The format.
    pub format: Format,
    /// Whether it began with the byte order mark of UTF-8, which has been removed.
    pub has_mark: bool,
    /// For a table.
    pub columns: Columns,
    /// For a log of which this is a later part.
    pub layout: Layout,
    /// For a log of a container.
    pub splits: Splits,
}

impl Kind {
    /// A source of `format` that begins with `head`, with the selected `fields`, and
    /// `delimiter` between those of CSV if it is known.
    ///
    /// # Errors
    /// A sentence if it is a table without one of these columns.
    pub fn new(
        format: Format,
        fields: &[String],
        delimiter: Option<u8>,
        head: &[u8],
    ) -> Result<Kind, String> {
        let columns = match format {
            Format::Csv => {
                let typed = delimiter.map(Separator::of_csv);
                let separator = typed.unwrap_or_else(|| Separator::of_heading(fields, head));
                Columns::new(fields, separator, head)?
            }
            Format::Tsv => Columns::new(fields, Separator::TAB, head)?,
            _ => Columns::default(),
        };
        let splits = match format {
            Format::Clf => Splits::of_head(head),
            _ => Splits::None,
        };
        Ok(Kind { format, columns, splits, ..Kind::default() })
    }

    /// The character set that is known before the text is read.
    pub(super) fn charset(self) -> charset::Declared {
        if self.has_mark { charset::UTF8 } else { None }
    }

    /// The kind of the part of the source that follows `text`, which is of this one.
    pub fn after(self, text: &[u8]) -> Kind {
        let layout = match self.format {
            Format::W3c => self.layout.after(text),
            _ => self.layout,
        };
        Kind { columns: self.columns.without_heading(), layout, ..self }
    }
}
