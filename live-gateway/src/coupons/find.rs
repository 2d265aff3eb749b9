//! Search for the working discount codes of a brand's store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use data_model::{
    BrandSlug, CouponEffect, CouponSource, CouponVerdict, ErrorCode, ProductIdent, ReleaseId, StoredBrand,
    StoredProduct, StoredShop, Timestamp, VariantId,
};
use pipeline_parse::{FoundCode, stated_codes};
use state::CouponOutcome;
use tokio::time::{Instant, timeout_at};

use super::candidates::{Candidate, candidates};
use super::memory::{Slot, TestEnd};
use super::reason::UntestedReason;
use super::shops::ShopKey;
use super::testing::{TestItem, TestJob};
use super::{Finder, Inner};
use crate::catalogue::CatalogueError;

/// Part of the budget reserved for writing the response.
const MARGIN: Duration = Duration::from_millis(50);

/// Product or brand whose codes are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CouponsOf {
    /// A product. Codes are tested on its own variants.
    Product(ProductIdent),
    /// A brand, by its slug or domain.
    Brand(String),
    /// A brand, by the host of its store.
    Domain(String),
}

/// Request for working codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponsRequest {
    /// Product or brand whose codes are requested.
    pub of: CouponsOf,
    /// Maximum number of candidates, 1 to 100.
    pub candidates_max: u8,
}

/// Reasons why a search has no result. Failures of a store are part of the result.
#[derive(Debug, thiserror::Error)]
pub enum CouponsError {
    /// The release does not contain the product.
    #[error("no such product")]
    ProductNotFound,
    /// The release has no such brand. No store was queried.
    #[error("no such brand")]
    BrandNotFound,
    /// The catalogue does not respond.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

impl data_model::Classify for CouponsError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ProductNotFound => ErrorCode::ProductNotFound,
            Self::BrandNotFound => ErrorCode::BrandNotFound,
            Self::Catalogue(error) => error.code(),
        }
    }
}

/// Code that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCoupon {
    /// Discount code.
    pub code: String,
    /// Source of the code.
    pub source: CouponSource,
    /// Effect of the code on the cart.
    pub effect: CouponEffect,
    /// Time at which the store was queried.
    pub tested_at: Timestamp,
}

/// Known codes of a brand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponsFound {
    /// Release that maps the brand to its store.
    pub release: ReleaseId,
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// Item on which codes were tested; `None` if the brand has nothing in stock.
    pub item: Option<TestItem>,
    /// Codes that apply, ordered by discount, the highest first.
    pub coupons: Vec<FoundCoupon>,
    /// Number of candidates.
    pub candidates: usize,
    /// Number of candidates with a verdict of the store.
    pub tested: usize,
    /// Number of tested codes whose verdict comes from an earlier request.
    pub remembered: usize,
    /// Untested candidates, in the order of the candidates.
    pub untested: Vec<(String, UntestedReason)>,
    /// Time of the oldest test, or the current time if there is none.
    pub as_of: Timestamp,
}

/// Shop, items and known codes for a request.
#[derive(Debug)]
struct Target {
    shop: StoredShop,
    /// Items for the trial cart, the best first.
    items: Vec<TestItem>,
    /// Codes that the product's description states.
    described: Vec<FoundCode>,
}

/// Candidates that need a verdict of the store.
struct CandidateTests<'a> {
    finder: &'a Finder,
    brand: Arc<StoredBrand>,
    items: Vec<TestItem>,
    candidates: Vec<Candidate>,
    slot: Arc<Slot>,
    begun: Instant,
    deadline: Instant,
}

/// Maximum number of variants that are tried to find one that the store sells.
const ITEMS_MAX: usize = 4;

impl Finder {
    /// Tests candidates on a cart of one item at the brand's store. Concurrent requests for the same store share one
    /// test. Recently tested codes need no query.
    ///
    /// Returns within the budget, even if the store is slow. A running test then continues for later requests.
    ///
    /// # Errors
    /// Returns a [`CouponsError`].
    #[tracing::instrument(target = "trace::live", name = "coupons", level = "info", skip_all)]
    pub async fn find(&self, request: &CouponsRequest) -> Result<CouponsFound, CouponsError> {
        let (begun, begun_at) = (Instant::now(), self.0.clock.now());
        let budget = Duration::from_millis(self.0.config.budget_ms);
        let deadline = begun + budget.saturating_sub(MARGIN);
        let target = timeout_at(deadline, self.target(&request.of)).await;
        let Target { shop, items, described } = target.map_err(|_| CatalogueError::NotReady)??;
        let slot = self.0.slots.of(&shop.brand.store);
        let worked = slot.worked(self.memory(), deadline).await;
        let most = usize::from(request.candidates_max.clamp(1, 100));
        let tests = CandidateTests {
            finder: self,
            candidates: candidates(&shop.brand, &shop.codes, &described, &worked, most),
            brand: Arc::new(shop.brand),
            items,
            slot,
            begun,
            deadline,
        };
        let (item, stop) = tests.run().await;
        Ok(tests.told(shop.release, item, stop, begun_at))
    }

    async fn target(&self, of: &CouponsOf) -> Result<Target, CouponsError> {
        let (named, product) = match of {
            CouponsOf::Product(ident) => {
                let mut resolved = self.0.catalogue.resolve(&[*ident]).await?;
                let product = resolved.products.pop().flatten().ok_or(CouponsError::ProductNotFound)?;
                let brand = resolved.brands.into_iter().nth(product.brand);
                let brand = brand.ok_or(CouponsError::ProductNotFound)?;
                (ShopKey::Slug(brand.slug), Some(product))
            }
            CouponsOf::Domain(domain) => (ShopKey::Domain(domain.clone()), None),
            CouponsOf::Brand(name) => match name.parse::<BrandSlug>() {
                Ok(slug) => (ShopKey::Slug(slug), None),
                Err(_) => (ShopKey::Domain(name.clone()), None),
            },
        };
        let mut shop = self.0.shops.shop(&named).await?;
        // A host name may look like a slug.
        if let (None, CouponsOf::Brand(name), ShopKey::Slug(_)) = (&shop, of, &named) {
            shop = self.0.shops.shop(&ShopKey::Domain(name.clone())).await?;
        }
        let shop = shop.ok_or(CouponsError::BrandNotFound)?;
        let items = match &product {
            Some(product) => items_of(product),
            None => shop
                .samples
                .iter()
                .filter_map(|sample| items_of(sample).into_iter().next())
                .collect(),
        };
        // The description is plain text, but the parser expects the lines of a page.
        let lines = |product: StoredProduct| product.description.replace('\n', "<br>");
        let described = product.map_or_else(Vec::new, |product| stated_codes(&lines(product)));
        Ok(Target { shop, items, described })
    }
}

impl CandidateTests<'_> {
    /// Tests all candidates, as far as time and the store allow. Returns the tested item, and the reason if some
    /// candidates were not tested.
    async fn run(&self) -> (Option<TestItem>, Option<UntestedReason>) {
        let (slot, deadline) = (&self.slot, self.deadline);
        let mut last_item = None;
        for item in self.items.iter().filter(|item| !slot.is_sold_out(item.variant)) {
            last_item = Some(*item);
            let variant = item.variant;
            slot.read(variant, self.finder.memory(), deadline).await;
            while !slot.is_sold_out(variant) {
                let missing = self.missing(variant);
                if missing.is_empty() {
                    return (last_item, None);
                }
                if let Some(stop) = self.stopped(variant) {
                    return (last_item, Some(stop));
                }
                let turn = timeout_at(deadline, Arc::clone(&slot.turn).lock_owned()).await;
                let Ok(turn) = turn else {
                    return (last_item, Some(UntestedReason::Budget));
                };
                // Another request may have tested all codes while this one waited for the lock.
                let missing = self.missing(variant);
                if missing.is_empty() || slot.is_sold_out(variant) || self.stopped(variant).is_some() {
                    continue;
                }
                let testing = TestJob {
                    finder: self.finder.clone(),
                    slot: Arc::clone(slot),
                    brand: Arc::clone(&self.brand),
                    item: *item,
                    candidates: missing,
                };
                // The test continues for later requests if this request stops waiting.
                let done = tokio::spawn(testing.run(turn));
                match timeout_at(deadline, done).await {
                    Ok(Ok(_)) => {}
                    // The task fails only on a panic, which is already logged.
                    Ok(Err(_)) => return (last_item, Some(UntestedReason::StoreUnreadable)),
                    Err(_) => return (last_item, Some(UntestedReason::Budget)),
                }
            }
        }
        (last_item.or(self.items.first().copied()), Some(UntestedReason::SoldOut))
    }

    /// Returns the candidates without a recent verdict that no test has covered since this request began.
    fn missing(&self, item: VariantId) -> Vec<Candidate> {
        let Inner { clock, config, .. } = &*self.finder.0;
        let (slot, now) = (&self.slot, clock.now());
        let ended = slot.last().filter(|ended| ended.item == item && ended.at >= self.begun);
        let taken_on = ended
            .filter(|ended| ended.stop.is_none())
            .map_or_else(HashSet::new, |ended| ended.codes);
        let is_missing =
            |one: &&Candidate| !taken_on.contains(&one.code) && slot.fresh(item, &one.code, now, config).is_none();
        self.candidates.iter().filter(is_missing).cloned().collect()
    }

    /// Returns the reason not to test the item: a test since this request began was stopped, or the store must not be
    /// queried now.
    fn stopped(&self, item: VariantId) -> Option<UntestedReason> {
        let TestEnd {
            at, item: tested, stop, ..
        } = self.slot.last()?;
        let stop = stop?;
        let rest = Duration::from_secs(self.finder.0.config.rest_s);
        let rests = stop.is_of_store() && at.elapsed() < rest;
        let was_mine = tested == item && at >= self.begun && stop != UntestedReason::SoldOut;
        (rests || was_mine).then_some(stop)
    }

    fn told(
        &self,
        release: ReleaseId,
        item: Option<TestItem>,
        stop: Option<UntestedReason>,
        begun_at: Timestamp,
    ) -> CouponsFound {
        let Inner { clock, config, .. } = &*self.finder.0;
        let now = clock.now();
        let mut found = CouponsFound {
            release,
            brand: self.brand.slug.clone(),
            item,
            coupons: Vec::new(),
            candidates: self.candidates.len(),
            tested: 0,
            remembered: 0,
            untested: Vec::new(),
            as_of: now,
        };
        for candidate in &self.candidates {
            let outcome = item.and_then(|item| self.slot.fresh(item.variant, &candidate.code, now, config));
            let Some(CouponOutcome { verdict, tested_at, .. }) = outcome else {
                let reason = stop.unwrap_or(UntestedReason::Refused);
                found.untested.push((candidate.code.clone(), reason));
                continue;
            };
            found.tested += 1;
            found.remembered += usize::from(tested_at < begun_at);
            found.as_of = found.as_of.min(tested_at);
            if let CouponVerdict::Applicable(effect) = verdict {
                found.coupons.push(FoundCoupon {
                    code: candidate.code.clone(),
                    source: candidate.source,
                    effect,
                    tested_at,
                });
            }
        }
        found.coupons.sort_by(|one, other| {
            let more = other.effect.discount_minor.cmp(&one.effect.discount_minor);
            more.then_with(|| one.code.cmp(&other.code))
        });
        found
    }
}

/// Returns the items for a trial cart, those that the store most likely sells first.
fn items_of(product: &StoredProduct) -> Vec<TestItem> {
    let of = |available: bool| {
        let variants = product
            .variants
            .iter()
            .filter(move |variant| variant.available == available);
        variants.map(|variant| TestItem {
            product: product.id,
            variant: variant.id,
        })
    };
    of(true).chain(of(false)).take(ITEMS_MAX).collect()
}
