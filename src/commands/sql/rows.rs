//! Encoding of rows for programs as JSON, CSV or Parquet, batch by batch, so that little memory is needed.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Context as _;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::json::writer::{JsonArray, Writer, WriterBuilder};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Csv,
    Parquet,
}

impl Format {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Returns the format for a file name's extension.
    pub(super) fn of_name(name: &std::path::Path) -> Option<Self> {
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        [Self::Json, Self::Csv, Self::Parquet]
            .into_iter()
            .find(|known| known.name() == ending)
    }
}

/// Size in memory at which a row group of Parquet is written.
const ROW_GROUP_BYTES_MAX: usize = 64 << 20;
const ROW_GROUP_ROWS_MAX: usize = 1 << 20;

pub(super) enum Encoder {
    Json {
        writer: Writer<Vec<u8>, JsonArray>,
        begun: bool,
    },
    Csv {
        schema: SchemaRef,
        begun: bool,
    },
    Parquet(Box<ArrowWriter<Vec<u8>>>),
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json { .. } => "Json",
            Self::Csv { .. } => "Csv",
            Self::Parquet(_) => "Parquet",
        })
    }
}

impl Encoder {
    /// Creates an encoder.
    ///
    /// # Errors
    /// Fails if the format cannot represent the columns.
    pub(super) fn new(format: Format, schema: &SchemaRef) -> anyhow::Result<Self> {
        named_once(schema)?;
        Ok(match format {
            // Null values are written, so that every row has every column.
            Format::Json => Self::Json {
                writer: WriterBuilder::new().with_explicit_nulls(true).build(Vec::new()),
                begun: false,
            },
            Format::Csv => {
                plain(schema)?;
                Self::Csv {
                    schema: SchemaRef::clone(schema),
                    begun: false,
                }
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX))
                    .set_max_row_group_bytes(Some(ROW_GROUP_BYTES_MAX))
                    .build();
                let writer = ArrowWriter::try_new(Vec::new(), SchemaRef::clone(schema), Some(properties));
                Self::Parquet(Box::new(writer.context("Parquet cannot store the columns")?))
            }
        })
    }

    /// Returns the bytes of some rows, which are empty while rows are buffered.
    pub(super) fn rows(&mut self, batch: &RecordBatch) -> anyhow::Result<Vec<u8>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        match self {
            Self::Json { writer, begun } => {
                *begun = true;
                writer.write(batch)?;
                Ok(std::mem::take(writer.get_mut()))
            }
            Self::Csv { begun, .. } => {
                let head = !std::mem::replace(begun, true);
                lines(batch, head)
            }
            Self::Parquet(writer) => {
                writer.write(batch)?;
                writer.sync()?;
                Ok(std::mem::take(writer.inner_mut()))
            }
        }
    }

    /// Returns the final bytes, after all rows.
    pub(super) fn end(self) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Json { begun: false, .. } => Ok(b"[]\n".to_vec()),
            Self::Json { mut writer, .. } => {
                writer.finish()?;
                let mut bytes = writer.into_inner();
                bytes.push(b'\n');
                Ok(bytes)
            }
            // A result without rows has only the header line.
            Self::Csv { schema, begun: false } => lines(&RecordBatch::new_empty(schema), true),
            Self::Csv { .. } => Ok(Vec::new()),
            Self::Parquet(writer) => Ok(writer.into_inner()?),
        }
    }
}

/// Encodes a batch as CSV lines.
fn lines(batch: &RecordBatch, head: bool) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().with_header(head).build(Vec::new());
    writer.write(batch)?;
    Ok(writer.into_inner())
}

/// Refuses duplicate column names. A JSON row would have a key twice, of which readers keep one.
fn named_once(schema: &Schema) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    match schema.fields().iter().find(|field| !seen.insert(field.name())) {
        Some(twice) => anyhow::bail!(
            "two columns have the name {0}: rename one of them with `as`, or print a table",
            twice.name()
        ),
        None => Ok(()),
    }
}

/// Refuses columns that CSV cannot represent.
fn plain(schema: &Schema) -> anyhow::Result<()> {
    match schema.fields().iter().find(|field| field.data_type().is_nested()) {
        Some(nested) => anyhow::bail!(
            "column {0} is a list or a struct, which CSV cannot store: leave it out, convert it to text \
             (`array_to_string({0}, ', ')`), or use Parquet or JSON",
            nested.name()
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
    use datafusion::arrow::datatypes::{DataType, Field};
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReader;

    use super::*;

    fn batch(numbers: &[Option<i64>], words: &[Option<&str>]) -> RecordBatch {
        let columns: [(_, ArrayRef, _); 2] = [
            ("n", Arc::new(Int64Array::from(numbers.to_vec())), true),
            ("word", Arc::new(StringArray::from(words.to_vec())), true),
        ];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn written(format: Format, batches: &[RecordBatch]) -> Vec<u8> {
        let mut encoder = Encoder::new(format, &batches[0].schema()).unwrap();
        let mut out = Vec::new();
        for batch in batches {
            out.extend(encoder.rows(batch).unwrap());
        }
        out.extend(encoder.end().unwrap());
        out
    }

    #[test]
    fn a_format_is_known_by_the_ending_of_a_name_whatever_its_case() {
        assert_eq!(Format::of_name(Path::new("a/b.CSV")), Some(Format::Csv));
        assert_eq!(Format::of_name(Path::new("b.tar.parquet")), Some(Format::Parquet));
        assert_eq!(Format::of_name(Path::new("b.txt")), None);
        assert_eq!(Format::of_name(Path::new("csv")), None);
    }

    #[test]
    fn csv_has_one_line_of_names_and_quotes_what_needs_it() {
        let rows = [
            batch(&[Some(1), None], &[Some("a,b"), Some("say \"hi\"\nthere")]),
            batch(&[Some(3)], &[None]),
        ];
        let text = String::from_utf8(written(Format::Csv, &rows)).unwrap();
        assert_eq!(text, "n,word\n1,\"a,b\"\n,\"say \"\"hi\"\"\nthere\"\n3,\n");
    }

    #[test]
    fn no_rows_are_still_an_answer_in_every_format() {
        let none = [batch(&[], &[])];
        assert_eq!(written(Format::Csv, &none), b"n,word\n");
        assert_eq!(written(Format::Json, &none), b"[]\n");
        let file = bytes_of(written(Format::Parquet, &none));
        let mut read = ParquetRecordBatchReader::try_new(file, 100).unwrap();
        assert!(read.next().is_none());
    }

    fn bytes_of(file: Vec<u8>) -> bytes::Bytes {
        file.into()
    }

    #[test]
    fn parquet_gives_back_the_rows_that_were_written_in_pieces() {
        let rows = [
            batch(&[Some(1), None], &[Some("a"), None]),
            batch(&[Some(3)], &[Some("")]),
        ];
        let read = ParquetRecordBatchReader::try_new(bytes_of(written(Format::Parquet, &rows)), 100).unwrap();
        let read: Vec<_> = read.map(Result::unwrap).collect();
        let (numbers, words) = ([Some(1), None, Some(3)], [Some("a"), None, Some("")]);
        assert_eq!(read, [batch(&numbers, &words)]);
    }

    #[test]
    fn columns_that_a_format_has_no_form_for_are_named() {
        let word = || Field::new("word", DataType::Utf8, true);
        let tags = Arc::new(Schema::new(vec![Field::new_list("tags", word(), true)]));
        let told = Encoder::new(Format::Csv, &tags).unwrap_err().to_string();
        assert!(told.contains("column tags"), "{told}");
        assert!(Encoder::new(Format::Json, &tags).is_ok());
        assert!(Encoder::new(Format::Parquet, &tags).is_ok());
        let twice = Arc::new(Schema::new(vec![word(), word()]));
        for format in [Format::Csv, Format::Json, Format::Parquet] {
            let told = Encoder::new(format, &twice).unwrap_err().to_string();
            assert!(told.contains("have the name word"), "{told}");
        }
    }
}
