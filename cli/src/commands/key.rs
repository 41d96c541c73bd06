//! `uriscan key`.

use uriscan::Error;
use uriscan::key::{Hasher, PublicHash};
use uriscan::profile::Profile;
use uriscan::rfc2396::Grammar;
use uriscan::surt::Form;
use uriscan_bulk::pipeline::{self, Equivalence, OnInvalid};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Aliased, Answer, Done, Job, Run, Writes};
use crate::options::{by_profile, equivalence_by, on_invalid};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, Form as RowForm, TableUse, Task};

impl args::Key {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let form = key_form(self.grammar.grammar, self.form, self.hash)?;
        if matches!(form, KeyForm::Surt(_)) && self.profile.profile == Some(Profile::Surt) {
            let what = "surt cannot be combined with surt forms of --as; use --as url";
            return Err(Failure::at("--profile", what));
        }
        let job: Box<dyn Job> = match self.context {
            true => {
                let context = equivalence.key_context();
                let text = context.map_or(String::new(), |context| format!("{context}\n"));
                Box::new(Answer { command: "key", text })
            }
            false => Box::new(Keys { equivalence, form, on_invalid }),
        };
        let strict = self.invalid.strictness.strict;
        let plan = Plan::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.with_evidence(&self.equivalence)?
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
}

/// What `key` writes for a record.
#[derive(Clone, Copy, Debug)]
enum KeyForm {
    Hex(PublicHash),
    Url,
    Surt(Form),
}

/// The form of the keys.
fn key_form(grammar: Grammar, typed: args::KeyForm, hash: args::Hash) -> Result<KeyForm, Failure> {
    if typed != args::KeyForm::Hex && hash != args::Hash::default() {
        return Err(Failure::at("--hash", "requires --as hex"));
    }
    let is_surt = !matches!(typed, args::KeyForm::Hex | args::KeyForm::Url);
    if is_surt && grammar != Grammar::Rfc3986 {
        let what = "surt forms require rfc3986; use --as hex or url";
        return Err(Failure::at(format_args!("--grammar {grammar}"), what));
    }
    Ok(match typed {
        args::KeyForm::Hex => KeyForm::Hex(hash.public()),
        args::KeyForm::Url => KeyForm::Url,
        args::KeyForm::Cdxj => KeyForm::Surt(Form::Cdxj),
        args::KeyForm::Ia => KeyForm::Surt(Form::Ia),
        args::KeyForm::Ssurt => KeyForm::Surt(Form::Ssurt),
    })
}

/// Writes keys.
#[derive(Debug)]
struct Keys {
    equivalence: Equivalence,
    form: KeyForm,
    on_invalid: OnInvalid,
}

impl Job for Keys {
    fn name(&self) -> &'static str {
        "key"
    }

    fn writes(&self) -> Writes {
        Writes::Records
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let Keys { equivalence, form, on_invalid } = self;
        let report = match *form {
            KeyForm::Hex(hash) => {
                pipeline::keys(sources, equivalence, hash, *on_invalid, settings, sinks)?
            }
            KeyForm::Url => {
                pipeline::normalize(sources, equivalence, *on_invalid, settings, sinks)?
            }
            KeyForm::Surt(form) => {
                pipeline::surts(sources, equivalence, form, *on_invalid, settings, sinks)?
            }
        };
        Ok(report.into())
    }

    fn equivalence(&self) -> Option<&Equivalence> {
        Some(&self.equivalence)
    }

    fn equivalence_mut(&mut self) -> Option<&mut Equivalence> {
        Some(&mut self.equivalence)
    }

    fn on_invalid(&self) -> Option<OnInvalid> {
        Some(self.on_invalid)
    }

    fn aliased(&mut self) -> Option<Aliased<'_>> {
        let equivalence = &mut self.equivalence;
        Some(Aliased { equivalence, hasher: Hasher::random(), keeps: true })
    }

    fn hash(&self, _: bool) -> Option<PublicHash> {
        match self.form {
            KeyForm::Hex(hash) => Some(hash),
            KeyForm::Url | KeyForm::Surt(_) => None,
        }
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let mut columns = Columns::new(self.equivalence.clone());
        let form = match self.form {
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
