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
        stated("pincode", TEXT, "Indian postal index number, six digits"),
        maybe("serviceable", FLAG, "Whether the store delivers there"),
        maybe("zone", TEXT, "Delivery zone"),
        maybe("days_min", COUNT, "Fewest days to delivery"),
        maybe("days_max", COUNT, "Most days to delivery"),
        stated("sampled_at", moment_type(), "When the store was asked"),
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
            "The store's zone, numbered by how many pincodes it has: z1, z2",
        ),
        stated(
            "confidence",
            TEXT,
            "high: the store answered for these areas and its answers agree; low: it answered for areas like them",
        ),
        stated(
            "areas",
            list_of(TEXT),
            "Areas of the zone: state/district/kind, as the directory of pincodes names them",
        ),
        maybe(
            "serviceable",
            FLAG,
            "Whether the store delivers there; null when its answers do not tell",
        ),
        maybe("days_min", COUNT, "Fewest days to delivery by the cheapest rate"),
        maybe("days_max", COUNT, "Most days to delivery by the cheapest rate"),
        currency(),
        stated(
            "rates",
            list_of_rates(),
            "Rates with the orders that they were seen for, amounts in minor units; empty when not known",
        ),
        stated("probes", COUNT, "How many answers the zone was made of"),
        stated("sampled_at", moment_type(), "Time of the oldest of these answers"),
    ])
}

pub(crate) fn delivery_probes() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        stated("pincode", TEXT, "Indian postal index number, six digits"),
        stated("variant_id", ID, "The variant that was in the cart"),
        stated("quantity", COUNT, "How many of it were in the cart"),
        stated("goods_minor", MINOR, "What the goods cost, in minor units"),
        maybe("grams", COUNT, "What the goods weigh, where the store states it"),
        currency(),
        stated(
            "options",
            list_of_rates(),
            "Ways of delivery that the store offered; empty when it does not deliver, or does not say",
        ),
        stated("asked_at", moment_type(), "When the store was asked"),
    ])
}
