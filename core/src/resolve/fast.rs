//! The fast path of resolution: a prefix of the base, the reference, and removal of dot segments by
//! masks.

use super::base::{Base, Merge};
use crate::index::Record;
use crate::simd::{BLOCK, Isa};
use crate::uri::dots::remove_dot_segments_in_blocks;
use crate::uri::relative::{Relative, relative};

/// Appends the target of a relative reference to `out`, which keeps its content. Returns `None` and
/// leaves `out` unchanged for a URI and for a reference that needs the reference path. Does not use
/// the index of the record.
#[inline(always)]
pub(crate) fn append_target<I: Isa>(
    isa: I,
    base: &Base<'_>,
    record: Record<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let relative = relative(isa, record)?;
    let (kept, needs_root) = kept_of_base(base, record, &relative)?;
    let c = &relative.components;
    let start = out.len();
    base.padded().part(0, kept as usize).append_to(out);
    if needs_root {
        out.push(b'/');
    }
    let reference = out.len();
    record.padded().append_to(out);
    if relative.dots {
        let (path, from) = if c.authority_start != 0 {
            let path = reference + c.path_start as usize;
            (path, path)
        } else {
            // A relative path begins after a `/` that is there already.
            let is_absolute = record.byte(0) == b'/';
            (start + base.parts().path_start as usize, reference - usize::from(!is_absolute))
        };
        let end = out.len();
        out.extend_from_slice(&[0; 2 * BLOCK]);
        let end = remove_dot_segments_in_blocks(isa, out, path, from, end);
        out.truncate(end);
    }
    Some(())
}

/// The number of bytes of the base before the reference in the target, and whether a `/` comes
/// between; `None` for the reference path.
#[inline(always)]
fn kept_of_base(base: &Base<'_>, record: Record<'_>, relative: &Relative) -> Option<(u32, bool)> {
    let c = &relative.components;
    let parts = base.parts();
    if c.authority_start != 0 {
        return Some((parts.scheme_end + 1, false));
    }
    if relative.dots && parts.authority_start == 0 {
        // The path might look like an authority.
        return None;
    }
    if c.path_end == 0 {
        let has_query = c.query_end != 0;
        return Some((if has_query { parts.path_end } else { parts.len }, false));
    }
    if record.byte(0) == b'/' {
        return Some((parts.path_start, false));
    }
    match base.merge() {
        Merge::UpTo(kept) => Some((kept, false)),
        Merge::Root => Some((parts.path_start, true)),
        Merge::Exact => None,
    }
}
