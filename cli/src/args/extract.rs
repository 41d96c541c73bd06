//! `uriscan extract`, and what other commands share with it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use uriscan::extract::{Context, LogFormat, PageParts, Property, StatusRange};
use uriscan::set::Timestamp;

use super::format::{input_names, table_names};
use super::groups::{Common, ReportFile, Typed, amount_in};
use super::number::{ANY, SOME, number};
use super::table::TABLES;
use crate::nearest::nearest;

/// Find URIs in text, logs, pages and archives
///
/// Reads files, directories or standard input and writes one URI per line, in order. A link begins with a scheme and ends before
/// white space, quotes, < and >, or a closing bracket that was not opened in it; trailing punctuation is not part of it.
/// gzip, zstd, bzip2, xz and lz4 input is decompressed. A file that cannot be read is reported and skipped.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Extract {
    #[command(flatten)]
    pub(crate) find: Find,

    /// Keep non-ASCII characters in links; by default a link ends before them
    #[arg(long)]
    pub(crate) unicode: bool,

    #[command(flatten)]
    pub(crate) walk: Walk,

    /// Resolve relative references against this URI
    ///
    /// Those in pages, fields and access logs.
    ///
    /// A page's own <base> takes precedence, and in archives the URI of the record. The base of a file below a directory
    /// that was given is this URI joined with the path of the file from that directory on: with --base http://h/, the base
    /// of site/a/b.html is http://h/a/b.html.
    #[arg(long, value_name = "URI")]
    pub(crate) base: Option<String>,

    /// Write the name of the file before each line
    ///
    /// On a terminal, control characters in names are escaped; in files and pipes names are written unchanged.
    #[arg(short = 'H', long)]
    #[arg(help_heading = "Output")]
    pub(crate) with_filename: bool,

    /// Write the number of the line in which the link begins, from 1
    #[arg(short = 'n', long)]
    #[arg(help_heading = "Output")]
    pub(crate) line_number: bool,

    /// Write the offset of the first byte of the link in its file, from 0
    #[arg(short = 'b', long)]
    #[arg(help_heading = "Output")]
    pub(crate) byte_offset: bool,

    /// Write where each link was found, such as an attribute or a field
    ///
    /// Of an entry of a log also its status, method and time.
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) context: bool,

    /// Write a JSON object per link (also by -o FILE.jsonl): file, line, byte, context, uri; of logs also status, method, time, target
    #[arg(long, conflicts_with_all = ["with_filename", "line_number", "byte_offset", "context"])]
    #[arg(help_heading = "Output")]
    pub(crate) jsonl: bool,

    /// Write only the number of links; with -H for each file
    #[arg(short, long, conflicts_with_all = ["line_number", "byte_offset", "context", "jsonl"])]
    #[arg(help_heading = "Output")]
    pub(crate) count: bool,

    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,

    /// Format of the values of --column, such as html or markdown [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = input_names())]
    #[arg(help_heading = TABLES, hide_possible_values = true)]
    pub(crate) column_format: Option<String>,

    /// Format of the output
    ///
    /// jsonl for a JSON object per link, as --jsonl.
    ///
    /// With --column that of the table: parquet, arrow, arrow-stream, csv, tsv or jsonl, by default that of the input.
    #[arg(long, value_name = "FORMAT", value_parser = table_names(), hide_possible_values = true)]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What is read, what is a link, and which ones are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Links in")]
pub(crate) struct Find {
    /// Format of the input; auto to detect it
    ///
    /// Of links: text, html, markdown, json, csv, clf (access logs), warc, xml and others: see `uriscan help formats`.
    /// Of tables (--column): parquet, arrow, csv, tsv, jsonl, fields; name csv and tsv from a pipe.
    #[arg(long, value_name = "FORMAT", value_parser = input_names())]
    #[arg(hide_possible_values = true)]
    pub(crate) from: Option<String>,

    /// Search only these members or columns of JSON, CSV and TSV
    ///
    /// Members by name, at any depth; a.b is member b of a on the same line. Columns by their name in the first row, which is then a
    /// header, or by their number from 1. A value that is a URI as a whole is one link, valid or not. Text whose first row
    /// has these names, separated by commas, tabs, semicolons or bars, is read as CSV or TSV; any other input without columns is an error.
    #[arg(long, value_name = "NAME", value_delimiter = ',', group = "columns")]
    pub(crate) link_column: Vec<String>,

    /// The delimiter of CSV, which is an option of tables
    #[arg(skip)]
    pub(crate) delimiter: Option<u8>,

    /// Format of access logs: a name, or a pattern as in nginx (log_format) or Apache (LogFormat)
    ///
    /// Names: auto, combined, nginx, vhost (vhost_combined), w3c (IIS, CloudFront), alb, elb, s3, squid, haproxy, envoy, traefik,
    /// caddy, cloudflare, docker (any of them in its lines). By default they are detected, line by line. Patterns: such as
    /// '$host [$time_local] "$request" $status "$http_referer"' or '%v:%p %h %t \"%r\" %>s'. Read are the request
    /// ($request, %r) or its path ($request_uri, $uri, %U) and query ($args, %q), the host ($host, $http_host,
    /// $server_name, %v, %V, %{Host}i) with a port after it ($host:$server_port, %v:%p), and the scheme ($scheme,
    /// $http_x_forwarded_proto), which is otherwise that of port 443 or of --base. A host in the line is used in place of
    /// that of --base. Other lines are searched as text.
    #[arg(long, value_name = "NAME|PATTERN", value_parser = LogFormat::new)]
    pub(crate) log_format: Option<LogFormat>,

    /// Search only these fields of access logs: target (or request), referer, agent
    ///
    /// The input is then a log, whatever its first line is, unless --from names another format. Other lines are skipped and
    /// counted. Without --base, targets whose line has no host are written as paths.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', value_parser = log_field)]
    pub(crate) log_field: Vec<Context>,

    /// Read only entries of access logs with these statuses: 404, 4xx, 500-599
    ///
    /// With this and the next three options, the input is a log as with --log-field, and targets whose line has no host are
    /// paths without --base. Entries whose status, method or time is needed and not known are skipped and counted.
    #[arg(long, value_name = "STATUS", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) status: Vec<StatusRange>,

    /// Read only entries of access logs with these methods, such as GET, in any case
    #[arg(long, value_name = "METHOD", value_delimiter = ',', value_parser = method)]
    pub(crate) method: Vec<String>,

    /// Read only entries of access logs at this time or later: 2026-03-01, 2026-03-01T12:00:00Z or seconds since 1970
    ///
    /// A day is its first second in UTC. Times in a log that name no zone are in UTC.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) since: Option<Timestamp>,

    /// Read only entries of access logs before this time
    ///
    /// --since 2026-03-01 --until 2026-04-01 is March.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) until: Option<Timestamp>,

    /// Take the URIs of the records of archives: target
    #[arg(long, value_name = "FIELD", value_parser = ["target"])]
    pub(crate) warc_field: Option<String>,

    /// Read further parts of pages: css, json-ld, meta, data, script, attributes
    #[arg(long, value_name = "PART", value_delimiter = ',', value_enum)]
    pub(crate) also: Vec<PagePart>,

    /// Read only records of these types in archives, such as response
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = warc_type)]
    pub(crate) warc_type: Vec<String>,

    /// Read only records of these media types in archives, such as text/html or text/*
    ///
    /// That of a response is the Content-Type of its body.
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub(crate) mime: Vec<String>,

    /// Decode at most N bytes for each byte of a compressed body in an archive [default: 256]
    ///
    /// A body may always have 1 MiB, and never more than 64 MiB. What is beyond is not searched, and reported. Pages in
    /// archives have 3 to 30 times the bytes that were sent.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = number::<u64>(SOME), allow_negative_numbers = true)]
    pub(crate) max_expansion: Option<u64>,

    /// Join links in < > that are broken across lines (RFC 3986, Appendix C)
    ///
    /// White space around a line break is dropped. A hyphen before it stays.
    #[arg(long)]
    pub(crate) unwrap: bool,

    /// Also find hosts without a scheme, such as www.example.com/x, and prepend http://
    ///
    /// They must be under a public suffix (the list is built in), which names of files such as main.rs and of code such as a.name are,
    /// too. They are searched in running text, not in pages (--from text).
    #[arg(long)]
    pub(crate) bare_hosts: bool,

    /// Also find mail addresses, and prepend mailto:
    #[arg(long)]
    pub(crate) email: bool,

    /// Also find defanged links and hosts, and restore them
    ///
    /// hxxp://example[.]com and hxxp[:]//example[.]com are written as http://example.com, and so is example[.]com, a host
    /// under a public suffix or an IPv4 address with a defanged dot. fxp is ftp; (.), [dot], [/] and [@] are known, too.
    #[arg(long)]
    pub(crate) refang: bool,

    /// Read http://a/x,http://b/y as one link
    ///
    /// By default a link ends before a comma or semicolon that a scheme and :// directly follow.
    #[arg(long)]
    pub(crate) unsplit: bool,

    /// Treat files with these names as their directory in --base, such as index.html
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "base")]
    pub(crate) index: Vec<String>,

    #[command(flatten)]
    pub(crate) filters: Filters,
}

/// Which URIs are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Keep only URIs with these schemes, separated by commas; any: accept every scheme
    ///
    /// In text, links are found by default by every scheme before `://`, and by those whose URIs can be distinguished from prose without it (mailto, urn,
    /// tel, sms, news, data, magnet, doi, sip, sips, xmpp, geo, cid, mid, acct, tag, ark). With this option,
    /// by those of the list.
    #[arg(long, value_name = "LIST|any")]
    pub(crate) scheme: Option<String>,

    /// Keep only URIs with these hosts
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    #[arg(value_parser = Property::host)]
    pub(crate) host: Vec<Property>,

    /// Keep only URIs whose host is one of these domains or below it
    #[arg(long, value_name = "DOMAIN", value_delimiter = ',')]
    #[arg(value_parser = Property::domain)]
    pub(crate) domain: Vec<Property>,

    /// Keep only URIs in which this regular expression matches, or one of several
    ///
    /// In the syntax of ripgrep. `uriscan extract --help` has the other filters: opposites (--not-match), limits, lists in
    /// files.
    #[arg(long = "match", value_name = "REGEX", value_parser = Property::pattern)]
    pub(crate) matches: Vec<Property>,

    /// Drop URIs with these schemes
    #[arg(long, value_name = "SCHEME", value_delimiter = ',')]
    #[arg(value_parser = Property::scheme)]
    pub(crate) not_scheme: Vec<Property>,

    /// Drop URIs with these hosts
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    #[arg(value_parser = Property::host)]
    pub(crate) not_host: Vec<Property>,

    /// Drop URIs whose host is one of these domains or below it
    #[arg(long, value_name = "DOMAIN", value_delimiter = ',')]
    #[arg(value_parser = Property::domain)]
    pub(crate) not_domain: Vec<Property>,

    /// Drop URIs in which this regular expression matches
    #[arg(long, value_name = "REGEX", value_parser = Property::pattern)]
    pub(crate) not_match: Vec<Property>,

    /// Drop URIs with more than N segments in the path, not counting empty ones
    ///
    /// This and the next three options drop the endless URIs of crawler traps. --stats counts them by cause.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = number::<u64>(ANY), allow_negative_numbers = true)]
    pub(crate) max_segments: Option<u64>,

    /// Drop URIs in whose path a segment, or a run of segments, occurs more than N times in a row
    ///
    /// /a/b/a/b/a/b has the run a/b three times; in /a/b/a nothing occurs twice. A run has up to 32 segments, which are
    /// compared as they are written.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = number::<u64>(SOME), allow_negative_numbers = true)]
    pub(crate) max_repeats: Option<u64>,

    /// Drop URIs with more than N parameters in the query, separated by &
    #[arg(long, value_name = "N")]
    #[arg(value_parser = number::<u64>(ANY), allow_negative_numbers = true)]
    pub(crate) max_params: Option<u64>,

    /// Drop URIs of more than SIZE bytes, such as 2000 or 8K
    #[arg(long, value_name = "SIZE", value_parser = length, allow_negative_numbers = true)]
    pub(crate) max_length: Option<u64>,

    /// Keep only URIs with the hosts that FILE lists, one per line
    ///
    /// Files of values may be compressed; lines that begin with # are comments. Hosts files (`0.0.0.0 name`) are read, too.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) host_file: Vec<PathBuf>,

    /// Keep only URIs whose host is a domain that FILE lists, or below it
    ///
    /// Also in the forms ||name^ of ad blockers, address=/name/ of dnsmasq and `local-zone: "name" type` of Unbound. A
    /// million names cost little more than one, unless most URIs share domains with them.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) domain_file: Vec<PathBuf>,

    /// Keep only URIs in which a regular expression of FILE matches
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) match_file: Vec<PathBuf>,

    /// Drop URIs with the hosts that FILE lists
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) not_host_file: Vec<PathBuf>,

    /// Drop URIs whose host is a domain that FILE lists, or below it
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) not_domain_file: Vec<PathBuf>,

    /// Drop URIs in which a regular expression of FILE matches
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) not_match_file: Vec<PathBuf>,
}

/// Which files are read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Walk {
    /// Also read the files that FILE lists, one per line (ended by NUL with -0); - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// Also read hidden files in directories
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Also read files that look binary in directories
    #[arg(short = 'a', long)]
    pub(crate) text: bool,
}

/// For commands that read lists: take the links in any input as the list.
#[derive(Debug, Args)]
#[command(next_help_heading = "Links in")]
pub(crate) struct FromText {
    /// Read the links in the input, with the options of `uriscan extract`
    ///
    /// That is --link-column, --log-format, --status and all others that choose links.
    #[arg(long)]
    pub(crate) extract: bool,

    #[command(flatten)]
    pub(crate) find: Find,
}

/// For commands that report on records and have no base of their own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Links in")]
pub(crate) struct FromPages {
    #[command(flatten)]
    pub(crate) from: FromText,

    /// Resolve relative references against this URI
    ///
    /// Those in what --extract reads, as in `uriscan extract`.
    #[arg(long, value_name = "URI", requires = "extract")]
    pub(crate) base: Option<String>,

    /// Also read hidden files in directories
    #[arg(long, requires = "extract")]
    pub(crate) hidden: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PagePart {
    /// url() and @import in style elements and attributes
    Css,
    /// Members such as url, image and sameAs
    JsonLd,
    /// og:image, twitter:player and the like
    Meta,
    /// data-* attributes that look like a reference
    Data,
    /// Links in inline scripts, as in text
    Script,
    /// ping, manifest, xlink:href, data-src, data-srcset, and the page in a srcdoc
    Attributes,
}

impl Find {
    /// The parts of pages to read.
    pub(crate) fn page_parts(&self) -> PageParts {
        self.also.iter().fold(PageParts::default(), |parts, part| match part {
            PagePart::Css => parts.css(true),
            PagePart::JsonLd => parts.json_ld(true),
            PagePart::Meta => parts.meta(true),
            PagePart::Data => parts.data(true),
            PagePart::Script => parts.script(true),
            PagePart::Attributes => parts.attributes(true),
        })
    }

    /// The first option that was given and works with --extract only.
    pub(crate) fn of_extraction(&self) -> Option<&'static str> {
        let given = [
            (!self.link_column.is_empty(), "--link-column"),
            (self.log_format.is_some(), "--log-format"),
            (!self.log_field.is_empty(), "--log-field"),
            (!self.status.is_empty(), "--status"),
            (!self.method.is_empty(), "--method"),
            (self.since.is_some(), "--since"),
            (self.until.is_some(), "--until"),
            (self.warc_field.is_some(), "--warc-field"),
            (!self.also.is_empty(), "--also"),
            (!self.warc_type.is_empty(), "--warc-type"),
            (!self.mime.is_empty(), "--mime"),
            (self.max_expansion.is_some(), "--max-expansion"),
            (self.filters.scheme.as_deref() == Some("any"), "--scheme any"),
            (self.unwrap, "--unwrap"),
            (self.bare_hosts, "--bare-hosts"),
            (self.email, "--email"),
            (self.refang, "--refang"),
            (self.unsplit, "--unsplit"),
            (!self.index.is_empty(), "--index"),
        ];
        given.iter().find(|(is_given, _)| *is_given).map(|(_, name)| *name)
    }
}

/// The types of records of WARC 1.1.
const WARC_TYPES: [&str; 8] = [
    "response",
    "resource",
    "request",
    "metadata",
    "warcinfo",
    "revisit",
    "conversion",
    "continuation",
];

fn warc_type(typed: &str) -> Result<String, String> {
    let name = typed.to_ascii_lowercase();
    if WARC_TYPES.contains(&&*name) {
        return Ok(name);
    }
    let nearest = nearest(&name, WARC_TYPES).unwrap_or_default();
    Err(format!("did you mean {nearest}? The types are {}", WARC_TYPES.join(", ")))
}

fn log_field(typed: &str) -> Result<Context, String> {
    match typed {
        "target" | "request" => Ok(Context::Target),
        "referer" | "referrer" => Ok(Context::Referer),
        "agent" => Ok(Context::Agent),
        _ => Err("the fields are target, referer and agent".to_owned()),
    }
}

fn method(typed: &str) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !typed.is_empty() && typed.bytes().all(is_token) {
        true => Ok(typed.to_owned()),
        false => Err("methods are words such as GET and POST, separated by commas".to_owned()),
    }
}

fn length(typed: &str) -> Result<u64, String> {
    let what = "a length is a number of bytes from 1, such as 2000 or 8K";
    amount_in(typed, 1..=u64::MAX, what)
}

const AFTER_HELP: &str = "\
Directories are searched in the order of names. Hidden and binary files are skipped, symbolic \
links are not followed, .gitignore is not read.

Examples:
  $ echo 'See <http://example.com/a>, or (http://example.com/b).' | uriscan extract
  http://example.com/a
  http://example.com/b

  uriscan extract access.log.zst | uriscan dedup > urls.txt
  uriscan extract -n --scheme http,https notes.txt
  uriscan extract --unwrap rfc3986.txt             join links broken across lines in < >
  uriscan extract -cH docs/                        count the links of each file
  uriscan extract --base http://h/a/ page.html
  uriscan extract --base http://h/ --index index.html mirror/
  uriscan extract --link-column url,referrer events.jsonl.gz
  uriscan extract --log-field target access.log    the paths; with --base https://h, URLs
  uriscan extract --log-format alb --log-field target alb.log.gz
  uriscan extract --status 404 --log-field referer --context access.log   which 404s have a referrer
  uriscan extract --since 2026-03-01 --method POST --jsonl access.log
  uriscan extract --log-format '$host \"$request\"' --log-field request nginx.log
  uriscan extract --link-column url,3 pages.csv    a column by name, and the third
  uriscan extract --base https://h/a/ --context README.md
  uriscan extract crawl.warc.gz | uriscan dedup > frontier.txt
  uriscan extract --warc-type response --mime text/html --not-domain example.com crawl.warc.gz
  uriscan extract --max-repeats 2 --max-segments 20 --max-length 2K crawl.warc.gz
  uriscan extract --jsonl docs/ | jq -r .uri
  git ls-files -z | uriscan extract -0 --files-from -
  uriscan dedup --extract access.log.zst           the same in one command

Exit codes: 0 done, 2 error, or a file could not be read.";
