use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::catalogue::Catalogue;
use crate::fault::Lie;
use crate::money::{exponent, minor};
use crate::product::{Product, Variant};
use crate::stock::{Stock, stock};

/// Variant with its current price and stock.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) product: Rc<Product>,
    nth: usize,
    pub(crate) unit_minor: u64,
    pub(crate) compare_at_minor: Option<u64>,
    pub(crate) stock: Stock,
}

impl Offer {
    pub(crate) fn variant(&self) -> Option<&Variant> {
        self.product.variants.get(self.nth)
    }

    /// Returns the weight of a unit in grams, or 0 if it is unknown.
    pub(crate) fn grams(&self) -> u64 {
        self.variant().map_or(0, |variant| variant.grams)
    }

    /// Returns the maximum number of units for sale, or `None` without a limit.
    pub(crate) fn most(&self) -> Option<u64> {
        if self.stock.on_order {
            None
        } else if self.stock.available {
            Some(u64::from(self.stock.quantity))
        } else {
            Some(0)
        }
    }

    /// Returns `Product - Variant`, or only the product's name if it has a single variant.
    pub(crate) fn name(&self) -> String {
        match self.variant() {
            Some(variant) if !variant.is_default() => format!("{} - {}", self.product.title, variant.title),
            _ => self.product.title.clone(),
        }
    }

    pub(crate) fn is_delivered(&self) -> bool {
        self.variant().is_some_and(|variant| variant.requires_shipping)
    }
}

/// Offers of a store. Each product is read once.
#[derive(Debug)]
pub(crate) struct Offers<'s> {
    catalogue: &'s Catalogue,
    epoch: u64,
    /// Currency that the store states for its prices.
    currency: &'s str,
    lie: &'s Lie,
    read: RefCell<HashMap<u64, Option<Rc<Product>>>>,
}

impl<'s> Offers<'s> {
    /// Creates the offers of a catalogue. `currency` is the store's own.
    pub(crate) fn new(catalogue: &'s Catalogue, epoch: u64, currency: &'s str, lie: &'s Lie) -> Self {
        Self {
            catalogue,
            epoch,
            currency: lie.currency(currency),
            lie,
            read: RefCell::default(),
        }
    }

    pub(crate) fn currency(&self) -> &str {
        self.currency
    }

    pub(crate) fn exponent(&self) -> u32 {
        exponent(self.currency)
    }

    fn product(&self, place: u64) -> Option<Rc<Product>> {
        if let Some(known) = self.read.borrow().get(&place) {
            return known.clone();
        }
        let read = Product::read(self.catalogue, place, self.epoch);
        let read = read.map(|product| Rc::new(self.lie.tell(product)));
        self.read.borrow_mut().insert(place, read.clone());
        read
    }

    /// Returns the offer of the variant with this id, or `None` if the store lacks it.
    pub(crate) fn find(&self, variant: u64) -> Option<Offer> {
        let place = self.catalogue.find_variant(variant, self.epoch)?;
        let product = self.product(place)?;
        let nth = product.variants.iter().position(|it| it.id == variant)?;
        let found = product.variants.get(nth)?;
        let stock = stock(self.catalogue, place, self.epoch, product.id, variant, found.available);
        let compare_at = found.compare_at_price.as_deref();
        Some(Offer {
            unit_minor: minor(&found.price, self.exponent())?,
            compare_at_minor: compare_at.and_then(|price| minor(price, self.exponent())),
            stock,
            product: Rc::clone(&product),
            nth,
        })
    }
}
