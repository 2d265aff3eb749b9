use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_model::Secret;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::confirmed::ConfirmedStore;
use crate::disk::Readers;
use crate::{DurableLocal, StorageError};

/// The room that is left on the disk of a folder; `None` where there is no such folder, or its disk does not say.
#[must_use]
pub fn free_bytes(folder: &FsPath) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Options of an S3-compatible store; absent ones are left to the client's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct S3Options {
    /// Address of the service, `http://127.0.0.1:9000`; absent for AWS itself.
    pub endpoint: Option<String>,
    /// Region; `us-east-1` where absent.
    pub region: Option<String>,
    /// Key id; needed unless `instance_role` is set.
    pub access_key_id: Option<String>,
    /// The key's secret.
    pub secret: Option<Secret>,
    /// `true` where plain `http` is allowed, for a store on the same machine or network.
    pub allow_http: bool,
    /// `true` where the machine's own role gives the key: the instance metadata service is asked, and nobody else. It
    /// is asked only then, since elsewhere that address leads nowhere, or to somebody else.
    pub instance_role: bool,
}

/// Options of opening a storage beside its URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageOptions {
    /// For `s3://` URLs.
    pub s3: S3Options,
}

/// The root of everything that is stored, or a part of it: an object store and its URL.
///
/// Paths given to [`Storage::store`] are relative to the URL. A put that is acknowledged survives a power cut.
#[derive(Debug, Clone)]
pub struct Storage {
    root: Arc<dyn ObjectStore>,
    prefix: Path,
    store: Arc<dyn ObjectStore>,
    url: Url,
    local_dir: Option<PathBuf>,
}

impl Storage {
    /// Opens the storage at `url`: `file:///absolute/dir` (created if absent), `s3://bucket/prefix` or `memory:///`.
    ///
    /// # Errors
    /// The URL is of no known form, the directory cannot be created, or the options are not valid.
    pub fn open(url: &Url, options: &StorageOptions) -> Result<Self, StorageError> {
        Self::open_retrying(url, options, RETRY_TIMEOUT)
    }

    /// [`Storage::open`], with the time for which a request to an object store is tried again while the store does not
    /// answer, or answers 5xx or 429. The waits between grow from a tenth of a second to five seconds, at random.
    ///
    /// # Errors
    /// As [`Storage::open`].
    pub fn open_retrying(url: &Url, options: &StorageOptions, retry_timeout: Duration) -> Result<Self, StorageError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(StorageError::CredentialsInUrl);
        }
        match url.scheme() {
            "file" => {
                let no_path = || StorageError::NotALocalPath { url: url.to_string() };
                if url.query().is_some() || url.fragment().is_some() {
                    return Err(no_path());
                }
                Self::from_path(&url.to_file_path().map_err(|()| no_path())?)
            }
            "memory" => {
                let mut root = url.clone();
                root.set_path("/");
                Ok(Self::with_store(Arc::new(InMemory::new()), root).child(url.path()))
            }
            "s3" => open_s3(url, &options.s3, retry_timeout),
            scheme => Err(StorageError::UnsupportedScheme {
                scheme: scheme.to_owned(),
            }),
        }
    }

    /// Opens the storage in a local directory, which is created if absent.
    ///
    /// # Errors
    /// The directory cannot be created or made durable.
    pub fn from_path(dir: &FsPath) -> Result<Self, StorageError> {
        Self::local(DurableLocal::open(dir)?)
    }

    /// The same, of which what is made is its owner's alone: folders have mode 0700, files 0600. Those that are there
    /// already keep its mode.
    ///
    /// # Errors
    /// As [`Storage::from_path`].
    pub fn private(dir: &FsPath) -> Result<Self, StorageError> {
        Self::local(DurableLocal::open_for(dir, Readers::OwnerAlone)?)
    }

    fn local(store: DurableLocal) -> Result<Self, StorageError> {
        let dir = store.root().to_path_buf();
        let no_path = |()| StorageError::NotALocalPath {
            url: dir.display().to_string(),
        };
        let url = Url::from_directory_path(&dir).map_err(no_path)?;
        Ok(Self::with_store(Arc::new(store), url))
    }

    /// A storage that is gone when its last clone is dropped; for tests.
    #[must_use]
    pub fn memory() -> Self {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        Self {
            root: Arc::clone(&store),
            prefix: Path::default(),
            store,
            url: memory_url(),
            local_dir: None,
        }
    }

    /// A storage on any object store, whose paths are already relative to `url`; for tests that inject faults.
    ///
    /// A conditional put that the store refuses is believed only where the object is there; else it is sent again.
    #[must_use]
    pub fn with_store(store: Arc<dyn ObjectStore>, url: Url) -> Self {
        let local_dir = (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten();
        let store: Arc<dyn ObjectStore> = Arc::new(ConfirmedStore::new(store));
        Self {
            root: Arc::clone(&store),
            prefix: Path::default(),
            store,
            url,
            local_dir,
        }
    }

    /// The object store; its paths are relative to [`Storage::url`].
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The address of this storage, with a slash at the end.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The directory behind this storage, where there is one: its files may be mapped or hard-linked, never written.
    #[must_use]
    pub fn local_dir(&self) -> Option<&FsPath> {
        self.local_dir.as_deref()
    }

    /// The room that is left on its disk; `None` of an object store, or where the disk does not say.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        free_bytes(self.local_dir()?)
    }

    /// Removes the folder under `path` where there are folders and it holds nothing any more; an object store has none.
    pub fn remove_empty_folder(&self, path: &Path) {
        if let Some(root) = self.local_dir() {
            // One that is not empty stays, and so does one that somebody else was faster to remove.
            let _ = std::fs::remove_dir(root.join(path.as_ref()));
        }
    }

    /// The part of this storage under `prefix`, segments divided by `/`.
    #[must_use]
    pub fn child(&self, prefix: &str) -> Self {
        let prefix = Path::from(prefix);
        if prefix.as_ref().is_empty() {
            return self.clone();
        }
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments
                .pop_if_empty()
                .extend(prefix.parts().map(|part| part.as_ref().to_owned()))
                .push("");
        }
        let full: Path = self.prefix.parts().chain(prefix.parts()).collect();
        Self {
            root: Arc::clone(&self.root),
            store: Arc::new(PrefixStore::new(Arc::clone(&self.root), full.clone())),
            prefix: full,
            url,
            local_dir: self.local_dir.as_ref().map(|dir| dir.join(prefix.as_ref())),
        }
    }
}

fn memory_url() -> Url {
    // Every part of it is constant; a data URL can stand in for the impossible.
    Url::parse("memory:///").unwrap_or_else(|_| unreachable!("a constant URL parses"))
}

/// Checks that the options say how to reach a bucket, and as whom.
fn check_s3(options: &S3Options) -> Result<(), StorageError> {
    if let Some(endpoint) = &options.endpoint {
        let scheme = Url::parse(endpoint).ok().map(|url| url.scheme().to_owned());
        match scheme.as_deref() {
            Some("https") => {}
            Some("http") if options.allow_http => {}
            Some("http") => return Err(StorageError::PlainHttp),
            _ => return Err(StorageError::Endpoint),
        }
    }
    match (&options.access_key_id, &options.secret) {
        (Some(_), Some(_)) => Ok(()),
        (None, None) if options.instance_role => Ok(()),
        (None, _) => Err(StorageError::NoKey),
        (Some(_), None) => Err(StorageError::NoSecret),
    }
}

/// The longest time for one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The time for which a request is tried again, where nobody says otherwise: longer than one that hangs takes, so that
/// such a one is tried again too.
const RETRY_TIMEOUT: Duration = Duration::from_secs(75);

fn open_s3(url: &Url, options: &S3Options, retry_timeout: Duration) -> Result<Storage, StorageError> {
    check_s3(options)?;
    let bucket = url
        .host_str()
        .ok_or_else(|| StorageError::NoBucket { url: url.to_string() })?;
    let prefix = Path::from_url_path(url.path()).map_err(|source| StorageError::InvalidPath {
        path: url.path().to_owned(),
        source,
    })?;
    let client = ClientOptions::new()
        .with_allow_http(options.allow_http)
        .with_connect_timeout(Duration::from_secs(5))
        .with_timeout(REQUEST_TIMEOUT);
    // The time ends the tries, not their number. Each wait is at random between the first and three times the last: with
    // twice the last, as is the default, waits hardly grow.
    let retry = RetryConfig {
        max_retries: 100,
        retry_timeout,
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 3.0,
        },
    };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_client_options(client)
        .with_allow_http(options.allow_http)
        .with_retry(retry)
        .with_conditional_put(S3ConditionalPut::ETagMatch);
    if let Some(endpoint) = &options.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = &options.region {
        builder = builder.with_region(region);
    }
    if let Some(key) = &options.access_key_id {
        builder = builder.with_access_key_id(key);
    }
    if let Some(secret) = &options.secret {
        builder = builder.with_secret_access_key(secret.expose());
    }
    let store = builder.build().map_err(|source| StorageError::Open {
        url: url.to_string(),
        source,
    })?;
    let mut root = url.clone();
    root.set_path("/");
    Ok(Storage::with_store(Arc::new(store), root).child(prefix.as_ref()))
}
