use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use crate::disk::{Disk, Target};
use crate::local_file::{blocking, failed, put_result};

/// A large object being uploaded to a local file. The object becomes visible when it is complete and synced.
#[derive(Debug)]
pub(crate) struct StagedUpload {
    disk: Arc<Disk>,
    file: Arc<File>,
    // `None` once the upload is complete or aborted.
    staged: Option<PathBuf>,
    target: PathBuf,
    offset: u64,
}

impl StagedUpload {
    pub(crate) fn new(disk: Arc<Disk>, file: File, staged: PathBuf, target: PathBuf) -> Self {
        Self {
            disk,
            file: Arc::new(file),
            staged: Some(staged),
            target,
            offset: 0,
        }
    }

    fn ended(&self) -> object_store::Error {
        failed(
            "complete the ended upload of",
            self.target.clone(),
            ErrorKind::InvalidInput.into(),
        )
    }
}

#[async_trait]
impl MultipartUpload for StagedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (file, target, mut offset) = (Arc::clone(&self.file), self.target.clone(), self.offset);
        self.offset += data.content_length() as u64;
        blocking(move || {
            for chunk in &data {
                file.write_all_at(chunk, offset)
                    .map_err(|source| failed("write", target.clone(), source))?;
                offset += chunk.len() as u64;
            }
            Ok(())
        })
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let staged = self.staged.take().ok_or_else(|| self.ended())?;
        let (disk, file, target, size) = (
            Arc::clone(&self.disk),
            Arc::clone(&self.file),
            self.target.clone(),
            self.offset,
        );
        blocking(move || {
            let written = file.metadata().and_then(|meta| match meta.len() == size {
                true => file.sync_data(),
                // A part failed or was never awaited.
                false => Err(ErrorKind::UnexpectedEof.into()),
            });
            let published = written
                .and_then(|()| put_result(&file))
                .and_then(|result| disk.publish(&staged, &target, Target::Replace).map(|()| result));
            published.map_err(|source| {
                let _ = std::fs::remove_file(&staged);
                failed("write", target, source)
            })
        })
        .await
    }

    async fn abort(&mut self) -> Result<()> {
        let staged = self.staged.take().ok_or_else(|| self.ended())?;
        blocking(move || std::fs::remove_file(&staged).map_err(|source| failed("abort", staged, source))).await
    }
}

impl Drop for StagedUpload {
    fn drop(&mut self) {
        if let Some(staged) = self.staged.take() {
            // The next process that is the only writer of the store removes the file.
            let _ = std::fs::remove_file(staged);
        }
    }
}
