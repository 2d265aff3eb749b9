//! Checks once if a store that does not sell in Indian rupees ships to India at all.

use data_model::{Brand, Confidence, DeliveryZone, KnownDelivery, Timestamp};
use data_pincodes::directory;
use serde::Deserialize;
use serde_json::{Value, json};
use storefront::{Effect, GraphqlRequest, Store, documents};

use crate::ask::AskError;

const HOME: &str = "IN";
const EVERYWHERE: &str = "*";

#[derive(Deserialize)]
struct ShopAnswer {
    shop: Shop,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shop {
    #[serde(default)]
    ships_to_countries: Vec<String>,
}

/// Returns true if the store's list of shipping countries contains India, and `None` if the store lists no countries.
pub(crate) async fn ships_to_india(store: &Store) -> Result<Option<bool>, AskError> {
    let request = GraphqlRequest::new(documents::SHOP_COUNTRIES, "ShopCountries", json!({}));
    let answer = Box::pin(store.graphql(&request, Effect::Safe)).await?;
    let unreadable = |error: serde_json::Error| AskError::Unreadable(error.to_string());
    let data = answer.data.ok_or_else(|| AskError::Unreadable("no data".to_owned()))?;
    let data: Value = serde_json::from_str(data.get()).map_err(unreadable)?;
    let ShopAnswer { shop } = serde_json::from_value(data).map_err(unreadable)?;
    let countries = shop.ships_to_countries;
    let is_home = |code: &String| code == HOME || code == EVERYWHERE;
    Ok((!countries.is_empty()).then(|| countries.iter().any(is_home)))
}

/// Returns the delivery data of a store that does not ship to India: it delivers to no pincode.
pub(crate) fn nowhere(brand: &Brand, asked_at: Timestamp) -> KnownDelivery {
    let areas = directory().areas().iter().map(|area| area.name.to_string());
    let zone = DeliveryZone {
        zone: "z1".to_owned(),
        confidence: Confidence::High,
        areas: areas.collect(),
        serviceable: Some(false),
        days_min: None,
        days_max: None,
        currency: brand.currency,
        rates: Vec::new(),
        probes: 1,
        sampled_at: asked_at,
    };
    KnownDelivery {
        zones: vec![zone],
        ..KnownDelivery::default()
    }
}
