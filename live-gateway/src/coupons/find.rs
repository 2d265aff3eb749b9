//! The operation: which codes work at a brand's store.

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

use super::Finder;
use super::candidates::{Candidate, candidates};
use super::memory::{Slot, TestEnd};
use super::reason::UntestedReason;
use super::shops::ShopKey;
use super::testing::TestJob;
use crate::catalogue::CatalogueError;

/// The part of the budget that is left for writing the answer.
const MARGIN: Duration = Duration::from_millis(50);

/// The thing that codes are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CouponsOf {
    /// A product; its own variants are what codes are tested on.
    Product(ProductIdent),
    /// A brand by its slug or its domain.
    Brand(String),
    /// A brand by the host of its store.
    Domain(String),
}

/// A question for codes that work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponsRequest {
    /// The thing that codes are looked for.
    pub of: CouponsOf,
    /// Most candidates: 1 to 100.
    pub candidates_max: u8,
}

/// Reasons why there is no answer. A store's failures are none of these: they stand in the answer.
#[derive(Debug, thiserror::Error)]
pub enum CouponsError {
    /// The release has no such product.
    #[error("no such product")]
    ProductNotFound,
    /// The release has no such brand. No store was asked.
    #[error("no such brand")]
    BrandNotFound,
    /// The catalogue does not answer.
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

/// A code that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCoupon {
    /// The code.
    pub code: String,
    /// Its source.
    pub source: CouponSource,
    /// Its effect.
    pub effect: CouponEffect,
    /// The moment at which the store was asked.
    pub tested_at: Timestamp,
}

/// A brand's codes, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponsFound {
    /// The release that says which store is the brand's.
    pub release: ReleaseId,
    /// The brand.
    pub brand: BrandSlug,
    /// The product and the variant that codes were tested on; `None` where the brand has nothing in stock.
    pub item: Option<(data_model::ProductId, VariantId)>,
    /// Codes that apply, those that take off most first.
    pub coupons: Vec<FoundCoupon>,
    /// The number of codes that were candidates.
    pub candidates: usize,
    /// The number of those that the store gave its verdict on.
    pub tested: usize,
    /// The number of these that were tested for an earlier request.
    pub remembered: usize,
    /// The others, in the order of the candidates.
    pub untested: Vec<(String, UntestedReason)>,
    /// The oldest test; now where there is none.
    pub as_of: Timestamp,
}

/// The goods that codes are looked for at.
#[derive(Debug)]
struct Target {
    shop: StoredShop,
    /// Items that a cart may be made of, the best first.
    items: Vec<(data_model::ProductId, VariantId)>,
    /// Codes that the description of the product states.
    described: Vec<FoundCode>,
}

/// Most variants of a product that are tried for one that the store sells.
const ITEMS_MAX: usize = 4;

impl Finder {
    /// Looks for codes that work: candidates are tested at a cart of one item at the brand's store, by those that ask for
    /// the same store at the same time together. What was tested lately is told without asking the store.
    ///
    /// Ends within the budget, whatever the store does; a testing that is not over by then goes on for those who ask next.
    ///
    /// # Errors
    /// See [`CouponsError`].
    #[tracing::instrument(target = "trace::live", name = "coupons", level = "info", skip_all)]
    pub async fn find(&self, request: &CouponsRequest) -> Result<CouponsFound, CouponsError> {
        let begun = (Instant::now(), self.0.clock.now());
        let budget = Duration::from_millis(self.0.config.budget_ms);
        let deadline = begun.0 + budget.saturating_sub(MARGIN);
        let target = timeout_at(deadline, self.target(&request.of)).await;
        let Target { shop, items, described } = target.map_err(|_| CatalogueError::NotReady)??;
        let slot = self.0.slots.of(&shop.brand.store);
        let worked = slot.worked(self.memory(), deadline).await;
        let most = usize::from(request.candidates_max.clamp(1, 100));
        let candidates = candidates(&shop.brand, (&shop.codes, &described), &worked, most);
        let brand = Arc::new(shop.brand.clone());
        let (item, stop) = self
            .settle((&brand, &items), &candidates, &slot, (begun.0, deadline))
            .await;
        Ok(self.told((shop, item), &candidates, &slot, (stop, begun.1)))
    }

    /// Has every candidate tested, as far as time and the store allow: on which item, and why not all were.
    async fn settle(
        &self,
        (brand, items): (&Arc<StoredBrand>, &[(data_model::ProductId, VariantId)]),
        candidates: &[Candidate],
        slot: &Arc<Slot>,
        (begun, deadline): (Instant, Instant),
    ) -> (Option<(data_model::ProductId, VariantId)>, Option<UntestedReason>) {
        let config = &self.0.config;
        let mut last_item = None;
        for item in items.iter().filter(|(_, variant)| !slot.is_sold_out(*variant)) {
            last_item = Some(*item);
            slot.read(item.1, self.memory(), deadline).await;
            while !slot.is_sold_out(item.1) {
                let missing = self.missing(candidates, slot, item.1, begun);
                if missing.is_empty() {
                    return (last_item, None);
                }
                if let Some(stop) = stopped(slot, item.1, begun, config.rest_s) {
                    return (last_item, Some(stop));
                }
                let turn = timeout_at(deadline, Arc::clone(&slot.turn).lock_owned()).await;
                let Ok(turn) = turn else {
                    return (last_item, Some(UntestedReason::Budget));
                };
                // Whoever was first may have tested all of it meanwhile.
                let missing = self.missing(candidates, slot, item.1, begun);
                let is_over = slot.is_sold_out(item.1) || stopped(slot, item.1, begun, config.rest_s).is_some();
                if missing.is_empty() || is_over {
                    continue;
                }
                let testing = TestJob {
                    finder: self.clone(),
                    slot: Arc::clone(slot),
                    brand: Arc::clone(brand),
                    product: item.0,
                    item: item.1,
                    candidates: missing,
                };
                // It goes on for the next ones where this answer does not wait for its end.
                let done = tokio::spawn(testing.run(turn));
                match timeout_at(deadline, done).await {
                    Ok(Ok(_)) => {}
                    // Only a panic ends it so, and it is logged where it happens.
                    Ok(Err(_)) => return (last_item, Some(UntestedReason::StoreUnreadable)),
                    Err(_) => return (last_item, Some(UntestedReason::Budget)),
                }
            }
        }
        (last_item.or(items.first().copied()), Some(UntestedReason::SoldOut))
    }

    /// Candidates on which the store has given no verdict lately, and that no testing took on since `begun`.
    fn missing(&self, candidates: &[Candidate], slot: &Slot, item: VariantId, begun: Instant) -> Vec<Candidate> {
        let now = (self.0.clock.now(), &self.0.config);
        let ended = slot.last().filter(|ended| ended.item == item && ended.at >= begun);
        let taken_on = ended
            .filter(|ended| ended.stop.is_none())
            .map_or_else(HashSet::new, |ended| ended.codes);
        let is_missing = |one: &&Candidate| !taken_on.contains(&one.code) && slot.fresh(item, &one.code, now).is_none();
        candidates.iter().filter(is_missing).cloned().collect()
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
        // A host may look like a slug.
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
        // It is plain text, whose lines are told apart as those of a page are.
        let lines = |product: StoredProduct| product.description.replace('\n', "<br>");
        let described = product.map_or_else(Vec::new, |product| stated_codes(&lines(product)));
        Ok(Target { shop, items, described })
    }

    fn told(
        &self,
        (shop, item): (StoredShop, Option<(data_model::ProductId, VariantId)>),
        candidates: &[Candidate],
        slot: &Slot,
        (stop, begun): (Option<UntestedReason>, Timestamp),
    ) -> CouponsFound {
        let now = (self.0.clock.now(), &self.0.config);
        let mut found = CouponsFound {
            release: shop.release,
            brand: shop.brand.slug,
            item,
            coupons: Vec::new(),
            candidates: candidates.len(),
            tested: 0,
            remembered: 0,
            untested: Vec::new(),
            as_of: now.0,
        };
        for candidate in candidates {
            let outcome = item.and_then(|(_, variant)| slot.fresh(variant, &candidate.code, now));
            let Some(CouponOutcome { verdict, tested_at, .. }) = outcome else {
                let reason = stop.unwrap_or(UntestedReason::Refused);
                found.untested.push((candidate.code.clone(), reason));
                continue;
            };
            found.tested += 1;
            found.remembered += usize::from(tested_at < begun);
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

/// The reason why testing an item is not begun: a test that ended since `begun` was stopped, or the store is to be left
/// alone.
fn stopped(slot: &Slot, item: VariantId, begun: Instant, rest_s: u64) -> Option<UntestedReason> {
    let TestEnd {
        at, item: tested, stop, ..
    } = slot.last()?;
    let stop = stop?;
    let rests = stop.is_of_store() && at.elapsed() < Duration::from_secs(rest_s);
    let was_mine = tested == item && at >= begun && stop != UntestedReason::SoldOut;
    (rests || was_mine).then_some(stop)
}

/// Items that a cart may be made of: those first that the store would sell first.
fn items_of(product: &StoredProduct) -> Vec<(data_model::ProductId, VariantId)> {
    let of = |available: bool| {
        let variants = product
            .variants
            .iter()
            .filter(move |variant| variant.available == available);
        variants.map(|variant| (product.id, variant.id))
    };
    of(true).chain(of(false)).take(ITEMS_MAX).collect()
}
