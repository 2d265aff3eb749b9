//! Requests to change a store on demand.

use serde::{Deserialize, Serialize};

use crate::discount::DiscountRule;
use crate::fault::FaultRule;
use crate::item::Item;
use crate::zones::ZoneRules;

/// A change to one store that takes effect immediately in every view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "snake_case",
    deny_unknown_fields
)]
pub enum Change {
    /// Sets the price of a variant, or of every variant of a product.
    Reprice {
        /// The variant or product whose price is set.
        item: Item,
        /// New price as a decimal text in the store's currency, such as `499.00`. The price gets the number of decimals
        /// of the old price. A price that would lose digits is refused.
        price: String,
    },
    /// Sets the stock of a variant, or of every variant of a product. A variant with 0 or fewer units is not for sale.
    SetStock {
        /// The variant or product whose stock is set.
        item: Item,
        /// Number of units in stock.
        quantity: i64,
    },
    /// Removes the product from every view.
    RemoveProduct {
        /// The product to remove, or one of its variants.
        item: Item,
    },
    /// Undoes the changes made to one product, or to all products.
    Restore {
        /// The product to restore, or one of its variants; all products if absent.
        #[serde(default)]
        item: Option<Item>,
    },
    /// Adds a discount, or replaces the discount with the same code or title.
    AddDiscount {
        /// The discount to add.
        rule: DiscountRule,
    },
    /// Removes the discount with this code or title.
    RemoveDiscount {
        /// The code of the discount, or its title if it has no code.
        name: String,
    },
    /// Sets the rules for delivery within the store's country, or resets them to the store's own.
    DeliverBy {
        /// The delivery rules; the store's own rules if absent.
        #[serde(default)]
        rules: Option<ZoneRules>,
    },
    /// Replaces the faults of the store.
    Faults {
        /// The new fault rules; an empty list removes all faults.
        rules: Vec<FaultRule>,
    },
}

/// The ids of the product and variants that a [`Change`] affected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ChangeTarget {
    /// The product's id, or `None` if the change does not concern one product.
    pub product: Option<u64>,
    /// The product's handle.
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
