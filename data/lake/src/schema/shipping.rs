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
            "Order value from which shipping is free, in minor units",
        ),
        maybe("cod_available", FLAG, "Cash on delivery; null when nothing is said"),
        stated(
            "tiers",
            list_of(DataType::Struct(rates())),
            "Rates in the order stated, amounts in minor units",
        ),
        maybe("source_url", TEXT, "Where the text of the terms stands"),
        maybe("observed_at", moment_type(), "When the text was read"),
        maybe(
            "facts",
            list_of(DataType::Struct(shipping_facts())),
            "What the text says, fact by fact, each with its sentence",
        ),
        maybe(
            "unknown",
            list_of(DataType::Struct(unknown_terms())),
            "What the text does not tell, with the reason",
        ),
        maybe("cod_fee_minor", MINOR, "What cash on delivery costs beside shipping"),
        maybe("dispatch_days_min", COUNT, "Fewest days from the order to the dispatch"),
        maybe("dispatch_days_max", COUNT, "Most days from the order to the dispatch"),
        maybe("delivery_days_min", COUNT, "Fewest days in transit within the country"),
        maybe("delivery_days_max", COUNT, "Most days in transit within the country"),
        maybe(
            "model_facts",
            list_of(DataType::Struct(shipping_facts())),
            "Facts that a language model read in the text, of kinds that facts has none of",
        ),
    ])
}
