//! Columns of every table, each with the comment that analysts see.
//!
//! Amounts are integers in the currency's minor unit, next to a currency column. Timestamps are microseconds in UTC.
//! Shopify's ids are 64-bit integers.

mod delivery;
mod history;
mod reference;
mod searches;
mod shipping;
mod widgets;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

pub(crate) use delivery::{delivery_matrix, delivery_probes, delivery_zones, rates};
pub(crate) use history::{live_prices, price_history, product_history};
pub(crate) use reference::{currencies, exchange_rates, pincodes};
pub(crate) use searches::searches;
pub(crate) use shipping::{shipping_facts, shipping_policies, unknown_terms};
pub(crate) use widgets::{widget_ratings, widget_reviews};

const ID: DataType = DataType::Int64;
const TEXT: DataType = DataType::Utf8;
const MINOR: DataType = DataType::Int64;
const COUNT: DataType = DataType::Int64;
const FLAG: DataType = DataType::Boolean;

pub(crate) fn moment_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn column(name: &str, data_type: DataType, nullable: bool, comment: &str) -> Field {
    Field::new(name, data_type, nullable).with_metadata(HashMap::from([("comment".to_owned(), comment.to_owned())]))
}

fn stated(name: &str, data_type: DataType, comment: &str) -> Field {
    column(name, data_type, false, comment)
}

fn maybe(name: &str, data_type: DataType, comment: &str) -> Field {
    column(name, data_type, true, comment)
}

pub(crate) fn list_of(element: DataType) -> DataType {
    DataType::List(element_field(element))
}

/// Name that Parquet and Spark use for the element field of a list.
pub(crate) fn element_field(element: DataType) -> FieldRef {
    Arc::new(Field::new("element", element, true))
}

/// Builds a field of the struct that a list contains.
fn member(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// Fields `name` and `values`, used for options and attributes.
pub(crate) fn named_values() -> Fields {
    Fields::from(vec![member("name", TEXT), member("values", list_of(TEXT))])
}

pub(crate) fn media() -> Fields {
    Fields::from(vec![
        member("url", TEXT),
        member("kind", TEXT),
        member("alt", TEXT),
        member("width", COUNT),
        member("height", COUNT),
    ])
}

pub(crate) fn option_values() -> Fields {
    Fields::from(vec![member("name", TEXT), member("value", TEXT)])
}

fn table(columns: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(columns))
}

fn bucket() -> Field {
    stated(
        "bucket",
        DataType::Int32,
        "Partition: the first four bytes of the SHA-256 of store, modulo 64",
    )
}

fn store() -> Field {
    stated(
        "store",
        TEXT,
        "Permanent host of the brand's store; identifies the brand",
    )
}

fn brand_slug() -> Field {
    stated("brand_slug", TEXT, "Public name of the brand in paths and filters")
}

fn product_keys() -> [Field; 2] {
    [
        stated(
            "product_id",
            TEXT,
            "Public product id: UUID v5 of shopify:{store}:{platform_product_id}",
        ),
        stated("platform_product_id", ID, "Shopify's own product id"),
    ]
}

fn currency() -> Field {
    stated("currency", TEXT, "ISO 4217 code of the currency of the row's amounts")
}

pub(crate) fn products() -> SchemaRef {
    let mut columns = product_texts();
    columns.extend(product_numbers());
    table(columns)
}

fn product_texts() -> Vec<Field> {
    let [product_id, platform_product_id] = product_keys();
    let named = || list_of(DataType::Struct(named_values()));
    vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        stated(
            "product_uid",
            TEXT,
            "Public product uid: sha: and 40 hex digits of the SHA-256 of shopify:{store}:{platform_product_id}",
        ),
        platform_product_id,
        stated("handle", TEXT, "Name of the product in the store's URLs"),
        stated(
            "title",
            TEXT,
            "Title as the store states it, with white space collapsed",
        ),
        stated(
            "description",
            TEXT,
            "Description as plain text, with paragraphs separated by newlines",
        ),
        maybe("vendor", TEXT, "Vendor; null if not stated"),
        maybe(
            "product_type",
            TEXT,
            "Product type as the store states it; null if not stated",
        ),
        maybe(
            "category_id",
            ID,
            "Id of the category in the Google product taxonomy; null if no rule matches",
        ),
        maybe(
            "category_path",
            TEXT,
            "Path of the category, with levels separated by ' > '",
        ),
        stated(
            "tags",
            list_of(TEXT),
            "The store's tags of the product, in the store's order",
        ),
        stated("options", named(), "Options with their values, in the store's order"),
        stated("attributes", named(), "Structured attributes such as color and size"),
        stated(
            "media",
            list_of(DataType::Struct(media())),
            "Images and videos in display order",
        ),
    ]
}

fn product_numbers() -> Vec<Field> {
    let moment = |name, comment| maybe(name, moment_type(), comment);
    vec![
        currency(),
        stated(
            "price_min_minor",
            MINOR,
            "Lowest price of all variants that have a price, in minor units; 0 if none has a price",
        ),
        stated(
            "price_max_minor",
            MINOR,
            "Highest price of all variants, in minor units",
        ),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price of the variant with the lowest price, in minor units; null if it is not marked down",
        ),
        maybe(
            "discount_pct",
            COUNT,
            "Discount on that list price, in percent, rounded",
        ),
        stated("in_stock", FLAG, "Whether any variant is available"),
        stated(
            "on_sale",
            FLAG,
            "Whether the variant with the lowest price is marked down",
        ),
        stated("variant_count", COUNT, "Number of variants of the product"),
        maybe(
            "rating_average",
            DataType::Float32,
            "Average rating from 0 to 5; null if not published",
        ),
        maybe("rating_count", COUNT, "Number of ratings in that average"),
        stated(
            "review_count",
            COUNT,
            "Number of reviews of the product in table reviews",
        ),
        moment(
            "created_at",
            "Time when the product was created, as the store states it",
        ),
        moment(
            "published_at",
            "Time when the product was published, as the store states it",
        ),
        moment(
            "updated_at",
            "Time of the product's last change that the store stated when the brand last changed",
        ),
    ]
}

pub(crate) fn variants() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("variant_id", ID, "Shopify's own variant id"),
        stated("position", COUNT, "Position among the product's variants, from 0"),
        stated(
            "title",
            TEXT,
            "Title of the variant; empty for a product's only default variant",
        ),
        maybe("sku", TEXT, "Stock keeping unit; null if not stated"),
        stated(
            "options",
            list_of(DataType::Struct(option_values())),
            "The variant's value of each option, in order",
        ),
        currency(),
        stated("price_minor", MINOR, "Price in minor units"),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price in minor units; null if not above the price",
        ),
        stated("available", FLAG, "Whether the variant can be bought"),
        maybe("grams", COUNT, "Shipping weight in grams; null if not stated"),
        maybe("image", TEXT, "URL of the variant's own image"),
        maybe(
            "barcode",
            TEXT,
            "GTIN of 8, 12, 13 or 14 digits, in its shortest form; null if no valid product GTIN is known",
        ),
        maybe("barcode_stated", TEXT, "Barcode as the store states it, valid or not"),
        maybe(
            "size_normalized",
            TEXT,
            "Size in a normalised form: m, xxl, one-size, uk-8.5, waist-32, 34b, 2-3y, 38; null if no size is recognised",
        ),
        maybe(
            "size_system",
            TEXT,
            "System of the size: letter, one-size, uk, us, eu, in, waist, bra, age or number",
        ),
        maybe(
            "size_ordinal",
            DataType::Float64,
            "Order of the size within its system: steps from m, the number itself, or months",
        ),
    ])
}

pub(crate) fn reviews() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated(
            "position",
            COUNT,
            "Position among the product's reviews, newest first, from 0",
        ),
        stated("rating", DataType::Float32, "Number of stars, from 0 to 5"),
        maybe("author", TEXT, "Name of the review's author, as published"),
        maybe("title", TEXT, "Headline of the review; null if it has none"),
        stated("body", TEXT, "Plain text of the review"),
        maybe(
            "created_at",
            moment_type(),
            "Time when the review was written; null if not stated",
        ),
    ])
}

pub(crate) fn quarantine() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        stated(
            "position",
            COUNT,
            "Number of the record: from 0 for a crawl, from 1000000 for a review app",
        ),
        stated(
            "subject",
            TEXT,
            "Record that failed: the platform's id, or its position",
        ),
        stated("reason", TEXT, "Reason why the record could not be parsed"),
        stated("excerpt", TEXT, "The record as received, truncated"),
        stated(
            "observed_at",
            moment_type(),
            "Time when the record was found: the end of the crawl",
        ),
        stated(
            "run_id",
            TEXT,
            "Id of the run that found the record; `reviews` for a review app",
        ),
        brand_slug(),
    ])
}

pub(crate) fn brands() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        stated("slug", TEXT, "Earlier name of brand_slug, with the same value"),
        stated("name", TEXT, "Display name, as the store states it"),
        stated("domain", TEXT, "Domain that shoppers see"),
        stated("base_url", TEXT, "Base URL of the store"),
        currency(),
        maybe(
            "country",
            TEXT,
            "ISO 3166-1 alpha-2 code of the country; null if not stated",
        ),
        maybe("logo", TEXT, "URL of the logo; null if unknown"),
        maybe("description", TEXT, "Description that the brand gives of itself"),
        stated(
            "catalogue_hash",
            TEXT,
            "SHA-256 of the brand's rows in the lake, without updated_at",
        ),
        stated("product_count", COUNT, "Number of products of the brand"),
        stated("variant_count", COUNT, "Number of variants of the brand"),
        stated("review_count", COUNT, "Number of reviews of the brand's products"),
        stated("in_stock_count", COUNT, "Number of products with an available variant"),
        stated(
            "on_sale_count",
            COUNT,
            "Number of products whose lowest price is marked down",
        ),
        stated(
            "quarantined_count",
            COUNT,
            "Number of quarantined records of the brand's latest crawl",
        ),
        stated(
            "refreshed_at",
            moment_type(),
            "End of the crawl that read the current content",
        ),
        stated("run_id", TEXT, "Id of the run that read the current content"),
        maybe(
            "crawl_country",
            TEXT,
            "Country whose prices the crawl requested; null if the store chose",
        ),
        brand_slug(),
    ])
}

pub(crate) fn crawl_runs() -> SchemaRef {
    table(vec![
        stated(
            "tick",
            COUNT,
            "Number of the commit batch; a missing number was abandoned, or only merged files or added columns",
        ),
        stated(
            "kind",
            TEXT,
            "Kind of work: refresh, remove, backfill (landed pages were parsed again), delivery, shipping, reviews, live (stores' live answers were merged), rates (exchange rates were imported), searches (words that shoppers searched for were merged), restore (tables got earlier rows again) or repair (lost files were given up)",
        ),
        maybe("run_id", TEXT, "Id of the run; null if an operator removed brands"),
        maybe("started_at", moment_type(), "Time when the run began"),
        stated("committed_at", moment_type(), "Time when the commit batch was decided"),
        stated("stores", list_of(TEXT), "Stores that changed"),
        stated(
            "brands_seen",
            COUNT,
            "Number of brands that the run had crawled by then",
        ),
        stated("brands_failed", COUNT, "Number of these crawls that failed"),
        stated("brands_held_back", COUNT, "Number of these crawls that were held back"),
        stated(
            "brands_unchanged",
            COUNT,
            "Number of unchanged brands among those passed to this commit batch",
        ),
        stated(
            "brands_changed",
            COUNT,
            "Number of brands that this commit batch replaced or removed",
        ),
        stated("products", COUNT, "Number of products of these brands after the commit"),
        stated("products_added", COUNT, "Number of products that were added"),
        stated("products_removed", COUNT, "Number of products that are gone"),
        stated("variants", COUNT, "Number of variants of these brands after the commit"),
        stated(
            "price_changes",
            COUNT,
            "Number of rows that this commit batch added to price_history",
        ),
        stated(
            "quarantined",
            COUNT,
            "Number of quarantined records of these brands after the commit",
        ),
    ])
}
