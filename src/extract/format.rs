//! What a source holds.

/// The kinds of sources that links are extracted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Running text, lists, logs: anything in which a link is surrounded by what ends it.
    #[default]
    Text,
}

impl Format {
    /// The stable name used for options and in machine output.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
        }
    }
}
