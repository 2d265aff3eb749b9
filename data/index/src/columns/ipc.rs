use std::collections::HashMap;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileDecoder, read_footer_length};
use arrow::ipc::writer::{FileWriter, IpcWriteOptions};
use arrow::ipc::{Block, convert, root_as_footer};
use bytes::Bytes;

/// Length of the file's trailer: the footer's length and `ARROW1`.
const TRAILER_BYTES: usize = 10;

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(what.to_owned())
}

/// Reads every batch in place, so that the arrays point into `bytes`. All content is validated, so that later reads
/// need no checks. Also returns the metadata of the file's schema.
pub(crate) fn read(
    bytes: Bytes,
    schema: &SchemaRef,
) -> Result<(Vec<RecordBatch>, HashMap<String, String>), ArrowError> {
    // The decoder asserts that buffers lie within their block. A damaged file must give an error instead of a crash.
    std::panic::catch_unwind(AssertUnwindSafe(|| decode(bytes, schema)))
        .unwrap_or_else(|_| Err(damaged("a buffer is outside its block")))
}

fn decode(bytes: Bytes, schema: &SchemaRef) -> Result<(Vec<RecordBatch>, HashMap<String, String>), ArrowError> {
    let buffer = Buffer::from(bytes);
    let body_end = buffer
        .len()
        .checked_sub(TRAILER_BYTES)
        .ok_or_else(|| damaged("the file is shorter than its trailer"))?;
    let trailer = buffer.get(body_end..).and_then(|trailer| trailer.try_into().ok());
    let footer_len = read_footer_length(trailer.ok_or_else(|| damaged("no trailer"))?)?;
    let footer_start = body_end
        .checked_sub(footer_len)
        .ok_or_else(|| damaged("the file is shorter than its footer"))?;
    let footer_bytes = buffer.get(footer_start..body_end).unwrap_or_default();
    let footer = root_as_footer(footer_bytes).map_err(|error| damaged(&format!("footer: {error}")))?;
    let found = convert::fb_to_schema(footer.schema().ok_or_else(|| damaged("no schema"))?);
    if found.fields() != schema.fields() {
        return Err(ArrowError::SchemaError(
            "the columns differ from the expected ones".to_owned(),
        ));
    }
    let decoder = FileDecoder::new(Arc::clone(schema), footer.version()).with_require_alignment(true);
    let blocks = footer.recordBatches().ok_or_else(|| damaged("no batches"))?;
    let read = |block| read_block(&decoder, block, &buffer, footer_start);
    let batches = blocks.iter().map(read).collect::<Result<_, _>>()?;
    Ok((batches, found.metadata))
}

fn read_block(decoder: &FileDecoder, block: &Block, buffer: &Buffer, end: usize) -> Result<RecordBatch, ArrowError> {
    let outside = || damaged("a block is outside the file");
    let offset = usize::try_from(block.offset()).map_err(|_| outside())?;
    let metadata = usize::try_from(block.metaDataLength()).map_err(|_| outside())?;
    let body = usize::try_from(block.bodyLength()).map_err(|_| outside())?;
    let length = metadata.checked_add(body).ok_or_else(outside)?;
    if metadata < 8 || offset.checked_add(length).is_none_or(|block_end| block_end > end) {
        return Err(outside());
    }
    let batch = decoder.read_record_batch(block, &buffer.slice_with_length(offset, length))?;
    batch.ok_or_else(|| damaged("a block without a batch"))
}

/// Uncompressed, aligned Arrow files can be read in place.
pub(crate) fn writer<W: Write>(to: W, schema: &Schema) -> Result<FileWriter<W>, ArrowError> {
    FileWriter::try_new_with_options(to, schema, IpcWriteOptions::default())
}

/// Returns a file of one batch.
pub(crate) fn file(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = writer(Vec::new(), batch.schema_ref())?;
    writer.write(batch)?;
    writer.into_inner()
}

/// Returns the column of this name, cast to its array type.
pub(crate) fn column<A: Array + Clone + 'static>(batch: &RecordBatch, name: &str) -> Result<A, ArrowError> {
    let array = batch
        .column_by_name(name)
        .ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))?;
    cast(array, name)
}

pub(crate) fn cast<A: Array + Clone + 'static>(array: &dyn Array, name: &str) -> Result<A, ArrowError> {
    let array = array.as_any().downcast_ref::<A>().cloned();
    array.ok_or_else(|| ArrowError::SchemaError(format!("column {name} has an unexpected type")))
}
