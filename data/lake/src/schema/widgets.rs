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
        stated("review_id", TEXT, "Id of the review in the review app"),
        stated("rating", DataType::Float32, "Number of stars, above 0 and up to 5"),
        maybe("author", TEXT, "Name of the review's author, as the widget shows it"),
        maybe("title", TEXT, "Headline of the review; null if it has none"),
        stated("body", TEXT, "Plain text of the review; empty if it has only stars"),
        maybe(
            "verified",
            FLAG,
            "Whether the app says that the author bought the product",
        ),
        maybe(
            "created_at",
            moment_type(),
            "Time when the review was written; null if not stated",
        ),
        stated(
            "observed_at",
            moment_type(),
            "Time when the review was first read in its current form",
        ),
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
            "Average of all ratings, as the widget states it",
        ),
        stated("rating_count", COUNT, "Number of ratings, as the widget states it"),
        stated(
            "observed_at",
            moment_type(),
            "Time when the widget first stated these values",
        ),
    ])
}

fn source() -> Field {
    stated("source", TEXT, "The review app: judgeme, yotpo, stamped or okendo")
}
