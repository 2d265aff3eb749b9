//! Lists the data files of a snapshot, for query engines that read Parquet but not Delta.

use arrow::datatypes::DataType;
use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_storage::ObjectPath;
use deltalake::table::state::DeltaTableState;
use url::Url;

use crate::delta::{DataFile, data_files};
use crate::files::encode;
use crate::{LakeError, LakeSnapshot, TableName};

/// Files that contain exactly the rows of a table in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTable {
    /// Table that the files belong to.
    pub table: TableName,
    /// Version of the table in the snapshot.
    pub version: u64,
    /// Partition column, if the table has one. Its values appear in folder names and not in the files.
    pub partition: Option<PartitionColumn>,
    /// Number of files with deletion vectors. A plain Parquet reader would still return their deleted rows. haat does
    /// not write deletion vectors.
    pub deletion_vectors: usize,
    /// `true` if columns have other names in the files than in the table. haat never renames columns.
    pub is_column_mapped: bool,
    /// Data files, sorted by path.
    pub files: Vec<LiveFile>,
}

/// Partition column, which the data files do not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionColumn {
    /// Name of the column.
    pub name: &'static str,
    /// `true` if the values are integers, `false` if they are texts.
    pub is_number: bool,
}

/// A data file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFile {
    /// Path of the file in the lake, such as `products/bucket=3/part-….parquet`.
    pub path: ObjectPath,
    /// URL of the file.
    pub url: Url,
    /// Number of rows in the file, if the table's log states it.
    pub rows: Option<u64>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Value of the partition column in all rows of the file.
    pub partition: Option<String>,
}

impl LiveTable {
    /// Returns `true` if a Parquet reader that adds the partition column gets exactly the rows of the table.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.deletion_vectors == 0 && !self.is_column_mapped
    }

    /// Returns a Parquet file with all columns of the table's files and no rows, for tables without files.
    ///
    /// # Errors
    /// The Parquet writer fails, which is not expected.
    pub fn empty_file(&self) -> Result<Bytes, LakeError> {
        Ok(encode(self.table, &[])?.bytes)
    }
}

impl LakeSnapshot {
    /// Returns the files of a table.
    ///
    /// # Errors
    /// The table's log cannot be read.
    #[boxed]
    pub async fn live_files(&self, table: TableName) -> Result<LiveTable, LakeError> {
        let state = self.table(table).await?;
        let root = self.lake.inner.storage.child(table.as_str());
        let found = data_files(table, state);
        let deletion_vectors = found.iter().filter(|file| file.has_deletion_vector()).count();
        let mut files: Vec<LiveFile> = found.into_iter().map(|file| live(table, root.url(), file)).collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(LiveTable {
            table,
            version: state.version(),
            partition: partition(table),
            deletion_vectors,
            is_column_mapped: is_column_mapped(state),
            files,
        })
    }
}

fn partition(table: TableName) -> Option<PartitionColumn> {
    let spec = table.spec();
    let name = spec.partition?;
    let field = spec.schema.field_with_name(name);
    Some(PartitionColumn {
        name,
        is_number: field.is_ok_and(|field| *field.data_type() == DataType::Int32),
    })
}

fn is_column_mapped(state: &DeltaTableState) -> bool {
    let mode = state.table_config().column_mapping_mode;
    mode.is_some_and(|mode| serde_json::to_value(mode).is_ok_and(|mode| mode != "none"))
}

fn live(table: TableName, root: &Url, file: DataFile) -> LiveFile {
    let mut url = root.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        let parts = file.path.parts().map(|part| part.as_ref().to_owned());
        segments.pop_if_empty().extend(parts);
    }
    let folder = ObjectPath::from(table.as_str());
    let path = folder.parts().chain(file.path.parts()).collect();
    LiveFile {
        path,
        url,
        rows: file.rows,
        bytes: file.size,
        partition: file.partition,
    }
}
