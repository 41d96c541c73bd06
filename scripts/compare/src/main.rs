//! The peers: what users pick today for what uriscan does, with popular crates.
//!
//! Those that deduplicate write the original line of the first reference seen of each class to standard output, and
//! `distinct N` to standard error. Their definition of a record is uriscan's (see [`lines`]), so that the counts are
//! comparable; the definition of equivalence is each peer's own. Those that run in rounds print rows for
//! `scripts/measure.py` (see [`rounds`]). Errors exit with 2.

mod extract;
mod lines;
mod rounds;
mod sharded;
mod stores;
mod url_set;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use rounds::Outcome;

// For every peer, since most of them allocate a string per URI: the most favourable choice for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
usage: peers url-set FILE                     `url` and a HashSet of serializations, one thread
       peers fluent|ada [--threads N] FILE    `fluent-uri` or `ada-url` (feature ada), and sharded sets of 128-bit hashes
       peers text|html|xml|inflate [--rounds N] FILE...    links, one thread, in memory
       peers stores [--keys N] [--asked N] [--add N] [--rounds N] [--threads N] DIRECTORY [STORE...]
";

/// The words after the command.
struct Args {
    words: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Args {
    /// Parses words and options, each of which has a number; an error is one sentence for the user.
    fn parse(mut all: impl Iterator<Item = String>) -> Result<Args, String> {
        let (mut words, mut numbers) = (Vec::new(), BTreeMap::new());
        while let Some(word) = all.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    let value = all.next().and_then(|value| value.parse().ok());
                    numbers.insert(name.to_owned(), value.ok_or(format!("{word} needs a number"))?);
                }
                None => words.push(word),
            }
        }
        if words.is_empty() {
            return Err("a file or directory is missing".into());
        }
        Ok(Args { words, numbers })
    }

    fn number(&self, name: &str, default: usize) -> usize {
        self.numbers.get(name).copied().unwrap_or(default)
    }
}

/// Runs a command; the number of classes if it deduplicates.
fn run(command: &str, args: &Args) -> Outcome<Option<usize>> {
    let path = Path::new(&args.words[0]);
    // A plain file handle: `Stdout` would search every chunk for line ends.
    let out = || io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let (threads, rounds) = (args.number("threads", 2), args.number("rounds", 5));
    let chunk = sharded::CHUNK_BYTES;
    Ok(Some(match command {
        "url-set" => url_set::dedup(path, out()?)?,
        "fluent" => sharded::dedup(path, sharded::by_fluent_uri, threads, chunk, out()?)?,
        #[cfg(feature = "ada")]
        "ada" => sharded::dedup(path, sharded::by_ada, threads, chunk, out()?)?,
        "text" | "html" | "xml" | "inflate" => {
            extract::run(command, &args.words, rounds)?;
            return Ok(None);
        }
        "stores" => {
            let keys = args.number("keys", 10_000_000);
            let sizes = stores::Sizes {
                keys,
                asked: args.number("asked", keys.min(10_000_000)),
                add: args.number("add", keys.min(1_000_000)),
            };
            stores::run(path, &args.words[1..], &sizes, rounds, threads)?;
            return Ok(None);
        }
        _ => return Err(format!("unknown command {command:?}\n{USAGE}").into()),
    }))
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let args = match Args::parse(words) {
        Ok(args) => args,
        Err(message) => {
            eprint!("peers: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&command, &args) {
        Ok(count) => {
            if let Some(count) = count {
                eprintln!("distinct {count}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("peers: {command}: {error}");
            ExitCode::from(2)
        }
    }
}
