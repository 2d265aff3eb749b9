//! Market that watches query: the content of a release, and live responses of stores.

use std::fmt;

use async_trait::async_trait;
use data_model::{Classify, ErrorCode, ProductId, ProductIdent, ResolvedProducts, Timestamp, VariantId};

pub(crate) const IDENTS_MAX: usize = 20;

/// Product that a query finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedProduct {
    /// Id of the product.
    pub id: ProductId,
    /// Title of the product.
    pub title: String,
    /// Slug of the brand.
    pub brand_slug: String,
    /// Time at which the product was first seen; `None` if unknown.
    pub first_seen_at: Option<Timestamp>,
}

/// Reasons why the market returned no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MarketError {
    /// No release is open yet, or too many requests are in progress.
    #[error("the market is not ready")]
    NotReady,
    /// The request failed; the cause is in the log.
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

/// Source of products, searches and quotes.
#[async_trait]
pub trait Market: Send + Sync + fmt::Debug {
    /// Looks up products in the current release, at most 20 per call.
    ///
    /// # Errors
    /// Returns a [`MarketError`].
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, MarketError>;

    /// Returns one page of products that a query finds in the current release, the best first.
    ///
    /// # Errors
    /// Returns a [`MarketError`].
    async fn matches(&self, query: &str) -> Result<Vec<MatchedProduct>, MarketError>;

    /// Returns a signed quote of the store's current price of the product. Returns `None` if the store does not
    /// respond.
    async fn quote(&self, product: ProductId, variant: Option<VariantId>) -> Option<String>;
}
