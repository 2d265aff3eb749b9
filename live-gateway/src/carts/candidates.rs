use std::fmt;

use async_trait::async_trait;
use data_model::StoredBrand;
use tokio::time::Instant;

/// The result of trying a code at a store's cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedCode {
    /// The code.
    pub code: String,
    /// The store's verdict on the cart that it was tried on. A code that did not apply there may apply to another cart.
    pub applicable: bool,
    /// The amount that it took off when it was tried alone, in minor units of the cart's currency.
    pub discount_minor: i64,
}

/// Knows codes that are worth trying at a brand's store.
#[async_trait]
pub trait CouponCandidates: Send + Sync + fmt::Debug {
    /// Codes worth trying, the likeliest first, at most `max`: those that worked before ahead of all others. It answers
    /// before `deadline`, and what it cannot find out is left out.
    async fn candidates(&self, brand: &StoredBrand, max: usize, deadline: Instant) -> Vec<String>;

    /// Takes in what came of codes, so that it is remembered. It does not wait for anything.
    fn tried(&self, brand: &StoredBrand, outcomes: Vec<TriedCode>);
}

/// Knows no codes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCandidates;

#[async_trait]
impl CouponCandidates for NoCandidates {
    async fn candidates(&self, _brand: &StoredBrand, _max: usize, _deadline: Instant) -> Vec<String> {
        Vec::new()
    }

    fn tried(&self, _brand: &StoredBrand, _outcomes: Vec<TriedCode>) {}
}
