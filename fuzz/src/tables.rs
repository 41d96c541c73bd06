//! Tables of every format, whole or damaged: an error, or a table that is the same when it was written in any format and
//! read again; and under any memory limit.

use std::cell::RefCell;
use std::io::Cursor;
use std::sync::Once;

use tempfile::TempDir;
use uriscan::{Error, ErrorKind};
use uriscan_arrow::Columns;
use uriscan_bulk::pipeline::MemoryLimit;
use uriscan_table::{Form, Input, Job, TableFormat, Task, is_decoding, run};

use crate::Choice;

/// Formats that keep text as it is, except that the two of separated values have no null.
const KEEPING: [TableFormat; 4] =
    [TableFormat::Parquet, TableFormat::Arrow, TableFormat::ArrowStream, TableFormat::Jsonl];

thread_local! {
    static PLACE: RefCell<TempDir> =
        RefCell::new(tempfile::tempdir_in(crate::directory()).expect("a directory"));
}

/// The first byte chooses the format and what is done; the rest is a table, or lines of one.
pub fn check(data: &[u8]) {
    static HOOK: Once = Once::new();
    // A decoder that panics at a broken file is part of the plan.
    HOOK.call_once(|| {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !is_decoding() {
                told(panic);
            }
        }));
    });
    let Some((mut choice, bytes)) = Choice::split(data) else { return };
    let format = choice.of(&TableFormat::ALL);
    let task = match choice.below(3) {
        0 => Task::Dedup,
        1 => Task::Form(Form::Key),
        _ => Task::Parse,
    };
    let other = choice.of(&TableFormat::ALL);
    if choice.below(2) == 0 {
        check_any(format, bytes, &task, other);
    } else {
        check_lines(bytes, &task, format, other);
    }
}

fn job(task: &Task, to: TableFormat) -> Job {
    Job::new("1", task.clone(), Columns::default(), to)
}

/// A job on the column `u`.
fn job_on_u(task: &Task, to: TableFormat) -> Job {
    Job::new("u", task.clone(), Columns::default(), to)
}

fn written(format: TableFormat, bytes: &[u8], job: &Job) -> Result<Vec<u8>, Error> {
    PLACE.with_borrow(|place| {
        let path = place.path().join("table");
        std::fs::write(&path, bytes).expect("room");
        let mut out = Vec::new();
        run(vec![Input::file(path, Some(format))], job, &mut out, None).map(|_| out)
    })
}

/// What is written of any bytes is a table.
fn check_any(format: TableFormat, bytes: &[u8], task: &Task, to: TableFormat) {
    let Ok(table) = written(format, bytes, &job(task, to)) else { return };
    // Lines of JSON have no columns, so none of them may have the first one.
    if to == TableFormat::Jsonl {
        return;
    }
    let again = job(&Task::Dedup, TableFormat::Arrow);
    let result = written(to, &table, &again);
    if let Err(error) = result {
        let is_of_columns = error.kind() == ErrorKind::Columns;
        assert!(is_of_columns, "{error}: {}", table.escape_ascii());
    }
}

/// The lines of `bytes` as a table: whatever it is written as, the rows that are read again are the same.
fn check_lines(bytes: &[u8], task: &Task, one: TableFormat, other: TableFormat) {
    let quoted = |line: &str| serde_json::to_string(line).expect("a string");
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split('\n').filter(|line| !line.trim_ascii().is_empty());
    let rows: String = lines.map(|line| format!("{{\"u\":{}}}\n", quoted(line))).collect();
    if rows.is_empty() {
        return;
    }
    let jsonl = |format: TableFormat, table: &[u8], task: &Task| {
        let job = job_on_u(task, TableFormat::Jsonl);
        written(format, table, &job).expect("a table that was written")
    };
    let through = |format: TableFormat, table: &[u8], to: TableFormat| {
        let kept = Task::Form(Form::Key);
        let job = job_on_u(&kept, to);
        written(format, table, &job).expect("a table that was written")
    };
    let expected = jsonl(TableFormat::Jsonl, rows.as_bytes(), task);
    if matches!(task, Task::Form(_)) {
        let table = through(TableFormat::Jsonl, rows.as_bytes(), one);
        let again = jsonl(one, &table, &Task::Dedup);
        let once = jsonl(TableFormat::Jsonl, &expected, &Task::Dedup);
        assert_eq!(show(&again), show(&once), "{one:?}");
        if KEEPING.contains(&one) && KEEPING.contains(&other) {
            // From one format into another, without anything added.
            let job = job_on_u(&Task::Dedup, other);
            let moved = written(one, &table, &job).expect("a table that was written");
            assert_eq!(show(&jsonl(other, &moved, &Task::Dedup)), show(&once), "{one:?} {other:?}");
        }
        return;
    }
    // Under a memory limit of nothing, and from a stream.
    let limit = MemoryLimit::new(1 << 30, crate::directory()).set_bytes(0);
    let job = job_on_u(task, TableFormat::Jsonl).limit(limit);
    assert_eq!(
        written(TableFormat::Jsonl, rows.as_bytes(), &job).as_deref().map(show).ok(),
        Some(show(&expected))
    );
    let mut out = Vec::new();
    let stream = Input::stream("stream", TableFormat::Jsonl, Cursor::new(rows.into_bytes()));
    run(vec![stream], &job.limit(None), &mut out, None).expect("a table");
    assert_eq!(show(&out), show(&expected));
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
