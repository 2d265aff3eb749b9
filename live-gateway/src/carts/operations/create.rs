use super::Item;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::Carts;
use crate::carts::first_look::FirstReads;
use crate::hidden::SecretText;
use crate::rules::carts::answer::CartReport;
use crate::rules::carts::ids::CartId;
use crate::rules::carts::record::{CartRecord, OpenOperation};
use crate::schema::carts::CartDocument;

impl Carts {
    /// Creates a cart under an id that was chosen before. A repeated request with the same id returns the same cart.
    pub(crate) async fn create(
        &self,
        asked: &CallerContext,
        id: CartId,
        items: &[Item],
        email: Option<SecretText>,
    ) -> Result<CartDocument, CartFailure> {
        match self.look(&id, &asked.caller).await {
            Ok(_) => {
                let additions = self.additions(items).await?;
                let changed = self.change(asked, &id, |record| additions.onto(record, &self.context.config));
                return Ok(changed.await?.document(self.context.clock.now()));
            }
            Err(CartFailure::NoCart) => {}
            Err(failure) => return Err(failure),
        }
        let empty = CartRecord::default();
        let intent = self.additions(items).await?.onto(&empty, &self.context.config)?;
        let record = CartRecord {
            email,
            open: Some(OpenOperation {
                id: asked.operation.clone(),
                targets: intent.targets,
            }),
            ..empty
        };
        let held = self.put(id, &asked.caller, record).await?;
        let told = CartReport {
            problems: intent.problems,
            ..CartReport::default()
        };
        let changed = self
            .go_on(held, &asked.caller, asked.time.deadline(), &FirstReads::new(), told)
            .await?;
        Ok(changed.document(self.context.clock.now()))
    }
}
