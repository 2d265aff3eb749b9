use std::path::PathBuf;

/// The reason why the storage could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The URL's scheme is none of `file`, `s3`, `memory`.
    #[error("storage URLs begin with file://, s3:// or memory://, not {scheme}://")]
    UnsupportedScheme {
        /// The scheme that was given.
        scheme: String,
    },
    /// The URL holds a user name or a password; they belong in the options, where they are masked.
    #[error("the storage URL holds credentials: give them as options instead")]
    CredentialsInUrl,
    /// A `file` URL that is no absolute path of this machine, or one with query or fragment.
    #[error("not the URL of a local directory: {url}")]
    NotALocalPath {
        /// The URL that was given.
        url: String,
    },
    /// An `s3` URL without a bucket.
    #[error("no bucket in {url}")]
    NoBucket {
        /// The URL that was given.
        url: String,
    },
    /// The endpoint is reached in plain `http`, which nobody allowed.
    #[error("s3.endpoint begins with http://: set s3.allow_http where that is meant, or use https://")]
    PlainHttp,
    /// The endpoint is no URL.
    #[error("s3.endpoint is not a URL that begins with https:// or http://")]
    Endpoint,
    /// The credentials for a bucket are absent.
    #[error("no s3.access_key_id is set (s3.instance_role takes the key of the machine's own role instead)")]
    NoKey,
    /// A key without its secret.
    #[error("s3.access_key_id is set, but no s3.secret_access_key")]
    NoSecret,
    /// A path that the object store cannot address.
    #[error("not an object path: {path:?}")]
    InvalidPath {
        /// The path that was given.
        path: String,
        /// The fault of the path.
        #[source]
        source: object_store::path::Error,
    },
    /// The local directory does not exist and could not be made durable.
    #[error("cannot create the directory {}", path.display())]
    CreateDirectory {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The object store's client refused its options.
    #[error("cannot open {url}")]
    Open {
        /// The storage's URL.
        url: String,
        /// The error of the client.
        #[source]
        source: object_store::Error,
    },
    /// An object could not be read.
    #[error("cannot read {path}")]
    Read {
        /// The object's path.
        path: String,
        /// The error of the store.
        #[source]
        source: object_store::Error,
    },
    /// An object could not be written; whether it was is unknown.
    #[error("cannot write {path}")]
    Write {
        /// The object's path.
        path: String,
        /// The error of the store.
        #[source]
        source: object_store::Error,
    },
    /// The answer to an append was lost, and what stands in the log cannot be read: the event may be there or not.
    #[error("whether {path} was written is unknown")]
    AppendUnknown {
        /// The event's path.
        path: String,
        /// The last error of the store.
        #[source]
        source: Box<StorageError>,
    },
    /// A prefix could not be listed.
    #[error("cannot list {prefix}")]
    List {
        /// The prefix.
        prefix: String,
        /// The error of the store.
        #[source]
        source: object_store::Error,
    },
    /// An event does not serialise to JSON.
    #[error("the event for {path} does not serialise")]
    EncodeEvent {
        /// The path that it was to be written to.
        path: String,
        /// The error of the serialiser.
        #[source]
        source: serde_json::Error,
    },
    /// A stored event is not what this version of the program expects.
    #[error("{path} does not hold the expected event")]
    DecodeEvent {
        /// The event's path.
        path: String,
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// An event is larger than the log takes.
    #[error("{path} has {bytes} bytes, the log takes at most {bytes_max}")]
    EventTooLarge {
        /// The event's path.
        path: String,
        /// Its size.
        bytes: u64,
        /// The log's limit.
        bytes_max: u64,
    },
    /// Others won every number that was tried.
    #[error("{prefix}: {attempts} numbers in a row were taken by others")]
    LogContended {
        /// The log's prefix.
        prefix: String,
        /// The number of tries.
        attempts: u32,
    },
}

impl StorageError {
    /// `true` where an object was read whole, and is not what it should be. Asking again does not help then.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::DecodeEvent { .. } | Self::EventTooLarge { .. })
    }
}
