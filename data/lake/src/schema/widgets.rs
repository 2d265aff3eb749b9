use arrow::datatypes::{DataType, Field, SchemaRef};

use super::{COUNT, FLAG, TEXT, brand_slug, bucket, maybe, moment_type, product_keys, stated, store, table};

pub(crate) fn widget_reviews() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        source(),
        stated("review_id", TEXT, "The review app's own id of the review"),
        stated("rating", DataType::Float32, "Stars, above 0 and up to 5"),
        maybe("author", TEXT, "Who wrote it, as the widget shows it"),
        maybe("title", TEXT, "Headline, where it has one"),
        stated("body", TEXT, "Text, plain; empty where it has stars alone"),
        maybe(
            "verified",
            FLAG,
            "Whether the app says that the writer bought the product",
        ),
        maybe("created_at", moment_type(), "When it was written, where stated"),
        stated("observed_at", moment_type(), "When it was first read as it is now"),
    ])
}

pub(crate) fn widget_ratings() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        source(),
        stated(
            "rating_average",
            DataType::Float64,
            "Mean of all ratings, as the widget states it",
        ),
        stated("rating_count", COUNT, "Ratings that the widget counts"),
        stated("observed_at", moment_type(), "When the widget first said so"),
    ])
}

fn source() -> Field {
    stated("source", TEXT, "The review app: judgeme, yotpo, stamped or okendo")
}
