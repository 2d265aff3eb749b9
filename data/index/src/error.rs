use std::path::PathBuf;

use arrow::error::ArrowError;
use data_embedding::EmbedError;
use data_model::StoreHost;

/// Reasons why a part could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The part has reached its maximum number of rows or bytes. The next row belongs to a new part.
    #[error("the part is full at {rows} rows")]
    PartFull {
        /// Number of rows in the part.
        rows: u32,
    },
    /// The product has no variants and therefore no price.
    #[error("product {product} has no variants")]
    NoVariants {
        /// Natural key of the product.
        product: String,
    },
    /// The product was pushed with the brand facts of another store.
    #[error("product {product} does not belong to store {store}")]
    WrongStore {
        /// Natural key of the product.
        product: String,
        /// Store that the passed brand facts belong to.
        store: StoreHost,
    },
    /// The products of a store were not pushed consecutively.
    #[error("the products of store {store} are not consecutive")]
    StoreNotTogether {
        /// Store whose products were pushed in two separate runs.
        store: StoreHost,
    },
    /// The texts of the product exceed the maximum size of one product.
    #[error("product {product} has {size_bytes} bytes of text, more than the maximum of {size_bytes_max}")]
    ProductTooLarge {
        /// Natural key of the product.
        product: String,
        /// Total size of the product's texts, in bytes.
        size_bytes: usize,
        /// Maximum total size of a product's texts, in bytes.
        size_bytes_max: usize,
    },
    /// A file could not be written, or could not be read after writing.
    #[error("cannot write {path}")]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// A column could not be written to its Arrow file.
    #[error("cannot write the columns of {file}")]
    Columns {
        /// Name of the file.
        file: &'static str,
        /// Underlying error of the Arrow library.
        #[source]
        source: ArrowError,
    },
    /// The products could not be embedded.
    #[error("the products cannot be embedded")]
    Embed(#[from] EmbedError),
}

/// Reasons why a fetched release cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The files have a schema version that this program cannot read.
    #[error("the release has schema version {found}, but this program reads version {expected}")]
    Layout {
        /// Schema version of the release.
        found: u32,
        /// Schema version that this program reads.
        expected: u32,
    },
    /// The manifest lists no file of this name for the part.
    #[error("part {part} has no file {name}")]
    FileMissing {
        /// Id of the part.
        part: String,
        /// File name within the release part.
        name: String,
    },
    /// The size of a file differs from the size in the manifest.
    #[error("{name} of part {part} has {found} bytes, not {expected}")]
    SizeDiffers {
        /// Id of the part.
        part: String,
        /// File name within the release part.
        name: String,
        /// Actual size of the file, in bytes.
        found: u64,
        /// Size of the file according to the manifest, in bytes.
        expected: u64,
    },
    /// A file cannot be memory-mapped.
    #[error("cannot memory-map {name} of part {part}")]
    Map {
        /// Id of the part.
        part: String,
        /// File name within the release part.
        name: String,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The cache directory cannot be opened.
    #[error("cannot open {path}")]
    Cache {
        /// Path of the cache directory.
        path: PathBuf,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// A file is not a valid Arrow file.
    #[error("{name} of part {part} is not a valid Arrow file")]
    Columns {
        /// Id of the part.
        part: String,
        /// File name within the release part.
        name: &'static str,
        /// Underlying error of the Arrow library.
        #[source]
        source: ArrowError,
    },
    /// A file is valid Arrow but its contents are not as expected.
    #[error("{name} of part {part}: {what}")]
    Content {
        /// Id of the part.
        part: String,
        /// File name within the release part.
        name: &'static str,
        /// Description of the fault.
        what: &'static str,
    },
    /// The manifest contradicts itself.
    #[error("the manifest contradicts itself: {what}")]
    Manifest {
        /// Description of the contradiction.
        what: &'static str,
    },
}
