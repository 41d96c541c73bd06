//! Rows of references by RFC 2396: their fields, as JSON and as tab-separated values.
//!
//! As in [`crate::io::write::row`], no value needs an escape: RFC 2396 allows only ASCII without controls, `"`
//! and `\`. In every other respect a row is one of [`crate::io::write::json`] or
//! [`crate::io::write::tsv`].

use crate::io::write::row::push_decimal;
use uriscan_core::rfc2396::{LegacyComponents, LegacyForm};
use uriscan_core::uri::UriError;

/// The names of the fields, in order, `line` before them.
pub(crate) const FIELDS: [&str; 18] = [
    "scheme",
    "opaque_part",
    "net_path",
    "abs_path",
    "rel_path",
    "authority",
    "server",
    "reg_name",
    "userinfo",
    "host",
    "hostname",
    "toplabel",
    "port",
    "path",
    "params",
    "query",
    "fragment",
    "host_kind",
];

/// A valid reference and its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LegacyRow<'t> {
    pub(crate) line: u64,
    pub(crate) text: &'t [u8],
    pub(crate) parts: LegacyComponents,
}

impl<'t> LegacyRow<'t> {
    /// The values of [`FIELDS`]; the params are a value of their own.
    fn values(&self) -> [Option<&'t [u8]>; FIELDS.len()] {
        let LegacyRow { text, parts: c, .. } = *self;
        [
            c.scheme(text),
            c.opaque_part(text),
            c.net_path(text),
            c.abs_path(text),
            c.rel_path(text),
            c.authority(text),
            c.server(text),
            c.reg_name(text),
            c.userinfo(text),
            c.host(text),
            c.hostname(text),
            c.toplabel(text),
            c.port(text),
            Some(c.path(text)),
            None,
            c.query(text),
            c.fragment(text),
            c.authority.host_kind().map(str::as_bytes),
        ]
    }

    /// Appends, for each segment of a hierarchical path, the list of its params: `[["x=1","y"],[]]`.
    fn params_into(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (i, segment) in self.parts.segments(self.text).enumerate() {
            out.extend_from_slice(if i == 0 { b"[" } else { b",[" });
            for (i, param) in segment.split(|&byte| byte == b';').skip(1).enumerate() {
                out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
                out.extend_from_slice(param);
                out.push(b'"');
            }
            out.push(b']');
        }
        out.push(b']');
    }

    fn has_params(&self) -> bool {
        self.parts.form != LegacyForm::OpaquePart
    }

    /// Appends the object and a line feed.
    pub(crate) fn json_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"line\":");
        push_decimal(self.line, out);
        for (name, value) in FIELDS.into_iter().zip(self.values()) {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            match value {
                Some(text) => {
                    out.push(b'"');
                    out.extend_from_slice(text);
                    out.push(b'"');
                }
                None if name == "params" && self.has_params() => self.params_into(out),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends the columns and a line feed.
    pub(crate) fn tsv_into(&self, out: &mut Vec<u8>) {
        push_decimal(self.line, out);
        for (name, value) in FIELDS.into_iter().zip(self.values()) {
            out.push(b'\t');
            match value {
                Some(text) => out.extend_from_slice(text),
                None if name == "params" && self.has_params() => self.params_into(out),
                None => out.extend_from_slice(b"\\N"),
            }
        }
        out.extend_from_slice(b"\t\\N\n");
    }
}

/// Appends the header line.
pub(crate) fn tsv_header(out: &mut Vec<u8>) {
    out.extend_from_slice(b"line\t");
    for name in FIELDS {
        out.extend_from_slice(name.as_bytes());
        out.push(b'\t');
    }
    out.extend_from_slice(b"error\n");
}

/// Appends the row of a record that is not a URI-reference.
pub(crate) fn tsv_error_row(line: u64, error: UriError, out: &mut Vec<u8>) {
    push_decimal(line, out);
    for _ in FIELDS {
        out.extend_from_slice(b"\t\\N");
    }
    out.push(b'\t');
    out.extend_from_slice(error.kind.name().as_bytes());
    out.push(b'@');
    push_decimal(error.at.into(), out);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::rfc2396::Legacy;
    use uriscan_core::rfc2396::parse_rfc2396;

    fn row(text: &str) -> LegacyRow<'_> {
        let text = text.as_bytes();
        LegacyRow { line: 7, text, parts: parse_rfc2396(text, Legacy::default()).unwrap() }
    }

    #[test]
    fn rows_are_json_with_params_per_segment() {
        let mut out = Vec::new();
        row("http://www.h.example:8/a;x=1;y/b/;?q#f").json_into(&mut out);
        let found: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(found["params"], serde_json::json!([["x=1", "y"], [], [""]]));
        assert_eq!(
            (&found["toplabel"], &found["host_kind"]),
            (&"example".into(), &"hostname".into())
        );
        assert_eq!((&found["line"], &found["opaque_part"]), (&7.into(), &serde_json::Value::Null));
        let names: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
        assert!(FIELDS.iter().all(|name| names.contains(name)) && names.len() == FIELDS.len() + 1);
    }

    #[test]
    fn rows_have_as_many_columns_as_the_header() {
        let mut out = Vec::new();
        tsv_header(&mut out);
        row("mailto:a@b?c").tsv_into(&mut out);
        row("/a;b").tsv_into(&mut out);
        tsv_error_row(3, uriscan_core::uri::parse(b"a b").unwrap_err(), &mut out);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert!(lines.iter().all(|line| line.len() == FIELDS.len() + 2), "{text}");
        assert_eq!(lines[1][2], "a@b?c");
        assert_eq!(lines[2][15], "[[\"b\"]]");
        assert_eq!(lines[3].last(), Some(&"space@1"));
    }
}
