//! Delivery rates of a session's cart for an address that names country and province.

use serde_json::{Value, json};

use super::session::{Session, named, posted_form};
use super::written;
use crate::ask::{Ask, FormField};
use crate::cart::{Cart, Place};
use crate::cart_service::{CartAccess, CartService, Rate, rates};
use crate::money::decimal_of;
use crate::places;
use crate::reply::Reply;

/// Number of times that a client must poll before prepared rates are ready.
const POLLS: u8 = 2;

/// Returns the address in a request and the session's cart, or the platform's refusal.
fn asked(service: &CartService<'_>, session: &Session, ask: &Ask) -> Result<(Cart, Place), Box<Reply>> {
    let mut given = ask.parameters();
    given.extend(posted_form(ask));
    let address: Vec<FormField> = named(&given, "shipping_address").collect();
    let part = |name: &str| {
        let found = address.iter().find(|field| field.name == name);
        found
            .map(|field| field.value.trim().to_owned())
            .filter(|value| !value.is_empty())
    };
    let refused = |errors: Value| Err(Box::new(written(422, &errors)));
    let Some(cart) = session.cart(service).filter(|cart| !cart.lines.is_empty()) else {
        return refused(json!({ "cart": ["is empty"] }));
    };
    if !service.bill(&cart).lines.iter().any(|line| line.offer.is_delivered()) {
        return refused(json!({ "error": ["This cart does not require shipping"] }));
    }
    let country = part("country").unwrap_or_default();
    let Some(code) = places::code(&country) else {
        return refused(json!({ "country": ["is not supported"] }));
    };
    let mut wrong = serde_json::Map::new();
    let province = part("province");
    if province
        .as_deref()
        .is_some_and(|province| !places::names_zone(code, province))
    {
        wrong.insert("province".to_owned(), json!(["is invalid"]));
    }
    let zip = part("zip");
    if zip.as_deref().is_some_and(|zip| !places::is_zip(code, zip)) {
        wrong.insert(
            "zip".to_owned(),
            json!([format!("is not valid for {}", places::name(code))]),
        );
    }
    if !wrong.is_empty() {
        return refused(wrong.into());
    }
    let place = Place {
        country: Some(code.to_owned()),
        province,
        zip,
        city: part("city"),
        ..Place::default()
    };
    Ok((cart, place))
}

/// Handles `/cart/shipping_rates.json`, which returns the rates in its first response.
pub(super) fn now(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    match asked(service, session, ask) {
        Ok((cart, place)) => told(service, &cart, &place),
        Err(refused) => *refused,
    }
}

/// Handles `/cart/prepare_shipping_rates.json` with 202. The client then polls for the rates.
pub(super) fn prepare(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    let (cart, place) = match asked(service, session, ask) {
        Ok(asked) => asked,
        Err(refused) => return *refused,
    };
    service.change(Some(CartAccess::of(&cart)), |cart, _| {
        cart.estimate = Some((place, 0));
        Ok(Vec::new())
    });
    written(202, &Value::Null)
}

/// Handles `/cart/async_shipping_rates.json` with 202 until the rates are ready.
pub(super) fn poll(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    let (cart, place) = match asked(service, session, ask) {
        Ok(asked) => asked,
        Err(refused) => return *refused,
    };
    let polls = match &cart.estimate {
        Some((prepared, polls)) if *prepared == place => *polls + 1,
        _ => return written(202, &Value::Null),
    };
    if polls >= POLLS {
        return told(service, &cart, &place);
    }
    service.change(Some(CartAccess::of(&cart)), |cart, _| {
        cart.estimate = Some((place, polls));
        Ok(Vec::new())
    });
    written(202, &Value::Null)
}

fn told(service: &CartService<'_>, cart: &Cart, place: &Place) -> Reply {
    let bill = service.bill(cart);
    let listed = rates(service.shop, bill.applied.goods_minor, bill.grams, place);
    let listed: Vec<Value> = listed.iter().map(|rate| value(service, rate)).collect();
    written(200, &json!({ "shipping_rates": listed }))
}

/// Returns one rate as JSON. The price of a rate is a decimal text, unlike all other amounts of the Ajax cart.
fn value(service: &CartService<'_>, rate: &Rate) -> Value {
    let price = decimal_of(rate.cost_minor, service.offers.exponent());
    let (whole, fraction) = price.split_once('.').unwrap_or((&price, "0"));
    json!({
        "name": rate.title,
        "presentment_name": rate.title,
        "code": rate.title,
        "price": format!("{whole}.{fraction:0<2}"),
        "markup": "0.00",
        "source": "shopify",
        "delivery_date": null,
        "delivery_range": null,
        "delivery_days": [],
        "compare_price": null,
        "phone_required": false,
        "currency": service.offers.currency(),
        "carrier_identifier": null,
        "delivery_category": null,
        "using_merchant_account": null,
        "carrier_service_id": null,
        "description": rate.description,
        "api_client_id": null,
        "requested_fulfillment_service_id": null,
        "shipment_options": null,
        "charge_items": null,
        "has_restrictions": false,
        "rating_classification": null,
        "accepts_instructions": true,
    })
}
