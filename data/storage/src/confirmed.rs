//! Conditional puts with a check that a refusal is real.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// Maximum number of attempts for a conditional put that the store refuses although it has no such object.
const ATTEMPTS_MAX: u32 = 10;
const BACKOFF_MIN: Duration = Duration::from_millis(20);
const BACKOFF_MAX: Duration = Duration::from_secs(2);

/// Wraps an object store and verifies each "the object already exists" response.
///
/// S3 answers 409 (`ConditionalRequestConflict`) to a conditional put while another request for the same key is in
/// progress. The client should then retry. `object_store` 0.13 maps 409 to `AlreadyExists`, like 412, which means that
/// the object exists.
///
/// After a refused put, this wrapper therefore checks for the object. If the object exists, the caller gets the
/// refusal. If not, the put is retried after a pause. S3 reads are consistent with earlier writes, so that the check is
/// reliable.
///
/// Delta's log commits and [`crate::put_new`] depend on this check, because both take "exists" as proof that another
/// writer succeeded.
#[derive(Debug)]
pub(crate) struct ConfirmedStore {
    inner: Arc<dyn ObjectStore>,
}

/// The store repeatedly refused a conditional put although it has no such object.
#[derive(Debug, thiserror::Error)]
#[error(
    "the store answered {ATTEMPTS_MAX} times that the object exists or is being written, but no such object exists"
)]
struct UnconfirmedPut(#[source] Error);

impl ConfirmedStore {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner }
    }

    async fn create(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let (mut pause, mut attempt) = (BACKOFF_MIN, 1);
        loop {
            let put = self.inner.put_opts(location, payload.clone(), opts.clone()).await;
            let refused = match put {
                Err(refused @ (Error::AlreadyExists { .. } | Error::Precondition { .. })) => refused,
                settled => return settled,
            };
            match self.inner.head(location).await {
                Ok(_) => return Err(refused),
                Err(Error::NotFound { .. }) if attempt < ATTEMPTS_MAX => {}
                Err(Error::NotFound { .. }) => {
                    return Err(Error::Generic {
                        store: "ConfirmedStore",
                        source: Box::new(UnconfirmedPut(refused)),
                    });
                }
                Err(unknown) => return Err(unknown),
            }
            tracing::debug!(%location, attempt, "a conditional put conflicted with another request and is retried");
            tokio::time::sleep(pause).await;
            (pause, attempt) = ((pause * 2).min(BACKOFF_MAX), attempt + 1);
        }
    }
}

impl fmt::Display for ConfirmedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inner)
    }
}

#[async_trait]
impl ObjectStore for ConfirmedStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        match opts.mode {
            PutMode::Create => self.create(location, payload, opts).await,
            _ => self.inner.put_opts(location, payload, opts).await,
        }
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
