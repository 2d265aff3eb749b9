//! Parts of a cart as values of the GraphQL schema.

use serde_json::{Value, json};

use super::text::moment;
use crate::cart::{Attribute, Cart, Notice, Place, Refusal};
use crate::cart_service::{Bill, BillLine, Rate};
use crate::discount::{Allocation, Class, DiscountRule, DiscountValue};
use crate::money::decimal_of;

#[derive(Debug, Clone)]
pub(super) struct Coinage {
    pub(super) currency: String,
    pub(super) exponent: u32,
}

impl Coinage {
    pub(super) fn money(&self, minor: u64) -> Value {
        json!({ "amount": decimal_of(minor, self.exponent), "currencyCode": self.currency })
    }
}

pub(super) fn cart_id(cart: &Cart, with_key: bool) -> String {
    if with_key {
        format!("gid://shopify/Cart/{}?key={}", cart.token, cart.key)
    } else {
        format!("gid://shopify/Cart/{}", cart.token)
    }
}

pub(super) fn line_id(cart: &Cart, line: uuid::Uuid) -> String {
    format!("gid://shopify/CartLine/{line}?cart={}", cart.token)
}

pub(super) fn attribute(attributes: &[Attribute], key: &str) -> Value {
    let found = attributes.iter().find(|known| known.key == key);
    json!(found)
}

pub(super) fn cost(bill: &Bill, coins: &Coinage) -> Value {
    let subtotal = coins.money(bill.subtotal_minor);
    json!({
        // As recorded, this stays at the subtotal and ignores discounts and gift cards.
        "checkoutChargeAmount": subtotal,
        "subtotalAmount": subtotal,
        "subtotalAmountEstimated": true,
        "totalAmount": coins.money(bill.total_minor),
        "totalAmountEstimated": true,
        "totalDutyAmount": null,
        "totalDutyAmountEstimated": true,
        "totalTaxAmount": null,
        "totalTaxAmountEstimated": true,
    })
}

pub(super) fn line_cost(line: &BillLine, coins: &Coinage) -> Value {
    let unit = coins.money(line.offer.unit_minor);
    let compare_at = line.offer.compare_at_minor.map(|minor| coins.money(minor));
    json!({
        "amountPerQuantity": unit,
        "amount": unit,
        "compareAtAmountPerQuantity": compare_at,
        "compareAtAmount": compare_at,
        "subtotalAmount": coins.money(line.subtotal_minor()),
        "totalAmount": coins.money(line.total_minor),
    })
}

pub(super) fn allocation(allocation: &Allocation, rules: &[DiscountRule], coins: &Coinage) -> Option<Value> {
    let rule = rules.get(allocation.rule)?;
    let target = match allocation.class {
        Class::Shipping => "SHIPPING_LINE",
        Class::Order | Class::Product => "LINE_ITEM",
    };
    let (method, value) = match rule.takes {
        DiscountValue::Percentage { percent } => ("ACROSS", percentage(percent)),
        DiscountValue::Amount {
            amount_minor,
            each_item,
        } => {
            let mut value = coins.money(amount_minor);
            value["__typename"] = "MoneyV2".into();
            (if each_item { "EACH" } else { "ACROSS" }, value)
        }
        DiscountValue::Shipping => ("EACH", percentage(100)),
    };
    let selection = if rule.products.is_empty() { "ALL" } else { "ENTITLED" };
    let kind = match rule.code {
        Some(_) => "CartCodeDiscountAllocation",
        None => "CartAutomaticDiscountAllocation",
    };
    Some(json!({
        "__typename": kind,
        "code": rule.code,
        "title": rule.name(),
        "discountedAmount": coins.money(allocation.amount_minor),
        "targetType": target,
        "discountApplication": {
            "allocationMethod": method,
            "targetSelection": selection,
            "targetType": target,
            "value": value,
        },
    }))
}

fn percentage(percent: u32) -> Value {
    json!({ "__typename": "PricingPercentageValue", "percentage": f64::from(percent) })
}

pub(super) fn codes(bill: &Bill) -> Value {
    let codes = bill.applied.codes.iter();
    let codes = codes.map(|verdict| json!({ "code": verdict.code, "applicable": verdict.applicable }));
    codes.collect::<Vec<_>>().into()
}

pub(super) fn addresses(cart: &Cart, only_selected: bool) -> Value {
    let listed = cart
        .addresses
        .iter()
        .filter(|address| address.is_selected || !only_selected);
    let listed = listed.map(|address| {
        json!({
            "id": format!("gid://shopify/CartSelectableAddress/{}", address.id),
            "selected": address.is_selected,
            "oneTimeUse": address.is_for_once,
            "address": cart_address(&address.place),
        })
    });
    listed.collect::<Vec<_>>().into()
}

fn cart_address(place: &Place) -> Value {
    json!({
        "__typename": "CartDeliveryAddress",
        "firstName": place.first_name,
        "lastName": place.last_name,
        "company": place.company,
        "address1": place.address1,
        "address2": place.address2,
        "city": place.city,
        "provinceCode": place.province,
        "countryCode": place.country,
        "zip": place.zip,
        "phone": place.phone,
        "name": place.name(),
        "formatted": place.formatted(),
        "formattedArea": place.area(),
        "latitude": null,
        "longitude": null,
    })
}

/// Returns the address of a delivery group. The platform swaps zone and country there, and so does the emulator.
pub(super) fn group_address(place: &Place) -> Value {
    let bare = Place {
        province: None,
        country: None,
        ..place.clone()
    };
    let area: Vec<&str> = [&place.city, &place.province]
        .into_iter()
        .filter_map(|part| part.as_deref())
        .collect();
    json!({
        "id": "gid://shopify/MailingAddress/0?model_name=Address",
        "firstName": place.first_name,
        "lastName": place.last_name,
        "company": place.company,
        "address1": place.address1,
        "address2": place.address2,
        "city": place.city,
        "province": place.province,
        "provinceCode": null,
        "country": place.country,
        "countryCode": "*",
        "countryCodeV2": "ZZ",
        "zip": place.zip,
        "phone": place.phone,
        "name": place.name(),
        "formatted": bare.formatted(),
        "formattedArea": (!area.is_empty()).then(|| area.join(" ")),
        "latitude": null,
        "longitude": null,
    })
}

pub(super) fn rate(rate: &Rate, coins: &Coinage) -> Value {
    json!({
        "handle": rate.handle,
        "code": rate.title,
        "title": rate.title,
        "description": rate.description,
        "deliveryMethodType": "SHIPPING",
        "estimatedCost": coins.money(rate.cost_minor),
    })
}

pub(super) fn refusals(errors: &[Refusal]) -> Value {
    let errors = errors
        .iter()
        .map(|error| json!({ "code": error.code, "field": error.field, "message": error.message }));
    errors.collect::<Vec<_>>().into()
}

pub(super) fn warnings(cart: Option<&Cart>, notices: &[Notice]) -> Value {
    let Some(cart) = cart else {
        return Value::Array(Vec::new());
    };
    let told = notices.iter().map(|notice| {
        let target = notice
            .line
            .map_or_else(|| cart_id(cart, false), |line| line_id(cart, line));
        json!({ "code": notice.code, "message": notice.message, "target": target })
    });
    told.collect::<Vec<_>>().into()
}

pub(super) fn dates(cart: &Cart) -> (String, String) {
    (moment(cart.created_at), moment(cart.updated_at))
}
