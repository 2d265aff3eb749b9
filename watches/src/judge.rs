//! Evaluation of watches on a release and on live responses of stores.

use std::collections::BTreeMap;

use data_model::{Observation, ProductIdent, ProductKey, ResolvedProducts, StoredProduct, Timestamp};
use state::{JudgedWatch, WatchRow};

use crate::error::WatchError;
use crate::event::{EventData, EventMessage, FIRED, event_id};
use crate::market::{IDENTS_MAX, MatchedProduct};
use crate::rules::conditions::{Subject, Terms, WatchReason};
use crate::rules::reading::{Reading, WatchedProduct};
use crate::watches::Watches;

/// Number of watches that are read in one batch.
const PAGE: u32 = 500;
/// Maximum number of a product's watches that are evaluated for one live response.
const OF_PRODUCT_MAX: u32 = 1_000;
/// Age in milliseconds above which a product is not new. Events are remembered for longer.
const NEW_MS: i64 = 30 * 24 * 3_600_000;

/// Watch with its parsed row.
struct OpenWatch<'a> {
    row: &'a WatchRow,
    terms: Terms,
    before: Reading,
}

/// Parses a row. A row that cannot be parsed is logged and skipped.
fn read(row: &WatchRow) -> Option<OpenWatch<'_>> {
    let read = || Ok::<_, serde_json::Error>((serde_json::from_str(&row.terms)?, serde_json::from_str(&row.seen)?));
    match read() {
        Ok((terms, before)) => Some(OpenWatch { row, terms, before }),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, watch = row.id, "a watch cannot be read");
            None
        }
    }
}

impl OpenWatch<'_> {
    fn product(&self) -> Option<&WatchedProduct> {
        match &self.terms.subject {
            Subject::Product(product) => Some(product),
            Subject::Query(_) => None,
        }
    }

    /// Evaluates a reading. Returns `None` if the reading is not newer or not different.
    fn by(&self, now: Reading, at: Timestamp) -> Result<Option<JudgedWatch>, WatchError> {
        if now.observed_at <= self.before.observed_at || now.says_as(&self.before) {
            return Ok(None);
        }
        let reasons = self.terms.conditions.newly_true(&self.before, &now);
        let data = EventData {
            event_id: event_id(&self.row.id, &now.observed_at.micros().to_string()),
            watch_id: self.row.id.clone(),
            reasons,
            product: self.product().cloned(),
            query: None,
            before: Some(self.before.clone()),
            now: Some(now.clone()),
            quote: None,
        };
        let fires = !data.reasons.is_empty();
        let event = fires.then(|| EventMessage::new(FIRED, at, data).row()).transpose()?;
        Ok(Some(JudgedWatch {
            watch: self.row.id.clone(),
            before_at: self.before.observed_at,
            seen_at: now.observed_at,
            seen: serde_json::to_string(&now)?,
            events: event.into_iter().collect(),
        }))
    }
}

fn variant(watched: &WatchedProduct) -> Option<data_model::VariantId> {
    let number = watched.variant_id.as_ref()?.parse().ok()?;
    Some(data_model::VariantId(number))
}

/// Returns the stored product with the live response merged in. Variants that were not queried keep their stored
/// values.
fn overlaid(mut product: StoredProduct, observation: &Observation) -> StoredProduct {
    product
        .variants
        .retain(|variant| !observation.gone.contains(&variant.id));
    for variant in &mut product.variants {
        let Some(told) = observation.variants.iter().find(|told| told.id == variant.id) else {
            continue;
        };
        variant.price_minor = told.price_minor;
        variant.compare_at_minor = told.compare_at_minor;
        variant.available = told.available;
    }
    product
}

impl Watches {
    /// Evaluates all watches on the current release. Returns the number of new events. A repeated evaluation of a
    /// release creates no events. A skipped release loses no change, because readings are compared instead of releases.
    ///
    /// # Errors
    /// Returns a [`WatchError`]. Watches that were already evaluated keep their result, and the others are evaluated
    /// next time.
    pub async fn judge(&self) -> Result<u64, WatchError> {
        let (mut after, mut events) = (String::new(), 0);
        loop {
            let rows = self.0.state.active_watches(&after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after.clone_from(&last.id);
            events += self.judge_products(&rows).await?;
            events += self.judge_queries(&rows).await?;
        }
        metrics::counter!("watch_events_total").increment(events);
        Ok(events)
    }

    async fn judge_products(&self, rows: &[WatchRow]) -> Result<u64, WatchError> {
        let judged: Vec<OpenWatch<'_>> = rows
            .iter()
            .filter(|row| row.product.is_some())
            .filter_map(read)
            .filter(|open| open.product().is_some())
            .collect();
        let now = self.0.clock.now();
        let mut outcomes = Vec::new();
        for some in judged.chunks(IDENTS_MAX) {
            let idents = some.iter().filter_map(OpenWatch::product);
            let idents: Vec<ProductIdent> = idents.map(|product| ProductIdent::Id(product.id)).collect();
            let resolved = self.0.market.resolve(&idents).await?;
            for (judged, product) in some.iter().zip(&resolved.products) {
                let Some(watched) = judged.product() else { continue };
                let reading = match product {
                    Some(product) => Reading::of(product, variant(watched), refreshed_at(&resolved, product)),
                    None => Reading::gone(now),
                };
                outcomes.extend(judged.by(reading, now)?);
            }
        }
        if outcomes.is_empty() {
            return Ok(0);
        }
        Ok(self.0.state.note_judged_watches(&outcomes, now).await?)
    }

    /// Evaluates the watches of queries. Each distinct query in a page of watches is searched only once.
    async fn judge_queries(&self, rows: &[WatchRow]) -> Result<u64, WatchError> {
        let mut of_query: BTreeMap<String, Vec<&WatchRow>> = BTreeMap::new();
        for judged in rows.iter().filter(|row| row.product.is_none()).filter_map(read) {
            if let Subject::Query(query) = judged.terms.subject {
                of_query.entry(query).or_default().push(judged.row);
            }
        }
        let now = self.0.clock.now();
        let mut events = 0;
        for (query, rows) in of_query {
            let matches = self.0.market.matches(&query).await?;
            for row in rows {
                let oldest = row.created_at.max(now.plus_millis(-NEW_MS));
                let new = matches
                    .iter()
                    .filter(|one| one.first_seen_at.is_some_and(|at| at > oldest));
                for one in new {
                    let event = new_match(row, &query, one, now).row()?;
                    events += u64::from(self.0.state.add_watch_event(&event, now).await?);
                }
            }
        }
        Ok(events)
    }

    /// Evaluates the watches of one product on its store's response. Returns the number of new events.
    ///
    /// # Errors
    /// Returns a [`WatchError`].
    pub async fn judge_observation(&self, observation: &Observation) -> Result<u64, WatchError> {
        let key = ProductKey {
            store: observation.store.clone(),
            platform_id: observation.product,
        };
        let id = key.id();
        let rows = self.0.state.watches_of_product(&id.to_string(), OF_PRODUCT_MAX).await?;
        if rows.is_empty() {
            return Ok(0);
        }
        let resolved = self.0.market.resolve(&[ProductIdent::Id(id)]).await?;
        let Some(product) = resolved.products.into_iter().next().flatten() else {
            return Ok(0);
        };
        if product.currency != observation.currency {
            return Ok(0);
        }
        let (product, now) = (overlaid(product, observation), self.0.clock.now());
        let mut outcomes = Vec::new();
        for judged in rows.iter().filter_map(read) {
            let Some(watched) = judged.product() else { continue };
            let reading = Reading::of(&product, variant(watched), observation.observed_at);
            outcomes.extend(judged.by(reading, now)?);
        }
        let events = self.0.state.note_judged_watches(&outcomes, now).await?;
        metrics::counter!("watch_events_total").increment(events);
        Ok(events)
    }
}

/// Returns the time of the crawl that found the product in this state. A product without a brand, which no release
/// contains, gets the oldest possible time.
fn refreshed_at(resolved: &ResolvedProducts, product: &StoredProduct) -> Timestamp {
    let brand = resolved.brands.get(product.brand);
    brand.map_or(Timestamp::from_micros(0), |brand| brand.refreshed_at)
}

fn new_match(row: &WatchRow, query: &str, one: &MatchedProduct, now: Timestamp) -> EventMessage {
    let data = EventData {
        event_id: event_id(&row.id, &one.id.to_string()),
        watch_id: row.id.clone(),
        reasons: vec![WatchReason::NewMatch],
        product: Some(WatchedProduct {
            id: one.id,
            title: one.title.clone(),
            brand_slug: one.brand_slug.clone(),
            variant_id: None,
        }),
        query: Some(query.to_owned()),
        before: None,
        now: None,
        quote: None,
    };
    EventMessage::new(FIRED, now, data)
}
