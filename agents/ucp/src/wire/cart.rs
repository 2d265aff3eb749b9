use serde::{Deserialize, Serialize};

/// Cart of the REST API, always with items of one brand here.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Cart {
    pub(crate) cart_id: String,
    pub(crate) expires_at: String,
    pub(crate) groups: Vec<Group>,
    pub(crate) problems: Vec<Problem>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Group {
    pub(crate) brand: String,
    pub(crate) currency: String,
    pub(crate) verified: bool,
    pub(crate) lines: Vec<Line>,
    pub(crate) subtotal_minor: i64,
    pub(crate) discount_minor: i64,
    pub(crate) delivery_minor: i64,
    pub(crate) other_minor: i64,
    pub(crate) total_minor: i64,
    #[serde(default)]
    pub(crate) discount_codes: Vec<Code>,
    #[serde(default)]
    pub(crate) automatic_discounts: Vec<AutomaticDiscount>,
    pub(crate) checkout_url: String,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Line {
    pub(crate) line_id: String,
    pub(crate) product_id: String,
    pub(crate) variant_id: String,
    pub(crate) title: String,
    pub(crate) variant_title: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) qty: u32,
    pub(crate) requested_qty: u32,
    pub(crate) available: bool,
    pub(crate) unit_price_minor: i64,
    #[serde(default)]
    pub(crate) price_held: Option<bool>,
    #[serde(default)]
    pub(crate) price_changed: Option<PriceChange>,
    pub(crate) line_total_minor: i64,
    pub(crate) discount_minor: i64,
}

/// Discount code, with the store's verdict.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Code {
    pub(crate) code: String,
    pub(crate) applicable: bool,
    pub(crate) discount_minor: i64,
    #[serde(default)]
    pub(crate) refusal: Option<CodeRefusal>,
}

/// Store's reason for not applying a code, if stated.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CodeRefusal {
    pub(crate) store_code: Option<String>,
    pub(crate) detail: Option<String>,
}

/// Discount that needs no code.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AutomaticDiscount {
    pub(crate) title: String,
    pub(crate) discount_minor: i64,
}

/// Price that the buyer was shown, and the store's current price.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct PriceChange {
    pub(crate) shown_minor: i64,
    pub(crate) shown_currency: String,
    pub(crate) now_minor: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Warning {
    pub(crate) code: String,
    pub(crate) detail: String,
    #[serde(default)]
    pub(crate) line_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Problem {
    pub(crate) code: String,
    /// Reason why repeating the request will not help.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    pub(crate) detail: String,
}

/// Checkouts of the brands, each with the token that names the service that sent the buyer.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Checkout {
    pub(crate) checkouts: Vec<BrandCheckout>,
    pub(crate) problems: Vec<Problem>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BrandCheckout {
    pub(crate) checkout_url: String,
    pub(crate) attribution_token: String,
}
