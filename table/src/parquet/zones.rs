//! Times with a zone, as text: those in a zone with a name are written in UTC, which needs no table of zones.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::timezone::Tz;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Schema};

use crate::parquet::annotations::{each_leaf, leaf_type};

/// UTC as an offset, which text of times ends in as `Z`.
const UTC: &str = "+00:00";

/// `batch` with its times in UTC if their zone has a name.
pub(crate) fn in_utc(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let fields = each_leaf(schema.fields(), "", &mut |_, leaf| type_in_utc(leaf));
    if fields == *schema.fields() {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().zip(&fields);
    let columns = columns.map(|(column, field)| cast(column, field.data_type()));
    let schema = Schema::new_with_metadata(fields.clone(), schema.metadata().clone());
    RecordBatch::try_new(Arc::new(schema), columns.collect::<Result<_, _>>()?)
}

/// `leaf`, a type without fields, with its times in UTC; `None` if none has a zone with a name.
pub(crate) fn type_in_utc(leaf: &DataType) -> Option<DataType> {
    match leaf {
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            Some(DataType::Timestamp(*unit, Some(UTC.into())))
        }
        DataType::Dictionary(keys, values) => {
            let in_utc = leaf_type(values, "", &mut |_, leaf| type_in_utc(leaf));
            (in_utc != **values).then(|| DataType::Dictionary(keys.clone(), Box::new(in_utc)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, StructArray, TimestampMicrosecondArray};
    use arrow_schema::{Field, TimeUnit};

    use super::*;

    fn text(zone: &str) -> String {
        let at = TimestampMicrosecondArray::from(vec![1_700_000_000_123_456]).with_timezone(zone);
        let column: ArrayRef = Arc::new(at);
        let field = Field::new("at", column.data_type().clone(), true);
        let inner: ArrayRef = Arc::new(StructArray::from(vec![(Arc::new(field), column.clone())]));
        let batch = RecordBatch::try_from_iter([("a", column), ("b", inner)]).unwrap();
        let mut out = Vec::new();
        arrow_json::LineDelimitedWriter::new(&mut out).write(&in_utc(&batch).unwrap()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_in_a_named_zone_are_written_in_utc() {
        let instant = "2023-11-14T22:13:20.123456Z";
        for zone in ["UTC", "Europe/Paris", "America/New_York", "Z", "Etc/GMT+5"] {
            let expected = format!("{{\"a\":\"{instant}\",\"b\":{{\"at\":\"{instant}\"}}}}\n");
            assert_eq!(text(zone), expected, "{zone}");
        }
        let local = "2023-11-15T00:13:20.123456+02:00";
        assert_eq!(text("+02:00"), format!("{{\"a\":\"{local}\",\"b\":{{\"at\":\"{local}\"}}}}\n"));
    }

    #[test]
    fn types_without_such_times_do_not_change() {
        for zone in [None, Some("+02:00".into()), Some("-08".into())] {
            let at = DataType::Timestamp(TimeUnit::Second, zone);
            assert_eq!(type_in_utc(&at), None);
            let list = DataType::List(Arc::new(Field::new("item", at, true)));
            assert_eq!(type_in_utc(&list), None);
        }
    }
}
