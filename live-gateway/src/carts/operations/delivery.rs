use super::CartTold;
use super::codes::meant;
use crate::cart_client::CartAddress;
use crate::carts::change::Intent;
use crate::carts::record::{Group, Target};
use crate::carts::{CallerContext, CartFailure, Carts};
use crate::rules::carts::ids::CartId;

impl Carts {
    /// Says where to deliver; the stores say how they can.
    pub(crate) async fn set_address(
        &self,
        asked: &CallerContext,
        id: &CartId,
        address: CartAddress,
    ) -> Result<CartTold, CartFailure> {
        let changed = self.change(asked, id, |record| {
            // A store may sell a variant to this address that it did not sell to another.
            let target = |group: &Group| Target {
                address: Some(address.clone()),
                lines: group.short().collect(),
                ..Target::default()
            };
            let groups = record.groups.iter();
            Ok(Intent {
                targets: groups.map(|group| (group.brand.clone(), target(group))).collect(),
                address: Some(address),
                ..Intent::default()
            })
        });
        Ok(changed.await?.cart(self.0.clock.now()))
    }

    /// Chooses how one brand delivers.
    pub(crate) async fn choose_delivery(
        &self,
        asked: &CallerContext,
        id: &CartId,
        brand: &str,
        handle: &str,
    ) -> Result<CartTold, CartFailure> {
        let changed = self.change(asked, id, |record| {
            let target = |group: &Group| Target {
                chosen: Some(group.choice(handle)),
                ..Target::default()
            };
            let groups = meant(record, Some(brand))?;
            Ok(Intent {
                targets: groups
                    .into_iter()
                    .map(|group| (group.brand.clone(), target(group)))
                    .collect(),
                ..Intent::default()
            })
        });
        Ok(changed.await?.cart(self.0.clock.now()))
    }
}
