//! A change to a store on demand, as it is asked for.

use serde::{Deserialize, Serialize};

use crate::discount::DiscountRule;
use crate::fault::FaultRule;
use crate::item::Item;
use crate::zones::ZoneRules;

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

#[cfg(test)]
mod tests {
    use super::*;

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
