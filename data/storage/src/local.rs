use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, RenameTargetMode, Result,
};

use crate::StorageError;
use crate::disk::{Disk, Readers, STAGING, Target};
use crate::local_file::{blocking, failed, put_result};
use crate::upload::StagedUpload;

/// Stores each object as a file with the same path in a local directory.
///
/// The local store of `object_store` never syncs. After a power failure, data that it acknowledged can be lost or
/// truncated. `DurableLocal` uses it for reads only. A put, copy, rename, delete or finished upload is acknowledged
/// only after a sync of the file's content, its directory entry and the entries of all parent directories.
///
/// A put is atomic: reads and lists see either the old or the new object. Lists are sorted by path, as in S3. All files
/// below the root must be on one file system. Blocking work runs on tokio's blocking threads.
#[derive(Debug, Clone)]
pub struct DurableLocal {
    disk: Arc<Disk>,
    reads: LocalFileSystem,
}

impl DurableLocal {
    /// Opens the store in `dir` and creates the directory if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created, synced or opened.
    pub fn open(dir: &FsPath) -> Result<Self, StorageError> {
        Self::open_for(dir, Readers::Anybody)
    }

    pub(crate) fn open_for(dir: &FsPath, readers: Readers) -> Result<Self, StorageError> {
        let create = |source| StorageError::CreateDirectory {
            path: dir.to_path_buf(),
            source,
        };
        let disk = Disk::open(dir, readers).map_err(create)?;
        let reads = LocalFileSystem::new_with_prefix(disk.root()).map_err(|source| StorageError::Open {
            url: disk.root().display().to_string(),
            source,
        })?;
        Ok(Self {
            disk: Arc::new(disk),
            reads,
        })
    }

    /// Returns the directory as an absolute path without symbolic links.
    #[must_use]
    pub fn root(&self) -> &FsPath {
        self.disk.root()
    }

    fn file_path(&self, location: &Path) -> Result<PathBuf> {
        if is_staging(location) {
            return Err(failed(
                "address",
                self.disk.root().join(STAGING),
                ErrorKind::PermissionDenied.into(),
            ));
        }
        self.reads.path_to_filesystem(location)
    }
}

impl fmt::Display for DurableLocal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DurableLocal({})", self.disk.root().display())
    }
}

fn unsupported(operation: &str) -> object_store::Error {
    object_store::Error::NotImplemented {
        operation: operation.to_owned(),
        implementer: "DurableLocal".to_owned(),
    }
}

fn is_staging(location: &Path) -> bool {
    location.parts().next().is_some_and(|part| part.as_ref() == STAGING)
}

#[async_trait]
impl ObjectStore for DurableLocal {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let target = match opts.mode {
            PutMode::Overwrite => Target::Replace,
            PutMode::Create => Target::MustBeAbsent,
            PutMode::Update(_) => return Err(unsupported("put_opts with PutMode::Update")),
        };
        if !opts.attributes.is_empty() {
            return Err(unsupported("put_opts with attributes"));
        }
        let path = self.file_path(location)?;
        let disk = Arc::clone(&self.disk);
        blocking(move || {
            // Another writer is often first, and a write is then needless.
            if target == Target::MustBeAbsent && path.exists() {
                // The winner may not have synced yet, but the loser acts on what it sees.
                let synced = path.parent().map_or(Ok(()), crate::disk::sync_dir);
                return Err(failed(
                    "create",
                    path,
                    synced.err().unwrap_or(ErrorKind::AlreadyExists.into()),
                ));
            }
            let (mut file, staged) = disk.stage().map_err(|source| failed("stage", path.clone(), source))?;
            let written = payload
                .iter()
                .try_for_each(|chunk| file.write_all(chunk))
                .and_then(|()| file.sync_data())
                .and_then(|()| put_result(&file))
                .and_then(|result| disk.publish(&staged, &path, target).map(|()| result));
            written.map_err(|source| {
                // The removal fails if the file was moved before the error.
                let _ = std::fs::remove_file(&staged);
                failed("write", path, source)
            })
        })
        .await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        if !opts.attributes.is_empty() {
            return Err(unsupported("put_multipart_opts with attributes"));
        }
        let (path, disk) = (self.file_path(location)?, Arc::clone(&self.disk));
        blocking(move || {
            let (file, staged) = disk.stage().map_err(|source| failed("stage", path.clone(), source))?;
            Ok(Box::new(StagedUpload::new(disk, file, staged, path)) as Box<dyn MultipartUpload>)
        })
        .await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.reads.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.reads.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let batches = locations.ready_chunks(256).then(move |batch| {
            let store = store.clone();
            async move { store.delete_batch(batch).await }
        });
        batches.flat_map(futures::stream::iter).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        sorted(self.reads.list(prefix).try_filter(not_staging).boxed())
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        sorted(
            self.reads
                .list_with_offset(prefix, offset)
                .try_filter(not_staging)
                .boxed(),
        )
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.reads.list_with_delimiter(prefix).await?;
        listed.common_prefixes.retain(|prefix| !is_staging(prefix));
        listed.objects.retain(|meta| !is_staging(&meta.location));
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let target = match options.mode {
            CopyMode::Overwrite => Target::Replace,
            CopyMode::Create => Target::MustBeAbsent,
        };
        let (from, to, disk) = (self.file_path(from)?, self.file_path(to)?, Arc::clone(&self.disk));
        blocking(move || {
            // A second link suffices, because files are never modified in place.
            let staged = disk.stage_link(&from).map_err(|source| failed("copy", from, source))?;
            let published = disk.publish(&staged, &to, target);
            // Renaming one link of a file over another link of the same file leaves both in place.
            let _ = std::fs::remove_file(&staged);
            published.map_err(|source| failed("copy to", to, source))
        })
        .await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let target = match options.target_mode {
            RenameTargetMode::Overwrite => Target::Replace,
            RenameTargetMode::Create => Target::MustBeAbsent,
        };
        let (from, to, disk) = (self.file_path(from)?, self.file_path(to)?, Arc::clone(&self.disk));
        blocking(move || {
            let synced = File::open(&from).and_then(|file| file.sync_data());
            synced.map_err(|source| failed("rename", from.clone(), source))?;
            disk.publish(&from, &to, target)
                .map_err(|source| failed("rename to", to, source))?;
            let synced = from.parent().map_or(Ok(()), crate::disk::sync_dir);
            synced.map_err(|source| failed("rename", from, source))
        })
        .await
    }
}

impl DurableLocal {
    async fn delete_batch(&self, batch: Vec<Result<Path>>) -> Vec<Result<Path>> {
        let mut results = Vec::with_capacity(batch.len());
        let mut found = Vec::with_capacity(batch.len());
        for location in batch {
            match location.and_then(|location| Ok((self.file_path(&location)?, location))) {
                Ok(pair) => found.push(pair),
                Err(error) => results.push(Err(error)),
            }
        }
        let disk = Arc::clone(&self.disk);
        let removed = blocking(move || {
            let (paths, locations): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            let removed = disk.remove(&paths);
            let pairs = removed.into_iter().zip(paths.into_iter().zip(locations));
            Ok(pairs
                .map(|(removed, (path, location))| {
                    removed
                        .map(|()| location)
                        .map_err(|source| failed("delete", path, source))
                })
                .collect::<Vec<_>>())
        });
        match removed.await {
            Ok(removed) => results.extend(removed),
            Err(error) => results.push(Err(error)),
        }
        results
    }
}

fn sorted(metas: BoxStream<'static, Result<ObjectMeta>>) -> BoxStream<'static, Result<ObjectMeta>> {
    let collected = async move {
        let mut metas: Vec<ObjectMeta> = metas.try_collect().await?;
        metas.sort_unstable_by(|left, right| left.location.cmp(&right.location));
        Ok::<_, object_store::Error>(futures::stream::iter(metas.into_iter().map(Ok)))
    };
    futures::stream::once(collected).try_flatten().boxed()
}

fn not_staging(meta: &ObjectMeta) -> futures::future::Ready<bool> {
    futures::future::ready(!is_staging(&meta.location))
}
