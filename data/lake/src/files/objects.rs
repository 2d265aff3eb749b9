//! Reads and writes data files as objects of the storage.

use bytes::Bytes;
use data_storage::{ObjectPath, Storage};
use object_store::ObjectStoreExt;
use uuid::Uuid;

use super::parquet::{Encoded, digest};
use crate::{LakeError, TableName};

#[derive(Debug, Clone)]
pub(crate) struct FileBytes {
    pub(crate) path: String,
    pub(crate) bytes: Bytes,
}

/// Maximum number of bytes that are hashed on the calling thread.
const HASHED_IN_PLACE_MAX: usize = 1 << 20;

/// Verifies the bytes if `sha256` is given.
pub(crate) async fn read_file(
    storage: &Storage,
    table: TableName,
    path: &ObjectPath,
    sha256: Option<&str>,
) -> Result<Bytes, LakeError> {
    let failed = |source| LakeError::File {
        path: format!("{table}/{path}"),
        source,
    };
    let found = storage.store().get(path).await.map_err(failed)?;
    let bytes = found.bytes().await.map_err(failed)?;
    let Some(written) = sha256 else { return Ok(bytes) };
    let found = if bytes.len() <= HASHED_IN_PLACE_MAX {
        digest(&bytes)
    } else {
        let bytes = bytes.clone();
        compute(move || Ok(digest(&bytes))).await?
    };
    if found == written {
        return Ok(bytes);
    }
    Err(LakeError::Damaged {
        path: format!("{table}/{path}"),
    })
}

/// Writes a data file under a new unique name.
pub(crate) async fn write(
    storage: &Storage,
    table: TableName,
    partition: Option<&str>,
    encoded: &Encoded,
) -> Result<ObjectPath, LakeError> {
    let name = format!("part-00000-{}-c000.zstd.parquet", Uuid::new_v4());
    let path = match (table.spec().partition, partition) {
        (Some(column), Some(partition)) => ObjectPath::from(format!("{column}={partition}/{name}")),
        _ => ObjectPath::from(name),
    };
    let written = storage.store().put(&path, encoded.bytes.clone().into()).await;
    written.map_err(|source| LakeError::File {
        path: format!("{table}/{path}"),
        source,
    })?;
    Ok(path)
}

/// Runs a computation where it does not block other tasks.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LakeError> + Send + 'static,
) -> Result<T, LakeError> {
    tokio::task::spawn_blocking(work).await.map_err(LakeError::Task)?
}
