use std::sync::Arc;
use std::time::Duration;

use data_model::{CouponVerdict, ProductId, StoredBrand, TestedCode, VariantId};
use state::CouponOutcome;
use storefront::Priority;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::Finder;
use super::candidates::Candidate;
use super::config::CouponAddress;
use super::exam::TrialCart;
use super::memory::{Slot, TestEnd};
use super::reason::{UntestedReason, reason};
use crate::cart_client::{CartClient, CartError};
use crate::rules::store_cart::CartAddress;

/// Item of which a cart is made to test codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestItem {
    /// Id of the product.
    pub product: ProductId,
    /// Id of the variant.
    pub variant: VariantId,
}

/// Test job at one store. The job continues after the end of the request that started it.
#[derive(Debug)]
pub(crate) struct TestJob {
    pub(crate) finder: Finder,
    pub(crate) slot: Arc<Slot>,
    pub(crate) brand: Arc<StoredBrand>,
    pub(crate) item: TestItem,
    pub(crate) candidates: Vec<Candidate>,
}

impl TestJob {
    /// Tests the codes and returns the reason if not all were tested. The store's lock is released once this process
    /// knows the verdicts; they are written to the shared state afterwards.
    pub(crate) async fn run(self, turn: OwnedMutexGuard<()>) -> Option<UntestedReason> {
        let inner = &self.finder.0;
        let codes: Vec<String> = self.candidates.iter().map(|one| one.code.clone()).collect();
        let deadline = Instant::now() + Duration::from_millis(inner.config.testing_ms);
        // The permit is released at the end of the test, so that a store that hangs blocks only one permit.
        let (stop, outcomes) = match timeout_at(deadline, inner.places.acquire()).await {
            Ok(Ok(_place)) => match self.exam(deadline) {
                Ok(mut exam) => {
                    let stop = Box::pin(exam.run(&codes)).await;
                    metrics::counter!("coupon_store_calls_total").increment(exam.calls as u64);
                    (stop, exam.outcomes)
                }
                Err(error) => (Some(reason(&error)), Vec::new()),
            },
            _ => (Some(UntestedReason::Busy), Vec::new()),
        };
        if stop == Some(UntestedReason::SoldOut) {
            self.slot.sell_out(self.item.variant);
        }
        self.slot.end(TestEnd {
            at: Instant::now(),
            item: self.item.variant,
            codes: codes.into_iter().collect(),
            stop,
        });
        drop(turn);
        let end = stop.map_or("done", UntestedReason::as_str);
        metrics::counter!("coupon_testings_total", "end" => end).increment(1);
        for outcome in &outcomes {
            let verdict = match outcome.verdict {
                CouponVerdict::Applicable(_) => "applicable",
                CouponVerdict::NotApplicable => "not_applicable",
                CouponVerdict::UnknownCode => "unknown_code",
            };
            metrics::counter!("coupon_codes_tested_total", "verdict" => verdict).increment(1);
        }
        if !outcomes.is_empty() {
            Box::pin(self.slot.write(&outcomes, self.finder.memory())).await;
            if let Some(ledger) = &inner.ledger {
                ledger.keep(&self.brand.store, self.tests(outcomes)).await;
            }
        }
        stop
    }

    /// Returns the store's verdicts together with the sources of the codes.
    fn tests(&self, outcomes: Vec<CouponOutcome>) -> Vec<TestedCode> {
        let test = |outcome: CouponOutcome| {
            let candidate = self.candidates.iter().find(|one| one.code == outcome.code)?;
            Some(TestedCode {
                code: outcome.code,
                source: candidate.source,
                product: self.item.product,
                variant: self.item.variant,
                verdict: outcome.verdict,
                tested_at: outcome.tested_at,
            })
        };
        outcomes.into_iter().filter_map(test).collect()
    }

    fn exam(&self, deadline: Instant) -> Result<TrialCart<'_>, CartError> {
        let inner = &self.finder.0;
        let wrong = |_| storefront::StoreError::Url {
            reason: "the stored address is not a URL",
        };
        let url = Url::parse(&self.brand.base_url).map_err(wrong)?;
        let store = inner.storefront.store(&url)?;
        let store = store.in_country(self.brand.crawl_country.as_deref())?;
        let store = store.with_own_hosts([self.brand.domain.as_str(), self.brand.store.as_str()]);
        let store = store.with_priority(Priority::Interactive).with_caller("coupons");
        let store = store.with_deadline(deadline);
        let address = inner
            .config
            .address
            .as_ref()
            .filter(|address| sells_to(&self.brand, address));
        Ok(TrialCart {
            client: CartClient::new(store),
            item: self.item.variant,
            country: self.brand.crawl_country.clone(),
            address: address.map(|address| CartAddress {
                zip: Some(address.zip.clone()),
                country: address.country.clone(),
                province: address.province.clone(),
                city: address.city.clone(),
            }),
            codes_per_call: inner.config.codes_per_call,
            calls_max: inner.config.calls_max,
            clock: inner.clock.as_ref(),
            slot: &self.slot,
            cart: None,
            calls: 0,
            undelivered: Vec::new(),
            outcomes: Vec::new(),
        })
    }
}

/// True if a brand sells to an address: its prices were crawled for that country or, if the crawl has no country, are
/// in Indian rupees. India is the only country that is inferred from a currency.
fn sells_to(brand: &StoredBrand, address: &CouponAddress) -> bool {
    match &brand.crawl_country {
        Some(country) => *country == address.country,
        None => address.country == "IN" && brand.currency.as_str() == "INR",
    }
}
