//! Canonical forms that agree with those of other systems.

mod crawler_commons;
mod w3lib;
mod whatwg;
mod whatwg_file;

use crate::chunk::PaddedBuf;
use crate::index::{Index, Record};
use crate::normalize;
use crate::simd::{Isa, Kernels, Task};
use crate::surt;
use crate::uri::{UriError, UriErrorKind};

named! {
    /// The system whose equivalence is followed.
    ///
    /// ```
    /// use uriscan::profile::Profile;
    /// assert_eq!(Profile::from_name("w3lib"), Some(Profile::W3lib));
    /// assert_eq!(Profile::Whatwg.to_string(), "whatwg");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Profile {
        /// The WHATWG URL Standard.
        Whatwg = "whatwg",
        /// `w3lib.url.canonicalize_url`.
        W3lib = "w3lib",
        /// `BasicURLNormalizer` of crawler-commons.
        CrawlerCommons = "crawler-commons",
        /// The sort-friendly key of the Wayback Machine.
        Surt = "surt",
    }
}

impl Profile {
    /// Incremented when the forms of the profile change, and with them the keys; this includes an
    /// update of the `url` crate that changes results.
    pub const fn version(self) -> u32 {
        match self {
            // 2: `file` URLs by the standard, `^` encoded in paths.
            Profile::Whatwg => 2,
            Profile::W3lib => 1,
            // 2: `file` URLs keep host and userinfo unchanged; more bytes are allowed in hosts and
            // paths.
            Profile::CrawlerCommons => 2,
            // 2: computed from canonical forms in which rootless paths keep their dot segments.
            // 3: records that RFC 3986 refuses have forms.
            Profile::Surt => 3,
        }
    }
}

/// Buffers for forms that are not a record's own bytes.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    out: Vec<u8>,
    w3lib: w3lib::Scratch,
    crawler_commons: crawler_commons::Scratch,
    canonical: normalize::Scratch,
    surt: surt::Scratch,
}

/// The form of `record`, which is not empty, under `profile`: its own bytes, or bytes in `scratch`.
/// Not inlined.
#[inline(always)]
pub fn form<'a, I: Isa>(
    isa: I,
    profile: Profile,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<&'a [u8], UriError> {
    isa.call(Form(profile, record, scratch))
}

/// Finds the form of a record under a profile.
struct Form<'a>(Profile, Record<'a>, &'a mut Scratch);

impl<'a> Task for Form<'a> {
    type Output = Result<&'a [u8], UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Form(profile, record, scratch) = self;
        form_here(isa, profile, record, scratch)
    }
}

#[inline(always)]
fn form_here<'a, I: Isa>(
    isa: I,
    profile: Profile,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<&'a [u8], UriError> {
    let Scratch { out, w3lib: of_w3lib, crawler_commons: of_commons, canonical, surt } = scratch;
    match profile {
        Profile::Whatwg => whatwg::form(isa, record, out),
        Profile::W3lib => w3lib::form(isa, record, of_w3lib, out),
        Profile::CrawlerCommons => crawler_commons::form(isa, record, of_commons, out),
        Profile::Surt => {
            let (options, form) = (normalize::Options::default(), surt::Form::Ia);
            out.clear();
            match normalize::canonical(isa, options, record, canonical) {
                Ok(uri) => surt::write_by(isa, uri, form, surt, out),
                Err(_) if surt::write_invalid(record.bytes(), form, options, surt, out) => {}
                Err(error) => return Err(error),
            }
            Ok(out)
        }
    }
}

/// Computes the forms of records one at a time, and owns the buffers for that.
///
/// ```
/// use uriscan::profile::{Profile, Profiler};
/// let mut profiler = Profiler::new(Profile::Whatwg);
/// assert_eq!(profiler.form(b"HTTP://Example.COM:80/%7ea/../b").unwrap(), b"http://example.com/b");
/// assert_eq!(profiler.form(b"http://h/a b|c%7e").unwrap(), b"http://h/a%20b|c%7e");
/// assert!(profiler.form(b"http://h:99999/").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Profiler {
    profile: Profile,
    kernels: Kernels,
    text: PaddedBuf,
    index: Index,
    scratch: Scratch,
}

impl Profiler {
    /// Creates a profiler for `profile` with the best backend of this CPU.
    pub fn new(profile: Profile) -> Profiler {
        Profiler::with_kernels(profile, Kernels::detect())
    }

    /// Creates a profiler for `profile` with the given backend; the results are the same.
    pub fn with_kernels(profile: Profile, kernels: Kernels) -> Profiler {
        let (text, index, scratch) = (PaddedBuf::default(), Index::new(), Scratch::default());
        Profiler { profile, kernels, text, index, scratch }
    }

    /// Returns the form of `url`, which is all of the bytes, under the profile.
    ///
    /// # Errors
    /// [`UriErrorKind::Profile`] if the system rejects it, at the first byte that is not UTF-8 if that
    /// is the reason, otherwise at 0; for `surt` those of [`normalize::Normalizer::normalize`].
    /// [`UriErrorKind::TooLong`] if `url` is longer than `u32::MAX` bytes.
    pub fn form(&mut self, url: &[u8]) -> Result<&[u8], UriError> {
        if url.is_empty() {
            return Err(UriError { kind: UriErrorKind::Profile, at: 0 });
        }
        if u32::try_from(url.len()).is_err() {
            return Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
        }
        let Profiler { profile, kernels, text, index, scratch } = self;
        text.set(url);
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Form(*profile, record, scratch))
    }
}
