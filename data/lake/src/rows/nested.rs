//! Elements of list columns.

use data_model::{
    Attribute, DeliveryRate, FactBasis, Media, MediaKind, OptionValue, PaymentKind, ProductOption, ShippingFact,
    ShippingFactKind, ShippingRegion, UnknownReason, UnknownTerm,
};

use super::record::{list_elements, record};

list_elements! {
    OptionBuilder: "named_texts",
    AttributeBuilder: "named_texts",
    OptionValueBuilder: "option_value",
    MediaBuilder: "media",
    RateBuilder: "rate",
    FactBuilder: "fact",
    UnknownTermBuilder: "unknown_term",
}

record! {
    /// Builder of a product's options.
    OptionBuilder of ProductOption { name: String, values: Vec<String>, }
}

record! {
    /// Builder of a product's attributes.
    AttributeBuilder of Attribute { name: String, values: Vec<String>, }
}

record! {
    /// Builder of a variant's values of the product's options.
    OptionValueBuilder of OptionValue { name: String, value: String, }
}

record! {
    /// Builder of images and videos.
    MediaBuilder of Media {
        url: String,
        kind: MediaKind,
        alt: Option<String>,
        width: Option<u32>,
        height: Option<u32>,
    }
}

record! {
    /// Builder of delivery methods and their prices.
    RateBuilder of DeliveryRate {
        name: String,
        amount_minor: i64,
        min_order_minor: Option<i64>,
        max_order_minor: Option<i64>,
        days_min: Option<u16>,
        days_max: Option<u16>,
    }
}

record! {
    /// Builder of shipping terms that a store's text states.
    FactBuilder of ShippingFact {
        kind: ShippingFactKind,
        region: Option<ShippingRegion>,
        payment: Option<PaymentKind>,
        sentence: String,
        source_url: Option<String>,
        is_available: Option<bool>,
        in_working_days: Option<bool>,
        amount_minor: Option<i64>,
        amount_max_minor: Option<i64>,
        percent: Option<u16>,
        min_order_minor: Option<i64>,
        max_order_minor: Option<i64>,
        min_grams: Option<u32>,
        max_grams: Option<u32>,
        days_min: Option<u16>,
        days_max: Option<u16>,
        minute_of_day: Option<u16>,
        weekdays: Option<u8>,
    } with {
        basis: FactBasis::Rules,
    }
}

record! {
    /// Builder of shipping terms that the text does not state.
    UnknownTermBuilder of UnknownTerm { kind: ShippingFactKind, reason: UnknownReason, sentence: Option<String>, }
}
