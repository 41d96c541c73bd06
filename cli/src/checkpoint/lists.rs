//! Lists, group by group.

use std::ops::Range;
use std::path::Path;

use uriscan::io::Source;
use uriscan::pipeline::{self, DedupOptions, Error, Report, Seen, Settings, Sinks};

use super::note::Fact;
use super::{Grouped, rename};
use crate::config::{Config, Job};
use crate::exit::Failure;
use crate::inputs::Input;
use crate::output::Destination;

/// The lists of a run.
pub(crate) struct Lists<'a> {
    options: &'a DedupOptions,
    settings: &'a Settings,
    inputs: &'a [Input],
    output: &'a Destination,
}

impl<'a> Lists<'a> {
    /// The lists of `config`, which plain `dedup` is to read.
    ///
    /// # Errors
    /// When the job is another one.
    pub(crate) fn new(config: &'a Config) -> Result<Lists<'a>, Failure> {
        let Job::Dedup(options) = &config.job else {
            return Err(Failure::at("--checkpoint", "works with plain dedup"));
        };
        let Config { settings, inputs, output, .. } = config;
        Ok(Lists { options, settings, inputs, output })
    }
}

impl Grouped for Lists<'_> {
    fn facts(&self) -> Vec<Fact> {
        let Settings { record_end, max_record, redact, .. } = *self.settings;
        vec![
            ("-o", destination(self.output)),
            ("--emit", format!("{:?}", self.options.emit).to_lowercase()),
            ("--on-invalid", format!("{:?}", self.options.on_invalid).to_lowercase()),
            ("the record end", record_end.to_string()),
            ("the longest record", max_record.to_string()),
            ("--redact", redact.to_string()),
        ]
    }

    fn run(
        &mut self,
        files: Range<usize>,
        seen: Seen<'_>,
        mut sinks: Sinks<'_>,
        part: &Path,
    ) -> Result<Report, Failure> {
        let sources = self.inputs[files].iter().filter_map(Input::path).map(Source::file).collect();
        let done = pipeline::dedup_unseen(sources, self.options, seen, self.settings, &mut sinks);
        done.map_err(|error| match error {
            Error::Write(error) => Failure::at(part.display(), error),
            error => Failure::new(error.to_string()),
        })
    }

    fn finish(&mut self, part: &Path, _ends: &[u64], output: &Path) -> Result<(), Failure> {
        rename(part, output)
    }
}

/// The name of the output in a note.
pub(crate) fn destination(output: &Destination) -> String {
    match output {
        Destination::File(path) => path.display().to_string(),
        Destination::Directory(path) => path.display().to_string(),
        Destination::Prefix(url) => url.to_string(),
        Destination::Remote(url) => url.to_string(),
        Destination::Stdout => "-".to_owned(),
    }
}
