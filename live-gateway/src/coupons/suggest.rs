//! Codes for carts of any items: suggests candidates for the best codes of a cart, and records the outcomes.

use std::sync::Arc;

use async_trait::async_trait;
use data_model::{CouponVerdict, StoredBrand, VariantId};
use tokio::time::{Instant, timeout_at};

use super::Finder;
use super::candidates::{candidates, is_public};
use super::shops::ShopKey;
use crate::carts::{CouponCandidates, TriedCode};

/// Placeholder for the variant in outcomes that apply to every cart.
const ANY_ITEM: VariantId = VariantId(0);
/// Maximum number of codes that are considered for one cart.
const CONSIDERED_MAX: usize = 150;

#[async_trait]
impl CouponCandidates for Finder {
    async fn candidates(&self, brand: &StoredBrand, max: usize, deadline: Instant) -> Vec<String> {
        let key = ShopKey::Slug(brand.slug.clone());
        // Without the shop, codes that worked before and common codes are still suggested.
        let asked = timeout_at(deadline, self.0.shops.shop(&key)).await;
        let stated = match asked {
            Ok(Ok(Some(shop))) => shop.codes,
            _ => Vec::new(),
        };
        let slot = self.0.slots.of(&brand.store);
        let worked = slot.worked(self.memory(), deadline).await;
        slot.read(ANY_ITEM, self.memory(), deadline).await;
        let now = self.0.clock.now();
        // An unknown code works on no cart of the store.
        let is_none = |code: &str| {
            let known = slot.fresh(ANY_ITEM, code, now, &self.0.config);
            known.is_some_and(|outcome| outcome.verdict == CouponVerdict::UnknownCode)
        };
        let codes = candidates(brand, &stated, &[], &worked, CONSIDERED_MAX).into_iter();
        let codes = codes.map(|candidate| candidate.code).filter(|code| !is_none(code));
        let codes: Vec<String> = codes.take(max).collect();
        slot.suggest(&codes);
        codes
    }

    fn tried(&self, brand: &StoredBrand, outcomes: Vec<TriedCode>) {
        let slot = self.0.slots.of(&brand.store);
        // A code that the buyer entered may be personal, so others do not get it.
        let is_everybodys = |code: &str| slot.was_suggested(code) || is_public(brand, code);
        let worked = outcomes.into_iter().filter(|outcome| outcome.applicable);
        let worked = worked.map(|outcome| outcome.code.to_ascii_uppercase());
        let worked: Vec<String> = worked.filter(|code| is_everybodys(code)).collect();
        if worked.is_empty() {
            return;
        }
        let (inner, store) = (Arc::clone(&self.0), brand.store.clone());
        tokio::spawn(async move {
            if let Err(error) = inner.state.note_worked(&store, &worked, inner.clock.now()).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "discount codes that worked cannot be stored");
                metrics::counter!("coupon_state_failures_total").increment(1);
            }
        });
    }
}
