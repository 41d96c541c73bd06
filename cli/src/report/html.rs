//! HTML, written so that nothing from outside becomes markup.

use std::fmt::{self, Display, Write};

use uriscan::audit::redact_into;
use uriscan::uri::{UriError, UriErrorKind};
use uriscan_bulk::io::escaped;
use uriscan_bulk::pipeline::Fault;

use crate::summary::share;

/// Characters of a text that are shown.
const SHOWN: usize = 200;

/// `text` as the content of an element or of a quoted attribute. Control characters and others that change the direction or
/// the look of what surrounds them are escaped as everywhere.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in escaped(self.0).to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A record as text to be shown: secrets masked, and no longer than a few lines.
pub(super) fn shown(record: &[u8]) -> String {
    let mut masked = Vec::new();
    redact_into(record, &mut masked);
    let text = escaped(&String::from_utf8_lossy(&masked)).to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A `record` with this `error`, up to what is wrong: what follows may be anything, such as the words of a log, in which secrets
/// are not known as those of URIs are. A relative reference has nothing wrong.
pub(super) fn shown_until(record: &[u8], error: UriError) -> String {
    let end = record.len().min(error.at as usize + 1);
    // One that was cut may go on with the end of a password.
    let cut = if record.len() < Fault::MOST_BYTES { "" } else { "@" };
    let mut masked = Vec::new();
    redact_into(&[record, cut.as_bytes()].concat(), &mut masked);
    if error.kind == UriErrorKind::Relative && cut.is_empty() {
        return shown(record);
    }
    let same = record[..end].iter().zip(&masked).take_while(|(a, b)| a == b).count();
    // A character is shown whole.
    let is_boundary = |end: &usize| record.get(*end).is_none_or(|byte| byte & 0xC0 != 0x80);
    let same = (same..=record.len()).find(is_boundary).unwrap_or(same);
    let is_whole = same == record.len() && cut.is_empty();
    shown(&record[..same]) + if is_whole { "" } else { "…" }
}

/// Text that is HTML, in which nothing from outside is markup.
pub(super) struct Html(pub(super) String);

/// A section: its name in links, its heading, its content.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    content: String,
}

impl Section {
    pub(super) fn new(id: &'static str, heading: &'static str, content: String) -> Section {
        Section { id, heading, content }
    }

    pub(super) fn html(&self) -> String {
        let Section { id, heading, content } = self;
        let heading = Escaped(heading);
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{heading}</h2>\n{content}</section>\n"
        )
    }
}

/// What a cell of a table holds.
pub(super) enum Cell {
    Text(String),
    /// A URI, a host or a name in it.
    Uri(String),
    /// A number, or a share.
    Number(String),
    /// A bar of this share of the whole, from 0 to 1. The number stands in another cell.
    Meter(f64),
    /// Text of a class of the style sheet.
    Class(&'static str, String),
}

impl Cell {
    /// How much `count` is of `whole`, as a share and as a bar.
    pub(super) fn shares(count: u64, whole: u64) -> [Cell; 2] {
        [Cell::Number(share(count, whole)), Cell::Meter(count as f64 / whole.max(1) as f64)]
    }

    fn class(&self) -> &'static str {
        match self {
            Cell::Text(_) => "",
            Cell::Uri(_) => "uri",
            Cell::Number(_) => "number",
            Cell::Meter(_) => "meter",
            Cell::Class(class, _) => class,
        }
    }

    /// What it shows, as HTML.
    pub(super) fn content(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Uri(text) | Cell::Number(text) | Cell::Class(_, text) => {
                Escaped(text).to_string()
            }
            Cell::Meter(share) => format!(
                "<svg class=\"meter\" aria-hidden=\"true\"><rect class=\"track\" width=\"100%\" height=\"100%\"/>\
                 <rect class=\"bar\" width=\"{:.2}%\" height=\"100%\"/></svg>",
                share.clamp(0.0, 1.0) * 100.0
            ),
        }
    }
}

pub(super) struct Table {
    pub(super) caption: String,
    /// The heads of the columns; an empty one is that of bars.
    pub(super) heads: Vec<&'static str>,
    /// The first cell of each is its head.
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// The table as HTML, in a region that scrolls by itself and can be reached by the keyboard.
    pub(super) fn html(&self) -> String {
        let caption = Escaped(&self.caption);
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\
             <table><caption>{caption}</caption><thead><tr>",
        );
        let classes: Vec<&str> =
            self.rows.first().map_or(Vec::new(), |row| row.iter().map(Cell::class).collect());
        for (i, head) in self.heads.iter().enumerate() {
            let class = match classes.get(i) {
                Some(&class @ ("number" | "meter" | "wide")) => class,
                _ => "",
            };
            html += &match head.is_empty() {
                // A bar repeats a number; there is nothing to announce.
                true => format!("<td class=\"{class}\"></td>"),
                false => format!("<th scope=\"col\" class=\"{class}\">{}</th>", Escaped(head)),
            };
        }
        html += "</tr></thead><tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for (i, cell) in row.iter().enumerate() {
                let (class, content) = (cell.class(), cell.content());
                let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                html += &format!("<{tag}{scope} class=\"{class}\">{content}</{tag}>");
            }
            html += "</tr>\n";
        }
        html + "</tbody></table></div>\n"
    }
}

/// A page with this title, and `body` after the style sheet.
pub(super) fn page(title: &str, body: &str) -> String {
    // Nothing is fetched and nothing runs, whatever a browser may find in the text.
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        Escaped(title),
        include_str!("style.css"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let hostile = "</td><script>alert('1')</script>&\"\u{202e}\u{0}\n";
        let safe = Escaped(hostile).to_string();
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}', '\n']), "{safe}");
        assert!(safe.starts_with("&lt;/td&gt;&lt;script&gt;alert(&#39;1&#39;)"));
        let table = Table {
            caption: hostile.to_owned(),
            heads: vec!["a", "b"],
            rows: vec![vec![
                Cell::Text(hostile.to_owned()),
                Cell::Class("error", hostile.to_owned()),
            ]],
        };
        let html = page(hostile, &table.html());
        assert!(!html.contains("<script") && !html.contains("alert('"), "{html}");
    }

    #[test]
    fn records_are_masked_and_cut() {
        assert_eq!(shown(b"http://u:secret@h/?token=abc"), "http://u:***@h/?token=***");
        let long = shown(format!("http://h/{}", "é".repeat(1_000)).as_bytes());
        assert_eq!(long.chars().count(), SHOWN + 1);
    }
}
