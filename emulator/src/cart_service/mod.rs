//! Access to the carts of a store in one request: finds, changes, bills and saves them.

mod bill;
mod delivery;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use self::bill::bill;
pub(crate) use self::bill::{Bill, BillLine, group_id};
pub(crate) use self::delivery::{Rate, rates};
use self::delivery::{home, serves};
use crate::cart::{CART_BYTES_MAX, Cart, CartRefusal, Carts, LINES_MAX, Line, Notice, Offers, Refusal};
use crate::discount::{BasketLine, BasketTruth, DiscountRule};
use crate::fault::Lie;
use crate::shop::{Shop, lock};

fn not_too_large(cart: &Cart) -> Result<(), CartRefusal> {
    if cart.weight() <= CART_BYTES_MAX {
        return Ok(());
    }
    let message = "The cart is too large to save.";
    Err(CartRefusal::whole(Refusal::new("CART_TOO_LARGE", &["cartId"], message)))
}

#[derive(Debug)]
pub(crate) struct CartOutcome {
    /// Cart with its bill; `None` if the response shows no cart.
    pub(crate) cart: Option<(Cart, Bill)>,
    pub(crate) errors: Vec<Refusal>,
    pub(crate) notices: Vec<Notice>,
}

/// Cart that a client names, with the key that allows changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartAccess<'a> {
    pub(crate) token: &'a str,
    pub(crate) key: &'a str,
}

impl<'a> CartAccess<'a> {
    pub(crate) fn of(cart: &'a Cart) -> Self {
        Self {
            token: &cart.token,
            key: &cart.key,
        }
    }
}

#[derive(Debug)]
pub(crate) struct CartService<'s> {
    pub(crate) shop: &'s Shop,
    pub(crate) offers: Offers<'s>,
    rules: Arc<Vec<DiscountRule>>,
    pub(crate) now: DateTime<Utc>,
}

impl<'s> CartService<'s> {
    pub(crate) fn new(shop: &'s Shop, lie: &'s Lie) -> Self {
        Self {
            shop,
            offers: Offers::new(&shop.catalogue, shop.epoch(), &shop.address.currency, lie),
            rules: shop.discounts.all(&shop.catalogue),
            now: shop.clock.now(),
        }
    }

    pub(crate) fn rules(&self) -> &[DiscountRule] {
        &self.rules
    }

    pub(crate) fn bill(&self, cart: &Cart) -> Bill {
        bill(self, cart)
    }

    /// Computes the true bill of a basket without creating a cart.
    pub(crate) fn truth(&self, basket: &[BasketLine], codes: Vec<String>) -> BasketTruth {
        let mut cart = self.fresh(None);
        cart.lines = basket
            .iter()
            .take(LINES_MAX)
            .map(|line| Line {
                id: Uuid::new_v4(),
                variant: line.variant,
                quantity: line.quantity,
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

    pub(crate) fn find(&self, token: &str) -> Option<Cart> {
        let ttl = self.shop.limits.cart_ttl;
        lock(&self.shop.carts).get(token, self.now, ttl).cloned()
    }

    /// Creates an empty cart without saving it.
    pub(crate) fn fresh(&self, country: Option<&str>) -> Cart {
        Cart::fresh(self.now, country.unwrap_or_else(|| home(self.shop)))
    }

    /// Creates a cart and applies a change. The cart is saved if there is no error.
    pub(crate) fn create(
        &self,
        country: Option<&str>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        let mut cart = self.fresh(country);
        match change(&mut cart, self).and_then(|short| not_too_large(&cart).map(|()| short)) {
            Ok(short) => self.keep(cart, short, &mut lock(&self.shop.carts)),
            Err(refused) => CartOutcome {
                cart: None,
                errors: refused.errors,
                notices: Vec::new(),
            },
        }
    }

    /// Changes a cart. If the cart does not exist, the platform creates a new one, changes it and reports that.
    pub(crate) fn change(
        &self,
        named: Option<CartAccess<'_>>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        self.changed(named, true, change)
    }

    /// Changes a cart like [`CartService::change`], without checking the stock of its lines.
    pub(crate) fn update(
        &self,
        named: Option<CartAccess<'_>>,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        self.changed(named, false, change)
    }

    fn changed(
        &self,
        named: Option<CartAccess<'_>>,
        looks_at_stock: bool,
        change: impl FnOnce(&mut Cart, &Self) -> Result<Vec<Notice>, CartRefusal>,
    ) -> CartOutcome {
        // The lock is kept until the end of the change, so that two changes of one cart run one after the other.
        let mut carts = lock(&self.shop.carts);
        let found = named.and_then(|CartAccess { token, key }| {
            let cart = carts.get(token, self.now, self.shop.limits.cart_ttl)?;
            (cart.key == key).then(|| cart.clone())
        });
        let Some(known) = found else {
            let mut cart = self.fresh(None);
            // The response states only the first faults.
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
        if let Some(function) = self.shop.cart_function() {
            function.run(&mut cart);
        }
        cart.updated_at = self.now;
        carts.put(cart.clone(), self.shop.limits.carts_max);
        let bill = self.bill(&cart);
        notices.extend(bill.notices());
        CartOutcome {
            cart: Some((cart, bill)),
            errors: Vec::new(),
            notices,
        }
    }

    /// As recorded, lines that cannot be sold to the country of the selected address lose their units for good.
    fn leave_out_what_cannot_go(&self, cart: &mut Cart) {
        let country = cart
            .selected_address()
            .and_then(|address| address.place.country.clone());
        if country.is_none_or(|country| serves(self.shop, &country)) {
            return;
        }
        for line in &mut cart.lines {
            if self.offers.find(line.variant).is_some_and(|offer| offer.is_delivered()) {
                line.quantity = 0;
            }
        }
    }
}
