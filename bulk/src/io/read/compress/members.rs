//! Decoders of streams with several members, which return all intact data before they fail.
//!
//! The end of a member may be followed by another one or by padding, if the format has it; anything
//! else is an error. It is never skipped silently, and never prevents earlier data from being
//! returned.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use liblzma::stream::{Action, Status, Stream};
use lz4_flex::frame::FrameDecoder;

/// The error for bytes of another format after the end of the data.
pub(super) fn garbage() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, super::TrailingData::Other)
}

/// Whether `data` is at its end. Interruptions are retried.
fn is_at_end(data: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match data.fill_buf() {
            Ok(left) => return Ok(left.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Consecutive gzip members, possibly padded with zeros, as left by tapes and disk images and
/// accepted by `gzip -d`.
pub(super) struct Gzip<R> {
    member: Option<GzDecoder<R>>,
    /// Whether the content of the first member is compressed; it is known when some of it was read.
    is_deep: Option<bool>,
    /// Whether nothing of the member was read.
    begins: bool,
    /// The last bytes of the content so far.
    last: [u8; 2],
}

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(data: R) -> Gzip<R> {
        Gzip { member: Some(GzDecoder::new(data)), is_deep: None, begins: true, last: [b'\n'; 2] }
    }

    /// Notes the next bytes of the content.
    ///
    /// # Errors
    /// If they begin a member, are compressed, and follow a line of text: that is a file that was compressed once more.
    /// (A member that is a block of an archive may begin with a compressed body; what precedes that ends with `\r\n`.)
    fn note(&mut self, content: &[u8]) -> io::Result<()> {
        let is_coded = matches!(content, [0x1F, 0x8B, ..]);
        let is_deep = *self.is_deep.get_or_insert(is_coded);
        let follows_line = self.last[1] == b'\n' && self.last[0] != b'\r';
        if std::mem::take(&mut self.begins) && is_coded && !is_deep && follows_line {
            return Err(io::Error::new(io::ErrorKind::InvalidData, super::TrailingData::Deeper));
        }
        match *content {
            [.., a, b] => self.last = [a, b],
            [b] => self.last = [self.last[1], b],
            [] => {}
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(out)?;
            if count > 0 || out.is_empty() {
                self.note(&out[..count])?;
                return Ok(count);
            }
            let Some(mut data) = self.member.take().map(GzDecoder::into_inner) else { break };
            while !is_at_end(&mut data)? {
                let left = data.fill_buf()?;
                let zeros = left.iter().take_while(|&&byte| byte == 0).count();
                match left.get(zeros) {
                    Some(0x1F) if zeros == 0 => {
                        (self.member, self.begins) = (Some(GzDecoder::new(data)), true);
                        break;
                    }
                    Some(_) => return Err(garbage()),
                    None => data.consume(zeros),
                }
            }
        }
        Ok(0)
    }
}

/// Consecutive xz streams, with the padding of the format between and after them.
pub(super) struct Xz<R> {
    data: R,
    stream: Stream,
    /// The error after the data that were returned last.
    failed: Option<io::Error>,
}

impl<R: BufRead> Xz<R> {
    /// `stream` is a decoder of concatenated streams.
    pub(super) fn new(data: R, stream: Stream) -> Xz<R> {
        Xz { data, stream, failed: None }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            let input = self.data.fill_buf()?;
            let is_end = input.is_empty();
            let action = if is_end { Action::Finish } else { Action::Run };
            let before = (self.stream.total_in(), self.stream.total_out());
            let done = self.stream.process(input, out, action);
            let taken = (self.stream.total_in() - before.0) as usize;
            let count = (self.stream.total_out() - before.1) as usize;
            self.data.consume(taken);
            let error = match done {
                Ok(Status::StreamEnd) => return Ok(count),
                Ok(_) if count > 0 => return Ok(count),
                Ok(_) if is_end => io::ErrorKind::UnexpectedEof.into(),
                Ok(_) if taken > 0 => continue,
                Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "corrupt xz stream"),
                // The first stream was xz, or this decoder would not have been chosen.
                Err(liblzma::stream::Error::Format) => garbage(),
                Err(error) => error.into(),
            };
            if count == 0 {
                return Err(error);
            }
            self.failed = Some(error);
            return Ok(count);
        }
    }
}

/// Consecutive lz4 frames, as the decoder stops after each. The decoder also stops without an error where the
/// data end between two blocks: only an end mark ends a frame.
pub(super) struct Lz4<R: Read>(Option<FrameDecoder<EndWatcher<R>>>);

impl<R: BufRead> Lz4<R> {
    pub(super) fn new(data: R) -> Lz4<R> {
        Lz4(Some(FrameDecoder::new(EndWatcher { inner: data, is_at_end: false })))
    }
}

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.0 {
            let count = decoder.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            // What follows an end mark is not read by the decoder of its frame.
            if decoder.get_ref().is_at_end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // A decoder that has reached the end of its frame cannot begin another.
            let Some(mut data) = self.0.take().map(|decoder| decoder.into_inner().inner) else {
                break;
            };
            if !is_at_end(&mut data)? {
                *self = Lz4::new(data);
            }
        }
        Ok(0)
    }
}

/// A reader that notices when something was asked for after its last byte.
struct EndWatcher<R> {
    inner: R,
    is_at_end: bool,
}

impl<R: Read> Read for EndWatcher<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.is_at_end |= count == 0 && !out.is_empty();
        Ok(count)
    }
}
