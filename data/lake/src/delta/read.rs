//! The bytes of data files that a log names.

use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};

use super::table::DataFile;
use crate::error::lost_file;
use crate::files::{Decoder, FileBytes, Scan, compute, read_file};
use crate::{LakeError, TableName};

/// A data file with its table.
#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    pub(crate) table: TableName,
    /// The table's folder.
    pub(crate) storage: Storage,
    pub(crate) file: DataFile,
}

impl TableFile {
    /// Its path in the lake.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.table, self.file.path)
    }

    /// The bucket of its rows, where the table has buckets.
    pub(crate) fn bucket<T: std::str::FromStr>(&self) -> Option<T> {
        self.file.partition.as_deref().and_then(|bucket| bucket.parse().ok())
    }
}

/// Files that are read at the same time.
const READS_AT_ONCE: usize = 8;

/// The files that are missing or damaged. Reads each of them from end to end.
pub(crate) async fn lost_files(files: Vec<TableFile>) -> Result<Vec<TableFile>, LakeError> {
    let looks = files.into_iter().map(|one| async move {
        match read_whole(&one.storage, one.table, &one.file).await {
            Err(error) if lost_file(&error).is_some() => Ok(Some(one)),
            looked => looked.map(|()| None),
        }
    });
    let looks: Vec<_> = looks.collect();
    let looks = futures::stream::iter(looks).buffer_unordered(READS_AT_ONCE);
    let found: Vec<Option<TableFile>> = looks.try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// The bytes of data files, as they were written.
pub(crate) async fn read(storage: &Storage, table: TableName, files: &[DataFile]) -> Result<Vec<FileBytes>, LakeError> {
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let bytes = read_file(storage, table, &file.path, file.sha256().as_deref()).await?;
        let path = file.path.to_string();
        read.push(FileBytes { path, bytes });
    }
    Ok(read)
}

/// Reads a data file from end to end: its bytes, where the log has their SHA-256, else its rows.
pub(crate) async fn read_whole(storage: &Storage, table: TableName, file: &DataFile) -> Result<(), LakeError> {
    let is_hashed = file.sha256().is_some();
    let files = read(storage, table, std::slice::from_ref(file)).await?;
    if is_hashed {
        return Ok(());
    }
    compute(move || {
        for FileBytes { path, bytes } in files {
            for batch in Decoder::new(table, &path, bytes, Scan::default())? {
                batch?;
            }
        }
        Ok(())
    })
    .await
}
