//! What the references of a list are resolved against, by either grammar.

use crate::chunk::{PaddedBuf, Span};
use crate::index::{Index, Record};
use crate::resolve::{BaseUri, Options, Suffix, append_usual_target, by_reference_path, is_suffix};
use crate::rfc2396::LegacyBase;
use crate::simd::{Isa, Task};
use crate::uri::UriError;

/// How the references of a list are resolved.
#[derive(Clone, Debug)]
pub enum Context {
    /// Against one base.
    Base {
        /// The base.
        base: BaseUri,
        /// How references to it are resolved.
        options: Options,
    },
    /// Against one base, by RFC 2396.
    Legacy {
        /// The base.
        base: LegacyBase,
        /// As [`Options::lenient_scheme`].
        lenient_scheme: bool,
    },
    /// Without a base; suffix references are completed with a scheme.
    Suffix(Suffix),
}

impl From<BaseUri> for Context {
    /// Against this base, by the options of RFC 3986.
    fn from(base: BaseUri) -> Context {
        Context::Base { base, options: Options::default() }
    }
}

/// A target that is about to be normalized. Reusable.
#[derive(Clone, Debug, Default)]
pub struct TargetBuffer {
    target: Vec<u8>,
    text: PaddedBuf,
    index: Index,
}

impl Context {
    /// The scheme of the target of a reference that has none, apart from one by RFC 2396.
    pub(crate) fn scheme(&self) -> Option<&[u8]> {
        match self {
            Context::Base { base, .. } => base.view().parts().scheme(base.as_bytes()),
            Context::Legacy { .. } => None,
            Context::Suffix(suffix) => Some(suffix.scheme().as_bytes()),
        }
    }

    /// Appends the target of `reference`, which is all of the bytes, to `out`.
    ///
    /// # Errors
    /// If it has none; `out` is unchanged then.
    pub fn append_target(&self, reference: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
        match self {
            Context::Base { base, options } => {
                by_reference_path(&base.view(), *options, reference, out)
            }
            Context::Legacy { base, lenient_scheme } => {
                base.resolve_into(reference, *lenient_scheme, out).map(drop)
            }
            Context::Suffix(suffix) => suffix.complete_into(reference, out),
        }
    }

    /// The target of a record, which is not empty, as a record of its own: in `buffer`, or the
    /// record itself if it is its own target, or has none.
    ///
    /// A caller that normalizes the result therefore finds the same faults as without a context, at
    /// the same positions.
    #[inline(always)]
    pub fn target<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        buffer: &'a mut TargetBuffer,
    ) -> Record<'a> {
        struct Resolve<'c, 'a>(&'c Context, Record<'a>, &'a mut TargetBuffer);
        impl<'a> Task for Resolve<'_, 'a> {
            type Output = Record<'a>;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> Record<'a> {
                self.0.target_record(isa, self.1, self.2)
            }
        }
        isa.call(Resolve(self, record, buffer))
    }

    #[inline(always)]
    fn target_record<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        buffer: &'a mut TargetBuffer,
    ) -> Record<'a> {
        let TargetBuffer { target, text, index } = buffer;
        target.clear();
        let is_written = match self {
            Context::Base { base, options } => {
                let base = base.view();
                append_usual_target(isa, &base, record, target).is_some()
                    || (options.lenient_scheme || !is_uri_without_dots(record.bytes()))
                        && by_reference_path(&base, *options, record.bytes(), target).is_ok()
            }
            Context::Legacy { base, lenient_scheme } => {
                base.resolve_into(record.bytes(), *lenient_scheme, target).is_ok()
            }
            Context::Suffix(suffix) => {
                (is_suffix(record.bytes()) || !is_uri_without_dots(record.bytes()))
                    && suffix.complete_into(record.bytes(), target).is_ok()
            }
        };
        if !is_written {
            return record;
        }
        text.set(target);
        let text = text.padded();
        index.build_with(isa, text, b'\n');
        Record::new(text, index, Span { start: 0, end: text.len() as u32 })
    }
}

/// Whether `text` has a scheme, by delimiters alone, and no dot that could begin a dot segment.
fn is_uri_without_dots(text: &[u8]) -> bool {
    let has_scheme = text.iter().find(|byte| b":/?#".contains(byte)) == Some(&b':');
    has_scheme
        && !memchr::memchr_iter(b'.', text).any(|dot| dot > 0 && b":/".contains(&text[dot - 1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::Kernels;

    struct Target<'a>(&'a Context, Record<'a>, &'a mut TargetBuffer);

    impl<'a> Task for Target<'a> {
        type Output = Record<'a>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Record<'a> {
            self.0.target(isa, self.1, self.2)
        }
    }

    proptest! {
        #[test]
        fn targets_of_suffixes_are_the_completed_ones(
            text in "(([a.]{0,3}|localhost|1\\.2\\.3\\.4|www\\.h\\.de|[x1]|//|\\[::1\\])(:(80|x)?)?(//u@?)?)[./%2ea?#]{0,9} ?[:a.]{0,3}",
        ) {
            let mut completed = Vec::new();
            let suffix = Suffix::new("https").unwrap();
            let expected = match suffix.complete_into(text.as_bytes(), &mut completed) {
                Ok(()) => &completed[..],
                Err(_) => text.as_bytes(),
            };
            let context = Context::Suffix(suffix);
            let (buf, mut index, kernels) = (PaddedBuf::from_content(text.as_bytes()), Index::new(), Kernels::detect());
            let record = index.only_record(kernels, buf.padded());
            let mut buffer = TargetBuffer::default();
            let target = kernels.run(Target(&context, record, &mut buffer));
            prop_assert_eq!(target.bytes(), expected, "{:?}", text);
        }
    }
}
