use std::path::PathBuf;

/// Reason why the storage could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The URL's scheme is not `file`, `s3` or `memory`.
    #[error("a storage URL must begin with file://, s3:// or memory://, not {scheme}://")]
    UnsupportedScheme {
        /// Scheme that was given.
        scheme: String,
    },
    /// The URL contains a user name or password. Credentials belong in the options, where they are masked.
    #[error("the storage URL contains credentials: set them as options instead")]
    CredentialsInUrl,
    /// The `file` URL is not an absolute local path, or has a query or fragment.
    #[error("not the URL of a local directory: {url}")]
    NotALocalPath {
        /// URL that was given.
        url: String,
    },
    /// The `s3` URL has no bucket.
    #[error("{url} names no bucket")]
    NoBucket {
        /// URL that was given.
        url: String,
    },
    /// The endpoint uses plain `http`, which the options do not allow.
    #[error("s3.endpoint begins with http://: use https://, or set s3.allow_http to allow http")]
    PlainHttp,
    /// The endpoint is not a valid URL.
    #[error("s3.endpoint must be a URL that begins with https:// or http://")]
    Endpoint,
    /// The credentials for a bucket are missing.
    #[error("s3.access_key_id is not set: set it, or set s3.instance_role to use the machine's own role")]
    NoKey,
    /// The options contain a key id without its secret.
    #[error("s3.access_key_id is set, but s3.secret_access_key is not")]
    NoSecret,
    /// The object store cannot address this path.
    #[error("not an object path: {path:?}")]
    InvalidPath {
        /// Path that was given.
        path: String,
        /// Error in the path.
        #[source]
        source: object_store::path::Error,
    },
    /// The local directory could not be created durably.
    #[error("cannot create the directory {}", path.display())]
    CreateDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The object store's client rejected its options.
    #[error("cannot open {url}")]
    Open {
        /// URL of the storage.
        url: String,
        /// Error of the client.
        #[source]
        source: object_store::Error,
    },
    /// An object could not be read.
    #[error("cannot read {path}")]
    Read {
        /// Path of the object.
        path: String,
        /// Error of the object store.
        #[source]
        source: object_store::Error,
    },
    /// Writing an object failed. The object may have been written nevertheless.
    #[error("cannot write {path}")]
    Write {
        /// Path of the object.
        path: String,
        /// Error of the object store.
        #[source]
        source: object_store::Error,
    },
    /// The response to an append was lost and the log entry cannot be read. The event may have been appended.
    #[error("it is unknown if {path} was written")]
    AppendUnknown {
        /// Path of the event.
        path: String,
        /// Last error of the object store.
        #[source]
        source: Box<StorageError>,
    },
    /// The objects under a prefix could not be listed.
    #[error("cannot list {prefix}")]
    List {
        /// Prefix that was listed.
        prefix: String,
        /// Error of the object store.
        #[source]
        source: object_store::Error,
    },
    /// An event could not be serialised to JSON.
    #[error("the event for {path} cannot be serialised")]
    EncodeEvent {
        /// Path to which the event was to be written.
        path: String,
        /// Error of the serialiser.
        #[source]
        source: serde_json::Error,
    },
    /// A stored event does not have the format that this version of the program expects.
    #[error("{path} does not contain a valid event")]
    DecodeEvent {
        /// Path of the event.
        path: String,
        /// Error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// An event exceeds the size limit of the log.
    #[error("{path} has {bytes} bytes, but the log accepts at most {bytes_max}")]
    EventTooLarge {
        /// Path of the event.
        path: String,
        /// Size of the event, in bytes.
        bytes: u64,
        /// Size limit of the log, in bytes.
        bytes_max: u64,
    },
    /// Other writers took all event numbers that were tried.
    #[error("{prefix}: other processes took each of {attempts} consecutive numbers")]
    LogContended {
        /// Path prefix of the log's events.
        prefix: String,
        /// Number of attempts.
        attempts: u32,
    },
}

impl StorageError {
    /// Returns `true` if an object was read completely but is invalid. A retry does not help.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::DecodeEvent { .. } | Self::EventTooLarge { .. })
    }
}
