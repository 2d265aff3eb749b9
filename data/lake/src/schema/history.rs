use super::{
    COUNT, FLAG, ID, MINOR, SchemaRef, TEXT, brand_slug, bucket, currency, maybe, moment_type, product_keys, stated,
    store, table,
};

pub(crate) fn price_history() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        stated(
            "month",
            TEXT,
            "Partition: year and month of observed_at, such as 2026-11",
        ),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("variant_id", ID, "Shopify's own variant id"),
        stated(
            "event",
            TEXT,
            "Kind of change: first_seen (also for a variant that returns), changed or gone",
        ),
        currency(),
        maybe(
            "price_minor",
            MINOR,
            "Price after the change, in minor units; null if gone",
        ),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price after the change, in minor units; null if not above the price",
        ),
        maybe(
            "available",
            FLAG,
            "Whether the variant is available after the change; null if gone",
        ),
        maybe(
            "previous_currency",
            TEXT,
            "Currency before the change; null if first seen",
        ),
        maybe(
            "previous_price_minor",
            MINOR,
            "Price before the change, in minor units; null if first seen",
        ),
        maybe(
            "previous_compare_at_minor",
            MINOR,
            "List price before the change, in minor units",
        ),
        maybe(
            "previous_available",
            FLAG,
            "Whether the variant was available before the change; null if first seen",
        ),
        stated(
            "observed_at",
            moment_type(),
            "Time of the observation: the end of the crawl, or the store's live answer",
        ),
        maybe(
            "run_id",
            TEXT,
            "Id of the run that observed the change; null for live rows and removed brands",
        ),
        stated("tick", COUNT, "Number of the commit batch that added the row"),
        stated(
            "source",
            TEXT,
            "Source of the row: crawl, or live for a store's live answer",
        ),
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
        stated("variant_id", ID, "Shopify's own variant id"),
        currency(),
        maybe(
            "price_minor",
            MINOR,
            "Price in minor units; null if the variant is gone",
        ),
        maybe(
            "compare_at_minor",
            MINOR,
            "List price in minor units; null if not above the price",
        ),
        maybe("available", FLAG, "Whether the variant is available; null if gone"),
        stated("observed_at", moment_type(), "Time of the last observation"),
        maybe(
            "changed_at",
            moment_type(),
            "Time of the variant's last row in price_history since that crawl",
        ),
    ])
}

pub(crate) fn product_history() -> SchemaRef {
    let [product_id, platform_product_id] = product_keys();
    table(vec![
        stated(
            "event",
            TEXT,
            "Partition: kind of change: first_seen, changed, gone, or returned after it was gone",
        ),
        store(),
        brand_slug(),
        product_id,
        platform_product_id,
        stated("title", TEXT, "Title after the change; the last title if gone"),
        stated(
            "handle",
            TEXT,
            "Name of the product in the store's URLs after the change; the last name if gone",
        ),
        maybe(
            "vendor",
            TEXT,
            "Vendor after the change; the last vendor if gone; null if not stated",
        ),
        maybe(
            "category_id",
            ID,
            "Id of the category in the Google product taxonomy after the change; the last id if gone; null if no rule matches",
        ),
        maybe(
            "category_path",
            TEXT,
            "Path of that category, with levels separated by ' > '",
        ),
        maybe(
            "last_seen_at",
            moment_type(),
            "If gone: end of the last earlier crawl that found changes of the brand, when the product was still listed; otherwise null",
        ),
        stated(
            "observed_at",
            moment_type(),
            "End of the crawl that observed the change; for products older than this table, the time when the table was created",
        ),
        maybe(
            "run_id",
            TEXT,
            "Id of the run that observed the change; null if an operator removed the brand, or if the table was created then",
        ),
        stated("tick", COUNT, "Number of the commit batch that added the row"),
    ])
}
