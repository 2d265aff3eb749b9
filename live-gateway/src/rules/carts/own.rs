//! Decides which lines of a store's cart belong to the buyer.
//!
//! The buyer's lines are those of requested variants, up to the requested quantity. Lines with a price come before free
//! ones. A free line with attributes is a gift, even if its variant was requested. Requests from this service have no
//! attributes, and the platform merges units into one line only if the attributes are equal. Gifts and all other lines
//! belong to the store (a bundle, a fee) or to a person who changed the cart there. Such lines are shown but not
//! counted as the buyer's, and are removed only on an explicit request. A requested variant may have no line while the
//! store shows another line with a price that was not requested. The variant then counts as merged into that line.

use std::collections::BTreeMap;

use crate::rules::store_cart::{StoreCart, StoreLine};

/// Earlier known state of a store's cart, with the quantities wanted at that time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownCart<'a> {
    pub(crate) cart: &'a StoreCart,
    pub(crate) wanted: &'a BTreeMap<u64, u32>,
}

/// Store's cart, compared with the requests that were sent to the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartComparison<'a> {
    pub(crate) cart: &'a StoreCart,
    /// Quantities that were requested and not refused, by variant.
    pub(crate) wanted: &'a BTreeMap<u64, u32>,
    /// Earlier state of the cart. New variants are never treated as merged into a line that existed before.
    pub(crate) before: Option<KnownCart<'a>>,
}

impl<'a> CartComparison<'a> {
    pub(crate) fn wanted(&self, variant: u64) -> u32 {
        self.wanted.get(&variant).copied().unwrap_or_default()
    }

    /// Returns the buyer's lines of a variant. For a variant that was not requested, all its lines with a price count
    /// as the buyer's, because a caller who names the variant means them.
    pub(crate) fn own(&self, variant: u64) -> Vec<&'a StoreLine> {
        let (mut lines, free): (Vec<_>, Vec<_>) = sold(self.cart, variant).partition(|line| line.costs());
        let wanted = self.wanted(variant);
        if wanted == 0 {
            return lines;
        }
        lines.extend(free);
        let mut pieces = 0_u32;
        let last = lines.iter().position(|line| {
            pieces = pieces.saturating_add(line.quantity);
            pieces >= wanted
        });
        lines.truncate(last.map_or(lines.len(), |last| last + 1));
        lines
    }

    pub(crate) fn pieces(&self, variant: u64) -> u32 {
        if self.is_merged(variant) {
            return self.wanted(variant);
        }
        sum(&self.own(variant))
    }

    /// Returns the requested quantities of the variants of which the buyer has fewer units.
    pub(crate) fn short(self) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        let wanted = self.wanted.iter().map(|(variant, wanted)| (*variant, *wanted));
        wanted.filter(move |(variant, wanted)| self.pieces(*variant) < *wanted)
    }

    /// Returns the total quantity of a variant in the cart, regardless of the owner.
    pub(crate) fn there(&self, variant: u64) -> u32 {
        if self.is_merged(variant) {
            return self.wanted(variant);
        }
        sum(&sold(self.cart, variant).collect::<Vec<_>>())
    }

    /// Returns the quantity of a variant that does not belong to the buyer.
    pub(crate) fn beside(&self, variant: u64) -> u32 {
        self.there(variant).saturating_sub(self.pieces(variant))
    }

    /// Returns the wanted quantities after the changes that were made at the store itself, if this is the store's cart
    /// now, `then` is the cart as last seen, and no call was in progress in between. A removed line is not wanted any
    /// more. A line without units is a shortage, because a buyer who takes out all units removes the line.
    pub(crate) fn adopted(&self, then: &Self) -> BTreeMap<u64, u32> {
        let there = self.wanted.iter().filter(|(variant, _)| self.has(**variant));
        let adopted = there.map(|(variant, wanted)| {
            let (was, now) = (then.there(*variant), self.there(*variant));
            let pieces = then.pieces(*variant).saturating_add(now).saturating_sub(was);
            (*variant, if was == now || now == 0 { *wanted } else { pieces })
        });
        adopted.filter(|(_, pieces)| *pieces > 0).collect()
    }

    /// Returns the lines into which the store may have merged others.
    pub(crate) fn bundles(&self) -> impl Iterator<Item = &'a StoreLine> + use<'a> {
        let (cart, wanted) = (self.cart, self.wanted);
        let lines = cart.lines.iter();
        lines.filter(move |line| line.costs() && !wanted.contains_key(&line.variant.0))
    }

    pub(crate) fn is_merged(&self, variant: u64) -> bool {
        let takes_it = |line: &StoreLine| {
            self.before.is_none_or(|before| {
                let was_merged = before.wanted.contains_key(&variant) && !has(before.cart, variant);
                was_merged || !has(before.cart, line.variant.0)
            })
        };
        self.wanted(variant) > 0 && !has(self.cart, variant) && self.bundles().any(takes_it)
    }

    /// Returns the variants that the store has merged into other lines.
    pub(crate) fn merged(&self) -> impl Iterator<Item = u64> + use<'a> {
        let holding = *self;
        let variants = holding.wanted.keys().copied();
        variants.filter(move |variant| holding.is_merged(*variant))
    }

    /// True if the cart contains a variant, in a separate line or merged into another line.
    pub(crate) fn has(&self, variant: u64) -> bool {
        has(self.cart, variant) || self.is_merged(variant)
    }

    /// Returns the requested quantity of a line; 0 if it was not requested here.
    pub(crate) fn asked(&self, line: &StoreLine) -> u32 {
        let mut left = self.wanted(line.variant.0);
        if left == 0 {
            return 0;
        }
        let own = self.own(line.variant.0);
        for (nth, one) in own.iter().enumerate() {
            let share = if nth + 1 == own.len() {
                left
            } else {
                one.quantity.min(left)
            };
            if one.id == line.id {
                return share;
            }
            left -= share;
        }
        0
    }
}

pub(crate) fn sum(lines: &[&StoreLine]) -> u32 {
    lines.iter().fold(0, |sum, line| sum.saturating_add(line.quantity))
}

fn sold(cart: &StoreCart, variant: u64) -> impl Iterator<Item = &StoreLine> {
    let lines = cart.lines.iter();
    lines.filter(move |line| line.variant.0 == variant && !line.is_gift())
}

fn has(cart: &StoreCart, variant: u64) -> bool {
    sold(cart, variant).next().is_some()
}

impl StoreLine {
    /// True if the line has a price above 0 after its discounts.
    pub(crate) fn costs(&self) -> bool {
        self.subtotal_minor > self.discount_minor
    }

    fn is_gift(&self) -> bool {
        self.has_attributes && self.quantity > 0 && !self.costs()
    }
}
