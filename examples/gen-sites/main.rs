//! Writes what a crawler would have fetched of sites whose rules are known: rows of a URL and a digest.
//!
//! ```sh
//! cargo run --release --example gen-sites -- --sites 1000 --pages 200 > sites.tsv
//! ```
//!
//! The same arguments give the same bytes on every machine.

#[allow(dead_code, reason = "tests/bulk/learn.rs includes the module too and looks deeper")]
mod sites;

use std::io::{self, BufWriter, Write};

use clap::Parser;

use sites::Site;

/// Write rows of a URL and a digest, with a tab between them.
#[derive(Parser)]
struct Args {
    /// How many sites.
    #[arg(long, default_value_t = 100)]
    sites: u64,
    /// How many pages each has.
    #[arg(long, default_value_t = 200)]
    pages: u32,
    /// The seed of everything.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Three of ten sites are hostile: one page for everything, a new page each time, or any page.
    #[arg(long)]
    hostile: bool,
    /// Pages of a thousand that change without being seen to.
    #[arg(long, default_value_t = 0)]
    noise: u32,
}

fn main() -> io::Result<()> {
    let Args { sites, pages, seed, hostile, noise } = Args::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut done = Ok(());
    for number in 0..sites {
        Site::new(seed, number, hostile, noise).rows(pages, |(url, digest)| {
            if done.is_ok() {
                done = writeln!(out, "{url}\t{digest}");
            }
        });
    }
    done.and_then(|()| out.flush())
}
