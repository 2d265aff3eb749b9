use super::{CartTold, Item};
use crate::carts::record::{CartRecord, OpenOperation};
use crate::carts::{CallerContext, CartFailure, Carts, Intent};
use crate::hidden::SecretText;
use crate::rules::carts::answer::CartReport;
use crate::rules::carts::ids::CartId;

impl Carts {
    /// Makes a cart under an id that was drawn for it: asked again with the same one, it is the same cart.
    pub(crate) async fn create(
        &self,
        asked: &CallerContext,
        id: CartId,
        items: &[Item],
        email: Option<SecretText>,
    ) -> Result<CartTold, CartFailure> {
        match self.look(&id, &asked.caller).await {
            Ok(_) => {
                let additions = self.additions(items).await?;
                let changed = self.change(asked, &id, |record| {
                    let (targets, problems) = additions.onto(record, self.config())?;
                    Ok(Intent {
                        targets,
                        problems,
                        ..Intent::default()
                    })
                });
                return Ok(changed.await?.cart(self.0.clock.now()));
            }
            Err(CartFailure::NoCart) => {}
            Err(failure) => return Err(failure),
        }
        let empty = CartRecord::default();
        let (targets, problems) = self.additions(items).await?.onto(&empty, self.config())?;
        let record = CartRecord {
            email,
            open: Some(OpenOperation {
                id: asked.operation.clone(),
                targets,
            }),
            ..empty
        };
        let held = self.put(id, &asked.caller, record).await?;
        let told = CartReport {
            problems,
            ..CartReport::default()
        };
        let changed = self.go_on(held, &asked.caller, asked.time.deadline(), told).await?;
        Ok(changed.cart(self.0.clock.now()))
    }
}
