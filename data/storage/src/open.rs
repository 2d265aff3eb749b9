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

/// Returns the free space on the disk of a folder, in bytes, or `None` if the folder does not exist or the disk does
/// not report it.
#[must_use]
pub fn free_bytes(folder: &FsPath) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Options of an S3-compatible store. Missing options use the client's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct S3Options {
    /// URL of the service, such as `http://127.0.0.1:9000`. Absent for AWS.
    pub endpoint: Option<String>,
    /// Region of the bucket. Defaults to `us-east-1`.
    pub region: Option<String>,
    /// Access key id. Required unless `instance_role` is set.
    pub access_key_id: Option<String>,
    /// Secret access key.
    pub secret: Option<Secret>,
    /// `true` to allow plain `http`, for a store on the same machine or network.
    pub allow_http: bool,
    /// `true` to get credentials from the machine's own role through the instance metadata service only. Otherwise the
    /// service is not queried, because its address may belong to someone else on other machines.
    pub instance_role: bool,
}

/// Options for opening a storage, in addition to its URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageOptions {
    /// Options for `s3://` URLs.
    pub s3: S3Options,
}

/// An object store with its URL: the root of all stored data or a folder below the root.
///
/// Paths given to [`Storage::store`] are relative to the URL. An acknowledged put survives a power failure.
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
    /// The URL has an unknown form, the directory cannot be created, or the options are invalid.
    pub fn open(url: &Url, options: &StorageOptions) -> Result<Self, StorageError> {
        Self::open_retrying(url, options, RETRY_TIMEOUT)
    }

    /// Opens the storage at `url`, with a limit on the time during which requests to an object store are retried.
    /// Requests are retried if the store does not respond, or responds with 5xx or 429. Waits between attempts are
    /// random and grow from 0.1 to 5 seconds.
    ///
    /// # Errors
    /// The errors of [`Storage::open`].
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

    /// Opens the storage in a local directory and creates the directory if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created or made durable.
    pub fn from_path(dir: &FsPath) -> Result<Self, StorageError> {
        Self::local(DurableLocal::open(dir)?)
    }

    /// Opens the storage in a local directory as [`Storage::from_path`] does. New folders have mode 0700 and new files
    /// 0600. Existing folders and files keep their mode.
    ///
    /// # Errors
    /// The errors of [`Storage::from_path`].
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

    /// Creates an in-memory storage for tests, which disappears when its last clone is dropped.
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

    /// Creates a storage on any object store whose paths are relative to `url`, for tests that inject faults. If the
    /// store refuses a conditional put although the object does not exist, the put is retried.
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

    /// Returns the object store. Its paths are relative to [`Storage::url`].
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// Returns the URL of this storage, with a trailing slash.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the local directory of this storage, if it has one. Its files may be memory-mapped or hard-linked, but
    /// must not be written.
    #[must_use]
    pub fn local_dir(&self) -> Option<&FsPath> {
        self.local_dir.as_deref()
    }

    /// Returns the free space on the storage's disk, in bytes, or `None` for an object store or if the disk does not
    /// report it.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        free_bytes(self.local_dir()?)
    }

    /// Removes the folder at `path` if it is empty. Has no effect on an object store, which has no folders.
    pub fn remove_empty_folder(&self, path: &Path) {
        if let Some(root) = self.local_dir() {
            // The removal fails if the folder is not empty or another process has removed it.
            let _ = std::fs::remove_dir(root.join(path.as_ref()));
        }
    }

    /// Returns the storage below `prefix`, whose segments are separated by `/`.
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
    // All parts are constant, so the parse cannot fail.
    Url::parse("memory:///").unwrap_or_else(|_| unreachable!("a constant URL parses"))
}

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

const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Default time during which a request is retried. It is longer than the request timeout, so that a request that hangs
/// is retried too.
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
    // Time limits retries, not the number of attempts. Each wait is random between the initial wait and three times the
    // previous wait. With the default factor of two, waits hardly grow.
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
