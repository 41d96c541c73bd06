//! Runs a plan: opens what it reads and writes, does its work, puts the results in place, and says what happened.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use crate::account::Account;
use crate::advice;
use crate::aliases;
use crate::exit::{Failure, Outcome};
use crate::inputs::{self, Inputs, StdinHead};
use crate::job::Done;
use crate::lists::{self, SkippedSoFar};
use crate::output::{Content, Destination, PathConflicts, write_text};
use crate::plan::Plan;
use crate::report;
use crate::session::{self, Session, Unread, Work, print_summary};
use crate::sets::records::{self, SetAtWork};
use crate::summary::Summary;
use crate::tables;

/// Runs the plan; its summary is in `account` if it was done.
/// On error, no file has changed.
pub(crate) fn run(mut plan: Plan, account: &mut Account) -> Result<Outcome, Failure> {
    if let Some(text) = &plan.job.answer {
        return write_text(text, &plan.output);
    }
    find_inputs(&mut plan)?;
    let conflicts = session::path_conflicts(&plan).inspect_err(|_| account.has_conflict = true)?;
    let started = Instant::now();
    if plan.table.is_none() {
        aliases::read(&mut plan)?;
    }
    let plan = &plan;
    let (skipped, mut unread) = (Arc::default(), Unread::default());
    let (work, total_bytes, stdin_head) = open(plan, &conflicts, &skipped, &mut unread)?;
    let mut set = records::open(plan.set.as_ref(), plan.job.meaning(), plan.job.limit.as_ref())?;
    let mut session = Session::open(plan, total_bytes)?;
    let done = session.work(work, set.as_mut(), &mut unread);
    session.end_progress();
    let mut done = match done {
        Ok(done) => done,
        Err(stop) => return session.stopped(stop),
    };
    lists::add_filtered(&mut done.report, &skipped);
    if let Err(error) = write_page(plan, &mut session, &done, started) {
        return session.unwritten(error);
    }
    if done.learned.as_ref().is_some_and(|learned| learned.read.telling == 0) {
        session.keep_rules()?;
    }
    // The results must be durable before the set changes, since its keys are never written again.
    if !session.commit(&done.report, set.as_ref().is_some_and(SetAtWork::is_changed))? {
        return Ok(Outcome::ReaderGone);
    }
    let set = set.map(SetAtWork::finish).transpose()?.flatten();
    if let Some(change) = set.filter(|change| change.is_removal) {
        write_text(&change.to_string(), &Destination::Stdout)?;
    }
    let Done { report, findings, learned, is_fine, .. } = done;
    let elapsed = started.elapsed();
    let summary = Summary { plan, report, findings, learned, set, elapsed };
    account.summary = Some(summary.fields());
    let is_summarized = print_summary(plan, &summary);
    advice::print_all(plan, &report, (&stdin_head, unread.count), is_summarized);
    let faults = lists::report_skipped(plan, &report, &skipped);
    let is_fine = is_fine.unwrap_or(report.invalid.total() == 0 || !plan.strict);
    Ok(match unread.count + faults {
        0 if is_fine => Outcome::Done,
        0 => Outcome::SomeInvalid,
        _ => Outcome::SomeUnread,
    })
}

/// The sources or tables of `plan`, how many bytes they have, if that is known, and where the beginning of standard input is
/// kept.
fn open(
    plan: &Plan,
    conflicts: &PathConflicts,
    skipped: &SkippedSoFar,
    unread: &mut Unread,
) -> Result<(Work, Option<u64>, StdinHead), Failure> {
    if let Some(table) = &plan.table {
        let (work, total_bytes) = tables::open(plan, table)?;
        return Ok((Work::Tables(Box::new(work)), total_bytes, StdinHead::default()));
    }
    let opened = lists::open(plan, conflicts, skipped, unread)?;
    let Inputs { sources, total_bytes, stdin_head, .. } = opened;
    Ok((Work::Lists(sources), total_bytes, stdin_head))
}

/// Replaces directories, prefixes and patterns by the files and objects that they select.
fn find_inputs(plan: &mut Plan) -> Result<(), Failure> {
    if plan.table.is_some() || plan.column.is_some() {
        return tables::find(plan);
    }
    plan.inputs = inputs::with_listed(&plan.inputs)?;
    Ok(())
}

/// Writes the page about the run, if it is asked for.
fn write_page(
    plan: &Plan,
    session: &mut Session<'_>,
    done: &Done,
    started: Instant,
) -> io::Result<()> {
    let Some(page) = session.side.get_mut(&Content::Report) else { return Ok(()) };
    let (report, findings, elapsed) = (done.report, done.findings, started.elapsed());
    let summary = Summary { plan, report, findings, learned: None, set: None, elapsed };
    page.write_all(report::page(done, &summary).as_bytes())
}
