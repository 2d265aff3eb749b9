//! The `Shop` object: data of a store about itself.

use iso_currency::Currency;
use serde_json::{Value, json};

use super::gid::gid;
use super::view::View;
use crate::answer::{POLICIES, Policy, policy};
use crate::generated::dice::fold_bytes;
use crate::places;

/// Countries that use feet and pounds.
const IMPERIAL: &[&str] = &["US", "LR", "MM"];

pub(super) fn shop(view: &View<'_>) -> Value {
    let shop = view.shop;
    let persona = shop.catalogue.persona();
    let fact_or = |key: &str, drawn: Value| shop.catalogue.fact(key).cloned().unwrap_or(drawn);
    let description = shop
        .catalogue
        .fact("description")
        .filter(|text| text.as_str().is_some_and(|text| !text.is_empty()));
    json!({
        "id": gid("Shop", persona.shop_id()),
        "name": shop.address.name,
        "description": description,
        // Only stores with newer accounts state an account URL.
        "customerAccountUrl": (!shop.has_passwords())
            .then(|| format!("https://shopify.com/{}/account", persona.shop_id())),
        "moneyFormat": fact_or("money_format", persona.coin.money_format.into()),
        "primaryDomain": {
            "host": shop.address.domain,
            "url": shop.address.base_url,
            "sslEnabled": false,
        },
        "brand": {
            "shortDescription": null, "slogan": null, "logo": null, "squareLogo": null, "coverImage": null,
        },
        "paymentSettings": payment_settings(view),
        "shipsToCountries": fact_or("ships_to_countries", json!([view.home()])),
        "shippingPolicy": policy_of(view, "shipping-policy"),
        "refundPolicy": policy_of(view, "refund-policy"),
        "privacyPolicy": policy_of(view, "privacy-policy"),
        "termsOfService": policy_of(view, "terms-of-service"),
        // Emulated stores sell no subscriptions.
        "subscriptionPolicy": null,
    })
}

fn policy_id(view: &View<'_>, handle: &str) -> u64 {
    view.shop.catalogue.persona().shop_id() ^ (fold_bytes(handle.as_bytes()) >> 32)
}

fn policy_of(view: &View<'_>, handle: &str) -> Value {
    let Some(Policy { handle, title, body }) = policy(view.shop, handle) else {
        return Value::Null;
    };
    json!({
        "__typename": "ShopPolicy",
        "id": gid("ShopPolicy", policy_id(view, handle)),
        "title": title,
        "handle": handle,
        "body": body,
        "url": format!("{}/policies/{handle}", view.shop.address.base_url),
    })
}

pub(super) fn payment_settings(view: &View<'_>) -> Value {
    let currency = view.currency();
    json!({
        "acceptedCardBrands": [],
        "cardVaultUrl": format!("{}/sessions", view.shop.address.base_url),
        "countryCode": view.home(),
        "currencyCode": currency,
        "enabledPresentmentCurrencies": [currency],
        "shopifyPaymentsAccountId": null,
        "supportedDigitalWallets": [],
    })
}

fn language(code: &str) -> Value {
    let name = if code == "EN" { "English" } else { code };
    json!({ "isoCode": code, "name": name, "endonymName": name })
}

/// Returns the market of the store. Every emulated store has one market and one currency.
fn market(view: &View<'_>) -> Value {
    let id = view.shop.catalogue.persona().shop_id() + 1;
    json!({ "__typename": "Market", "id": gid("Market", id), "handle": view.home().to_lowercase() })
}

fn country(view: &View<'_>, code: &str) -> Value {
    let name = places::name(code);
    let currency = view.currency();
    let known = Currency::from_code(currency);
    let unit_system = if IMPERIAL.contains(&code) {
        "IMPERIAL_SYSTEM"
    } else {
        "METRIC_SYSTEM"
    };
    json!({
        "isoCode": code,
        "name": name,
        "unitSystem": unit_system,
        "currency": {
            "isoCode": currency,
            "name": known.map_or_else(|| currency.to_owned(), |known| known.name().to_owned()),
            "symbol": known.map_or_else(|| currency.to_owned(), |known| known.symbol().to_string()),
        },
        "defaultLanguage": language("EN"),
        "availableLanguages": [language("EN")],
        "market": market(view),
    })
}

pub(super) fn localization(view: &View<'_>) -> Value {
    let ships_to = view.shop.catalogue.fact("ships_to_countries").and_then(Value::as_array);
    let codes: Vec<&str> = match ships_to {
        Some(listed) => listed.iter().filter_map(Value::as_str).collect(),
        None => vec![view.home()],
    };
    json!({
        "availableCountries": codes.iter().map(|code| country(view, code)).collect::<Vec<_>>(),
        "availableLanguages": [language("EN")],
        "country": country(view, view.country()),
        "language": language(view.language()),
        "market": market(view),
    })
}

/// Returns the parts of the store itself that have global ids.
pub(super) fn node(view: &View<'_>, kind: &str, id: u64) -> Option<Value> {
    let named = |kind: &str, mut value: Value| {
        value["__typename"] = kind.into();
        value
    };
    match kind {
        "Shop" => (id == view.shop.catalogue.persona().shop_id()).then(|| named("Shop", shop(view))),
        "Market" => Some(market(view)).filter(|market| market["id"] == gid("Market", id).as_str()),
        "ShopPolicy" => {
            let mut handles = POLICIES.iter().map(|(handle, _)| *handle);
            let handle = handles.find(|handle| policy_id(view, handle) == id)?;
            Some(policy_of(view, handle)).filter(|policy| !policy.is_null())
        }
        _ => None,
    }
}
