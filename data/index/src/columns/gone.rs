use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, FixedSizeBinaryArray, FixedSizeBinaryBuilder, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{BrandSlug, ProductId, Timestamp};

use super::ipc::{self, column};
use super::matches::product;
use crate::error::BuildError;
use crate::manifest::NewFile;

/// Name of the file in the manifest and in errors.
pub(crate) const GONE: &str = "gone.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let column = |name, data_type| Field::new(name, data_type, false);
    Arc::new(Schema::new(vec![
        column("id", DataType::FixedSizeBinary(16)),
        column("title", DataType::Utf8),
        column("brand_slug", DataType::Utf8),
        column("kind", DataType::Utf8),
        column("gone_at", DataType::Int64),
    ]))
});

/// Reason why a product disappeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneKind {
    /// A crawl of the store no longer found the product.
    Delisted,
    /// The operator removed the brand of the product.
    BrandRemoved,
}

impl GoneKind {
    /// Returns the name of the kind in API responses and files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delisted => "delisted",
            Self::BrandRemoved => "brand_removed",
        }
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

/// Returns the file of products that disappeared, in the given order, which must be newest first.
///
/// # Errors
/// A column cannot be written.
pub fn gone_file(products: &[GoneProduct]) -> Result<NewFile, BuildError> {
    let bytes = encode(products).map_err(|source| BuildError::Columns { file: GONE, source })?;
    Ok(NewFile::new(GONE, bytes))
}

fn encode(products: &[GoneProduct]) -> Result<Vec<u8>, ArrowError> {
    let mut ids = FixedSizeBinaryBuilder::with_capacity(products.len(), 16);
    for product in products {
        ids.append_value(product.id.as_bytes())?;
    }
    let text =
        |of: fn(&GoneProduct) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(products.iter().map(of))) };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ids.finish()),
        text(|product| &product.title),
        text(|product| product.brand_slug.as_str()),
        text(|product| product.kind.as_str()),
        Arc::new(Int64Array::from_iter_values(
            products.iter().map(|product| product.gone_at.micros()),
        )),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?;
    let mut writer = ipc::writer(Vec::new(), &SCHEMA)?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// Products that disappeared, newest first, read in place.
#[derive(Debug)]
pub struct GoneProducts {
    ids: FixedSizeBinaryArray,
    titles: StringArray,
    brand_slugs: StringArray,
    kinds: StringArray,
    gone_at: Int64Array,
}

/// One product that disappeared, read in place.
#[derive(Debug, Clone, Copy)]
pub struct GoneRef<'a> {
    products: &'a GoneProducts,
    at: usize,
}

impl GoneProducts {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        Ok(Self {
            ids: column(batch, "id")?,
            titles: column(batch, "title")?,
            brand_slugs: column(batch, "brand_slug")?,
            kinds: column(batch, "kind")?,
            gone_at: column(batch, "gone_at")?,
        })
    }

    /// Returns the products, newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = GoneRef<'_>> {
        (0..self.gone_at.values().len()).map(|at| GoneRef { products: self, at })
    }
}

impl<'a> GoneRef<'a> {
    /// Returns the id of the product.
    #[must_use]
    pub fn id(&self) -> ProductId {
        product(&self.products.ids, self.at)
    }

    /// Returns the last title of the product.
    #[must_use]
    pub fn title(&self) -> &'a str {
        self.products.titles.value(self.at)
    }

    /// Returns the slug of the product's brand.
    #[must_use]
    pub fn brand_slug(&self) -> &'a str {
        self.products.brand_slugs.value(self.at)
    }

    /// Returns the reason why the product disappeared, as spelled by [`GoneKind`].
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.products.kinds.value(self.at)
    }

    /// Returns the time at which the product was found to be gone.
    #[must_use]
    pub fn gone_at(&self) -> Timestamp {
        Timestamp::from_micros(self.products.gone_at.value(self.at))
    }
}
