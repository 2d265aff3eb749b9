use std::path::PathBuf;

use arrow::error::ArrowError;
use data_embedding::EmbedError;
use data_model::StoreHost;

/// Reasons why a part could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The part holds as many rows or bytes as it may; finish it and start another.
    #[error("the part is full at {rows} rows")]
    PartFull {
        /// Rows it holds.
        rows: u32,
    },
    /// A product without variants has no price.
    #[error("product {product} has no variants")]
    NoVariants {
        /// Its natural key.
        product: String,
    },
    /// A product of one store was pushed with the facts of another.
    #[error("product {product} is not of store {store}")]
    WrongStore {
        /// Its natural key.
        product: String,
        /// The store whose facts came with it.
        store: StoreHost,
    },
    /// A store's products must be pushed one after the other.
    #[error("the products of store {store} do not stand together")]
    StoreNotTogether {
        /// The store that came twice.
        store: StoreHost,
    },
    /// More text than one product may have.
    #[error("product {product} has {size_bytes} bytes of text, more than {size_bytes_max}")]
    ProductTooLarge {
        /// Its natural key.
        product: String,
        /// Its texts together.
        size_bytes: usize,
        /// The size that is allowed.
        size_bytes_max: usize,
    },
    /// A file could not be written or read back.
    #[error("cannot write {path}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A column could not be written.
    #[error("cannot write the columns of {file}")]
    Columns {
        /// The file.
        file: &'static str,
        /// The cause.
        #[source]
        source: ArrowError,
    },
    /// The products could not be embedded.
    #[error("the products' vectors cannot be made")]
    Embed(#[from] EmbedError),
}

/// Reasons why a release that was fetched cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The files were written by a program with another layout.
    #[error("the release has layout {found}, this program reads {expected}")]
    Layout {
        /// The release's.
        found: u32,
        /// This program's.
        expected: u32,
    },
    /// The part lacks a file.
    #[error("part {part} has no file {name}")]
    FileMissing {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
    },
    /// A file is longer or shorter than the manifest says.
    #[error("{name} of part {part} has {found} bytes, not {expected}")]
    SizeDiffers {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
        /// Its size.
        found: u64,
        /// Its size by the manifest.
        expected: u64,
    },
    /// A file cannot be mapped.
    #[error("cannot map {name} of part {part}")]
    Map {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The cache directory cannot be opened.
    #[error("cannot open {path}")]
    Cache {
        /// The directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A file is no valid Arrow file.
    #[error("{name} of part {part} is no valid Arrow file")]
    Columns {
        /// The part.
        part: String,
        /// The file's name within it.
        name: &'static str,
        /// The cause.
        #[source]
        source: ArrowError,
    },
    /// A file is a valid Arrow file but not what it should hold.
    #[error("{name} of part {part}: {what}")]
    Content {
        /// The part.
        part: String,
        /// The file's name within it.
        name: &'static str,
        /// The fault.
        what: &'static str,
    },
    /// The manifest contradicts itself.
    #[error("the manifest contradicts itself: {what}")]
    Manifest {
        /// The fault.
        what: &'static str,
    },
}
