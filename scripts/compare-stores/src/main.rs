//! Times embedded stores as sets of 128-bit keys, compared with `uriscan::set`.
//!
//! Each round takes every store through all steps once, so that a slow moment of the machine
//! affects all alike. Each step asserts its result: the number of keys held, the number of keys
//! found.

mod fjall;
mod keys;
mod lmdb;
mod ours;
mod redb;
mod report;
mod steps;
mod store;
mod stores;

use std::path::PathBuf;
use std::process::ExitCode;

use steps::{Sizes, run_round};
use store::Outcome;
use stores::NAMES;

const USAGE: &str = "\
usage: compare-stores.sh [--keys N] [--asked N] [--add N] [--rounds N] [--threads N] [--only A,B] [--dir DIR]

Times uriscan's sets on disk and kept embedded stores (LMDB by heed, redb, fjall) as sets of N keys
of 16 bytes, uniform, all different:

  load       N keys in no order, until they are on the disk. Stores that are faster with sorted keys get
             them sorted, and the sorting counts
  has        look-ups of a batch, half of its keys present, warm; sorted first, which counts too
  has-mixed  the same in no order. uriscan sorts by itself: both are the same call for it
  add        keys that are not there yet, in no order, until they are on the disk; three times in a round
  has-added  as `has`, when these keys are there as well

  --keys N     keys of the set (default 10000000)
  --asked N    keys of a batch (default 10000000, or the keys if there are fewer)
  --add N      keys of an addition (default 1000000, or the keys if there are fewer)
  --rounds N   rounds (default 3)
  --threads N  threads for sorting and for look-ups (default 2)
  --only A,B   these stores only, of: uriscan, lmdb, redb, fjall
  --dir DIR    where the stores are made (default: the directory for temporary files)

RocksDB is left out: its C++ sources take longer to compile than all the rest.
";

/// The command line, with defaults filled in.
struct Args {
    sizes: Sizes,
    rounds: usize,
    threads: usize,
    stores: Vec<&'static str>,
    directory: PathBuf,
}

impl Args {
    /// Parses the arguments; an error is one sentence for the user.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let (mut keys, mut asked, mut add, mut rounds, mut threads) =
            (10_000_000, None, None, 3, 2);
        let (mut stores, mut directory) = (NAMES.to_vec(), std::env::temp_dir());
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("{word} is unknown or needs a value"))?;
            match word.as_str() {
                "--keys" => keys = positive(&value)?,
                "--asked" => asked = Some(positive(&value)?),
                "--add" => add = Some(positive(&value)?),
                "--rounds" => rounds = positive(&value)?,
                "--threads" => threads = positive(&value)?,
                "--only" => stores = chosen(&value)?,
                "--dir" => directory = value.into(),
                _ => return Err(format!("unknown option {word}")),
            }
        }
        let sizes = Sizes {
            keys,
            asked: asked.unwrap_or(keys.min(10_000_000)),
            add: add.unwrap_or(keys.min(1_000_000)),
        };
        Ok(Args { sizes, rounds, threads, stores, directory })
    }
}

fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or(format!("{text:?} is no positive number"))
}

/// The stores named in `text`.
fn chosen(text: &str) -> Result<Vec<&'static str>, String> {
    let find = |name: &str| {
        let found = NAMES.iter().copied().find(|it| *it == name);
        found.ok_or(format!("no store {name:?}; there are: {}", NAMES.join(", ")))
    };
    text.split(',').filter(|name| !name.is_empty()).map(find).collect()
}

fn compare(args: &Args) -> Outcome<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    let Sizes { keys, asked, add } = args.sizes;
    println!("{}\n", report::machine());
    println!(
        "{keys} keys, {asked} asked for, 3 x {add} added, {} threads, {} rounds, interleaved\n",
        args.threads, args.rounds
    );
    let mut rounds = Vec::new();
    for round in 1..=args.rounds {
        for name in &args.stores {
            eprintln!("round {round}: {name}");
            let directory =
                tempfile::Builder::new().prefix("stores-").tempdir_in(&args.directory)?;
            let taken = pool.install(|| run_round(name, directory.path(), &args.sizes));
            rounds.push((*name, taken.map_err(|error| format!("{name}: {error}"))?));
        }
    }
    print!("{}", report::tables(&args.stores, &rounds, &args.sizes));
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--help" || word == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprint!("stores: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match compare(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stores: {error}");
            ExitCode::FAILURE
        }
    }
}
