//! Floor 6: keys that agree with other systems' idea of what is one.
//!
//! Who keeps a store of URLs that another system has keyed needs that system's answers, right or
//! wrong by RFC 3986. A [`Profile`] maps records to the bytes which that system compares; no rung
//! and no rule has a say. What the system refuses is an invalid record
//! ([`crate::uri::ErrorKind::Profile`]).
//!
//! | profile | the system | how |
//! | --- | --- | --- |
//! | `whatwg` | browsers, the WHATWG URL Standard: `href` | the `url` crate, a fast path where both must agree, and a parser of our own for `file` |
//! | `w3lib` | Scrapy: `w3lib.url.canonicalize_url` 2.5, with its defaults | written here |
//! | `crawler-commons` | crawler-commons (Nutch, StormCrawler): `BasicURLNormalizer` 1.4 with its defaults | written here, by its documentation |
//! | `surt` | CDX indexes of the Wayback Machine | [`crate::surt::Form::Ia`] of the canonical form |

mod crawler_commons;
mod w3lib;
mod whatwg;
mod whatwg_file;

use core::fmt;

use crate::chunk::PaddedBuf;
use crate::index::{Index, Record};
use crate::normalize;
use crate::simd::{Isa, Kernels, Task};
use crate::surt;
use crate::uri::{ErrorKind, UriError};

/// Whose idea of "the same" is followed.
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
    Whatwg,
    /// `w3lib.url.canonicalize_url`.
    W3lib,
    /// `BasicURLNormalizer` of crawler-commons.
    CrawlerCommons,
    /// The sort-friendly key of the Wayback Machine.
    Surt,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 4] =
        [Profile::Whatwg, Profile::W3lib, Profile::CrawlerCommons, Profile::Surt];

    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Whatwg => "whatwg",
            Profile::W3lib => "w3lib",
            Profile::CrawlerCommons => "crawler-commons",
            Profile::Surt => "surt",
        }
    }

    /// Counts up when the profile's forms change, and with them the keys; an update of the `url`
    /// crate that changes answers counts.
    pub const fn version(self) -> u32 {
        match self {
            // 2: `file` URLs by the standard, `^` encoded in paths.
            Profile::Whatwg => 2,
            Profile::W3lib => 1,
            // 2: `file` URLs keep host and userinfo as they are; more bytes may stand in hosts and paths.
            Profile::CrawlerCommons => 2,
            // 2: made from canonical forms in which rootless paths keep their dot segments.
            Profile::Surt => 2,
        }
    }

    /// The profile called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Buffers for forms that are not a record's own bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    out: Vec<u8>,
    w3lib: w3lib::Scratch,
    crawler_commons: crawler_commons::Scratch,
    canonical: normalize::Scratch,
    surt: surt::Scratch,
}

/// What `profile` compares `record`, which is not empty, by: its own bytes, or bytes in `scratch`. In a function
/// of its own.
#[inline(always)]
pub(crate) fn form<'a, I: Isa>(
    isa: I,
    profile: Profile,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<&'a [u8], UriError> {
    isa.call(Form(profile, record, scratch))
}

/// Finds what a profile compares a record by.
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
        Profile::W3lib => w3lib::form(record.bytes(), of_w3lib, out),
        Profile::CrawlerCommons => crawler_commons::form(record.bytes(), of_commons, out),
        Profile::Surt => {
            let options = normalize::Options::default();
            let uri = normalize::canonical(isa, options, record, canonical)?;
            out.clear();
            surt::write(&uri, surt::Form::Ia, surt, out);
            Ok(out)
        }
    }
}

/// Gives the forms of one record after the other; holds the buffers that this needs.
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
    /// Forms by `profile`, with the best backend of this CPU.
    pub fn new(profile: Profile) -> Profiler {
        Profiler::with_kernels(profile, Kernels::detect())
    }

    /// Forms by `profile`, with a backend of the caller's choice; the answers are the same.
    pub fn with_kernels(profile: Profile, kernels: Kernels) -> Profiler {
        let (text, index, scratch) = (PaddedBuf::default(), Index::new(), Scratch::default());
        Profiler { profile, kernels, text, index, scratch }
    }

    /// What the profile compares `url`, all of it, by.
    ///
    /// # Errors
    /// [`ErrorKind::Profile`] for what the system refuses, at the first byte that is not UTF-8 if that is why, else at
    /// 0; for `surt` what [`normalize::Normalizer::normalize`] says. [`ErrorKind::TooLong`] when
    /// `url` is longer than `u32::MAX` bytes.
    pub fn form(&mut self, url: &[u8]) -> Result<&[u8], UriError> {
        if url.is_empty() {
            return Err(UriError { kind: ErrorKind::Profile, at: 0 });
        }
        if u32::try_from(url.len()).is_err() {
            return Err(UriError { kind: ErrorKind::TooLong, at: u32::MAX });
        }
        let Profiler { profile, kernels, text, index, scratch } = self;
        text.set(url);
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Form(*profile, record, scratch))
    }
}
