//! `uriscan help`, `uriscan completions` and `uriscan man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::topics;

/// Explain a topic or a command
///
/// Topics are short pages about what several commands share.
#[derive(Debug, Args)]
#[command(after_long_help = HELP_EXAMPLES)]
pub(crate) struct Help {
    /// A topic, or the names of a command; none for the list of topics
    #[arg(value_name = "TOPIC", value_parser = super::named::suggested(topics::names()))]
    #[arg(hide_possible_values = true)]
    pub(crate) topic: Vec<String>,
}

const HELP_EXAMPLES: &str = "\
Examples:
  $ uriscan help exit-codes | head -1
  Exit codes

  uriscan help                                list the topics
  uriscan help ladder                         which URIs are equivalent
  uriscan help set merge                      as `uriscan set merge --help`

Exit codes: 0 done, 2 error.";

/// Write a completion script for a shell
///
/// The script completes commands, options, and the names of rules, presets, backends and formats.
#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  $ uriscan completions bash | head -1
  _uriscan() {

  uriscan completions bash > ~/.local/share/bash-completion/completions/uriscan
  uriscan completions zsh > ~/.zfunc/_uriscan
  uriscan completions fish > ~/.config/fish/completions/uriscan.fish
  uriscan completions powershell >> $PROFILE
  uriscan completions elvish >> ~/.config/elvish/rc.elv

Exit codes: 0 done, 2 error.";

/// Write man pages: one for each command (section 1) and each topic (section 7)
#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// The directory to write to, which is created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

const MAN_EXAMPLES: &str = "\
Examples:
  $ uriscan man pages && ls pages/uriscan-d*
  pages/uriscan-dedup.1

  uriscan man ~/.local/share/man/man1         for one user
  man ./pages/uriscan-dedup.1                 read one without installing it

Exit codes: 0 done, 2 error.";
