use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use data_model::{ProductIdent, ReleaseId, StoredBrand, StoredProduct, Timestamp, VariantId};
use futures::future::join_all;
use tokio::time::Instant;

use crate::catalogue::CatalogueError;
use crate::checkout::quote::Quoter;
use crate::gateway::LiveGateway;
use crate::random::random_hex;
use crate::rules::judge;
use crate::schema::LivePrice;

/// Maximum number of products in one request.
pub(crate) const IDENTS_MAX: usize = 20;
/// Part of the budget reserved for writing the response.
const MARGIN: Duration = Duration::from_millis(20);

/// Products whose prices are requested: at most 20, duplicates allowed.
#[derive(Debug)]
pub struct PricesRequest {
    idents: Vec<ProductIdent>,
    quoter: Option<Quoter>,
}

impl PricesRequest {
    /// Creates a request. Returns `None` for more than 20 products.
    #[must_use]
    pub fn new(idents: Vec<ProductIdent>) -> Option<Self> {
        let quoter = None;
        (idents.len() <= IDENTS_MAX).then_some(Self { idents, quoter })
    }

    /// Creates a request for one product.
    #[must_use]
    pub fn one(ident: ProductIdent) -> Self {
        Self {
            idents: vec![ident],
            quoter: None,
        }
    }

    /// Adds a signed quote to each verified price, if there is a signer.
    pub(crate) fn quoted(self, quoter: Option<Quoter>) -> Self {
        Self { quoter, ..self }
    }
}

/// Prices of products whose stores responded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricesAnswer {
    /// Release that maps products to stores, and that contains the snapshots.
    pub release: ReleaseId,
    /// One entry for each ident, in the order of the request. An entry whose product is not in the release has the code
    /// [`crate::schema::UnverifiedCode::ProductNotFound`].
    pub entries: Vec<LivePrice>,
    /// Oldest `as_of` of the entries, or the current time if there are none.
    pub as_of: Timestamp,
}

impl PricesAnswer {
    /// Returns the number of stores in the entries.
    pub(crate) fn stores(&self) -> usize {
        let brands = self.entries.iter().filter_map(|entry| entry.brand_slug.as_deref());
        brands.collect::<BTreeSet<_>>().len()
    }
}

impl LiveGateway {
    /// Queries the stores of these products for current prices. Returns within the budget. An entry whose store does
    /// not respond in time contains the stored snapshot and is not verified.
    ///
    /// # Errors
    /// Returns errors of the catalogue only. A store's failure affects only its own entries.
    #[tracing::instrument(target = "trace::live", name = "prices", level = "info", skip_all, fields(products = request.idents.len()))]
    pub async fn prices(&self, request: PricesRequest) -> Result<PricesAnswer, CatalogueError> {
        let inner = &self.0;
        let budget = Duration::from_millis(inner.config.budget_ms);
        let deadline = Instant::now() + budget.saturating_sub(MARGIN);
        let asked = tokio::time::timeout_at(deadline, inner.catalogue.resolve(&request.idents));
        let resolved = asked.await.map_err(|_| CatalogueError::NotReady)??;
        let brands: Vec<Arc<StoredBrand>> = resolved.brands.into_iter().map(Arc::new).collect();
        let quoter = request.quoter.as_ref();
        let entries = request
            .idents
            .iter()
            .zip(resolved.products)
            .map(async |(ident, stored)| {
                let known = stored.and_then(|stored| Some((brands.get(stored.brand)?, Arc::new(stored))));
                match known {
                    Some((brand, stored)) => {
                        let entry = self.price_of(brand, &stored, deadline).await;
                        let quote = quoter.and_then(|quoter| quoter.quote(&entry, &brand.store, random_hex().ok()?));
                        LivePrice { quote, ..entry }
                    }
                    None => judge::unknown(&ident.to_string(), inner.clock.now()),
                }
            });
        let entries = join_all(entries).await;
        count(&entries);
        let as_of = entries
            .iter()
            .filter_map(|entry| entry.as_of)
            .min()
            .unwrap_or_else(|| inner.clock.now());
        Ok(PricesAnswer {
            release: resolved.release,
            entries,
            as_of,
        })
    }

    /// Returns a signed quote of a product's current price, for all its variants or for one. Returns `None` if the
    /// store does not respond or the server has no signer.
    pub async fn quote(&self, ident: ProductIdent, variant: Option<VariantId>) -> Option<String> {
        let quoter = self.0.checkouts.get()?.quoter(variant).await.ok()?;
        let answer = self.prices(PricesRequest::one(ident).quoted(Some(quoter))).await.ok()?;
        answer.entries.into_iter().next()?.quote
    }

    async fn price_of(&self, brand: &Arc<StoredBrand>, stored: &Arc<StoredProduct>, deadline: Instant) -> LivePrice {
        match self.0.coalescers.ask(brand, stored, deadline).await {
            Ok(answer) => judge::verified(stored, brand, &answer.told, answer.as_of),
            Err(why) => judge::snapshot(stored, brand, &why),
        }
    }
}

/// Counts the entries in the metrics by outcome.
fn count(entries: &[LivePrice]) {
    let mut counts: HashMap<&'static str, u64> = HashMap::new();
    for entry in entries {
        *counts
            .entry(entry.code.map_or("verified", |code| code.as_str()))
            .or_default() += 1;
    }
    for (outcome, count) in counts {
        metrics::counter!("live_prices_total", "outcome" => outcome).increment(count);
    }
}
