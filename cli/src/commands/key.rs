//! `uriscan key`.

use uriscan::Error;
use uriscan::key::PublicHash;
use uriscan::profile::Profile;
use uriscan::rfc2396::Grammar;
use uriscan::surt::Form;
use uriscan_bulk::pipeline;

use crate::args;
use crate::commands::normalize::of_forms;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Done, Job, Run, Runner};
use crate::options::{by_profile, equivalence_by, on_invalid};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, Form as RowForm, TableUse, Task};

impl args::Key {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let form = key_form(self.grammar.grammar, self.form, self.hash)?;
        if matches!(form, KeyForm::Surt(_)) && self.profile.profile == Some(Profile::Surt) {
            let what = "surt cannot be combined with surt forms of --as; use --as url";
            return Err(Failure::at("--profile", what));
        }
        let job = match self.context {
            true => {
                let context = equivalence.key_context();
                let text = context.map_or(String::new(), |context| format!("{context}\n"));
                Job { name: "key", answer: Some(text), ..Job::default() }
            }
            false => Job {
                hash: match form {
                    KeyForm::Hex(hash) => Some(hash),
                    KeyForm::Url | KeyForm::Surt(_) => None,
                },
                ..of_forms("key", equivalence, on_invalid)
            },
        };
        let strict = self.invalid.strictness.strict;
        let plan = Plan::of_job((job, Box::new(form)), rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.with_evidence(&self.equivalence)?
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
}

/// What `key` writes for a record.
#[derive(Clone, Copy)]
enum KeyForm {
    Hex(PublicHash),
    Url,
    Surt(Form),
}

fn key_form(grammar: Grammar, typed: args::KeyForm, hash: PublicHash) -> Result<KeyForm, Failure> {
    if typed != args::KeyForm::Hex && hash != PublicHash::default() {
        return Err(Failure::at("--hash", "requires --as hex"));
    }
    let is_surt = !matches!(typed, args::KeyForm::Hex | args::KeyForm::Url);
    if is_surt && grammar != Grammar::Rfc3986 {
        let what = "surt forms require rfc3986; use --as hex or url";
        return Err(Failure::at(format_args!("--grammar {grammar}"), what));
    }
    Ok(match typed {
        args::KeyForm::Hex => KeyForm::Hex(hash),
        args::KeyForm::Url => KeyForm::Url,
        args::KeyForm::Cdxj => KeyForm::Surt(Form::Cdxj),
        args::KeyForm::Ia => KeyForm::Surt(Form::Ia),
        args::KeyForm::Ssurt => KeyForm::Surt(Form::Ssurt),
    })
}

impl Runner for KeyForm {
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { job: Job { equivalence, on_invalid, .. }, sources, settings, sinks, .. } = run;
        let on_invalid = on_invalid.unwrap_or_default();
        let report = match *self {
            KeyForm::Hex(hash) => {
                pipeline::keys(sources, equivalence, hash, on_invalid, settings, sinks)?
            }
            KeyForm::Url => pipeline::normalize(sources, equivalence, on_invalid, settings, sinks)?,
            KeyForm::Surt(form) => {
                pipeline::surts(sources, equivalence, form, on_invalid, settings, sinks)?
            }
        };
        Ok(report.into())
    }

    #[cfg(feature = "full")]
    fn row_job(&self, job: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let mut columns = Columns::new(job.equivalence.clone());
        let form = match *self {
            KeyForm::Hex(hash) => {
                columns.hash = hash;
                RowForm::Key
            }
            KeyForm::Url => RowForm::Normalized,
            KeyForm::Surt(form) => RowForm::Surt(form),
        };
        Ok((Task::Form(form), columns))
    }
}
