use std::cmp::Ordering;

use serde_json::{Value, json};

use super::connection::Entry;
use super::money;
use super::view::View;
use crate::answer::Product;
use crate::catalogue::Places;

/// The sort key of a list.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) enum Key {
    Whole(u64),
    Price(f64),
    Text(String),
}

impl Key {
    fn value(&self) -> Value {
        match self {
            Self::Whole(number) => json!(number),
            Self::Price(price) => json!(price),
            Self::Text(text) => json!(text),
        }
    }
}

/// Sorts items, each with its id, by their keys, and equal ones by id.
pub(super) fn sorted<T>(mut items: Vec<(Key, u64, T)>, reverse: bool) -> Vec<Entry<T>> {
    items.sort_by(|(one, one_id, _), (two, two_id, _)| {
        let order = one.partial_cmp(two).unwrap_or(Ordering::Equal).then(one_id.cmp(two_id));
        if reverse { order.reverse() } else { order }
    });
    let entries = items.into_iter().map(|(key, id, item)| Entry {
        id,
        value: key.value(),
        item,
    });
    entries.collect()
}

/// The places of products in the order of a sort key, those that `keep` keeps. Products are read only where the key or
/// `keep` needs more than their id.
pub(super) fn products(
    view: &View<'_>,
    places: &Places,
    (key, reverse): (&str, bool),
    keep: Option<&dyn Fn(&Product) -> bool>,
) -> Vec<Entry<u64>> {
    let listed = (0..places.len()).filter_map(|nth| Some((nth, places.get(nth)?)));
    let items = listed.filter_map(|(nth, place)| {
        if keep.is_none() && !needs_product(key) {
            let id = view.shop.catalogue.product_id(place, view.epoch)?;
            return Some((Key::Whole(if key == "ID" { id } else { nth }), id, place));
        }
        let product = view.read(place)?.product;
        if keep.is_some_and(|keep| !keep(&product)) {
            return None;
        }
        Some((key_of(&product, key, nth), product.id, place))
    });
    sorted(items.collect(), reverse)
}

fn needs_product(key: &str) -> bool {
    matches!(
        key,
        "TITLE" | "PRICE" | "CREATED" | "CREATED_AT" | "UPDATED_AT" | "VENDOR" | "PRODUCT_TYPE"
    )
}

fn key_of(product: &Product, key: &str, nth: u64) -> Key {
    let text = |text: &Option<String>| Key::Text(text.as_deref().unwrap_or_default().to_lowercase());
    match key {
        "ID" => Key::Whole(product.id),
        "TITLE" => Key::Text(product.title.to_lowercase()),
        "PRICE" => {
            let prices = product
                .variants
                .iter()
                .filter_map(|variant| money::number(&variant.price));
            Key::Price(prices.fold(f64::INFINITY, f64::min))
        }
        "CREATED" | "CREATED_AT" => text(&product.created_at),
        "UPDATED_AT" => text(&product.updated_at),
        "VENDOR" => text(&product.vendor),
        "PRODUCT_TYPE" => text(&product.product_type),
        // The rest are orders that only the platform or the merchant knows: the one in which the store lists.
        _ => Key::Whole(nth),
    }
}
