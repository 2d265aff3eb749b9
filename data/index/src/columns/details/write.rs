use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Int64Array, RecordBatch, StringBuilder, StructArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use data_model::{Media, MediaKind, Product, Review, Timestamp, Variant};

use super::super::ipc;
use super::super::lists::{Ends, NamedListsWriter, item};
use super::{SCHEMA, media_fields, option_fields, review_fields, struct_item, variant_fields};

/// Number of rows after which a batch is written, unless `BATCH_BYTES` is reached first.
const BATCH_ROWS: usize = 4_096;
/// Text size after which a batch is written. The limit bounds memory use and keeps offsets below 2^31.
const BATCH_BYTES: usize = 32 << 20;

/// Writes details batch by batch while a part is built.
pub(crate) struct DetailsWriter<W: Write> {
    file: FileWriter<W>,
    batch: Batch,
    rows: usize,
    bytes: usize,
}

impl<W: Write> DetailsWriter<W> {
    pub(crate) fn new(to: W) -> Result<Self, ArrowError> {
        Ok(Self {
            file: ipc::writer(to, &SCHEMA)?,
            batch: Batch::default(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Adds the next row. `bytes` is the size of its texts.
    pub(crate) fn push(&mut self, product: &Product, bytes: usize) -> Result<(), ArrowError> {
        self.batch.push(product);
        self.rows += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        if self.rows > 0 {
            self.file.write(&self.batch.finish()?)?;
            (self.rows, self.bytes) = (0, 0);
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, ArrowError> {
        self.flush()?;
        self.file.into_inner()
    }
}

#[derive(Debug, Default)]
struct Batch {
    platform_id: Vec<u64>,
    handle: StringBuilder,
    description: StringBuilder,
    vendor: StringBuilder,
    product_type: StringBuilder,
    tags: StringBuilder,
    tags_len: usize,
    tag_ends: Ends,
    options: NamedListsWriter,
    attributes: NamedListsWriter,
    media: MediaWriter,
    variants: VariantsWriter,
    reviews: ReviewsWriter,
    created_at: Vec<Option<i64>>,
    published_at: Vec<Option<i64>>,
    updated_at: Vec<Option<i64>>,
}

impl Batch {
    fn push(&mut self, product: &Product) {
        self.platform_id.push(product.key.platform_id);
        self.handle.append_value(&product.handle);
        self.description.append_value(&product.description);
        self.vendor.append_option(product.vendor.as_deref());
        self.product_type.append_option(product.product_type.as_deref());
        product.tags.iter().for_each(|tag| self.tags.append_value(tag));
        self.tags_len += product.tags.len();
        self.tag_ends.close(self.tags_len);
        for option in &product.options {
            self.options.push(&option.name, &option.values);
        }
        self.options.close();
        for attribute in &product.attributes {
            self.attributes.push(&attribute.name, &attribute.values);
        }
        self.attributes.close();
        self.media.push(&product.media);
        self.variants.push(&product.variants);
        self.reviews.push(&product.reviews);
        self.created_at.push(product.created_at.map(Timestamp::micros));
        self.published_at.push(product.published_at.map(Timestamp::micros));
        self.updated_at.push(product.updated_at.map(Timestamp::micros));
    }

    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.tags_len = 0;
        let tags = Arc::new(self.tags.finish());
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(std::mem::take(&mut self.platform_id))),
            Arc::new(self.handle.finish()),
            Arc::new(self.description.finish()),
            Arc::new(self.vendor.finish()),
            Arc::new(self.product_type.finish()),
            self.tag_ends.finish(&item(DataType::Utf8), tags)?,
            self.options.finish()?,
            self.attributes.finish()?,
            self.media.finish()?,
            self.variants.finish()?,
            self.reviews.finish()?,
            Arc::new(Int64Array::from(std::mem::take(&mut self.created_at))),
            Arc::new(Int64Array::from(std::mem::take(&mut self.published_at))),
            Arc::new(Int64Array::from(std::mem::take(&mut self.updated_at))),
        ];
        RecordBatch::try_new(Arc::clone(&SCHEMA), columns)
    }
}

#[derive(Debug, Default)]
struct MediaWriter {
    ends: Ends,
    url: StringBuilder,
    kind: Vec<u8>,
    alt: StringBuilder,
    width: Vec<Option<u32>>,
    height: Vec<Option<u32>>,
}

impl MediaWriter {
    fn push(&mut self, media: &[Media]) {
        for medium in media {
            self.url.append_value(&medium.url);
            self.kind.push(match medium.kind {
                MediaKind::Image => 0,
                MediaKind::Video => 1,
            });
            self.alt.append_option(medium.alt.as_deref());
            self.width.push(medium.width);
            self.height.push(medium.height);
        }
        self.ends.close(self.kind.len());
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.url.finish()),
            Arc::new(UInt8Array::from(std::mem::take(&mut self.kind))),
            Arc::new(self.alt.finish()),
            Arc::new(UInt32Array::from(std::mem::take(&mut self.width))),
            Arc::new(UInt32Array::from(std::mem::take(&mut self.height))),
        ];
        let media = StructArray::try_new(media_fields(), columns, None)?;
        self.ends.finish(&struct_item(media_fields()), Arc::new(media))
    }
}

#[derive(Debug, Default)]
struct VariantsWriter {
    ends: Ends,
    id: Vec<u64>,
    title: StringBuilder,
    sku: StringBuilder,
    option_ends: Ends,
    option_name: StringBuilder,
    option_value: StringBuilder,
    options_len: usize,
    price: Vec<i64>,
    compare_at: Vec<Option<i64>>,
    available: Vec<bool>,
    grams: Vec<Option<u32>>,
    image: StringBuilder,
}

impl VariantsWriter {
    fn push(&mut self, variants: &[Variant]) {
        for variant in variants {
            self.id.push(variant.id.0);
            self.title.append_value(&variant.title);
            self.sku.append_option(variant.sku.as_deref());
            for option in &variant.options {
                self.option_name.append_value(&option.name);
                self.option_value.append_value(&option.value);
            }
            self.options_len += variant.options.len();
            self.option_ends.close(self.options_len);
            self.price.push(variant.price_minor);
            self.compare_at.push(variant.compare_at_minor);
            self.available.push(variant.available);
            self.grams.push(variant.grams);
            self.image.append_option(variant.image.as_deref());
        }
        self.ends.close(self.id.len());
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        self.options_len = 0;
        let option_columns: Vec<ArrayRef> = vec![
            Arc::new(self.option_name.finish()),
            Arc::new(self.option_value.finish()),
        ];
        let options = StructArray::try_new(option_fields(), option_columns, None)?;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(std::mem::take(&mut self.id))),
            Arc::new(self.title.finish()),
            Arc::new(self.sku.finish()),
            self.option_ends
                .finish(&struct_item(option_fields()), Arc::new(options))?,
            Arc::new(Int64Array::from(std::mem::take(&mut self.price))),
            Arc::new(Int64Array::from(std::mem::take(&mut self.compare_at))),
            Arc::new(BooleanArray::from(std::mem::take(&mut self.available))),
            Arc::new(UInt32Array::from(std::mem::take(&mut self.grams))),
            Arc::new(self.image.finish()),
        ];
        let variants = StructArray::try_new(variant_fields(), columns, None)?;
        self.ends.finish(&struct_item(variant_fields()), Arc::new(variants))
    }
}

/// Writes lists of reviews, one list per row.
#[derive(Debug, Default)]
pub(crate) struct ReviewsWriter {
    ends: Ends,
    rating: Vec<f32>,
    author: StringBuilder,
    title: StringBuilder,
    body: StringBuilder,
    created_at: Vec<Option<i64>>,
}

impl ReviewsWriter {
    pub(crate) fn push(&mut self, reviews: &[Review]) {
        for review in reviews {
            self.rating.push(review.rating);
            self.author.append_option(review.author.as_deref());
            self.title.append_option(review.title.as_deref());
            self.body.append_value(&review.body);
            self.created_at.push(review.created_at.map(Timestamp::micros));
        }
        self.ends.close(self.rating.len());
    }

    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Float32Array::from(std::mem::take(&mut self.rating))),
            Arc::new(self.author.finish()),
            Arc::new(self.title.finish()),
            Arc::new(self.body.finish()),
            Arc::new(Int64Array::from(std::mem::take(&mut self.created_at))),
        ];
        let reviews = StructArray::try_new(review_fields(), columns, None)?;
        self.ends.finish(&struct_item(review_fields()), Arc::new(reviews))
    }
}
