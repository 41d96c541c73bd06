//! The program `uriscan`: the arguments ([`args`]) of a command ([`commands`]) become a [`plan`] with its [`job`], which is
//! [`run`] in a [`session`] on [`lists`] or [`tables`], and ends in an exit code ([`exit`]). It uses the public interface of
//! the library; only the program prints, reads the environment and handles signals.

mod account;
mod advice;
mod aliases;
mod args;
mod bar;
mod bases;
mod commands;
mod documents;
mod environment;
mod exit;
mod filters;
mod grammar;
mod hint;
mod inputs;
mod interrupt;
mod job;
mod lists;
mod memory;
mod nearest;
mod options;
mod output;
mod pages;
mod plan;
mod progress;
#[cfg_attr(not(feature = "full"), path = "absent/remote.rs")]
mod remote;
mod report;
mod rows;
mod rule_choice;
mod rules;
mod run;
mod session;
mod sets;
mod side_outputs;
mod summary;
mod table;
#[cfg_attr(not(feature = "full"), path = "absent/tables.rs")]
mod tables;
mod top;
mod topics;
mod version;

use std::process::ExitCode;

use account::Account;

/// mimalloc serves many small buffers of several threads without contention. Its huge pages are disabled (`no_thp`), as they
/// use memory that is never touched; hash tables request their own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "fault-injection")]
    follow_faults();
    interrupt::watch();
    let environment = environment::Environment::of_process();
    let typed: Vec<_> = std::env::args_os().collect();
    let (cli, stats_file) =
        args::Cli::from_args(&typed, version::long(&environment), account::of_refused);
    let mut account = match Account::open(stats_file) {
        Ok(account) => account,
        Err(failure) => return exit::code(Err(failure)),
    };
    let result = commands::run(cli, &environment, &mut account);
    let written = account.write(&typed, &result);
    // The first failure is the one that matters.
    exit::code(result.and_then(|outcome| written.map(|()| outcome)))
}

/// Makes calls of the system fail, as URISCAN_FAULTS says.
#[cfg(feature = "fault-injection")]
fn follow_faults() {
    use uriscan_files::faults;
    if let Ok(text) = std::env::var("URISCAN_FAULTS") {
        faults::start(faults::Plan::from_text(&text).expect("a plan of faults"));
    }
}
