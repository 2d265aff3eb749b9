use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, FixedSizeBinaryArray, FixedSizeBinaryBuilder, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{BrandSlug, ProductId, Timestamp};

use super::ipc::{self, column};
use super::matches::product;
use crate::error::BuildError;
use crate::manifest::NewFile;

/// The file's name in the manifest and in errors.
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

/// The way in which a product went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneKind {
    /// A crawl of its store found it no more.
    Delisted,
    /// The operator removed its brand.
    BrandRemoved,
}

impl GoneKind {
    /// The kind as answers and files spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delisted => "delisted",
            Self::BrandRemoved => "brand_removed",
        }
    }
}

/// A product that its store lists no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneProduct {
    /// The product.
    pub id: ProductId,
    /// Its last title.
    pub title: String,
    /// The slug of its brand.
    pub brand_slug: BrandSlug,
    /// The way in which it went.
    pub kind: GoneKind,
    /// When it was found to be gone.
    pub gone_at: Timestamp,
}

/// The file of products that went, in the given order: the newest first.
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

/// Products that went, read in place, the newest first.
#[derive(Debug)]
pub struct GoneProducts {
    ids: FixedSizeBinaryArray,
    titles: StringArray,
    brand_slugs: StringArray,
    kinds: StringArray,
    gone_at: Int64Array,
}

/// A product that went.
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

    /// The products, the newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = GoneRef<'_>> {
        (0..self.gone_at.values().len()).map(|at| GoneRef { products: self, at })
    }
}

impl<'a> GoneRef<'a> {
    /// The product.
    #[must_use]
    pub fn id(&self) -> ProductId {
        product(&self.products.ids, self.at)
    }

    /// Its last title.
    #[must_use]
    pub fn title(&self) -> &'a str {
        self.products.titles.value(self.at)
    }

    /// The slug of its brand.
    #[must_use]
    pub fn brand_slug(&self) -> &'a str {
        self.products.brand_slugs.value(self.at)
    }

    /// The way in which it went, as [`GoneKind`] spells it.
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.products.kinds.value(self.at)
    }

    /// When it was found to be gone.
    #[must_use]
    pub fn gone_at(&self) -> Timestamp {
        Timestamp::from_micros(self.products.gone_at.value(self.at))
    }
}
