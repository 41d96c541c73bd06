//! Counts the parts of a record, and adds it to its group.

use memchr::{memchr, memchr3_iter};
use xxhash_rust::xxh3::xxh3_64;

use super::part::{Part, Piece, weight};
use super::{Overview, Panel, Survey};
use crate::pipeline::params::ParamNames;
use crate::top_k::Recent;
use uriscan_core::audit::redact_into;
use uriscan_core::index::Record;
use uriscan_core::shape::is_repeating;
use uriscan_core::simd::Isa;
use uriscan_core::uri::bulk::parse_record;
use uriscan_core::uri::{Components, UriError, UriErrorKind, parse};

/// Buffers for counting.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) recent: [Recent; Panel::COUNT],
    names: ParamNames,
    masked: Vec<u8>,
}

/// Counts the records of a piece of a part.
pub(super) struct RecordCounter<'a> {
    survey: &'a Survey,
    pub(super) part: &'a mut Part,
    buffers: &'a mut Buffers,
    /// Records with the schemes `http` and `https`.
    http: [u64; 2],
}

impl<'a> RecordCounter<'a> {
    /// Counts nothing yet; in the last piece of `part`.
    pub(super) fn new(
        survey: &'a Survey,
        part: &'a mut Part,
        buffers: &'a mut Buffers,
    ) -> RecordCounter<'a> {
        RecordCounter { survey, part, buffers, http: [0; 2] }
    }

    /// Counts the parts of `form`, the canonical form of the record `raw` at the offset `byte` of its source.
    #[inline(always)]
    pub(super) fn count_record<I: Isa>(&mut self, isa: I, form: Record<'_>, raw: &[u8], byte: u64) {
        self.part.counted += 1;
        let bytes = form.bytes();
        let parts = if bytes.is_empty() { None } else { parse_record(isa, form).ok() };
        match parts {
            Some(parts) => self.count_parts(bytes, &parts),
            None => self.part.absent_hosts += 1,
        }
        if !self.survey.has_own_forms {
            self.add_to_group(bytes, raw, byte);
        }
    }

    #[inline(always)]
    fn count_parts(&mut self, form: &[u8], parts: &Components) {
        match parts.scheme(form) {
            Some(b"http") => self.http[0] += 1,
            Some(b"https") => self.http[1] += 1,
            Some(scheme) => self.add(Panel::Scheme, scheme),
            None => {}
        }
        match parts.host(form).filter(|host| !host.is_empty()) {
            Some(host) => self.add(Panel::Host, host),
            None => self.part.absent_hosts += 1,
        }
        if let Some(depth) = depth(parts.path(form), parts.authority_start > 0) {
            self.part.depths[depth.min(Overview::DEPTHS - 1)] += 1;
            if depth >= Overview::DEPTHS - 1 {
                self.part.repeating += u64::from(is_repeating(parts.path(form)));
            }
        }
        if let Some(query) = parts.query(form).filter(|query| !query.is_empty()) {
            self.count_query(form, query);
        }
    }

    #[inline(always)]
    fn add(&mut self, panel: Panel, text: &[u8]) {
        let (panel, piece) = (panel as usize, self.part.last_piece());
        piece.counts[panel].add(&mut self.buffers.recent[panel], text, 1);
    }

    /// Counts the names of the parameters of `query`, which is that of `form`.
    #[inline(always)]
    fn count_query(&mut self, form: &[u8], query: &[u8]) {
        if may_cut_secret(query) {
            return self.count_masked_query(form);
        }
        self.count_names(query);
    }

    /// Counts the names of parameters of `form` with its secrets masked: part of a secret is not known as one.
    #[inline(never)]
    fn count_masked_query(&mut self, form: &[u8]) {
        let mut masked = std::mem::take(&mut self.buffers.masked);
        masked.clear();
        redact_into(form, &mut masked);
        if let Some(query) = parse(&masked).ok().and_then(|parts| parts.query(&masked)) {
            self.count_names(query);
        }
        self.buffers.masked = masked;
    }

    /// Counts the names of parameters, each once.
    #[inline(always)]
    fn count_names(&mut self, query: &[u8]) {
        let mut names = std::mem::take(&mut self.buffers.names);
        names.each(query, |name| self.add(Panel::Param, name));
        self.buffers.names = names;
    }

    #[inline(always)]
    fn add_to_group(&mut self, form: &[u8], raw: &[u8], byte: u64) {
        let position = self.part.start.wrapping_add(byte);
        let (survey, piece) = (self.survey, self.part.last_piece());
        add_to_group(survey, piece, &mut self.buffers.recent, form, raw, position);
    }

    /// Counts the record `raw`, which is invalid because of `error`.
    #[cold]
    #[inline(never)]
    pub(super) fn count_invalid(&mut self, raw: &[u8], line: u64, byte: u64, error: UriError) {
        self.part.fault(line, raw, error);
        let is_group = self.survey.options.keeps_invalid;
        if is_group && !self.survey.has_own_forms && error.kind != UriErrorKind::TooLong {
            self.add_to_group(raw, raw, byte);
        }
    }

    /// Makes the counts of the piece ready to be added.
    pub(super) fn end(self) {
        let RecordCounter { survey, part, buffers, http } = self;
        let piece = part.last_piece();
        for (scheme, count) in [&b"http"[..], b"https"].into_iter().zip(http) {
            if count > 0 {
                let panel = Panel::Scheme as usize;
                piece.counts[panel].add(&mut buffers.recent[panel], scheme, count);
            }
        }
        piece.counts.iter_mut().for_each(|counts| counts.partition(&survey.options.hasher));
        piece.candidates.sort();
    }
}

/// Adds the record `raw`, which is at `position`, to the group of `form`.
#[inline(always)]
pub(super) fn add_to_group(
    survey: &Survey,
    piece: &mut Piece,
    recent: &mut [Recent; Panel::COUNT],
    form: &[u8],
    raw: &[u8],
    position: u64,
) {
    let Some(sample) = &survey.sample else { return };
    let rank = xxh3_64(form);
    if sample.takes(rank) {
        piece.candidates.push(position, (survey.options.hasher.key(form), rank), raw);
    }
    let weight = weight(position);
    if weight > 0 {
        let panel = Panel::Form as usize;
        piece.counts[panel].add(&mut recent[panel], form, weight);
    }
}

/// The number of segments of `path` that are not empty; `None` for a path that is not one of segments.
#[inline(always)]
fn depth(path: &[u8], has_authority: bool) -> Option<usize> {
    match path {
        [] => has_authority.then_some(0),
        [b'/', ..] => {
            let begins = |pair: &[u8]| usize::from((pair[0] == b'/') & (pair[1] != b'/'));
            Some(path.windows(2).map(begins).sum())
        }
        _ => None,
    }
}

/// Whether names in `query`, of a canonical form, may be parts of secrets, or hold some: a secret with an `@` after it or
/// quotes around it may hold a `&`, and one after an encoded `=` is in a name; all perhaps encoded in any number of layers.
#[inline(always)]
fn may_cut_secret(query: &[u8]) -> bool {
    let is_mark = |at: usize| match query[at] {
        b'%' => matches!(query.get(at + 1..at + 3), Some(b"40" | b"22" | b"27" | b"25" | b"3D")),
        _ => true,
    };
    memchr3_iter(b'@', b'%', b'"', query).any(is_mark) || memchr(b'\'', query).is_some()
}
