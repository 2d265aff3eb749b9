use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use data_storage::put_new;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::{ObjectStoreExt, WriteMultipart};

use super::cache::local;
use super::fetch::blocking;
use super::{ReleaseStore, file_path, storage};
use crate::digest::Sha256Hex;
use crate::error::ReleaseError;
use crate::manifest::{FileEntry, Manifest};

/// Larger files are uploaded in pieces of this size, so that memory stays bounded.
const PIECE_BYTES: usize = 8 << 20;
const ONE_PUT_BYTES_MAX: u64 = 32 << 20;
const PIECES_AT_ONCE: usize = 4;
const FILES_AT_ONCE: usize = 4;

impl ReleaseStore {
    /// Uploads the files of a release that the store lacks, from `dir`; returns how many bytes were uploaded.
    ///
    /// A file that is there already but that no release names is uploaded again: its age must not make a collection
    /// of garbage remove it while this publication is under way.
    ///
    /// # Errors
    /// A file is neither in the store nor in `dir`, or the store failed.
    pub async fn put_files(&self, manifest: &Manifest, dir: &Path) -> Result<u64, ReleaseError> {
        let named = self.files_of_current().await?;
        let files: BTreeMap<Sha256Hex, &FileEntry> = manifest.files().map(|file| (file.sha256, file)).collect();
        // Boxed, or the compiler cannot tell that this future is `Send`.
        let uploads: Vec<BoxFuture<'_, _>> = files
            .into_values()
            .map(|file| self.put_file(manifest, file, dir, &named).boxed())
            .collect();
        let uploaded: Vec<u64> = futures::stream::iter(uploads)
            .buffer_unordered(FILES_AT_ONCE)
            .try_collect()
            .await?;
        Ok(uploaded.into_iter().sum())
    }

    async fn files_of_current(&self) -> Result<BTreeSet<Sha256Hex>, ReleaseError> {
        let Some(current) = self.current().await? else {
            return Ok(BTreeSet::new());
        };
        let manifest = self.find_manifest(current.id).await?;
        Ok(manifest
            .iter()
            .flat_map(Manifest::files)
            .map(|file| file.sha256)
            .collect())
    }

    async fn put_file(
        &self,
        manifest: &Manifest,
        file: &FileEntry,
        dir: &Path,
        named: &BTreeSet<Sha256Hex>,
    ) -> Result<u64, ReleaseError> {
        let there = self.has_file(file).await?;
        if there && named.contains(&file.sha256) {
            return Ok(0);
        }
        let from = dir.join(file.sha256.to_string());
        match std::fs::metadata(&from) {
            Ok(_) => self.upload(file, from).await,
            Err(_) if there => Ok(0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ReleaseError::FileMissing {
                id: manifest.id,
                sha256: file.sha256,
            }),
            Err(error) => Err(local("read", &from)(error)),
        }
    }

    /// Whether the store has the file with its size.
    pub(super) async fn has_file(&self, file: &FileEntry) -> Result<bool, ReleaseError> {
        let path = file_path(file.sha256);
        match self.storage.store().head(&path).await {
            Ok(meta) => Ok(meta.size == file.size_bytes),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(source) => Err(ReleaseError::Object {
                action: "look up",
                path: path.to_string(),
                source,
            }),
        }
    }

    async fn upload(&self, file: &FileEntry, from: PathBuf) -> Result<u64, ReleaseError> {
        let path = file_path(file.sha256);
        if file.size_bytes <= ONE_PUT_BYTES_MAX {
            let read = from.clone();
            let bytes = blocking("read a file", move || std::fs::read(read))
                .await?
                .map_err(local("read", &from))?;
            let bytes = Bytes::from(bytes);
            if !put_new(&self.storage, &path, bytes.clone())
                .await
                .map_err(storage("upload a file"))?
            {
                // The same content, or what a torn upload left: the name stands for one content, so write it again.
                data_storage::put_over(&self.storage, &path, bytes)
                    .await
                    .map_err(storage("upload a file"))?;
            }
            return Ok(file.size_bytes);
        }
        let failed = |source| ReleaseError::Object {
            action: "upload",
            path: path.to_string(),
            source,
        };
        let mut upload = WriteMultipart::new_with_chunk_size(
            self.storage.store().put_multipart(&path).await.map_err(failed)?,
            PIECE_BYTES,
        );
        let mut reader = std::fs::File::open(&from).map_err(local("read", &from))?;
        loop {
            upload.wait_for_capacity(PIECES_AT_ONCE).await.map_err(failed)?;
            let (rest, piece) = blocking("read a file", move || read_piece(reader)).await?;
            let piece = piece.map_err(local("read", &from))?;
            if piece.is_empty() {
                break;
            }
            upload.put(piece);
            reader = rest;
        }
        upload.finish().await.map_err(failed)?;
        Ok(file.size_bytes)
    }
}

fn read_piece(mut file: std::fs::File) -> (std::fs::File, std::io::Result<Bytes>) {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let read = file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
    (file, read.map(|_| Bytes::from(piece)))
}
