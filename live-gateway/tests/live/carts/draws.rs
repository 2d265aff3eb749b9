//! Random changes of a cart in a test sequence. Each change depends on the cart's known state.

use http::Method;
use serde_json::{Value, json};

use super::late::{ZIPS, address};
use super::mall::{Call, group, path};
use super::model::{PRODUCTS, Pieces};
use super::plays::{MONTH, Play, STORES};

/// Change of a cart, and the wanted state of the stores after the change.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) call: Call,
    pub(super) after: [Pieces; STORES],
    /// Code list of the affected store.
    pub(super) codes: Option<Vec<String>>,
    /// Postal code of the delivery address of the whole cart.
    pub(super) zip: Option<&'static str>,
}

impl Play<'_> {
    /// Returns a random product of a store that is in the cart (`is_there`) or is not.
    pub(super) fn product(&mut self, store: usize, is_there: bool) -> Option<usize> {
        let pieces = self.wanted[store].pieces();
        let fitting: Vec<usize> = (0..PRODUCTS).filter(|nth| (pieces[*nth] > 0) == is_there).collect();
        (!fitting.is_empty()).then(|| self.dice.of(&fitting))
    }

    /// Returns a random change that causes this mutation at a store. Returns `None` if no such change is possible now.
    pub(super) async fn draw(&mut self, store: usize, mutation: &str) -> Option<Change> {
        let after = self.known();
        let stay = |call| Change {
            call,
            after,
            codes: None,
            zip: None,
        };
        if after[store] == [0; PRODUCTS] && mutation != "cartLinesAdd" {
            return None;
        }
        match mutation {
            "cartCreate" => {
                self.told.push("the stores forget their carts".to_owned());
                self.mall.stores.advance_clock(MONTH);
                Some(stay(Call::get(path(&self.cart, ""))))
            }
            "cartLinesAdd" => self.more(store, false),
            "cartLinesUpdate" if self.dice.below(2) == 0 => self.more(store, true),
            "cartLinesUpdate" => {
                let qty = 1 + self.dice.below(3) as u64;
                self.line(store, qty)
            }
            "cartLinesRemove" => self.line(store, 0),
            "cartDiscountCodesUpdate" => Some(self.code(store)),
            "cartDeliveryAddressesReplace" => {
                let zip = self.dice.of(&ZIPS);
                Some(self.address(zip))
            }
            "cartSelectedDeliveryOptionsUpdate" => {
                self.send(self.address(ZIPS[0]), store, None).await;
                self.delivery(store).map(stay)
            }
            "cartAttributesUpdate" => {
                let body = json!({ "cart_id": self.cart["cart_id"] });
                Some(stay(Call::post("/v1/checkout", body)))
            }
            _ => None,
        }
    }

    /// Returns a change that adds units of a product.
    pub(super) fn more(&mut self, store: usize, is_there: bool) -> Option<Change> {
        let (nth, more) = (self.product(store, is_there)?, 1 + self.dice.below(3));
        let mut after = self.known();
        after[store][nth] += more as u64;
        let items = json!({ "items": [self.mall.item(store, nth, u32::try_from(more).unwrap())] });
        let call = Call::post(path(&self.cart, "/lines"), items);
        Some(Change {
            call,
            after,
            codes: None,
            zip: None,
        })
    }

    fn line(&mut self, store: usize, qty: u64) -> Option<Change> {
        let nth = self.product(store, true)?;
        let variant = self.mall.goods(store)[nth].1.to_string();
        let lines = self.lines(&self.cart, store).into_iter();
        let asked = |line: &Value| line["requested_qty"].as_u64().unwrap();
        let mut lines = lines.filter(|line| line["variant_id"] == variant.as_str() && asked(line) > 0);
        let line = lines.next().unwrap();
        let mut after = self.known();
        after[store][nth] = after[store][nth] - asked(&line) + qty;
        let at = path(&self.cart, &format!("/lines/{}", line["line_id"].as_str().unwrap()));
        let call = match qty {
            0 => Call::new(Method::DELETE, at),
            qty => Call::new(Method::PATCH, at).with(json!({ "qty": qty })),
        };
        Some(Change {
            call,
            after,
            codes: None,
            zip: None,
        })
    }

    /// Returns a change that adds a code, or removes it if it is in the cart.
    pub(super) fn code(&mut self, store: usize) -> Change {
        let mut codes = self.wanted[store].codes();
        let (code, brand) = (self.dice.of(&["TEN", "NOPE"]), self.mall.brand(store));
        let call = if let Some(at) = codes.iter().position(|held| held == code) {
            codes.remove(at);
            let below = format!("/discount/{code}?brand={brand}");
            Call::new(Method::DELETE, path(&self.cart, &below))
        } else {
            codes.push(code.to_owned());
            Call::post(path(&self.cart, "/discount"), json!({ "code": code, "brand": brand }))
        };
        Change {
            call,
            after: self.known(),
            codes: Some(codes),
            zip: None,
        }
    }

    fn address(&self, zip: &'static str) -> Change {
        Change {
            call: address(&self.cart, zip),
            after: self.known(),
            codes: None,
            zip: Some(zip),
        }
    }

    fn delivery(&mut self, store: usize) -> Option<Call> {
        let brand = self.mall.brand(store);
        let options = group(&self.cart, &brand)["delivery_options"].as_array()?.clone();
        let other = options.iter().find(|option| option["selected"] == false)?;
        self.has_chosen = true;
        let body = json!({ "brand": brand, "handle": other["handle"] });
        Some(Call::post(path(&self.cart, "/delivery"), body))
    }

    pub(super) fn replacement(&mut self) -> Option<Change> {
        let after: [Pieces; STORES] =
            std::array::from_fn(|_| std::array::from_fn(|_| self.dice.below(4).saturating_sub(1) as u64));
        let all = (0..STORES).flat_map(|store| (0..PRODUCTS).map(move |nth| (store, nth)));
        let items: Vec<_> = all
            .filter(|(store, nth)| after[*store][*nth] > 0)
            .map(|(store, nth)| self.mall.item(store, nth, u32::try_from(after[store][nth]).unwrap()))
            .collect();
        let call = Call::new(Method::PUT, path(&self.cart, "/lines")).with(json!({ "items": items }));
        (!items.is_empty()).then_some(Change {
            call,
            after,
            codes: None,
            zip: None,
        })
    }
}
