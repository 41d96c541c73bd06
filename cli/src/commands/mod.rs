//! The commands: what the arguments of each mean, and its [`crate::job::Job`].

mod audit;
mod census;
mod check;
mod dedup;
mod explain;
mod extract;
mod key;
mod learn;
mod legacy;
mod normalize;
mod parse;
mod resolve;
mod set;
mod table;
mod top;

use crate::account::Account;
use crate::args::{Cli, Command, Set};
use crate::environment::Environment;
use crate::exit::{Failure, Outcome};
use crate::{pages, rules, run, sets};

/// Runs `cli` in `environment`; `account` gets the summary of a run that was done.
pub(crate) fn run(
    mut cli: Cli,
    environment: &Environment,
    account: &mut Account,
) -> Result<Outcome, Failure> {
    let table = table::Typed::of(&mut cli.command);
    let mut plan = match cli.command {
        Command::Rules(typed) => return rules::run(typed),
        Command::Help(typed) => return pages::help(&typed),
        Command::Completions(typed) => return pages::completions(&typed),
        Command::Man(typed) => return pages::man(&typed),
        Command::Set(Set { command }) if !command.reads_uris() => return sets::run(&command),
        Command::Set(Set { command }) => command.plan(environment)?,
        Command::Dedup(typed) => typed.plan(environment)?,
        Command::Normalize(typed) => typed.plan(environment)?,
        Command::Key(typed) => typed.plan(environment)?,
        Command::Parse(typed) => typed.plan(environment)?,
        Command::Check(typed) => typed.plan(environment)?,
        Command::Audit(typed) => typed.plan(environment)?,
        Command::Census(typed) => typed.plan(environment)?,
        Command::Top(typed) => typed.plan(environment)?,
        Command::Explain(typed) => typed.plan(environment)?,
        Command::Learn(typed) => typed.plan(environment)?,
        Command::Resolve(typed) => typed.plan(environment)?,
        Command::Extract(typed) => typed.plan(environment)?,
    };
    table.add_to(&mut plan, environment)?;
    run::run(plan, account)
}
