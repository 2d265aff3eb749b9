mod read;
mod rows;
mod write;

pub use read::{Details, DetailsRow};
pub(crate) use rows::Reviews;
pub use rows::{MediaRef, NamedValues, PAGE, ReviewRef, VariantRef};
pub(crate) use write::{DetailsWriter, ReviewsWriter};

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

use super::lists::{NamedListsWriter, item, list};

/// File name within a release part.
pub(crate) const DETAILS: &str = "details.arrow";

fn column(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

fn nullable(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn option_fields() -> Fields {
    Fields::from(vec![column("name", DataType::Utf8), column("value", DataType::Utf8)])
}

fn media_fields() -> Fields {
    Fields::from(vec![
        column("url", DataType::Utf8),
        column("kind", DataType::UInt8),
        nullable("alt", DataType::Utf8),
        nullable("width", DataType::UInt32),
        nullable("height", DataType::UInt32),
    ])
}

fn variant_fields() -> Fields {
    Fields::from(vec![
        column("id", DataType::UInt64),
        column("title", DataType::Utf8),
        nullable("sku", DataType::Utf8),
        list("options", DataType::Struct(option_fields())),
        column("price_minor", DataType::Int64),
        nullable("compare_at_minor", DataType::Int64),
        column("available", DataType::Boolean),
        nullable("grams", DataType::UInt32),
        nullable("image", DataType::Utf8),
    ])
}

/// Returns the field definition of a column of review lists.
pub(crate) fn review_lists() -> Field {
    list("reviews", DataType::Struct(review_fields()))
}

fn review_fields() -> Fields {
    Fields::from(vec![
        column("rating", DataType::Float32),
        nullable("author", DataType::Utf8),
        nullable("title", DataType::Utf8),
        column("body", DataType::Utf8),
        nullable("created_at", DataType::Int64),
    ])
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let named_lists = || DataType::Struct(NamedListsWriter::fields());
    Arc::new(Schema::new(vec![
        column("platform_id", DataType::UInt64),
        column("handle", DataType::Utf8),
        column("description", DataType::Utf8),
        nullable("vendor", DataType::Utf8),
        nullable("product_type", DataType::Utf8),
        list("tags", DataType::Utf8),
        list("options", named_lists()),
        list("attributes", named_lists()),
        list("media", DataType::Struct(media_fields())),
        list("variants", DataType::Struct(variant_fields())),
        review_lists(),
        nullable("created_at", DataType::Int64),
        nullable("published_at", DataType::Int64),
        nullable("updated_at", DataType::Int64),
    ]))
});

fn struct_item(fields: Fields) -> Arc<Field> {
    item(DataType::Struct(fields))
}
