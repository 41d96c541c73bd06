//! What Parquet says about columns and Arrow does not hold: intervals, times of day in UTC, UUIDs, JSON and so on. It is kept in the
//! metadata of the columns while rows are in memory, by the path of each, and written again.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

/// Begins the names of this metadata; the path of a column follows.
const PREFIX: &str = "uriscan.parquet:";

/// What is noted of a column whose parent is a VARIANT; the version of its specification follows.
const VARIANT: &str = "variant";

/// What an interval is noted as: months, days and milliseconds, of which Arrow holds two.
const INTERVAL: &str = "interval";

const ALGORITHMS: [EdgeInterpolationAlgorithm; 5] = [
    EdgeInterpolationAlgorithm::SPHERICAL,
    EdgeInterpolationAlgorithm::VINCENTY,
    EdgeInterpolationAlgorithm::THOMAS,
    EdgeInterpolationAlgorithm::ANDOYER,
    EdgeInterpolationAlgorithm::KARNEY,
];

/// `metadata` with the columns as they are read: those of type INT96 are microseconds in UTC, which Spark means by them (as
/// nanoseconds, which Arrow takes them for, they would end in 2262), intervals are bytes, and what Arrow does not hold is
/// noted. Fails if the columns cannot be read so.
pub(crate) fn read(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let columns = metadata.parquet_schema().columns();
    let mut types = Vec::with_capacity(columns.len());
    each_leaf(metadata.schema().fields(), "", &mut |_, leaf| {
        types.push(leaf.clone());
        None
    });
    let mut variants_of = Vec::with_capacity(columns.len());
    variants(metadata.parquet_schema().root_schema(), &mut variants_of);
    let seen = columns.iter().zip(&types).zip(variants_of).map(|((column, leaf), variant)| {
        let column = column.self_type();
        // An interval of years and months, as Arrow notes itself, has no other parts.
        let is_whole = *leaf == DataType::Interval(IntervalUnit::YearMonth);
        let note = noted(column).filter(|note| !is_whole || note != INTERVAL);
        (is_instant(column), note.or(variant))
    });
    let seen: Vec<(bool, Option<String>)> = seen.collect();
    if !seen.iter().any(|(is_instant, note)| *is_instant || note.is_some()) {
        return Ok(metadata);
    }
    let has_interval = seen.iter().any(|(_, note)| note.as_deref() == Some(INTERVAL));
    let metadata = if has_interval { with_plain_intervals(&metadata, &seen)? } else { metadata };
    let mut seen = seen.into_iter();
    let mut notes = metadata.schema().metadata().clone();
    let fields = each_leaf(metadata.schema().fields(), "", &mut |path, _| {
        let (is_instant, note) = seen.next()?;
        note.map(|note| notes.insert(format!("{PREFIX}{path}"), note));
        is_instant.then(|| DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
    });
    let schema = Schema::new_with_metadata(fields, notes);
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// `metadata` in which the columns that are `seen` as intervals are bytes.
fn with_plain_intervals(
    metadata: &ArrowReaderMetadata,
    seen: &[(bool, Option<String>)],
) -> Result<ArrowReaderMetadata, ParquetError> {
    let (metadata, mut seen) = (metadata.metadata(), seen.iter());
    let file = metadata.file_metadata();
    let root = each_column(file.schema(), true, &mut |column| {
        let (_, note) = seen.next()?;
        let is_interval = note.as_deref() == Some(INTERVAL);
        let plain = (None, ConvertedType::NONE);
        let column = is_interval.then(|| rebuilt(column, column.get_physical_type(), plain))?;
        column.map(Changed::Column)
    })?;
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::new(SchemaDescriptor::new(root)),
        file.column_orders().cloned(),
    );
    let groups = metadata.row_groups().to_vec();
    let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(groups).build();
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::default())
}

/// The columns `schema` without the notes of [`read`], and as Parquet has them, with what is noted.
/// Fails if Parquet cannot hold them.
pub(crate) fn written(schema: &Schema) -> Result<(SchemaRef, SchemaDescriptor), ParquetError> {
    let notes = schema.metadata();
    let mut plain = notes.clone();
    plain.retain(|name, _| !name.starts_with(PREFIX));
    let mut leaves = Vec::new();
    each_leaf(schema.fields(), "", &mut |path, leaf| {
        leaves.push((format!("{PREFIX}{path}"), *leaf == DataType::Date64));
        None
    });
    let mut leaves = leaves.iter();
    let columns = ArrowSchemaConverter::new().convert(schema)?;
    let root = each_column(columns.root_schema(), true, &mut |column| {
        let (path, is_date) = leaves.next()?;
        if *is_date {
            // Milliseconds since 1970 without an annotation are no date.
            let date = (Some(LogicalType::Date), ConvertedType::NONE);
            return rebuilt(column, Physical::INT32, date).map(Changed::Column);
        }
        let note = notes.get(path)?;
        match note.split_once(' ') {
            Some((VARIANT, version)) => {
                Some(Changed::Parent(LogicalType::variant(version.parse().ok())))
            }
            _ => annotated(column, note).map(Changed::Column),
        }
    })?;
    let schema = Schema::new_with_metadata(schema.fields().clone(), plain);
    Ok((Arc::new(schema), SchemaDescriptor::new(root)))
}

/// Whether notes in the metadata of a file have this name.
pub(crate) fn is_note(name: &str) -> bool {
    name.starts_with(PREFIX)
}

fn is_instant(column: &Type) -> bool {
    column.get_physical_type() == Physical::INT96
}

/// What is noted of `column`, if Arrow does not hold it.
fn noted(column: &Type) -> Option<String> {
    let info = column.get_basic_info();
    let text = |crs: &Option<String>| crs.as_deref().unwrap_or_default().to_owned();
    Some(match (info.logical_type_ref(), info.converted_type()) {
        (Some(LogicalType::Time(time)), _) if time.is_adjusted_to_u_t_c => "time-utc".to_owned(),
        (Some(LogicalType::Enum), _) | (None, ConvertedType::ENUM) => "enum".to_owned(),
        (Some(LogicalType::Json), _) | (None, ConvertedType::JSON) => "json".to_owned(),
        (Some(LogicalType::Bson), _) | (None, ConvertedType::BSON) => "bson".to_owned(),
        (Some(LogicalType::Uuid), _) => "uuid".to_owned(),
        (Some(LogicalType::Geometry(geometry)), _) => format!("geometry {}", text(&geometry.crs)),
        (Some(LogicalType::Geography(geography)), _) => {
            let algorithm = geography.algorithm.map_or(String::new(), |it| format!("{it:?}"));
            format!("geography {algorithm} {}", text(&geography.crs))
        }
        (_, ConvertedType::INTERVAL) => INTERVAL.to_owned(),
        _ => return None,
    })
}

/// What is noted of the leaves of `schema`, in order, of which the parent is a VARIANT: at the first one of its own.
fn variants(column: &Type, notes: &mut Vec<Option<String>>) {
    let Type::GroupType { basic_info, fields } = column else { return notes.push(None) };
    let mut note = match basic_info.logical_type_ref() {
        Some(LogicalType::Variant(variant)) => {
            let version = variant.specification_version.map_or(String::new(), |it| it.to_string());
            Some(format!("{VARIANT} {version}"))
        }
        _ => None,
    };
    for field in fields {
        let at = notes.len();
        variants(field, notes);
        if let (Type::PrimitiveType { .. }, Some(leaf)) = (&**field, notes.get_mut(at)) {
            *leaf = note.take();
        }
    }
}

/// `column` with what was noted; `None` if it is not of a type that may be so.
fn annotated(column: &Type, note: &str) -> Option<TypePtr> {
    let info = column.get_basic_info();
    let Type::PrimitiveType { physical_type, type_length, .. } = column else { return None };
    let crs = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (logical, converted) = match (note.split_once(' ').unwrap_or((note, "")), physical_type) {
        (("time-utc", _), Physical::INT32 | Physical::INT64) => match info.logical_type_ref() {
            Some(LogicalType::Time(time)) => {
                let logical = LogicalType::time(true, time.unit);
                let converted = ConvertedType::from(Some(logical.clone()));
                (Some(logical), converted)
            }
            _ => return None,
        },
        (("enum", _), Physical::BYTE_ARRAY) => (Some(LogicalType::Enum), ConvertedType::ENUM),
        (("json", _), Physical::BYTE_ARRAY) => (Some(LogicalType::Json), ConvertedType::JSON),
        (("bson", _), Physical::BYTE_ARRAY) => (Some(LogicalType::Bson), ConvertedType::BSON),
        (("uuid", _), Physical::FIXED_LEN_BYTE_ARRAY) if *type_length == 16 => {
            (Some(LogicalType::Uuid), ConvertedType::NONE)
        }
        (("geometry", text), Physical::BYTE_ARRAY) => {
            (Some(LogicalType::geometry(crs(text))), ConvertedType::NONE)
        }
        (("geography", text), Physical::BYTE_ARRAY) => {
            let (algorithm, text) = text.split_once(' ').unwrap_or_default();
            let is_it = |it: &EdgeInterpolationAlgorithm| format!("{it:?}") == algorithm;
            let algorithm = ALGORITHMS.into_iter().find(is_it);
            (Some(LogicalType::geography(crs(text), algorithm)), ConvertedType::NONE)
        }
        ((INTERVAL, _), Physical::FIXED_LEN_BYTE_ARRAY) if *type_length == 12 => {
            (None, ConvertedType::INTERVAL)
        }
        _ => return None,
    };
    rebuilt(column, *physical_type, (logical, converted))
}

fn rebuilt(
    column: &Type,
    physical_type: Physical,
    (logical, converted): (Option<LogicalType>, ConvertedType),
) -> Option<TypePtr> {
    let info = column.get_basic_info();
    let Type::PrimitiveType { type_length, .. } = column else { return None };
    let builder = Type::primitive_type_builder(info.name(), physical_type)
        .with_repetition(info.repetition())
        .with_length(*type_length)
        .with_id(info.has_id().then(|| info.id()))
        .with_logical_type(logical)
        .with_converted_type(converted);
    builder.build().ok().map(Arc::new)
}

/// What a leaf changes.
enum Changed {
    Column(TypePtr),
    /// The annotation of the group that it is in.
    Parent(LogicalType),
}

/// `column` with its leaves in order as `change` makes them, or as they are.
fn each_column(
    column: &Type,
    is_root: bool,
    change: &mut dyn FnMut(&Type) -> Option<Changed>,
) -> Result<TypePtr, ParquetError> {
    let Type::GroupType { basic_info: info, fields } = column else {
        return Ok(Arc::new(column.clone()));
    };
    let mut logical = info.logical_type_ref().cloned();
    let mut made = Vec::with_capacity(fields.len());
    for field in fields {
        let changed = if field.is_primitive() { change(field) } else { None };
        made.push(match changed {
            Some(Changed::Column(column)) => column,
            Some(Changed::Parent(annotation)) => {
                logical = Some(annotation);
                Arc::clone(field)
            }
            None => each_column(field, false, change)?,
        });
    }
    let builder = Type::group_type_builder(info.name())
        .with_fields(made)
        .with_id(info.has_id().then(|| info.id()))
        .with_logical_type(logical)
        .with_converted_type(info.converted_type());
    let builder = if is_root { builder } else { builder.with_repetition(info.repetition()) };
    builder.build().map(Arc::new)
}

/// `fields`, below the one at `path`, with the types of their leaves in order as `change` makes them of their paths, or as they are.
pub(crate) fn each_leaf(
    fields: &Fields,
    path: &str,
    change: &mut dyn FnMut(&str, &DataType) -> Option<DataType>,
) -> Fields {
    let each = fields.iter().map(|field| {
        let path = format!("{path}/{}", field.name().replace('~', "~0").replace('/', "~1"));
        Arc::new(field.as_ref().clone().with_data_type(leaf_type(field.data_type(), &path, change)))
    });
    each.collect()
}

/// `data_type`, that of the field at `path`, as [`each_leaf`] makes it.
pub(crate) fn leaf_type(
    data_type: &DataType,
    path: &str,
    change: &mut dyn FnMut(&str, &DataType) -> Option<DataType>,
) -> DataType {
    let mut inner = |item: &Field| {
        let path = format!("{path}/");
        Arc::new(item.clone().with_data_type(leaf_type(item.data_type(), &path, change)))
    };
    match data_type {
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::ListView(item) => DataType::ListView(inner(item)),
        DataType::LargeListView(item) => DataType::LargeListView(inner(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(inner(item), *length),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(each_leaf(fields, path, change)),
        leaf => change(path, leaf).unwrap_or_else(|| leaf.clone()),
    }
}

#[cfg(test)]
mod tests;
