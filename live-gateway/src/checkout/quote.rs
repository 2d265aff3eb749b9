//! Signed quotes: a store's price of a product and the time of the price, verifiable by anyone. Quotes contain nothing
//! about the caller. The module is pure (no I/O, no clock).

use std::sync::Arc;

use data_model::{CurrencyCode, ProductIdent, StoreHost, Timestamp, VariantId};
use serde::{Deserialize, Serialize};
use state::SigningKeyRow;

use super::jws::{self, Signer};
use crate::schema::LivePrice;

/// Type of the token (`typ`), which tells quotes from other tokens.
const TYPE: &str = "haat-quote+jwt";
/// Maximum number of variants in a quote. Requests contain quotes, so quotes must be small.
const VARIANTS_MAX: usize = 50;

/// Claims of a quote, as listed in `docs/buying.md`. Claims have the names of the response fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Quote {
    iss: String,
    jti: String,
    iat: i64,
    exp: i64,
    product_id: String,
    product_uid: String,
    brand_slug: String,
    store: StoreHost,
    as_of: Timestamp,
    /// Store interface that returned the price.
    source: String,
    currency: CurrencyCode,
    variants: Vec<QuotedVariant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct QuotedVariant {
    variant_id: String,
    amount_minor: i64,
    compare_at_minor: Option<i64>,
    available: bool,
}

/// Price of an item according to its quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuotedPrice {
    pub(crate) id: String,
    pub(crate) is_over: bool,
    pub(crate) variant: VariantId,
    pub(crate) minor: i64,
    pub(crate) currency: CurrencyCode,
}

#[derive(Debug)]
pub(crate) struct Quoter {
    pub(crate) signer: Signer,
    pub(crate) issuer: String,
    pub(crate) now: Timestamp,
    /// Seconds from the time of the price for which a quote is valid.
    pub(crate) holds_s: i64,
    /// Only variant in the quotes. Without it, quotes contain the first [`VARIANTS_MAX`] variants.
    pub(crate) variant: Option<VariantId>,
}

/// Verifier of quotes that this service signed.
#[derive(Debug)]
pub(crate) struct QuoteReader {
    pub(crate) keys: Arc<Vec<SigningKeyRow>>,
    pub(crate) now: Timestamp,
}

fn seconds(at: Timestamp) -> i64 {
    at.micros().div_euclid(1_000_000)
}

impl Quoter {
    /// Returns the quote of a verified entry, with the token id `jti`. Returns `None` if the entry is not verified or
    /// lacks the requested variant.
    pub(crate) fn quote(&self, entry: &LivePrice, store: &StoreHost, jti: String) -> Option<String> {
        let wanted = self.variant.map(|variant| variant.to_string());
        let is_wanted = |id: &String| wanted.as_ref().is_none_or(|wanted| wanted == id);
        let variants = entry.variants.iter().filter(|variant| is_wanted(&variant.variant_id));
        let variants = variants.take(VARIANTS_MAX).map(|variant| QuotedVariant {
            variant_id: variant.variant_id.clone(),
            amount_minor: variant.amount_minor,
            compare_at_minor: variant.compare_at_minor,
            available: variant.available,
        });
        let as_of = entry.as_of.filter(|_| entry.verified)?;
        let quote = Quote {
            iss: self.issuer.clone(),
            jti,
            iat: seconds(self.now),
            exp: seconds(as_of) + self.holds_s,
            product_id: entry.product_id.clone(),
            product_uid: entry.product_uid.clone()?,
            brand_slug: entry.brand_slug.clone()?,
            store: store.clone(),
            as_of,
            source: entry.source?.to_owned(),
            currency: entry.currency.as_deref()?.parse().ok()?,
            variants: variants.collect(),
        };
        if quote.variants.is_empty() {
            return None;
        }
        self.signer.token(TYPE, &quote)
    }
}

impl QuoteReader {
    /// Returns the price that a quote states for an item: the price of the item's variant or, if the item has none, of
    /// the first variant that can be bought.
    pub(crate) fn read(
        &self,
        text: &str,
        product: ProductIdent,
        variant: Option<VariantId>,
    ) -> Result<QuotedPrice, &'static str> {
        let key = |kid: &str| {
            self.keys
                .iter()
                .find(|key| key.id == kid)
                .map(|key| key.public_key.clone())
        };
        let quote: Quote = jws::verified(text, TYPE, key).ok_or("the quote is not signed by this server")?;
        let product = product.to_string();
        if product != quote.product_id && product != quote.product_uid {
            return Err("the quote is for another product");
        }
        let mut variants = quote.variants.iter();
        let found = match variant.map(|variant| variant.to_string()) {
            Some(id) => variants.find(|one| one.variant_id == id),
            None => variants.find(|one| one.available).or(quote.variants.first()),
        };
        let found = found.and_then(|one| Some((one.variant_id.parse().ok()?, one.amount_minor)));
        let (variant, minor) = found.ok_or("the quote is for another variant")?;
        Ok(QuotedPrice {
            id: quote.jti,
            is_over: quote.exp <= seconds(self.now),
            variant: VariantId(variant),
            minor,
            currency: quote.currency,
        })
    }
}
