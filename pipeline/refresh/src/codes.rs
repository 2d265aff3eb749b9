//! Reads the discount codes that stores state, and the currency that their front pages show. A failure here does not
//! affect the refresh of the catalogue.

use data_codes::{StatedCodes, load, save};
use data_model::CurrencyCode;
use pipeline_crawl::{CodesCrawl, RegisteredBrand};

use crate::error::with_causes;
use crate::store::RunContext;
use crate::summary::{CodesRead, StoreSummary};

impl RunContext {
    /// Reads the store's stated discount codes if they are due, and saves them. Returns the currency that the front page
    /// showed when it was last read.
    pub(crate) async fn read_codes(&self, brand: &RegisteredBrand, summary: &mut StoreSummary) -> Option<CurrencyCode> {
        let before = match load(&self.storage, &brand.store).await {
            Ok(before) => before,
            Err(error) => {
                tracing::warn!(
                    brand.slug = %brand.slug, error = with_causes(&error),
                    "a store's texts about discount codes cannot be read"
                );
                StatedCodes::default()
            }
        };
        if self.dry_run {
            return before.shown;
        }
        let crawl = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return before.shown,
            crawl = self.crawler.read_codes(&self.run, brand, before.clone()) => crawl,
        };
        let CodesCrawl {
            stated,
            requests,
            bytes,
            stopped_by,
        } = crawl;
        if let Some(error) = stopped_by {
            tracing::debug!(
                brand.slug = %brand.slug, error = with_causes(&error),
                "not all of a store's texts about discount codes could be read"
            );
        }
        let shown = stated.shown;
        if requests == 0 {
            return shown;
        }
        summary.codes = Some(CodesRead {
            requests: u64::from(requests),
            bytes,
            codes: stated.all().len() as u64,
        });
        if stated != before
            && let Err(error) = save(&self.storage, &brand.store, stated).await
        {
            tracing::warn!(
                brand.slug = %brand.slug, error = with_causes(&error),
                "a store's texts about discount codes could not be saved"
            );
        }
        shown
    }

    /// Saves the currency that a crawl found shown, if it is another one than before. Later crawls read silent pages in
    /// it.
    pub(crate) async fn remember_shown(&self, brand: &RegisteredBrand, found: Option<CurrencyCode>) {
        let Ok(known) = load(&self.storage, &brand.store).await else {
            return;
        };
        if self.dry_run || found.is_none() || known.shown == found {
            return;
        }
        let stated = StatedCodes { shown: found, ..known };
        if let Err(error) = save(&self.storage, &brand.store, stated).await {
            tracing::warn!(
                brand.slug = %brand.slug, error = with_causes(&error),
                "the currency that a store shows could not be saved"
            );
        }
    }
}
