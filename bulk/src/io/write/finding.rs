//! Findings of the audit as lines of text, as JSON lines, and as the results of a SARIF log.

use serde::Serialize;
use serde_json::json;

use super::diagnostic::Position;
use super::paint::{CYAN, RED, YELLOW, push_escaped};
use super::row::push_decimal;
use uriscan_core::audit::{Detail, Finding, Rule, Severity, each_secret};
use uriscan_core::normalize::percent::push_encoded;

/// Maximum number of bytes of a record that a finding quotes.
const QUOTED: usize = 200;

/// Appends one line: `source:line:first-last: severity: rule (section): message: consequence`.
///
/// Columns are bytes of the line, counted from 1; the last one is included.
pub(crate) fn text(position: Position<'_>, finding: &Finding, out: &mut Vec<u8>) {
    push_text_escaped(position.source.as_bytes(), out);
    out.push(b':');
    push_decimal(position.line, out);
    out.push(b':');
    push_decimal(position.column(finding.start), out);
    let is_literal = position.origin.is_none_or(|origin| origin.is_literal);
    if finding.end > finding.start + 1 && is_literal {
        out.push(b'-');
        push_decimal(position.indent + u64::from(finding.end), out);
    }
    let rule = finding.rule;
    out.extend_from_slice(b": ");
    let colour = match finding.severity {
        Severity::Note => CYAN,
        Severity::Warning => YELLOW,
        Severity::Error => RED,
    };
    position.paint.push(colour, finding.severity.name().as_bytes(), out);
    for text in [": ", rule.name(), " (", rule.section(), "): "] {
        out.extend_from_slice(text.as_bytes());
    }
    push_message(finding, out);
    for text in [": ", rule.consequence()] {
        out.extend_from_slice(text.as_bytes());
    }
    position.push_context(out);
    out.push(b'\n');
}

/// Appends [`Finding::message`], with escapes for characters that a terminal cannot show.
fn push_message(finding: &Finding, out: &mut Vec<u8>) {
    // Names come from the record and may need escapes; what else there is, such as addresses, is rare.
    let detail = match &finding.detail {
        Detail::None => None,
        Detail::Error(error) => Some(error.kind.message()),
        Detail::Service(name) => Some(*name),
        Detail::Name(name) => Some(&**name),
        _ => return push_text_escaped(finding.message().as_bytes(), out),
    };
    out.extend_from_slice(finding.rule.title().as_bytes());
    if let Some(detail) = detail {
        out.extend_from_slice(b": ");
        push_text_escaped(detail.as_bytes(), out);
    }
    if finding.count > 1 {
        let (before, after): (&[u8], &[u8]) =
            if detail.is_none() { (b" (", b" times)") } else { (b" (one of ", b")") };
        out.extend_from_slice(before);
        push_decimal(finding.count.into(), out);
        out.extend_from_slice(after);
    }
}

/// Appends `text`, with escapes for characters that a terminal cannot show.
fn push_text_escaped(text: &[u8], out: &mut Vec<u8>) {
    if text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        out.extend_from_slice(text);
    } else {
        push_escaped(text, usize::MAX, out);
    }
}

/// A finding as a JSON object; the names are stable.
#[derive(Serialize)]
struct Object<'a> {
    source: &'a str,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'static str>,
    start: u32,
    end: u32,
    rule: &'a str,
    severity: &'a str,
    section: &'a str,
    message: &'a str,
    consequence: &'a str,
    count: u32,
    address: Option<String>,
    text: Option<String>,
}

/// Appends the object of `finding` in `record` and a line feed.
pub(crate) fn jsonl(position: Position<'_>, record: &[u8], finding: &Finding, out: &mut Vec<u8>) {
    let object = Object {
        source: position.source,
        line: position.line,
        column: position.link().map(|(column, _)| column),
        context: position.link().map(|(_, context)| context.name()),
        start: finding.start,
        end: finding.end,
        rule: finding.rule.name(),
        severity: finding.severity.name(),
        section: finding.rule.section(),
        message: &finding.message(),
        consequence: finding.rule.consequence(),
        count: finding.count,
        address: address(finding),
        text: quoted(record, finding),
    };
    let value = serde_json::to_vec(&object).expect("strings and numbers make an object");
    out.extend_from_slice(&value);
    out.push(b'\n');
}

fn address(finding: &Finding) -> Option<String> {
    match finding.detail {
        Detail::Address(address) => Some(address.to_string()),
        _ => None,
    }
}

/// The bytes of the finding, unless they include a secret.
fn quoted(record: &[u8], finding: &Finding) -> Option<String> {
    let bytes = record.get(finding.start as usize..finding.end as usize)?;
    let shown = finding.start as usize..finding.start as usize + bytes.len().min(QUOTED);
    let mut is_secret = finding.rule.is_secret();
    each_secret(record, |secret| {
        is_secret |= secret.start < shown.end && shown.start < secret.end;
    });
    (!is_secret).then(|| String::from_utf8_lossy(&record[shown]).into_owned())
}

/// The part of a SARIF 2.1.0 log before the results.
pub(crate) fn sarif_head() -> String {
    let rules: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.name(),
                "shortDescription": {"text": rule.title()},
                "fullDescription": {"text": format!("{}: {}.", rule.title(), rule.consequence())},
                "helpUri": format!("https://www.rfc-editor.org/rfc/rfc3986#section-{}", rule.section()),
                "defaultConfiguration": {"level": rule.severity().name()},
                "properties": {"section": rule.section()},
            })
        })
        .collect();
    let driver = json!({"name": "uriscan", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\
         \"runs\":[{{\"tool\":{{\"driver\":{driver}}},\"results\":["
    )
}

/// The part after the results.
pub(crate) const SARIF_TAIL: &str = "\n]}]}\n";

/// Appends a SARIF result after a comma. `byte` is the offset of the record in its source; `line`
/// holds the bytes of its line up to the end of the record, if records are lines.
pub(crate) fn sarif(
    position: Position<'_>,
    line: Option<&[u8]>,
    byte: u64,
    finding: &Finding,
    out: &mut Vec<u8>,
) {
    let (start, end) = (u64::from(finding.start), u64::from(finding.end));
    // Columns are counted in UTF-16, the default of the standard.
    let column = |line: &[u8], offset: u64| {
        let until = usize::try_from(position.indent + offset).unwrap_or(usize::MAX);
        let before = &line[..until.min(line.len())];
        let units = if before.is_ascii() {
            before.len()
        } else {
            String::from_utf8_lossy(before).encode_utf16().count()
        };
        units + 1
    };
    let region = match position.origin {
        None => Region {
            byte_offset: byte + start,
            byte_length: end - start,
            start_line: line.map(|_| position.line),
            start_column: line.map(|line| column(line, start)),
            end_column: line.map(|line| column(line, end)),
        },
        // The rest of its line is not at hand, to count columns in.
        Some(origin) => Region {
            byte_offset: origin.byte + if origin.is_literal { start } else { 0 },
            byte_length: if origin.is_literal { end - start } else { 0 },
            start_line: Some(origin.line),
            start_column: None,
            end_column: None,
        },
    };
    let artifact_location = Artifact { uri: &as_reference(position.source) };
    let result = SarifResult {
        rule_id: finding.rule.name(),
        rule_index: finding.rule as usize,
        level: finding.severity.name(),
        message: Message {
            text: &format!("{}: {}.", finding.message(), finding.rule.consequence()),
        },
        locations: [Location { physical_location: PhysicalLocation { artifact_location, region } }],
        properties: Properties {
            section: finding.rule.section(),
            count: finding.count,
            address: address(finding),
        },
    };
    out.extend_from_slice(b",\n");
    out.extend(serde_json::to_vec(&result).expect("strings and numbers make an object"));
}

/// A result of SARIF 2.1.0 (section 3.27), with the properties that are used here.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: Artifact<'a>,
    region: Region,
}

#[derive(Serialize)]
struct Artifact<'a> {
    uri: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    byte_offset: u64,
    byte_length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
}

#[derive(Serialize)]
struct Properties<'a> {
    section: &'a str,
    count: u32,
    address: Option<String>,
}

/// The name of a source as a URI-reference: a path, with other characters encoded.
fn as_reference(name: &str) -> String {
    use uriscan_core::grammar::class::{ByteClass, PCHAR};
    const PLAIN: ByteClass = PCHAR.without(ByteClass::of(b":")).or(ByteClass::of(b"/"));
    let mut reference = Vec::with_capacity(name.len());
    name.bytes().for_each(|byte| push_encoded(byte, PLAIN, &mut reference));
    String::from_utf8(reference).expect("a reference is ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::audit::{RuleSet, audit};

    #[test]
    fn lines_agree_with_findings() {
        let position = Position { indent: 2, ..Position::new("list", 7) };
        for record in [
            &b"http://u:p@h:25/%00%00/..?token=x"[..],
            b"http://0x7f.1/a b",
            b"http://[::ffff:10.0.0.1]:70000/",
            b"http://h/?\xE9\x1B_token=x",
            "http://p\u{430}ypal.com/\u{202e}".as_bytes(),
        ] {
            let mut findings = Vec::new();
            audit(record, RuleSet::all(), &mut findings);
            assert!(!findings.is_empty());
            for finding in &findings {
                let (mut out, mut message) = (Vec::new(), Vec::new());
                text(position, finding, &mut out);
                push_text_escaped(finding.message().as_bytes(), &mut message);
                let (rule, severity) = (finding.rule, finding.severity);
                let (first, last) = (finding.start + 3, finding.end + 2);
                let columns =
                    if last > first { format!("{first}-{last}") } else { first.to_string() };
                let message = String::from_utf8(message).unwrap();
                let expected = format!(
                    "list:7:{columns}: {severity}: {rule} ({}): {message}: {}\n",
                    rule.section(),
                    rule.consequence()
                );
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }
}
