//! Findings of the audit as lines of text, as JSON lines, and as the results of a SARIF log.

use serde::Serialize;
use serde_json::json;

use super::diagnostic::{Place, push_escaped};
use super::row::push_decimal;
use crate::audit::{Detail, Finding, Rule};

/// Bytes of a record that a finding quotes at the most.
const QUOTED: usize = 200;

/// Appends one line: `source:line:first-last: severity: rule (section): message: consequence`.
///
/// Columns count bytes of the line from 1, the last one included.
pub(crate) fn text(place: Place<'_>, finding: &Finding, out: &mut Vec<u8>) {
    push_shown(place.source.as_bytes(), out);
    out.push(b':');
    push_decimal(place.line, out);
    out.push(b':');
    push_decimal(place.indent + u64::from(finding.start) + 1, out);
    if finding.end > finding.start + 1 {
        out.push(b'-');
        push_decimal(place.indent + u64::from(finding.end), out);
    }
    let (rule, severity) = (finding.rule, finding.severity);
    out.extend_from_slice(format!(": {severity}: {rule} ({}): ", rule.section()).as_bytes());
    // Names in a message come from the record.
    push_shown(finding.message().as_bytes(), out);
    out.extend_from_slice(b": ");
    out.extend_from_slice(rule.consequence().as_bytes());
    out.push(b'\n');
}

/// Appends `text`, with escapes for what a terminal cannot show.
fn push_shown(text: &[u8], out: &mut Vec<u8>) {
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
pub(crate) fn jsonl(place: Place<'_>, record: &[u8], finding: &Finding, out: &mut Vec<u8>) {
    let object = Object {
        source: place.source,
        line: place.line,
        start: finding.start,
        end: finding.end,
        rule: finding.rule.id(),
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

/// The bytes in question, but for a secret.
fn quoted(record: &[u8], finding: &Finding) -> Option<String> {
    let bytes = record.get(finding.start as usize..finding.end as usize)?;
    let bytes = &bytes[..bytes.len().min(QUOTED)];
    (!finding.rule.is_secret()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// What stands before the results of a SARIF 2.1.0 log.
pub(crate) fn sarif_head() -> String {
    let rules: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
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

/// What stands behind them.
pub(crate) const SARIF_TAIL: &str = "\n]}]}\n";

/// Appends a SARIF result with a comma before it. `byte` is the offset of the record in its
/// source, `line` the bytes of its line up to the end of the record, if records are lines.
pub(crate) fn sarif(
    place: Place<'_>,
    line: Option<&[u8]>,
    byte: u64,
    finding: &Finding,
    out: &mut Vec<u8>,
) {
    let (start, end) = (u64::from(finding.start), u64::from(finding.end));
    let mut region = json!({"byteOffset": byte + start, "byteLength": end - start});
    if let Some(line) = line {
        // Columns are those of UTF-16, as the standard has them when nothing else is said.
        let column = |offset: u64| {
            let until = usize::try_from(place.indent + offset).unwrap_or(usize::MAX);
            let before = String::from_utf8_lossy(&line[..until.min(line.len())]);
            before.encode_utf16().count() + 1
        };
        region["startLine"] = place.line.into();
        region["startColumn"] = column(start).into();
        region["endColumn"] = column(end).into();
    }
    let result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": finding.rule as usize,
        "level": finding.severity.name(),
        "message": {"text": format!("{}: {}.", finding.message(), finding.rule.consequence())},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": as_reference(place.source)},
            "region": region,
        }}],
        "properties": {
            "section": finding.rule.section(),
            "count": finding.count,
            "address": address(finding),
        },
    });
    out.extend_from_slice(b",\n");
    out.extend_from_slice(result.to_string().as_bytes());
}

/// The name of a source as a URI-reference: a path, with what may not stand in one encoded.
fn as_reference(name: &str) -> String {
    use crate::grammar::class::{ByteClass, PCHAR};
    const PLAIN: ByteClass = PCHAR.without(ByteClass::of(b":")).or(ByteClass::of(b"/"));
    let push = |mut out: String, byte: u8| {
        if PLAIN.has(byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
        out
    };
    name.bytes().fold(String::new(), push)
}
