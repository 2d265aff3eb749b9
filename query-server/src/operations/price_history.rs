use api::EntityTag;
use data_model::ProductIdent;

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError};
use crate::cursor::{Cursor, Cursors};
use crate::render::{json, price_history};
use crate::server::QueryServer;

/// Request for a page of a product's price history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PriceHistoryRequest {
    /// Product whose history is requested.
    pub product: ProductIdent,
    /// Maximum number of changes on the page.
    pub limit: Limit<200, 1_000>,
    /// End of the previous page; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl PriceHistoryRequest {
    /// Requests the first page.
    #[must_use]
    pub fn first(product: ProductIdent) -> Self {
        Self {
            product,
            limit: Limit::default(),
            cursor: None,
        }
    }
}

impl QueryServer {
    /// Returns one page of a product's price changes, newest first.
    ///
    /// # Errors
    /// `ProductNotFound`, `ForeignCursor`, `ExpiredCursor`, `NotReady`.
    pub fn price_history(&self, request: &PriceHistoryRequest) -> Result<Answer, OperationError> {
        self.price_history_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn price_history_unless(
        &self,
        request: &PriceHistoryRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let key = &self.0.config.cursor_key;
        let served = self.served()?;
        let at = served.find(&request.product)?;
        let product = served.product_id(at).map(|id| id.to_string()).unwrap_or_default();
        let list: [&[u8]; 2] = [b"price-history", product.as_bytes()];
        let cursors = Cursors::new(key, served.stamp(), &list);
        let start = match &request.cursor {
            Some(cursor) => cursors.position(cursor)?,
            None => 0,
        };
        let tag = EntityTag::following(&[served.stamp(), b"price-history", key.bytes()], request);
        Conditional::known(known, tag, || {
            let range = start..start.saturating_add(request.limit.get());
            let cursor_at = |end| cursors.write(end);
            Ok(json(4096, &price_history::page(&served, at, range, cursor_at)))
        })
    }
}
