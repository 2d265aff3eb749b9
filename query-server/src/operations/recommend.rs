use std::sync::Arc;

use api::EntityTag;
use data_index::RowAddress;
use data_model::{Kinds, ProductIdent};
use search::{Intent, recommend};

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError};
use crate::render::{TIER, card, json};
use crate::schema::{RecommendAnswer, RecommendProvenance};
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// Request for recommendations for a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecommendRequest {
    /// Product for which others are recommended.
    pub product: ProductIdent,
    /// Relation of the recommended products to this product.
    pub intent: Intent,
    /// Kinds of products to recommend.
    pub kinds: Kinds,
    /// Maximum number of cards.
    pub limit: Limit<12, 50>,
}

impl RecommendRequest {
    /// Requests the default number of products similar to `product`.
    #[must_use]
    pub fn of(product: ProductIdent) -> Self {
        Self {
            product,
            intent: Intent::default(),
            kinds: Kinds::default(),
            limit: Limit::default(),
        }
    }
}

impl QueryServer {
    /// Returns cards of products that go with a product, best first.
    ///
    /// # Errors
    /// `ProductNotFound`, `Overloaded`, `NotReady`, `Internal`.
    pub async fn recommend(&self, request: RecommendRequest) -> Result<Answer, OperationError> {
        self.recommend_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn recommend_unless(
        &self,
        request: RecommendRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let at = served.find(&request.product)?;
        let tag = EntityTag::following(&[served.stamp(), b"recommend"], &request);
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let read = |answer: &RecommendAnswer<'_>| json(answer.data.len() * 640 + 256, answer);
        let json = self.recommended(served, at, request, read).await?;
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }

    /// Applies `read` to the products that go with a product and returns the result.
    ///
    /// # Errors
    /// As [`QueryServer::recommend`].
    pub async fn recommend_with<T: Send + 'static>(
        &self,
        request: RecommendRequest,
        read: impl FnOnce(&RecommendAnswer<'_>) -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let served = self.served()?;
        let at = served.find(&request.product)?;
        self.recommended(served, at, request, read).await
    }

    async fn recommended<T: Send + 'static>(
        &self,
        served: Arc<ReleaseView>,
        at: RowAddress,
        request: RecommendRequest,
        read: impl FnOnce(&RecommendAnswer<'_>) -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let answer = move || {
            let RecommendRequest {
                intent, kinds, limit, ..
            } = request;
            let found = recommend(&served.search, at, intent, kinds, limit.get());
            read(&RecommendAnswer {
                data: card::cards(&served, &found.rows),
                provenance: RecommendProvenance {
                    release: served.id_text().into(),
                    engine: found.engine.into(),
                    intent: intent.as_str().into(),
                    ignored: None,
                },
                tier: TIER,
            })
        };
        self.0.searches.run(answer).await
    }
}
