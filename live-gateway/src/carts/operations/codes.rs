use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::{Carts, Intent};
use crate::rules::carts::ids::CartId;
use crate::rules::carts::record::{CartRecord, Group, Target};
use crate::rules::store_cart::is_same_code;
use crate::schema::carts::CartDocument;

impl Carts {
    /// Adds a code at all stores of the cart, or at one brand's store.
    pub(crate) async fn add_code(
        &self,
        asked: &CallerContext,
        id: &CartId,
        code: &str,
        brand: Option<&str>,
    ) -> Result<CartDocument, CartFailure> {
        let codes_max = self.context.config.codes_max;
        let changed = self.change(asked, id, |record| {
            intent(record, brand, |mut codes| {
                if codes.iter().any(|known| is_same_code(known, code)) {
                    return Ok(codes);
                }
                if codes.len() >= codes_max {
                    return Err(CartFailure::Bound(
                        "code",
                        "the cart already has the maximum number of codes at this store",
                    ));
                }
                codes.push(code.to_owned());
                Ok(codes)
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }

    /// Removes a code at all stores of the cart, or at one brand's store.
    pub(crate) async fn remove_code(
        &self,
        asked: &CallerContext,
        id: &CartId,
        code: &str,
        brand: Option<&str>,
    ) -> Result<CartDocument, CartFailure> {
        let changed = self.change(asked, id, |record| {
            intent(record, brand, |mut codes| {
                codes.retain(|known| !is_same_code(known, code));
                Ok(codes)
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }
}

/// Returns the change to the code lists of the selected groups.
fn intent(
    record: &CartRecord,
    brand: Option<&str>,
    change: impl Fn(Vec<String>) -> Result<Vec<String>, CartFailure>,
) -> Result<Intent, CartFailure> {
    let mut targets = Vec::new();
    for group in meant(record, brand)? {
        let target = Target {
            codes: Some(change(group.codes())?),
            ..Target::default()
        };
        targets.push(group.aimed_at(target));
    }
    Ok(Intent {
        targets,
        ..Intent::default()
    })
}

/// Returns the selected groups: the given brand's group, or all groups.
pub(super) fn meant<'a>(record: &'a CartRecord, brand: Option<&str>) -> Result<Vec<&'a Group>, CartFailure> {
    let is_meant = |group: &&Group| brand.is_none_or(|slug| group.brand.slug.as_str() == slug);
    let groups: Vec<_> = record.groups.iter().filter(is_meant).collect();
    if groups.is_empty() && brand.is_some() {
        return Err(CartFailure::NoBrand);
    }
    Ok(groups)
}
