//! Filling chunks from the source that is read: as many whole records as fit, or a piece of one that does not.

use std::io::{self, Read};
use std::time::Duration;

use memchr::{memchr, memchr_iter};

use super::{BYTE_ORDER_MARK, Chunk, ChunkReader, HEAD_WAIT, Next, Shape};
use crate::io::read::cut::HEAD_BYTES;
use crate::io::read::deferred::Deferred;
use crate::io::read::source::ReadError;
use uriscan_core::chunk::PaddedBuf;
use uriscan_core::extract::{Format, Kind};

/// The beginning of a chunk.
struct ChunkStart {
    /// Bytes that are there already.
    len: usize,
    /// Bytes that the chunk may have, records that do not fit aside.
    most: usize,
    /// Whether these are all bytes of the source.
    is_whole: bool,
}

/// Maximum number of bytes of the parts of an overlong record that are searched, but for the first.
const LONG_PART: usize = 1 << 20;

/// Whether `content` may be the first part of a byte order mark.
fn is_part_of_mark(content: &[u8]) -> bool {
    content.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(content)
}

impl ChunkReader {
    /// Leaves the next lines of the current source to be read later, if possible.
    fn defer_lines(&mut self) -> Option<Deferred> {
        let plain = self.plain.as_ref().filter(|_| self.is_begun && !self.in_long_record)?;
        let line_end = self.cut.line_end()?;
        if let Some(later) = plain.lines(self.byte, self.chunk_bytes, line_end) {
            self.carry.clear();
            self.is_behind = true;
            return Some(later);
        }
        if std::mem::take(&mut self.is_behind) {
            match plain.rest(self.byte) {
                Ok(rest) => self.current = Some(rest),
                Err(error) => self.failed = Some(self.error(error)),
            }
        }
        None
    }

    /// Fills `chunk` from the current source; at its end, leaves no current source.
    pub(super) fn fill_from_current(
        &mut self,
        chunk: &mut Chunk,
        may_wait: bool,
    ) -> Result<Next, ReadError> {
        self.begin_chunk(chunk);
        if self.defer_chunk(chunk) {
            return Ok(Next::Chunk);
        }
        let ChunkStart { mut len, mut most, is_whole } = self.begin_text(chunk);
        let begins = self.byte == 0;
        // What was carried over has been checked before, but for a part of a mark that is none of the content.
        let mut checked = match is_whole || begins && is_part_of_mark(&chunk.text.room()[..len]) {
            true => 0,
            false => len,
        };
        loop {
            let (filled, mut is_end) = match is_whole {
                true => (len, true),
                false => self.read(&mut chunk.text.room()[..most], len),
            };
            len = filled;
            if self.byte == 0 && chunk.text.room()[..len].starts_with(BYTE_ORDER_MARK) {
                chunk.text.room().copy_within(BYTE_ORDER_MARK.len()..len, 0);
                len -= BYTE_ORDER_MARK.len();
                self.byte = BYTE_ORDER_MARK.len() as u64;
            }
            if !self.is_begun && !self.begin_source(chunk.source, &chunk.text.room()[..len]) {
                return Ok(Next::End);
            }
            let is_open = begins && is_part_of_mark(&chunk.text.room()[..len]) && !is_end;
            if self.failed.is_none() && !is_open {
                let next = &chunk.text.room()[checked..len];
                if let Err((at, error)) = self.cut.check(next, is_end) {
                    (len, is_end) = (checked + at, true);
                    self.failed = Some(self.error(error));
                }
                checked = len;
            }
            let content = &chunk.text.room()[..len];
            chunk.is_cut = self.failed.is_some();
            if chunk.is_cut {
                // The bytes after the last record end may be half a record.
                let whole = self.cut.fault_end(content);
                len = whole.unwrap_or(if self.in_long_record { len } else { 0 });
            }
            let was_in_long = self.in_long_record;
            if let Some((end, shape)) = self.chunk_end(&chunk.text.room()[..len], is_end) {
                let is_part = was_in_long && shape == Shape::Records;
                chunk.is_long = !was_in_long && self.in_long_record && shape == Shape::Records;
                let kind = is_part.then(|| self.cut.kind_of_parts(self.kind)).flatten();
                chunk.kind = kind.unwrap_or(self.kind);
                return Ok(self.finish_chunk(chunk, len, (end, shape), is_end));
            }
            if !may_wait && !self.is_ready() {
                // The producer pauses within a record.
                self.carry.extend_from_slice(&chunk.text.room()[..len]);
                return Ok(Next::NotReady);
            }
            if len >= most {
                // A document is read as a whole: reads once more if all of it fits, to reach its
                // end.
                let all = if self.kind.format.is_document() { self.expected } else { 0 };
                most = (2 * len).max(all.saturating_add(1)).min(self.max_record + 1);
                self.make_room(&mut chunk.text, most, len);
            }
        }
    }

    /// Leaves the lines of `chunk` to be read later, if possible.
    fn defer_chunk(&mut self, chunk: &mut Chunk) -> bool {
        chunk.later = self.defer_lines();
        let Some(later) = &chunk.later else { return false };
        (chunk.byte, chunk.kept_byte, chunk.line) = (self.byte, self.byte, self.line);
        (chunk.kind, chunk.shape) = (self.kind, Shape::Records);
        (chunk.is_cut, chunk.is_long) = (false, false);
        chunk.text.set_len(0);
        self.byte += later.len() as u64;
        self.kind = self.kind.after(b"");
        true
    }

    /// Puts what was carried over, or the whole source if it was read in advance, into `chunk`.
    fn begin_text(&mut self, chunk: &mut Chunk) -> ChunkStart {
        if chunk.text.capacity() > 64 * self.usual_bytes.max(1 << 16) {
            // The buffer held a long record; its memory is released.
            chunk.text = PaddedBuf::default();
        }
        let len = self.carry.len();
        // The room is rounded up, but not the length, so that the limit is exact.
        let mut most = self.chunk_bytes.max(len);
        if !self.is_begun && (self.text_only || self.is_checked) {
            // The format is detected from the same number of bytes, however small the chunks.
            most = most.max(HEAD_BYTES).max(self.cut.head_bytes());
        }
        let Some(text) = self.whole.take() else {
            self.make_room(&mut chunk.text, most, 0);
            chunk.text.room()[..len].copy_from_slice(&self.carry);
            self.carry.clear();
            return ChunkStart { len, most, is_whole: false };
        };
        let len = text.padded().len();
        if chunk.text.capacity() < len {
            chunk.text = text;
        } else {
            // A larger buffer is kept for a larger source.
            chunk.text.set(text.padded().content());
        }
        ChunkStart { len, most, is_whole: true }
    }

    /// Decides how the source with the index `source` is read, which begins with `content`; `false` if it is not.
    fn begin_source(&mut self, source: usize, content: &[u8]) -> bool {
        self.is_begun = true;
        let head = &content[..content.len().min(self.cut.head_bytes())];
        let name = &self.names[source];
        let is_binary = self.text_only && memchr(0, &head[..head.len().min(HEAD_BYTES)]).is_some();
        if is_binary && !Format::is_wide_page(name, head) {
            self.binary += 1;
            (self.current, self.failed) = (None, None);
            return false;
        }
        match self.cut.begin(name, head) {
            Ok(kind) => self.kind = Kind { has_mark: self.byte > 0, ..kind },
            Err(error) => {
                (self.current, self.failed) = (None, Some(self.error(error)));
                return false;
            }
        }
        true
    }

    /// Where the chunk with this `content` ends, which is all that is left of the source if `is_end`; `None` if more of
    /// the record has to be read.
    fn chunk_end(&mut self, content: &[u8], is_end: bool) -> Option<(usize, Shape)> {
        let len = content.len();
        if self.in_long_record {
            if self.cut.kind_of_parts(self.kind).is_some() {
                return self.long_part_end(content, is_end);
            }
            let end = self.cut.long_end(content);
            self.in_long_record = end.is_none() && !is_end;
            let shape = if self.in_long_record { Shape::LongRest } else { Shape::LongLast };
            return Some((end.unwrap_or(len), shape));
        }
        if is_end {
            return Some((len, Shape::Records));
        }
        if let Some(end) = self.cut.last_end(content) {
            return Some((end, Shape::Records));
        }
        self.in_long_record = len > self.max_record;
        if !self.in_long_record {
            return None;
        }
        Some(match self.cut.part_end(content) {
            Some(end) => (end, Shape::Records),
            None => (len, Shape::LongFirst),
        })
    }

    /// [`ChunkReader::chunk_end`] within an overlong record whose parts are searched. Where a part ends does not depend
    /// on the size of chunks.
    fn long_part_end(&mut self, content: &[u8], is_end: bool) -> Option<(usize, Shape)> {
        let most = LONG_PART.min(self.max_record);
        if content.len() < most && !is_end {
            return None;
        }
        let part = &content[..content.len().min(most)];
        let end = self.cut.long_end(part);
        self.in_long_record = end.is_none() && !(is_end && content.len() <= most);
        let end = end.or_else(|| self.cut.part_end(part).filter(|_| self.in_long_record));
        Some((end.unwrap_or(part.len()), Shape::Records))
    }

    /// Completes `chunk`, whose text has `len` bytes, of which those from `end` are carried over.
    fn finish_chunk(
        &mut self,
        chunk: &mut Chunk,
        len: usize,
        (end, shape): (usize, Shape),
        is_end: bool,
    ) -> Next {
        self.carry.extend_from_slice(&chunk.text.room()[end..len]);
        if is_end && self.carry.is_empty() {
            self.current = None;
            if end == 0 && shape == Shape::Records {
                return Next::End;
            }
        }
        chunk.text.set_len(end);
        (chunk.byte, chunk.kept_byte) = (self.byte, self.byte);
        (chunk.line, chunk.shape) = (self.line, shape);
        if end > 0 {
            self.kind = self.kind.after(&chunk.text.room()[..end]);
        }
        self.byte += end as u64;
        if self.counts_lines {
            let line_end = self.kind.format.line_end(self.record_end);
            let ends = memchr_iter(line_end, &chunk.text.room()[..end]).count();
            self.line += ends as u64;
        }
        Next::Chunk
    }

    /// Whether nothing more can be read for `time`.
    fn pauses(&self, time: Duration) -> bool {
        self.wait.as_ref().is_some_and(|wait| !wait(time))
    }

    /// Reads until `room` is full, the source ends, or it has nothing more for now; returns the number of bytes now in
    /// `room`, and whether the source ended. A fault also ends it, and is kept.
    fn read(&mut self, room: &mut [u8], mut len: usize) -> (usize, bool) {
        let needs_all = !self.is_begun && (self.text_only || self.cut.needs_head());
        while len < room.len() {
            let Some(reader) = self.current.as_mut().filter(|_| self.failed.is_none()) else {
                return (len, true);
            };
            match reader.read(&mut room[len..]) {
                Ok(0) => return (len, true),
                Ok(count) => {
                    len += count;
                    let has_paused = match needs_all {
                        true => {
                            self.pauses(HEAD_WAIT)
                                && self.cut.has_head(&room[..len], self.record_end)
                        }
                        false => !self.is_ready(),
                    };
                    if has_paused {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(self.error(error));
                    return (len, true);
                }
            }
        }
        (len, false)
    }
}
