//! Changes to a store on demand: prices, stock, products that go.
//!
//! A change is kept by the product's id and laid over its record, which every view is written from, so that all views
//! show it at once. Nothing is written back: without its changes a store is again what its seed or recording says.

mod control;
mod item;
mod overlay;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};

pub(crate) use control::{CONTROL_PATH, control};
pub use item::Item;

use crate::answer::Product;
use crate::discount::{DiscountRule, RULES_MAX};
use crate::fault::FaultRule;
use crate::shop::Shop;
use crate::zones::ZoneRules;
use overlay::Overlay;

/// A change to one store, at once and in every view of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "snake_case",
    deny_unknown_fields
)]
pub enum Change {
    /// A variant, or every variant of a product, costs this from now on.
    Reprice {
        /// The variant or product.
        item: Item,
        /// A decimal text in the store's currency, such as `499.00`. Its decimals become as many as the price had;
        /// one that would lose digits by that is refused.
        price: String,
    },
    /// So many of a variant, or of every variant of a product, are left. Of 0 or fewer nothing is for sale.
    SetStock {
        /// The variant or product.
        item: Item,
        /// Pieces.
        quantity: i64,
    },
    /// The product is gone from every view.
    RemoveProduct {
        /// The product, or one of its variants.
        item: Item,
    },
    /// Undoes the changes of one product, or all.
    Restore {
        /// The product, or one of its variants; all products where absent.
        #[serde(default)]
        item: Option<Item>,
    },
    /// Adds a discount, in place of one of the same code or title.
    AddDiscount {
        /// The discount.
        rule: DiscountRule,
    },
    /// Removes a discount.
    RemoveDiscount {
        /// Its code, or the title of one without a code.
        name: String,
    },
    /// Makes the store deliver within its country by rules, or by its own again.
    DeliverBy {
        /// The rules; its own where absent.
        #[serde(default)]
        rules: Option<ZoneRules>,
    },
    /// Sets the store's faults, in place of any before.
    Faults {
        /// The rules; none makes the store well again.
        rules: Vec<FaultRule>,
    },
}

/// The ids of the product that a [`Change`] concerned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ChangeTarget {
    /// The product's id; `None` where the change is not about one product.
    pub product: Option<u64>,
    /// Its handle.
    pub handle: Option<String>,
    /// The ids of the variants that were changed.
    pub variants: Vec<u64>,
}

/// The reason why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The store lists no such variant or product.
    #[error("the store has no product and no variant {item}")]
    UnknownItem {
        /// The item.
        item: Item,
    },
    /// The price is no decimal text, is negative, or has more decimals than the store's prices.
    #[error("{price:?} is no price with at most {decimals} decimals")]
    Price {
        /// The price.
        price: String,
        /// Decimals of the price that it was to replace.
        decimals: usize,
    },
    /// The discount takes nothing off, has no name, or is for more than 1,000 products.
    #[error("{name:?} is no sound discount")]
    Discount {
        /// Its code or title.
        name: String,
    },
    /// The store holds no more discounts.
    #[error("a store holds at most {most} discounts")]
    Discounts {
        /// The bound.
        most: usize,
    },
    /// The store has no such discount.
    #[error("the store has no discount {name:?}")]
    UnknownDiscount {
        /// Its code or title.
        name: String,
    },
}

/// The changes of one store.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    inner: RwLock<Inner>,
    /// Products that are changed, read without the lock by the many requests of stores that nobody changes.
    products: AtomicUsize,
    removed: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inner {
    by_product: HashMap<u64, Overlay>,
    /// Changes so far: each has its own number.
    count: u64,
}

impl Changes {
    pub(crate) fn is_any(&self) -> bool {
        self.products.load(Ordering::Acquire) > 0
    }

    pub(crate) fn removes_any(&self) -> bool {
        self.removed.load(Ordering::Acquire) > 0
    }

    fn read<T>(&self, product: u64, read: impl FnOnce(&Overlay) -> T) -> Option<T> {
        if !self.is_any() {
            return None;
        }
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.by_product.get(&product).map(read)
    }

    pub(crate) fn is_removed(&self, product: u64) -> bool {
        self.read(product, |overlay| overlay.removed).unwrap_or(false)
    }

    /// The number of the latest change of a product.
    pub(crate) fn latest_of(&self, product: u64) -> Option<u64> {
        self.read(product, |overlay| overlay.number)
    }

    /// The stock that was set for a variant.
    pub(crate) fn stock(&self, product: u64, variant: u64) -> Option<i64> {
        self.read(product, |overlay| overlay.stock.get(&variant).copied())?
    }

    /// Lays a product's changes over its record, which stands in `out` from `start`.
    pub(crate) fn apply(&self, product: u64, epoch: u64, start: usize, out: &mut Vec<u8>) {
        let edited = self.read(product, |overlay| overlay.edited(&out[start..], epoch));
        if let Some(Some(edited)) = edited {
            out.truncate(start);
            out.extend_from_slice(&edited);
        }
    }

    fn write(&self, write: impl FnOnce(&mut HashMap<u64, Overlay>, u64)) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.count += 1;
        let number = inner.count;
        write(&mut inner.by_product, number);
        let removed = inner.by_product.values().filter(|overlay| overlay.removed).count();
        self.products.store(inner.by_product.len(), Ordering::Release);
        self.removed.store(removed, Ordering::Release);
    }

    fn overlay(&self, product: u64, change: impl FnOnce(&mut Overlay)) {
        self.write(|by_product, number| {
            let overlay = by_product.entry(product).or_default();
            overlay.number = number;
            change(overlay);
        });
    }
}

/// Makes a change in a store.
pub(crate) fn make(shop: &Shop, change: Change) -> Result<ChangeTarget, ChangeError> {
    let changes = &shop.catalogue.changes;
    match change {
        Change::Reprice { item, price } => {
            let target = item::find(shop, &item)?;
            let prices = target
                .variants
                .iter()
                .map(|(id, was)| Ok((*id, repriced(&price, was)?)))
                .collect::<Result<Vec<_>, ChangeError>>()?;
            changes.overlay(target.product, |overlay| overlay.prices.extend(prices));
            Ok(target.changed())
        }
        Change::SetStock { item, quantity } => {
            let target = item::find(shop, &item)?;
            let stock = target.variants.iter().map(|(id, _)| (*id, quantity));
            changes.overlay(target.product, |overlay| overlay.stock.extend(stock));
            Ok(target.changed())
        }
        Change::RemoveProduct { item } => {
            let target = item::find(shop, &item)?;
            changes.overlay(target.product, |overlay| overlay.removed = true);
            Ok(target.changed())
        }
        Change::Restore { item: Some(item) } => {
            let target = item::find(shop, &item)?;
            changes.write(|by_product, _| {
                by_product.remove(&target.product);
            });
            Ok(target.changed())
        }
        Change::Restore { item: None } => {
            changes.write(|by_product, _| by_product.clear());
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

/// The new price with the decimals of the old.
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

/// A product that is to be changed, its changes so far laid over it.
struct Target {
    product: u64,
    handle: String,
    /// The ids of the variants that are meant, with their prices.
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

    #[test]
    fn changes_are_written_in_json() {
        let read = |text: &str| serde_json::from_str::<Change>(text);
        assert_eq!(
            read(r#"{"kind":"reprice","item":123,"price":"5.00"}"#).unwrap(),
            Change::Reprice {
                item: 123.into(),
                price: "5.00".to_owned()
            }
        );
        assert_eq!(
            read(r#"{"kind":"set-stock","item":"tea-1","quantity":0}"#).unwrap(),
            Change::SetStock {
                item: "tea-1".into(),
                quantity: 0
            }
        );
        assert_eq!(read(r#"{"kind":"restore"}"#).unwrap(), Change::Restore { item: None });
        assert!(read(r#"{"kind":"faults","rules":[{"fault":{"kind":"reset"}}]}"#).is_ok());
        assert!(read(r#"{"kind":"reprice","item":123}"#).is_err());
    }
}
