//! Files and streams of Arrow as they were written, cut, joined and forged.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

use super::*;

fn batch() -> RecordBatch {
    let urls: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..2000).map(|i| format!("http://h/{}", i % 9))));
    RecordBatch::try_from_iter([("url", urls)]).unwrap()
}

/// Two batches as a file and as a stream.
fn written(compression: Option<CompressionType>) -> [Vec<u8>; 2] {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let schema = batch().schema();
    let mut to = FileWriter::try_new_with_options(&mut file, &schema, options.clone()).unwrap();
    (0..2).for_each(|_| to.write(&batch()).unwrap());
    to.finish().unwrap();
    drop(to);
    let mut to = StreamWriter::try_new_with_options(&mut stream, &schema, options).unwrap();
    (0..2).for_each(|_| to.write(&batch()).unwrap());
    to.finish().unwrap();
    drop(to);
    [file, stream]
}

type Found = Result<Vec<RecordBatch>, ArrowError>;

fn read(data: &[u8], is_file: bool) -> Found {
    let data = io::Cursor::new(data);
    match is_file {
        true => Batches::open(data)?.collect(),
        false => Stream::open(data)?.collect(),
    }
}

#[test]
fn batches_are_those_that_were_written() {
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        for (data, is_file) in written(compression).iter().zip([true, false]) {
            assert_eq!(read(data, is_file).unwrap(), [batch(), batch()]);
        }
        let [_, stream] = written(compression);
        let reference = arrow_ipc::reader::StreamReader::try_new(&stream[..], None).unwrap();
        assert_eq!(reference.collect::<Found>().unwrap(), read(&stream, false).unwrap());
    }
}

#[test]
fn lengths_are_checked_before_memory_is_allocated() {
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let magic = match compression {
            CompressionType::ZSTD => &b"\x28\xB5\x2F\xFD"[..],
            _ => b"\x04\x22\x4D\x18",
        };
        for (data, is_file) in written(Some(compression)).iter().zip([true, false]) {
            let lengths: Vec<usize> =
                memchr::memmem::find_iter(data, magic).map(|at| at - 8).collect();
            assert!(lengths.len() >= 2, "{lengths:?}");
            for at in lengths {
                for claimed in [1 << 62, i64::MAX, i64::MIN, -2, 1 << 40, 1 << 33] {
                    let mut data = data.clone();
                    data[at..at + 8].copy_from_slice(&i64::to_le_bytes(claimed));
                    let error = read(&data, is_file).unwrap_err().to_string();
                    assert!(error.contains(&format!("claims to hold {claimed}")), "{error}");
                }
            }
        }
    }
}

#[test]
fn a_batch_that_holds_more_than_the_limit_is_refused() {
    // What this many bytes cannot hold is refused above, and what they can, each for itself, is not.
    let mut state = 1u64;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b' ' + (state >> 58) as u8)
    });
    let text: String = letters.take(100_000).collect();
    let column = |name| (name, Arc::new(StringArray::from(vec![&*text])) as ArrayRef);
    let batch = RecordBatch::try_from_iter(["a", "b"].map(column)).unwrap();
    let zstd = Some(CompressionType::ZSTD);
    let options = IpcWriteOptions::default().try_with_compression(zstd).unwrap();
    let mut data = Vec::new();
    let mut to = StreamWriter::try_new_with_options(&mut data, &batch.schema(), options).unwrap();
    to.write(&batch).unwrap();
    to.finish().unwrap();
    drop(to);
    assert_eq!(read(&data, false).unwrap(), [batch]);
    // Before the mark of a frame of zstd.
    let length = [&100_000u64.to_le_bytes()[..], b"\x28\xB5\x2F\xFD"].concat();
    let lengths: Vec<usize> = memchr::memmem::find_iter(&data, &length).collect();
    assert_eq!(lengths.len(), 2);
    for (claimed, message) in
        [(MOST_BYTES / 2 + 1, "write smaller batches"), (MOST_BYTES * 9, "claims to hold")]
    {
        lengths.iter().for_each(|&at| data[at..at + 8].copy_from_slice(&claimed.to_le_bytes()));
        let error = read(&data, false).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_message_of_another_type_does_not_end_the_batches() {
    // The type of the header is a byte before its table; batches have 3.
    for (data, is_file) in written(None).iter().zip([true, false]) {
        let mut tried = 0;
        for at in (0..data.len()).filter(|&at| data[at] == 3) {
            for kind in [0, 1, 2, 4, 5, 6] {
                let mut data = data.clone();
                data[at] = kind;
                if let Ok(found) = read(&data, is_file) {
                    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 4000);
                } else {
                    tried += 1;
                }
            }
        }
        assert!(tried >= 10, "{tried}");
    }
}

#[test]
fn files_that_were_joined_are_reported() {
    let empty = || {
        let mut file = Vec::new();
        FileWriter::try_new(&mut file, &batch().schema()).unwrap().finish().unwrap();
        file
    };
    let files = [written(None), written(Some(CompressionType::ZSTD)), [empty(), Vec::new()]];
    for [first, _] in &files {
        read(first, true).unwrap();
        for [second, _] in &files {
            let error = read(&[&first[..], second].concat(), true).unwrap_err().to_string();
            assert!(error.contains("files that were joined"), "{error}");
        }
    }
}

#[test]
fn a_stream_tells_whether_it_has_ended() {
    for compression in [None, Some(CompressionType::ZSTD)] {
        let [_, whole] = written(compression);
        let read = |data: &[u8]| {
            let mut stream = Stream::open(data).unwrap();
            let found = stream.by_ref().collect::<Found>();
            found.map(|found| (found.len(), stream.lacks_mark()))
        };
        assert_eq!(read(&whole).unwrap(), (2, false));
        let (messages, mark) = whole.split_at(whole.len() - 8);
        assert_eq!(mark, [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
        assert_eq!(read(messages).unwrap(), (2, true));
        // The mark of old streams, and padding.
        assert_eq!(read(&[messages, &mark[4..]].concat()).unwrap(), (2, false));
        assert_eq!(read(&[&whole[..], &[0; 9_000]].concat()).unwrap(), (2, false));
        for more in [&whole[..], messages, &[0xFF; 4], &[0, 0, 1], b"ARROW1"] {
            let error = read(&[&whole[..], more].concat()).unwrap_err().to_string();
            assert!(error.contains("bytes follow the mark at its end"), "{error}");
        }
        // Joined without the first mark: the schema is not a batch.
        assert!(read(&[messages, &whole].concat()).is_err());
        for cut in 1..8 {
            assert!(read(&whole[..whole.len() - cut]).is_err(), "{cut}");
        }
    }
}

/// Runs that are repeated many times.
mod floods {
    use super::*;

    #[test]
    fn no_corruption_aborts_the_process() {
        for compression in [None, Some(CompressionType::LZ4_FRAME)] {
            for (data, is_file) in written(compression).iter().zip([true, false]) {
                for len in (0..data.len()).step_by(37) {
                    // A stream may end between messages.
                    let _ = read(&data[..len], is_file);
                    assert!(!is_file || read(&data[..len], true).is_err());
                }
                for at in (0..data.len()).step_by(13) {
                    for value in [[0xFF; 8], [0x7F; 8], [0; 8]] {
                        let mut data = data.clone();
                        let end = data.len().min(at + 8);
                        data[at..end].copy_from_slice(&value[..end - at]);
                        let done = std::panic::catch_unwind(|| read(&data, is_file).is_ok());
                        drop(done);
                    }
                }
            }
        }
    }
}
