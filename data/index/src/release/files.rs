use std::collections::HashMap;
use std::io;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use bytes::Bytes;

use crate::columns::ipc;
use crate::error::OpenError;
use crate::manifest::FileEntry;

/// Function that returns the bytes of a file of a release.
pub type ReadFile<'a> = &'a dyn Fn(&FileEntry) -> io::Result<Bytes>;

pub(super) struct Files<'a> {
    /// Part, or store of the brand, for errors.
    pub(super) of: String,
    pub(super) read: ReadFile<'a>,
}

pub(super) struct Table {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) notes: HashMap<String, String>,
}

impl Files<'_> {
    /// Checks the size of the file.
    pub(super) fn bytes(&self, file: &FileEntry) -> Result<Bytes, OpenError> {
        let (part, name) = (|| self.of.clone(), &file.name);
        let bytes = (self.read)(file).map_err(|source| OpenError::Map {
            part: part(),
            name: name.clone(),
            source,
        })?;
        let found = bytes.len() as u64;
        if found == file.size_bytes {
            return Ok(bytes);
        }
        Err(OpenError::SizeDiffers {
            part: part(),
            name: name.clone(),
            found,
            expected: file.size_bytes,
        })
    }

    pub(super) fn table(&self, file: &FileEntry, name: &'static str, schema: &SchemaRef) -> Result<Table, OpenError> {
        let read = ipc::read(self.bytes(file)?, schema);
        let (batches, notes) = read.map_err(self.wrong_columns(name))?;
        Ok(Table { batches, notes })
    }

    /// Reads an Arrow file that has one batch.
    pub(super) fn batch(
        &self,
        file: &FileEntry,
        name: &'static str,
        schema: &SchemaRef,
    ) -> Result<RecordBatch, OpenError> {
        self.table(file, name, schema)?.one().map_err(self.wrong_columns(name))
    }

    pub(super) fn wrong_columns(&self, name: &'static str) -> impl Fn(ArrowError) -> OpenError {
        move |source| OpenError::Columns {
            part: self.of.clone(),
            name,
            source,
        }
    }

    pub(super) fn wrong_content(&self, name: &'static str) -> impl Fn(&'static str) -> OpenError {
        move |what| OpenError::Content {
            part: self.of.clone(),
            name,
            what,
        }
    }
}

impl Table {
    pub(super) fn one(mut self) -> Result<RecordBatch, ArrowError> {
        let batch = self.batches.pop().filter(|_| self.batches.is_empty());
        batch.ok_or_else(|| ArrowError::InvalidArgumentError("not one batch".to_owned()))
    }
}
