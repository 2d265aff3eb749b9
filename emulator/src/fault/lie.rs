use super::Fault;
use crate::catalogue::Catalogue;
use crate::generated::dice::{fold, fold_bytes};
use crate::product::Product;

/// Untrue statements of a store about its products.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lie {
    /// True if the store returns another product than the requested one.
    pub(crate) other_product: bool,
    foreign: Option<ForeignCurrency>,
    /// Interval of the nodes for which the store returns `null`.
    pub(crate) null_every: Option<u64>,
    /// Path of the category that the store states for every product.
    pub(crate) category: Option<String>,
    /// True if new customers and logins are refused for now.
    pub(crate) customers_throttled: bool,
    /// Quantity that the store states for every cart line.
    pub(crate) pieces: Option<u32>,
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
            Some(Fault::OneCategory { path }) => lie.category = Some(path.clone()),
            Some(Fault::CustomersThrottled) => lie.customers_throttled = true,
            Some(Fault::NullNodes { every }) => lie.null_every = Some(u64::from((*every).max(1))),
            _ => {}
        }
        lie
    }

    /// Returns the currency that a store states for its prices. `own` is its true currency.
    pub(crate) fn currency<'a>(&'a self, own: &'a str) -> &'a str {
        self.foreign.as_ref().map_or(own, |foreign| foreign.currency.as_str())
    }

    /// Rewrites the prices of a listing's record, from `start` on, to those that the store states.
    pub(crate) fn tell_record(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(foreign) = &self.foreign {
            let record = out.split_off(start);
            crate::edit::push_converted(&record, foreign.rate_pct, out);
        }
    }

    /// Returns a number that depends on the stated prices.
    pub(crate) fn fingerprint(&self) -> u64 {
        let of = |foreign: &ForeignCurrency| fold(&[fold_bytes(foreign.currency.as_bytes()), foreign.rate_pct]);
        self.foreign.as_ref().map_or(0, of)
    }

    /// Returns the place of the product that is returned instead of the requested one.
    pub(crate) fn place(&self, catalogue: &Catalogue, place: u64, epoch: u64) -> u64 {
        if self.other_product {
            catalogue.place_after(place, epoch).unwrap_or(place)
        } else {
            place
        }
    }

    /// Returns the product with the prices that the store states.
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

/// Returns `pct` percent of a price text, with the same number of decimals. A text that is no price stays unchanged.
fn converted(price: &str, pct: u64) -> String {
    crate::edit::scaled(price, pct).unwrap_or_else(|| price.to_owned())
}
