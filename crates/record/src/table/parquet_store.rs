//! Sealed tables: the rows of finished cases in Parquet files that other programs can read directly.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use plan::limits::{TABLE_BYTES, TABLE_CHUNK_BYTES, TABLE_FOOTER_BYTES, TABLE_GROUP_ROWS};
use serde::{Deserialize, Serialize};

use crate::files::checksum::Checksum;
use crate::files::directory::{self, RunDirectory};
use crate::files::limits;
use crate::files::limits::TextBudget;
use crate::format::FORMAT_VERSION;
use crate::table::contained::contained;
use crate::table::dictionary;
use crate::table::pages;
use crate::table::values::{NULL, Values, Words};
use crate::table::{Cell, Column, ColumnType, Columns, Row};
use crate::{RecordError, Replacement};

/// Number of rows in a row group. It is small, so that a run's memory does not grow with its length, but
/// large enough that finding and opening a group's columns is a small part of reading it.
const GROUP_ROWS: usize = 16_384;
/// Number of values passed to the table writer at once. This limits how many copies of texts exist at a
/// time.
const BATCH_ROWS: usize = 512;
/// Size of a page in bytes before it is compressed and written. Groups are small, so pages are small too.
const PAGE_BYTES: usize = 64 << 10;

/// A table as recorded in the journal, so that damage is detected before a row is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedTable {
    pub(crate) table: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// XXH64 of the file, or FNV-1a in version 1.
    pub(crate) checksum: String,
}

/// The file of `table` for the batch with this number. Number 0 is for what belongs to the run as a
/// whole.
pub(crate) fn table_path(directory: &RunDirectory, table: &str, number: u32) -> PathBuf {
    directory.join(table).join(format!("{number:06}.parquet"))
}

/// A file that keeps track of its length and checksum.
struct ChecksumWriter {
    file: Replacement,
    checksum: Checksum,
    bytes: u64,
}

impl Write for ChecksumWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.checksum.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Collects the rows of one table of one batch. The Parquet writer is not used before the first row group
/// is full or the batch is sealed.
pub(crate) struct TableWriter<R: Row> {
    directory: RunDirectory,
    number: u32,
    rows: Vec<R>,
    writer: Option<SerializedFileWriter<ChecksumWriter>>,
    total: u64,
}

impl<R: Row> TableWriter<R> {
    pub(crate) fn new(directory: &RunDirectory, number: u32) -> Self {
        Self { directory: directory.clone(), number, rows: Vec::new(), writer: None, total: 0 }
    }

    fn path(&self) -> PathBuf {
        table_path(&self.directory, R::TABLE, self.number)
    }

    /// Adds `rows`. Complete groups are written to the file.
    pub(crate) fn add(&mut self, rows: &[R]) -> Result<(), RecordError> {
        self.total += rows.len() as u64;
        for rows in rows.chunks(BATCH_ROWS) {
            self.rows.extend_from_slice(rows);
            if self.rows.len() >= GROUP_ROWS {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), RecordError> {
        let rows = std::mem::take(&mut self.rows);
        let wrote = write_columns(self.writer()?, &rows);
        wrote.map_err(|error| RecordError::table("write", &self.path())(error))
    }

    fn writer(&mut self) -> Result<&mut SerializedFileWriter<ChecksumWriter>, RecordError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => open_writer::<R>(&self.directory, self.number)?,
        };
        Ok(self.writer.insert(writer))
    }

    /// Writes the remaining rows and moves the complete file into place. A table without rows has no file.
    ///
    /// The file is not synced: the journal contains its rows and checksum, so a reader detects damage
    /// without any loss, and the run does not have to wait between cases.
    pub(crate) fn seal(mut self) -> Result<Option<SealedTable>, RecordError> {
        if self.total == 0 {
            return Ok(None);
        }
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.writer()?;
        let writer = self.writer.take().expect("opened in the line before");
        let file = writer.into_inner().map_err(RecordError::table("write", &self.path()))?;
        let sealed = SealedTable {
            table: R::TABLE.to_owned(),
            rows: self.total,
            bytes: file.bytes,
            checksum: file.checksum.text(),
        };
        file.file.finish()?;
        Ok(Some(sealed))
    }
}

fn open_writer<R: Row>(
    directory: &RunDirectory,
    number: u32,
) -> Result<SerializedFileWriter<ChecksumWriter>, RecordError> {
    let path = table_path(directory, R::TABLE, number);
    let file = Replacement::new(directory, path.strip_prefix(directory.path()).unwrap_or(&path))?;
    let file = ChecksumWriter { file, checksum: Checksum::new(), bytes: 0 };
    schema::<R>()
        .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties::<R>())))
        .map_err(RecordError::table("write", &path))
}

/// Snappy compression, dictionaries for texts (which repeat), differences for numbers (buckets, seconds
/// and tasks are consecutive), and no indices, because a group is always read completely.
fn properties<R: Row>() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("ioproof ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_dictionary_page_size_limit(PAGE_BYTES)
        .set_write_batch_size(BATCH_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "ioproof.format_version".to_owned(),
            FORMAT_VERSION.to_string(),
        )]));
    for column in R::COLUMNS.iter().filter(|column| column.kind == ColumnType::Text) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_encoding(path.clone(), Encoding::PLAIN)
            .set_column_dictionary_enabled(path, true);
    }
    for column in R::COLUMNS.iter().filter(|column| column.kind == ColumnType::Number) {
        properties = properties.set_column_encoding(ColumnPath::from(column.name), Encoding::PLAIN);
    }
    properties.build()
}

fn schema<R: Row>() -> Result<TypePtr, ParquetError> {
    let field = |column: &Column<R>| {
        let (physical, logical) = match column.kind {
            ColumnType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Integer => (PhysicalType::INT64, None),
            ColumnType::Number => (PhysicalType::DOUBLE, None),
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()?;
        Ok::<_, ParquetError>(Arc::new(field))
    };
    let fields = R::COLUMNS.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder(R::TABLE).with_fields(fields).build()?))
}

fn write_columns<R: Row>(
    writer: &mut SerializedFileWriter<ChecksumWriter>,
    rows: &[R],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in R::COLUMNS {
        let Some(mut target) = group.next_column()? else {
            return Err(ParquetError::General(format!("no column {} in the schema", column.name)));
        };
        for batch in rows.chunks(BATCH_ROWS) {
            write_batch(target.untyped(), column, batch)?;
        }
        target.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_batch<R: Row>(
    target: &mut ColumnWriter<'_>,
    column: &Column<R>,
    rows: &[R],
) -> Result<(), ParquetError> {
    let cells = || rows.iter().map(|row| (column.cell)(row));
    let levels: Vec<i16> = cells().map(|cell| i16::from(cell != Cell::Null)).collect();
    let levels = column.nullable.then_some(levels.as_slice());
    match target {
        ColumnWriter::Int64ColumnWriter(target) => {
            let values: Vec<i64> = cells().filter_map(|cell| cell.integer()).collect();
            target.write_batch(&values, levels, None)?;
        }
        ColumnWriter::DoubleColumnWriter(target) => {
            let values: Vec<f64> = cells().filter_map(|cell| cell.number()).collect();
            target.write_batch(&values, levels, None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(target) => {
            let mut values: Vec<ByteArray> = Vec::with_capacity(rows.len());
            for cell in cells() {
                let Some(text) = cell.text() else { continue };
                // Rows of a phase repeat its texts, and a copy of an array shares its bytes.
                let known = values.last().filter(|last| last.data() == text.as_bytes()).cloned();
                values.push(known.unwrap_or_else(|| ByteArray::from(text.as_bytes().to_vec())));
            }
            target.write_batch(&values, levels, None)?;
        }
        _ => return Err(ParquetError::General(format!("column {} has another type", column.name))),
    }
    Ok(())
}

/// Checks whether the table at `path` is the one recorded in the journal. The error says how it differs.
pub(crate) fn verify(directory: &RunDirectory, path: &Path, sealed: &SealedTable) -> Result<(), String> {
    compare(directory, path, sealed).unwrap_or_else(|error| Err(error.to_string()))
}

/// Like [`verify`], but distinguishes a file that cannot be read from one that differs.
pub(crate) fn compare(
    directory: &RunDirectory,
    path: &Path,
    sealed: &SealedTable,
) -> io::Result<Result<(), String>> {
    let mut file = directory::open(directory, path)?;
    let bytes = file.metadata()?.len();
    if bytes != sealed.bytes {
        return Ok(Err(format!("it has {bytes} bytes instead of {}", sealed.bytes)));
    }
    let mut checksum = Checksum::like(&sealed.checksum);
    let mut buffer = vec![0; PAGE_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => checksum.update(&buffer[..read]),
        }
    }
    let found = checksum.text();
    Ok(if found == sealed.checksum {
        Ok(())
    } else {
        Err(format!("its checksum is {found} instead of {}", sealed.checksum))
    })
}

/// The size of the table at `path` in bytes, and the number of rows according to its footer.
pub(crate) fn size_of_table(directory: &RunDirectory, path: &Path) -> Result<(u64, u64), String> {
    contained(|| {
        let table = Table::open(directory, path)?;
        Ok((table.bytes, table.rows()?))
    })
}

/// The rows of the table at `path`, or the reason why they cannot be read. The memory for its texts is
/// taken from `texts`.
pub(crate) fn read_table<R: Row>(
    directory: &RunDirectory,
    path: &Path,
    texts: &mut TextBudget,
) -> Result<Vec<R>, String> {
    contained(|| {
        let table = Table::open(directory, path)?;
        let claimed = table.rows()?;
        limits::check_rows(limits::bytes_of_rows::<R>(claimed), table.bytes)?;
        // Growing it step by step would take up to three times as much memory.
        let mut rows = Vec::with_capacity(usize::try_from(claimed).map_err(|error| error.to_string())?);
        for index in 0..table.reader.num_row_groups() {
            table.read_group::<R>(index, &mut rows, texts)?;
        }
        Ok(rows)
    })
}

/// The same, for a table whose rows are released when others are requested.
pub(crate) fn read_table_for_now<R: Row>(directory: &RunDirectory, path: &Path) -> Result<Vec<R>, String> {
    let bytes = path.symlink_metadata().map_err(|error| error.to_string())?.len();
    read_table(directory, path, &mut TextBudget::of_table(bytes))
}

/// Number of bytes at the end of a table: the length of the footer, and a magic number.
const TAIL_BYTES: u64 = 8;

/// A table that can be read within the limits.
struct Table {
    file: File,
    bytes: u64,
    reader: SerializedFileReader<File>,
}

impl Table {
    fn open(directory: &RunDirectory, path: &Path) -> Result<Self, String> {
        let wrong = |error: io::Error| error.to_string();
        let file = directory::open(directory, path).map_err(wrong)?;
        let bytes = file.metadata().map_err(wrong)?.len();
        let mut length = [0; 4];
        let at = bytes.checked_sub(TAIL_BYTES).ok_or("it is too short for a table")?;
        file.read_exact_at(&mut length, at).map_err(wrong)?;
        if bytes > TABLE_BYTES || u64::from(u32::from_le_bytes(length)) > TABLE_FOOTER_BYTES {
            return Err(format!("it has {}, more than a table of a record", plan::Bytes(bytes)));
        }
        let again = file.try_clone().map_err(wrong)?;
        let reader = SerializedFileReader::new(again).map_err(|error| error.to_string())?;
        Ok(Self { file, bytes, reader })
    }

    /// Total number of rows that the groups claim to have.
    fn rows(&self) -> Result<u64, String> {
        let count = |index| {
            let rows = self.reader.metadata().row_group(index).num_rows();
            let rows = Some(rows).filter(|rows| (0..=TABLE_GROUP_ROWS).contains(rows));
            let rows = rows.and_then(|rows| u64::try_from(rows).ok());
            rows.ok_or_else(|| "a row group claims more rows than it may have".to_owned())
        };
        (0..self.reader.num_row_groups()).map(count).sum()
    }

    fn read_group<R: Row>(
        &self,
        index: usize,
        rows: &mut Vec<R>,
        texts: &mut TextBudget,
    ) -> Result<(), String> {
        let group = self.reader.get_row_group(index).map_err(|error| error.to_string())?;
        let count = usize::try_from(group.metadata().num_rows()).map_err(|error| error.to_string())?;
        let columns = R::COLUMNS
            .iter()
            .map(|column| self.read_column(group.as_ref(), column, count).map(|values| (column.name, values)))
            .collect::<Result<Vec<_>, _>>()?;
        rows.append(&mut R::from_columns(&mut Columns::new(count, columns, texts))?);
        Ok(())
    }

    fn read_column<R: Row>(
        &self,
        group: &dyn RowGroupReader,
        column: &Column<R>,
        count: usize,
    ) -> Result<Values, String> {
        let schema = group.metadata().schema_descr();
        let Some(position) = schema.columns().iter().position(|found| found.path().string() == column.name)
        else {
            return column.absent(count);
        };
        let (start, length) = place_of(group.metadata().column(position))
            .ok_or_else(|| format!("column {} starts before the file, or has no length", column.name))?;
        if length > TABLE_CHUNK_BYTES.min(self.bytes) {
            return Err(format!("column {} claims to have {}", column.name, plan::Bytes(length)));
        }
        let mut chunk = vec![0; usize::try_from(length).map_err(|error| error.to_string())?];
        self.file.read_exact_at(&mut chunk, start).map_err(|error| error.to_string())?;
        pages::check(&chunk, count).map_err(|error| format!("column {}: {error}", column.name))?;
        drop(chunk);
        read_values_of(group, column, position, count)
    }
}

/// The position and the length of a column's bytes. The table reader's own `byte_range` panics if one of them is
/// negative.
fn place_of(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(chunk.compressed_size()).ok()?))
}

fn read_values_of<R: Row>(
    group: &dyn RowGroupReader,
    column: &Column<R>,
    position: usize,
    count: usize,
) -> Result<Values, String> {
    let schema = group.metadata().schema_descr();
    if column.kind == ColumnType::Text && schema.column(position).max_def_level() == 0 {
        let pages = group.get_column_page_reader(position).map_err(|error| error.to_string())?;
        if let Some(values) = dictionary::read(pages, count)? {
            return Ok(values);
        }
    }
    let reader = group.get_column_reader(position).map_err(|error| error.to_string())?;
    match (reader, column.kind) {
        (ColumnReader::Int64ColumnReader(reader), ColumnType::Integer) => {
            let (values, levels) = read_values(reader, count)?;
            if levels.is_empty() {
                return Ok(Values::Integers(values));
            }
            let mut values = values.into_iter();
            let next = |&level: &i16| if level == 0 { None } else { values.next() };
            Ok(Values::SomeIntegers(levels.iter().map(next).collect()))
        }
        (ColumnReader::DoubleColumnReader(reader), ColumnType::Number) => {
            let (values, levels) = read_values(reader, count)?;
            if levels.is_empty() {
                return Ok(Values::Numbers(values.into_iter().map(Some).collect()));
            }
            let mut values = values.into_iter();
            let next = |&level: &i16| if level == 0 { None } else { values.next() };
            Ok(Values::Numbers(levels.iter().map(next).collect()))
        }
        (ColumnReader::ByteArrayColumnReader(reader), ColumnType::Text) => {
            let (values, levels) = read_values(reader, count)?;
            let mut words = Words::default();
            let of_words = values
                .iter()
                .map(|value| {
                    value.as_utf8().map(|text| words.place_of(text)).map_err(|error| error.to_string())
                })
                .collect::<Result<Vec<u32>, _>>()?;
            let mut of_words = of_words.into_iter();
            let places = if levels.is_empty() {
                of_words.collect()
            } else {
                let next = |&level: &i16| if level == 0 { NULL } else { of_words.next().unwrap_or(NULL) };
                levels.iter().map(next).collect()
            };
            Ok(Values::Texts { words: words.into_texts(), places })
        }
        _ => Err(format!("column {} has another type", column.name)),
    }
}

/// The non-null values, and for a nullable column which rows have one.
fn read_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    count: usize,
) -> Result<(Vec<T::T>, Vec<i16>), String> {
    let (mut values, mut levels) = (Vec::with_capacity(count), Vec::new());
    let (records, _, _) = reader
        .read_records(count, Some(&mut levels), None, &mut values)
        .map_err(|error| error.to_string())?;
    if records != count {
        return Err(format!("{records} of {count} values could be read"));
    }
    Ok((values, levels))
}
