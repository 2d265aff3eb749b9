use api::EntityTag;
use search::suggest;

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError, Text};
use crate::render::{json, suggested};
use crate::server::QueryServer;

/// Request for suggestions while a shopper types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SuggestRequest {
    /// Text typed so far. If empty, popular suggestions are returned.
    pub text: Text<512>,
    /// Maximum number of suggestions of each kind.
    pub limit: Limit<8, 20>,
}

impl QueryServer {
    /// Returns phrases, products, brands and categories that complete the typed text.
    ///
    /// # Errors
    /// `Overloaded`, `NotReady`, `Internal`.
    pub async fn suggest(&self, request: SuggestRequest) -> Result<Answer, OperationError> {
        self.suggest_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn suggest_unless(
        &self,
        request: SuggestRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let tag = EntityTag::following(&[served.stamp(), b"suggest"], &request);
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let answer = move || {
            let found = suggest(&served.search, request.text.as_str(), request.limit.get());
            let bytes_expected = found.products.len() * 640 + 2_048;
            json(bytes_expected, &suggested::suggested(&served, &found))
        };
        let written = self.0.searches.run(answer).await?;
        Ok(Conditional::Answer(Answer::made(tag, written)))
    }
}
