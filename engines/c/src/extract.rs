//! Links of a text.

use core::ffi::c_char;
use core::ptr;

use uriscan::extract::{Extractor, ExtractorOptions, Format, Links, Options, Schemes};
use uriscan::resolve::BaseUri;
use uriscan::{Kernels, PaddedBuf};

use crate::border::{Place, bytes, call, free, handle};
use crate::error::{Failure, UriscanError};
use crate::options::{flag, pairs};

/// Offsets have 32 bits inside.
const LONGEST: usize = u32::MAX as usize / 2;

/// How links are found. Immutable: all threads may use it at the same time.
pub struct UriscanExtractor {
    extractor: Extractor,
    /// `None` to tell it by the content.
    format: Option<Format>,
    kernels: Kernels,
}

/// A link. What it points at belongs to the list in which it is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UriscanLink {
    /// The byte of the text at which it begins.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// The link as it is to be used: resolved against its base, with character references decoded. Not ended by NUL.
    pub uri: *const c_char,
    /// Bytes of it.
    pub uri_length: usize,
    /// The kind of place in which it was found, such as `href`: the names of `uriscan extract`. Not ended by NUL.
    pub context: *const c_char,
    /// Bytes of it.
    pub context_length: usize,
}

/// The links of one text. To be used by one thread at a time, for text after text.
#[derive(Default)]
pub struct UriscanLinks {
    text: PaddedBuf,
    links: Links,
    found: Vec<UriscanLink>,
}

/// Makes an extractor. `options` are lines `name=value`: `format` (`auto`, by the content, the default; `text`, `html`, `markdown`,
/// `json`, `xml`, `css`, `robots`, `clf`, `warc` and the other names of `uriscan extract --format`), `base` (a URI, for documents that
/// name none), `scheme` (`any`, or one that is wanted; given once for each), and the flags `unicode`, `unwrap`, `refang`, `bare_hosts`, `email`
/// and `unsplit`. `uriscan_extractor_free` frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_extractor_new(
    options: *const c_char,
    options_length: usize,
    extractor: *mut *mut UriscanExtractor,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(extractor, ptr::null_mut())? };
        // SAFETY: the same.
        place.give(extractor_of(unsafe { bytes(options, options_length)? })?);
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Frees the handle; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_extractor_free(extractor: *mut UriscanExtractor) {
    // SAFETY: it is what `uriscan_extractor_new` gave, or NULL.
    unsafe { free(extractor) }
}

/// Makes an empty list of links. `uriscan_links_free` frees it.
#[unsafe(no_mangle)]
pub extern "C" fn uriscan_links_new() -> *mut UriscanLinks {
    Box::into_raw(Box::default())
}

/// Frees the list; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_links_free(links: *mut UriscanLinks) {
    // SAFETY: it is what `uriscan_links_new` gave, or NULL.
    unsafe { free(links) }
}

/// Finds the links of `text`, a whole document or whole lines, of at most 2 GiB. `found` points at the first of `count` links,
/// which stay until the list `links` is used again or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_extract(
    extractor: *const UriscanExtractor,
    text: *const c_char,
    text_length: usize,
    links: *mut UriscanLinks,
    found: *mut *const UriscanLink,
    count: *mut usize,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (place, number) = unsafe { (Place::new(found, ptr::null())?, Place::new(count, 0)?) };
        // SAFETY: the same.
        let (extractor, text) = unsafe { (handle(extractor)?, bytes(text, text_length)?) };
        // SAFETY: the same; no other thread uses the list.
        let links = unsafe { links.as_mut() }.ok_or(Failure::Argument("a handle is NULL"))?;
        if text.len() > LONGEST {
            return Err(Failure::Argument("the text has more than 2 GiB"));
        }
        links.fill(extractor, text);
        if !links.found.is_empty() {
            place.put(links.found.as_ptr());
            number.put(links.found.len());
        }
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

impl UriscanLinks {
    fn fill(&mut self, extractor: &UriscanExtractor, text: &[u8]) {
        self.found.clear();
        self.links.clear();
        self.text.set(text);
        let format = extractor.format.unwrap_or_else(|| Format::of_source("", text));
        let padded = self.text.padded();
        extractor.extractor.extract(extractor.kernels, format, padded, &mut self.links);
        let found = self.links.iter(padded.content()).map(|(link, uri)| UriscanLink {
            start: link.span.start as usize,
            end: link.span.end as usize,
            uri: uri.as_ptr().cast(),
            uri_length: uri.len(),
            context: link.context.name().as_ptr().cast(),
            context_length: link.context.name().len(),
        });
        self.found.extend(found);
    }
}

fn extractor_of(text: &[u8]) -> Result<UriscanExtractor, Failure> {
    let (mut find, mut base, mut format) = (Options::default(), None, None);
    let mut schemes: Vec<String> = Vec::new();
    for (name, value) in pairs(text)? {
        match name {
            "format" if value == "auto" => format = None,
            "format" => format = Some(Format::from_name(value).ok_or_else(|| no_format(value))?),
            "base" => {
                let wrong =
                    |error| Failure::Option(format!("the base is not a valid URI: {error}"));
                BaseUri::new(value.as_bytes()).map_err(wrong)?;
                base = Some(value.as_bytes().to_vec());
            }
            "scheme" => schemes.push(value.to_ascii_lowercase()),
            "unicode" => find.unicode = flag(name, value)?,
            "unwrap" => find.unwrap = flag(name, value)?,
            "refang" => find.refang = flag(name, value)?,
            "bare_hosts" => find.bare_hosts = flag(name, value)?,
            "email" => find.email = flag(name, value)?,
            "unsplit" => find.unsplit = flag(name, value)?,
            _ => {
                let text = "there are format, base, scheme, unicode, unwrap, refang, bare_hosts, email, unsplit";
                return Err(Failure::Option(format!("there is no option {name}; {text}")));
            }
        }
    }
    if !schemes.is_empty() {
        let is_any = schemes == ["any"];
        find = find.schemes(if is_any { Schemes::Any } else { Schemes::List(schemes) });
    }
    let extractor = Extractor::new(ExtractorOptions::default().find(find).base(base));
    Ok(UriscanExtractor { extractor, format, kernels: Kernels::detect() })
}

fn no_format(value: &str) -> Failure {
    let names = Format::ALL.map(Format::name).join(", ");
    Failure::Option(format!("format={value:?}: there are auto, {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{UriscanEquivalence, UriscanSet};

    #[test]
    fn handles_that_are_shared_may_be() {
        fn shared<T: Send + Sync>() {}
        shared::<UriscanEquivalence>();
        shared::<UriscanSet>();
        shared::<UriscanExtractor>();
    }
}
