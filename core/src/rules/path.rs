//! The fast path for paths and fragments.

use super::parts::{decode, fold, has_dot_segment, is_meaningful, prefix_len, stem};
use super::rule::{Rule, Rules};
use super::scope::Scope;
use super::session;
use crate::uri::cuts::Lacks;

impl Scope {
    /// The rule that drops `fragment`, which is without its `#`.
    #[inline]
    pub(super) fn drops_fragment(&self, fragment: &[u8]) -> Option<Rule> {
        if self.rules.has(Rule::Fragment) {
            Some(Rule::Fragment)
        } else {
            (self.rules.has(Rule::Anchor) && !is_meaningful(fragment)).then_some(Rule::Anchor)
        }
    }

    /// The path under the rules; `lacks` is what it does not have.
    pub(super) fn path<'a>(
        &self,
        whole: &'a [u8],
        lacks: Lacks,
        buffers: &'a mut [Vec<u8>; 4],
        fired: &mut Rules,
    ) -> &'a [u8] {
        let mut path = whole;
        let mut changed = Rules::default();
        let [decoded, stripped, collapsed, folded] = buffers;
        let has_triplets = || !lacks.triplet && memchr::memchr(b'%', whole).is_some();
        if self.rules.has(Rule::PathDecode) && has_triplets() {
            decoded.clear();
            if decode(path, &self.decoded, decoded) {
                path = decoded;
                changed.add(Rule::PathDecode);
            }
        }
        // Decoding may make what there was not.
        let has_sessions = !lacks.session || !changed.is_empty();
        if self.rules.has(Rule::SessionId)
            && has_sessions
            && memchr::memchr2(b';', b'(', path).is_some()
        {
            stripped.clear();
            if session::strip_path(path, stripped) {
                path = stripped;
                changed.add(Rule::SessionId);
            }
        }
        let has_slashes = !lacks.slashes || !changed.is_empty();
        if self.rules.has(Rule::DuplicateSlash)
            && has_slashes
            && path.windows(2).any(|pair| pair == b"//")
        {
            collapsed.clear();
            collapsed.extend_from_slice(path);
            collapsed.dedup_by(|a, b| (*a, *b) == (b'/', b'/'));
            path = collapsed;
            changed.add(Rule::DuplicateSlash);
        }
        if self.rules.has(Rule::PathCase) {
            folded.clear();
            if fold(path, folded) {
                path = folded;
                changed.add(Rule::PathCase);
            }
        }
        let has_pages = !(self.index_pages.is_empty() && self.extensions.is_empty());
        loop {
            let len = prefix_len(path, &self.prefixes);
            if len > 0 {
                path = if len < path.len() { &path[len..] } else { b"/" };
                changed.add(Rule::PathPrefix);
            }
            let slash = match path.last() {
                Some(b'/') => path.len(),
                Some(_) if has_pages => memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1),
                _ => break,
            };
            let last = &path[slash..];
            if last.is_empty() {
                let is_single = path.len() >= 2 && path[path.len() - 2] != b'/';
                if !(is_single && self.rules.has(Rule::TrailingSlash)) {
                    break;
                }
                path = &path[..path.len() - 1];
                changed.add(Rule::TrailingSlash);
            } else if self.index_pages.iter().any(|page| page == last) {
                path = &path[..slash];
                changed.add(Rule::IndexPage);
            } else if let Some(stem) = stem(last, &self.extensions) {
                // What is left may be a prefix.
                path = &path[..slash + stem.len()];
                changed.add(Rule::Extension);
            } else {
                break;
            }
        }
        if changed.is_empty() || has_dot_segment(whole) {
            return whole;
        }
        *fired = fired.union(changed);
        path
    }
}
