use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use bytes::Bytes;
use data_index::{FileEntry, Manifest, Sha256Hex};
use data_storage::put_new;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::{ObjectStoreExt, WriteMultipart};

use super::cache::local;
use super::fetch::{FILES_AT_ONCE, blocking};
use super::repair::Copies;
use super::{ReleaseStore, file_path, storage};
use crate::damage::Damage;
use crate::error::ReleaseError;

/// Larger files are uploaded in chunks of this size, which bounds memory.
const PIECE_BYTES: usize = 8 << 20;
const ONE_PUT_BYTES_MAX: u64 = 32 << 20;
const PIECES_AT_ONCE: usize = 4;

enum Secured {
    Kept,
    Uploaded(Sha256Hex),
    /// The file is missing or damaged in the store, and there is no local copy.
    Lost(Damage),
}

impl ReleaseStore {
    /// Ensures that the store has the files of a release. Uploads files that are missing or have another size from any
    /// intact copy. If the build made a file that the store already has, the stored bytes are compared, and replaced if
    /// they are damaged. Returns the uploaded files.
    ///
    /// An existing file that the current release does not name is uploaded again. Otherwise, a garbage collection could
    /// remove the file because of its age while this publication is running.
    ///
    /// # Errors
    /// A file is neither in the store nor available locally, or the store failed.
    pub(super) async fn secure_files(
        &self,
        manifest: &Manifest,
        copies: Copies<'_>,
    ) -> Result<BTreeSet<Sha256Hex>, ReleaseError> {
        let named = self.files_of_current().await?;
        let files: BTreeMap<Sha256Hex, &FileEntry> = manifest.files().map(|file| (file.sha256, file)).collect();
        // Without the box, the compiler cannot prove that this future is `Send`.
        let uploads: Vec<BoxFuture<'_, _>> = files
            .into_values()
            .map(|file| self.secure_file(manifest, file, copies, &named).boxed())
            .collect();
        let secured: Vec<Secured> = futures::stream::iter(uploads)
            .buffer_unordered(FILES_AT_ONCE)
            .try_collect()
            .await?;
        let (mut uploaded, mut damage) = (BTreeSet::new(), Vec::new());
        for secured in secured {
            match secured {
                Secured::Kept => {}
                Secured::Uploaded(sha256) => {
                    uploaded.insert(sha256);
                }
                Secured::Lost(lost) => damage.push(lost),
            }
        }
        if damage.is_empty() {
            return Ok(uploaded);
        }
        damage.sort_by_key(|damage| damage.sha256);
        let id = manifest.id;
        Err(ReleaseError::NoGoodCopy { id, damage })
    }

    async fn files_of_current(&self) -> Result<BTreeSet<Sha256Hex>, ReleaseError> {
        let Some(current) = self.current().await? else {
            return Ok(BTreeSet::new());
        };
        let manifest = match self.find_manifest(current.id).await {
            // A full build must succeed despite a damaged manifest, so that the files of that manifest are uploaded
            // again.
            Err(ReleaseError::ManifestDamaged { .. }) => None,
            found => found?,
        };
        Ok(manifest
            .iter()
            .flat_map(Manifest::files)
            .map(|file| file.sha256)
            .collect())
    }

    async fn secure_file(
        &self,
        manifest: &Manifest,
        file: &FileEntry,
        copies: Copies<'_>,
        named: &BTreeSet<Sha256Hex>,
    ) -> Result<Secured, ReleaseError> {
        let named = named.contains(&file.sha256);
        let mut damage = self.size_damage_of(file).await?;
        if damage.is_none() {
            if !copies.built(file) {
                return Ok(Secured::Kept);
            }
            if named {
                damage = self.damage_of(file).await?;
                if damage.is_none() {
                    return Ok(Secured::Kept);
                }
            }
        }
        match (copies.good(file).await, damage) {
            (Some(from), damage) => {
                if let Some(kind) = damage.filter(|_| named) {
                    let id = manifest.id;
                    tracing::warn!(release = %id, file = %file.sha256, damage = %kind, "a file of the release store is replaced");
                }
                self.upload(file, from).await?;
                Ok(Secured::Uploaded(file.sha256))
            }
            (None, Some(kind)) => Ok(Secured::Lost(Damage::new(manifest, file, kind))),
            // The build's copy is damaged. The later fetch shows whether the store's copy is intact.
            (None, None) => Ok(Secured::Kept),
        }
    }

    pub(super) async fn upload(&self, file: &FileEntry, from: PathBuf) -> Result<(), ReleaseError> {
        let path = file_path(file.sha256);
        if file.size_bytes <= ONE_PUT_BYTES_MAX {
            let read = from.clone();
            let bytes = blocking("read a file", move || std::fs::read(read))
                .await?
                .map_err(local("read", &from))?;
            let bytes = Bytes::from(bytes);
            if !matches!(put_new(&self.storage, &path, bytes.clone()).await, Ok(true)) {
                // The existing object has the same content, or is left from a torn upload, or from a put whose response
                // was lost. The name determines the content, so that overwriting is safe.
                data_storage::put_over(&self.storage, &path, bytes)
                    .await
                    .map_err(storage("upload a file"))?;
            }
            return Ok(());
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
        Ok(())
    }
}

fn read_piece(mut file: std::fs::File) -> (std::fs::File, std::io::Result<Bytes>) {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let read = file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
    (file, read.map(|_| Bytes::from(piece)))
}
