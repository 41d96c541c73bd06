//! A caller: handles that are freed, texts with their lengths, buffers that grow.

use core::ffi::c_char;
use std::ptr::{null, null_mut};

use uriscan_c::*;

/// What an error handle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) status: i32,
    pub(crate) kind: String,
    pub(crate) at: usize,
    pub(crate) row: usize,
    pub(crate) text: String,
}

pub(crate) fn at(text: &[u8]) -> *const c_char {
    text.as_ptr().cast()
}

/// Calls `work` with an error handle.
pub(crate) fn checked(work: impl FnOnce(*mut UriscanError) -> i32) -> Result<(), Failed> {
    let error = uriscan_error_new();
    let status = work(error);
    let string = |write: unsafe extern "C" fn(_, _, _, _) -> i32| {
        let bytes = sized(|buffer, capacity, length| unsafe {
            write(error.cast_const(), buffer, capacity, length)
        });
        String::from_utf8(bytes).unwrap()
    };
    let failed = Failed {
        status,
        kind: string(uriscan_error_kind),
        at: unsafe { uriscan_error_position(error) },
        row: unsafe { uriscan_error_row(error) },
        text: string(uriscan_error_text),
    };
    assert_eq!(status, unsafe { uriscan_error_status(error) });
    unsafe { uriscan_error_free(error) };
    if status == URISCAN_OK { Ok(()) } else { Err(failed) }
}

/// What a function writes that needs no error handle, asked for its length first.
fn sized(write: impl Fn(*mut c_char, usize, *mut usize) -> i32) -> Vec<u8> {
    let mut length = usize::MAX;
    let status = write(null_mut(), 0, &mut length);
    assert_eq!(status, if length == 0 { URISCAN_OK } else { URISCAN_TOO_SMALL });
    let mut bytes = vec![0; length];
    assert_eq!(write(bytes.as_mut_ptr().cast(), length, &mut length), URISCAN_OK);
    assert_eq!(bytes.len(), length);
    bytes
}

/// What a function writes to a buffer: in one that is too small by a byte nothing, in one that is as large as it says, all.
fn written(
    write: impl Fn(*mut c_char, usize, *mut usize, *mut UriscanError) -> i32,
) -> Result<Vec<u8>, Failed> {
    let mut length = usize::MAX;
    let first = checked(|error| write(null_mut(), 0, &mut length, error));
    match first {
        Ok(()) => assert_eq!(length, 0),
        Err(failed) if failed.status == URISCAN_TOO_SMALL => assert_ne!(length, 0),
        Err(failed) => {
            assert_eq!(length, 0, "results of what failed are empty");
            return Err(failed);
        }
    }
    let mut bytes = vec![0xA5; length + 8];
    if length > 0 {
        let failed =
            checked(|error| write(bytes.as_mut_ptr().cast(), length - 1, &mut length, error));
        assert_eq!(failed.unwrap_err().status, URISCAN_TOO_SMALL);
        assert!(bytes.iter().all(|&byte| byte == 0xA5), "nothing is written where it is too small");
    }
    checked(|error| write(bytes.as_mut_ptr().cast(), length, &mut length, error))?;
    assert!(bytes[length..].iter().all(|&byte| byte == 0xA5), "no more than the length is written");
    bytes.truncate(length);
    Ok(bytes)
}

pub(crate) struct Equivalence(pub(crate) *mut UriscanEquivalence);

impl Equivalence {
    pub(crate) fn new(options: &str) -> Result<Equivalence, Failed> {
        let mut handle = null_mut();
        checked(|error| unsafe {
            uriscan_equivalence_new(at(options.as_bytes()), options.len(), &mut handle, error)
        })?;
        Ok(Equivalence(handle))
    }

    pub(crate) fn normalize(&self, text: &[u8]) -> Result<Vec<u8>, Failed> {
        written(|buffer, capacity, length, error| unsafe {
            uriscan_normalize(self.0, at(text), text.len(), buffer, capacity, length, error)
        })
    }

    pub(crate) fn key(&self, text: &[u8]) -> Result<[u8; 16], Failed> {
        let mut key = [0xA5; 16];
        checked(|error| unsafe {
            uriscan_key(self.0, at(text), text.len(), key.as_mut_ptr(), error)
        })
        .map(|()| key)
    }

    pub(crate) fn is_equal(&self, one: &[u8], other: &[u8]) -> Result<bool, Failed> {
        let mut equal = 7;
        checked(|error| unsafe {
            let (first, second) = (at(one), at(other));
            uriscan_is_equal(self.0, first, one.len(), second, other.len(), &mut equal, error)
        })
        .map(|()| equal == 1)
    }
}

// What the header says of these handles.
unsafe impl Send for Equivalence {}
unsafe impl Sync for Equivalence {}
unsafe impl Send for Set {}
unsafe impl Sync for Set {}

impl Drop for Equivalence {
    fn drop(&mut self) {
        unsafe { uriscan_equivalence_free(self.0) }
    }
}

pub(crate) fn parse(text: &[u8]) -> Result<UriscanComponents, Failed> {
    let mut parts = core::mem::MaybeUninit::uninit();
    checked(|error| unsafe { uriscan_parse(at(text), text.len(), parts.as_mut_ptr(), error) })
        .map(|()| unsafe { parts.assume_init() })
}

pub(crate) fn is_valid(text: &[u8]) -> Result<(), Failed> {
    checked(|error| unsafe { uriscan_is_valid(at(text), text.len(), error) })
}

pub(crate) fn resolve(base: &[u8], reference: &[u8]) -> Result<Vec<u8>, Failed> {
    written(|buffer, capacity, length, error| unsafe {
        let (first, second) = (at(base), at(reference));
        let (most, to) = (capacity, buffer);
        uriscan_resolve(first, base.len(), second, reference.len(), to, most, length, error)
    })
}

pub(crate) struct Set(pub(crate) *mut UriscanSet);

impl Set {
    pub(crate) fn new(equivalence: &Equivalence) -> Set {
        let mut handle = null_mut();
        checked(|error| unsafe { uriscan_set_new(equivalence.0, &mut handle, error) }).unwrap();
        Set(handle)
    }

    pub(crate) fn open(
        equivalence: &Equivalence,
        path: &std::path::Path,
        mode: i32,
    ) -> Result<Set, Failed> {
        let (mut handle, path) = (null_mut(), path.to_str().unwrap().as_bytes());
        checked(|error| unsafe {
            uriscan_set_open(equivalence.0, at(path), path.len(), mode, &mut handle, error)
        })?;
        Ok(Set(handle))
    }

    pub(crate) fn insert(&self, text: &[u8]) -> Result<u8, Failed> {
        let mut result = 7;
        let length = text.len();
        checked(|error| unsafe { uriscan_set_insert(self.0, at(text), length, &mut result, error) })
            .map(|()| result)
    }

    pub(crate) fn contains(&self, text: &[u8]) -> Result<u8, Failed> {
        let mut result = 7;
        let length = text.len();
        checked(|error| unsafe {
            uriscan_set_contains(self.0, at(text), length, &mut result, error)
        })
        .map(|()| result)
    }

    /// Inserts the texts as a batch, or looks them up.
    pub(crate) fn batch(&self, texts: &[&[u8]], insert: bool) -> Result<Vec<u8>, Failed> {
        let all = texts.concat();
        let ends = texts.iter().scan(0, |end, text| {
            *end += text.len();
            Some(*end)
        });
        let offsets: Vec<usize> = [0].into_iter().chain(ends).collect();
        let mut results = vec![7; texts.len()];
        let call = if insert { uriscan_set_insert_batch } else { uriscan_set_contains_batch };
        checked(|error| unsafe {
            let (first, to) = (offsets.as_ptr(), results.as_mut_ptr());
            call(self.0, at(&all), first, texts.len(), to, error)
        })?;
        Ok(results)
    }

    pub(crate) fn commit(&self) -> Result<u64, Failed> {
        let mut added = 7;
        checked(|error| unsafe { uriscan_set_commit(self.0, &mut added, error) }).map(|()| added)
    }

    pub(crate) fn count(&self) -> u64 {
        let mut count = 7;
        checked(|error| unsafe { uriscan_set_count(self.0, &mut count, error) }).unwrap();
        count
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        unsafe { uriscan_set_free(self.0) }
    }
}

/// Where a link begins and ends, its URI, and the kind of place.
type Found = (usize, usize, String, String);

/// The links of each text.
pub(crate) fn extract(options: &str, texts: &[&[u8]]) -> Result<Vec<Vec<Found>>, Failed> {
    let (mut handle, list) = (null_mut(), uriscan_links_new());
    checked(|error| unsafe {
        uriscan_extractor_new(at(options.as_bytes()), options.len(), &mut handle, error)
    })?;
    let mut all = Vec::new();
    for text in texts {
        let (mut found, mut count) = (null(), 0);
        checked(|error| unsafe {
            uriscan_extract(handle, at(text), text.len(), list, &mut found, &mut count, error)
        })?;
        let string = |text: *const c_char, length| unsafe {
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
            String::from_utf8_lossy(bytes).into_owned()
        };
        let link = |i| {
            let link: &UriscanLink = unsafe { &*found.add(i) };
            let context = string(link.context, link.context_length);
            (link.start, link.end, string(link.uri, link.uri_length), context)
        };
        all.push((0..count).map(link).collect());
    }
    unsafe {
        uriscan_links_free(list);
        uriscan_extractor_free(handle);
    }
    Ok(all)
}
