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

/// Most products of one request.
pub(crate) const IDENTS_MAX: usize = 20;
/// The part of the budget that is left for writing the answer.
const MARGIN: Duration = Duration::from_millis(20);

/// Products whose prices are wanted: at most 20, repetitions allowed.
#[derive(Debug)]
pub struct PricesRequest {
    idents: Vec<ProductIdent>,
    quoter: Option<Quoter>,
}

impl PricesRequest {
    /// `None` for more than 20.
    #[must_use]
    pub fn new(idents: Vec<ProductIdent>) -> Option<Self> {
        let quoter = None;
        (idents.len() <= IDENTS_MAX).then_some(Self { idents, quoter })
    }

    /// One product.
    #[must_use]
    pub fn one(ident: ProductIdent) -> Self {
        Self {
            idents: vec![ident],
            quoter: None,
        }
    }

    /// The same with a signed quote of each price that is verified, where there is one who signs.
    pub(crate) fn quoted(self, quoter: Option<Quoter>) -> Self {
        Self { quoter, ..self }
    }
}

/// The prices of products, as far as their stores said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricesAnswer {
    /// The release that says which store sells what, and that snapshots are from.
    pub release: ReleaseId,
    /// One entry for each ident, in the order asked; [`crate::schema::UnverifiedCode::ProductNotFound`] where the
    /// release has no such product.
    pub entries: Vec<LivePrice>,
    /// The oldest `as_of` of the entries; now where there are none.
    pub as_of: Timestamp,
}

impl PricesAnswer {
    /// The number of stores that the entries are of.
    pub(crate) fn stores(&self) -> usize {
        let brands = self.entries.iter().filter_map(|entry| entry.brand_slug.as_deref());
        brands.collect::<BTreeSet<_>>().len()
    }
}

impl LiveGateway {
    /// Asks the stores of all these products what they cost now. Ends within the budget, whatever the stores do: what
    /// is not known by then is the stored snapshot, and not called verified.
    ///
    /// # Errors
    /// Only what the catalogue fails with: what a store does costs its own entries alone.
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

    /// A signed quote of what a product's store says now, of all its variants or of one; `None` where the store says nothing,
    /// and on a server that signs nothing.
    pub async fn quote(&self, ident: ProductIdent, variant: Option<VariantId>) -> Option<String> {
        let quoter = self.0.checkouts.get()?.quoter(variant).await.ok()?;
        let answer = self.prices(PricesRequest::one(ident).quoted(Some(quoter))).await.ok()?;
        answer.entries.into_iter().next()?.quote
    }

    async fn price_of(&self, brand: &Arc<StoredBrand>, stored: &Arc<StoredProduct>, deadline: Instant) -> LivePrice {
        match self.0.desks.ask(brand, stored, deadline).await {
            Ok(answer) => judge::verified(stored, brand, &answer.told, answer.as_of),
            Err(why) => judge::snapshot(stored, brand, &why),
        }
    }
}

/// Counts entries by what became of them.
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
