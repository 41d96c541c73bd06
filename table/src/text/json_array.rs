//! An array of JSON as lines, one for each of its values.

use std::io::{self, BufRead, Read};

/// Reads an array: a value is a line, with spaces in place of the line ends in it. What is not an array, or goes on after its end,
/// stays as it is, so that whoever reads the lines finds the fault.
pub(crate) struct ArrayLines<R> {
    input: R,
    /// Arrays and objects that are open.
    depth: u64,
    state: State,
    /// What has been read and not been taken, from `start` on.
    lines: Vec<u8>,
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Outside of strings.
    Between,
    InString,
    /// After a backslash.
    Escaped,
    Past,
}

impl<R: BufRead> ArrayLines<R> {
    pub(crate) fn new(input: R) -> ArrayLines<R> {
        ArrayLines { input, depth: 0, state: State::Between, lines: Vec::new(), start: 0 }
    }

    fn push(&mut self, byte: u8) {
        use State::{Between, Escaped, InString, Past};
        let (state, line) = match (self.state, byte) {
            (Past, _) => (Past, byte),
            (Escaped, _) => (InString, byte),
            (InString, b'\\') => (Escaped, byte),
            (InString, b'"') => (Between, byte),
            (InString, _) => (InString, byte),
            (Between, b'"') => (InString, byte),
            (Between, b'[') if self.depth == 0 => {
                self.depth = 1;
                (Between, b' ')
            }
            (Between, b'[' | b'{') => {
                self.depth += 1;
                (Between, byte)
            }
            (Between, b']') if self.depth == 1 => {
                self.depth = 0;
                (Past, b'\n')
            }
            (Between, b']' | b'}') => {
                self.depth = self.depth.saturating_sub(1);
                (Between, byte)
            }
            (Between, b',') if self.depth == 1 => (Between, b'\n'),
            (Between, b'\n' | b'\r') => (Between, b' '),
            (Between, _) => (Between, byte),
        };
        self.state = state;
        self.lines.push(line);
    }
}

impl<R: BufRead> Read for ArrayLines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.lines.len() {
            (self.start, self.lines) = (0, std::mem::take(&mut self.lines));
            self.lines.clear();
            let buffer = self.input.fill_buf()?.to_vec();
            self.input.consume(buffer.len());
            if buffer.is_empty() && self.depth > 0 {
                self.depth = 0;
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the array of JSON has no end: the file is cut off",
                ));
            }
            buffer.into_iter().for_each(|byte| self.push(byte));
        }
        let count = into.len().min(self.lines.len() - self.start);
        into[..count].copy_from_slice(&self.lines[self.start..self.start + count]);
        self.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        // In pieces of every size.
        for size in 1..8 {
            let mut all = String::new();
            let input = io::BufReader::with_capacity(size, text.as_bytes());
            ArrayLines::new(input).read_to_string(&mut all).map_err(|error| error.to_string())?;
            let lines: Vec<String> = all
                .lines()
                .map(|line| line.trim().to_owned())
                .filter(|it| !it.is_empty())
                .collect();
            assert!(found.is_empty() || found == lines);
            found = lines;
        }
        Ok(found)
    }

    #[test]
    fn values_are_lines() {
        let array = "[\n {\"a\": [1,\n2], \"b\": \"],\\\"[\"},\r\n{\"a\":{\"c\":3}}\n]\n";
        let expected = ["{\"a\": [1, 2], \"b\": \"],\\\"[\"}", "{\"a\":{\"c\":3}}"];
        assert_eq!(lines(array).unwrap(), expected);
        assert_eq!(lines("[]").unwrap(), [""; 0]);
        assert_eq!(lines(" [ {} ] ").unwrap(), ["{}"]);
    }

    #[test]
    fn what_follows_an_array_stays_and_what_is_cut_off_is_an_error() {
        assert_eq!(lines("[{}]\n{\"a\":1}").unwrap(), ["{}", "{\"a\":1}"]);
        assert_eq!(lines("[{}] x").unwrap(), ["{}", "x"]);
        for cut in ["[", "[{}", "[{},", "[\"a]", "[{\"a\":1}, {\"a\""] {
            assert!(lines(cut).unwrap_err().contains("cut off"), "{cut}");
        }
    }
}
