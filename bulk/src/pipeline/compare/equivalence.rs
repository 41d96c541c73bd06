//! Equivalence of records: turns a record into the bytes by which it is compared, for all jobs.

use std::borrow::{Borrow, Cow};
use std::sync::Arc;

use crate::pipeline::{Aliases, Error};
use uriscan_core::chunk::{Padded, PaddedBuf, Prefix, Span};
use uriscan_core::context::{Context, TargetBuffer};
use uriscan_core::index::{Index, Record};
use uriscan_core::key::{Hasher, Key, PublicHash, PublicHasher};
use uriscan_core::normalize::{
    self, FormBuffer, Options, SplitRecord, canonical, common_form, normalize_exact,
};
use uriscan_core::profile::{self, Profile};
use uriscan_core::repair::{Repair, Repairs, repair_in};
use uriscan_core::rfc2396::{self, Grammar};
use uriscan_core::rules::{self, Identity, RuleSet, Touched};
use uriscan_core::set::Meaning;
use uriscan_core::simd::{Isa, Kernels, Task};
use uriscan_core::uri::{UriError, UriErrorKind, parse};

/// When two records are equivalent; for every job that compares records.
///
/// ```
/// use uriscan::normalize::{Options, Level};
/// use uriscan_bulk::pipeline::Equivalence;
/// let bytes_only = Equivalence::from(Options::new(Level::String));
/// assert_eq!(Equivalence::default().normalize.level, Level::Scheme);
/// assert_eq!(bytes_only.normalize.level, Level::String);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct Equivalence {
    /// What references are resolved against before they are compared (6.1); without it a relative
    /// reference has no canonical form.
    pub context: Option<Context>,
    /// The grammar that says what a URI is and what its parts are. `rules`, `repairs` and `aliases` are made for
    /// RFC 3986, and so are explanations, also those of what [`crate::pipeline::classes()`] merges; under another
    /// grammar rules and repairs are not applied, and aliases should be omitted.
    pub grammar: Grammar,
    /// The level, and whether the fragment counts.
    pub normalize: Options,
    /// Rules beyond the RFC, applied to the form that the level gives.
    pub rules: Option<Arc<RuleSet>>,
    /// Repairs of records that are not URIs. A repaired record is compared in its repaired form and is not invalid.
    pub repairs: Repairs,
    /// The aliases of level 6.2.4, above all others. Read with the same options and hasher.
    pub aliases: Option<Arc<Aliases>>,
    /// The rules of another system. They replace everything else here, and the levels and rules that
    /// [`crate::pipeline::classes()`] reports are meaningless.
    pub profile: Option<Profile>,
}

impl From<Options> for Equivalence {
    fn from(normalize: Options) -> Equivalence {
        Equivalence { normalize, ..Equivalence::default() }
    }
}

setters! { Equivalence
    { grammar: Grammar, normalize: Options, repairs: Repairs }
    into {
        context: Option<Context>, rules: Option<Arc<RuleSet>>, aliases: Option<Arc<Aliases>>,
        profile: Option<Profile>,
    }
}

/// Buffers for targets and for forms that are not a record's own bytes.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) target: TargetBuffer,
    pub(crate) form: normalize::Scratch,
    pub(crate) repaired_form: Vec<u8>,
    pub(crate) legacy: Vec<u8>,
    pub(crate) rules: rules::Scratch,
    /// Where rules may change something in the chunk.
    touched: Touched,
    profile: profile::Scratch,
    /// Records whose form is that of what they are repaired to, since this was last set to 0.
    pub(crate) repaired: u64,
}

impl Equivalence {
    /// The hash of all that decides which records are equivalent.
    pub fn identity(&self) -> Identity {
        Identity::of_text(&self.facts())
    }

    /// What public keys by `hash` mean under this equivalence; sets of keys with the same meaning mix.
    pub fn meaning(&self, hash: PublicHash) -> Meaning {
        let meaning = Meaning::new(hash, &self.facts());
        match &self.rules {
            Some(rules) if self.profile.is_none() => meaning.with_rules(&rules.to_toml()),
            _ => meaning,
        }
    }

    /// All that decides which records are equivalent, one fact a line.
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
            let digest = blake3::Hash::from_bytes(aliases.digest());
            text += &format!("aliases {}\n", digest.to_hex());
        }
        text
    }

    /// The text that is mixed into public keys under this equivalence, so that they never meet those with another
    /// meaning; `None` where a key is the hash of the canonical form by RFC 3986 and nothing else.
    ///
    /// It has a line for each fact. It is the context of BLAKE3's `derive_key` mode; SHA-256 is of the text, an empty
    /// line and the form. A level, a fragment that is dropped, repairs and aliases are not mixed in: what is hashed is
    /// then still the canonical form of a URI.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use uriscan_bulk::pipeline::Equivalence;
    /// use uriscan::rules::RuleSet;
    /// assert_eq!(Equivalence::default().key_context(), None);
    /// let mut rules = RuleSet::builder();
    /// rules.rule("www").unwrap();
    /// let rules = Some(Arc::new(rules.build().unwrap()));
    /// let context = Equivalence::default().rules(rules).key_context().unwrap();
    /// assert!(context.starts_with("uriscan key\ngrammar rfc3986 "), "{context}");
    /// assert!(context.ends_with("\nrule www 1"), "{context}");
    /// ```
    pub fn key_context(&self) -> Option<String> {
        let has_rules = self.rules.as_ref().is_some_and(|rules| !rules.is_empty());
        let is_plain = self.profile.is_none()
            && self.context.is_none()
            && self.grammar == Grammar::Rfc3986
            && !has_rules;
        if is_plain {
            return None;
        }
        let bare = Equivalence { repairs: Repairs::default(), aliases: None, ..self.clone() };
        Some(format!("uriscan key\n{}", bare.facts().trim_end_matches('\n')))
    }

    /// The hasher for public keys under this equivalence.
    pub fn public_hasher(&self, hash: PublicHash) -> PublicHasher {
        match self.key_context() {
            None => PublicHasher::new(hash),
            Some(context) => PublicHasher::under(hash, &context),
        }
    }

    /// Ensures that the forms of the targets of aliases are known.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unsupported`] when they are not.
    pub(crate) fn require_targets(&self) -> Result<(), Error> {
        match &self.aliases {
            Some(aliases) if !aliases.has_targets() => Err(Error::unsupported(
                "public keys need aliases that were read with their targets",
            )),
            _ => Ok(()),
        }
    }

    /// The hasher for the keys of a run: that of the aliases, which knows their keys, or `hasher`; but one that
    /// gives `public` keys in any case, if those are needed.
    pub fn run_hasher(&self, hasher: &Hasher, public: Option<PublicHasher>) -> Hasher {
        match (public, &self.aliases) {
            (Some(public), _) => hasher.of_public(public),
            (None, Some(aliases)) => aliases.hasher().clone(),
            (None, None) => hasher.clone(),
        }
    }

    /// Whether what is canonical on every level as it stands represents itself, unless rules change it.
    pub(crate) fn keeps_canonical(&self) -> bool {
        self.profile.is_none()
            && self.grammar == Grammar::Rfc3986
            && !self.repairs.has(Repair::Entity)
    }

    /// Whether it does so in any case, except for aliases.
    pub(crate) fn is_form_only(&self) -> bool {
        self.keeps_canonical() && self.rules.is_none()
    }

    /// Whether URIs are compared by the usual canonical form, [`Equivalence::usual_form`], or by what rules make of it.
    pub(crate) fn has_usual_forms(&self) -> bool {
        self.keeps_canonical() && self.normalize == Options::default()
    }

    /// Whether the usual canonical form of a URI is all that it is compared by.
    pub(crate) fn has_usual_forms_only(&self) -> bool {
        self.has_usual_forms() && self.rules.is_none() && self.context.is_none()
    }

    /// The usual canonical form of the record that was `seen`, of `len` bytes at the start of `text`; `None` if
    /// [`Equivalence::canonical_by`] has to decide.
    #[inline(always)]
    pub(crate) fn usual_form<'a, I: Isa>(
        &self,
        isa: I,
        seen: &SplitRecord,
        text: &[u8],
        len: usize,
        out: &'a mut FormBuffer,
    ) -> Option<Prefix<'a>> {
        // With a base, dot segments are removed before triplets are decoded, which may be dots.
        if self.context.is_some() && seen.may_have_dots(isa, text) {
            return None;
        }
        seen.canonical(isa, text, len, out)
    }

    /// Looks where the rules may change the records of `text`, for [`Equivalence::ruled`].
    #[inline(always)]
    pub(crate) fn look_at<I: Isa>(&self, isa: I, text: Padded<'_>, scratch: &mut Scratch) {
        if let Some(rules) = &self.rules {
            scratch.touched.find(isa, rules, text);
        }
    }

    /// Whether the rules may change the canonical form of the record at `span` of the text that was looked at last.
    #[inline(always)]
    pub(crate) fn touches(&self, (text, span): (Padded<'_>, Span), scratch: &Scratch) -> bool {
        self.rules.is_some() && scratch.touched.has(text, span)
    }

    /// What the rules make of `form`, the canonical form of the record at `span` of the text that was looked at last.
    #[inline(always)]
    pub(crate) fn ruled<'a, I: Isa>(
        &self,
        isa: I,
        (text, span): (Padded<'_>, Span),
        form: Prefix<'a>,
        Scratch { touched, rules: out, .. }: &'a mut Scratch,
    ) -> Prefix<'a> {
        match &self.rules {
            Some(rules) if touched.has(text, span) => isa.call(Rules { rules, form, out }),
            _ => form,
        }
    }

    /// Whether a record is compared by its canonical form, or by what rules make of it.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.context.is_none()
            & self.repairs.is_empty()
            & self.profile.is_none()
            & (self.grammar == Grammar::Rfc3986)
    }

    /// The bytes that represent the class of `record`, which is not empty: its own bytes, or bytes in
    /// `scratch`.
    #[inline(always)]
    pub fn canonical_by<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<Prefix<'a>, UriError> {
        // Nearly all runs ask for nothing but a level. What the others need is kept out of the loops over
        // all records, which are slower by a tenth and more with as much code in them.
        if !self.is_plain() {
            return self.form(isa, record, scratch).map(Prefix::from);
        }
        let form = canonical(isa, self.normalize, record, &mut scratch.form)?;
        Ok(match &self.rules {
            None => form,
            Some(rules) => {
                let apply = Rules { rules, form, out: &mut scratch.rules };
                isa.call(RulesOf { record, apply })
            }
        })
    }

    /// [`Equivalence::canonical_by`] in a function of its own, for everything but the loops over all records.
    #[inline(always)]
    pub(crate) fn form<'a, I: Isa>(
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
        let Scratch {
            target,
            form,
            repaired_form,
            rules: rules_scratch,
            legacy: legacy_scratch,
            ..
        } = scratch;
        let repaired = &mut scratch.repaired;
        let is_decoded = self.repairs.change_valid(record.bytes());
        if is_decoded && self.grammar.legacy().is_none() {
            self.decode(record.bytes(), repaired, repaired_form)?;
            return Ok(match &self.rules {
                Some(rules) => rules.apply(repaired_form, rules_scratch).0,
                None => repaired_form,
            });
        }
        let record = match &self.context {
            Some(context) => context.target(isa, record, target),
            None => record,
        };
        if let Some(legacy) = self.grammar.legacy() {
            return rfc2396::canonical_by(isa, record, legacy, self.normalize, legacy_scratch);
        }
        let form = match canonical(isa, self.normalize, record, form) {
            Ok(form) => form.bytes(),
            Err(error) => {
                self.repair_into(error, record.bytes(), repaired_form)?;
                *repaired += 1;
                repaired_form
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

    /// Replaces `out` by the canonical form, before rules, of `text`, which has character references to be decoded.
    #[cold]
    pub(crate) fn decode(
        &self,
        text: &[u8],
        repaired: &mut u64,
        out: &mut Vec<u8>,
    ) -> Result<(), UriError> {
        let (target, is_changed) = decoded(self.context.as_ref(), self.repairs, text)?;
        out.clear();
        normalize_exact(&target, self.normalize.level, self.normalize.drop_fragment, out)?;
        *repaired += u64::from(is_changed);
        Ok(())
    }

    /// Replaces `out` by the canonical form of `text`, before rules, which has none because of `error`, when
    /// repairs give it one.
    #[cold]
    pub(crate) fn repair_into(
        &self,
        error: UriError,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), UriError> {
        let target = repaired_target(self.context.as_ref(), self.repairs, error, text)?;
        out.clear();
        normalize_exact(&target, self.normalize.level, self.normalize.drop_fragment, out)
    }

    /// The run key of the class that the canonical form `form` belongs to, by the hasher that
    /// [`Equivalence::run_hasher`] gave, which makes no public keys.
    #[inline(always)]
    pub fn key_by<I: Isa>(&self, isa: I, hasher: &Hasher, form: Prefix<'_>) -> Key {
        let key = hasher.secret_key_by(isa, form);
        match &self.aliases {
            None => key,
            Some(aliases) => aliases.table().target(key),
        }
    }

    /// The form of the alias of the canonical form `form`, if it has one, or `form`.
    #[inline(always)]
    pub fn aliased<'a>(&'a self, form: &'a [u8]) -> &'a [u8] {
        match &self.aliases {
            None => form,
            Some(aliases) => aliases.form(form),
        }
    }

    /// The same, with what may be read after it.
    #[inline(always)]
    pub fn aliased_prefix<'a>(&'a self, form: Prefix<'a>) -> Prefix<'a> {
        match &self.aliases {
            None => form,
            Some(aliases) => aliases.form(form.bytes()).into(),
        }
    }
}

impl Equivalence {
    /// The target of `record` in its context, repaired if need be, to explain what becomes of it: `record`
    /// itself without a context, or where it has no target.
    pub fn target<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        let context = self.context.as_ref();
        if context.is_none() && self.repairs.is_empty() {
            return Cow::Borrowed(record);
        }
        let is_legacy = matches!(context, Some(Context::Legacy { .. }));
        match parse(record) {
            _ if self.repairs.change_valid(record) && !is_legacy => {
                decoded(context, self.repairs, record).map(|(target, _)| Cow::Owned(target))
            }
            Err(error) if !is_legacy => {
                repaired_target(context, self.repairs, error, record).map(Cow::Owned)
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

/// What `repairs` make of `text`, which they may change although it is valid: as repaired, or the target of that in
/// `context`, if it has one; and whether it is changed.
///
/// # Errors
/// What is wrong with `text` if it is not valid, and cannot be repaired.
#[cold]
pub(crate) fn decoded(
    context: Option<&Context>,
    repairs: Repairs,
    text: &[u8],
) -> Result<(Vec<u8>, bool), UriError> {
    let mut repaired = Vec::new();
    let changes = repair_in(context, text, repairs, &mut repaired)?;
    Ok((target_in(context, &repaired).unwrap_or(repaired), !changes.is_empty()))
}

/// What `repairs` make of `text`, which is refused because of `error`: as repaired, or the target of that in
/// `context`, if it has one.
///
/// # Errors
/// `error`, where nothing may be repaired; what is still wrong with it after all repairs.
#[cold]
pub(crate) fn repaired_target(
    context: Option<&Context>,
    repairs: Repairs,
    error: UriError,
    text: &[u8],
) -> Result<Vec<u8>, UriError> {
    if repairs.is_empty() || error.kind == UriErrorKind::Relative {
        return Err(error);
    }
    let mut repaired = Vec::new();
    repair_in(context, text, repairs, &mut repaired)?;
    Ok(target_in(context, &repaired).unwrap_or(repaired))
}

/// Applies rules to a form.
struct Rules<'e, 'a> {
    rules: &'e RuleSet,
    form: Prefix<'a>,
    out: &'a mut rules::Scratch,
}

impl<'a> Task for Rules<'_, 'a> {
    type Output = Prefix<'a>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Prefix<'a> {
        self.rules.apply_by(isa, self.form, self.out).0
    }
}

/// Applies rules to the form of a record, if they may change it.
struct RulesOf<'e, 'a> {
    record: Record<'a>,
    apply: Rules<'e, 'a>,
}

impl<'a> Task for RulesOf<'_, 'a> {
    type Output = Prefix<'a>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Prefix<'a> {
        let RulesOf { record, apply } = self;
        match apply.rules.may_touch(isa, record) {
            true => apply.run(isa),
            false => apply.form,
        }
    }
}

/// Finds the bytes that represent the class of a record.
struct Form<'e, 'a>(&'e Equivalence, Record<'a>, &'a mut Scratch);

impl<'a> Task for Form<'_, 'a> {
    type Output = Result<&'a [u8], UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.0.form_here(isa, self.1, self.2)
    }
}

/// Computes the forms by which records are compared, one at a time; owns the buffers.
pub struct Canonicalizer<E> {
    equivalence: E,
    kernels: Kernels,
    text: PaddedBuf,
    index: Index,
    scratch: Scratch,
}

impl<E: Borrow<Equivalence>> Canonicalizer<E> {
    /// For records that are compared by `equivalence`.
    pub fn new(equivalence: E, kernels: Kernels) -> Canonicalizer<E> {
        let (text, index, scratch) = (PaddedBuf::default(), Index::new(), Scratch::default());
        Canonicalizer { equivalence, kernels, text, index, scratch }
    }

    pub(crate) fn equivalence(&self) -> &Equivalence {
        self.equivalence.borrow()
    }

    /// The bytes that represent the class of `record`: its canonical form, or its own bytes if it has
    /// none. `record` was read from a chunk, so its length fits 32 bits.
    pub(crate) fn form(&mut self, record: &[u8]) -> &[u8] {
        let (record, form) = self.find(record);
        form.unwrap_or(record.bytes())
    }

    /// The canonical form of `record` in `out`, if it can be found at once.
    pub(crate) fn common_form<'a>(
        &self,
        record: Prefix<'_>,
        out: &'a mut FormBuffer,
    ) -> Option<Prefix<'a>> {
        let is_usual = self.equivalence.borrow().has_usual_forms_only();
        if is_usual { self.kernels.run(CommonForm(record, out)) } else { None }
    }

    /// The canonical form of `record`, of any length.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn valid_form(&mut self, record: &[u8]) -> Result<&[u8], UriError> {
        if u32::try_from(record.len()).is_err() {
            return Err(UriError::new(UriErrorKind::TooLong, usize::MAX));
        }
        self.find(record).1
    }

    fn find(&mut self, record: &[u8]) -> (Record<'_>, Result<&[u8], UriError>) {
        let Canonicalizer { equivalence, kernels, text, index, scratch } = self;
        text.set(record);
        let record = index.only_record(*kernels, text.padded());
        (record, kernels.run(Form((*equivalence).borrow(), record, scratch)))
    }
}

/// [`common_form`].
struct CommonForm<'t, 'a>(Prefix<'t>, &'a mut FormBuffer);

impl<'a> Task for CommonForm<'_, 'a> {
    type Output = Option<Prefix<'a>>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        common_form(isa, self.0, self.1)
    }
}
