//! Reads the data files that a log names.

use arrow::record_batch::RecordBatch;
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};

use super::table::DataFile;
use crate::error::lost_file;
use crate::files::{FileBytes, Scan, batches, compute, read_file};
use crate::{LakeError, TableName};

#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    pub(crate) table: TableName,
    /// Storage of the table's folder.
    pub(crate) storage: Storage,
    pub(crate) file: DataFile,
}

impl TableFile {
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.table, self.file.path)
    }

    pub(crate) fn bucket<T: std::str::FromStr>(&self) -> Option<T> {
        self.file.partition.as_deref().and_then(|bucket| bucket.parse().ok())
    }
}

const READS_AT_ONCE: usize = 8;

/// Each file is read completely.
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

/// Verifies that the bytes of the data files are those that were written.
pub(crate) async fn read(storage: &Storage, table: TableName, files: &[DataFile]) -> Result<Vec<FileBytes>, LakeError> {
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let bytes = read_file(storage, table, &file.path, file.sha256().as_deref()).await?;
        let path = file.path.to_string();
        read.push(FileBytes { path, bytes });
    }
    Ok(read)
}

/// Reads the wanted rows of data files, in the order of their table, and decodes each record batch.
pub(crate) async fn scan<T, D>(
    storage: &Storage,
    table: TableName,
    files: &[DataFile],
    wanted: Scan,
    mut decode: D,
) -> Result<Vec<T>, LakeError>
where
    T: Send + 'static,
    D: FnMut(&RecordBatch) -> Result<Vec<T>, LakeError> + Send + 'static,
{
    let bytes = read(storage, table, files).await?;
    compute(move || {
        let mut rows = Vec::new();
        for batch in batches(table, bytes, &wanted)? {
            rows.extend(decode(&batch?)?);
        }
        Ok(rows)
    })
    .await
}

/// Reads a data file completely. Checks its SHA-256 if the log has it, and otherwise decodes its rows.
pub(crate) async fn read_whole(storage: &Storage, table: TableName, file: &DataFile) -> Result<(), LakeError> {
    match file.sha256() {
        Some(_) => read(storage, table, std::slice::from_ref(file)).await.map(drop),
        None => decode_whole(storage, table, file).await,
    }
}

/// Reads a data file completely and decodes its rows.
pub(crate) async fn decode_whole(storage: &Storage, table: TableName, file: &DataFile) -> Result<(), LakeError> {
    let nothing = |_: &RecordBatch| Ok(Vec::<()>::new());
    let decoded = scan(storage, table, std::slice::from_ref(file), Scan::default(), nothing);
    decoded.await.map(drop)
}
