//! The owners of the lines of a store's cart.
//!
//! The buyer's are those of variants that were asked for: as far as they cover what was asked for, and lines that cost
//! something before free ones. A free line with attributes of its own is a gift, also of a variant that was asked for: what
//! is asked for here has no attributes, and the platform puts pieces into one line only where the attributes are the same.
//! Gifts and all other lines are the store's own (a bundle, a fee), or of somebody who changed the cart there. They are
//! shown, never counted, and not taken out unless they are named. A variant that was asked for and has no line, where the
//! store shows another line that nobody asked for and that costs something, is merged into that.

use std::collections::BTreeMap;

use crate::rules::store_cart::{StoreCart, StoreLine};

/// A store's cart as it was known before, and the pieces that were wanted of it then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownCart<'a> {
    pub(crate) cart: &'a StoreCart,
    pub(crate) wanted: &'a BTreeMap<u64, u32>,
}

/// A store's cart beside what was asked of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartComparison<'a> {
    pub(crate) cart: &'a StoreCart,
    /// Pieces that were asked for and not refused, by variant.
    pub(crate) wanted: &'a BTreeMap<u64, u32>,
    /// Into a line that was there already nothing new is merged.
    pub(crate) before: Option<KnownCart<'a>>,
}

impl<'a> CartComparison<'a> {
    pub(crate) fn wanted(&self, variant: u64) -> u32 {
        self.wanted.get(&variant).copied().unwrap_or_default()
    }

    /// The buyer's lines of a variant. Of one that was not asked for, all that cost something: whoever names it means those.
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

    /// Pieces of a variant that the buyer has.
    pub(crate) fn pieces(&self, variant: u64) -> u32 {
        if self.is_merged(variant) {
            return self.wanted(variant);
        }
        sum(&self.own(variant))
    }

    /// Variants of which the buyer has fewer than were asked for, and how many those were.
    pub(crate) fn short(self) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        let wanted = self.wanted.iter().map(|(variant, wanted)| (*variant, *wanted));
        wanted.filter(move |(variant, wanted)| self.pieces(*variant) < *wanted)
    }

    /// Pieces of a variant that are there, the buyer's and others.
    pub(crate) fn there(&self, variant: u64) -> u32 {
        if self.is_merged(variant) {
            return self.wanted(variant);
        }
        sum(&sold(self.cart, variant).collect::<Vec<_>>())
    }

    /// Pieces of a variant beside the buyer's.
    pub(crate) fn beside(&self, variant: u64) -> u32 {
        self.there(variant).saturating_sub(self.pieces(variant))
    }

    /// Lines into which the store may have merged others.
    pub(crate) fn bundles(&self) -> impl Iterator<Item = &'a StoreLine> + use<'a> {
        let (cart, wanted) = (self.cart, self.wanted);
        let lines = cart.lines.iter();
        lines.filter(move |line| line.costs() && !wanted.contains_key(&line.variant.0))
    }

    /// True where the store shows a variant within another line.
    pub(crate) fn is_merged(&self, variant: u64) -> bool {
        let takes_it = |line: &StoreLine| {
            self.before.is_none_or(|before| {
                let was_merged = before.wanted.contains_key(&variant) && !has(before.cart, variant);
                was_merged || !has(before.cart, line.variant.0)
            })
        };
        self.wanted(variant) > 0 && !has(self.cart, variant) && self.bundles().any(takes_it)
    }

    /// Variants that the store shows within other lines.
    pub(crate) fn merged(&self) -> impl Iterator<Item = u64> + use<'a> {
        let holding = *self;
        let variants = holding.wanted.keys().copied();
        variants.filter(move |variant| holding.is_merged(*variant))
    }

    /// True where the cart has a variant, as a line or within one.
    pub(crate) fn has(&self, variant: u64) -> bool {
        has(self.cart, variant) || self.is_merged(variant)
    }

    /// Pieces that were asked for in a line; 0 for one that nobody asked for here.
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

/// Pieces of lines.
pub(crate) fn sum(lines: &[&StoreLine]) -> u32 {
    lines.iter().fold(0, |sum, line| sum.saturating_add(line.quantity))
}

/// Lines of a variant but for gifts.
fn sold(cart: &StoreCart, variant: u64) -> impl Iterator<Item = &StoreLine> {
    let lines = cart.lines.iter();
    lines.filter(move |line| line.variant.0 == variant && !line.is_gift())
}

fn has(cart: &StoreCart, variant: u64) -> bool {
    sold(cart, variant).next().is_some()
}

impl StoreLine {
    /// True where it costs something after its discounts.
    pub(crate) fn costs(&self) -> bool {
        self.subtotal_minor > self.discount_minor
    }

    fn is_gift(&self) -> bool {
        self.has_attributes && self.quantity > 0 && !self.costs()
    }
}
