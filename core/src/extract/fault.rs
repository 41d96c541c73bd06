//! What of a source was not searched, or only in part.

use std::borrow::Cow;

use uriscan_files::escape::escaped_bytes;

/// Maximum number of marks of a parsed document: the tree takes up to 300 bytes for each, so memory stays below
/// 450 MiB. Prose has one in thirty bytes, tables and lists of links one in ten.
pub(super) const MOST_MARKS: usize = if cfg!(test) { 10_000 } else { 1 << 20 };

/// Bytes of the longest base that a document specifies for itself, or has as its own URI in an archive: longer ones are
/// ignored, as every reference to them would be as long.
pub(super) const LONGEST_BASE: usize = 2048;

/// Maximum number of bytes of URIs that are generated for each byte of a document, and [`MORE_MADE`]: it may have a long
/// base and millions of references.
pub(super) const MOST_MADE: usize = 8;
pub(super) const MORE_MADE: usize = 1 << 20;

/// A part of a source that was not searched, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A coded body in an archive.
    Body {
        /// Offset of the first byte of its record in the chunk.
        at: u32,
        /// Its `Content-Encoding`.
        codings: Box<[u8]>,
        /// The target URI of the record.
        target: Box<[u8]>,
        /// How much of it was searched.
        what: BodyFault,
    },
    /// A base of this many bytes, which was ignored.
    Base(Document, usize),
    /// Links of a document that were skipped, because all of them have more bytes than it may make.
    Links(Document, u64),
    /// A Markdown document with this number of marks.
    Marks(usize),
    /// The first record of the chunk, which is longer than the limit: its first bytes, as many as this, were searched as
    /// what they are, and the rest as text, or not at all.
    Long(u32, bool),
    /// A sitemap or feed that is not well-formed at this offset of the chunk.
    Xml(u32),
    /// An HTTP archive that breaks off, with its length.
    CutOff(u32),
    /// JSON that breaks off within its last line, with its length.
    LastLine(u32),
    /// A part of a message.
    Part {
        /// Offset of the fault in the chunk, or of the part.
        at: u32,
        /// Its kind.
        what: PartFault,
    },
}

/// What is wrong with a coded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFault {
    /// It is truncated or too long; its beginning was searched.
    Partial,
    /// It expands to more than this many times its length; its beginning was searched.
    Expands(u64),
    /// It cannot be decoded.
    Unknown,
}

/// A document in a chunk, for messages about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Offset of its first byte in the chunk, if that has several.
    pub(super) at: Option<u32>,
    /// Its own URI.
    pub(super) target: Box<[u8]>,
}

impl Document {
    /// What messages begin with, given that the chunk begins at byte `start` of the source.
    fn name(&self, start: u64) -> String {
        let about = match &*self.target {
            [] => String::new(),
            target => format!(" ({})", escaped_bytes(target)),
        };
        match self.at {
            None => String::new(),
            Some(at) => format!("record at byte {}{about}: ", start + u64::from(at)),
        }
    }
}

/// What is wrong with a part of a message, or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartFault {
    /// It is not base64 from this place on.
    Base64,
    /// A `=` in it does not belong to quoted-printable.
    QuotedPrintable,
    /// Its transfer encoding is unknown.
    Encoding,
    /// It is nested too deep.
    Nesting,
    /// The message ends before the last boundary.
    CutOff,
    /// A response in an HTTP archive is not base64 from this place on.
    Body,
}

impl PartFault {
    /// Describes it, given the offset in the source.
    fn message(self, at: u64) -> String {
        match self {
            PartFault::Base64 => {
                format!("byte {at}: is not base64; the rest of the part was searched as text")
            }
            PartFault::QuotedPrintable => {
                format!("byte {at}: is not quoted-printable and was searched as it is")
            }
            PartFault::Encoding => format!(
                "part at byte {at}: its Content-Transfer-Encoding is unknown; it was searched as it is"
            ),
            PartFault::Body => {
                format!("byte {at}: is not base64; the rest of the response was not searched")
            }
            PartFault::CutOff => format!(
                "byte {at}: the message ends before the boundary after its last part; what there is was searched"
            ),
            PartFault::Nesting => {
                format!("part at byte {at}: is nested too deep and was searched as text")
            }
        }
    }
}

impl Fault {
    /// Maximum number of faults that are described, for a chunk and for a run; further ones are counted.
    pub const MOST: usize = 20;

    /// Maximum number of bytes of a coding and of a URI that are shown.
    const SHOWN: usize = 200;

    pub(crate) fn of_body(
        at: u32,
        codings: &[u8],
        target: Option<&[u8]>,
        what: BodyFault,
    ) -> Fault {
        let (codings, target) = (Fault::shown(codings), Fault::shown(target.unwrap_or_default()));
        Fault::Body { at, codings, target, what }
    }

    /// The bytes of `text` that are shown.
    pub(super) fn shown(text: &[u8]) -> Box<[u8]> {
        text[..text.len().min(Fault::SHOWN)].into()
    }

    /// Describes it, given that its chunk begins at byte `start` of the source.
    pub fn message(&self, start: u64) -> String {
        match self {
            Fault::Body { at, codings, target, what } => {
                let at = start + u64::from(*at);
                let (coding, target) = (escaped_bytes(codings), escaped_bytes(target));
                let about = if target.is_empty() { String::new() } else { format!(" ({target})") };
                let what = match what {
                    BodyFault::Partial => {
                        "is truncated or has more than 64 MiB; its beginning was searched".into()
                    }
                    BodyFault::Unknown => "cannot be decoded and was skipped".into(),
                    BodyFault::Expands(times) => Cow::from(format!(
                        "expands to more than {times} times its length; its beginning was searched"
                    )),
                };
                let coding = match codings.is_empty() {
                    true => String::new(),
                    false => format!(", Content-Encoding {coding},"),
                };
                format!("record at byte {at}{about}: its body{coding} {what}")
            }
            Fault::Base(document, len) => format!(
                "{}a base of {len} bytes, more than {LONGEST_BASE}, was ignored",
                document.name(start)
            ),
            Fault::Links(document, count) => format!(
                "{}{} skipped: the links of a document may have {MOST_MADE} times its bytes and 1 MiB more",
                document.name(start),
                match count {
                    1 => "a link was".to_owned(),
                    count => format!("{count} links were"),
                }
            ),
            Fault::Xml(at) => format!(
                "is not well-formed XML at byte {}; the rest was not searched",
                start + u64::from(*at)
            ),
            Fault::CutOff(len) => format!(
                "the HTTP archive breaks off at byte {}; what there is was searched",
                start + u64::from(*len)
            ),
            Fault::LastLine(len) => format!(
                "the JSON breaks off at byte {}; what there is was searched",
                start + u64::from(*len)
            ),
            Fault::Long(len, is_searched) => format!(
                "record at byte {start}: is longer than the limit; what follows its first {len} bytes was {}",
                match is_searched {
                    true => "searched as plain text, without relative references and coded parts",
                    false => "skipped",
                }
            ),
            Fault::Part { at, what } => what.message(start + u64::from(*at)),
            Fault::Marks(count) => format!(
                "has {count} marks of Markdown, more than the {} that are parsed; it was searched as plain text, without relative references",
                MOST_MARKS
            ),
        }
    }
}
