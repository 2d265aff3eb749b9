//! An object store that fails on purpose, for tests of code that writes.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};

/// Kind of fault of the failing call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The call has no effect.
    BeforeEffect,
    /// The call takes effect, but its caller gets an error.
    AfterEffect,
    /// A put writes only the first half of its bytes. Any other call has no effect. Durable stores never do this. A
    /// writer that tolerates it does not depend on them.
    TornPut,
    /// A conditional put is refused without effect, as if another writer were working on the object. S3 responds with
    /// status 409 during a concurrent request. Any other call succeeds.
    Conflict,
    /// Every conditional put from this call on is refused as in [`FaultKind::Conflict`].
    Conflicts,
    /// Every put from this call on takes effect regardless of its condition, as in a store that ignores
    /// `If-None-Match`.
    Unconditional,
    /// The disk is full from this call on. Puts, copies and uploads have no effect, and other calls work.
    Full,
}

/// Selects the call that fails and its kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// Number of the mutating call that fails, from 1, since [`FaultyStore::arm`].
    pub nth: u64,
    /// Kind of fault.
    pub kind: FaultKind,
    /// `true` if the process is dead afterwards. Every later call, including reads, fails without effect.
    pub dead_after: bool,
}

#[derive(Debug, Default)]
struct State {
    mutations: u64,
    plan: Option<FaultPlan>,
    dead: bool,
    full: bool,
    conflicts: bool,
    unconditional: bool,
    conflicted: u64,
}

/// Passes every call to the wrapped store, except for the calls that must fail. Mutating calls are puts, upload
/// completions, copies, renames and each single delete.
#[derive(Debug, Clone)]
pub struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    state: Arc<Mutex<State>>,
}

enum Verdict {
    Pass,
    FailBefore,
    FailAfter,
    Tear,
    Conflict,
    Overwrite,
}

impl FaultyStore {
    /// Wraps a store. No operation fails until [`FaultyStore::arm`] is called.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            state: Arc::default(),
        }
    }

    /// Schedules a fault and resets the counter.
    pub fn arm(&self, plan: FaultPlan) {
        *self.state() = State {
            plan: Some(plan),
            ..State::default()
        };
    }

    /// Cancels all faults and resets the counter.
    pub fn disarm(&self) {
        *self.state() = State::default();
    }

    /// Returns the number of mutating calls since the last [`FaultyStore::arm`] or [`FaultyStore::disarm`].
    #[must_use]
    pub fn mutations(&self) -> u64 {
        self.state().mutations
    }

    /// Returns the number of conditional puts refused as a conflict since the last `arm` or `disarm`.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.state().conflicted
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `adds` is true if the call takes disk space.
    fn mutation(&self, adds: bool) -> Verdict {
        let mut state = self.state();
        if state.dead {
            return Verdict::FailBefore;
        }
        state.mutations += 1;
        if state.full && adds {
            return Verdict::FailBefore;
        }
        let Some(plan) = state.plan.filter(|plan| plan.nth == state.mutations) else {
            return match (state.conflicts, state.unconditional) {
                (true, _) => Verdict::Conflict,
                (false, true) => Verdict::Overwrite,
                (false, false) => Verdict::Pass,
            };
        };
        state.dead = plan.dead_after;
        state.full = plan.kind == FaultKind::Full;
        state.conflicts = plan.kind == FaultKind::Conflicts;
        state.unconditional = plan.kind == FaultKind::Unconditional;
        match plan.kind {
            FaultKind::BeforeEffect => Verdict::FailBefore,
            FaultKind::AfterEffect => Verdict::FailAfter,
            FaultKind::TornPut => Verdict::Tear,
            FaultKind::Conflict | FaultKind::Conflicts => Verdict::Conflict,
            FaultKind::Unconditional => Verdict::Overwrite,
            FaultKind::Full if adds => Verdict::FailBefore,
            FaultKind::Full => Verdict::Pass,
        }
    }

    fn read(&self) -> Result<()> {
        if self.state().dead { Err(injected()) } else { Ok(()) }
    }

    async fn mutate<T>(&self, adds: bool, effect: impl Future<Output = Result<T>> + Send) -> Result<T> {
        match self.mutation(adds) {
            Verdict::Pass | Verdict::Conflict | Verdict::Overwrite => effect.await,
            Verdict::FailBefore | Verdict::Tear => Err(injected()),
            Verdict::FailAfter => effect.await.and(Err(injected())),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a fault was injected")]
struct InjectedFault;

fn injected() -> object_store::Error {
    object_store::Error::Generic {
        store: "FaultyStore",
        source: Box::new(InjectedFault),
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultyStore({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        match self.mutation(true) {
            Verdict::Pass => self.inner.put_opts(location, payload, opts).await,
            Verdict::Conflict if opts.mode == PutMode::Create => {
                self.state().conflicted += 1;
                Err(object_store::Error::AlreadyExists {
                    path: location.to_string(),
                    source: Box::new(InjectedFault),
                })
            }
            Verdict::Conflict => self.inner.put_opts(location, payload, opts).await,
            Verdict::Overwrite => {
                let mode = PutMode::Overwrite;
                let opts = PutOptions { mode, ..opts };
                self.inner.put_opts(location, payload, opts).await
            }
            Verdict::FailBefore => Err(injected()),
            Verdict::FailAfter => self.inner.put_opts(location, payload, opts).await.and(Err(injected())),
            Verdict::Tear => {
                let bytes = Bytes::from(payload);
                let half = bytes.slice(..bytes.len() / 2);
                self.inner
                    .put_opts(location, half.into(), opts)
                    .await
                    .and(Err(injected()))
            }
        }
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.read()?;
        let upload = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(FaultyUpload {
            store: self.clone(),
            upload,
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.read()?;
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read()?;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let delete = move |location: Result<Path>| {
            let store = store.clone();
            async move {
                let location = location?;
                store
                    .mutate(false, store.inner.delete(&location))
                    .await
                    .map(|()| location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.read() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.read() {
            Ok(()) => self.inner.list_with_offset(prefix, offset),
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.read()?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.mutate(true, self.inner.copy_opts(from, to, options)).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.mutate(false, self.inner.rename_opts(from, to, options)).await
    }
}

#[derive(Debug)]
struct FaultyUpload {
    store: FaultyStore,
    upload: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match self.store.read() {
            Ok(()) => self.upload.put_part(data),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.store.mutate(true, self.upload.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.upload.abort().await
    }
}
