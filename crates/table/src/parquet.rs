//! Apache Parquet.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::error::TableError;
use crate::{Cell, Column, Kind};

/// Number of cells held in memory at once, some ten megabytes.
const CELLS: usize = 1 << 19;

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self::Table(error.to_string())
    }
}

pub fn write<E: From<TableError>>(
    columns: &[Column],
    metadata: &[(String, String)],
    mut rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
    to: impl Write + Send,
) -> Result<(), E> {
    let mut writer = start(columns, metadata, to)?;
    let most = (CELLS / columns.len().max(1)).max(1);
    loop {
        let group = rows.by_ref().take(most).collect::<Result<Vec<_>, E>>()?;
        if group.is_empty() {
            break;
        }
        write_group(columns, &group, &mut writer)?;
    }
    writer.close().map_err(TableError::from)?;
    Ok(())
}

/// Writes the head of the file: schema and metadata.
fn start<W: Write + Send>(
    columns: &[Column],
    metadata: &[(String, String)],
    to: W,
) -> Result<SerializedFileWriter<W>, TableError> {
    let units = (columns.iter())
        .filter(|column| !column.unit.is_empty())
        .map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_string()));
    let metadata = (metadata.iter()).map(|(key, text)| KeyValue::new(key.clone(), text.clone()));
    let properties = WriterProperties::builder()
        .set_created_by(concat!("fly ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(units.chain(metadata).collect()))
        .build();
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("flights")
        .with_fields(fields)
        .build()?;
    Ok(SerializedFileWriter::new(
        to,
        Arc::new(schema),
        Arc::new(properties),
    )?)
}

fn write_group<W: Write + Send>(
    columns: &[Column],
    group: &[Vec<Cell>],
    writer: &mut SerializedFileWriter<W>,
) -> Result<(), TableError> {
    let mut place = 0;
    let mut out = writer.next_row_group()?;
    while let Some(mut column) = out.next_column()? {
        let cells = group
            .iter()
            .map(|row| row.get(place).unwrap_or(&Cell::Null));
        fill(columns[place].kind, cells, &mut column)?;
        column.close()?;
        place += 1;
    }
    out.close()?;
    Ok(())
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let physical = match column.kind {
        Kind::Float => Physical::DOUBLE,
        Kind::Integer => Physical::INT64,
        Kind::Boolean => Physical::BOOLEAN,
        Kind::Text => Physical::BYTE_ARRAY,
    };
    let field =
        Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    let field = match column.kind {
        Kind::Text => field
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8),
        _ => field,
    };
    Ok(Arc::new(field.build()?))
}

/// Writes one column of a group of rows.
fn fill<'a>(
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    match kind {
        Kind::Float => put::<DoubleType>(cells.map(Cell::number), to),
        Kind::Integer => put::<Int64Type>(
            cells.map(|cell| match cell {
                Cell::Integer(number) => Some(*number),
                _ => None,
            }),
            to,
        ),
        Kind::Boolean => put::<BoolType>(
            cells.map(|cell| match cell {
                Cell::Boolean(value) => Some(*value),
                _ => None,
            }),
            to,
        ),
        Kind::Text => put::<ByteArrayType>(
            cells.map(|cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            }),
            to,
        ),
    }
}

fn put<T: DataType>(
    cells: impl Iterator<Item = Option<T::T>>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::new();
    let there = cells.inspect(|cell| levels.push(i16::from(cell.is_some())));
    let values: Vec<T::T> = there.flatten().collect();
    to.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}
