use api::EntityTag;
use data_model::ProductIdent;

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError};
use crate::cursor::{Cursor, Cursors};
use crate::render::{json, review};
use crate::server::QueryServer;

/// Request for a page of a product's reviews.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewsRequest {
    /// Reviewed product.
    pub product: ProductIdent,
    /// Maximum number of reviews on the page.
    pub limit: Limit<20, 100>,
    /// Number of reviews to skip.
    pub offset: usize,
    /// End of the previous page, instead of `offset`; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl ReviewsRequest {
    /// Requests the first page.
    #[must_use]
    pub fn first(product: ProductIdent) -> Self {
        Self {
            product,
            limit: Limit::default(),
            offset: 0,
            cursor: None,
        }
    }
}

impl QueryServer {
    /// Returns one page of a product's reviews, newest first.
    ///
    /// # Errors
    /// `ProductNotFound`, `ForeignCursor`, `ExpiredCursor`, `NotReady`.
    pub fn reviews(&self, request: &ReviewsRequest) -> Result<Answer, OperationError> {
        self.reviews_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn reviews_unless(
        &self,
        request: &ReviewsRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let key = &self.0.config.cursor_key;
        let served = self.served()?;
        let at = served.find(&request.product)?;
        let product = served.product_id(at).map(|id| id.to_string()).unwrap_or_default();
        let list: [&[u8]; 2] = [b"reviews", product.as_bytes()];
        let cursors = Cursors::new(key, served.stamp(), &list);
        let start = match &request.cursor {
            // A cursor takes precedence over the offset.
            Some(cursor) => cursors.position(cursor)?,
            None => request.offset,
        };
        let tag = EntityTag::following(&[served.stamp(), b"reviews", key.bytes()], request);
        Conditional::known(known, tag, || {
            let range = start..start.saturating_add(request.limit.get());
            let cursor_at = |end| cursors.write(end);
            Ok(json(8192, &review::page(&served, at, range, cursor_at)))
        })
    }
}
