//! The `uriscan` program: arguments as typed ([`args`]) become a plan ([`config`], [`options`]), which is carried
//! out ([`run`]) and ends in an exit code ([`exit`]). It sees the library's public interface only, and
//! is the only one to print, to read the environment and to look at terminals.

mod aliases;
mod args;
mod checkpoint;
mod commands;
mod config;
mod documents;
mod environment;
mod exit;
mod grammar;
mod hint;
mod inputs;
mod interrupt;
mod memory;
mod options;
mod output;
mod progress;
mod rule_choice;
mod rules;
mod run;
mod session;
mod sets;
mod summary;
mod table;
#[cfg(feature = "parquet")]
mod tables;
mod version;

use std::process::ExitCode;

/// Many small buffers of several threads: mimalloc serves them without contention. Without its huge pages (`no_thp`), which
/// take memory for what is never touched; tables that are probed at random ask for their own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interrupt::watch();
    let environment = environment::Environment::of_process();
    let cli = args::Cli::from_process(version::long(&environment));
    exit::code(commands::run(cli, &environment))
}
