use std::net::SocketAddr;
use std::path::PathBuf;

use crate::change::ChangeError;

/// The reason why stores cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// The folder of recordings, or one in it, cannot be listed.
    #[error("cannot list {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A recorded file cannot be read.
    #[error("cannot read {}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A recorded file is not what its name says: pages are `{"products": […]}`, meta is an object.
    #[error("malformed recording {}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The parser's error, with the place.
        #[source]
        source: serde_json::Error,
    },
    /// No folder holds product pages, or no store was asked for.
    #[error("no stores: {place}")]
    NoStores {
        /// The place that was searched.
        place: String,
    },
    /// More stores or products than the addressing or the id space has room for.
    #[error("{asked} {what} asked for, at most {most}")]
    TooMany {
        /// `stores`, `products`.
        what: &'static str,
        /// The number asked for.
        asked: u64,
        /// The bound.
        most: u64,
    },
    /// Emulated stores listen on loopback only.
    #[error("{address} is not a loopback address")]
    NotLoopback {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The system has no one address a store.
    #[error("an address a store needs Linux; use a port a store")]
    AddressingUnsupported {
        /// The system's error, where it was asked.
        #[source]
        source: std::io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// There is no store of this slug.
    #[error("no store {slug:?}")]
    UnknownStore {
        /// The slug.
        slug: String,
    },
    /// The store cannot be changed so.
    #[error("store {slug:?} cannot be changed")]
    Change {
        /// The slug.
        slug: String,
        /// The reason.
        #[source]
        source: ChangeError,
    },
}
