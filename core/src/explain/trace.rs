//! A text that undergoes changes, and the origin of each of its bytes in the input.

use std::ops::Range;

use super::{Change, Component, Step};

/// A change: these bytes of the text are replaced by those.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) step: &'static Step,
    pub(super) component: Component,
    /// The range in the text before the change.
    pub(super) range: Range<usize>,
    pub(super) after: Vec<u8>,
}

/// A text that steps change, one after the other.
pub(super) trait Changed {
    fn text(&self) -> &[u8];

    /// Applies and removes `edits`, whose ranges are in order and do not overlap. Edits without effect are not
    /// recorded. Returns whether any had one.
    fn apply(&mut self, edits: &mut Vec<Edit>) -> bool;
}

/// A text and the steps that changed it, without what they changed.
#[derive(Debug, Default)]
pub(super) struct Taken {
    text: Vec<u8>,
    /// The text before the step.
    before: Vec<u8>,
    pub(super) steps: Vec<(&'static Step, Component)>,
    /// A buffer.
    pub(super) edits: Vec<Edit>,
}

impl Taken {
    /// Begins with `input`, unchanged.
    pub(super) fn begin(&mut self, input: &[u8]) {
        self.steps.clear();
        self.text.clear();
        self.text.extend_from_slice(input);
    }
}

impl Changed for Taken {
    fn text(&self) -> &[u8] {
        &self.text
    }

    fn apply(&mut self, edits: &mut Vec<Edit>) -> bool {
        edits.retain(|edit| self.text[edit.range.clone()] != edit.after);
        if edits.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.text, &mut self.before);
        self.text.clear();
        let mut at = 0;
        for Edit { step, component, range, after } in edits.drain(..) {
            self.text.extend_from_slice(&self.before[at..range.start]);
            self.text.extend_from_slice(&after);
            at = range.end;
            self.steps.push((step, component));
        }
        self.text.extend_from_slice(&self.before[at..]);
        true
    }
}

/// A text and the changes that produced it.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    text: Vec<u8>,
    /// For each byte of the text, the bytes of the input that it comes from.
    origins: Vec<Range<u32>>,
    input_len: u32,
    changes: Vec<Change>,
}

impl Trace {
    /// The input, unchanged. Its length fits 32 bits.
    pub(super) fn new(input: &[u8]) -> Trace {
        let input_len = input.len() as u32;
        let origins = (0..input_len).map(|at| at..at + 1).collect();
        Trace { text: input.to_vec(), origins, input_len, changes: Vec::new() }
    }

    /// The bytes of the input that `range` of the text comes from; for an empty range, the
    /// position.
    fn origin(&self, range: Range<usize>) -> Range<u32> {
        match self.origins[range.clone()] {
            [] => {
                let before = range.start.checked_sub(1).map(|at| self.origins[at].end);
                let after = self.origins.get(range.start).map(|origin| origin.start);
                let at = after.or(before).unwrap_or(self.input_len);
                at..at
            }
            [ref only] => only.clone(),
            [ref first, .., ref last] => first.start..last.end,
        }
    }

    /// Returns the text, the changes that produced it, and the origin of each of its bytes in the
    /// input.
    ///
    pub(super) fn finish(self) -> (Vec<u8>, Vec<Change>, Vec<Range<u32>>) {
        (self.text, self.changes, self.origins)
    }
}

impl Changed for Trace {
    fn text(&self) -> &[u8] {
        &self.text
    }

    fn apply(&mut self, edits: &mut Vec<Edit>) -> bool {
        edits.retain(|edit| self.text[edit.range.clone()] != edit.after);
        if edits.is_empty() {
            return false;
        }
        let mut text = Vec::with_capacity(self.text.len());
        let mut origins = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for Edit { step, component, range, after } in edits.drain(..) {
            let before = &self.text[range.clone()];
            text.extend_from_slice(&self.text[at..range.start]);
            origins.extend_from_slice(&self.origins[at..range.start]);
            at = range.end;
            let origin = self.origin(range.clone());
            let same_at_start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
            let rest = before.len().min(after.len()) - same_at_start;
            let ends = before.iter().rev().zip(after.iter().rev());
            let same_at_end = ends.take(rest).take_while(|(a, b)| a == b).count();
            let new = same_at_start..after.len() - same_at_end;
            // If the length is unchanged, each byte comes from the one at its position.
            let new_origins = if before.len() == after.len() {
                self.origins[range.start + new.start..][..new.len()].to_vec()
            } else {
                let old = range.start + same_at_start..range.end - same_at_end;
                vec![self.origin(old); new.len()]
            };
            origins.extend_from_slice(&self.origins[range.start..][..same_at_start]);
            origins.extend(new_origins);
            origins.extend_from_slice(&self.origins[range.end - same_at_end..range.end]);
            let (start, end) = (origin.start as usize, origin.end as usize);
            text.extend_from_slice(&after);
            let before = before.to_vec();
            self.changes.push(Change { step, component, start, end, before, after });
        }
        text.extend_from_slice(&self.text[at..]);
        origins.extend_from_slice(&self.origins[at..]);
        (self.text, self.origins) = (text, origins);
        true
    }
}
