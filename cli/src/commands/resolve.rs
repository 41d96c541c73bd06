//! `uriscan resolve`.

use uriscan::resolve;
use uriscan::rfc2396::Grammar;
use uriscan_bulk::io::Fields;
use uriscan_bulk::pipeline::{self, Against, ResolveOptions};

use crate::args;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::job::{Job, Run, Writes};
use crate::options::{base, on_invalid, suffix, without_repairs};
use crate::plan::Plan;

impl args::Resolve {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        if self.grammar.grammar != Grammar::Rfc3986 {
            without_repairs(self.grammar.grammar, &self.repairs)?;
        }
        if self.filters.scheme.as_deref() == Some("any") {
            let what = "is for links in text; omit it, since every scheme is kept";
            return Err(Failure::at("--scheme any", what));
        }
        let against = against(&self)?;
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let options = ResolveOptions::new(against)
            .same_document(self.same_document)
            .on_invalid(on_invalid)
            .repairs(self.repairs.chosen())
            .filter(filters::of_lists(&self.filters)?);
        let job = Job {
            name: "resolve",
            writes: Writes::Records,
            on_invalid: Some(on_invalid),
            fields: match &options.against {
                Against::Fields { fields, .. } | Against::LegacyFields { fields, .. } => {
                    Some(fields.clone())
                }
                Against::Context(_) => None,
            },
            is_in_place: true,
            has_filter: !options.filter.is_empty(),
            ..Job::default()
        };
        let runner = Box::new(move |Run { sources, settings, sinks, .. }: Run<'_, '_>| {
            Ok(pipeline::resolve(sources, &options, settings, sinks)?.into())
        });
        let strict = self.invalid.strictness.strict;
        let mut plan = Plan::of_job((job, runner), rejects, self.common, strict, environment)?;
        plan.evidence.extend(filters::paths(&self.filters).cloned());
        plan.reading_typed(&self.typed)
    }
}

fn against(typed: &args::Resolve) -> Result<Against, Failure> {
    let grammar = typed.grammar.grammar;
    let options = resolve::Options::default().lenient_scheme(typed.lenient_scheme);
    let Some(base_column) = &typed.base_column else {
        return Ok(Against::Context(match (&typed.base, &typed.suffix_scheme) {
            (Some(uri), _) => base(grammar, uri, typed.lenient_scheme, typed.repairs.chosen())?,
            // clap requires one of the three.
            (None, scheme) => suffix(grammar, scheme.as_deref().unwrap_or_default())?,
        }));
    };
    let reference_column = typed.reference_column.as_deref();
    let fields = match typed.from.unwrap_or_default() {
        args::RowsFormat::Tsv => {
            let base = column("--base-column", base_column)?;
            let reference = match reference_column {
                Some(field) => column("--reference-column", field)?,
                None if base == 2 => 1,
                None => 2,
            };
            Fields::Tsv { base, reference }
        }
        args::RowsFormat::Jsonl => Fields::Jsonl {
            base: base_column.clone(),
            reference: reference_column.unwrap_or("reference").to_owned(),
        },
    };
    Ok(match grammar.legacy() {
        None => Against::Fields { fields, options },
        Some(legacy) => {
            Against::LegacyFields { fields, legacy, lenient_scheme: typed.lenient_scheme }
        }
    })
}

/// The number of a column, from 1.
fn column(option: &str, typed: &str) -> Result<usize, Failure> {
    let number = typed.parse().ok().filter(|&number: &usize| (1..=100_000).contains(&number));
    number.ok_or_else(|| {
        let what = "a column is a number from 1; use --from jsonl for names";
        Failure::at(format_args!("{option} {}", typed.escape_debug()), what)
    })
}
