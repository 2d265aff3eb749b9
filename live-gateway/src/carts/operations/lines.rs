use std::collections::BTreeMap;

use super::Item;
use super::resolve::WantedPieces;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::{Carts, Intent};
use crate::config::CartConfig;
use crate::rules::carts::answer::ids;
use crate::rules::carts::ids::CartId;
use crate::rules::carts::own::sum;
use crate::rules::carts::record::{BrandTarget, CartRecord, Target};
use crate::rules::store_cart::LineQuantity;
use crate::schema::carts::{CartDocument, CartProblem};

#[derive(Debug)]
pub(super) struct Additions {
    wanted: Vec<WantedPieces>,
    problems: Vec<CartProblem>,
}

impl Additions {
    /// Returns the intent that adds everything to the cart. Quantities of existing lines grow.
    pub(super) fn onto(&self, record: &CartRecord, config: &CartConfig) -> Result<Intent, CartFailure> {
        if self.wanted.is_empty() && !self.problems.is_empty() {
            return Err(CartFailure::Unsold(self.problems.clone()));
        }
        let mut lines_new = 0;
        let mut targets = Vec::with_capacity(self.wanted.len());
        for one in self.wanted.iter().cloned() {
            let group = record.group(&one.brand);
            let mut lines = BTreeMap::new();
            for (variant, more) in one.lines {
                let there = group.map_or(0, |group| group.quantity(variant));
                let is_there = group.is_some_and(|group| group.wanted.contains_key(&variant));
                lines_new += usize::from(!is_there);
                let quantity = there.saturating_add(more);
                if quantity > config.quantity_max {
                    return Err(CartFailure::Bound(
                        "items",
                        "the quantity of one variant exceeds the limit of a cart",
                    ));
                }
                lines.insert(variant, quantity);
            }
            let target = Target {
                lines,
                products: one.products,
                shown: one.shown,
                ..Target::default()
            };
            let brand = one.brand;
            targets.push(BrandTarget { brand, target });
        }
        if record.lines() + lines_new > config.lines_max.min(storefront::documents::CART_LINES_MAX) {
            return Err(CartFailure::Bound(
                "items",
                "the number of lines exceeds the limit of a cart",
            ));
        }
        Ok(Intent {
            targets,
            problems: self.problems.clone(),
            ..Intent::default()
        })
    }
}

impl Carts {
    pub(super) async fn additions(&self, items: &[Item]) -> Result<Additions, CartFailure> {
        let (wanted, problems) = self.resolve(items).await?;
        Ok(Additions { wanted, problems })
    }

    /// Adds items to a cart. A brand that is new to the cart gets a cart at its store.
    pub(crate) async fn add_lines(
        &self,
        asked: &CallerContext,
        id: &CartId,
        items: &[Item],
    ) -> Result<CartDocument, CartFailure> {
        self.look(id, &asked.caller).await?;
        let additions = self.additions(items).await?;
        let changed = self.change(asked, id, |record| additions.onto(record, &self.context.config));
        Ok(changed.await?.document(self.context.clock.now()))
    }

    /// Sets the quantity of a line; 0 removes the line.
    pub(crate) async fn set_line(
        &self,
        asked: &CallerContext,
        id: &CartId,
        line_id: &str,
        quantity: u32,
    ) -> Result<CartDocument, CartFailure> {
        let changed = self.change(asked, id, |record| {
            let target = line_target(id, record, line_id, quantity)?;
            Ok(Intent {
                targets: vec![target],
                ..Intent::default()
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }
}

fn line_target(id: &CartId, record: &CartRecord, line_id: &str, quantity: u32) -> Result<BrandTarget, CartFailure> {
    for group in &record.groups {
        let Some((_, line)) = ids(id, group).find(|(known, _)| known == line_id) else {
            continue;
        };
        let variant = line.variant.0;
        let holding = group.holding();
        let merged: Vec<u64> = holding.merged().collect();
        let own = holding.own(variant);
        let mut target = Target {
            // A store without any change is only read.
            is_read: line.quantity == quantity,
            ..Target::default()
        };
        if !merged.is_empty() && quantity == 0 && holding.bundles().any(|bundle| bundle.id == line.id) {
            // All lines into which the store split this line are removed too.
            target.lines.extend(merged.into_iter().map(|variant| (variant, 0)));
        } else if own.iter().any(|one| one.id == line.id) && (merged.is_empty() || holding.wanted(variant) > 0) {
            // The buyer's other lines of the same variant keep their quantities.
            let others = sum(&own).saturating_sub(line.quantity);
            target.lines.insert(variant, others.saturating_add(quantity));
        } else {
            let id = line.id.clone();
            target.at_store.push(LineQuantity { id, quantity });
        }
        return Ok(group.aimed_at(target));
    }
    Err(CartFailure::NoLine)
}
