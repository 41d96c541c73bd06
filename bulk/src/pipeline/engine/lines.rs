//! The lines of a chunk in which links are.

use memchr::{memchr_iter, memrchr};

/// The line of an offset in a text. Offsets nearly ascend: only the links of an entry of a log may be in another order.
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    line_end: u8,
    /// The offset that was asked for last, and its line.
    at: usize,
    line: u64,
    /// Where that line begins.
    start: usize,
}

impl<'t> Lines<'t> {
    /// Those of `text`, of which the first has the number `first` and ends at `line_end`, as all others do.
    pub(crate) fn new(text: &'t [u8], first: u64, line_end: u8) -> Lines<'t> {
        Lines { text, line_end, at: 0, line: first, start: 0 }
    }

    /// The number of the line in which the offset `at` is, and the offset at which it begins.
    pub(crate) fn of(&mut self, at: usize) -> (u64, usize) {
        let Lines { text, line_end, .. } = *self;
        if at < self.start {
            self.line -= memchr_iter(line_end, &text[at..self.start]).count() as u64;
            self.start = memrchr(line_end, &text[..at]).map_or(0, |end| end + 1);
        } else if at > self.at {
            for end in memchr_iter(line_end, &text[self.at..at]) {
                (self.line, self.start) = (self.line + 1, self.at + end + 1);
            }
        }
        self.at = at;
        (self.line, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_map_to_their_lines_in_any_order() {
        let text = b"ab\n\nc\nd";
        let slow = |at: usize| {
            let line = 5 + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            (line, start)
        };
        for first in 0..=text.len() {
            for second in 0..=text.len() {
                for third in 0..=text.len() {
                    let mut lines = Lines::new(text, 5, b'\n');
                    for at in [first, second, third] {
                        assert_eq!(lines.of(at), slow(at), "{first} {second} {third}");
                    }
                }
            }
        }
    }
}
