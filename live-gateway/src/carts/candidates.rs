use std::fmt;

use async_trait::async_trait;
use data_model::StoredBrand;
use tokio::time::Instant;

/// Result of trying a code on a store's cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedCode {
    /// Discount code.
    pub code: String,
    /// True if the code applied to the tested cart. A code that did not may still apply to another cart.
    pub applicable: bool,
    /// Discount of the code alone, in minor units of the cart's currency.
    pub discount_minor: i64,
}

/// Source of codes that are worth trying at a brand's store.
#[async_trait]
pub trait CouponCandidates: Send + Sync + fmt::Debug {
    /// Returns at most `max` codes, the most likely first. Codes that worked before come before all others. Returns
    /// before `deadline`, without the codes that could not be found in time.
    async fn candidates(&self, brand: &StoredBrand, max: usize, deadline: Instant) -> Vec<String>;

    /// Records the outcomes of tried codes. Must not block.
    fn tried(&self, brand: &StoredBrand, outcomes: Vec<TriedCode>);
}

/// Source without any codes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCandidates;

#[async_trait]
impl CouponCandidates for NoCandidates {
    async fn candidates(&self, _brand: &StoredBrand, _max: usize, _deadline: Instant) -> Vec<String> {
        Vec::new()
    }

    fn tried(&self, _brand: &StoredBrand, _outcomes: Vec<TriedCode>) {}
}
