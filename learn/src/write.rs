//! The text of rules with their proofs, which a rules file has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Proof;
use super::edit::{Edit, params};
use super::host::MOST_HOSTS;
use super::search::Hypothesis;
use uriscan_core::audit::redact_into;
use uriscan_core::rules::quoted;
use uriscan_files::escape::{counted, escaped_bytes};

/// A rule for a host.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) host: Vec<u8>,
    /// The host that it becomes, if that is the rule.
    pub(super) becomes: Option<Vec<u8>>,
    pub(super) hypothesis: Hypothesis,
}

/// Rules that were not proven, which are named for a site.
const MOST_OPEN: usize = 20;

impl Rule {
    /// Its name, as rules are typed.
    pub(super) fn name(&self) -> String {
        let becomes = self.becomes.as_ref();
        let host = becomes.map(|name| format!("{} = {}", text(&self.host), text(name)));
        let edits = self.hypothesis.edits.iter().map(Edit::typed);
        host.into_iter().chain(edits).collect::<Vec<_>>().join(", ")
    }

    /// The name in a comment, with what looks like a secret masked.
    pub(super) fn masked_name(&self) -> String {
        // Secrets are found in the place of values, and in paths.
        const BEFORE: &str = "http://h/?token_of=";
        let mut masked = Vec::new();
        redact_into(format!("{BEFORE}{}", self.name()).as_bytes(), &mut masked);
        match masked.strip_prefix(BEFORE.as_bytes()) {
            Some(name) => text(name),
            None => text(&masked),
        }
    }

    /// The table of it with its proof, for a list of `hosts` as it is written.
    fn proven(&self, hosts: &str, proof: &Proof) -> String {
        let mut out = format!("\n# {}: {}\n", self.name(), self.support(proof));
        self.examples(&mut out);
        table(&mut out, hosts, self.becomes.as_deref(), self.hypothesis.edits.iter());
        out
    }

    fn support(&self, proof: &Proof) -> String {
        let trial = &self.hypothesis.trial;
        let pooled = self
            .hypothesis
            .pool
            .map_or(String::new(), |pool| format!(" on {} together", counted(pool.hosts, "host")));
        let declared = if self.hypothesis.is_declared { "declared in robots.txt; " } else { "" };
        format!(
            "{declared}{} joined rightly, {} wrongly{pooled}, precision at least {:.4}; saves {}",
            counted(trial.right, "page"),
            trial.wrong,
            proof.bound(trial),
            counted(trial.saved, "fetch").replace("fetchs", "fetches"),
        )
    }

    fn examples(&self, out: &mut String) {
        let Hypothesis { example, counterexample, .. } = &self.hypothesis;
        for (what, pair) in [("same:  ", example), ("differ:", counterexample)] {
            if let Some((a, b)) = pair {
                let (one, mut other) = (shown(a), shown(b));
                if one == other {
                    other = "the same with another value".to_owned();
                }
                let _ = writeln!(out, "#   {what} {one}\n#           {other}");
            }
        }
    }
}

/// The tables of `rules`, one for each host, and one for each host that becomes another one.
pub(super) fn tables<'r>(rules: impl Iterator<Item = &'r Rule>) -> String {
    let (mut out, mut by_host) = (String::new(), BTreeMap::<&[u8], BTreeSet<&Edit>>::new());
    for Rule { host, becomes, hypothesis } in rules {
        match becomes {
            Some(name) => table(&mut out, &list([host]), Some(name), hypothesis.edits.iter()),
            None => by_host.entry(host).or_default().extend(&hypothesis.edits),
        }
    }
    for (host, edits) in by_host {
        table(&mut out, &list([host]), None, edits.iter().copied());
    }
    out
}

/// Appends the tables of what is done on `hosts`, a list as it is written.
fn table<'e>(
    out: &mut String,
    hosts: &str,
    becomes: Option<&[u8]>,
    edits: impl Iterator<Item = &'e Edit> + Clone,
) {
    let is_plain = |edit: &&Edit| edit.conditional().is_none();
    if becomes.is_some() || edits.clone().any(|edit| is_plain(&edit)) {
        let _ = writeln!(out, "[[site]]\nhosts = [{hosts}]");
        if let Some(name) = becomes {
            let _ = writeln!(out, "host = {}", quoted(&text(name)));
        }
        let plain = || edits.clone().filter(is_plain);
        let rules = plain().filter(|edit| edit.pattern().is_none()).map(Edit::typed);
        field(out, "rules", rules);
        field(out, "drop", plain().filter_map(Edit::pattern));
    }
    for (condition, patterns) in edits.filter_map(Edit::conditional) {
        out.push_str(&params(Some(hosts), &condition, &patterns));
    }
}

/// How many tables the file has for `rules`.
pub(super) fn tables_of(rules: &[Rule]) -> usize {
    let pooled = rules.iter().filter(|rule| rule.hypothesis.pool.is_some());
    let distinct: BTreeSet<&[Edit]> =
        pooled.clone().map(|rule| &rule.hypothesis.edits[..]).collect();
    rules.len() - pooled.count() + distinct.len()
}

/// Appends the tables of `rules` with their proofs: one for all hosts of a pool, and of the site called `name` if nothing of it was
/// taken back.
fn proven_rules(
    out: &mut String,
    name: &[u8],
    (rules, taken_back): (&[Rule], &[Rule]),
    proof: &Proof,
) {
    let mut pools: BTreeMap<&[Edit], Vec<&[u8]>> = BTreeMap::new();
    for Rule { host, hypothesis, .. } in rules {
        if let Some(pool) = hypothesis.pool {
            pools.entry(&hypothesis.edits).or_default().extend(pool.is_shown.then_some(&host[..]));
        }
    }
    let is_taken = |edits: &[Edit]| {
        taken_back.iter().any(|it| it.hypothesis.pool.is_some() && it.hypothesis.edits == edits)
    };
    for rule in rules {
        let edits = &rule.hypothesis.edits[..];
        let hosts = match rule.hypothesis.pool {
            None => list([&rule.host]),
            // The first rule of a pool is written for all of them.
            Some(pool) => match pools.remove(edits) {
                Some(_) if pool.is_wide && !is_taken(edits) => {
                    quoted(&format!("site:{}", text(name)))
                }
                Some(hosts) if !hosts.is_empty() => list(hosts),
                _ => continue,
            },
        };
        out.push_str(&rule.proven(&hosts, proof));
    }
}

/// What there is to say about a site besides its rules.
pub(super) struct About<'t> {
    pub(super) name: &'t [u8],
    pub(super) urls: u64,
    /// URLs with different contents at different times.
    pub(super) volatile: u64,
    /// URLs whose content is that of many pages.
    pub(super) shared: u64,
    /// All of its rows were read.
    pub(super) is_whole: bool,
    /// Hosts with one page for everything.
    pub(super) uniform: &'t [&'t [u8]],
    /// Hosts with servers on several ports.
    pub(super) ported: &'t [&'t [u8]],
    /// Hosts that are too many to be learned from.
    pub(super) left_out: u64,
}

/// The part of a file about a site: its rules, with what there is to say about it, and what is not proven; nothing if there is nothing to
/// say.
pub(super) fn site(
    about: &About<'_>,
    (rules, taken_back, open): (&[Rule], &[Rule], &[Rule]),
    proof: &Proof,
) -> [String; 2] {
    let About { name, urls, volatile, shared, is_whole, uniform, ported, left_out } = *about;
    let has_rules = !(rules.is_empty() && taken_back.is_empty() && open.is_empty());
    if is_whole && !has_rules && uniform.is_empty() && ported.is_empty() && left_out == 0 {
        return Default::default();
    }
    let mut out = format!("\n# {}: {}", escaped_bytes(name), counted(urls, "URL"));
    if volatile > 0 {
        let _ = write!(out, ", {volatile} of changing content");
    }
    if shared > 0 {
        let _ = write!(out, ", {shared} with the content of many pages");
    }
    out.push_str(if is_whole {
        "\n"
    } else {
        ", a sample of those that exceed the memory limit\n"
    });
    for name in uniform {
        let _ = writeln!(
            out,
            "# {} has one page for everything, and gets no rules",
            escaped_bytes(name)
        );
    }
    for name in ported {
        let name = escaped_bytes(name);
        let _ = writeln!(out, "# {name} has servers on several ports, and gets no rules");
    }
    if left_out > 0 {
        let hosts = counted(left_out, "host");
        let _ = writeln!(out, "# {hosts} with fewer URLs than {MOST_HOSTS} others get no rules");
    }
    proven_rules(&mut out, name, (rules, taken_back), proof);
    // What is said of a site without rules is left out with what is not proven.
    let about = if rules.is_empty() { std::mem::take(&mut out) } else { String::new() };
    let open = about + &open_rules((taken_back, open), proof);
    [out, open]
}

/// The comments on rules that are not proven.
fn open_rules((taken_back, open): (&[Rule], &[Rule]), proof: &Proof) -> String {
    let mut out = String::new();
    if !taken_back.is_empty() || !open.is_empty() {
        out.push_str("\n# Not proven:\n");
    }
    for rule in taken_back {
        let host = escaped_bytes(&rule.host);
        let _ = writeln!(
            out,
            "# {host}: {}: taken back, as all rules together join different pages",
            rule.masked_name()
        );
    }
    for rule in &open[..open.len().min(MOST_OPEN)] {
        let host = escaped_bytes(&rule.host);
        let _ = write!(out, "# {host}: {}: {}", rule.masked_name(), rule.support(proof));
        match proof.needed(&rule.hypothesis.trial) {
            Some(needed) => _ = writeln!(out, "; {} more would prove it", counted(needed, "page")),
            None => out.push('\n'),
        }
        rule.examples(&mut out);
    }
    if open.len() > MOST_OPEN {
        let _ = writeln!(out, "# and {} more", open.len() - MOST_OPEN);
    }
    out
}

/// A canonical URL in a comment, with its secrets masked.
fn shown(url: &[u8]) -> String {
    const MOST: usize = 300;
    let mut masked = Vec::new();
    redact_into(url, &mut masked);
    let mut shown = escaped_bytes(&masked[..masked.len().min(MOST)]);
    if masked.len() > MOST {
        shown.push_str("...");
    }
    shown
}

/// A name in a canonical URL, which is ASCII.
fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// A list of hosts, without brackets.
fn list(hosts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let hosts = hosts.into_iter().map(|host| quoted(&text(host.as_ref())));
    hosts.collect::<Vec<_>>().join(", ")
}

/// Appends a field with a list of `values`, if there are any.
fn field(out: &mut String, name: &str, values: impl Iterator<Item = String>) {
    let values: Vec<String> = values.map(|value| quoted(&value)).collect();
    if !values.is_empty() {
        let _ = writeln!(out, "{name} = [{}]", values.join(", "));
    }
}
