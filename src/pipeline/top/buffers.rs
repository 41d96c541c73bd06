//! What is kept from record to record while the parts of a text are counted.

use super::names::Names;
use crate::shape::Shaper;
use crate::uri::Components;

/// What is kept from record to record of a text.
#[derive(Debug, Default)]
pub(super) struct Buffers<'t> {
    pub(super) names: Names<'t>,
    shaper: Shaper,
    shape: Vec<u8>,
}

impl Buffers<'_> {
    /// The shape of `form`, whose components are `parts`.
    pub(super) fn shape(&mut self, slugs: bool, form: &[u8], parts: &Components) -> &[u8] {
        let Buffers { shaper, shape, .. } = self;
        shape.clear();
        *shaper = core::mem::take(shaper).slugs(slugs);
        shaper.append(form, parts, shape);
        shape
    }
}
