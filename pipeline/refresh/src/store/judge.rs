//! Decides if the result of a crawl is written to the lake.

use std::time::Instant;

use data_model::Timestamp;
use pipeline_crawl::{CrawlState, CrawledStore, Peak, RegisteredBrand, StoreCrawl, save_state};

use super::{CommittedStore, Ready, RunContext, StoreFailure, rated};
use crate::collapse::{
    Changes, Comparison, CrawlFigures, DoubtedCrawl, HeldCrawl, HoldReason, LakeFigures, compare, is_confirmed,
    load_held, most, noted, save_held, window_began,
};
use crate::error::with_causes;
use crate::prepare::{PageSource, PreparedCrawl, ProductNotes, reading_of};
use crate::reader::KeptPage;
use crate::summary::{Outcome, StoreSummary};

impl RunContext {
    /// Builds the catalogue of the crawl and decides if it is written to the lake.
    pub(super) async fn judge(
        &self,
        brand: &RegisteredBrand,
        crawled: CrawledStore<KeptPage>,
        mut notes: ProductNotes,
        state: Option<&CrawlState>,
        summary: &mut StoreSummary,
        started: Instant,
    ) -> Result<Option<Box<Ready>>, StoreFailure> {
        let in_lake = self.lake.get(&brand.store);
        let CrawledStore { mut crawl, pages } = crawled;
        let (source, asking) = (PageSource::Crawl(pages), self.asking(brand)?);
        let mut prepared = self.prepare(brand, &crawl, source, &mut notes, asking).await?;
        summary.requests += notes.categories.requests + notes.omitted.requests;
        let Comparison {
            changes,
            drift,
            changed,
        } = self.compare(brand, &mut prepared).await?;
        summary.changes = changes;
        let found = CrawlFigures::of(&prepared, &crawl, drift);
        let memory = prepared.memory;
        let refresh = prepared.refresh;
        summary.products = refresh.products.len() as u64;
        summary.variants = Some(refresh.products.variants() as u64);
        summary.quarantined = Some(refresh.quarantined.len() as u64);
        let before = self.before(brand, state);
        let doubts = found.doubts(&self.config.collapse, before);
        let doubted = DoubtedCrawl {
            before,
            found,
            doubts: &doubts,
            changed: &changed,
        };
        if !doubts.is_empty() && !self.is_confirmed(brand, doubted).await? {
            summary.outcome = held_back(before, found, &doubts);
            // The brand keeps its products.
            summary.products = before.products;
            return Ok(None);
        }
        let peaks = self.peaks(state, before, &doubts);
        if self.config.product_pages_max > 0 && !self.dry_run {
            self.read_product_pages(brand, &mut notes.ratings, &refresh.products)
                .await?;
        }
        crawl.context = reading_of(brand, &notes, self.crawl_country());
        let refresh = rated(refresh, notes.ratings).await?;
        let hash = refresh.hash().to_owned();
        if in_lake.is_some_and(|known| known.hash == hash) {
            // A change that this run committed before an interruption still counts as its change.
            let by_this_run = in_lake.is_some_and(|known| known.run == self.run);
            summary.outcome = if by_this_run {
                Outcome::Changed
            } else {
                Outcome::Unchanged
            };
            if !self.dry_run {
                let taken_as = hash;
                let state = CrawlState { taken_as, peaks, crawl };
                save_state(&self.storage, &state).await?;
                self.forget_held(&brand.store).await?;
            }
            return Ok(None);
        }
        summary.outcome = Outcome::Changed;
        if self.dry_run {
            return Ok(None);
        }
        let (brand, summary) = (brand.clone(), summary.clone());
        let rest = CommittedStore {
            brand,
            crawl,
            hash,
            peaks,
            summary,
            started,
            memory,
        };
        Ok(Some(Box::new(Ready { refresh, rest })))
    }

    /// Compares the catalogue with the one in the lake.
    async fn compare(&self, brand: &RegisteredBrand, prepared: &mut PreparedCrawl) -> Result<Comparison, StoreFailure> {
        let Some(in_lake) = self.lake.get(&brand.store) else {
            return Ok(Comparison {
                changes: Some(Changes::of_new(prepared.refresh.products.len() as u64)),
                ..Comparison::default()
            });
        };
        // If this run already committed the brand before an interruption, its changes are no longer visible.
        if in_lake.run == self.run {
            return Ok(Comparison::default());
        }
        let before = match self.snapshot.offering(&brand.store).await {
            Ok(before) => before,
            // If the brand's rows are lost, the commit needs them too and reports the error.
            Err(error) => {
                tracing::warn!(
                    brand.slug = %brand.slug,
                    error = with_causes(&error),
                    "the crawl cannot be compared with the lake"
                );
                return Ok(Comparison::default());
            }
        };
        let config = self.config.collapse.clone();
        let rows = std::mem::take(&mut prepared.refresh.products);
        let (currency, now_in) = (in_lake.currency, prepared.refresh.brand.currency);
        let compared = tokio::task::spawn_blocking(move || (compare(&config, &before, &rows, currency, now_in), rows));
        let (comparison, rows) = compared.await?;
        prepared.refresh.products = rows;
        Ok(comparison)
    }

    /// Returns the brand's figures in the lake, now and in the last days.
    fn before(&self, brand: &RegisteredBrand, state: Option<&CrawlState>) -> LakeFigures {
        let in_lake = self.lake.get(&brand.store);
        let products = in_lake.map_or(0, |known| known.products);
        let peaks = state.map_or(&[][..], |state| state.peaks.as_slice());
        let unlisted = |crawl: &StoreCrawl| Some(crawl.facts.published_products?.saturating_sub(crawl.products()));
        LakeFigures {
            products,
            most: most(peaks, self.loss_window_began(), products),
            unlisted: state.and_then(|state| unlisted(&state.crawl)).unwrap_or(0),
            // If the operator set the currency, a change of currency is no reason for doubt.
            currency: in_lake.filter(|_| brand.currency.is_none()).map(|known| known.currency),
        }
    }

    fn loss_window_began(&self) -> Timestamp {
        window_began(self.clock.now(), self.config.collapse.loss_window_s)
    }

    /// Returns the product counts to save for the brand's next crawl. A confirmed loss clears them.
    fn peaks(&self, state: Option<&CrawlState>, before: LakeFigures, confirmed: &[HoldReason]) -> Vec<Peak> {
        if confirmed.iter().any(|doubt| doubt.is_of_loss()) {
            return Vec::new();
        }
        let known = state.map_or(&[][..], |state| state.peaks.as_slice());
        let now = Peak {
            until: self.clock.now(),
            products: before.products,
        };
        noted(known, self.loss_window_began(), now)
    }

    /// Returns true if the crawl may replace the brand's data in spite of these doubts. Otherwise, the crawl is
    /// recorded as held back.
    async fn is_confirmed(&self, brand: &RegisteredBrand, doubted: DoubtedCrawl<'_>) -> Result<bool, StoreFailure> {
        let held = load_held(&self.storage, &brand.store).await?;
        let is_confirmed = |held: &HeldCrawl| is_confirmed(&self.config.collapse, doubted, &self.run, held);
        if held.as_ref().is_some_and(is_confirmed) {
            return Ok(true);
        }
        // A resumed run may have recorded the crawl already, and the operator may have confirmed it since.
        let noted = held.is_some_and(|held| held.run == self.run && held.products_found == doubted.found.products);
        if !self.dry_run && !noted {
            let held = HeldCrawl::new(brand, &self.run, self.clock.now(), doubted);
            save_held(&self.storage, &held).await?;
        }
        Ok(false)
    }
}

fn held_back(before: LakeFigures, found: CrawlFigures, doubts: &[HoldReason]) -> Outcome {
    let doubt = doubts.first().copied();
    let currencies = before.currency.map(|before| (before, found.currency));
    Outcome::HeldBack {
        products_before: before.products,
        products_found: found.products,
        doubt,
        affected: doubt.and_then(|doubt| found.affected(doubt, before)),
        currencies: currencies.filter(|_| doubt == Some(HoldReason::Currency)),
    }
}
