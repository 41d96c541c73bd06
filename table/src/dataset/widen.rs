//! Types that hold the values of two others without loss, and arrays in these types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
    new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};

/// The type that holds all values of both, if there is one.
pub(super) fn joined(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::*;
    if one == other {
        return Some(one.clone());
    }
    if let Some(whole) = joined_numbers(one, other) {
        return Some(whole);
    }
    Some(match (one, other) {
        (Null, wide) | (wide, Null) => wide.clone(),
        (Dictionary(_, value), plain) | (plain, Dictionary(_, value)) => joined(value, plain)?,
        (RunEndEncoded(_, value), plain) | (plain, RunEndEncoded(_, value)) => {
            joined(value.data_type(), plain)?
        }
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => {
            if *one == LargeUtf8 || *other == LargeUtf8 { LargeUtf8 } else { Utf8 }
        }
        (Binary | LargeBinary | BinaryView, Binary | LargeBinary | BinaryView) => {
            if *one == LargeBinary || *other == LargeBinary { LargeBinary } else { Binary }
        }
        (Date32, Date64) | (Date64, Date32) => Date64,
        (Time32(a) | Time64(a), Time32(b) | Time64(b)) => match *a.max(b) {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => Time32(unit),
            unit => Time64(unit),
        },
        (Duration(a), Duration(b)) => Duration(*a.max(b)),
        (Timestamp(a, zone), Timestamp(b, other))
            if is_same_zone(zone.as_deref(), other.as_deref()) =>
        {
            Timestamp(*a.max(b), zone.clone())
        }
        (List(a), List(b)) => List(joined_field(a, b)?),
        (List(a) | LargeList(a), List(b) | LargeList(b)) => LargeList(joined_field(a, b)?),
        (FixedSizeList(a, len), FixedSizeList(b, other)) if len == other => {
            FixedSizeList(joined_field(a, b)?, *len)
        }
        (Map(a, is_sorted), Map(b, other)) if is_sorted == other => {
            Map(joined_field(a, b)?, *is_sorted)
        }
        (Struct(a), Struct(b)) => Struct(joined_fields(a, b)?),
        _ => return None,
    })
}

/// [`joined`] for numbers: only types that hold each value of the others exactly.
fn joined_numbers(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::*;
    // The widest of whole numbers, in bits, with or without a sign.
    let whole = |of: &DataType| {
        let is_signed = of.is_signed_integer();
        of.is_integer().then(|| (is_signed, of.primitive_width().unwrap_or(0) * 8))
    };
    // With the bits of their significands.
    let floats = [(11, Float16), (24, Float32), (53, Float64)];
    let exact = |of: &DataType| floats.iter().find(|(_, float)| float == of).map(|(bits, _)| *bits);
    let float =
        |bits: usize| floats.iter().find(|(most, _)| bits <= *most).map(|(_, float)| float.clone());
    match (whole(one), whole(other), exact(one), exact(other)) {
        (Some((a, bits)), Some((b, more)), ..) => {
            // A signed number needs a bit more than an unsigned one.
            let widened = |is_signed: bool, bits: usize| if is_signed { bits } else { 2 * bits };
            let bits = if a == b { bits.max(more) } else { widened(a, bits).max(widened(b, more)) };
            let all = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64];
            all.into_iter().find(|of| whole(of) == Some((a || b, bits)))
        }
        (_, _, Some(a), Some(b)) => float(a.max(b)),
        (Some((is_signed, bits)), _, _, Some(of)) | (_, Some((is_signed, bits)), Some(of), _) => {
            float(of.max(if is_signed { bits - 1 } else { bits }))
        }
        _ => joined_decimals(one, other),
    }
}

/// [`joined`] for decimals: as many digits before and after the point as either has.
fn joined_decimals(one: &DataType, other: &DataType) -> Option<DataType> {
    let digits = |of: &DataType| match of {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale)))
        }
        _ => None,
    };
    let ((before, after), (more, also)) = (digits(one)?, digits(other)?);
    let scale = after.max(also);
    let precision = u8::try_from(before.max(more) + scale).ok()?;
    let scale = i8::try_from(scale).ok()?;
    let is_short = |of: &DataType| matches!(of, DataType::Decimal128(..));
    match precision {
        ..=38 if is_short(one) && is_short(other) => Some(DataType::Decimal128(precision, scale)),
        ..=76 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

/// Whether times in both are the same instants and are shown the same: the names of UTC are.
fn is_same_zone(one: Option<&str>, other: Option<&str>) -> bool {
    let is_utc = |zone: Option<&str>| matches!(zone, Some("UTC" | "Etc/UTC" | "Z" | "+00:00"));
    one == other || is_utc(one) && is_utc(other)
}

/// A field called as `one`, for values of both.
pub(super) fn joined_field(one: &Arc<Field>, other: &Arc<Field>) -> Option<Arc<Field>> {
    let data_type = joined(one.data_type(), other.data_type())?;
    let is_nullable = one.is_nullable() || other.is_nullable();
    let field = one.as_ref().clone().with_data_type(data_type).with_nullable(is_nullable);
    Some(Arc::new(field))
}

/// The fields of structs, by name: those of `one`, then the new ones.
fn joined_fields(one: &Fields, other: &Fields) -> Option<Fields> {
    let named =
        |fields: &Fields, name: &str| fields.iter().find(|field| field.name() == name).cloned();
    let nullable = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_nullable(true));
    let mut fields = Vec::new();
    for field in one {
        fields.push(match named(other, field.name()) {
            Some(more) => joined_field(field, &more)?,
            None => nullable(field),
        });
    }
    fields.extend(other.iter().filter(|field| named(one, field.name()).is_none()).map(nullable));
    Some(fields.into())
}

/// `array` as an array of `to`, a type that [`joined`] made of its own. Fails if a value does not
/// fit: a time that overflows the finer unit.
pub(super) fn widened(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType::*;
    if array.data_type() == to {
        return Ok(array.clone());
    }
    Ok(match (array.data_type(), to) {
        (Struct(_), Struct(fields)) => Arc::new(structs(array.as_struct(), fields)?),
        (List(_), List(item)) => lists::<i32, i32>(array, item)?,
        (List(_), LargeList(item)) => lists::<i32, i64>(array, item)?,
        (LargeList(_), LargeList(item)) => lists::<i64, i64>(array, item)?,
        (FixedSizeList(..), FixedSizeList(item, len)) => {
            let lists = array.as_fixed_size_list();
            let values = widened(lists.values(), item.data_type())?;
            let nulls = lists.nulls().cloned();
            Arc::new(FixedSizeListArray::try_new(item.clone(), *len, values, nulls)?)
        }
        (Map(..), Map(field, is_sorted)) => {
            let map = array.as_map();
            let Struct(fields) = field.data_type() else { return Ok(array.clone()) };
            let entries = structs(map.entries(), fields)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(field.clone(), offsets, entries, nulls, *is_sorted)?)
        }
        _ => {
            let options = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, to, &options)?
        }
    })
}

/// Structs with these fields, by name; null where there is no such field.
fn structs(from: &StructArray, fields: &Fields) -> Result<StructArray, ArrowError> {
    let columns = fields.iter().map(|field| match from.column_by_name(field.name()) {
        Some(column) => widened(column, field.data_type()),
        None => Ok(new_null_array(field.data_type(), from.len())),
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let nulls = from.nulls().cloned();
    StructArray::try_new_with_length(fields.clone(), columns, nulls, from.len())
}

fn lists<From: OffsetSizeTrait, To: OffsetSizeTrait>(
    array: &ArrayRef,
    item: &Arc<Field>,
) -> Result<ArrayRef, ArrowError> {
    let lists = array.as_list::<From>();
    let values = widened(lists.values(), item.data_type())?;
    let offsets = lists.value_offsets().iter().map(|at| To::usize_as(at.as_usize()));
    let offsets = OffsetBuffer::new(offsets.collect::<Vec<To>>().into());
    let nulls = lists.nulls().cloned();
    Ok(Arc::new(GenericListArray::<To>::try_new(item.clone(), offsets, values, nulls)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Int32Array, Int64Array, StringArray, TimestampSecondArray};

    use super::*;

    #[test]
    fn types_are_widened_where_nothing_is_lost() {
        use DataType::*;
        let utc = |unit| Timestamp(unit, Some("UTC".into()));
        let dictionary = Dictionary(Box::new(Int32), Box::new(Utf8));
        for (one, other, wide) in [
            (Int32, Int64, Some(Int64)),
            (Int8, UInt8, Some(Int16)),
            (Int64, UInt32, Some(Int64)),
            (Int64, UInt64, None),
            (UInt8, UInt64, Some(UInt64)),
            (Float32, Float64, Some(Float64)),
            (Int16, Float32, Some(Float32)),
            (Int32, Float32, Some(Float64)),
            (UInt32, Float64, Some(Float64)),
            (Int64, Float64, None),
            (UInt16, Float16, Some(Float32)),
            (Utf8, Utf8View, Some(Utf8)),
            (LargeUtf8, Utf8View, Some(LargeUtf8)),
            (Utf8, Binary, None),
            (Utf8, Int64, None),
            (Boolean, Int8, None),
            (dictionary.clone(), LargeUtf8, Some(LargeUtf8)),
            (dictionary.clone(), Dictionary(Box::new(Int8), Box::new(Utf8)), Some(Utf8)),
            (Null, dictionary.clone(), Some(dictionary)),
            (Date32, Date64, Some(Date64)),
            (Date32, Timestamp(TimeUnit::Second, None), None),
            (
                Time32(TimeUnit::Second),
                Time64(TimeUnit::Nanosecond),
                Some(Time64(TimeUnit::Nanosecond)),
            ),
            (utc(TimeUnit::Second), utc(TimeUnit::Microsecond), Some(utc(TimeUnit::Microsecond))),
            (utc(TimeUnit::Second), Timestamp(TimeUnit::Second, None), None),
            (utc(TimeUnit::Second), Timestamp(TimeUnit::Second, Some("+01:00".into())), None),
            (Decimal128(5, 2), Decimal128(5, 4), Some(Decimal128(7, 4))),
            (Decimal128(38, 0), Decimal128(38, 10), Some(Decimal256(48, 10))),
            (FixedSizeBinary(16), FixedSizeBinary(8), None),
        ] {
            assert_eq!(joined(&one, &other), wide, "{one} {other}");
            let back = joined(&other, &one);
            assert_eq!(back.is_some(), wide.is_some(), "{one} {other}");
        }
    }

    #[test]
    fn nested_values_are_widened_by_name() {
        let field = |name: &str, of: DataType| Arc::new(Field::new(name, of, true));
        let one =
            DataType::Struct(vec![field("a", DataType::Int32), field("b", DataType::Utf8)].into());
        let other =
            DataType::Struct(vec![field("c", DataType::Utf8), field("a", DataType::Int64)].into());
        let wide = joined(
            &DataType::List(field("item", one)),
            &DataType::LargeList(field("item", other.clone())),
        );
        let DataType::LargeList(item) = wide.clone().unwrap() else { panic!("{wide:?}") };
        let DataType::Struct(fields) = item.data_type() else { panic!("{item}") };
        let names: Vec<String> =
            fields.iter().map(|it| format!("{} {}", it.name(), it.data_type())).collect();
        assert_eq!(names, ["a Int64", "b Utf8", "c Utf8"]);
        let DataType::Struct(own) = other else { unreachable!() };
        let columns: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from(vec!["x"])), Arc::new(Int64Array::from(vec![7]))];
        let from = StructArray::new(own, columns, None);
        let found = structs(&from, fields).unwrap();
        assert_eq!(found.column(0).as_primitive::<arrow_array::types::Int64Type>().value(0), 7);
        assert!(found.column(1).is_null(0));
        assert_eq!(found.column(2).as_string::<i32>().value(0), "x");
    }

    #[test]
    fn values_that_do_not_fit_are_errors() {
        let unit = |unit| DataType::Timestamp(unit, None);
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(1), None]));
        let found = widened(&times, &unit(TimeUnit::Nanosecond)).unwrap();
        assert_eq!(found.null_count(), 1);
        let late: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX / 10]));
        assert!(widened(&late, &unit(TimeUnit::Nanosecond)).is_err());
        let words: DictionaryArray<Int32Type> = vec!["a", "b", "a"].into_iter().collect();
        let found = widened(&(Arc::new(words) as ArrayRef), &DataType::Utf8).unwrap();
        assert_eq!(found.as_string::<i32>().value(2), "a");
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1 << 30]));
        let found = widened(&numbers, &DataType::Float64).unwrap();
        assert_eq!(found.as_primitive::<arrow_array::types::Float64Type>().value(0), 1073741824.0);
    }
}
