//! The data files of one state, for engines that read Parquet and not Delta.

use arrow::datatypes::DataType;
use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_storage::ObjectPath;
use deltalake::table::state::DeltaTableState;
use url::Url;

use crate::delta::{DataFile, data_files};
use crate::files::encode;
use crate::{LakeConfig, LakeError, LakeSnapshot, TableName};

/// The files that hold the rows of a table in one state: all of these, and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTable {
    /// The table.
    pub table: TableName,
    /// Its version in that state.
    pub version: u64,
    /// The column that stands in the names of folders and in no file, where the table has one.
    pub partition: Option<PartitionColumn>,
    /// The number of files with rows that are deleted by a vector beside them, which a reader of Parquet would count.
    /// haat writes none.
    pub deletion_vectors: usize,
    /// `true` where columns have other names in files than in the table. haat never renames them.
    pub is_column_mapped: bool,
    /// By path.
    pub files: Vec<LiveFile>,
}

/// A column that files do not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionColumn {
    /// Its name.
    pub name: &'static str,
    /// `true` where its values are whole numbers; texts otherwise.
    pub is_number: bool,
}

/// A data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFile {
    /// Its path in the lake, `products/bucket=3/part-….parquet`.
    pub path: ObjectPath,
    /// Its address.
    pub url: Url,
    /// The number of its rows, where the table's log tells.
    pub rows: Option<u64>,
    /// Its size.
    pub bytes: u64,
    /// Value of the partition column in all of its rows.
    pub partition: Option<String>,
}

impl LiveTable {
    /// `true` where the rows of the files are the rows of the table, for a reader that knows the partition column.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.deletion_vectors == 0 && !self.is_column_mapped
    }

    /// A file with all columns of the table's files and no rows: it tells readers the columns of a table without files.
    ///
    /// # Errors
    /// Never of itself: the writer of Parquet may fail.
    pub fn empty_file(&self) -> Result<Bytes, LakeError> {
        Ok(encode(self.table, &[], &LakeConfig::default())?.bytes)
    }
}

impl LakeSnapshot {
    /// The files of a table.
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
