//! Tables that are not what they should be: told in a line that names the file and the place, and nothing is written.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::run::Place;

/// Some rows with a number and a URL.
fn rows(count: usize) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count as i64));
    let urls = (0..count).map(|i| format!("http://h{}.example/{i}", i % 7));
    let urls: ArrayRef = Arc::new(StringArray::from_iter_values(urls));
    RecordBatch::try_from_iter([("id", ids), ("url", urls)]).unwrap()
}

/// Writes `batch` as Parquet that is not compressed, so that broken bytes get far.
fn write_parquet(place: &Place, name: &str, batch: &RecordBatch) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_max_row_group_row_count(Some(100))
        .build();
    let file = File::create(place.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    fs::read(place.path(name)).unwrap()
}

#[test]
fn text_tables_are_reported_by_file_and_line() {
    for (text, what) in [
        (&b"id,url\n1,http://h\n2\n"[..], "t.csv:3: expected 2 fields, found 1"),
        (b"id,url\n1,http://h,2\n", "t.csv:2: expected 2 fields, found 3"),
        (b"id,url\n1,\"a\nb\"\n\n2,http://h,3\n", "t.csv:5: expected 2 fields, found 3"),
        (
            b"id,url\n1,http://h\n2,\"http://i\n3,x\n",
            "t.csv:3: a quote in this row is never closed",
        ),
        (
            b"url,id\nhttp://a/,\"oops\nhttp://b/,1\nhttp://c/,\"2\"\n",
            "t.csv:2: the closing quote of a field is followed by neither a delimiter nor the end of the row, on line 4",
        ),
        (b"id,url\n1,\"http://h\" \n", "t.csv:2: the closing quote"),
        (b"id,\"url\"x\n", "t.csv:1: the closing quote"),
        (b"id,url\n1,http://h/\xFF\n", "t.csv:2: invalid UTF-8 in field 2"),
        (b"id,url\xFF\n", "t.csv:1: invalid UTF-8 in field 2"),
        (b"\n\n", "t.csv: the header, the row with the names of columns, is missing"),
        (b"url,url\na,b\n", "t.csv: columns 1 and 2 are both named url"),
        (b"http://h,1\n", "t.csv: there is no column url; there are: http://h, 1"),
        (b"\"a\nb\",c\n", "t.csv: there is no column url; there are: a\\nb, c"),
    ] {
        let place = Place::new(&[]);
        fs::write(place.path("t.csv"), text).unwrap();
        let run = |command| place.run(&[command, "--column", "url", "t.csv", "-o", "out.csv"], "");
        let message = run("normalize").refused();
        assert!(message.starts_with(&format!("uriscan: {what}")), "{message}");
        // Rows that pass as the bytes they are need not be UTF-8.
        if !what.contains("UTF-8") && !what.contains("t.csv:1") {
            let message = run("dedup").refused();
            assert!(message.starts_with(&format!("uriscan: {what}")), "{message}");
        }
        assert_eq!(place.names(), ["t.csv"]);
    }
}

#[test]
fn a_member_that_no_line_has_is_reported() {
    let place = Place::new(&[
        ("a.jsonl", "{\"url\":\"http://h\"}\n"),
        ("b.jsonl", "{\"uri\":\"http://i\"}\n{}\n"),
        ("null.jsonl", "{\"url\":null}\n{}\n"),
        ("empty.jsonl", "\n"),
    ]);
    for command in ["dedup", "normalize"] {
        let run = |args: &[&str]| {
            place.run(&[&[command, "--column", "url", "-o", "out.jsonl"], args].concat(), "")
        };
        let message = run(&["b.jsonl"]).refused();
        // Rows that pass as they are have their names told.
        let names = if command == "dedup" { "; the first line has: uri" } else { "" };
        assert_eq!(message, format!("uriscan: b.jsonl: no line has a member url{names}"));
        for fine in [
            &["a.jsonl", "b.jsonl"][..],
            &["b.jsonl", "a.jsonl"],
            &["null.jsonl"],
            &["empty.jsonl"],
        ] {
            assert_eq!(run(fine).quiet(), "", "{fine:?}");
        }
    }
}

#[test]
fn columns_are_reported_by_file_and_name() {
    let place = Place::new(&[]);
    write_parquet(&place, "t.parquet", &rows(3));
    let twice = rows(3);
    let column = twice.column(1).clone();
    let twice = RecordBatch::try_from_iter([("url", column.clone()), ("url", column)]).unwrap();
    write_parquet(&place, "twice.parquet", &twice);
    let run = |column: &str, table: &str| {
        place.run(&["dedup", "--column", column, table, "-o", "out.parquet"], "")
    };
    let wrong = "uriscan: t.parquet: column id is Int64; text or bytes expected";
    assert_eq!(run("id", "t.parquet").refused(), wrong);
    assert_eq!(
        run("url", "twice.parquet").refused(),
        "uriscan: twice.parquet: columns 1 and 2 are both named url; select one by its number"
    );
    assert_eq!(run("2", "twice.parquet").quiet(), "");
    let again = ["normalize", "--column", "url", "t.parquet", "-o", "n.parquet"];
    assert_eq!(place.run(&again, "").quiet(), "");
    let message = place.run(&["normalize", "--column", "url", "n.parquet", "-o", "m.parquet"], "");
    let wrong = "uriscan: n.parquet: a column uri_normalized already exists; --into NAME gives the new one another name";
    assert_eq!(message.refused(), wrong);
}

#[test]
fn tables_without_rows_stay_tables() {
    let place = Place::new(&[]);
    write_parquet(&place, "none.parquet", &rows(0));
    for to in ["parquet", "arrow", "csv", "jsonl"] {
        let out = format!("out.{to}");
        let args = ["normalize", "--column", "url", "none.parquet", "-o", &out];
        assert_eq!(place.run(&args, "").quiet(), "");
    }
    assert_eq!(place.read("out.csv"), "id,url,uri_normalized\n");
    let again = ["dedup", "--column", "url", "out.parquet", "--to", "csv"];
    assert_eq!(place.run(&again, "").quiet(), "id,url,uri_normalized\n");
    let pipe = ["dedup", "--column", "url", "--to", "csv", "/dev/stdin"];
    let message = place.run(&pipe, "PAR1").refused();
    assert_eq!(message, "uriscan: /dev/stdin: parquet can be read from files only, not from pipes");
}

#[test]
fn broken_bytes_are_no_panic() {
    let place = Place::new(&[]);
    let batch = rows(300);
    let whole = write_parquet(&place, "t.parquet", &batch);
    let mut arrow = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    let arrow = arrow.into_inner().unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let stream = stream.into_inner().unwrap();
    let mut refused = 0;
    for (name, bytes) in [("b.parquet", whole), ("b.arrow", arrow), ("b.arrows", stream)] {
        // Every part of the file, what describes it more often.
        let places = (0..bytes.len())
            .step_by(bytes.len() / 10)
            .chain((bytes.len().saturating_sub(400)..bytes.len()).step_by(23));
        for at in places {
            for byte in [0xFF, bytes[at] ^ 0x40] {
                let mut broken = bytes.clone();
                broken[at] = byte;
                fs::write(place.path(name), broken).unwrap();
                let ran = place.run(&["dedup", "--column", "url", name, "-o", "out.csv"], "");
                let reported = format!("{name} {at} {byte}: {}", ran.stderr);
                assert!([0, 2].contains(&ran.code), "{reported}");
                if ran.code == 2 {
                    refused += 1;
                    assert!(ran.stderr.starts_with(&format!("uriscan: {name}: ")), "{reported}");
                    assert_eq!(ran.stderr.lines().count(), 1, "{reported}");
                }
            }
        }
        for len in [1, 3, 8, bytes.len() / 2, bytes.len() - 1] {
            fs::write(place.path(name), &bytes[..len]).unwrap();
            let ran = place.run(&["dedup", "--column", "url", name, "-o", "out.csv"], "");
            assert!(ran.code == 2 || name == "b.arrows", "{name} {len}");
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_length_that_cannot_be_is_an_error_and_no_abort() {
    let place = Place::new(&[]);
    let batch = rows(2000);
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        let schema = batch.schema();
        let mut file =
            FileWriter::try_new_with_options(Vec::new(), &schema, options.clone()).unwrap();
        file.write(&batch).unwrap();
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        stream.write(&batch).unwrap();
        let files = [("b.arrow", file.into_inner()), ("b.arrows", stream.into_inner())];
        for (name, bytes) in files {
            let bytes = bytes.unwrap();
            let magic: &[u8] = match compression {
                CompressionType::ZSTD => b"\x28\xB5\x2F\xFD",
                _ => b"\x04\x22\x4D\x18",
            };
            let at = bytes.windows(4).position(|four| four == magic).unwrap() - 8;
            for claimed in [1i64 << 62, i64::MAX, 1 << 45] {
                let mut broken = bytes.clone();
                broken[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
                fs::write(place.path(name), broken).unwrap();
                let args = ["dedup", "--column", "url", name, "-o", "out.csv"];
                let message = place.run(&args, "").refused();
                assert!(message.starts_with(&format!("uriscan: {name}: ")), "{message}");
                assert!(message.contains(&format!("claims to hold {claimed}")), "{message}");
            }
        }
    }
}

#[test]
fn a_page_that_claims_too_much_is_an_error_and_no_abort() {
    let place = Place::new(&[]);
    let batch = rows(2000);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let metadata = writer.close().unwrap();
    let start = metadata.row_group(0).column(0).byte_range().0 as usize;
    // A data page of 60 bytes with 2 GiB of content, and a dictionary with as many values.
    for (header, what) in [
        (&b"\x15\0\x15\xFE\xFF\xFF\xFF\x0F\x15\x78\0"[..], "claims to hold 2147483647"),
        (
            b"\x15\x04\x15\x78\x15\x78\x4C\x15\xFE\xFF\xFF\xFF\x0F\x15\0\0\0",
            "a dictionary of 60 bytes claims to hold 2147483647 values",
        ),
    ] {
        let mut forged = file.clone();
        forged[start..start + header.len()].copy_from_slice(header);
        fs::write(place.path("t.parquet"), forged).unwrap();
        let args = ["dedup", "--column", "url", "t.parquet", "-o", "out.csv"];
        let message = place.run(&args, "").refused();
        let expected = format!("uriscan: t.parquet: byte {start}: ");
        assert!(message.starts_with(&expected) && message.contains(what), "{message}");
        assert_eq!(place.names(), ["t.parquet"]);
    }
}

#[test]
fn a_stray_quote_is_an_error_for_every_reader_of_rows() {
    // The second row opens a quote that the fourth one closes.
    let text =
        "url,note\nhttp://h/0,x\nhttp://a/,\"oops\nhttp://b/,1\nhttp://c/,\"2\"\nhttp://d/,3\n";
    let place = Place::new(&[("t.csv", text), ("t.tsv", &text.replace(',', "\t"))]);
    let what =
        "the closing quote of a field is followed by neither a delimiter nor the end of the row";
    for args in [
        &["dedup", "--column", "url"][..],
        &["dedup", "--column", "2"],
        &["normalize", "--column", "url"],
        &["check", "--column", "url"],
        &["top", "--by", "host", "--column", "url"],
        &["extract", "--link-column", "url"],
        &["extract", "--link-column", "2"],
        &["dedup", "--extract", "--link-column", "url"],
    ] {
        let is_table = ["dedup", "normalize"].contains(&args[0]) && args[1] == "--column";
        for name in ["t.csv", "t.tsv"].into_iter().take(1 + usize::from(is_table)) {
            // TSV has no quotes unless they are typed.
            let quote: &[&str] = if name == "t.tsv" { &["--quote", "\""] } else { &[] };
            let ran = place.run(&[args, quote, &[name]].concat(), "");
            assert!(ran.code == 2 && ran.stderr.contains(what), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(name), "{}", ran.stderr);
            assert!(ran.stderr.contains("line 5"), "{}", ran.stderr);
        }
    }
    // Without quotes there is none.
    let rows = place.run(&["dedup", "--column", "url", "t.tsv"], "").quiet();
    assert_eq!(rows.lines().count(), 6);
    let rows = place.run(&["dedup", "--column", "url", "--quote", "none", "t.csv"], "").quiet();
    assert_eq!(rows.lines().count(), 6);
}

#[test]
fn a_stream_without_its_end_mark_is_noted() {
    let place = Place::new(&[]);
    let batch = rows(500);
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    (0..2).for_each(|_| writer.write(&batch).unwrap());
    let whole = writer.into_inner().unwrap();
    let messages = whole.strip_suffix(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]).unwrap();
    fs::write(place.path("whole.arrows"), &whole).unwrap();
    fs::write(place.path("cut.arrows"), messages).unwrap();
    fs::write(place.path("joined.arrows"), [&whole[..], &whole].concat()).unwrap();
    fs::write(place.path("joined-cut.arrows"), [messages, &whole].concat()).unwrap();
    for args in [
        &["dedup", "--column", "url", "--to", "csv"][..],
        &["dedup", "--column", "url", "--to", "csv", "--keep", "last"],
        &["normalize", "--column", "url", "--to", "csv"],
        &["check", "--column", "url", "--to", "csv"],
        &["top", "--by", "host", "--column", "url"],
    ] {
        let run = |name: &str| place.run(&[args, &[name]].concat(), "");
        let expected = run("whole.arrows").quiet();
        let cut = run("cut.arrows");
        assert_eq!((cut.code, cut.text()), (0, &expected[..]), "{args:?}");
        assert_eq!(
            cut.stderr,
            "uriscan: cut.arrows: the stream has no mark at its end, so rows may be missing there\n",
            "{args:?}"
        );
        for summary in ["-q", "--stats=json"] {
            let ran = place.run(&[args, &[summary, "cut.arrows"]].concat(), "");
            assert!(ran.stderr.contains("rows may be missing there"), "{args:?} {}", ran.stderr);
        }
        for (name, what) in [("joined.arrows", "bytes follow the mark"), ("joined-cut.arrows", "")]
        {
            let ran = run(name);
            assert_eq!(ran.code, 2, "{args:?} {name}: {}", ran.stderr);
            assert!(ran.stderr.contains(name) && ran.stderr.contains(what), "{}", ran.stderr);
        }
    }
}
