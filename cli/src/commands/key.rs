//! The plan of `uriscan key`.

use uriscan::grammar::Grammar;
use uriscan::profile::Profile;
use uriscan::surt::Form;

use crate::args;
use crate::config::{Config, Job, KeyForm, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{by_profile, equivalence_by, on_invalid};

impl args::Key {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let form = key_form(self.grammar.grammar, self.form, self.hash)?;
        if matches!(form, KeyForm::Surt(_)) && self.profile.profile == Some(Profile::Surt) {
            let what = "surt cannot be combined with surt forms of --as; use --as url";
            return Err(Failure::at("--profile", what));
        }
        let job = match self.context {
            true => Job::KeyContext(equivalence.key_context()),
            false => Job::Key { equivalence, form, on_invalid },
        };
        let strict = self.invalid.strictness.strict;
        let config = Config::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        config
            .with_evidence(&self.equivalence)?
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
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
