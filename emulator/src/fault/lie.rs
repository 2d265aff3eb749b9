use super::Fault;
use crate::catalogue::Catalogue;
use crate::generated::dice::{fold, fold_bytes};
use crate::product::Product;

/// Untrue statements of a store about its products.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lie {
    /// An answer about another product than was asked for.
    pub(crate) other_product: bool,
    foreign: Option<ForeignCurrency>,
    /// Knows nothing of every so manieth node.
    pub(crate) null_every: Option<u64>,
    /// Takes no more new customers and logins for now.
    pub(crate) customers_throttled: bool,
    /// Pieces of every line of a cart.
    pub(crate) pieces: Option<u32>,
    /// The origin that links to checkouts lead to.
    pub(crate) checkout_origin: Option<String>,
}

#[derive(Debug, Clone)]
struct ForeignCurrency {
    currency: String,
    rate_pct: u64,
}

impl Lie {
    pub(crate) fn of(fault: Option<&Fault>) -> Self {
        let mut lie = Self::default();
        match fault {
            Some(Fault::OtherProduct) => lie.other_product = true,
            Some(Fault::OtherCurrency { currency, rate_pct } | Fault::Abroad { currency, rate_pct }) => {
                lie.foreign = Some(ForeignCurrency {
                    currency: currency.clone(),
                    rate_pct: u64::from(*rate_pct),
                });
            }
            Some(Fault::ManyPieces { quantity }) => lie.pieces = Some(*quantity),
            Some(Fault::CheckoutAt { origin }) => lie.checkout_origin = Some(origin.clone()),
            Some(Fault::CustomersThrottled) => lie.customers_throttled = true,
            Some(Fault::NullNodes { every }) => lie.null_every = Some(u64::from((*every).max(1))),
            _ => {}
        }
        lie
    }

    /// The currency that a store says its prices are in, whose `own` is this.
    pub(crate) fn currency<'a>(&'a self, own: &'a str) -> &'a str {
        self.foreign.as_ref().map_or(own, |foreign| foreign.currency.as_str())
    }

    /// The record of a listing from `start` on, with its prices as the store states them.
    pub(crate) fn tell_record(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(foreign) = &self.foreign {
            let record = out.split_off(start);
            crate::edit::push_converted(&record, foreign.rate_pct, out);
        }
    }

    /// A number that differs whenever prices are stated in another way.
    pub(crate) fn fingerprint(&self) -> u64 {
        let of = |foreign: &ForeignCurrency| fold(&[fold_bytes(foreign.currency.as_bytes()), foreign.rate_pct]);
        self.foreign.as_ref().map_or(0, of)
    }

    /// The place that is answered instead of this one.
    pub(crate) fn place(&self, catalogue: &Catalogue, place: u64, epoch: u64) -> u64 {
        if self.other_product {
            catalogue.place_after(place, epoch).unwrap_or(place)
        } else {
            place
        }
    }

    /// The product with its prices as the store states them.
    pub(crate) fn tell(&self, mut product: Product) -> Product {
        if let Some(foreign) = &self.foreign {
            for variant in &mut product.variants {
                variant.price = converted(&variant.price, foreign.rate_pct);
                let compare_at = variant.compare_at_price.take();
                variant.compare_at_price = compare_at.map(|price| converted(&price, foreign.rate_pct));
            }
        }
        product
    }
}

/// A price text times `pct` percent, with as many decimals; what is no price stays as it is.
fn converted(price: &str, pct: u64) -> String {
    crate::edit::scaled(price, pct).unwrap_or_else(|| price.to_owned())
}
