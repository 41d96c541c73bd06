//! Tests chunks against the records of the input.

use super::*;

/// A reader that returns one byte at a time and is interrupted before each.
struct Drip(io::Cursor<Vec<u8>>, bool);

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0.read(&mut out[..1])
    }
}

type Piece = (usize, u64, u64, Shape, Vec<u8>);

fn chunks(sources: Vec<Source>, chunk_bytes: usize, max_record: usize) -> Vec<Piece> {
    let mut reader = ChunkReader::new(sources, b'\n', chunk_bytes, max_record);
    reader.count_lines();
    let mut chunk = Chunk::default();
    let mut all = Vec::new();
    while reader.fill(&mut chunk).unwrap() {
        let content = chunk.text.padded().content().to_vec();
        all.push((chunk.source, chunk.byte, chunk.line, chunk.shape, content));
    }
    all
}

#[test]
fn chunks_are_whole_records_with_their_positions() {
    let text: Vec<u8> = (0..200).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
    for drip in [false, true] {
        let source = if drip {
            Source::new("a", Drip(io::Cursor::new(text.clone()), false))
        } else {
            Source::new("a", io::Cursor::new(text.clone()))
        };
        let found = chunks(vec![source], 128, 1024);
        let (mut byte, mut line) = (0u64, 1u64);
        for (source, at, first, shape, content) in &found {
            assert_eq!((*source, *at, *first, *shape), (0, byte, line, Shape::Records));
            assert_eq!(content.last(), Some(&b'\n'));
            byte += content.len() as u64;
            line += memchr_iter(b'\n', content).count() as u64;
        }
        assert!(found.len() > 10);
        assert_eq!(found.into_iter().flat_map(|piece| piece.4).collect::<Vec<_>>(), text);
    }
}

#[test]
fn sources_are_kept_separate() {
    let sources = vec![
        Source::new("a", &b"\xEF\xBB\xBFone\ntwo"[..]),
        Source::new("b", &b""[..]),
        Source::new("c", &b"three"[..]),
    ];
    let found = chunks(sources, 128, 1024);
    assert_eq!(
        found,
        [
            (0, 3, 1, Shape::Records, b"one\ntwo".to_vec()),
            (2, 0, 1, Shape::Records, b"three".to_vec())
        ]
    );
}

#[test]
fn buffers_of_long_records_are_reused() {
    let line = |i: usize| {
        [&vec![b'x'; if i.is_multiple_of(3) { 5000 } else { 9 * i }][..], b"\n"].concat()
    };
    let text: Vec<u8> = (0..40).flat_map(line).collect();
    let sources = vec![Source::new("a", io::Cursor::new(text.clone()))];
    let mut reader = ChunkReader::new(sources, b'\n', 100, 1 << 20);
    let mut slots = [Chunk::default(), Chunk::default(), Chunk::default()];
    let (mut found, mut count) = (Vec::new(), 0);
    while reader.fill(&mut slots[count % 3]).unwrap() {
        let chunk = &mut slots[count % 3];
        found.extend_from_slice(chunk.text.padded().content());
        let size = chunk.text.capacity();
        reader.take_back(&mut chunk.text, 0);
        assert_eq!(chunk.text.capacity(), size, "beyond what may be kept");
        reader.take_back(&mut chunk.text, 1 << 20);
        assert!(chunk.text.capacity() <= 256 && reader.large.len() <= 1);
        count += 1;
    }
    assert!(found == text && count > 10);
    assert_eq!(reader.large.len(), 1);
}

#[test]
fn a_record_over_the_limit_is_split_into_pieces() {
    let mut text = b"first\n".to_vec();
    text.extend(vec![b'x'; 1000]);
    text.extend(b"\nlast\n");
    let found = chunks(vec![Source::new("a", io::Cursor::new(text.clone()))], 64, 256);
    let shapes: Vec<Shape> = found.iter().map(|piece| piece.3).collect();
    assert_eq!(shapes[..3], [Shape::Records, Shape::LongFirst, Shape::LongRest]);
    assert_eq!(found.iter().flat_map(|piece| piece.4.clone()).collect::<Vec<_>>(), text);
    let last = found.last().unwrap();
    assert_eq!((last.2, last.3, &last.4[..]), (3, Shape::Records, &b"last\n"[..]));
    assert_eq!(shapes.iter().filter(|&&shape| shape == Shape::LongLast).count(), 1);
}

#[test]
fn a_record_over_the_limit_has_a_last_piece_whatever_ends_it() {
    for len in 200..600 {
        for end in ["", "\n"] {
            let text = [&vec![b'x'; len][..], end.as_bytes()].concat();
            let sources = vec![
                Source::new("a", io::Cursor::new(text.clone())),
                Source::new("b", &b"y\n"[..]),
            ];
            let mut found = chunks(sources, 64, 256);
            let (_, _, _, shape, content) = found.pop().unwrap();
            assert_eq!((shape, &content[..]), (Shape::Records, &b"y\n"[..]));
            assert_eq!(found.iter().flat_map(|piece| piece.4.clone()).collect::<Vec<_>>(), text);
            let shapes: Vec<Shape> = found.iter().map(|piece| piece.3).collect();
            match &shapes[..] {
                [Shape::Records] => assert!(len <= 256),
                [Shape::LongFirst, rest @ .., Shape::LongLast] => {
                    assert!(rest.iter().all(|&shape| shape == Shape::LongRest) && len > 256);
                }
                _ => panic!("{len} {end:?} {shapes:?}"),
            }
        }
    }
}

#[test]
fn sources_opened_ahead_give_the_same_chunks() {
    let long = "y".repeat(70);
    let texts = ["", "x\n", "\n", "x\nhalf", "\u{FEFF}a\nb", &long, "a\0b\n", "x\ny\n"];
    for (chunk_bytes, text_only) in [(1, false), (16, true), (16, false), (1000, true)] {
        let chunks = |early: bool| {
            let source = |text: &&str| {
                let drip = Drip(io::Cursor::new(text.as_bytes().to_vec()), false);
                Source { early, text_only, ..Source::new("a", drip) }
            };
            let sources = texts.iter().map(source).collect();
            let mut reader = ChunkReader::new(sources, b'\n', chunk_bytes, 64);
            reader.count_lines();
            let (mut chunk, mut all) = (Chunk::default(), Vec::new());
            while reader.fill(&mut chunk).unwrap() {
                let text = chunk.text.padded().content().to_vec();
                all.push((chunk.source, chunk.byte, chunk.line, chunk.shape, text));
            }
            (all, reader.binary())
        };
        assert_eq!(chunks(true), chunks(false), "{chunk_bytes}");
    }
}

#[test]
fn pauses_of_a_producer_change_where_chunks_end_and_nothing_else() {
    let text: Vec<u8> =
        (0..60).flat_map(|i| format!("{}\n", "x".repeat(i * 7 % 83)).into_bytes()).collect();
    let text = [BYTE_ORDER_MARK, &text, b"last"].concat();
    let whole =
        |chunks: Vec<Piece>| -> Vec<u8> { chunks.into_iter().flat_map(|piece| piece.4).collect() };
    for (chunk_bytes, max_record) in [(1, 100), (16, 100), (64, 20), (1000, 100)] {
        for pause in 1..12u32 {
            let source = || Source::new("a", Drip(io::Cursor::new(text.clone()), false));
            let expected = chunks(vec![source()], chunk_bytes, max_record);
            let asked = std::sync::atomic::AtomicU32::new(0);
            let wait = move |_| {
                !asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(pause)
            };
            let source = source().wait(std::sync::Arc::new(wait) as Wait);
            let mut reader = ChunkReader::new(vec![source], b'\n', chunk_bytes, max_record);
            let (mut chunk, mut found, mut pauses) = (Chunk::default(), Vec::new(), 0);
            loop {
                // Alternately willing to wait.
                reader.begin_batch();
                match reader.fill_next(&mut chunk, found.len() % 2 == 0 || pauses % 2 == 1).unwrap()
                {
                    Next::Chunk => {
                        let content = chunk.text.padded().content().to_vec();
                        let is_line = content.ends_with(b"\n") || content.ends_with(b"last");
                        assert!(is_line || chunk.shape != Shape::Records);
                        found.push((0, chunk.byte, 0, chunk.shape, content));
                        pauses = 0;
                    }
                    Next::NotReady => pauses += 1,
                    Next::End => break,
                }
            }
            assert_eq!(whole(found), whole(expected), "{chunk_bytes} {pause}");
        }
    }
}

#[test]
fn a_failing_source_is_named() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    for (chunk_bytes, text) in [(64, "x\ny\nhalf"), (2, "x\ny\nhalf"), (64, "x\ny\n"), (4, "")] {
        let half_way = text.as_bytes().chain(Broken);
        let sources = vec![
            Source::new("good", &b"x\n"[..]),
            Source::new("bad", half_way),
            Source::new("last", &b"z"[..]),
        ];
        let mut reader = ChunkReader::new(sources, b'\n', chunk_bytes, 64);
        let (mut chunk, mut before) = (Chunk::default(), Vec::new());
        let error = loop {
            match reader.fill(&mut chunk) {
                Ok(has_more) => assert!(has_more),
                Err(error) => break error,
            }
            before.extend_from_slice(chunk.text.padded().content());
        };
        assert_eq!(error.to_string(), "bad: disk on fire");
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        assert_eq!(before, [b"x\n", &text.as_bytes()[..whole]].concat());
        assert!(reader.fill(&mut chunk).unwrap(), "the next source");
        assert_eq!(chunk.text.padded().content(), b"z");
        assert!(!reader.fill(&mut chunk).unwrap());
    }
}

#[cfg(unix)]
mod later {
    use std::path::Path;

    use super::*;

    const MOST: usize = 20_000;

    /// The content of all chunks of the file at `path`, and how many of them were read later.
    fn read(path: &Path, chunk_bytes: usize, is_later: bool) -> (Vec<u8>, usize) {
        let sources = vec![Source::file(path), Source::file(path)];
        let mut reader = ChunkReader::new(sources, b'\n', chunk_bytes, MOST);
        if is_later {
            reader.read_later();
        }
        let (mut chunk, mut all, mut count, mut byte) = (Chunk::default(), Vec::new(), 0, [0; 2]);
        while reader.fill(&mut chunk).unwrap() {
            let len = chunk.len();
            if let Some(later) = chunk.later.take() {
                later.read(&mut chunk.text).unwrap();
                count += 1;
            }
            let content = chunk.text.padded().content();
            assert_eq!(content.len(), len);
            // A byte order mark is not content.
            assert_eq!(chunk.byte.max(3), byte[chunk.source].max(3));
            byte[chunk.source] = chunk.byte + len as u64;
            assert!(content.ends_with(b"\n") || chunk.shape != Shape::Records);
            all.extend_from_slice(content);
        }
        (all, count)
    }

    #[test]
    fn lines_read_later_are_those_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let line = |len: usize| [&vec![b'x'; len][..], b"\n"].concat();
        let short: Vec<u8> = (0..20_000).flat_map(|i| line(i % 40)).collect();
        let long: Vec<u8> = (0..200).flat_map(|i| line(i * 97 % 9000)).collect();
        let over = [&short[..], &line(MOST + 1), &short, &line(3 * MOST), b"end\n"].concat();
        let marked = [b"\xEF\xBB\xBF", &short[..]].concat();
        for (text, least) in
            [(&short, 20), (&long, 10), (&over, 40), (&marked, 20), (&Vec::new(), 0)]
        {
            std::fs::write(&path, text).unwrap();
            for chunk_bytes in [1 << 10, 6000, MOST] {
                let (expected, none) = read(&path, chunk_bytes, false);
                let (found, count) = read(&path, chunk_bytes, true);
                assert!(found == expected, "{chunk_bytes}");
                assert!(none == 0 && count >= least, "{count}");
            }
        }
    }
}
