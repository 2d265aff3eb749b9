//! Object store that stops before and after each write until it may go on.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use data_storage::{ObjectPath, ObjectStore, Storage};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStoreExt, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::{mpsc, oneshot};

/// Position of a stop relative to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The stop is before the request is sent.
    Before,
    /// The stop is after the store has executed the write and before the response arrives.
    After,
}

/// Stop at a write, which goes on when this value is dropped.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) side: Side,
    _go_on: oneshot::Sender<()>,
}

/// Object store that forwards all calls, and sends a stop before and after each write.
#[derive(Debug, Clone)]
pub(crate) struct WatchedStore {
    inner: Arc<dyn ObjectStore>,
    stops: mpsc::UnboundedSender<Stop>,
}

impl WatchedStore {
    /// Returns a storage over the objects of another one, and the stops at its writes.
    pub(crate) fn over(storage: &Storage) -> (Storage, mpsc::UnboundedReceiver<Stop>) {
        let (stops, stopped) = mpsc::unbounded_channel();
        let store = Self {
            inner: Arc::clone(storage.store()),
            stops,
        };
        let watched = Storage::with_store(Arc::new(store), "memory:///".parse().unwrap());
        (watched, stopped)
    }

    async fn stop(&self, side: Side) {
        let (go_on, goes_on) = oneshot::channel();
        let _ = self.stops.send(Stop { side, _go_on: go_on });
        let _ = goes_on.await;
    }

    async fn write<T>(&self, effect: impl Future<Output = T>) -> T {
        self.stop(Side::Before).await;
        let done = effect.await;
        self.stop(Side::After).await;
        done
    }
}

impl fmt::Display for WatchedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for WatchedStore {
    async fn put_opts(&self, location: &ObjectPath, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.write(self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        let store = self.clone();
        let delete = move |location: Result<ObjectPath>| {
            let store = store.clone();
            async move {
                let location = location?;
                store.write(store.inner.delete(&location)).await.map(|()| location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&ObjectPath>,
        offset: &ObjectPath,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        self.write(self.inner.copy_opts(from, to, options)).await
    }
}
