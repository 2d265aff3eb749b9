//! Columns of every table, each with the comment that analysts see.
//!
//! Amounts are integers in the currency's minor unit, next to a currency column. Timestamps are microseconds in UTC.
//! Shopify's ids are 64-bit integers.

mod delivery;
mod reference;
mod shipping;
mod widgets;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

pub(crate) use delivery::{delivery_matrix, delivery_probes, delivery_zones, rates};
pub(crate) use reference::{currencies, exchange_rates, pincodes};
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
        "Partition: the first four bytes of SHA-256 of store, modulo 64",
    )
}

fn store() -> Field {
    stated("store", TEXT, "Permanent host of the brand's store; the brand's key")
}

fn brand_slug() -> Field {
    stated("brand_slug", TEXT, "The brand's public name in paths and filters")
}

fn product_keys() -> [Field; 2] {
    [
        stated(
            "product_id",
            TEXT,
            "Public id: UUID v5 of shopify:{store}:{platform_product_id}",
        ),
        stated("platform_product_id", ID, "The platform's own product id"),
    ]
}

fn currency() -> Field {
    stated("currency", TEXT, "ISO 4217 code of the row's amounts")
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
            "Public uid: sha: and 40 hex digits of SHA-256 of the same key",
        ),
        platform_product_id,
        stated("handle", TEXT, "The store's own name of the product in URLs"),
        stated("title", TEXT, "Title as the store states it, white space folded"),
        stated(
            "description",
            TEXT,
            "Description as plain text, paragraphs divided by newlines",
        ),
        maybe("vendor", TEXT, "Vendor, where stated"),
        maybe("product_type", TEXT, "The store's own product type, where stated"),
        maybe(
            "category_id",
            ID,
            "Id in the Google product taxonomy, where a rule fits",
        ),
        maybe("category_path", TEXT, "Path of that category, levels divided by ' > '"),
        stated("tags", list_of(TEXT), "The store's tags in its order"),
        stated("options", named(), "Options with their values, in order"),
        stated("attributes", named(), "Structured attributes such as color, size"),
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
            "Lowest price of all variants that have one, in minor units; 0 where none has",
        ),
        stated(
            "price_max_minor",
            MINOR,
            "Highest price of all variants, in minor units",
        ),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price of the variant with the lowest price, where marked down",
        ),
        maybe(
            "discount_pct",
            COUNT,
            "The markdown's share of that list price in percent, rounded",
        ),
        stated("in_stock", FLAG, "Whether any variant is available"),
        stated(
            "on_sale",
            FLAG,
            "Whether the variant with the lowest price is marked down",
        ),
        stated("variant_count", COUNT, "Variants of the product"),
        maybe(
            "rating_average",
            DataType::Float32,
            "Mean rating from 0 to 5, where published",
        ),
        maybe("rating_count", COUNT, "How many ratings that is the mean of"),
        stated("review_count", COUNT, "Reviews of the product in table reviews"),
        moment("created_at", "When the store says it was created"),
        moment("published_at", "When the store says it was published"),
        moment(
            "updated_at",
            "When the store said it last changed, as of the brand's last change",
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
        stated("variant_id", ID, "The platform's own variant id"),
        stated("position", COUNT, "Place among the product's variants, from 0"),
        stated("title", TEXT, "Title; empty for the one default variant"),
        maybe("sku", TEXT, "Stock keeping unit, where stated"),
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
            "List price before a markdown; only where above the price",
        ),
        stated("available", FLAG, "Whether the store would sell it now"),
        maybe("grams", COUNT, "Shipping weight in grams, where stated"),
        maybe("image", TEXT, "Address of the variant's own picture"),
        maybe(
            "barcode",
            TEXT,
            "GTIN of 8, 12, 13 or 14 digits, the shortest form of the number; null when none is known that names a product",
        ),
        maybe("barcode_stated", TEXT, "Barcode as the store states it, valid or not"),
        maybe(
            "size_normalized",
            TEXT,
            "Size in one spelling: m, xxl, one-size, uk-8.5, waist-32, 34b, 2-3y, 38; null when not read",
        ),
        maybe(
            "size_system",
            TEXT,
            "What the size counts in: letter, one-size, uk, us, eu, in, waist, bra, age or number",
        ),
        maybe(
            "size_ordinal",
            DataType::Float64,
            "Place among sizes of its system: steps from m, the number itself, or months",
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
            "Place among the product's reviews, newest first, from 0",
        ),
        stated("rating", DataType::Float32, "Stars, from 0 to 5"),
        maybe("author", TEXT, "Who wrote it, as published"),
        maybe("title", TEXT, "Headline, where it has one"),
        stated("body", TEXT, "Text, plain"),
        maybe("created_at", moment_type(), "When it was written, where stated"),
    ])
}

pub(crate) fn quarantine() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        stated("position", COUNT, "From 0 of a crawl, from 1000000 of a review app"),
        stated("subject", TEXT, "Which record: the platform's id, or where it stood"),
        stated("reason", TEXT, "Why it could not be understood"),
        stated("excerpt", TEXT, "The record as answered, cut"),
        stated("observed_at", moment_type(), "When it was found: the end of the crawl"),
        stated("run_id", TEXT, "The run that found it; of a review app `reviews`"),
        brand_slug(),
    ])
}

pub(crate) fn brands() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        stated("slug", TEXT, "The same as brand_slug, under its earlier name"),
        stated("name", TEXT, "Display name, as the store states it"),
        stated("domain", TEXT, "The domain that shoppers see"),
        stated("base_url", TEXT, "Base URL of the store"),
        currency(),
        maybe("country", TEXT, "ISO 3166-1 alpha-2, where stated"),
        maybe("logo", TEXT, "Address of the logo, where known"),
        maybe("description", TEXT, "What the brand says of itself"),
        stated(
            "catalogue_hash",
            TEXT,
            "SHA-256 over all that the lake holds of the brand, but for updated_at",
        ),
        stated("product_count", COUNT, "Products of the brand"),
        stated("variant_count", COUNT, "Variants of the brand"),
        stated("review_count", COUNT, "Reviews of the brand's products"),
        stated("in_stock_count", COUNT, "Products of which a variant is available"),
        stated("on_sale_count", COUNT, "Products whose lowest price is marked down"),
        stated("quarantined_count", COUNT, "Records of its latest crawl in quarantine"),
        stated(
            "refreshed_at",
            moment_type(),
            "End of the crawl that brought the present content",
        ),
        stated("run_id", TEXT, "The run that brought it"),
        maybe(
            "crawl_country",
            TEXT,
            "Country whose prices the crawl asked for; null: the store's choice",
        ),
        brand_slug(),
    ])
}

pub(crate) fn price_history() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        stated("month", TEXT, "Partition: year and month of observed_at, 2026-11"),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("variant_id", ID, "The platform's own variant id"),
        stated(
            "event",
            TEXT,
            "first_seen (also of one that was gone before), changed or gone",
        ),
        currency(),
        maybe(
            "price_minor",
            MINOR,
            "Price from now on, in minor units; null when gone",
        ),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price from now on, where above the price",
        ),
        maybe("available", FLAG, "Whether it is available from now on; null when gone"),
        maybe("previous_currency", TEXT, "Currency before; null when first seen"),
        maybe(
            "previous_price_minor",
            MINOR,
            "Price before, in minor units; null when first seen",
        ),
        maybe("previous_compare_at_minor", MINOR, "List price before"),
        maybe(
            "previous_available",
            FLAG,
            "Whether it was available before; null when first seen",
        ),
        stated(
            "observed_at",
            moment_type(),
            "End of the crawl that observed it, or when the store answered live",
        ),
        maybe(
            "run_id",
            TEXT,
            "The run that observed it; null of live rows, and of removed brands",
        ),
        stated("tick", COUNT, "The commit of the lake that brought it"),
        stated("source", TEXT, "crawl, or live: the store was asked"),
    ])
}

pub(crate) fn live_prices() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("variant_id", ID, "The platform's own variant id"),
        currency(),
        maybe("price_minor", MINOR, "Price in minor units; null when it is gone"),
        maybe("compare_at_minor", MINOR, "List price, where above the price"),
        maybe("available", FLAG, "Whether available; null when gone"),
        stated("observed_at", moment_type(), "When it was last observed"),
        maybe(
            "changed_at",
            moment_type(),
            "Time of its last row in price_history since",
        ),
    ])
}

pub(crate) fn product_history() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        stated(
            "event",
            TEXT,
            "Partition: first_seen, changed, gone, or returned after it was gone",
        ),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("title", TEXT, "Title from now on; the last one when gone"),
        stated(
            "handle",
            TEXT,
            "The store's own name of the product in URLs from now on; the last one when gone",
        ),
        maybe(
            "vendor",
            TEXT,
            "Vendor from now on, where stated; the last one when gone",
        ),
        maybe(
            "category_id",
            ID,
            "Id in the Google product taxonomy from now on, where a rule fits; the last one when gone",
        ),
        maybe("category_path", TEXT, "Path of that category, levels divided by ' > '"),
        maybe(
            "last_seen_at",
            moment_type(),
            "When gone: end of the last crawl before that brought anything new of the brand, which still had it; else null",
        ),
        stated(
            "observed_at",
            moment_type(),
            "End of the crawl that observed it; of what was there before this table, when the table was made",
        ),
        maybe(
            "run_id",
            TEXT,
            "The run that observed it; null when an operator removed the brand, or when the table was made",
        ),
        stated("tick", COUNT, "The commit of the lake that brought it"),
    ])
}

pub(crate) fn crawl_runs() -> SchemaRef {
    table(vec![
        stated(
            "tick",
            COUNT,
            "Number of the commit of the lake; one that is missing only merged files or added columns, or was given up",
        ),
        stated(
            "kind",
            TEXT,
            "refresh, remove, backfill: landed pages were read again, delivery, shipping, reviews, live: what stores said live was folded in, rates: exchange rates were imported, restore: tables got earlier rows again, or repair: lost files were given up",
        ),
        maybe("run_id", TEXT, "The run; null when an operator removed brands"),
        maybe("started_at", moment_type(), "When the run began"),
        stated("committed_at", moment_type(), "When the tick was decided"),
        stated("stores", list_of(TEXT), "The stores that changed"),
        stated("brands_seen", COUNT, "Brands that the run had crawled by then"),
        stated("brands_failed", COUNT, "Of these, crawls that failed"),
        stated("brands_held_back", COUNT, "Of these, crawls that were not believed"),
        stated(
            "brands_unchanged",
            COUNT,
            "Of the brands handed to this tick, those without a change",
        ),
        stated("brands_changed", COUNT, "Brands that this tick replaced or removed"),
        stated("products", COUNT, "Products of these brands now"),
        stated("products_added", COUNT, "Products that were not there before"),
        stated("products_removed", COUNT, "Products that are gone"),
        stated("variants", COUNT, "Variants of these brands now"),
        stated("price_changes", COUNT, "Rows that this tick added to price_history"),
        stated("quarantined", COUNT, "Records of these brands in quarantine now"),
    ])
}
