//! `--report`: a page about a run, complete in itself: no scripts, no network, nothing beside it.
//!
//! The run itself makes what the page shows ([`uriscan_bulk::pipeline::Survey`]). Here it becomes HTML ([`html`]): a sentence about
//! the run ([`verdict`]), its figures ([`facts`]), what is equivalent ([`groups`]), what URIs are made of ([`parts`]), what is
//! wrong ([`findings`]), and how the run was made ([`about`]). All lists are cut, and everything from outside is shortened, so a
//! page has a bounded size.

mod about;
mod chart;
mod difference;
mod facts;
mod findings;
mod groups;
mod html;
mod parts;
mod verdict;

use std::time::SystemTime;

use uriscan::set::Timestamp;

use crate::job::Done;
use crate::summary::Summary;
use html::{Escaped, Section};

/// The page about a run that was `done`, with this `summary`.
pub(crate) fn page(done: &Done, summary: &Summary<'_>) -> String {
    let command = summary.plan.job.name;
    let verdict = verdict::verdict(done, summary);
    let sections: Vec<Section> = sections(done, summary);
    let links: String = sections
        .iter()
        .map(|Section { id, heading, .. }| {
            format!("<li><a href=\"#{id}\">{}</a></li>", Escaped(heading))
        })
        .collect();
    let time = Timestamp::of(SystemTime::now());
    let mut body = format!(
        "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n<h1>uriscan {command}</h1>\n\
         <p class=\"verdict\">{}</p>\n{}",
        Escaped(&verdict),
        about::run(summary, time),
    );
    body += &facts::facts(summary);
    body += &format!(
        "<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n</header>\n<main id=\"content\">\n"
    );
    body += &sections.iter().map(Section::html).collect::<String>();
    body += "</main>\n<footer>Passwords and secret parameters are masked. This page loads nothing and runs nothing.</footer>\n";
    html::page(&format!("uriscan {command}: {verdict}"), &body)
}

/// The sections that have something to show.
fn sections(done: &Done, summary: &Summary<'_>) -> Vec<Section> {
    let plan = summary.plan;
    let mut all = vec![done.census.as_ref().and_then(groups::ladder)];
    let overview = done.overview.as_ref();
    if let Some(groups) = overview.and_then(|overview| overview.groups.as_ref()) {
        all.push(groups::merges(groups, summary));
        all.push(groups::largest(groups, summary.report.records));
        all.push(groups::traps(groups));
    }
    if let (Some(counts), Some(overview)) = (&done.findings, overview) {
        all.push(findings::findings(plan, counts, &overview.findings));
    }
    all.push(done.top.as_ref().and_then(|top| parts::own(top, plan)));
    if let Some(overview) = overview {
        all.push(parts::parts(overview));
        all.push(parts::shapes(overview));
        all.push(findings::invalid(plan, &summary.report.invalid, &overview.faults));
    }
    all.push(about::sources(plan));
    all.push(Some(about::terms(plan)));
    all.into_iter().flatten().collect()
}
