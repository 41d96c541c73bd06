//! Bar charts as inline SVG. Lengths across are percentages, so a chart fits any width and its text keeps its size.

use super::html::Escaped;
use crate::summary::{grouped, share};

/// A bar with its label above it.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) count: u64,
    /// Added to the bar in a lighter color: what was lost since the bar before.
    pub(super) part: u64,
    /// A class of the style sheet.
    pub(super) class: &'static str,
}

impl Bar {
    pub(super) fn new(label: impl Into<String>, count: u64) -> Bar {
        Bar { label: label.into(), count, part: 0, class: "bar" }
    }

    /// What stands at the right, above the bar.
    fn value(&self, whole: u64) -> String {
        match self.part {
            0 => format!("{} ({})", grouped(self.count), share(self.count, whole)),
            part => format!("{} (−{})", grouped(self.count), grouped(part)),
        }
    }
}

const STEP: usize = 42;

/// A chart of `bars`, called `id` within the page; the `whole` fills the width.
pub(super) fn chart(id: &str, title: &str, bars: &[Bar], whole: u64) -> String {
    let percent = |count: u64| (count as f64 * 100.0 / whole.max(1) as f64).min(100.0);
    let words: Vec<String> =
        bars.iter().map(|bar| format!("{}: {}", bar.label, bar.value(whole))).collect();
    let mut svg = format!(
        "<svg role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" height=\"{}\">\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>\n",
        bars.len() * STEP,
        Escaped(title),
        Escaped(&words.join("; ")),
    );
    for (i, bar) in bars.iter().enumerate() {
        let (text, top) = (i * STEP + 14, i * STEP + 21);
        let Bar { label, count, part, class } = bar;
        svg += &format!(
            "<text x=\"0\" y=\"{text}\">{}</text><text class=\"value\" x=\"100%\" y=\"{text}\">{}</text>\
             <rect class=\"track\" y=\"{top}\" width=\"100%\" height=\"10\"/>\
             <rect class=\"{class}\" y=\"{top}\" width=\"{:.2}%\" height=\"10\"/>",
            Escaped(label),
            Escaped(&bar.value(whole)),
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
        let bar = |label, count, part| Bar { part, ..Bar::new(label, count) };
        let svg = chart("c", "A <b>", &[bar("all", 8, 0), bar("left", 2, 6), bar("none", 0, 0)], 8);
        assert!(svg.contains("<title id=\"c-title\">A &lt;b&gt;</title>"));
        assert!(svg.contains(">all: 8 (100.00 %); left: 2 (−6); none: 0 (0.00 %)</desc>"));
        assert_eq!(svg.matches("width=\"25.00%\"").count(), 1);
        assert_eq!(svg.matches("x=\"25.00%\" y=\"63\" width=\"75.00%\"").count(), 1);
        assert!(chart("c", "nothing", &[], 0).contains("height=\"0\""));
        // Estimates may exceed the whole.
        assert!(chart("c", "more", &[bar("a", 9, 0)], 8).contains("width=\"100.00%\""));
    }
}
