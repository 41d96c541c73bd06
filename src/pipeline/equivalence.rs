//! What makes two records one: the one place that turns a record into the bytes that are compared.

use std::borrow::Cow;
use std::sync::Arc;

use super::Aliases;
use crate::chunk::PaddedBuf;
use crate::grammar::Grammar;
use crate::grammar::rfc2396::Legacy;
use crate::index::{Index, Record};
use crate::key::{Hasher, Key};
use crate::normalize::{
    self, Options, canonical, canonical_here, normalize_exact, normalize_rfc2396,
};
use crate::profile::{self, Profile};
use crate::repair::{Repair, Repairs, repair};
use crate::resolve::{Context, Placed};
use crate::rules::{self, Identity, RuleSet};
use crate::set::Meaning;
use crate::simd::{Isa, Kernels, Task};
use crate::uri::{ErrorKind, UriError, parse};

/// What makes two records one; every job that compares records takes it.
///
/// ```
/// use uriscan::normalize::{Options, Rung};
/// use uriscan::pipeline::Equivalence;
/// let bytes_only = Equivalence::from(Options { rung: Rung::String, drop_fragment: false });
/// assert_eq!(Equivalence::default().normalize.rung, Rung::Scheme);
/// assert_eq!(bytes_only.normalize.rung, Rung::String);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Equivalence {
    /// What references are resolved against before they are compared (6.1); without it a relative
    /// reference has no canonical form.
    pub context: Option<Context>,
    /// The grammar that says what a URI is and what its parts are. `rules`, `repairs` and `aliases` are made for
    /// RFC 3986, and so are explanations, also those of what [`super::classes()`] merges; under another
    /// grammar rules and repairs are not applied, and aliases should be left out.
    pub grammar: Grammar,
    /// How far up the ladder, and whether the fragment counts.
    pub normalize: Options,
    /// Rules beyond the RFC, applied to the form that the rung gives.
    pub rules: Option<Arc<RuleSet>>,
    /// What may be done to a record that is no URI to make it one; it is compared as repaired then, and is
    /// not invalid.
    pub repairs: Repairs,
    /// The rung 6.2.4, over all others: what stands for what. Read with the same options and hasher.
    pub aliases: Option<Arc<Aliases>>,
    /// Another system whose answers are given instead; then nothing else here has a say, and what
    /// [`super::classes()`] tells of rungs and rules means nothing.
    pub profile: Option<Profile>,
}

impl From<Options> for Equivalence {
    fn from(normalize: Options) -> Equivalence {
        Equivalence { normalize, ..Equivalence::default() }
    }
}

/// Buffers for targets and for forms that are not a record's own bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(super) target: Placed,
    pub(super) form: normalize::Scratch,
    pub(super) mended: Vec<u8>,
    pub(super) legacy: Vec<u8>,
    pub(super) rules: rules::Scratch,
    profile: profile::Scratch,
    /// Records whose form is that of what they are repaired to, since this was last set to 0.
    pub(super) repaired: u64,
}

impl Equivalence {
    /// The hash of all that decides which records are one.
    pub fn identity(&self) -> Identity {
        Identity::of_text(&self.facts())
    }

    /// What the keys by `hasher` mean under this equivalence; sets of keys with the same meaning mix.
    pub fn meaning(&self, hasher: Hasher) -> Meaning {
        Meaning::new(hasher, &self.facts())
    }

    /// All that decides which records are one, one fact a line.
    fn facts(&self) -> String {
        if let Some(profile) = self.profile {
            return format!("profile {profile} {}\n", profile.version());
        }
        let mut text = Identity::text(self.grammar, self.normalize, self.rules.as_deref());
        match &self.context {
            None => {}
            Some(Context::Base { base, options }) => {
                let how = if options.lenient_scheme { "lenient-base" } else { "base" };
                text += &format!("{how} {}\n", String::from_utf8_lossy(base.as_bytes()));
            }
            Some(Context::Legacy { base, lenient_scheme }) => {
                let how = if *lenient_scheme { "lenient-base" } else { "base" };
                text += &format!("{how} {}\n", String::from_utf8_lossy(base.as_bytes()));
            }
            Some(Context::Suffix(suffix)) => {
                text += &format!("suffix-scheme {}\n", suffix.scheme());
            }
        }
        for repair in Repair::ALL.into_iter().filter(|&repair| self.repairs.has(repair)) {
            text += &format!("repair {}\n", repair.name());
        }
        if let Some(aliases) = &self.aliases {
            text += &format!("aliases {:032x}\n", aliases.digest());
        }
        text
    }

    /// The hasher for keys under this equivalence: `hasher` itself by RFC 3986 without rules, so that
    /// its keys stay what they are, and else one whose keys those of other grammars and rule sets never meet.
    pub fn hasher(&self, hasher: Hasher) -> Hasher {
        if self.profile.is_some() {
            return hasher.under(self.identity().0);
        }
        match (&self.aliases, &self.rules) {
            (Some(aliases), _) => aliases.hasher(),
            // What RFC 2396 has as one is no class of RFC 3986, even where the forms have the same bytes.
            (None, _) if self.grammar != Grammar::Rfc3986 => {
                let text = Identity::text(self.grammar, self.normalize, None);
                hasher.under(Identity::of_text(&text).0)
            }
            (None, Some(rules)) if !rules.is_empty() => hasher.under(self.identity().0),
            _ => hasher,
        }
    }

    /// The bytes that stand for the class of `record`, which is not empty: its own bytes, or bytes in
    /// `scratch`.
    #[inline(always)]
    pub(crate) fn canonical<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], UriError> {
        // Nearly all runs ask for nothing but a rung. What the others need is kept out of the loops over
        // all records, which are slower by a tenth and more with as much code in them.
        let is_plain = self.context.is_none()
            & self.repairs.is_empty()
            & self.profile.is_none()
            & (self.grammar == Grammar::Rfc3986);
        if !is_plain {
            return self.form(isa, record, scratch);
        }
        let form = canonical_here(isa, self.normalize, record, &mut scratch.form)?;
        Ok(match &self.rules {
            None => form,
            Some(rules) => isa.call(Rules { rules, record, form, out: &mut scratch.rules }),
        })
    }

    /// [`Equivalence::canonical`] in a function of its own, for all that is no loop over all records.
    #[inline(always)]
    pub(super) fn form<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], UriError> {
        isa.call(Form(self, record, scratch))
    }

    #[inline(always)]
    fn form_here<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], UriError> {
        if let Some(profile) = self.profile {
            return profile::form(isa, profile, record, &mut scratch.profile);
        }
        let Scratch { target, form, mended, rules: rules_scratch, legacy: legacy_scratch, .. } =
            scratch;
        let repaired = &mut scratch.repaired;
        let record = match &self.context {
            Some(context) => context.place(isa, record, target),
            None => record,
        };
        if let Some(legacy) = self.grammar.legacy() {
            return canonical_by_rfc2396(legacy, self.normalize, record.bytes(), legacy_scratch);
        }
        let form = match canonical(isa, self.normalize, record, form) {
            Ok(form) => form,
            Err(error) => {
                self.mend(error, record.bytes(), mended)?;
                *repaired += 1;
                mended
            }
        };
        Ok(match &self.rules {
            // What a repair makes of a record may be touched although the record is not.
            Some(rules) if !self.repairs.is_empty() || rules.may_touch(isa, record) => {
                rules.apply(form, rules_scratch).0
            }
            _ => form,
        })
    }

    /// Replaces `out` by the canonical form of `text`, before rules, which has none because of `error`, when
    /// repairs give it one.
    #[cold]
    pub(super) fn mend(
        &self,
        error: UriError,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), UriError> {
        let mended = mended(self.context.as_ref(), self.repairs, error, text)?;
        out.clear();
        normalize_exact(&mended, self.normalize.rung, self.normalize.drop_fragment, out)
    }

    /// The key of the class that the canonical form `form` belongs to, by the hasher that
    /// [`Equivalence::hasher`] gave.
    #[inline(always)]
    pub(crate) fn key(&self, hasher: Hasher, form: &[u8]) -> Key {
        match &self.aliases {
            None => hasher.key(form),
            Some(aliases) => aliases.key(form),
        }
    }

    /// What is shown for the canonical form `form`: that of its alias, if there is one.
    #[inline(always)]
    pub(crate) fn shown<'a>(&'a self, form: &'a [u8]) -> &'a [u8] {
        match &self.aliases {
            None => form,
            Some(aliases) => aliases.form(form),
        }
    }
}

impl Equivalence {
    /// The target of `record` in its context, repaired if need be, for who explains what becomes of it: `record`
    /// itself without a context, or where it has no target.
    pub(crate) fn target<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        let context = self.context.as_ref();
        let is_legacy = matches!(context, Some(Context::Legacy { .. }));
        match parse(record) {
            Err(error) if !is_legacy => {
                mended(context, self.repairs, error, record).map(Cow::Owned)
            }
            _ => target_in(context, record).map(Cow::Owned),
        }
        .unwrap_or(Cow::Borrowed(record))
    }
}

/// The target of `reference` in `context`.
fn target_in(context: Option<&Context>, reference: &[u8]) -> Result<Vec<u8>, UriError> {
    let mut target = Vec::new();
    match context {
        None => target.extend_from_slice(reference),
        Some(context) => context.append_target(reference, &mut target)?,
    }
    Ok(target)
}

/// What `repairs` make of `text`, which is refused because of `error`: as repaired, or the target of that in
/// `context`, if it has one.
///
/// # Errors
/// `error`, where nothing may be repaired; what is still wrong with it after all repairs.
#[cold]
pub(super) fn mended(
    context: Option<&Context>,
    repairs: Repairs,
    error: UriError,
    text: &[u8],
) -> Result<Vec<u8>, UriError> {
    if repairs.is_empty() || error.kind == ErrorKind::Relative {
        return Err(error);
    }
    let mut repaired = Vec::new();
    repair(text, repairs, &mut repaired)?;
    Ok(target_in(context, &repaired).unwrap_or(repaired))
}

/// Applies rules to the form of a record.
struct Rules<'e, 'a> {
    rules: &'e RuleSet,
    record: Record<'a>,
    form: &'a [u8],
    out: &'a mut rules::Scratch,
}

impl<'a> Task for Rules<'_, 'a> {
    type Output = &'a [u8];
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> &'a [u8] {
        let Rules { rules, record, form, out } = self;
        if rules.may_touch(isa, record) { rules.apply(form, out).0 } else { form }
    }
}

/// Finds the bytes that stand for the class of a record.
struct Form<'e, 'a>(&'e Equivalence, Record<'a>, &'a mut Scratch);

impl<'a> Task for Form<'_, 'a> {
    type Output = Result<&'a [u8], UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.0.form_here(isa, self.1, self.2)
    }
}

/// What one record after the other is compared by; holds the buffers that this needs.
pub(super) struct Judge<'e> {
    equivalence: &'e Equivalence,
    kernels: Kernels,
    text: PaddedBuf,
    index: Index,
    scratch: Scratch,
}

impl<'e> Judge<'e> {
    pub(super) fn new(equivalence: &'e Equivalence, kernels: Kernels) -> Judge<'e> {
        let (text, index, scratch) = (PaddedBuf::default(), Index::new(), Scratch::default());
        Judge { equivalence, kernels, text, index, scratch }
    }

    /// The bytes that stand for the class of `record`: its canonical form, or its own bytes if it has
    /// none. `record` is not empty and was read from a chunk, so its length fits 32 bits.
    pub(super) fn form(&mut self, record: &[u8]) -> &[u8] {
        let Judge { equivalence, kernels, text, index, scratch } = self;
        text.set(record);
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Form(equivalence, record, scratch)).unwrap_or(record.bytes())
    }
}

#[cold]
#[inline(never)]
fn canonical_by_rfc2396<'a>(
    legacy: Legacy,
    options: Options,
    text: &[u8],
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    out.clear();
    normalize_rfc2396(text, legacy, options.rung, options.drop_fragment, out)?;
    Ok(out)
}
