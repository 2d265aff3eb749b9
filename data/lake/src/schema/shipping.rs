use arrow::datatypes::{DataType, Fields, SchemaRef};

use super::delivery::rates;
use super::{
    COUNT, FLAG, MINOR, TEXT, brand_slug, bucket, currency, list_of, maybe, member, moment_type, stated, store, table,
};

/// Fields of a shipping term that a store's text states.
pub(crate) fn shipping_facts() -> Fields {
    Fields::from(vec![
        member("kind", TEXT),
        member("region", TEXT),
        member("payment", TEXT),
        member("sentence", TEXT),
        member("source_url", TEXT),
        member("is_available", FLAG),
        member("in_working_days", FLAG),
        member("amount_minor", MINOR),
        member("amount_max_minor", MINOR),
        member("percent", COUNT),
        member("min_order_minor", MINOR),
        member("max_order_minor", MINOR),
        member("min_grams", COUNT),
        member("max_grams", COUNT),
        member("days_min", COUNT),
        member("days_max", COUNT),
        member("minute_of_day", COUNT),
        member("weekdays", COUNT),
    ])
}

/// Fields of a shipping term that the text does not state.
pub(crate) fn unknown_terms() -> Fields {
    Fields::from(vec![
        member("kind", TEXT),
        member("reason", TEXT),
        member("sentence", TEXT),
    ])
}

pub(crate) fn shipping_policies() -> SchemaRef {
    table(vec![
        bucket(),
        store(),
        brand_slug(),
        currency(),
        maybe(
            "free_shipping_threshold_minor",
            MINOR,
            "Minimum order value for free shipping, in minor units",
        ),
        maybe(
            "cod_available",
            FLAG,
            "Whether cash on delivery is possible; null if not stated",
        ),
        stated(
            "tiers",
            list_of(DataType::Struct(rates())),
            "Rates in the order of the text, with amounts in minor units",
        ),
        maybe("source_url", TEXT, "URL of the text of the terms"),
        maybe("observed_at", moment_type(), "Time when the text was read"),
        maybe(
            "facts",
            list_of(DataType::Struct(shipping_facts())),
            "Facts that the text states, each with its sentence",
        ),
        maybe(
            "unknown",
            list_of(DataType::Struct(unknown_terms())),
            "Terms that the text does not state, each with the reason",
        ),
        maybe(
            "cod_fee_minor",
            MINOR,
            "Fee for cash on delivery in addition to shipping, in minor units",
        ),
        maybe(
            "dispatch_days_min",
            COUNT,
            "Minimum number of days from order to dispatch",
        ),
        maybe(
            "dispatch_days_max",
            COUNT,
            "Maximum number of days from order to dispatch",
        ),
        maybe(
            "delivery_days_min",
            COUNT,
            "Minimum number of days in transit within the country",
        ),
        maybe(
            "delivery_days_max",
            COUNT,
            "Maximum number of days in transit within the country",
        ),
        maybe(
            "model_facts",
            list_of(DataType::Struct(shipping_facts())),
            "Facts that a language model read in the text, only of kinds that are missing in facts",
        ),
    ])
}
