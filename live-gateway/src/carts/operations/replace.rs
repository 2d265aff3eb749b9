use std::collections::BTreeSet;

use super::Item;
use super::resolve::{ItemVariant, WantedPieces, put};
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::{Carts, Intent};
use crate::config::CartConfig;
use crate::rules::carts::ids::{CartId, product_id};
use crate::rules::carts::record::{BrandTarget, CartRecord, Group, Target};
use crate::schema::carts::{CartDocument, CartProblem};

impl Carts {
    /// Replaces the content of a cart by these items. If none of them is available, the cart stays unchanged.
    pub(crate) async fn replace_lines(
        &self,
        asked: &CallerContext,
        id: &CartId,
        items: &[Item],
    ) -> Result<CartDocument, CartFailure> {
        self.look(id, &asked.caller).await?;
        let meant = self.meant(items).await?;
        let changed = self.change(asked, id, |record| {
            let (wanted, problems) = wanted(record, items, &meant)?;
            if wanted.is_empty() && !problems.is_empty() {
                return Err(CartFailure::Unsold(problems));
            }
            let mut targets: Vec<_> = wanted.into_iter().map(|one| only(one, record)).collect();
            within(&targets, &self.context.config)?;
            // The groups of other brands are removed only after the new items are in the cart.
            let is_other = |group: &&Group| targets.iter().all(|one| one.brand.store != group.brand.store);
            let others = record.groups.iter().filter(is_other).map(|group| {
                let mut other = emptied(group);
                other.target.waits = true;
                other
            });
            let others: Vec<_> = others.collect();
            targets.extend(others);
            Ok(Intent {
                targets,
                problems,
                ..Intent::default()
            })
        });
        Ok(changed.await?.document(self.context.clock.now()))
    }

    /// Empties a cart and deletes it for its caller. Returns the last known content.
    pub(crate) async fn end(&self, asked: &CallerContext, id: &CartId) -> Result<CartDocument, CartFailure> {
        let changed = self.change(asked, id, |record| {
            Ok(Intent {
                targets: record.groups.iter().map(emptied).collect(),
                is_end: true,
                ..Intent::default()
            })
        });
        Ok(changed.await?.ended(self.context.clock.now()))
    }
}

/// Returns the wanted quantities of each brand, and the items that are not available. Items that are already in the
/// cart need no catalogue lookup.
fn wanted(
    record: &CartRecord,
    items: &[Item],
    meant: &[Result<ItemVariant, CartProblem>],
) -> Result<(Vec<WantedPieces>, Vec<CartProblem>), CartFailure> {
    let (mut wanted, mut problems) = (Vec::new(), Vec::new());
    for (item, meant) in items.iter().zip(meant) {
        match in_cart(record, item, meant.as_ref().ok()).map_or_else(|| meant.clone(), Ok) {
            Ok(meant) => put(&mut wanted, meant, item)?,
            Err(problem) => problems.push(problem),
        }
    }
    Ok((wanted, problems))
}

/// Returns the line of an item: a line of the same product and, if the item names a variant, of that variant.
fn in_cart(record: &CartRecord, item: &Item, meant: Option<&ItemVariant>) -> Option<ItemVariant> {
    let named = meant.map_or_else(|| item.product.to_string(), |meant| meant.product.clone());
    record.groups.iter().find_map(|group| {
        let is_named = |variant: u64| item.variant.is_none_or(|wanted| wanted.0 == variant);
        let mut lines = group.seen.lines.iter().filter(|line| is_named(line.variant.0));
        let line = lines.find(|line| product_id(&group.brand, line.product) == named)?;
        Some(ItemVariant {
            brand: group.brand.clone(),
            variant: line.variant.0,
            product: named.clone(),
            currency: meant.map_or(group.seen.currency, |meant| meant.currency),
        })
    })
}

/// Returns the target of a store's cart with the wanted items only. The store's cart is read.
fn only(wanted: WantedPieces, record: &CartRecord) -> BrandTarget {
    let only: BTreeSet<u64> = wanted.lines.keys().copied().collect();
    let mut target = Target {
        lines: wanted.lines,
        products: wanted.products,
        shown: wanted.shown,
        only: Some(only),
        is_read: true,
        ..Target::default()
    };
    for variant in record.group(&wanted.brand).into_iter().flat_map(asked_for) {
        target.lines.entry(variant).or_insert(0);
    }
    let brand = wanted.brand;
    BrandTarget { brand, target }
}

/// Returns the variants that were requested, and those in calls that a store may still carry out.
fn asked_for(group: &Group) -> impl Iterator<Item = u64> + '_ {
    let in_doubt = group.doubt.iter().flat_map(|doubt| doubt.asked.keys());
    group.wanted.keys().chain(in_doubt).copied()
}

/// Returns the target that removes everything with a price from a store's cart.
fn emptied(group: &Group) -> BrandTarget {
    let others = group.seen.lines.iter().filter(|line| line.costs());
    let all = asked_for(group).chain(others.map(|line| line.variant.0));
    group.aimed_at(Target {
        lines: all.map(|variant| (variant, 0)).collect(),
        only: Some(BTreeSet::new()),
        is_read: true,
        ..Target::default()
    })
}

fn within(targets: &[BrandTarget], config: &CartConfig) -> Result<(), CartFailure> {
    let pieces = || targets.iter().flat_map(|one| one.target.lines.values());
    if pieces().any(|quantity| *quantity > config.quantity_max) {
        return Err(CartFailure::Bound(
            "items",
            "the quantity of one variant exceeds the limit of a cart",
        ));
    }
    let lines = pieces().filter(|quantity| **quantity > 0).count();
    if lines > config.lines_max.min(storefront::documents::CART_LINES_MAX) {
        return Err(CartFailure::Bound(
            "items",
            "the number of lines exceeds the limit of a cart",
        ));
    }
    Ok(())
}
