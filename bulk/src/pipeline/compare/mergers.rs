//! What would make two records equivalent, found by applying it: beyond levels and rules, repairs, a scheme and a base.

use crate::pipeline::Equivalence;
use uriscan_core::context::Context;
use uriscan_core::explain::{Comparer, Merger, mergers};
use uriscan_core::normalize::normalize_exact;
use uriscan_core::repair::{Repair, Repairs};
use uriscan_core::resolve::{BaseUri, Suffix};
use uriscan_core::uri::{Split, split};

/// What would merge `a` and `b`, which differ under `equivalence`: see [`mergers`] for the levels and rules. For
/// records that are not URIs, or have character references, also repairs, the scheme of [`Suffix`] references, and a base
/// that the other record has; with levels and rules where these are not enough.
pub(crate) fn mergers_of(a: &[u8], b: &[u8], equivalence: &Equivalence) -> Vec<Merger> {
    let pair = Pair { texts: [a, b], equivalence };
    let now = pair.targets(equivalence);
    let mut found = pair.mergers(&now, equivalence);
    let mut tried = vec![now];
    let mut changed = Vec::new();
    for other in pair.others() {
        let targets = pair.targets(&other);
        if tried.contains(&targets) {
            continue;
        }
        if pair.merges(&other) {
            let fewest = fewest(equivalence, other, |fewer| pair.merges(fewer));
            found.push(pair.added(&fewest));
            return found;
        }
        changed.push((other, targets.clone()));
        tried.push(targets);
    }
    if !found.is_empty() {
        return found;
    }
    for (other, targets) in changed {
        let more = pair.mergers(&targets, &other);
        if !more.is_empty() {
            let fewest = fewest(equivalence, other, |fewer| pair.targets(fewer) == targets);
            let added = pair.added(&fewest);
            let both = |merger| Merger::All(vec![added.clone(), merger]);
            return more.into_iter().map(both).collect();
        }
    }
    found
}

/// `other` without the repairs that it has beyond those of `equivalence` and that can be spared.
fn fewest(
    equivalence: &Equivalence,
    other: Equivalence,
    is_enough: impl Fn(&Equivalence) -> bool,
) -> Equivalence {
    let more = Repair::ALL.into_iter().filter(|&repair| !equivalence.repairs.has(repair));
    more.fold(other, |other, repair| {
        let fewer = other.clone().repairs(other.repairs.without(repair));
        if is_enough(&fewer) { fewer } else { other }
    })
}

/// A base for two relative references that do not show what theirs is.
const ANY_BASE: &[u8] = b"http://base.example/";

/// Two records that differ under an equivalence.
struct Pair<'a> {
    texts: [&'a [u8]; 2],
    equivalence: &'a Equivalence,
}

impl Pair<'_> {
    fn targets(&self, equivalence: &Equivalence) -> [Vec<u8>; 2] {
        self.texts.map(|text| equivalence.target(text).into_owned())
    }

    fn mergers(&self, [a, b]: &[Vec<u8>; 2], equivalence: &Equivalence) -> Vec<Merger> {
        mergers(a, b, equivalence.normalize, equivalence.rules.as_deref())
    }

    fn merges(&self, equivalence: &Equivalence) -> bool {
        let [a, b] = self.targets(equivalence);
        let rules = equivalence.rules.as_deref();
        Comparer::new(equivalence.normalize, rules).necessary(&a, &b).is_some()
    }

    /// Equivalences with repairs, a scheme and a base, a small number of them: those that change least come first.
    fn others(&self) -> Vec<Equivalence> {
        let usual = self.equivalence.repairs.or(Repairs::usual()).with(Repair::Iri);
        let repairs = [self.equivalence.repairs, usual, usual.with(Repair::Entity)];
        let is_whole = |text: &[u8]| {
            let target = self.equivalence.target(text);
            normalize_exact(&target, self.equivalence.normalize.level, false, &mut Vec::new())
                .is_ok()
                && !repairs[2].change_valid(text)
        };
        if self.texts.iter().all(|text| is_whole(text)) {
            return Vec::new();
        }
        let mut contexts = vec![self.equivalence.context.clone()];
        if self.equivalence.context.is_none() {
            contexts.extend(self.schemes().into_iter().map(|suffix| Some(Context::Suffix(suffix))));
            contexts.extend(self.bases().into_iter().map(|base| Some(base.into())));
        }
        let with = |context: &Option<Context>, repairs| {
            self.equivalence.clone().context(context.clone()).repairs(repairs)
        };
        contexts.iter().flat_map(|context| repairs.map(|repairs| with(context, repairs))).collect()
    }

    /// The schemes of the two, and those that most records without one have.
    fn schemes(&self) -> Vec<Suffix> {
        let own = self.texts.iter().filter_map(|text| str::from_utf8(split(text).scheme?).ok());
        let mut found: Vec<Suffix> = Vec::new();
        for scheme in own.chain(["https", "http"]) {
            if let Ok(suffix) = Suffix::new(&scheme.to_ascii_lowercase())
                && !found.contains(&suffix)
            {
                found.push(suffix);
            }
        }
        found
    }

    /// Bases for relative references: those that the one of the two gives if it is a URI, the root of its host, its directory,
    /// the URI without a query, and with it; or any one if both begin with `/`, which takes no path from it.
    fn bases(&self) -> Vec<BaseUri> {
        let [a, b] = self.texts.map(split);
        let parts = match (a.scheme, b.scheme) {
            (None, None) if self.texts.iter().all(|text| text.starts_with(b"/")) => {
                return BaseUri::new(ANY_BASE).into_iter().collect();
            }
            (Some(_), None) => a,
            (None, Some(_)) => b,
            _ => return Vec::new(),
        };
        if parts.authority.is_none() {
            return Vec::new();
        }
        let directory = parts.path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let paths = [b"/", &parts.path[..directory], parts.path, parts.path];
        let queries = [None, None, None, parts.query];
        let base = |(path, query)| Split { path, query, fragment: None, ..parts }.recompose();
        let bases = paths.into_iter().zip(queries).map(base);
        // A quote would end it in a shell.
        let bases = bases.filter(|base| !base.contains(&b'\''));
        bases.filter_map(|base| BaseUri::new(&base).ok()).collect()
    }

    /// What `other` has that the equivalence of the two has not.
    fn added(&self, other: &Equivalence) -> Merger {
        let more = Repair::ALL
            .into_iter()
            .filter(|&repair| other.repairs.has(repair) && !self.equivalence.repairs.has(repair));
        let repairs = more.fold(Repairs::default(), Repairs::with);
        let repairs = (!repairs.is_empty()).then_some(Merger::Repairs(repairs));
        let context = match (&other.context, &self.equivalence.context) {
            (Some(Context::Suffix(suffix)), None) => Some(Merger::Suffix(suffix.clone())),
            (Some(Context::Base { base, .. }), None) => {
                let text = String::from_utf8_lossy(base.as_bytes()).into_owned();
                Some(Merger::Base((text.as_bytes() != ANY_BASE).then_some(text)))
            }
            _ => None,
        };
        let mut added: Vec<Merger> = context.into_iter().chain(repairs).collect();
        if added.len() == 1 { added.remove(0) } else { Merger::All(added) }
    }
}
