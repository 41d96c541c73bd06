//! Bar charts as inline SVG. Lengths across are percentages, so a chart fits any width and its text keeps its size.

use super::html::Escaped;

/// A bar with its label above it.
pub(super) struct Bar {
    pub(super) label: String,
    /// What stands at the right, above the bar.
    pub(super) value: String,
    pub(super) count: u64,
    /// Added to the bar in a lighter color: what was lost since the bar before.
    pub(super) part: u64,
    /// A class of the style sheet.
    pub(super) class: &'static str,
}

/// Height of a bar with its label.
const STEP: usize = 42;

/// A chart of `bars`, called `id` within the page; the longest bar fills the width.
pub(super) fn chart(id: &str, title: &str, bars: &[Bar]) -> String {
    let whole = bars.iter().map(|bar| bar.count + bar.part).max().unwrap_or(0).max(1);
    let percent = |count: u64| count as f64 * 100.0 / whole as f64;
    let words: Vec<String> =
        bars.iter().map(|bar| format!("{}: {}", bar.label, bar.value)).collect();
    let mut svg = format!(
        "<svg role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" height=\"{}\">\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>\n",
        bars.len() * STEP,
        Escaped(title),
        Escaped(&words.join("; ")),
    );
    for (i, bar) in bars.iter().enumerate() {
        let (text, top) = (i * STEP + 14, i * STEP + 21);
        let Bar { label, value, count, part, class } = bar;
        svg += &format!(
            "<text x=\"0\" y=\"{text}\">{}</text><text class=\"value\" x=\"100%\" y=\"{text}\">{}</text>\
             <rect class=\"track\" y=\"{top}\" width=\"100%\" height=\"10\"/>\
             <rect class=\"{class}\" y=\"{top}\" width=\"{:.2}%\" height=\"10\"/>",
            Escaped(label),
            Escaped(value),
            percent(*count),
        );
        if *part > 0 {
            svg += &format!(
                "<rect class=\"part\" x=\"{:.2}%\" y=\"{top}\" width=\"{:.2}%\" height=\"10\"/>",
                percent(*count),
                percent(*part),
            );
        }
        svg.push('\n');
    }
    format!("<figure><figcaption>{}</figcaption>{svg}</svg></figure>\n", Escaped(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_text_and_proportions() {
        let bar = |label: &str, count, part| Bar {
            label: label.to_owned(),
            value: format!("{count}"),
            count,
            part,
            class: "bar",
        };
        let svg = chart("c", "A <b>", &[bar("all", 8, 0), bar("left", 2, 6), bar("none", 0, 0)]);
        assert!(svg.contains("<title id=\"c-title\">A &lt;b&gt;</title>"));
        assert!(svg.contains(">all: 8; left: 2; none: 0</desc>"));
        assert_eq!(svg.matches("width=\"25.00%\"").count(), 1);
        assert_eq!(svg.matches("x=\"25.00%\" y=\"63\" width=\"75.00%\"").count(), 1);
        assert!(chart("c", "nothing", &[]).contains("height=\"0\""));
    }
}
