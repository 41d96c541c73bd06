//! The Rust kernel on the column that `compare.py` has: for every line of standard input it makes all keys once and
//! writes how many nanoseconds that took, and the exclusive or of the keys.
//!
//! ```sh
//! cargo run --release --example kernel -- FILE THREADS
//! ```

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use arrow_array::StringArray;
use arrow_array::cast::AsArray;
use uriscan_arrow::Columns;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("FILE THREADS are needed")?;
    let threads = arguments.next().ok_or("THREADS are needed")?.parse()?;
    let text = std::fs::read_to_string(path)?;
    let column = StringArray::from_iter_values(text.split_terminator('\n'));
    drop(text);
    let columns = Columns::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        let keys = pool.install(|| columns.key(&column))?;
        let nanoseconds = start.elapsed().as_nanos();
        let keys = keys.as_fixed_size_binary().value_data();
        let keys = keys.chunks_exact(16).filter_map(|key| key.try_into().ok());
        let sum = keys.map(u128::from_be_bytes).fold(0, |sum, key| sum ^ key);
        writeln!(out, "{nanoseconds} {sum:032x}")?;
        out.flush()?;
    }
    Ok(())
}
