//! What makes two records one: the one place that turns a record into the bytes that are compared.

use std::borrow::Cow;
use std::sync::Arc;

use crate::chunk::{PaddedBuf, Span};
use crate::index::{Index, Record};
use crate::key::Hasher;
use crate::normalize::{self, Options, canonical_here};
use crate::resolve::{Context, Placed, Resolver};
use crate::rules::{self, Identity, RuleSet};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::UriError;

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
    /// How far up the ladder, and whether the fragment counts.
    pub normalize: Options,
    /// Rules beyond the RFC, applied to the form that the rung gives.
    pub rules: Option<Arc<RuleSet>>,
}

impl From<Options> for Equivalence {
    fn from(normalize: Options) -> Equivalence {
        Equivalence { normalize, ..Equivalence::default() }
    }
}

/// Buffers for targets and for forms that are not a record's own bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) target: Placed,
    pub(super) form: normalize::Scratch,
    pub(super) rules: rules::Scratch,
}

impl Equivalence {
    /// The hash of all that decides which records are one.
    pub fn identity(&self) -> Identity {
        Identity::new(self.normalize, self.rules.as_deref())
    }

    /// The hasher for keys under this equivalence: `hasher` itself without rules, so that keys of the RFC
    /// stay what they are, and else one whose keys those of other rule sets never meet.
    pub fn hasher(&self, hasher: Hasher) -> Hasher {
        match &self.rules {
            Some(rules) if !rules.is_empty() => hasher.under(self.identity().0),
            _ => hasher,
        }
    }

    /// The bytes that stand for the class of `record`, which is not empty: its own bytes, or bytes in
    /// `scratch`.
    #[inline(always)]
    pub(super) fn canonical<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], UriError> {
        let record = match &self.context {
            Some(context) => context.place(isa, record, &mut scratch.target),
            None => record,
        };
        let form = canonical_here(isa, self.normalize, record, &mut scratch.form)?;
        Ok(match &self.rules {
            Some(rules) if rules.may_touch(isa, record) => rules.apply(form, &mut scratch.rules).0,
            _ => form,
        })
    }
}

impl Equivalence {
    /// The target of `record` in its context, for who explains what becomes of it: `record` itself without
    /// a context, or where it has no target.
    pub(super) fn target<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        let mut target = Vec::new();
        let is_written = match &self.context {
            None => false,
            Some(Context::Base { base, options }) => {
                let mut resolver = Resolver::new(base.clone(), *options);
                resolver.resolve_into(record, &mut target).is_ok()
            }
            Some(Context::Suffix(suffix)) => suffix.complete_into(record, &mut target).is_ok(),
        };
        if is_written { Cow::Owned(target) } else { Cow::Borrowed(record) }
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
        struct One<'a, 'e>(&'a mut Judge<'e>);
        impl<'a> Task for One<'a, '_> {
            type Output = &'a [u8];
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> Self::Output {
                let Judge { equivalence, text, index, scratch, .. } = self.0;
                let text = text.padded();
                index.build_with(isa, text, b'\n');
                let whole = Span { start: 0, end: text.len() as u32 };
                let record = Record::new(text, index, whole);
                equivalence.canonical(isa, record, scratch).unwrap_or(record.bytes())
            }
        }
        self.text.set(record);
        self.kernels.run(One(self))
    }
}
