//! The market that watches look at: what a release has, and what a store says now.

use std::fmt;

use async_trait::async_trait;
use data_model::{Classify, ErrorCode, ProductId, ProductIdent, ResolvedProducts, Timestamp, VariantId};

/// Most idents that are resolved at once.
pub(crate) const IDENTS_MAX: usize = 20;

/// A product that a query finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedProduct {
    /// The product.
    pub id: ProductId,
    /// Its title.
    pub title: String,
    /// The brand's slug.
    pub brand_slug: String,
    /// When it was first seen; `None` where that is not known.
    pub first_seen_at: Option<Timestamp>,
}

/// The reason why the market says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MarketError {
    /// No release is open yet, or too many ask.
    #[error("the market does not answer now")]
    NotReady,
    /// Something went wrong, as the log tells.
    #[error("the market cannot answer")]
    Failed,
}

impl Classify for MarketError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotReady => ErrorCode::NotReady,
            Self::Failed => ErrorCode::Internal,
        }
    }
}

/// The market.
#[async_trait]
pub trait Market: Send + Sync + fmt::Debug {
    /// Products of the release that is served, at most 20 at once.
    ///
    /// # Errors
    /// [`MarketError`].
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, MarketError>;

    /// The products that a query finds in the release that is served, the best first; a page of them.
    ///
    /// # Errors
    /// [`MarketError`].
    async fn matches(&self, query: &str) -> Result<Vec<MatchedProduct>, MarketError>;

    /// A signed quote of what the product's store says now; `None` where it says nothing.
    async fn quote(&self, product: ProductId, variant: Option<VariantId>) -> Option<String>;
}
