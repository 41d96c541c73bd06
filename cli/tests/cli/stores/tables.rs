//! Tables in object stores.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::server::{Fault, Server};
use super::{command, run};
use crate::run::{Place, finish};

/// A Parquet file with a column of URLs, and one of long texts that cannot be compressed, in groups of few rows.
pub(super) fn table(place: &Place, name: &str, rows: usize) -> Vec<u8> {
    let urls = (0..rows).map(|n| format!("HTTP://h/{}", n % (rows / 2)));
    let mut state = 1u64;
    let texts = (0..rows).map(|_| {
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{:016x}", state)
        };
        (0..64).map(|_| word()).collect::<String>()
    });
    let columns: [(&str, ArrayRef); 2] = [
        ("text", Arc::new(StringArray::from_iter_values(texts))),
        ("url", Arc::new(StringArray::from_iter_values(urls))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows / 4))
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .build();
    let path = place.path(name);
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn tables_are_the_same_as_those_of_files() {
    let (server, place) = (Server::start(), Place::new(&[]));
    server.put("b/in.parquet", table(&place, "in.parquet", 400));
    for format in ["arrow", "arrows", "csv", "jsonl"] {
        let name = format!("in.{format}");
        place.run(&["dedup", "--column", "url", "in.parquet", "-o", &name], "").quiet();
        server.put(&format!("b/{name}"), std::fs::read(place.path(&name)).unwrap());
    }
    for from in ["parquet", "arrow", "arrows", "csv", "jsonl"] {
        for (to, options) in [("parquet", &[][..]), ("csv", &["--keep", "last"])] {
            let (local, remote) = (format!("in.{from}"), format!("s3://b/in.{from}"));
            let (out, put) = (format!("out.{to}"), format!("s3://b/out.{to}"));
            let args = [&["dedup", "--column", "url", &local, "-o", &out], options].concat();
            place.run(&args, "").quiet();
            let args = [&["dedup", "--column", "url", &remote, "-o", &put], options].concat();
            assert_eq!(run(&server, &args).quiet(), "", "{from} {to}");
            let expected = std::fs::read(place.path(&out)).unwrap();
            assert!(server.get(&format!("b/out.{to}")).unwrap() == expected, "{from} {to}");
        }
    }
    // Over HTTP, with a query after the name.
    let url = server.url("/b/in.parquet?sig=1");
    let (args, local) = (["normalize", "--column", "url", "--to", "csv"], ["in.parquet"]);
    let expected = place.run(&[&args[..], &local].concat(), "").quiet();
    assert!(run(&server, &[&args[..], &[&url]].concat()).quiet() == expected);
}

#[test]
fn only_the_column_that_is_needed_is_read() {
    let (server, place) = (Server::start(), Place::new(&[]));
    let bytes = table(&place, "in.parquet", 20_000);
    server.put("b/in.parquet", bytes.clone());
    let found = run(&server, &["top", "--column", "url", "s3://b/in.parquet"]).quiet();
    assert_eq!(found, place.run(&["top", "--column", "url", "in.parquet"], "").quiet());
    let sent: usize = server.log().iter().map(|seen| seen.sent).sum();
    assert!(bytes.len() > 16 << 20 && sent < 2 << 20, "{sent} of {} bytes", bytes.len());
}

#[test]
fn a_table_that_is_replaced_while_it_is_read_is_an_error() {
    let (server, place) = (Server::start(), Place::new(&[]));
    let (one, other) = (table(&place, "one.parquet", 400), table(&place, "other.parquet", 800));
    server.put("b/in.parquet", one.clone());
    server.put("b/out.parquet", "old");
    server.fail("GET", "/b/in.parquet", 1..2, Fault::Replaced(other));
    let args = ["dedup", "--column", "url", "s3://b/in.parquet", "-o", "s3://b/out.parquet"];
    let failed = run(&server, &args).refused();
    assert!(
        failed.contains("s3://b/in.parquet: ") && failed.contains("changed while it was read"),
        "{failed}"
    );
    assert_eq!(server.get("b/out.parquet").unwrap(), b"old");
    // Faults that pass do no harm.
    server.put("b/in.parquet", one);
    let before = server.log().len();
    server.fail("GET", "/b/in.parquet", 0..1, Fault::CutAfter(100));
    server.fail("GET", "/b/in.parquet", 2..3, Fault::Status(503, "SlowDown"));
    assert_eq!(finish(command(&server, 4, &args), "").quiet(), "");
    assert!(server.log().len() > before + 4);
}
