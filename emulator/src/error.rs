use std::net::SocketAddr;
use std::path::PathBuf;

use crate::item::Item;

/// The reasons why the emulator cannot start or change a store.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// The folder of recordings, or a folder in it, cannot be listed.
    #[error("cannot list {}", folder.display())]
    Folder {
        /// The folder that cannot be listed.
        folder: PathBuf,
        /// The error from the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A recorded file cannot be read.
    #[error("cannot read {}", file.display())]
    File {
        /// Path of the recorded file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A recorded file does not have the expected format: pages are `{"products": […]}`, `meta.json` is an object.
    #[error("malformed recording {}", file.display())]
    Malformed {
        /// Path of the malformed file.
        file: PathBuf,
        /// The parser's error, with line and column.
        #[source]
        source: serde_json::Error,
    },
    /// There are no folders with product pages, or zero stores were requested.
    #[error("no stores: {place}")]
    NoStores {
        /// The folder that was searched, or the setting that requested no stores.
        place: String,
    },
    /// More stores or products are requested than the addressing or the id space allows.
    #[error("{asked} {what} asked for, at most {most}")]
    TooMany {
        /// The kind of thing: `stores` or `products`.
        what: &'static str,
        /// The requested number.
        asked: u64,
        /// The maximum number.
        most: u64,
    },
    /// The bind address is no loopback address. Emulated stores listen only on loopback.
    #[error("{address} is not a loopback address")]
    NotLoopback {
        /// The requested address.
        address: SocketAddr,
    },
    /// The system does not support one loopback address for each store.
    #[error("an address a store needs Linux; use a port a store")]
    AddressingUnsupported {
        /// The error from the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The emulator cannot listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address to listen on.
        address: SocketAddr,
        /// The error from the operating system.
        #[source]
        source: std::io::Error,
    },
    /// There is no store with this slug.
    #[error("no store {slug:?}")]
    UnknownStore {
        /// The unknown slug.
        slug: String,
    },
    /// The store refuses the change.
    #[error("store {slug:?} cannot be changed")]
    Change {
        /// The slug of the store.
        slug: String,
        /// The reason why the change was refused.
        #[source]
        source: ChangeError,
    },
}

/// The reasons why a change is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The store does not list this variant or product.
    #[error("the store has no product and no variant {item}")]
    UnknownItem {
        /// The unknown variant or product.
        item: Item,
    },
    /// The price is not a decimal text, is negative, or has more decimals than the store's prices.
    #[error("{price:?} is no price with at most {decimals} decimals")]
    Price {
        /// The refused price.
        price: String,
        /// Number of decimals of the price that it would replace.
        decimals: usize,
    },
    /// The discount takes nothing off, has no name, or is for more than 1,000 products.
    #[error("{name:?} is no sound discount")]
    Discount {
        /// The code or title of the discount.
        name: String,
    },
    /// The store has the maximum number of discounts.
    #[error("a store holds at most {most} discounts")]
    Discounts {
        /// The maximum number of discounts.
        most: usize,
    },
    /// The store has no discount with this name.
    #[error("the store has no discount {name:?}")]
    UnknownDiscount {
        /// The code or title that was not found.
        name: String,
    },
}
