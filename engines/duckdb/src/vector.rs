//! Vectors of DuckDB as arrays of Arrow, and back.

use core::ffi::{CStr, c_char};
use core::slice;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use libduckdb_sys as sys;
use uriscan_arrow::OptionValue;

use crate::api::Api;

/// A vector of the input of a call: flat, with as many rows as the call has.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    api: &'a Api,
    vector: sys::duckdb_vector,
    rows: usize,
}

/// Bytes of an array at most, since offsets have 32 bits.
const MOST: usize = i32::MAX as usize;

/// Bytes that room is made for at once.
const ROOM: usize = 128 << 10;

impl<'a> Input<'a> {
    /// All vectors of `chunk`.
    ///
    /// # Safety
    /// `chunk` is the input of a call that is running, and of `'a`.
    pub(crate) unsafe fn all(api: &'a Api, chunk: sys::duckdb_data_chunk) -> Vec<Input<'a>> {
        // SAFETY: `chunk` is valid; each index is below the count.
        unsafe {
            let rows = (api.duckdb_data_chunk_get_size)(chunk) as usize;
            (0..(api.duckdb_data_chunk_get_column_count)(chunk))
                .map(|i| Input { api, vector: (api.duckdb_data_chunk_get_vector)(chunk, i), rows })
                .collect()
        }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    fn is_null(&self, row: usize) -> bool {
        // SAFETY: the validity has a bit for each row, or there is none, since nothing is null.
        unsafe {
            let validity = (self.api.duckdb_vector_get_validity)(self.vector);
            !validity.is_null() && *validity.add(row / 64) >> (row % 64) & 1 == 0
        }
    }

    fn type_id(&self) -> sys::duckdb_type {
        type_of(self.api, self.vector)
    }

    /// The strings of a vector of text, which may be null.
    fn strings(&self) -> &'a [sys::duckdb_string_t] {
        // SAFETY: the data of a flat vector of text are strings, as many as rows.
        unsafe {
            let data = (self.api.duckdb_vector_get_data)(self.vector);
            slice::from_raw_parts(data.cast(), self.rows)
        }
    }

    fn nulls(&self) -> Option<NullBuffer> {
        // SAFETY: the validity has a bit for each row, or there is none.
        unsafe {
            let validity = (self.api.duckdb_vector_get_validity)(self.vector);
            if validity.is_null() {
                return None;
            }
            let words = slice::from_raw_parts(validity, self.rows.div_ceil(64));
            let bits = Buffer::from_slice_ref(words);
            let nulls = NullBuffer::new(arrow_buffer::BooleanBuffer::new(bits, 0, self.rows));
            (nulls.null_count() > 0).then_some(nulls)
        }
    }

    /// The texts, copied, in arrays of up to `bytes` bytes each, or of one text.
    pub(crate) fn arrays(&self, bytes: usize) -> Vec<BinaryArray> {
        let (strings, nulls) = (self.strings(), self.nulls());
        let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let mut arrays = Vec::new();
        let mut start = 0;
        while start < self.rows {
            let (mut text, mut ends) = (Vec::with_capacity(bytes.min(ROOM)), vec![0]);
            let mut row = start;
            while row < self.rows {
                // What a null holds is not said.
                let value = if is_null(row) { b"" } else { bytes_of(&strings[row]) };
                if row > start && text.len() + value.len() > bytes.min(MOST) {
                    break;
                }
                text.extend_from_slice(value);
                ends.push(text.len() as i32);
                row += 1;
            }
            let nulls = nulls.as_ref().map(|nulls| nulls.slice(start, row - start));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            arrays.push(BinaryArray::new(offsets, Buffer::from_vec(text), nulls));
            start = row;
        }
        arrays
    }

    /// The text that is the same in all rows; `None` where it is null.
    ///
    /// # Errors
    /// It is not the same.
    pub(crate) fn constant(&self, what: &str) -> Result<Option<String>, String> {
        let differs = || Err(format!("{what} must be the same for all rows"));
        match self.nulls().map_or(0, |nulls| nulls.null_count()) {
            nulls if nulls == self.rows => return Ok(None),
            0 => {}
            _ => return differs(),
        }
        let strings = self.strings();
        let first = bytes_of(&strings[0]);
        if strings.iter().any(|string| bytes_of(string) != first) {
            return differs();
        }
        Ok(Some(String::from_utf8_lossy(first).into_owned()))
    }

    /// The members of a struct of options, which are the same in all rows; those that are null are left out.
    ///
    /// # Errors
    /// It is not a struct, its members are not of a type that options have, or they differ from row to row.
    pub(crate) fn options(&self) -> Result<Vec<(String, OptionValue)>, String> {
        if self.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL {
            return Ok(Vec::new());
        }
        if self.type_id() != sys::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT {
            return Err("options are a struct, such as {'level': 'syntax'}".to_owned());
        }
        let mut options = Vec::new();
        for (i, name) in self.members().into_iter().enumerate() {
            // SAFETY: a struct has a child for each of its members, with as many rows.
            let vector =
                unsafe { (self.api.duckdb_struct_vector_get_child)(self.vector, i as sys::idx_t) };
            let value = Input { vector, ..*self }.option(&name)?;
            options.extend(value.map(|value| (name, value)));
        }
        Ok(options)
    }

    fn members(&self) -> Vec<String> {
        // SAFETY: the vector is a struct; its type and the names, which DuckDB allocates, are released once.
        unsafe {
            let mut logical_type = (self.api.duckdb_vector_get_column_type)(self.vector);
            let count = (self.api.duckdb_struct_type_child_count)(logical_type);
            let names = (0..count).map(|i| {
                let name = (self.api.duckdb_struct_type_child_name)(logical_type, i);
                let text = CStr::from_ptr(name).to_string_lossy().into_owned();
                (self.api.duckdb_free)(name.cast());
                text
            });
            let names = names.collect();
            (self.api.duckdb_destroy_logical_type)(&mut logical_type);
            names
        }
    }

    fn option(&self, name: &str) -> Result<Option<OptionValue>, String> {
        match self.type_id() {
            sys::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL => Ok(None),
            sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => Ok(self.constant(name)?.map(OptionValue::Text)),
            sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => {
                // SAFETY: the data of a flat vector of booleans are bytes, as many as rows.
                let flags = unsafe {
                    let data = (self.api.duckdb_vector_get_data)(self.vector);
                    slice::from_raw_parts(data.cast::<u8>(), self.rows)
                };
                if self.rows == 0 || self.is_null(0) {
                    return Ok(None);
                }
                if (0..self.rows).any(|row| self.is_null(row) || flags[row] != flags[0]) {
                    return Err(format!("{name} must be the same for all rows"));
                }
                Ok(Some(OptionValue::Flag(flags[0] != 0)))
            }
            sys::DUCKDB_TYPE_DUCKDB_TYPE_LIST => self.list(name),
            _ => Err(format!("{name} is a text, a boolean or a list of texts")),
        }
    }

    fn list(&self, name: &str) -> Result<Option<OptionValue>, String> {
        if self.rows == 0 || self.is_null(0) {
            return Ok(None);
        }
        // SAFETY: the data of a flat vector of lists are entries, as many as rows, each a range of the rows of the child.
        let (entries, child) = unsafe {
            let data = (self.api.duckdb_vector_get_data)(self.vector);
            let entries: &[sys::duckdb_list_entry] = slice::from_raw_parts(data.cast(), self.rows);
            (entries, (self.api.duckdb_list_vector_get_child)(self.vector))
        };
        let rows = entries.iter().map(|entry| entry.offset + entry.length).max().unwrap_or(0);
        let child = Input { vector: child, rows: rows as usize, ..*self };
        if child.rows > 0 && child.type_id() != sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR {
            return Err(format!("{name} is a list of texts"));
        }
        let strings = if child.rows > 0 { child.strings() } else { &[] };
        let of = |row: usize| {
            let sys::duckdb_list_entry { offset, length } = entries[row];
            strings[offset as usize..][..length as usize].iter().map(bytes_of)
        };
        let are_same = (1..self.rows).all(|row| !self.is_null(row) && of(row).eq(of(0)));
        if !are_same || (0..child.rows).any(|row| child.is_null(row)) {
            return Err(format!("{name} must be the same for all rows, without nulls"));
        }
        let texts = of(0).map(|text| String::from_utf8_lossy(text).into_owned());
        Ok(Some(OptionValue::List(texts.collect())))
    }
}

/// The type of `vector`, one of the input or the output of a call.
fn type_of(api: &Api, vector: sys::duckdb_vector) -> sys::duckdb_type {
    // SAFETY: the vector is valid; its type is released once.
    unsafe {
        let mut logical_type = (api.duckdb_vector_get_column_type)(vector);
        let id = (api.duckdb_get_type_id)(logical_type);
        (api.duckdb_destroy_logical_type)(&mut logical_type);
        id
    }
}

/// The bytes of a string.
fn bytes_of(string: &sys::duckdb_string_t) -> &[u8] {
    // SAFETY: a string of up to 12 bytes holds them, a longer one points to them; its length says which.
    unsafe {
        let length = string.value.inlined.length as usize;
        let bytes = match length {
            0..=12 => string.value.inlined.inlined.as_ptr(),
            _ => string.value.pointer.ptr.cast_const(),
        };
        slice::from_raw_parts(bytes.cast(), length)
    }
}

/// The vector that a call fills: flat, with as many rows as the input.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    api: &'a Api,
    vector: sys::duckdb_vector,
}

impl<'a> Output<'a> {
    /// # Safety
    /// `vector` is the output of a call that is running, and of `'a`.
    pub(crate) unsafe fn new(api: &'a Api, vector: sys::duckdb_vector) -> Output<'a> {
        Output { api, vector }
    }

    /// Writes `array` to the rows from `start` on, which must be of the vector's type and in its range: text, keys of 16
    /// bytes, booleans, or structs of text.
    pub(crate) fn write(&self, start: usize, array: &dyn Array) -> Result<(), String> {
        self.write_nulls(start, array);
        if let Some(texts) = array.as_binary_opt::<i32>() {
            self.write_texts(start, texts.iter());
        } else if let Some(texts) = array.as_string_opt::<i32>() {
            self.write_texts(start, texts.iter().map(|text| text.map(str::as_bytes)));
        } else if let Some(keys) = array.as_fixed_size_binary_opt() {
            match type_of(self.api, self.vector) {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => self.write_numbers(start, keys.iter()),
                _ => self.write_texts(start, keys.iter()),
            }
        } else if let Some(flags) = array.as_boolean_opt() {
            for (i, flag) in flags.iter().enumerate() {
                // SAFETY: the data of a vector of booleans are bytes; the row is in range.
                unsafe {
                    let data = (self.api.duckdb_vector_get_data)(self.vector).cast::<u8>();
                    data.add(start + i).write(u8::from(flag.unwrap_or_default()));
                }
            }
        } else if let Some(parts) = array.as_struct_opt() {
            for (i, part) in parts.columns().iter().enumerate() {
                // SAFETY: the struct of the output has these members.
                let vector = unsafe {
                    (self.api.duckdb_struct_vector_get_child)(self.vector, i as sys::idx_t)
                };
                Output { vector, ..*self }.write(start, part)?;
            }
        } else {
            return Err(format!("there is no way to write {}", array.data_type()));
        }
        Ok(())
    }

    fn write_nulls(&self, start: usize, array: &dyn Array) {
        if array.null_count() == 0 {
            return;
        }
        // SAFETY: afterwards the validity has a bit for each row.
        let validity = unsafe {
            (self.api.duckdb_vector_ensure_validity_writable)(self.vector);
            (self.api.duckdb_vector_get_validity)(self.vector)
        };
        for row in (0..array.len()).filter(|&row| array.is_null(row)).map(|row| start + row) {
            // SAFETY: the row is in range.
            unsafe { *validity.add(row / 64) &= !(1 << (row % 64)) };
        }
    }

    fn write_texts<'t>(&self, start: usize, texts: impl Iterator<Item = Option<&'t [u8]>>) {
        for (row, text) in (start..).zip(texts) {
            let Some(text) = text else { continue };
            let (bytes, len) = (text.as_ptr().cast::<c_char>(), text.len() as sys::idx_t);
            // SAFETY: the row is in range; DuckDB copies the bytes.
            unsafe {
                (self.api.duckdb_vector_assign_string_element_len)(
                    self.vector,
                    row as sys::idx_t,
                    bytes,
                    len,
                );
            }
        }
    }

    fn write_numbers<'t>(&self, start: usize, keys: impl Iterator<Item = Option<&'t [u8]>>) {
        // SAFETY: the data of a vector of UHUGEINT are numbers, as many as rows.
        let data = unsafe { (self.api.duckdb_vector_get_data)(self.vector) };
        let data = data.cast::<sys::duckdb_uhugeint>();
        for (row, key) in (start..).zip(keys) {
            let key = key.and_then(|key| key.try_into().ok()).map_or(0, u128::from_be_bytes);
            let number = sys::duckdb_uhugeint { lower: key as u64, upper: (key >> 64) as u64 };
            // SAFETY: the row is in range.
            unsafe { data.add(row).write(number) };
        }
    }
}
