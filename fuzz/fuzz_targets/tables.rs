//! Tables of every format, whole or damaged: an error or a table, and the same one when it is read again.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use uriscan::arrow::Columns;
use uriscan::table::{Form, Input, Job, TableFormat, Task, run};

fuzz_target!(|data: &[u8]| {
    let [format, bytes @ ..] = data else { return };
    let format = TableFormat::ALL[usize::from(format & 15) % TableFormat::ALL.len()];
    for task in [Task::Dedup, Task::Form(Form::Key)] {
        let Some(csv) = written(format, bytes, task, TableFormat::Csv) else { continue };
        // What was written is a table.
        let again = Job::new("1", Task::Dedup, Columns::default(), TableFormat::Jsonl);
        let mut out = Vec::new();
        let input = Input::stream("again", TableFormat::Csv, Cursor::new(csv));
        run(vec![input], &again, &mut out, None).expect("a table that was written");
    }
});

fn written(format: TableFormat, bytes: &[u8], task: Task, to: TableFormat) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().ok()?;
    let path = directory.path().join("table");
    std::fs::write(&path, bytes).ok()?;
    let input = Input::file(path, Some(format));
    let mut out = Vec::new();
    run(vec![input], &Job::new("1", task, Columns::default(), to), &mut out, None).ok()?;
    Some(out)
}
