use api::EntityTag;

use super::{Answer, Known, Limit, OperationError, Text, Unless};
use crate::render::{envelope, suggested};
use crate::server::QueryServer;
use crate::suggest::suggest;

/// A question for suggestions while somebody types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SuggestRequest {
    /// What was typed so far; empty for what is popular.
    pub text: Text<512>,
    /// Most suggestions of each kind.
    pub limit: Limit<8, 20>,
}

impl QueryServer {
    /// Phrases, products, brands and categories that what was typed may become.
    ///
    /// # Errors
    /// `Overloaded`, `NotReady`, `Internal`.
    pub async fn suggest(&self, request: SuggestRequest) -> Result<Answer, OperationError> {
        self.suggest_unless(request, Known::NOTHING).await?.whole()
    }

    pub(crate) async fn suggest_unless(
        &self,
        request: SuggestRequest,
        known: Known<'_>,
    ) -> Result<Unless, OperationError> {
        let served = self.served()?;
        let tag = EntityTag::following(&[served.stamp(), b"suggest"], &request);
        if known.has(&tag) {
            return Ok(Unless::Known(tag));
        }
        let answer = move || {
            let found = suggest(&served, request.text.as_str(), request.limit.get());
            let data = |out: &mut Vec<u8>| suggested::suggested(out, &served, &found);
            envelope(found.products.len() * 640 + 2_048, served.id_text(), data, |_| {})
        };
        let written = self.0.searches.run(answer).await?;
        Ok(Unless::Answer(Answer::made(tag, written)))
    }
}
