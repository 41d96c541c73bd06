//! Tables, to a program that is built without them: it knows the options by name, to say what it lacks.

use std::ffi::OsString;

use clap::Args;

/// What was typed in vain.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TableChoice {
    #[arg(long, hide = true)]
    pub(crate) column: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) sort_by: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) no_uri: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) delimiter: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) quote: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) rows_per_file: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) bytes_per_file: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) partition_by: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) max_partitions: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) no_header: bool,
    #[arg(long, hide = true)]
    pub(crate) no_hive: bool,
}

impl TableChoice {
    /// The first option that was typed.
    pub(crate) fn option(&self) -> Option<&'static str> {
        let typed = [
            (&self.column, "--column"),
            (&self.sort_by, "--sort-by"),
            (&self.no_uri, "--no-uri"),
            (&self.delimiter, "--delimiter"),
            (&self.quote, "--quote"),
            (&self.rows_per_file, "--rows-per-file"),
            (&self.bytes_per_file, "--bytes-per-file"),
            (&self.partition_by, "--partition-by"),
            (&self.max_partitions, "--max-partitions"),
        ];
        let typed = typed.into_iter().find_map(|(value, name)| value.as_ref().map(|_| name));
        let flags = [(&self.no_header, "--no-header"), (&self.no_hive, "--no-hive")];
        typed.or(flags.into_iter().find_map(|(&is_typed, name)| is_typed.then_some(name)))
    }
}
