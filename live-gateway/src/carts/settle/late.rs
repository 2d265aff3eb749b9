//! Late effects in a store's cart, of calls whose answers were lost, and the differences of a cart that was made anew.

use std::collections::BTreeMap;

use data_model::ErrorCode;

use super::Work;
use crate::carts::settled::Trouble;
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::plan::Step;
use crate::rules::carts::record::{Group, Target};
use crate::rules::store_cart::StoreCart;

/// A call for some pieces of a variant, of which nobody knows if it was carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct LostCall {
    /// The buyer's pieces before it; `None` where it is of a server that ended.
    pub(super) before: Option<u32>,
    /// Pieces that were there beside those.
    pub(super) beside: u32,
    pub(super) asked: u32,
}

impl Work<'_> {
    /// Takes in what lost calls, and a server that ended, have brought since the cart was seen last, and takes back what
    /// they brought too much.
    pub(super) fn take_late(&mut self, group: &Group) {
        let Some(cart) = self.settled.cart.clone() else { return };
        self.deliver_again(group, &cart);
        let mut late = BTreeMap::new();
        if let Some(doubt) = &group.doubt {
            self.settled.is_certain |= self.before.is_over(doubt);
            late.extend(&doubt.asked);
        }
        if self.before.is_again {
            late.extend(&self.asked);
        }
        let mut wanted = group.wanted.clone();
        wanted.extend(late.iter().filter(|(_, asked)| **asked > 0));
        let now = CartComparison {
            cart: &cart,
            wanted: &wanted,
            before: Some(group.known()),
        };
        let then = group.holding();
        for (variant, asked) in late {
            let there = now.there(variant).saturating_sub(then.beside(variant));
            let was = then.pieces(variant);
            if there == was {
                continue;
            }
            self.settled.done.insert(variant, asked);
            // However many lines the store makes of them, they are the buyer's.
            self.want(variant, there.max(asked));
            let is_undone = group.wanted.get(&variant) == Some(&asked) && there < was;
            if there > asked || is_undone {
                self.ask(variant, asked);
            }
        }
    }

    /// The further work where a late call has set another address than the store got last.
    fn deliver_again(&mut self, group: &Group, cart: &StoreCart) {
        if group.address.is_none() || group.address != self.target.address || cart.address == group.address {
            return;
        }
        // It has taken out what the store does not sell to there, and the choice of delivery.
        let now = CartComparison {
            cart,
            wanted: &group.wanted,
            before: Some(group.known()),
        };
        for (variant, quantity) in now.short() {
            self.ask(variant, quantity);
        }
        self.target.chosen = self.target.chosen.take().or_else(|| group.selected());
    }

    fn want(&mut self, variant: u64, pieces: u32) {
        match pieces {
            0 => self.wanted.remove(&variant),
            pieces => self.wanted.insert(variant, pieces),
        };
    }

    /// Remembers that a call may be carried out yet which sets what is no line.
    pub(super) fn lose_settings(&mut self) {
        self.settled.set.clone_from(&self.settings);
        self.settled.is_set_lost = self.settings != Target::default();
    }

    /// Remembers what a call asked for whose answer is lost.
    pub(super) fn lose(&mut self, step: &Step) {
        if step.is_of_settings() {
            return self.lose_settings();
        }
        let Some(holding) = self.holding() else { return };
        let lost = step.variants().into_iter().filter_map(|variant| {
            let lost = LostCall {
                before: Some(holding.pieces(variant)),
                beside: holding.beside(variant),
                asked: *self.asked.get(&variant)?,
            };
            Some((variant, lost))
        });
        let lost: Vec<_> = lost.collect();
        self.lost.extend(lost);
    }

    /// Strikes out what the cart shows to be done of lost calls.
    pub(super) fn look_up(&mut self) {
        let Some(cart) = &self.settled.cart else { return };
        let mut wanted = self.wanted.clone();
        wanted.extend(self.lost.iter().map(|(variant, lost)| (*variant, lost.asked)));
        wanted.retain(|_, pieces| *pieces > 0);
        let holding = CartComparison {
            cart,
            wanted: &wanted,
            before: self.before.group.as_ref().map(Group::known),
        };
        let is_done = |variant: u64, lost: &LostCall| {
            let there = holding.there(variant).saturating_sub(lost.beside);
            lost.before.is_some_and(|before| there != before || there == lost.asked)
        };
        let done = self.lost.iter().filter(|(variant, lost)| is_done(**variant, lost));
        for (variant, lost) in done.map(|(variant, lost)| (*variant, *lost)).collect::<Vec<_>>() {
            self.lost.remove(&variant);
            self.want(variant, lost.asked);
        }
    }
}

/// Things that a cart that was made anew lacks: fewer pieces than before, or none of those that somebody put in at the
/// store. Variants that are gone altogether are listed as missing.
pub(super) fn differences(group: &Group, cart: &StoreCart, wanted: &BTreeMap<u64, u32>) -> Vec<Trouble> {
    let before = Some(group.known());
    let (now, then) = (CartComparison { cart, wanted, before }, group.holding());
    let fewer = wanted.iter().filter_map(|(variant, asked)| {
        let (has, had) = (now.pieces(*variant), then.pieces(*variant).min(*asked));
        let detail = format!("The store's cart was made anew, and has {has} of the {asked} that were asked for.");
        (has < had && now.has(*variant)).then(|| Trouble::new(ErrorCode::StoreRejected, detail, Some(*variant)))
    });
    let is_there = |variant: u64| cart.lines.iter().any(|line| line.variant.0 == variant);
    let others = then.bundles().filter(|line| !is_there(line.variant.0)).map(|line| {
        let detail = format!(
            "The store's cart was made anew without “{}”, which was not asked for here.",
            line.title
        );
        Trouble::new(ErrorCode::StoreRejected, detail, Some(line.variant.0))
    });
    fewer.chain(others).collect()
}
