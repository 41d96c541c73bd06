//! `uriscan extract`, and what other commands share with it.

use std::path::PathBuf;

use clap::Args;
use uriscan::extract::{Context, Format, LogFormat};

use super::groups::Common;

/// Find URIs in text, logs and whatever else is no list of URIs
///
/// Writes one URI per line, in order. A link begins with a scheme and ends where a URI cannot go on:
/// at white space, quotes, < and >, a closing bracket that was not opened in it; trailing punctuation
/// is no part of it. Input in gzip, zstd, bzip2, xz or lz4 is read as what it holds, as it is by
/// every command. A file that cannot be read is reported and the rest goes on; the exit code is 2 then.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Extract {
    #[command(flatten)]
    pub(crate) find: Find,

    /// Keep letters beyond ASCII; not given, a link ends before them
    #[arg(long)]
    pub(crate) iri: bool,

    #[command(flatten)]
    pub(crate) walk: Walk,

    /// The URI that relative references in pages, fields and access logs are resolved against
    ///
    /// A page's own <base> goes before it, and in archives the URI of the record.
    #[arg(long, value_name = "URI")]
    pub(crate) base: Option<String>,

    /// Begin every line with the name of the file
    #[arg(short = 'H', long)]
    pub(crate) with_filename: bool,

    /// Write the number of the line that the link begins in, from 1
    #[arg(short = 'n', long)]
    pub(crate) line_number: bool,

    /// Write the offset of the link's first byte in its file, from 0
    #[arg(short = 'b', long)]
    pub(crate) byte_offset: bool,

    /// Write the kind of place where the link stands
    #[arg(long)]
    pub(crate) context: bool,

    /// Write a JSON object per link: file, line, byte, context, uri
    #[arg(long, conflicts_with_all = ["with_filename", "line_number", "byte_offset", "context"])]
    pub(crate) jsonl: bool,

    /// Write the number of links only; of each file with -H
    #[arg(short, long, conflicts_with_all = ["line_number", "byte_offset", "context", "jsonl"])]
    pub(crate) count: bool,

    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What is read, and what counts as a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Find {
    /// What the input holds: auto, text, html, markdown, json, csv, tsv, clf, warc or cdxj
    ///
    /// auto tells by the first bytes of each file, and what looks like text by its name: .md, .csv, .tsv, .cdxj. html:
    /// the references in attributes. markdown: links and images, and what stands in its text. json: the strings of JSON
    /// lines. csv, tsv: fields. clf: access logs in the Common or Combined Log Format, or as --log-format has it.
    /// warc: archives of version 1.0 and 1.1, their pages and texts; WAT and WET too. cdxj: the URIs in their indexes.
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    pub(crate) format: Option<InputFormat>,

    /// Of JSON, CSV and TSV, look only at these members or columns
    ///
    /// Members by name, at any depth; a.b is a member b of one called a. Columns by their name in the first row, which
    /// is left out then, or by their number from 1. A value that is a URI as a whole is taken as one.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) field: Vec<String>,

    /// How the lines of access logs look, as nginx (log_format) or Apache (LogFormat) is told
    ///
    /// Such as '$host [$time_local] "$request" $status "$http_referer"' or '%v %h %t \"%r\" %>s'. A request is
    /// joined with the host in its line ($host, $http_host, $server_name, %v, %V, %{Host}i; http unless there is a
    /// $scheme), or with --base. Lines of another form are searched as text.
    #[arg(long, value_name = "PATTERN", value_parser = log_format)]
    pub(crate) log_format: Option<LogFormat>,

    /// Of access logs, look only at target (or request), referer or agent
    #[arg(long, value_name = "FIELD", value_delimiter = ',', value_parser = log_field)]
    pub(crate) log_field: Vec<Context>,

    /// Of archives, take the URIs of the records: target
    #[arg(long, value_name = "FIELD", value_parser = ["target"])]
    pub(crate) warc_field: Option<String>,

    /// Schemes to look for, with commas between, or any
    ///
    /// Not given: every scheme before `://`, and those without it whose URIs can be told from prose
    /// (mailto, urn, tel, sms, news, data, magnet, doi, sip, sips, xmpp, geo, cid, mid, acct, tag, ark).
    /// any: whatever looks like a scheme.
    #[arg(long, value_name = "LIST|any")]
    pub(crate) scheme: Option<String>,

    /// Join links in < > that are broken over lines (RFC 3986, Appendix C)
    ///
    /// White space around one line break is dropped. A hyphen before it stays.
    #[arg(long)]
    pub(crate) unwrap: bool,

    /// Also hosts without a scheme, such as www.example.com/x; http:// is put before them
    ///
    /// Those under a public suffix (the list is part of the program).
    #[arg(long)]
    pub(crate) www: bool,

    /// Also mail addresses; mailto: is put before them
    #[arg(long)]
    pub(crate) email: bool,

    /// Also links made harmless, such as hxxp://example[.]com; they are written as they were
    #[arg(long)]
    pub(crate) refang: bool,
}

/// Which files are read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Walk {
    /// Also read the files that FILE names, one per line (NUL between them with -0); - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// In directories, also read hidden files
    #[arg(long)]
    pub(crate) hidden: bool,

    /// In directories, also read files that look binary
    #[arg(short = 'a', long)]
    pub(crate) text: bool,
}

/// For commands that take lists: read anything, and take the links in it as the list.
#[derive(Debug, Args)]
pub(crate) struct FromText {
    /// Take the links in the input, as `uriscan extract` finds them, for the list
    ///
    /// Directories are walked, and files that cannot be read are reported and passed over, as with extract.
    #[arg(long)]
    pub(crate) extract: bool,

    #[command(flatten)]
    pub(crate) find: Find,
}

/// The value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputFormat {
    Auto,
    Of(Format),
}

fn input_format(typed: &str) -> Result<InputFormat, String> {
    if typed == "auto" {
        return Ok(InputFormat::Auto);
    }
    Format::from_name(typed).map(InputFormat::Of).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        format!("the formats are auto, {names}")
    })
}

fn log_field(typed: &str) -> Result<Context, String> {
    match typed {
        "target" | "request" => Ok(Context::Target),
        "referer" | "referrer" => Ok(Context::Referer),
        "agent" => Ok(Context::Agent),
        _ => Err("the fields are target, referer and agent".to_owned()),
    }
}

fn log_format(typed: &str) -> Result<LogFormat, String> {
    LogFormat::new(typed)
}

const AFTER_HELP: &str = "\
Directories are walked in the order of names; hidden files and those that look binary are passed
over, links are not followed, and .gitignore has no say.

Examples:
  uriscan extract access.log.zst | uriscan dedup > urls.txt
  uriscan extract -n --scheme http,https notes.txt
  uriscan extract --unwrap rfc3986.txt             links broken over lines inside < >
  uriscan extract -cH docs/                        how many in each file
  uriscan extract --base http://h/a/ page.html
  uriscan extract --field url,referrer events.jsonl.gz
  uriscan extract --base https://h --log-field target access.log
  uriscan extract --log-format '$host \"$request\"' --log-field request nginx.log
  uriscan extract --field url,3 pages.csv          a column by name, and the third
  uriscan extract --base https://h/a/ --context README.md
  uriscan extract crawl.warc.gz | uriscan dedup > frontier.txt
  uriscan extract --jsonl docs/ | jq -r .uri
  git ls-files -z | uriscan extract -0 --files-from -
  uriscan dedup --extract access.log.zst           the same without a list in between";
