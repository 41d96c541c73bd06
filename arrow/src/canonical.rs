//! Kernels for canonical forms, keys and sort-friendly forms.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::Buffer;

use super::column::Column;
use super::pieces::{Piece, Row, Work, each_piece};
use super::text::{Text, Validity, join};
use super::{Columns, Error, Faults, OnInvalid, collect, text_to_other, text_to_text};
pub(crate) use uriscan_bulk::pipeline::{Invalid, Pending, Scratch};
use uriscan_core::chunk::Prefix;
use uriscan_core::index::Record;
use uriscan_core::key::{Hasher, PublicHasher};
use uriscan_core::simd::Isa;
use uriscan_core::surt;
use uriscan_core::uri::{UriError, UriErrorKind};

impl Columns {
    /// The canonical form of every value, as text of the same type.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use uriscan_arrow::{Columns, OnInvalid};
    /// let urls = StringArray::from(vec!["http://h/%7e", "no URI"]);
    /// let columns = Columns::default().on_invalid(OnInvalid::Null);
    /// let forms = columns.normalize(&urls).unwrap();
    /// assert_eq!(forms.as_string::<i32>(), &StringArray::from(vec![Some("http://h/~"), None]));
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub fn normalize(&self, values: &dyn Array) -> Result<ArrayRef, Error> {
        text_to_text(values, |values| self.forms(values, None).map(array))
    }

    /// Returns the sort-friendly form (SURT) of the canonical form of every value, as text of the
    /// same type. A value that is not a URI is not converted to that form.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn surt(&self, values: &dyn Array, form: surt::Form) -> Result<ArrayRef, Error> {
        text_to_text(values, |values| self.forms(values, Some(form)).map(array))
    }

    /// Returns the key of every value as `FixedSizeBinary(16)`: the bytes of [`uriscan_core::key::Key`],
    /// most significant first. These are the keys that [`uriscan_bulk::pipeline::keys`] writes in
    /// hexadecimal. A value over the size limit (64 MiB) has a key of zeros, which no other value
    /// has.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn key(&self, values: &dyn Array) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| self.keys(values).map(array))
    }

    /// [`Columns::key`] of a column that is not a dictionary, and the number of invalid values.
    pub fn keys(&self, values: &dyn Array) -> Result<(ArrayRef, Invalid), Error> {
        let has_no_targets =
            |aliases: &Arc<uriscan_bulk::pipeline::Aliases>| !aliases.has_targets();
        if self.equivalence.aliases.as_ref().is_some_and(has_no_targets) {
            return Err(Error::unsupported("keys need aliases that were read with their targets"));
        }
        let by = By::Public(self.equivalence.public_hasher(self.hash));
        let work = Keys { columns: self, by, takes_empty: true };
        let mut pieces = each_piece(self, &Column::new(values)?, &work)?;
        let invalid = collect(self.on_invalid, pieces.iter().map(|piece| piece.faults))?;
        let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
        let keys: Vec<&[[u8; 16]]> = pieces.iter().map(|piece| &piece.keys[..]).collect();
        let keys = Buffer::from_vec(keys.concat().into_flattened());
        Ok((Arc::new(FixedSizeBinaryArray::new(16, keys, nulls)), invalid))
    }

    /// Canonical or sort-friendly forms of a column that is not a dictionary, and the number of
    /// invalid values.
    pub fn forms(
        &self,
        values: &dyn Array,
        surt: Option<surt::Form>,
    ) -> Result<(ArrayRef, Invalid), Error> {
        let column = Column::new(values)?;
        let (faults, texts): (Vec<Faults>, Vec<Text>) =
            each_piece(self, &column, &Forms { columns: self, surt })?.into_iter().unzip();
        let invalid = collect(self.on_invalid, faults.into_iter())?;
        Ok((join(column.text_type, texts)?, invalid))
    }

    /// The form of a value within the size limit, as by `Equivalence::canonical`.
    #[inline(always)]
    pub(super) fn canonical<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<Prefix<'a>, UriError> {
        if record.is_empty() {
            self.check_empty()?;
        }
        self.equivalence.canonical_by(isa, record, scratch)
    }

    /// Fails unless an empty value has a form. The code that follows takes non-empty records, or
    /// targets.
    #[cold]
    fn check_empty(&self) -> Result<(), UriError> {
        match (&self.equivalence.profile, &self.equivalence.context) {
            (Some(_), _) => Err(UriError::new(UriErrorKind::Profile, 0)),
            (None, Some(context)) => context.append_target(b"", &mut Vec::new()),
            (None, None) => Err(UriError::new(UriErrorKind::Relative, 0)),
        }
    }
}

/// The fault of a value over the size limit.
pub(super) fn too_long(value: &[u8]) -> UriError {
    UriError::new(UriErrorKind::TooLong, value.len())
}

/// Drops the count from a kernel's result.
fn array((array, _): (ArrayRef, Invalid)) -> ArrayRef {
    array
}

struct Forms<'a> {
    columns: &'a Columns,
    surt: Option<surt::Form>,
}

impl Work for Forms<'_> {
    type Output = (Faults, Text);

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, scratch: &mut Scratch) -> (Faults, Text) {
        let Columns { equivalence, on_invalid, .. } = self.columns;
        let mut text = Text::with_capacity(piece.rows.len(), piece.bytes() + 64);
        let mut surts = surt::Scratch::default();
        let mut faults = Faults::default();
        for (row, value) in piece.rows.clone().zip(piece.iter()) {
            let (bytes, error) = match value {
                Row::Null => {
                    text.push_null();
                    continue;
                }
                Row::Value(record) => match self.columns.canonical(isa, record, scratch) {
                    Ok(form) => {
                        let shown = equivalence.aliased(&form);
                        match self.surt {
                            None => text.bytes.extend_from_slice(shown),
                            Some(form) => surt::write(shown, form, &mut surts, &mut text.bytes),
                        }
                        text.end_value();
                        continue;
                    }
                    Err(error) => {
                        let keeps = *on_invalid == OnInvalid::Pass;
                        if let Some(form) = self.surt.filter(|_| keeps)
                            && surt::write_invalid(
                                record.bytes(),
                                form,
                                equivalence.normalize,
                                &mut surts,
                                &mut text.bytes,
                            )
                        {
                            faults.add(row, error);
                            text.end_value();
                            continue;
                        }
                        (record.bytes(), error)
                    }
                },
                Row::TooLong(value) => (value, too_long(value)),
            };
            faults.add(row, error);
            text.push_option((*on_invalid == OnInvalid::Pass).then_some(bytes));
        }
        (faults, text)
    }
}

pub(super) struct Keys<'a> {
    pub(super) columns: &'a Columns,
    pub(super) by: By,
    pub(super) takes_empty: bool,
}

pub(super) enum By {
    Public(PublicHasher),
    Run(Hasher),
}

pub(super) struct KeysOfPiece {
    pub(super) keys: Vec<[u8; 16]>,
    pub(super) validity: Validity,
    pub(super) faults: Faults,
}

impl Work for Keys<'_> {
    type Output = KeysOfPiece;

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, scratch: &mut Scratch) -> KeysOfPiece {
        let equivalence = &self.columns.equivalence;
        let rows = piece.rows.len();
        let (mut keys, mut validity) = (Vec::with_capacity(rows), Validity::with_capacity(rows));
        let mut faults = Faults::default();
        // Public keys are hashed in batches; these are the rows they belong to.
        let (mut pending, mut waiting) = (Pending::default(), Vec::new());
        for (row, value) in piece.rows.clone().zip(piece.iter()) {
            let mut refused = |error| {
                faults.add(row, error);
                self.columns.on_invalid == OnInvalid::Pass
            };
            // The bytes that represent the value, and whether they are its canonical form.
            let (form, is_form) = match value {
                Row::Value(record) if !record.is_empty() || self.takes_empty => {
                    match self.columns.canonical(isa, record, scratch) {
                        Ok(form) => (Some(form), true),
                        Err(error) if refused(error) => (Some(record.padded().into()), false),
                        Err(_) => (None, false),
                    }
                }
                Row::Null | Row::Value(_) => (None, false),
                Row::TooLong(value) => {
                    validity.push(refused(too_long(value)));
                    keys.push([0; 16]);
                    continue;
                }
            };
            validity.push(form.is_some());
            let key = match (form, &self.by) {
                (None, _) => 0,
                (Some(form), By::Run(hasher)) => match is_form {
                    true => equivalence.key_by(isa, hasher, form).0,
                    false => hasher.key_by(isa, form).0,
                },
                (Some(form), By::Public(_)) => {
                    let shown = if is_form { equivalence.aliased_prefix(form) } else { form };
                    pending.push(piece.text(), shown);
                    waiting.push(keys.len());
                    0
                }
            };
            keys.push(key.to_be_bytes());
        }
        if let By::Public(hasher) = &self.by {
            for (row, key) in waiting.into_iter().zip(pending.keys(isa, hasher, piece.text())) {
                keys[row] = key.0.to_be_bytes();
            }
        }
        KeysOfPiece { keys, validity, faults }
    }
}
