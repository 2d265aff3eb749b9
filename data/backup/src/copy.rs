//! Copies objects from one storage to another and hashes them on the way.

use bytes::Bytes;
use data_storage::{ObjectPath, ObjectStoreExt as _, Storage, StorageError, put_over};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use sha2::{Digest as _, Sha256};

use crate::BackupError;

/// Maximum size of an object that is loaded into memory while it is copied. Larger objects are read twice.
const HELD_BYTES_MAX: u64 = 8 << 20;
pub(crate) const COPIES_AT_ONCE: usize = 8;
/// Number of parts of one large object that are uploaded concurrently.
const PARTS_AT_ONCE: usize = 2;
const PART_BYTES: usize = 8 << 20;
/// Maximum number of attempts to read an object that changes while it is copied.
const TRIES_MAX: u32 = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CopiedObject {
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    pub(crate) etag: Option<String>,
    /// `true` if the object was written. `false` if the backups already had an object with the same content.
    pub(crate) is_new: bool,
}

pub(crate) fn object_path(sha256: &str) -> ObjectPath {
    ObjectPath::from(format!("objects/{}/{sha256}", sha256.get(..2).unwrap_or_default()))
}

async fn hashed(path: &ObjectPath, mut stream: Chunks) -> Result<(String, u64), StorageError> {
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|source| read_error(path, source))?;
        bytes += chunk.len() as u64;
        digest.update(&chunk);
    }
    Ok((hex::encode(digest.finalize()), bytes))
}

type Chunks = BoxStream<'static, object_store::Result<Bytes>>;

fn read_error(path: &ObjectPath, source: object_store::Error) -> StorageError {
    StorageError::Read {
        path: path.to_string(),
        source,
    }
}

fn write_error(path: &ObjectPath, source: object_store::Error) -> StorageError {
    StorageError::Write {
        path: path.to_string(),
        source,
    }
}

/// Returns `None` if the object does not exist.
pub(crate) async fn hash(storage: &Storage, path: &ObjectPath) -> Result<Option<(String, u64)>, StorageError> {
    match storage.store().get(path).await {
        Ok(answer) => hashed(path, answer.into_stream()).await.map(Some),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(source) => Err(read_error(path, source)),
    }
}

/// Copies an object of a home to the backups, under its hash, unless `is_there` reports that they have it. Returns
/// `None` if the object no longer exists in the home.
pub(crate) async fn keep(
    home: &Storage,
    backups: &Storage,
    path: &ObjectPath,
    is_there: impl Fn(&str, u64) -> bool,
) -> Result<Option<CopiedObject>, BackupError> {
    for _ in 0..TRIES_MAX {
        let answer = match home.store().get(path).await {
            Ok(answer) => answer,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(read_error(path, source).into()),
        };
        let (etag, size) = (answer.meta.e_tag.clone(), answer.meta.size);
        if size <= HELD_BYTES_MAX {
            let content = answer.bytes().await.map_err(|source| read_error(path, source))?;
            let (sha256, bytes) = (hex::encode(Sha256::digest(&content)), content.len() as u64);
            let is_new = !is_there(&sha256, bytes);
            if is_new {
                put_over(backups, &object_path(&sha256), content).await?;
            }
            return Ok(Some(CopiedObject {
                sha256,
                bytes,
                etag,
                is_new,
            }));
        }
        let (sha256, bytes) = hashed(path, answer.into_stream()).await?;
        let copied = |is_new| CopiedObject {
            sha256: sha256.clone(),
            bytes,
            etag: etag.clone(),
            is_new,
        };
        if is_there(&sha256, bytes) {
            return Ok(Some(copied(false)));
        }
        let from = ObjectPlace { storage: home, path };
        let to = ObjectPlace {
            storage: backups,
            path: &object_path(&sha256),
        };
        if send(from, to, &sha256).await? {
            return Ok(Some(copied(true)));
        }
    }
    Err(BackupError::Unsteady {
        path: path.to_string(),
        tries: TRIES_MAX,
    })
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectPlace<'a> {
    pub(crate) storage: &'a Storage,
    pub(crate) path: &'a ObjectPath,
}

/// Copies an object with a known hash. Returns `false` and writes nothing if the object is missing or has another hash.
pub(crate) async fn send(from: ObjectPlace<'_>, to: ObjectPlace<'_>, sha256: &str) -> Result<bool, StorageError> {
    let (path, target) = (from.path, to.path);
    let answer = match from.storage.store().get(path).await {
        Ok(answer) => answer,
        Err(object_store::Error::NotFound { .. }) => return Ok(false),
        Err(source) => return Err(read_error(path, source)),
    };
    if answer.meta.size <= HELD_BYTES_MAX {
        let content = answer.bytes().await.map_err(|source| read_error(path, source))?;
        let is_same = hex::encode(Sha256::digest(&content)) == sha256;
        if is_same {
            put_over(to.storage, target, content).await?;
        }
        return Ok(is_same);
    }
    let failed = |source| write_error(target, source);
    let upload = to.storage.store().put_multipart(target).await.map_err(failed)?;
    let mut upload = object_store::WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
    let (mut digest, mut stream) = (Sha256::new(), answer.into_stream());
    let mut read = Ok(());
    while let Some(chunk) = stream.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(source) => {
                read = Err(read_error(path, source));
                break;
            }
        };
        digest.update(&chunk);
        upload.wait_for_capacity(PARTS_AT_ONCE).await.map_err(failed)?;
        upload.put(chunk);
    }
    let is_same = hex::encode(digest.finalize()) == sha256;
    if read.is_err() || !is_same {
        // An unfinished upload is invisible. If it cannot be aborted, the storage discards it later.
        let _ = upload.abort().await;
        return read.map(|()| false);
    }
    upload.finish().await.map_err(failed)?;
    Ok(true)
}
