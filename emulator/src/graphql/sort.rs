use std::cmp::Ordering;

use serde_json::{Value, json};

use super::args::Args;
use super::connection::Entry;
use super::money;
use super::view::View;
use crate::catalogue::Places;
use crate::product::Product;

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

pub(super) struct SortItem<T> {
    pub(super) key: Key,
    pub(super) id: u64,
    pub(super) item: T,
}

/// Requested order of a list: the name of the sort key and the direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortOrder<'a> {
    pub(super) key: &'a str,
    pub(super) is_reversed: bool,
}

impl<'a> SortOrder<'a> {
    /// Returns the order in a field's arguments; `default` is the key if they name none.
    pub(super) fn of(args: Args<'a>, default: &'static str) -> Self {
        Self {
            key: args.text("sortKey").unwrap_or(default),
            is_reversed: args.flag("reverse").unwrap_or(false),
        }
    }
}

/// Sorts items by their keys, and items with equal keys by id.
pub(super) fn sorted<T>(mut items: Vec<SortItem<T>>, is_reversed: bool) -> Vec<Entry<T>> {
    items.sort_by(|one, two| {
        let order = one.key.partial_cmp(&two.key).unwrap_or(Ordering::Equal);
        let order = order.then(one.id.cmp(&two.id));
        if is_reversed { order.reverse() } else { order }
    });
    let entries = items.into_iter().map(|one| Entry {
        id: one.id,
        value: one.key.value(),
        item: one.item,
    });
    entries.collect()
}

/// Returns the places of the products that `keep` accepts, in the order of a sort key. Products are read only if the
/// key or `keep` needs more than their id.
pub(super) fn products(
    view: &View<'_>,
    places: &Places,
    order: SortOrder<'_>,
    keep: Option<&dyn Fn(&Product) -> bool>,
) -> Vec<Entry<u64>> {
    let SortOrder { key, is_reversed } = order;
    let listed = (0..places.len()).filter_map(|nth| Some((nth, places.get(nth)?)));
    let items = listed.filter_map(|(nth, place)| {
        if keep.is_none() && !needs_product(key) {
            let id = view.shop.catalogue.product_id(place, view.epoch)?;
            let key = Key::Whole(if key == "ID" { id } else { nth });
            return Some(SortItem { key, id, item: place });
        }
        let product = view.read(place)?.product;
        if keep.is_some_and(|keep| !keep(&product)) {
            return None;
        }
        Some(SortItem {
            key: key_of(&product, key, nth),
            id: product.id,
            item: place,
        })
    });
    sorted(items.collect(), is_reversed)
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
        // Only the platform or the merchant knows the other sort orders, so the listing order is used.
        _ => Key::Whole(nth),
    }
}
