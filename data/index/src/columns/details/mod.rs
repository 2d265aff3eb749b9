mod read;
mod rows;
mod write;

pub use read::{Details, DetailsRow};
pub(crate) use rows::Reviews;
pub use rows::{MediaRef, NamedValues, PAGE, ReviewRef, VariantRef};
pub(crate) use write::{DetailsWriter, push_review};

use std::sync::LazyLock;

use arrow::datatypes::SchemaRef;

use super::table::{Columns, List, columns};

pub(crate) const DETAILS: &str = "details.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(DetailColumns::schema);

columns! {
    /// All columns of products that the cards do not have.
    DetailColumns, DetailColumnsWriter {
        platform_id: u64,
        handle: String,
        description: String,
        vendor: Option<String>,
        product_type: Option<String>,
        tags: List<String>,
        options: List<NamedColumns>,
        attributes: List<NamedColumns>,
        media: List<MediaColumns>,
        variants: List<VariantColumns>,
        reviews: List<ReviewColumns>,
        created_at: Option<i64>,
        published_at: Option<i64>,
        updated_at: Option<i64>,
    }
}

columns! {
    /// Options or attributes with their values.
    NamedColumns, NamedColumnsWriter {
        name: String,
        values: List<String>,
    }
}

columns! {
    /// Images and videos.
    MediaColumns, MediaColumnsWriter {
        url: String,
        kind: u8,
        alt: Option<String>,
        width: Option<u32>,
        height: Option<u32>,
    }
}

columns! {
    /// Variants of products.
    VariantColumns, VariantColumnsWriter {
        id: u64,
        title: String,
        sku: Option<String>,
        options: List<OptionColumns>,
        price_minor: i64,
        compare_at_minor: Option<i64>,
        available: bool,
        grams: Option<u32>,
        image: Option<String>,
    }
}

columns! {
    /// Values of a variant's options.
    OptionColumns, OptionColumnsWriter {
        name: String,
        value: String,
    }
}

columns! {
    /// Reviews of products.
    ReviewColumns, ReviewColumnsWriter {
        rating: f32,
        author: Option<String>,
        title: Option<String>,
        body: String,
        created_at: Option<i64>,
    }
}
