//! The peers: programs that do uriscan's main job with popular crates.
//!
//! ```text
//! peers url-set      [-o OUT] FILE          `url` + std HashSet, one thread, key: WHATWG serialization
//! peers fluent-rayon [-j N] [-o OUT] FILE   `fluent-uri` + 128-bit hashes in sharded sets on rayon
//! peers micro [--lines N] [--rounds N] [--json] FILE   ns per URI of each engine, one thread
//! ```
//!
//! Both deduplicating peers write the original line of the first reference seen of each class to
//! standard output (or OUT) and `distinct N` to standard error. Their definition of a record is
//! uriscan's (see [`lines`]), so that the counts are comparable; the definition of equivalence is
//! each peer's own. Usage errors and I/O errors exit with 2.

mod engines;
mod fluent_rayon;
mod lines;
mod micro;
mod url_set;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

// For every peer, since all of them allocate a string per URI: the most favourable choice for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
usage: peers url-set [-o OUT] FILE
       peers fluent-rayon [-j THREADS] [-o OUT] FILE
       peers micro [--lines N] [--rounds N] [--json] FILE
";

/// The command line, with defaults filled in.
struct Args {
    file: PathBuf,
    out: Option<PathBuf>,
    threads: usize,
    lines: usize,
    rounds: usize,
    json: bool,
}

impl Args {
    /// Parses the arguments after the subcommand; an error is one sentence for the user.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let mut args = Args {
            file: PathBuf::new(),
            out: None,
            threads: 2,
            lines: 200_000,
            rounds: 7,
            json: false,
        };
        let mut file = None;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "-o" => args.out = Some(value()?.into()),
                "-j" => args.threads = positive(&value()?)?,
                "--lines" => args.lines = positive(&value()?)?,
                "--rounds" => args.rounds = positive(&value()?)?,
                "--json" => args.json = true,
                _ if word.starts_with('-') => return Err(format!("unknown option {word}")),
                _ if file.is_some() => return Err("more than one FILE".into()),
                _ => file = Some(word.into()),
            }
        }
        args.file = file.ok_or("FILE is missing")?;
        Ok(args)
    }

    /// The output for the kept lines. Unbuffered: the peers write large chunks.
    fn sink(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(match &self.out {
            Some(path) => Box::new(File::create(path)?),
            // A plain file handle: `Stdout` would search every chunk for line ends.
            None => Box::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)),
        })
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{text:?} is not a positive number")),
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let args = match Args::parse(words) {
        Ok(args) => args,
        Err(message) => return usage(&message),
    };
    let distinct = match command.as_str() {
        "url-set" => args.sink().and_then(|out| url_set::dedup(&args.file, out).map(Some)),
        "fluent-rayon" => args.sink().and_then(|out| {
            fluent_rayon::dedup(&args.file, args.threads, fluent_rayon::CHUNK_BYTES, out).map(Some)
        }),
        "micro" => micro::run(&args.file, args.lines, args.rounds, args.json).map(|()| None),
        _ => return usage(&format!("unknown command {command:?}")),
    };
    match distinct {
        Ok(count) => {
            if let Some(count) = count {
                eprintln!("distinct {count}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("peers: {}: {error}", args.file.display());
            ExitCode::from(2)
        }
    }
}

fn usage(message: &str) -> ExitCode {
    eprint!("peers: {message}\n{USAGE}");
    ExitCode::from(2)
}
