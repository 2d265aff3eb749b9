//! JSON of the platform's responses.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payload {
    pub(super) cart: Option<Cart>,
    #[serde(default)]
    pub(super) user_errors: Vec<UserError>,
    #[serde(default)]
    pub(super) warnings: Vec<Warning>,
}

#[derive(Debug, Deserialize)]
pub(super) struct UserError {
    pub(super) code: Option<String>,
    pub(super) field: Option<Vec<String>>,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Warning {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) target: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cart {
    pub(super) id: String,
    pub(super) checkout_url: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) cost: Cost,
    pub(super) discount_codes: Vec<Code>,
    pub(super) discount_allocations: Vec<Allocation>,
    pub(super) delivery: Delivery,
    pub(super) delivery_groups: Nodes<DeliveryGroup>,
    pub(super) lines: Nodes<Line>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Attribute {
    pub(super) key: String,
    pub(super) value: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cost {
    pub(super) total_amount: Amount,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Amount {
    pub(super) amount: String,
    pub(super) currency_code: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Code {
    pub(super) code: String,
    pub(super) applicable: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Allocation {
    pub(super) target_type: String,
    pub(super) discounted_amount: Amount,
    #[serde(default)]
    pub(super) discount_application: Option<Application>,
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) title: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Application {
    #[serde(default)]
    pub(super) value: Option<ApplicationValue>,
}

/// Object with one key. The name of the key states how the discount is defined.
#[derive(Debug, Deserialize)]
pub(super) struct ApplicationValue {
    #[serde(default)]
    pub(super) percentage: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    pub(super) amount: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delivery {
    pub(super) addresses: Vec<Address>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Address {
    pub(super) selected: bool,
    pub(super) address: DeliveryAddress,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryAddress {
    #[serde(default)]
    pub(super) zip: Option<String>,
    #[serde(default)]
    pub(super) country_code: Option<String>,
    #[serde(default)]
    pub(super) province_code: Option<String>,
    #[serde(default)]
    pub(super) city: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Nodes<T> {
    pub(super) nodes: Vec<T>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryGroup {
    pub(super) id: String,
    pub(super) delivery_options: Vec<DeliveryOption>,
    pub(super) selected_delivery_option: Option<SelectedOption>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryOption {
    pub(super) handle: String,
    pub(super) code: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) estimated_cost: Amount,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectedOption {
    pub(super) handle: String,
    pub(super) estimated_cost: Amount,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) quantity: u32,
    #[serde(default)]
    pub(super) attributes: Vec<serde::de::IgnoredAny>,
    pub(super) merchandise: Merchandise,
    pub(super) cost: LineCost,
    pub(super) discount_allocations: Vec<Allocation>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Merchandise {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) available_for_sale: bool,
    pub(super) image: Option<Image>,
    pub(super) product: Product,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Product {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) featured_image: Option<Image>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Image {
    pub(super) url: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LineCost {
    pub(super) amount_per_quantity: Amount,
    pub(super) subtotal_amount: Amount,
    pub(super) total_amount: Amount,
}
