//! The speed of each floor, with its answers asserted.
//!
//! `cargo bench --features arrow` measures all. A filter that begins with the name of a floor, like `index` or `^index/`,
//! makes the others not even prepare their input.

mod audit;
mod classify;
mod columns;
mod corpus;
mod disk_set;
mod end_to_end;
mod extract;
mod index;
mod key;
mod normalize;
mod parse;
mod resolve;
mod rules;
mod set;

use criterion::Criterion;

/// The program's allocator, so that the benches measure the same code.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A floor, and what measures it.
type Floor = (&'static str, fn(&mut Criterion));

/// Names of groups, and what measures them.
const FLOORS: [Floor; 13] = [
    ("classify", classify::classify),
    ("index", index::index),
    ("parse", parse::parse_all),
    ("normalize", normalize::normalize_all),
    ("resolve", resolve::resolve_all),
    ("rules", rules::rules),
    ("audit", audit::audits),
    ("extract", extract::extract),
    ("key", key::keys),
    ("set", set::set),
    ("disk-set", disk_set::disk_set),
    ("columns", columns::columns),
    ("end-to-end", end_to_end::end_to_end),
];

fn main() {
    // What an argument begins with, where it may be a filter.
    let begins = |arg: String| arg.trim_start_matches('^').split('/').next().map(str::to_owned);
    let named: Vec<String> = std::env::args().skip(1).filter_map(begins).collect();
    let is_named = |name: &str| named.iter().any(|other| other == name);
    let is_any_named = FLOORS.iter().any(|(name, _)| is_named(name));
    let mut criterion = Criterion::default().configure_from_args();
    for (name, measure) in FLOORS {
        if !is_any_named || is_named(name) {
            measure(&mut criterion);
        }
    }
    criterion.final_summary();
}
