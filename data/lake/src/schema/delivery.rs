use super::{
    COUNT, DataType, FLAG, Fields, ID, MINOR, SchemaRef, TEXT, brand_slug, bucket, currency, list_of, maybe, member,
    moment_type, stated, store, table,
};

/// Fields of a delivery method and its price.
pub(crate) fn rates() -> Fields {
    Fields::from(vec![
        member("name", TEXT),
        member("amount_minor", MINOR),
        member("min_order_minor", MINOR),
        member("max_order_minor", MINOR),
        member("days_min", COUNT),
        member("days_max", COUNT),
    ])
}

fn list_of_rates() -> DataType {
    list_of(DataType::Struct(rates()))
}

pub(crate) fn delivery_matrix() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        stated("pincode", TEXT, "Indian postal code of six digits"),
        maybe("serviceable", FLAG, "Whether the store delivers to the pincode"),
        maybe("zone", TEXT, "Delivery zone"),
        maybe("days_min", COUNT, "Minimum number of days until delivery"),
        maybe("days_max", COUNT, "Maximum number of days until delivery"),
        stated("sampled_at", moment_type(), "Time when the store was queried"),
    ])
}

pub(crate) fn delivery_zones() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        stated(
            "zone",
            TEXT,
            "Name of the store's zone, numbered by its number of pincodes: z1, z2",
        ),
        stated(
            "confidence",
            TEXT,
            "high: the store answered for these areas and its answers agree; low: the store answered for similar areas",
        ),
        stated(
            "areas",
            list_of(TEXT),
            "Areas of the zone as state/district/kind, with the names of the pincode directory",
        ),
        maybe(
            "serviceable",
            FLAG,
            "Whether the store delivers to the zone; null if its answers do not say",
        ),
        maybe(
            "days_min",
            COUNT,
            "Minimum number of days until delivery at the cheapest rate",
        ),
        maybe(
            "days_max",
            COUNT,
            "Maximum number of days until delivery at the cheapest rate",
        ),
        currency(),
        stated(
            "rates",
            list_of_rates(),
            "Rates with the order values that they were seen for, in minor units; empty if unknown",
        ),
        stated("probes", COUNT, "Number of answers that the zone is based on"),
        stated(
            "sampled_at",
            moment_type(),
            "Time of the oldest answer that the zone is based on",
        ),
    ])
}

pub(crate) fn delivery_probes() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        stated("pincode", TEXT, "Indian postal code of six digits"),
        stated("variant_id", ID, "Id of the variant in the cart"),
        stated("quantity", COUNT, "Quantity of the variant in the cart"),
        stated("goods_minor", MINOR, "Price of the goods in minor units"),
        maybe("grams", COUNT, "Weight of the goods in grams; null if not stated"),
        currency(),
        stated(
            "options",
            list_of_rates(),
            "Delivery methods that the store offered; empty if it does not deliver or does not say",
        ),
        stated("asked_at", moment_type(), "Time when the store was queried"),
    ])
}
