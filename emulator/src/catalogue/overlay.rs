use std::collections::HashMap;

use crate::edit::{Edit, Price, Stock, push_edited, variants};
use crate::generated::epoch_s;

#[derive(Debug, Default)]
pub(super) struct Overlay {
    pub(super) removed: bool,
    /// New prices, by variant id.
    pub(super) prices: HashMap<u64, String>,
    /// New stock in units, by variant id.
    pub(super) stock: HashMap<u64, i64>,
    /// Number of the product's latest change.
    pub(super) number: u64,
}

/// Time of day of changes on demand, in seconds. Changes of the epoch itself are earlier.
const FROM_S: u64 = 43_200;

impl Overlay {
    /// Returns the record with the changes, or `None` if nothing in it changes.
    pub(super) fn edited(&self, record: &[u8], epoch: u64) -> Option<Vec<u8>> {
        if self.prices.is_empty() && self.stock.is_empty() {
            return None;
        }
        let updated_s = epoch_s(epoch, FROM_S + self.number);
        let dated = Edit {
            price: Price::Same,
            stock: Stock::Same,
            updated_s,
        };
        let mut out = Vec::with_capacity(record.len() + 64);
        let mut at = 0;
        for variant in variants(record) {
            push_edited(&record[at..variant.range.start], &dated, &mut out);
            at = variant.range.end;
            let edit = Edit {
                price: self
                    .prices
                    .get(&variant.id)
                    .map_or(Price::Same, |price| Price::Exact(price)),
                stock: self
                    .stock
                    .get(&variant.id)
                    .map_or(Stock::Same, |pieces| Stock::Set(*pieces > 0)),
                updated_s,
            };
            push_edited(&record[variant.range], &edit, &mut out);
        }
        push_edited(&record[at..], &dated, &mut out);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_changed_of_a_record_is_another() {
        let record = r#"{"id":1,"updated_at":"2025-01-01T00:00:00+05:30","variants":[{"id":11,"price":"5.00","available":true},
 {"id":12,"price":"6.00","available":true,"featured_image":{"id":11,"src":"x"}}],"tags":["price"]}"#;
        let overlay = Overlay {
            prices: [(12, "7.50".to_owned())].into(),
            stock: [(11, 0)].into(),
            number: 3,
            ..Overlay::default()
        };
        let edited = overlay.edited(record.as_bytes(), 0).unwrap();
        insta::assert_snapshot!(String::from_utf8(edited).unwrap(), @r#"
        {"id":1,"updated_at":"2026-09-01T12:00:03+05:30","variants":[{"id":11,"price":"5.00","available":false},
         {"id":12,"price":"7.50","available":true,"featured_image":{"id":11,"src":"x"}}],"tags":["price"]}
        "#);
        assert_eq!(Overlay::default().edited(record.as_bytes(), 0), None);
    }
}
