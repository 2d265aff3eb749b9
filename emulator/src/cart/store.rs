use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::delivery::home;
use super::{
    Bill, BillLine, CART_BYTES_MAX, Cart, CartRefusal, LINES_MAX, Line, Notice, Offers, Refusal, bill, serves,
};
use crate::discount::{BasketTruth, DiscountRule};
use crate::shop::{Shop, lock};

/// Most bytes of all carts of one store.
const BYTES_MAX: usize = 256 << 20;

/// The carts of one store, bounded: where there is no room, the one that was idle for longest goes.
#[derive(Debug, Default)]
pub(crate) struct Carts {
    by_token: HashMap<String, CartEntry>,
    /// Tokens by when they were last changed.
    by_age: BTreeMap<u64, String>,
    changes: u64,
    /// The size of all of them.
    bytes: usize,
}

#[derive(Debug)]
struct CartEntry {
    cart: Cart,
    change: u64,
}

impl Carts {
    pub(crate) fn len(&self) -> usize {
        self.by_token.len()
    }

    fn put(&mut self, cart: Cart, most: usize) {
        self.changes += 1;
        let change = self.changes;
        self.by_age.insert(change, cart.token.clone());
        let token = cart.token.clone();
        self.bytes += cart.weight();
        if let Some(before) = self.by_token.insert(token, CartEntry { cart, change }) {
            self.by_age.remove(&before.change);
            self.bytes -= before.cart.weight();
        }
        while self.by_token.len() > most.max(1) || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                break;
            };
            if let Some(gone) = self.by_token.remove(&oldest) {
                self.bytes -= gone.cart.weight();
            }
        }
    }

    fn get(&mut self, token: &str, now: DateTime<Utc>, ttl: Duration) -> Option<&Cart> {
        let ttl = TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX);
        let is_over = |kept: &CartEntry| now.signed_duration_since(kept.cart.updated_at) >= ttl;
        if self.by_token.get(token).is_some_and(is_over) {
            let gone = self.by_token.remove(token)?;
            self.by_age.remove(&gone.change);
            self.bytes -= gone.cart.weight();
            return None;
        }
        self.by_token.get(token).map(|kept| &kept.cart)
    }
}

fn not_too_large(cart: &Cart) -> Result<(), CartRefusal> {
    if cart.weight() <= CART_BYTES_MAX {
        return Ok(());
    }
    let message = "The cart is too large to save.";
    Err(CartRefusal::whole(Refusal::new("CART_TOO_LARGE", &["cartId"], message)))
}

/// The outcome of a request on a cart.
#[derive(Debug)]
pub(crate) struct CartOutcome {
    /// `None` where the answer shows none.
    pub(crate) cart: Option<(Cart, Bill)>,
    pub(crate) errors: Vec<Refusal>,
    pub(crate) notices: Vec<Notice>,
}

/// The carts of a store, during one request.
#[derive(Debug)]
pub(crate) struct Desk<'s> {
    pub(crate) offers: Offers<'s>,
    rules: Arc<Vec<DiscountRule>>,
    pub(crate) now: DateTime<Utc>,
}

impl<'s> Desk<'s> {
    pub(crate) fn new(offers: Offers<'s>) -> Self {
        let shop = offers.shop;
        Self {
            rules: shop.discounts.all(&shop.catalogue),
            now: shop.clock.now(),
            offers,
        }
    }

    fn shop(&self) -> &'s Shop {
        self.offers.shop
    }

    pub(crate) fn rules(&self) -> &[DiscountRule] {
        &self.rules
    }

    pub(crate) fn bill(&self, cart: &Cart) -> Bill {
        bill(cart, &self.offers, &self.rules, self.now)
    }

    /// The true bill of a basket, without making a cart of it.
    pub(crate) fn truth(&self, basket: &[(u64, u64)], codes: Vec<String>) -> BasketTruth {
        let mut cart = self.fresh(None);
        cart.lines = basket
            .iter()
            .take(LINES_MAX)
            .map(|(variant, quantity)| Line {
                id: Uuid::new_v4(),
                variant: *variant,
                quantity: *quantity,
                attributes: Vec::new(),
            })
            .collect();
        cart.fit(&[], &self.offers);
        cart.codes = codes;
        let bill = self.bill(&cart);
        BasketTruth {
            list_minor: bill.lines.iter().map(BillLine::subtotal_minor).sum(),
            subtotal_minor: bill.subtotal_minor,
            total_minor: bill.total_minor,
            codes: bill.applied.codes,
        }
    }

    /// The cart with this token, whoever asks.
    pub(crate) fn find(&self, token: &str) -> Option<Cart> {
        let shop = self.shop();
        lock(&shop.carts).get(token, self.now, shop.limits.cart_ttl).cloned()
    }

    /// An empty cart, not yet kept.
    pub(crate) fn fresh(&self, country: Option<&str>) -> Cart {
        Cart::fresh(self.now, country.unwrap_or_else(|| home(self.shop())))
    }

    /// Makes a cart and changes it; it is kept where nothing is wrong.
    pub(crate) fn create(
        &self,
        country: Option<&str>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        let mut cart = self.fresh(country);
        match change(&mut cart, self).and_then(|short| not_too_large(&cart).map(|()| short)) {
            Ok(short) => self.keep(cart, short, &mut lock(&self.shop().carts)),
            Err(refused) => CartOutcome {
                cart: None,
                errors: refused.errors,
                notices: Vec::new(),
            },
        }
    }

    /// Changes a cart. Of one that is not there the platform makes another, changes that, and says so.
    pub(crate) fn change(
        &self,
        token_and_key: Option<(&str, &str)>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        self.changed(token_and_key, true, change)
    }

    /// As [`Desk::change`], without a look at the stock of what is in the cart.
    pub(crate) fn update(
        &self,
        token_and_key: Option<(&str, &str)>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        self.changed(token_and_key, false, change)
    }

    fn changed(
        &self,
        token_and_key: Option<(&str, &str)>,
        looks_at_stock: bool,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        let shop = self.shop();
        // Held to the end: two changes of one cart come one after the other.
        let mut carts = lock(&shop.carts);
        let found = token_and_key.and_then(|(token, key)| {
            let cart = carts.get(token, self.now, shop.limits.cart_ttl)?;
            (cart.key == key).then(|| cart.clone())
        });
        let Some(known) = found else {
            let mut cart = self.fresh(None);
            // Further faults are not stated.
            let done = change(&mut cart, self).map(drop);
            if done.and_then(|()| not_too_large(&cart)).is_err() {
                cart = self.fresh(None);
            }
            let missing = Refusal::new("INVALID", &["cartId"], "The specified cart does not exist.");
            return CartOutcome {
                errors: vec![missing],
                notices: Vec::new(),
                ..self.keep(cart, Vec::new(), &mut carts)
            };
        };
        let mut cart = known.clone();
        match change(&mut cart, self).and_then(|short| not_too_large(&cart).map(|()| short)) {
            Ok(short) => {
                if looks_at_stock {
                    self.keep(cart, short, &mut carts)
                } else {
                    self.put(cart, short, &mut carts)
                }
            }
            Err(refused) => CartOutcome {
                cart: refused.shows_cart.then(|| {
                    let bill = self.bill(&known);
                    (known, bill)
                }),
                errors: refused.errors,
                notices: Vec::new(),
            },
        }
    }

    fn keep(&self, mut cart: Cart, mut notices: Vec<Notice>, carts: &mut Carts) -> CartOutcome {
        notices.extend(cart.fit(&[], &self.offers));
        self.leave_out_what_cannot_go(&mut cart);
        self.put(cart, notices, carts)
    }

    fn put(&self, mut cart: Cart, mut notices: Vec<Notice>, carts: &mut Carts) -> CartOutcome {
        if let Some(function) = self.shop().cart_function() {
            function.run(&mut cart);
        }
        cart.updated_at = self.now;
        carts.put(cart.clone(), self.shop().limits.carts_max);
        let bill = self.bill(&cart);
        notices.extend(bill.notices());
        CartOutcome {
            cart: Some((cart, bill)),
            errors: Vec::new(),
            notices,
        }
    }

    /// As recorded: goods that cannot be sold to the country of the selected address lose their pieces, for good.
    fn leave_out_what_cannot_go(&self, cart: &mut Cart) {
        let country = cart
            .selected_address()
            .and_then(|address| address.place.country.clone());
        if country.is_none_or(|country| serves(self.shop(), &country)) {
            return;
        }
        for line in &mut cart.lines {
            if self.offers.find(line.variant).is_some_and(|offer| offer.is_delivered()) {
                line.quantity = 0;
            }
        }
    }
}
