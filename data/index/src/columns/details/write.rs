use std::io::Write;

use arrow::array::StringBuilder;
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use data_model::{Media, MediaKind, Product, Review, Timestamp, Variant};

use super::super::ipc;
use super::super::table::Columns;
use super::{
    DetailColumns, DetailColumnsWriter, MediaColumnsWriter, NamedColumnsWriter, ReviewColumnsWriter, SCHEMA,
    VariantColumnsWriter,
};

/// Number of rows after which a batch is written, unless `BATCH_BYTES` is reached first.
const BATCH_ROWS: usize = 4_096;
/// Text size after which a batch is written. The limit bounds memory use and keeps offsets below 2^31.
const BATCH_BYTES: usize = 32 << 20;

pub(crate) struct DetailsWriter<W: Write> {
    file: FileWriter<W>,
    columns: DetailColumnsWriter,
    rows: usize,
    bytes: usize,
}

impl<W: Write> DetailsWriter<W> {
    pub(crate) fn new(to: W) -> Result<Self, ArrowError> {
        Ok(Self {
            file: ipc::writer(to, &SCHEMA)?,
            columns: DetailColumnsWriter::default(),
            rows: 0,
            bytes: 0,
        })
    }

    /// `bytes` is the size of the texts.
    pub(crate) fn push(&mut self, product: &Product, bytes: usize) -> Result<(), ArrowError> {
        push(&mut self.columns, product);
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
            self.file.write(&DetailColumns::batch(&mut self.columns, &SCHEMA)?)?;
            (self.rows, self.bytes) = (0, 0);
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, ArrowError> {
        self.flush()?;
        self.file.into_inner()
    }
}

fn push(columns: &mut DetailColumnsWriter, product: &Product) {
    columns.platform_id.push(product.key.platform_id);
    columns.handle.append_value(&product.handle);
    columns.description.append_value(&product.description);
    columns.vendor.append_option(product.vendor.as_deref());
    columns.product_type.append_option(product.product_type.as_deref());
    columns.tags.push(&product.tags, StringBuilder::append_value);
    let options = product.options.iter();
    columns
        .options
        .push(options, |named, option| push_named(named, &option.name, &option.values));
    let attributes = product.attributes.iter();
    columns.attributes.push(attributes, |named, attribute| {
        push_named(named, &attribute.name, &attribute.values)
    });
    columns.media.push(&product.media, push_medium);
    columns.variants.push(&product.variants, push_variant);
    columns.reviews.push(&product.reviews, push_review);
    columns.created_at.push(product.created_at.map(Timestamp::micros));
    columns.published_at.push(product.published_at.map(Timestamp::micros));
    columns.updated_at.push(product.updated_at.map(Timestamp::micros));
}

fn push_named(columns: &mut NamedColumnsWriter, name: &str, values: &[String]) {
    columns.name.append_value(name);
    columns.values.push(values, StringBuilder::append_value);
}

fn push_medium(columns: &mut MediaColumnsWriter, medium: &Media) {
    columns.url.append_value(&medium.url);
    columns.kind.push(match medium.kind {
        MediaKind::Image => 0,
        MediaKind::Video => 1,
    });
    columns.alt.append_option(medium.alt.as_deref());
    columns.width.push(medium.width);
    columns.height.push(medium.height);
}

fn push_variant(columns: &mut VariantColumnsWriter, variant: &Variant) {
    columns.id.push(variant.id.0);
    columns.title.append_value(&variant.title);
    columns.sku.append_option(variant.sku.as_deref());
    columns.options.push(&variant.options, |options, option| {
        options.name.append_value(&option.name);
        options.value.append_value(&option.value);
    });
    columns.price_minor.push(variant.price_minor);
    columns.compare_at_minor.push(variant.compare_at_minor);
    columns.available.push(variant.available);
    columns.grams.push(variant.grams);
    columns.image.append_option(variant.image.as_deref());
}

pub(crate) fn push_review(columns: &mut ReviewColumnsWriter, review: &Review) {
    columns.rating.push(review.rating);
    columns.author.append_option(review.author.as_deref());
    columns.title.append_option(review.title.as_deref());
    columns.body.append_value(&review.body);
    columns.created_at.push(review.created_at.map(Timestamp::micros));
}
