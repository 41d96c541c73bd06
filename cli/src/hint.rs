//! The hint that is printed if most of the input is not a list of URIs: what it looks like, and the command that reads it.

mod beginning;
mod call;
mod encoding;
mod evidence;
mod invalid;
mod rows;
#[cfg(test)]
mod tests;
mod trial;

use std::path::Path;

use uriscan::extract::{Cause, Format, Options};
use uriscan::resolve::Suffix;
use uriscan::uri::{UriErrorKind, parse};
use uriscan_bulk::io::escaped;
use uriscan_bulk::pipeline::Report;
#[cfg(feature = "full")]
use uriscan_table::TableFormat;

pub(crate) use beginning::Beginning;
pub(crate) use call::{Call, in_quotes, typed};
pub(crate) use invalid::is_reported;
pub(crate) use rows::of_rows;

pub(crate) const MOST_INPUTS: usize = 256;

/// The hint about `inputs`, which were read as lists with the result `report`: one of them looks like something else, since
/// most of its records are not URIs or it is a table anyway, or most records have no scheme.
pub(crate) fn of_inputs(
    inputs: &[Beginning],
    is_only: bool,
    report: &Report,
    call: &Call,
) -> Option<String> {
    let most_are_invalid = report.invalid.total() > report.records / 2;
    let may_be_relative = call.has("--base") || !call.takes("suffix-scheme");
    let is_invalid = |line: &[u8]| invalid::fault(line, may_be_relative).is_some();
    let names: Vec<&str> = inputs.iter().map(|input| &*input.name).collect();
    let about = inputs.iter().find_map(|input| {
        let is_odd = match is_only {
            true => most_are_invalid,
            false if evidence::is_read(call) => {
                report.invalid.total() > 0 && evidence::is_other(input)
            }
            false => report.invalid.total() > 0 && input.is_mostly(is_invalid),
        };
        let others: Vec<&str> = names.iter().copied().filter(|name| *name != input.name).collect();
        let alone = call.without(&others);
        let encoded = if is_odd { encoding::advice(input, &alone) } else { None };
        encoded.or_else(|| advice(&input.head, &input.name, is_odd, (call, &alone)))
    });
    if evidence::is_read(call) {
        return about.or_else(|| evidence::of_most(inputs));
    }
    about
        .or_else(|| without_scheme(inputs, report, call))
        .or_else(|| invalid::of_most(inputs, is_only, report, (call, may_be_relative)))
}

/// The hint that most records have no scheme, or that none with the host was selected and most have none, if the command can
/// complete them, and they look as if that were meant.
fn without_scheme(inputs: &[Beginning], report: &Report, call: &Call) -> Option<String> {
    let relative = report.invalid.of(UriErrorKind::Relative);
    let of_host = [Cause::Scheme, Cause::Host, Cause::Domain];
    let is_none = report.records == 0 && of_host.iter().any(|&it| report.filtered.of(it) > 0);
    let is_possible = ["--base", "--suffix-scheme", "--grammar", "--profile", "--seen"];
    if !is_none && 2 * relative <= report.records
        || !call.takes("suffix-scheme")
        || is_possible.iter().any(|option| call.has(option))
    {
        return None;
    }
    let suffix = Suffix::new("https").ok()?;
    let is_suffix = |line: &[u8]| {
        let is_relative = parse(line).is_ok_and(|parts| !parts.is_uri());
        is_relative && suffix.complete_into(line, &mut Vec::new()).is_ok()
    };
    let input = inputs.iter().find(|input| input.is_mostly(is_suffix))?;
    let first = input.lines().find(|line| is_suffix(line))?;
    let records = report.records;
    let plural = if records == 1 { "" } else { "s" };
    let have = if relative == 1 { "has" } else { "have" };
    let how = call.with(&["--suffix-scheme https".to_owned()]);
    // Secrets are found in URLs.
    let url = call::sample(&[b"https://", first].concat());
    let what = match is_none {
        true => "no record was selected, and most have no scheme".to_owned(),
        false => format!("{relative} of {records} record{plural} {have} no scheme"),
    };
    Some(format!("{what}, such as {}. Try `{how}`", url.replacen("https://", "", 1)))
}

/// The hint that most values of the `column` of a table are not URIs, with what may complete them; `None` for the commands
/// that report each, and where the user said what becomes of them.
pub(crate) fn of_column(column: &str, report: &Report, call: &Call) -> Option<String> {
    if is_reported(call) {
        return None;
    }
    let (invalid, values) = (report.invalid.total(), report.records);
    let (kind, count) = report.invalid.iter().max_by_key(|&(_, count)| count)?;
    let column = escaped(column);
    let are = match values {
        1 => format!("value of column {column} is not a URI"),
        _ => format!("values of column {column} are not URIs"),
    };
    let hint = format!("{invalid} of {values} {are} ({kind}: {count})");
    let completes = ["--base", "--suffix-scheme"].iter().any(|option| call.has(option));
    if kind != UriErrorKind::Relative || completes || !call.takes("suffix-scheme") {
        return Some(hint);
    }
    let how = call.with(&["--suffix-scheme https".to_owned()]);
    Some(format!("{hint}. For hosts without a scheme, try `{how}`; for paths, --base URL"))
}

/// The hint that the first line of the table `input`, which has `separator` between its fields, may be a row, and not the
/// names of columns: if that of the column with this `number`, from 1, is a URL or a host, as the value below it is.
pub(crate) fn of_header(input: &Beginning, number: usize, separator: u8) -> Option<String> {
    let field = |line| {
        let fields = fields(str::from_utf8(line).ok()?, separator);
        fields.into_iter().nth(number.checked_sub(1)?)
    };
    let is_value = |field: &str| {
        let is_of_host = |c: char| c.is_alphanumeric() || "-._:".contains(c);
        let is_host = field.contains('.') && field.chars().all(is_of_host);
        field.contains("://") || is_host && field.contains(char::is_alphabetic)
    };
    let (name, value) = (field(input.first_line())?, field(input.lines().nth(1)?)?);
    let (input, shown) = (&input.name, call::sample(name.as_bytes()));
    (is_value(&name) && is_value(&value)).then(|| {
        format!(
            "the first line of {input} was read as the names of its columns, and column {number} is called {shown}; \
             --no-header reads it as a row"
        )
    })
}

/// The hint about the text `input`, in which the `call` has found no link, that there are hosts without a scheme.
pub(crate) fn of_no_links(input: &Beginning, call: &Call) -> Option<String> {
    let has_links = || !trial::links(&[&input.head], Options::default()).is_empty();
    if call.has("--bare-hosts") || is_binary(&input.head) || has_links() {
        return None;
    }
    let found = trial::links(&[&input.head], Options::default().bare_hosts(true));
    let host = call::sample(parse(found.first()?).ok()?.host(found.first()?)?);
    // In a page only its tags are searched.
    let is_page = input.head.trim_ascii_start().starts_with(b"<");
    let from = if is_page { "--from text " } else { "" };
    Some(format!(
        "no link was found; {from}--bare-hosts also finds hosts without a scheme, such as {host}"
    ))
}

/// What names the format of the table `input`, if its first bytes do not.
#[cfg(feature = "full")]
pub(crate) fn unknown_table(input: &Beginning) -> Option<String> {
    const BEGINS: [&[u8]; 3] = [b"PAR1", b"ARROW1", &[0xFF; 4]];
    let head = &input.head[..];
    // Of a pipe there may be little yet.
    let may_be_known = BEGINS.iter().any(|begin| begin.starts_with(head))
        || matches!(input.first_byte(), None | Some(b'{' | b'['));
    if may_be_known || TableFormat::of_head(head).is_some() {
        return None;
    }
    let formats = [(b',', "CSV", "csv"), (b';', "CSV", "csv"), (b'\t', "TSV", "tsv")];
    let found = formats.iter().find(|(separator, ..)| is_separated(head, *separator));
    Some(match found {
        Some((_, what, from)) => format!("it looks like {what}, which --from {from} reads"),
        None => "--from csv, tsv, jsonl, fields, parquet or arrow names it".to_owned(),
    })
}

/// The hint about `input`, whose secrets are masked: if it is binary data, in which none is found, or lines with more than a URI: the
/// rest may be masked, too.
pub(crate) fn of_masked(input: &Beginning) -> Option<String> {
    let name = &input.name;
    if is_binary(&input.head) {
        let what = "binary data, such as UTF-16; secrets in it may not be masked";
        return Some(format!("{name} looks like {what}"));
    }
    let is_line = |what: &str| ["an access log", "CSV", "TSV"].contains(&what);
    let (what, _) = look(&input.head, name).filter(|(what, _)| is_line(what))?;
    Some(format!(
        "{name} looks like {what}; a secret goes on up to the next parameter, so the rest of a line may be masked with it"
    ))
}

/// The hint about the input with this `name`, which begins with `head`, of a call with other inputs, perhaps, and of the
/// same one without these.
fn advice(head: &[u8], name: &str, is_odd: bool, (call, alone): (&Call, &Call)) -> Option<String> {
    if evidence::is_read(call) {
        return evidence::advice(head, name, is_odd, alone);
    }
    let header = Header::of(head, name).filter(|header| is_odd || header.urls.is_some());
    let of_table = match call.takes("column") || call.takes("link-column") {
        true => alone.clone(),
        false => alone.as_extract(),
    };
    if let Some(header) = &header
        && let Some(options) = header.options(name, &of_table)
    {
        let how = of_table.with(&options);
        let kind = is_odd.then_some("a list of URIs");
        return Some(looks_like(name, kind, &header.shown()) + &format!(". Try `{how}`"));
    }
    let (what, from) = look(head, name).filter(|_| is_odd)?;
    let (mut options, call) = match call.takes("extract") {
        // Of several files each is read as what it is.
        true if from.is_none() => (vec!["--extract".to_owned()], call.clone()),
        true => (vec!["--extract".to_owned()], alone.clone()),
        false => (Vec::new(), alone.as_extract()),
    };
    options.extend(from.map(|from| format!("--from {from}")));
    if let Some(column) = header.as_ref().and_then(|header| header.urls.as_deref())
        && call.takes("link-column")
    {
        options.push(format!("--link-column {}", typed(column)));
    }
    // Lists of hosts and their ranks have no links otherwise.
    let is_table = ["CSV", "TSV"].contains(&what);
    if is_table && !call.has("--bare-hosts") && trial::links(&[head], Options::default()).is_empty()
    {
        let found = trial::links(&[head], Options::default().bare_hosts(true));
        options.extend((!found.is_empty()).then(|| "--bare-hosts".to_owned()));
    }
    if what == "HTML" && !call.has("--base") && call.takes("base") {
        options.push("--base URL".to_owned());
    }
    let how = call.with(&options);
    Some(looks_like(name, Some("a list of URIs"), what) + &format!(". Try `{how}`"))
}

/// What the input with this `name` looks like: most of it is not of the `kind` that the command reads, or all is.
fn looks_like(name: &str, kind: Option<&str>, what: &str) -> String {
    match kind {
        Some(kind) => format!("most of {name} is not {kind}; it looks like {what}"),
        None => format!("{name} looks like {what}, and was read as lines"),
    }
}

/// What an input that begins with `head` looks like, and the format to name, if it is not detected.
fn look(head: &[u8], name: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match Format::of_source(name, head) {
        Format::Html => ("HTML", None),
        Format::Json => ("JSON", None),
        Format::Clf | Format::W3c => ("an access log", None),
        Format::Warc => ("a web archive", None),
        Format::Xml => ("a sitemap or a feed", None),
        Format::Markup => ("XML", None),
        Format::Folded => ("a calendar, vCards or LDIF", None),
        Format::Har => ("an HTTP archive", None),
        Format::Eml => ("a message", None),
        Format::Mbox => ("a mailbox", None),
        Format::Cdxj => ("an index of web archives", None),
        Format::Markdown => ("Markdown", None),
        _ if is_binary(head) => ("binary data", None),
        Format::Csv => ("CSV", None),
        Format::Tsv => ("TSV", None),
        _ if is_separated(head, b',') => ("CSV", Some("csv")),
        _ if is_separated(head, b'\t') => ("TSV", Some("tsv")),
        _ => return None,
    })
}

/// The first line of a table of CSV or TSV, which names its columns, or of JSON lines.
struct Header {
    format: &'static str,
    /// Between columns; a line feed if there are none.
    separator: u8,
    names: Vec<String>,
    /// The columns, or the paths to members, with their values in the next line.
    values: Vec<(String, String)>,
    /// The column that has a URL in the next line.
    urls: Option<String>,
}

impl Header {
    /// The header of the input with this `name` that begins with `head`, if it has one.
    fn of(head: &[u8], name: &str) -> Option<Header> {
        let text = str::from_utf8(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head));
        // The last character may be cut.
        let text = text.or_else(|error| str::from_utf8(&head[..error.valid_up_to()])).ok()?;
        let (format, separator) = match Format::of_source(name, head) {
            Format::Csv => ("CSV", b','),
            Format::Tsv => ("TSV", b'\t'),
            Format::Text if is_separated(head, b',') => ("CSV", b','),
            Format::Text if is_separated(head, b'\t') => ("TSV", b'\t'),
            Format::Text if is_separated(head, b';') => ("CSV", b';'),
            Format::Json => return Header::of_member(text.lines().next()?),
            _ => return None,
        };
        let is_comma = separator == b',' && !is_separated(head, b',');
        let separator = if is_comma && is_separated(head, b';') { b';' } else { separator };
        let mut lines = text.lines();
        let names = fields(lines.next()?, separator);
        let is_name = |name: &String| {
            let is_usual = |c: char| c.is_alphanumeric() || " _-.,()#".contains(c);
            name.contains(char::is_alphabetic) && name.chars().all(is_usual)
        };
        if !names.iter().all(is_name) {
            return None;
        }
        let row = fields(lines.next()?, separator);
        let urls = row.iter().position(|field| field.contains("://"));
        let urls = urls.and_then(|at| names.get(at)).cloned();
        let values = names.iter().cloned().zip(row).collect();
        Some(Header { format, separator, names, values, urls })
    }

    /// That of JSON lines that begin with `line`, if one of its members has a URL.
    fn of_member(line: &str) -> Option<Header> {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
        let mut values = Vec::new();
        add_values(&object, "", &mut values);
        let urls = values.iter().filter(|(_, value)| value.contains("://")).map(|(path, _)| path);
        let urls: Vec<&String> = urls.collect();
        let is_usual = |path: &&&String| {
            let name = path.rsplit('.').next().unwrap_or_default();
            ["url", "uri", "endpoint"].contains(&&*name.to_ascii_lowercase())
        };
        let url = (*urls.iter().find(is_usual).or(urls.first())?).clone();
        let names = object.keys().cloned().collect();
        Some(Header { format: "JSON lines", separator: b'\n', names, values, urls: Some(url) })
    }

    /// The options of `call` that read the column of URLs, of the input with this `name`.
    fn options(&self, name: &str, call: &Call) -> Option<Vec<String>> {
        let column = self.urls.as_deref().map_or_else(|| "NAME".to_owned(), typed);
        let is_json = self.separator == b'\n';
        // Options for lines, and the audit, whose findings people read as lines.
        const OF_LINES: [&str; 9] = [
            "-0",
            "--null",
            "--emit",
            "--aliases",
            "--differ",
            "--iri",
            "-g",
            "--template",
            "--redact",
        ];
        let is_of_lines = call.words == ["audit"] || OF_LINES.iter().any(|option| call.has(option));
        const OF_ROWS: [&str; 5] = ["dedup", "check", "extract", "census", "top"];
        // Without tables of columns other commands find links.
        let is_of_rows = OF_ROWS.iter().any(|it| call.words == [*it]);
        let reads_rows = cfg!(feature = "full")
            || is_of_rows
            || call.words.first().is_some_and(|word| word == "learn" || word == "set");
        // Links are found whatever is between the columns.
        let delimiter = if self.separator == b';' { " --delimiter ';'" } else { "" };
        let mut options = vec![if call.words == ["extract"] {
            format!("--link-column {column}")
        } else if call.takes("column") && reads_rows && !(is_of_lines && call.takes("link-column"))
        {
            format!("--column {column}{delimiter}")
        } else if call.takes("link-column") {
            format!("--extract --link-column {column}")
        } else {
            return None;
        }];
        let from = match is_json {
            // Links are read from JSON, rows from its lines.
            true if options[0].contains("--link-column") => "json".to_owned(),
            true => "jsonl".to_owned(),
            false => self.format.to_ascii_lowercase(),
        };
        // Those that read rows know objects by their first byte.
        let name = name.to_ascii_lowercase();
        let is_found = match is_json {
            true => is_of_rows || name.contains("json"),
            false => name.contains(&format!(".{from}")),
        };
        if !is_found {
            options.push(format!("--from {from}"));
        }
        Some(options)
    }

    fn shown(&self) -> String {
        const MOST: usize = 12;
        let names = &self.names[..self.names.len().min(MOST)];
        let more = if self.names.len() > MOST { ", ..." } else { "" };
        let column = if self.separator == b'\n' { "member" } else { "column" };
        let columns = if self.names.len() == 1 { column.to_owned() } else { format!("{column}s") };
        let how = if self.separator == b';' { " separated by ;" } else { "" };
        format!("{} with the {columns} {}{more}{how}", self.format, names.join(", "))
    }
}

/// Adds the paths of the members of `object`, which is at `above`, with their texts.
fn add_values(
    object: &serde_json::Map<String, serde_json::Value>,
    above: &str,
    found: &mut Vec<(String, String)>,
) {
    for (name, value) in object {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match value {
            serde_json::Value::Object(object) => add_values(object, &path, found),
            serde_json::Value::String(text) => found.push((path, text.clone())),
            _ => {}
        }
    }
}

/// The fields of a line, without quotes around them.
fn fields(line: &str, separator: u8) -> Vec<String> {
    let mut in_quotes = false;
    let all = line.split(|c: char| {
        in_quotes ^= c == '"';
        c == char::from(separator) && !in_quotes
    });
    all.map(|field| field.trim().trim_matches('"').replace("\"\"", "\"")).collect()
}

/// Whether `head` has a NUL and a tenth of it is control characters: a list may have a NUL in one of its records.
fn is_binary(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.contains(&0) && 10 * head.iter().filter(is_control).count() >= head.len()
}

/// Whether the first lines of `head` have the same number of fields, and more than one, separated by `separator`.
fn is_separated(head: &[u8], separator: u8) -> bool {
    const LINES: usize = 8;
    let whole = head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = head[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let separators = |line: &[u8]| {
        let mut in_quotes = false;
        let outside = line.iter().filter(|&&byte| {
            in_quotes ^= byte == b'"';
            byte == separator && !in_quotes
        });
        outside.count()
    };
    let counts: Vec<usize> = lines.take(LINES).map(separators).collect();
    counts.len() > 1 && counts[0] > 0 && counts.iter().all(|&count| count == counts[0])
}

/// Whether `path` looks like a URL.
pub(crate) fn is_url(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let scheme = bytes.windows(3).position(|part| part == b"://").map(|end| &bytes[..end]);
    scheme.is_some_and(|scheme| {
        scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
    })
}
