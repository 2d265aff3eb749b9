//! Creates, changes and reads one cart at a store.

use data_model::{CurrencyCode, DeliveryRate, Money, Pincode, delivery_days};
use data_pincodes::directory;
use pipeline_delivery::{Cart, Question};
use serde::Deserialize;
use serde_json::{Value, json};
use storefront::{Effect, GraphqlRequest, Store, StoreError, documents};

#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store refused the request, for example with `INVALID`.
    #[error("the store refuses the call: {0}")]
    Refused(String),
    /// The answer is not a readable cart.
    #[error("the store's answer cannot be parsed: {0}")]
    Unreadable(String),
    /// The goods in the cart are sold out or have another price. The data in the lake is too old.
    #[error("the cart differs from the catalogue")]
    OtherGoods,
}

/// Cart that was created at the store. The cart's id grants access to the cart, so that it is not shown.
pub(crate) struct ProbeCart {
    id: String,
    lines: Vec<String>,
    pub(crate) cart: Cart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    cart: Option<CreatedCart>,
    #[serde(default)]
    user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
struct UserError {
    code: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedCart {
    id: String,
    cost: Cost,
    delivery_groups: Nodes<Group>,
    lines: Nodes<Line>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    subtotal_amount: Amount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Amount {
    amount: String,
    currency_code: String,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    delivery_options: Vec<DeliveryOption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryOption {
    title: Option<String>,
    description: Option<String>,
    estimated_cost: Amount,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    quantity: u32,
    cost: LineCost,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LineCost {
    total_amount: Amount,
}

/// Maximum number of rates stored per answer, and maximum number of characters of a rate's name.
const OPTIONS_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 80;

pub(crate) async fn make(
    store: &Store,
    question: &Question,
    currency: CurrencyCode,
) -> Result<(ProbeCart, Vec<DeliveryRate>), AskError> {
    let Cart { variant, quantity, .. } = question.cart;
    let line = json!({ "merchandiseId": format!("gid://shopify/ProductVariant/{variant}"), "quantity": quantity });
    let input = json!({
        "lines": [line],
        "buyerIdentity": { "countryCode": "IN" },
        "delivery": { "addresses": [address(question.pincode)] },
    });
    let request = GraphqlRequest::new(documents::CART_CREATE, "CartCreate", json!({ "input": input }));
    // If the answer with the cart's id is lost, the cart stays behind. The store deletes it after some time.
    let told = mutate(store, &request, "cartCreate", Effect::Unsafe).await?;
    let options = read(&told, &question.cart, currency);
    let made = ProbeCart {
        id: told.id,
        lines: told.lines.nodes.into_iter().map(|line| line.id).collect(),
        cart: question.cart,
    };
    match options {
        Ok(options) => Ok((made, options)),
        Err(error) => {
            if let Err(fault) = empty(store, &made).await {
                tracing::debug!(%fault, "the cart of a probe could not be emptied");
            }
            Err(error)
        }
    }
}

/// Changes the cart's delivery address to another pincode and reads the answer.
pub(crate) async fn readdress(
    store: &Store,
    made: &ProbeCart,
    pincode: Pincode,
    currency: CurrencyCode,
) -> Result<Vec<DeliveryRate>, AskError> {
    let variables = json!({ "cartId": made.id, "addresses": [address(pincode)] });
    let request = GraphqlRequest::new(documents::CART_ADDRESSES, "CartAddresses", variables);
    let told = mutate(store, &request, "cartDeliveryAddressesReplace", Effect::Idempotent).await?;
    read(&told, &made.cart, currency)
}

pub(crate) async fn empty(store: &Store, made: &ProbeCart) -> Result<(), AskError> {
    let variables = json!({ "cartId": made.id, "lineIds": made.lines });
    let request = GraphqlRequest::new(documents::CART_LINES_REMOVE, "CartLinesRemove", variables);
    mutate(store, &request, "cartLinesRemove", Effect::Idempotent)
        .await
        .map(drop)
}

/// The address has no personal data.
fn address(pincode: Pincode) -> Value {
    let area = directory().area(pincode).and_then(|area| directory().get(area));
    let mut place = json!({ "zip": pincode.to_string(), "countryCode": "IN" });
    if let Some(code) = area.and_then(data_pincodes::Area::province_code) {
        place["provinceCode"] = json!(code);
    }
    if let Some(district) = area.and_then(|area| area.district.as_deref()) {
        place["city"] = json!(district);
    }
    json!({ "address": { "deliveryAddress": place }, "selected": true, "oneTimeUse": false })
}

async fn mutate(store: &Store, request: &GraphqlRequest, field: &str, effect: Effect) -> Result<CreatedCart, AskError> {
    let answer = Box::pin(store.graphql(request, effect)).await?;
    if let Some(error) = answer.errors.first() {
        return Err(AskError::Refused(error.code.clone().unwrap_or_default()));
    }
    let unreadable = |error: serde_json::Error| AskError::Unreadable(error.to_string());
    let data = answer.data.ok_or_else(|| AskError::Unreadable("no data".to_owned()))?;
    let mut data: serde_json::Map<String, Value> = serde_json::from_str(data.get()).map_err(unreadable)?;
    let payload = data.remove(field).unwrap_or_default();
    let payload: Payload = serde_json::from_value(payload).map_err(unreadable)?;
    if let Some(error) = payload.user_errors.into_iter().next() {
        return Err(AskError::Refused(error.code.unwrap_or_default()));
    }
    payload.cart.ok_or_else(|| AskError::Unreadable("no cart".to_owned()))
}

/// Returns the delivery rates, cheapest first. Fails if the cart does not contain the requested goods.
fn read(told: &CreatedCart, cart: &Cart, currency: CurrencyCode) -> Result<Vec<DeliveryRate>, AskError> {
    let options = told
        .delivery_groups
        .nodes
        .iter()
        .flat_map(|group| &group.delivery_options);
    let mut rates = options
        .take(OPTIONS_MAX)
        .map(|option| rate(option, currency))
        .collect::<Result<Vec<_>, _>>()?;
    rates.sort_by(|one, other| (one.amount_minor, &one.name).cmp(&(other.amount_minor, &other.name)));
    let mut quantity = 0_u32;
    for line in &told.lines.nodes {
        // A free gift that the store adds is not one of the requested goods.
        if minor(&line.cost.total_amount, currency)? > 0 {
            quantity = quantity.saturating_add(line.quantity);
        }
    }
    // If the address has no delivery, the platform may remove the goods from the cart.
    if quantity == 0 && rates.is_empty() {
        return Ok(rates);
    }
    let goods_minor = minor(&told.cost.subtotal_amount, currency)?;
    if quantity == cart.quantity && goods_minor == cart.goods_minor {
        Ok(rates)
    } else {
        Err(AskError::OtherGoods)
    }
}

fn rate(option: &DeliveryOption, currency: CurrencyCode) -> Result<DeliveryRate, AskError> {
    let title = option.title.as_deref().unwrap_or_default();
    let stated = option
        .description
        .as_deref()
        .and_then(delivery_days)
        .or_else(|| delivery_days(title));
    Ok(DeliveryRate {
        name: title.chars().take(NAME_CHARS_MAX).collect(),
        amount_minor: minor(&option.estimated_cost, currency)?,
        min_order_minor: None,
        max_order_minor: None,
        days_min: stated.map(|days| days.0),
        days_max: stated.map(|days| days.1),
    })
}

fn minor(amount: &Amount, currency: CurrencyCode) -> Result<i64, AskError> {
    let unreadable = || AskError::Unreadable(format!("an amount of {}", amount.currency_code));
    if amount.currency_code != currency.as_str() {
        return Err(unreadable());
    }
    let money = Money::parse_decimal(&amount.amount, currency).map_err(|_| unreadable())?;
    Ok(money.minor())
}
