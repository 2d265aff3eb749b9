//! Changes to a running store, requested over HTTP or by the program that runs the emulator.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::change::{Change, ChangeTarget};
use crate::discount::{DiscountRule, RULES_MAX};
use crate::error::ChangeError;
use crate::item::Item;
use crate::product::Product;
use crate::reply::Reply;
use crate::shop::Shop;

/// Path at which a store accepts changes if the configuration allows them.
pub(crate) const CONTROL_PATH: &str = "/emulator/change";

/// Handles a change requested over HTTP.
///
/// Only a JSON content type is accepted, because a web page cannot send JSON to another origin without a preflight
/// request.
pub(crate) fn control(shop: &Shop, ask: &Ask) -> Reply {
    if !ask.is_json() {
        return refused(415, "the body must be of type application/json");
    }
    let change: Change = match serde_json::from_slice(&ask.body) {
        Ok(change) => change,
        Err(error) => return refused(400, &format!("the body is no change: {error}")),
    };
    match make(shop, change) {
        Ok(changed) => Reply::json_of(200, &json!(changed)),
        Err(error @ (ChangeError::UnknownItem { .. } | ChangeError::UnknownDiscount { .. })) => {
            refused(404, &error.to_string())
        }
        Err(error) => refused(422, &error.to_string()),
    }
}

fn refused(status: u16, why: &str) -> Reply {
    let body: Value = json!({ "error": why });
    Reply::json_of(status, &body)
}

pub(crate) fn make(shop: &Shop, change: Change) -> Result<ChangeTarget, ChangeError> {
    let changes = &shop.catalogue.changes;
    match change {
        Change::Reprice { item, price } => {
            let target = find(shop, &item)?;
            let prices = target
                .variants
                .iter()
                .map(|(id, was)| Ok((*id, repriced(&price, was)?)))
                .collect::<Result<_, ChangeError>>()?;
            changes.reprice(target.product, prices);
            Ok(target.changed())
        }
        Change::SetStock { item, quantity } => {
            let target = find(shop, &item)?;
            let stock = target.variants.iter().map(|(id, _)| (*id, quantity));
            changes.set_stock(target.product, stock.collect());
            Ok(target.changed())
        }
        Change::RemoveProduct { item } => {
            let target = find(shop, &item)?;
            changes.remove(target.product);
            Ok(target.changed())
        }
        Change::Restore { item: Some(item) } => {
            let target = find(shop, &item)?;
            changes.restore(target.product);
            Ok(target.changed())
        }
        Change::Restore { item: None } => {
            changes.restore_all();
            Ok(ChangeTarget::default())
        }
        Change::AddDiscount { rule } => add_discount(shop, rule),
        Change::RemoveDiscount { name } => {
            if shop.discounts.remove(&shop.catalogue, &name) {
                Ok(ChangeTarget::default())
            } else {
                Err(ChangeError::UnknownDiscount { name })
            }
        }
        Change::DeliverBy { rules } => {
            shop.set_zone_rules(rules);
            Ok(ChangeTarget::default())
        }
        Change::Faults { rules } => {
            shop.forget_shift();
            shop.faults().replace(rules);
            Ok(ChangeTarget::default())
        }
    }
}

fn add_discount(shop: &Shop, rule: DiscountRule) -> Result<ChangeTarget, ChangeError> {
    if !rule.is_sound() {
        let name = rule.name().to_owned();
        return Err(ChangeError::Discount { name });
    }
    if shop.discounts.add(&shop.catalogue, rule) {
        Ok(ChangeTarget::default())
    } else {
        Err(ChangeError::Discounts { most: RULES_MAX })
    }
}

/// Returns the new price with as many decimals as the old one.
fn repriced(price: &str, was: &str) -> Result<String, ChangeError> {
    let decimals = was.split_once('.').map_or(0, |(_, rest)| rest.len());
    let refused = || ChangeError::Price {
        price: price.to_owned(),
        decimals,
    };
    let (whole, fraction) = price.trim().split_once('.').unwrap_or((price.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = fraction.trim_end_matches('0');
    let fits = !whole.is_empty() && whole.len() <= 12 && is_number(whole) && is_number(fraction);
    if !fits || fraction.len() > decimals {
        return Err(refused());
    }
    let whole = Some(whole.trim_start_matches('0'))
        .filter(|text| !text.is_empty())
        .unwrap_or("0");
    Ok(if decimals == 0 {
        whole.to_owned()
    } else {
        format!("{whole}.{fraction:0<decimals$}")
    })
}

/// Product to be changed, with its earlier changes applied.
struct Target {
    product: u64,
    handle: String,
    /// Ids and prices of the variants to change.
    variants: Vec<(u64, String)>,
}

impl Target {
    fn of(product: Product, only: Option<u64>) -> Self {
        let meant = |id: u64| only.is_none_or(|only| only == id);
        let variants = product.variants.into_iter().filter(|variant| meant(variant.id));
        Self {
            product: product.id,
            handle: product.handle,
            variants: variants.map(|variant| (variant.id, variant.price)).collect(),
        }
    }

    fn changed(self) -> ChangeTarget {
        ChangeTarget {
            product: Some(self.product),
            handle: Some(self.handle),
            variants: self.variants.into_iter().map(|(id, _)| id).collect(),
        }
    }
}

/// Finds the product and the variants that an item names, even if the product was removed on demand.
fn find(shop: &Shop, item: &Item) -> Result<Target, ChangeError> {
    let epoch = shop.epoch();
    let by_id = |id: u64| {
        let variant = shop.catalogue.lookup_variant(id, epoch).map(|place| (place, Some(id)));
        variant.or_else(|| Some((shop.catalogue.lookup_product(id, epoch)?, None)))
    };
    let found = match item {
        Item::Id(id) => by_id(*id),
        Item::Name(name) => {
            let by_handle = shop.catalogue.lookup(name, epoch).map(|place| (place, None));
            by_handle.or_else(|| by_id(name.rsplit('/').next()?.parse().ok()?))
        }
    };
    found
        .and_then(|(place, only)| Some(Target::of(shop.product(place)?, only)))
        .ok_or_else(|| ChangeError::UnknownItem { item: item.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_new_price_has_the_decimals_of_the_old() {
        assert_eq!(repriced("5", "499.00").unwrap(), "5.00");
        assert_eq!(repriced("5.5", "499.00").unwrap(), "5.50");
        assert_eq!(repriced("1200.00", "900").unwrap(), "1200");
        assert_eq!(repriced("0012.250", "1.500").unwrap(), "12.250");
        assert_eq!(repriced("0", "1.50").unwrap(), "0.00");
        for nonsense in ["", "free", "-1", "1.005", "1,50", ".", "1.2.3", "1e3"] {
            assert!(repriced(nonsense, "1.50").is_err(), "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_is_the_same_amount(minor in 0u64..1_000_000_000, decimals in 0usize..4) {
            let mut text = Vec::new();
            crate::json::push_amount(&mut text, minor, decimals as u32);
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(repriced(&text, &text).unwrap(), text);
        }
    }
}
