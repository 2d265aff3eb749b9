use super::codes::meant;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::{Carts, Intent};
use crate::rules::carts::ids::CartId;
use crate::rules::carts::record::{Group, Target};
use crate::rules::store_cart::CartAddress;
use crate::schema::carts::CartDocument;

impl Carts {
    /// Sets the delivery address. The stores respond with their delivery options.
    pub(crate) async fn set_address(
        &self,
        asked: &CallerContext,
        id: &CartId,
        address: CartAddress,
    ) -> Result<CartDocument, CartFailure> {
        let changed = self.change(asked, id, |record| {
            // The store may sell a variant to this address that it did not sell to another one.
            let target = |group: &Group| {
                group.aimed_at(Target {
                    address: Some(address.clone()),
                    lines: group.short().collect(),
                    ..Target::default()
                })
            };
            Ok(Intent {
                targets: record.groups.iter().map(target).collect(),
                address: Some(address.clone()),
                ..Intent::default()
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }

    pub(crate) async fn choose_delivery(
        &self,
        asked: &CallerContext,
        id: &CartId,
        brand: &str,
        handle: &str,
    ) -> Result<CartDocument, CartFailure> {
        let changed = self.change(asked, id, |record| {
            let target = |group: &Group| {
                group.aimed_at(Target {
                    chosen: Some(group.choice(handle)),
                    ..Target::default()
                })
            };
            let groups = meant(record, Some(brand))?;
            Ok(Intent {
                targets: groups.into_iter().map(target).collect(),
                ..Intent::default()
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }
}
