use std::net::SocketAddr;
use std::path::PathBuf;

use crate::item::Item;

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

/// The reason why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The store lists no such variant or product.
    #[error("the store has no product and no variant {item}")]
    UnknownItem {
        /// The item.
        item: Item,
    },
    /// The price is no decimal text, is negative, or has more decimals than the store's prices.
    #[error("{price:?} is no price with at most {decimals} decimals")]
    Price {
        /// The price.
        price: String,
        /// Decimals of the price that it was to replace.
        decimals: usize,
    },
    /// The discount takes nothing off, has no name, or is for more than 1,000 products.
    #[error("{name:?} is no sound discount")]
    Discount {
        /// Its code or title.
        name: String,
    },
    /// The store holds no more discounts.
    #[error("a store holds at most {most} discounts")]
    Discounts {
        /// The bound.
        most: usize,
    },
    /// The store has no such discount.
    #[error("the store has no discount {name:?}")]
    UnknownDiscount {
        /// Its code or title.
        name: String,
    },
}
