//! Messages of Arrow IPC, in files and streams. All lengths are checked before memory is allocated.
//!
//! The decoder itself trusts the length that a compressed buffer claims for its content; if memory does not suffice, the
//! process aborts. So messages are read here, and passed to it only if what they claim is possible:
//!
//! - a message of a file lies within the file; for one of a stream, memory is allocated as its bytes arrive;
//! - a compressed buffer claims no more than its codec can represent in its bytes;
//! - the buffers of a message claim at most [`MOST_BYTES`] in all, and the largest can be allocated.

#[cfg(test)]
mod tests;
mod wide;

use std::io::{self, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{
    Block, CompressionType, Message, MessageHeader, MetadataVersion, Schema as IpcSchema,
    root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, SchemaRef};

use uriscan_files::escape::counted;
use wide::WideIntegers;

/// The most bytes that the compressed buffers of a message may claim in all.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes that one byte of lz4 can represent: a run whose length is in bytes of up to 255.
const LZ4_RATIO: u64 = 255;

/// Bytes that one byte of zstd can represent: a block of 128 KiB takes at least four (RFC 8878 section 3.1.1.2).
const ZSTD_RATIO: u64 = (128 << 10) / 4;

/// Bytes that are allocated for the body of a message of a stream before the first have arrived.
const FIRST_BYTES: usize = 64 << 20;

/// Bytes before the metadata of a message: a mark and a length, or in old files the length only.
const PREFIX_BYTES: usize = 8;
const OLD_PREFIX_BYTES: usize = 4;
const MARK: [u8; 4] = [0xFF; 4];

fn corrupt(what: impl Into<String>) -> ArrowError {
    ArrowError::IpcError(what.into())
}

pub(super) struct Batches<R> {
    file: R,
    file_bytes: u64,
    blocks: std::vec::IntoIter<Block>,
    decoder: FileDecoder,
    schema: SchemaRef,
    wide: WideIntegers,
}

impl<R: Read + Seek> Batches<R> {
    /// Reads the footer and the dictionaries of `file`.
    pub(super) fn open(mut file: R) -> Result<Batches<R>, ArrowError> {
        const TAIL_BYTES: usize = 10;
        let file_bytes = file.seek(SeekFrom::End(0))?;
        let mut tail = [0; TAIL_BYTES];
        let at = file_bytes
            .checked_sub(TAIL_BYTES as u64)
            .ok_or_else(|| corrupt("the file is too short"))?;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut tail)?;
        let footer_bytes = read_footer_length(tail)?;
        let at = at.checked_sub(footer_bytes as u64);
        let at = at.ok_or_else(|| corrupt("the footer is longer than the file"))?;
        file.seek(SeekFrom::Start(at))?;
        let mut footer = vec![0; footer_bytes];
        file.read_exact(&mut footer)?;
        let bytes = footer;
        let footer = root_as_footer(&bytes)
            .map_err(|error| ArrowError::ParseError(format!("the footer is corrupt: {error}")))?;
        let schema = footer.schema().ok_or_else(|| corrupt("the footer has no schema"))?;
        let (schema, wide) = schema_of(schema, (&bytes, wide::of_footer))?;
        let blocks = footer.recordBatches().ok_or_else(|| corrupt("the footer has no batches"))?;
        let dictionaries = footer.dictionaries().into_iter().flatten();
        nothing_precedes((&mut file, at), blocks.iter().chain(dictionaries))?;
        let blocks = blocks.iter().copied().collect::<Vec<Block>>().into_iter();
        let decoder = FileDecoder::new(schema, footer.version());
        let schema = wide.schema.clone();
        let mut batches = Batches { file, file_bytes, blocks, decoder, schema, wide };
        for block in footer.dictionaries().into_iter().flatten() {
            let message = batches.message(block)?;
            batches.decoder.read_dictionary(block, &message)?;
        }
        Ok(batches)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The bytes of the message at `block`, checked.
    fn message(&mut self, block: &Block) -> Result<Buffer, ArrowError> {
        let at = u64::try_from(block.offset()).ok();
        let head = usize::try_from(block.metaDataLength()).ok();
        let body = u64::try_from(block.bodyLength()).ok();
        let position = at.zip(head).zip(body).and_then(|((at, head), body)| {
            let len = body.checked_add(head as u64)?;
            (at.checked_add(len)? <= self.file_bytes).then_some((
                at,
                head,
                usize::try_from(len).ok()?,
            ))
        });
        let Some((at, head, len)) = position.filter(|position| position.1 >= PREFIX_BYTES) else {
            return Err(corrupt("a message extends past the end of the file"));
        };
        let mut message = zeroed(len)?;
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut message)?;
        let prefix = if message[..4] == MARK { PREFIX_BYTES } else { OLD_PREFIX_BYTES };
        check(&metadata(&message[prefix..])?, &message[head..])?;
        Ok(message.into())
    }
}

impl<R: Read + Seek> Iterator for Batches<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = self.blocks.next()?;
        let message = self.message(&block);
        let batch = message.and_then(|message| batch_of(&self.decoder, &block, &message));
        Some(batch.and_then(|batch| self.wide.shown(batch)))
    }
}

pub(super) struct Stream<R> {
    stream: R,
    decoder: FileDecoder,
    schema: SchemaRef,
    wide: WideIntegers,
    has_ended: bool,
    /// Whether it ended with the mark that says so, which is optional.
    has_mark: bool,
}

enum Next {
    /// A message in the layout of files, and the lengths of its head and its body.
    Message(MutableBuffer, usize, usize),
    Mark,
    Nothing,
}

impl<R: Read> Stream<R> {
    pub(super) fn open(mut stream: R) -> Result<Stream<R>, ArrowError> {
        let Next::Message(message, _, _) = next_message(&mut stream)? else {
            return Err(corrupt("the stream has no schema"));
        };
        let bytes = &message[PREFIX_BYTES..];
        let schema = metadata(bytes)?
            .header_as_schema()
            .ok_or_else(|| corrupt("the stream does not begin with a schema"))?;
        let (schema, wide) = schema_of(schema, (bytes, wide::of_message))?;
        // With version 1 the decoder accepts messages of different versions.
        let decoder = FileDecoder::new(schema, MetadataVersion::V1);
        let schema = wide.schema.clone();
        Ok(Stream { stream, decoder, schema, wide, has_ended: false, has_mark: false })
    }

    /// Whether all of it has been read, and no mark at its end said that this is all.
    pub(super) fn lacks_mark(&self) -> bool {
        self.has_ended && !self.has_mark
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let (message, head, body) = match next_message(&mut self.stream)? {
                Next::Message(message, head, body) => (message, head, body),
                Next::Nothing => return Ok(None),
                Next::Mark => {
                    self.has_mark = true;
                    return nothing_follows(&mut self.stream).map(|()| None);
                }
            };
            let metadata = metadata(&message[PREFIX_BYTES..head])?;
            check(&metadata, &message[head..])?;
            let block = Block::new(0, head as i32, body as i64);
            let is_dictionary = metadata.header_type() == MessageHeader::DictionaryBatch;
            let message = message.into();
            if is_dictionary {
                self.decoder.read_dictionary(&block, &message)?;
            } else {
                let batch = batch_of(&self.decoder, &block, &message)?;
                return self.wide.shown(batch).map(Some);
            }
        }
    }
}

impl<R: Read> Iterator for Stream<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = self.next_batch().transpose();
        // After an error, the start of the next message is unknown.
        self.has_ended = next.as_ref().is_none_or(Result::is_err);
        next
    }
}

/// Fails if there is more than padding between the last of `blocks` and the footer of `file`, at `footer`. If several files were
/// joined, the positions in the footer of the last one are those of bytes in the first one.
fn nothing_precedes<'b>(
    (file, footer): (&mut (impl Read + Seek), u64),
    blocks: impl Iterator<Item = &'b Block>,
) -> Result<(), ArrowError> {
    const MOST_PADDING: u64 = 4 << 10;
    let ends = blocks.map(|block| {
        let bytes = block.bodyLength().saturating_add(block.metaDataLength().into());
        u64::try_from(block.offset().saturating_add(bytes)).unwrap_or(0)
    });
    let end = match ends.max() {
        Some(end) => end,
        None => end_of_schema(file)?,
    };
    // What extends past the footer is told where it is read.
    let bytes = footer.saturating_sub(end);
    let mut rest = vec![0; bytes.min(MOST_PADDING) as usize];
    file.seek(SeekFrom::Start(end.min(footer)))?;
    file.read_exact(&mut rest)?;
    // The mark at the end of the batches has both.
    if bytes > MOST_PADDING || rest.iter().any(|byte| !matches!(byte, 0 | 0xFF)) {
        let what = "the footer does not tell of all that precedes it; files that were joined can be read one by one only";
        return Err(corrupt(what));
    }
    Ok(())
}

/// The end of the message with the schema, the first one in `file`, if it is there.
fn end_of_schema(file: &mut (impl Read + Seek)) -> Result<u64, ArrowError> {
    const MAGIC: &[u8] = b"ARROW1";
    // Writers align the first message by at most so much.
    const START_BYTES: u64 = 128;
    let mut start = Vec::new();
    file.rewind()?;
    file.by_ref().take(START_BYTES).read_to_end(&mut start)?;
    let padding = start.iter().skip(MAGIC.len()).take_while(|byte| **byte == 0).count();
    let at = MAGIC.len() + padding;
    let word = |at: usize| {
        let word = start.get(at..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    };
    let (prefix, length) = match word(at) {
        u32::MAX => (PREFIX_BYTES, word(at + MARK.len())),
        length => (OLD_PREFIX_BYTES, length),
    };
    Ok((at + prefix) as u64 + u64::from(length))
}

/// Fails if `stream` goes on after the mark at its end with more than padding, such as with a second stream.
fn nothing_follows(stream: &mut impl Read) -> Result<(), ArrowError> {
    let mut rest = [0; 4 << 10];
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return Ok(()),
            Ok(count) if rest[..count].iter().all(|&byte| byte == 0) => {}
            Ok(_) => {
                let what = "bytes follow the mark at its end; streams that were joined are to be read one by one";
                return Err(corrupt(what));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn next_message(stream: &mut impl Read) -> Result<Next, ArrowError> {
    /// The alignment of bodies in memory, which suits all types.
    const ALIGNMENT: usize = 64;
    let mut word = [0; 4];
    let mut got = 0;
    while got < word.len() {
        match stream.read(&mut word[got..]) {
            Ok(0) if got == 0 => return Ok(Next::Nothing),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    if word == MARK {
        stream.read_exact(&mut word)?;
    }
    let head_bytes = match i32::from_le_bytes(word) {
        0 => return Ok(Next::Mark),
        bytes => usize::try_from(bytes).map_err(|_| corrupt("a message has a negative length"))?,
    };
    let mut head = [MARK, word].concat();
    if stream.take(head_bytes as u64).read_to_end(&mut head)? < head_bytes {
        return Err(corrupt("the stream ends within a message"));
    }
    let body = metadata(&head[PREFIX_BYTES..])?.bodyLength();
    let body = usize::try_from(body).map_err(|_| corrupt("a body has a negative length"))?;
    let start = head.len().next_multiple_of(ALIGNMENT);
    let end = start.checked_add(body).ok_or_else(|| corrupt("a body has an impossible length"))?;
    let mut message = zeroed(end.min(start + FIRST_BYTES))?;
    message[..head.len()].copy_from_slice(&head);
    let mut filled = start;
    loop {
        stream.read_exact(&mut message.as_slice_mut()[filled..])?;
        filled = message.len();
        if filled == end {
            return Ok(Next::Message(message, start, body));
        }
        let more = end.min(filled.saturating_mul(2));
        message.try_resize(more, 0).map_err(|error| ArrowError::MemoryError(error.to_string()))?;
    }
}

/// The batch in `message`. The decoder returns none for a header of the type NONE, which no writer writes: as the end of the
/// batches, it would drop the rows that follow.
fn batch_of(
    decoder: &FileDecoder,
    block: &Block,
    message: &Buffer,
) -> Result<RecordBatch, ArrowError> {
    let batch = decoder.read_record_batch(block, message)?;
    batch.ok_or_else(|| corrupt("a message is neither a batch nor a dictionary"))
}

fn zeroed(len: usize) -> Result<MutableBuffer, ArrowError> {
    MutableBuffer::try_from_len_zeroed(len)
        .map_err(|error| ArrowError::MemoryError(error.to_string()))
}

fn metadata(bytes: &[u8]) -> Result<Message<'_>, ArrowError> {
    root_as_message(bytes)
        .map_err(|error| ArrowError::ParseError(format!("a message is corrupt: {error}")))
}

/// The columns as they are decoded, and as they are read; `bytes` are those that `schema` is in, and how it is found there.
fn schema_of(
    schema: IpcSchema<'_>,
    bytes: (&[u8], wide::Within),
) -> Result<(SchemaRef, WideIntegers), ArrowError> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(corrupt("the byte order is not that of this machine"));
    }
    wide::schema_of(schema, bytes)
}

/// Fails if a compressed buffer of `message`, whose body is `body`, claims an impossible length.
fn check(message: &Message<'_>, body: &[u8]) -> Result<(), ArrowError> {
    const LENGTH_BYTES: usize = 8;
    let batch = match message.header_type() {
        MessageHeader::DictionaryBatch => {
            message.header_as_dictionary_batch().and_then(|batch| batch.data())
        }
        _ => message.header_as_record_batch(),
    };
    let Some((batch, compression)) = batch.and_then(|batch| Some((batch, batch.compression()?)))
    else {
        return Ok(());
    };
    let ratio =
        if compression.codec() == CompressionType::LZ4_FRAME { LZ4_RATIO } else { ZSTD_RATIO };
    let (mut largest, mut sum) = (0, 0u64);
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let bytes = usize::try_from(buffer.length()).ok().zip(start);
        let bytes = bytes.and_then(|(len, start)| body.get(start..start.checked_add(len)?));
        let bytes = bytes.ok_or_else(|| corrupt("a buffer extends past its message"))?;
        // An empty buffer has no length before it.
        let Some((length, packed)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { continue };
        let claimed = match i64::from_le_bytes(*length) {
            // Not compressed.
            -1 => continue,
            claimed => u64::try_from(claimed).unwrap_or(u64::MAX),
        };
        if claimed > (packed.len() as u64).saturating_mul(ratio) {
            return Err(corrupt(format!(
                "a compressed buffer of {} claims to hold {}",
                counted(packed.len() as u64, "byte"),
                i64::from_le_bytes(*length)
            )));
        }
        largest = claimed.max(largest);
        sum = sum.saturating_add(claimed);
    }
    if sum > MOST_BYTES {
        return Err(corrupt(format!(
            "the compressed buffers of a batch claim {sum} bytes, more than the limit of {MOST_BYTES}; write smaller batches"
        )));
    }
    // Small ones are not checked: without memory for them nothing would work.
    if largest > FIRST_BYTES as u64 {
        let largest = usize::try_from(largest).unwrap_or(usize::MAX);
        Vec::<u8>::new().try_reserve_exact(largest).map_err(|_| {
            ArrowError::MemoryError(format!("not enough memory for a buffer of {largest} bytes"))
        })?;
    }
    Ok(())
}
