//! What is kept from record to record while the parts of a text are counted.

use crate::pipeline::params::ParamNames;
use uriscan_core::shape::Shaper;
use uriscan_core::uri::Components;

/// What is kept from record to record of a text.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) names: ParamNames,
    shaper: Shaper,
    shape: Vec<u8>,
}

impl Buffers {
    pub(super) fn shape(&mut self, slugs: bool, form: &[u8], parts: &Components) -> &[u8] {
        let Buffers { shaper, shape, .. } = self;
        shape.clear();
        *shaper = core::mem::take(shaper).slugs(slugs);
        shaper.append(form, parts, shape);
        shape
    }
}
