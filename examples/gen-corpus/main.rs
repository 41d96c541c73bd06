//! Writes a corpus of crawl-like URIs, and the number of distinct ones at each level.
//!
//! ```sh
//! scripts/gen-corpus --bytes 1G --seed 1 -o crawl.txt --expect crawl.expect.json
//! scripts/gen-corpus --bytes 1G --seed 1 --mix easy -o easy.txt --expect easy.expect.json
//! ```
//!
//! The same arguments give the same bytes on every machine. The counts follow from the construction
//! of the lines, not from reading them: no code of the library takes part.

#[allow(dead_code, reason = "tests/bulk/corpora.rs includes the module too and looks deeper")]
mod generator;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Parser};

use generator::{Counts, Shares, Stream};

/// Lines are buffered up to this many bytes before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// Write crawl-like URIs, one a line, and the expected distinct counts.
#[derive(Parser)]
#[command(group(ArgGroup::new("size").required(true).args(["lines", "bytes", "hostile"])))]
struct Args {
    /// How many lines to write.
    #[arg(long)]
    lines: Option<u64>,
    /// How many bytes to write; the line that reaches it is the last. K, M, G are powers of
    /// 1000, Ki, Mi, Gi of 1024.
    #[arg(long, value_parser = parse_size)]
    bytes: Option<u64>,
    /// Write the fixed corpus of hostile input instead.
    #[arg(long, conflicts_with = "expect")]
    hostile: bool,
    /// The seed of everything.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Shares to start from: crawl (26 % byte duplicates, 14 % equivalents, 40 % of lines to
    /// rewrite, 1 % invalid), easy (36, 4, 10, 1) or clean (26, 0, 0, 0).
    #[arg(long, default_value = "crawl", value_parser = ["crawl", "easy", "clean"])]
    mix: String,
    /// Share of lines that are byte duplicates of an earlier one.
    #[arg(long)]
    duplicates: Option<f64>,
    /// Share of lines that are a new spelling of an earlier URI.
    #[arg(long)]
    equivalents: Option<f64>,
    /// Share of lines that are not in canonical spelling.
    #[arg(long)]
    rewrite: Option<f64>,
    /// Share of lines that RFC 3986 rejects.
    #[arg(long)]
    invalid: Option<f64>,
    /// Where to write the lines; `-` is standard output.
    #[arg(short, long)]
    output: PathBuf,
    /// Where to write the counts, as JSON.
    #[arg(long)]
    expect: Option<PathBuf>,
}

impl Args {
    fn shares(&self) -> Result<Shares, String> {
        let mix = Shares::of_mix(&self.mix).ok_or("no such mix")?;
        let shares = Shares {
            duplicates: self.duplicates.unwrap_or(mix.duplicates),
            equivalents: self.equivalents.unwrap_or(mix.equivalents),
            rewrite: self.rewrite.unwrap_or(mix.rewrite),
            invalid: self.invalid.unwrap_or(mix.invalid),
        };
        shares.fault().map_or(Ok(shares), |fault| Err(fault.to_owned()))
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1000,
        "M" => 1000 * 1000,
        "G" => 1000 * 1000 * 1000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        other => return Err(format!("unknown unit {other}: K, M, G, Ki, Mi or Gi")),
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("gen-corpus: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let shares = args.shares()?;
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let mut out: Box<dyn Write> = if args.output.as_os_str() == "-" {
        Box::new(io::stdout())
    } else {
        Box::new(File::create(&args.output).map_err(at(&args.output))?)
    };
    if args.hostile {
        return out
            .write_all(&generator::hostile::text())
            .and_then(|()| out.flush())
            .map_err(at(&args.output));
    }
    let mut stream = Stream::new(args.seed, shares);
    match write_lines(args, &mut stream, &mut *out) {
        // The reader has closed the pipe.
        //
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        written => written.map_err(at(&args.output))?,
    }
    if let Some(path) = &args.expect {
        fs::write(path, expect_json(args.seed, shares, stream.counts())).map_err(at(path))?;
    }
    Ok(())
}

fn write_lines(args: &Args, stream: &mut Stream, out: &mut dyn Write) -> io::Result<()> {
    let (lines, bytes) = (args.lines.unwrap_or(u64::MAX), args.bytes.unwrap_or(u64::MAX));
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + 4096);
    while stream.counts().records < lines && stream.counts().bytes < bytes {
        stream.write_line(&mut buffer);
        if buffer.len() >= BUFFER_BYTES {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)?;
    out.flush()
}

fn expect_json(seed: u64, shares: Shares, counts: Counts) -> String {
    let Shares { duplicates, equivalents, rewrite, invalid } = shares;
    format!(
        r#"{{
  "seed": {seed},
  "shares": {{ "duplicates": {duplicates}, "equivalents": {equivalents}, "rewrite": {rewrite}, "invalid": {invalid} }},
  "records": {},
  "bytes": {},
  "invalid": {},
  "rewrites": {},
  "distinct": {{ "string": {}, "syntax": {}, "scheme": {} }}
}}
"#,
        counts.records,
        counts.bytes,
        counts.invalid,
        counts.rewrites,
        counts.string,
        counts.syntax,
        counts.scheme
    )
}
