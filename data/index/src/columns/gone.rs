use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{BrandSlug, ProductId, Timestamp};

use super::ipc;
use super::matches::product;
use super::table::{Columns, columns};
use crate::error::BuildError;
use crate::manifest::NewFile;

/// Name of the file in the manifest and in errors.
pub(crate) const GONE: &str = "gone.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(GoneColumns::schema);

columns! {
    /// Columns of the products that disappeared.
    GoneColumns, GoneColumnsWriter {
        id: [u8; 16],
        title: String,
        brand_slug: String,
        kind: String,
        gone_at: i64,
    }
}

data_model::named! {
    /// Reason why a product disappeared.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum GoneKind {
        /// A crawl of the store no longer found the product.
        Delisted = "delisted",
        /// The operator removed the brand of the product.
        BrandRemoved = "brand_removed",
    }
}

/// Product that its store no longer lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneProduct {
    /// Id of the product.
    pub id: ProductId,
    /// Last title of the product.
    pub title: String,
    /// Slug of the product's brand.
    pub brand_slug: BrandSlug,
    /// Reason why the product disappeared.
    pub kind: GoneKind,
    /// Time at which the product was found to be gone.
    pub gone_at: Timestamp,
}

/// Returns the file of products that disappeared. `products` must be sorted by time, newest first.
///
/// # Errors
/// A column cannot be written.
pub fn gone_file(products: &[GoneProduct]) -> Result<NewFile, BuildError> {
    let bytes = encode(products).map_err(|source| BuildError::Columns { file: GONE, source })?;
    Ok(NewFile::new(GONE, bytes))
}

fn encode(products: &[GoneProduct]) -> Result<Vec<u8>, ArrowError> {
    let mut columns = GoneColumnsWriter::default();
    for product in products {
        columns.id.push(*product.id.as_bytes());
        columns.title.append_value(&product.title);
        columns.brand_slug.append_value(product.brand_slug.as_str());
        columns.kind.append_value(product.kind.as_str());
        columns.gone_at.push(product.gone_at.micros());
    }
    ipc::file(&GoneColumns::batch(&mut columns, &SCHEMA)?)
}

/// Products that disappeared, newest first, read in place.
#[derive(Debug)]
pub struct GoneProducts(GoneColumns);

/// One product that disappeared, read in place.
#[derive(Debug, Clone, Copy)]
pub struct GoneRef<'a> {
    columns: &'a GoneColumns,
    at: usize,
}

impl GoneProducts {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        GoneColumns::of(batch).map(Self)
    }

    /// Returns the products, newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = GoneRef<'_>> {
        let columns = &self.0;
        (0..columns.gone_at.len()).map(move |at| GoneRef { columns, at })
    }
}

impl<'a> GoneRef<'a> {
    /// Returns the id of the product.
    #[must_use]
    pub fn id(&self) -> ProductId {
        product(&self.columns.id, self.at)
    }

    /// Returns the last title of the product.
    #[must_use]
    pub fn title(&self) -> &'a str {
        self.columns.title.value(self.at)
    }

    /// Returns the slug of the product's brand.
    #[must_use]
    pub fn brand_slug(&self) -> &'a str {
        self.columns.brand_slug.value(self.at)
    }

    /// Returns the reason why the product disappeared, as spelled by [`GoneKind`].
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.columns.kind.value(self.at)
    }

    /// Returns the time at which the product was found to be gone.
    #[must_use]
    pub fn gone_at(&self) -> Timestamp {
        Timestamp::from_micros(self.columns.gone_at.value(self.at))
    }
}
