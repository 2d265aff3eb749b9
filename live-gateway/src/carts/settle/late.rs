//! Late effects of calls whose responses were lost, and the differences of a rebuilt cart.

use std::collections::BTreeMap;

use data_model::ErrorCode;

use super::Work;
use crate::carts::settled::Trouble;
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::plan::Step;
use crate::rules::carts::record::{Group, Target};
use crate::rules::store_cart::StoreCart;

/// Call for a quantity of a variant whose outcome is unknown.
#[derive(Debug, Clone, Copy)]
pub(super) struct LostCall {
    /// The buyer's quantity before the call; `None` if the call is from a server that stopped.
    pub(super) before: Option<u32>,
    /// Quantity of the variant in lines that are not the buyer's.
    pub(super) beside: u32,
    pub(super) asked: u32,
}

impl Work<'_> {
    /// Records the late effects of lost calls and of a stopped server since the cart was last seen, and removes surplus
    /// quantities.
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
        self.take_late_lines(group, &cart, late);
    }

    /// Records the late effects that the response to a different call shows.
    pub(super) fn take_late_beside(&mut self, step: &Step) {
        self.take_doubled(step);
        let before = self.before;
        let (Some(group), Some(cart), 0) = (&before.group, self.settled.cart.clone(), self.creates) else {
            return;
        };
        let late = group.doubt.iter().flat_map(|doubt| doubt.asked.clone());
        let late = late.filter(|(variant, _)| !self.asked.contains_key(variant)).collect();
        self.take_late_lines(group, &cart, late);
    }

    fn take_late_lines(&mut self, group: &Group, cart: &StoreCart, late: BTreeMap<u64, u32>) {
        let mut wanted = group.wanted.clone();
        wanted.extend(late.iter().filter(|(_, asked)| **asked > 0));
        let now = CartComparison {
            cart,
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
            // All lines into which the store splits the quantity belong to the buyer.
            self.want(variant, there.max(asked));
            let is_undone = group.wanted.get(&variant) == Some(&asked) && there < was;
            if there > asked || is_undone {
                self.ask(variant, asked);
            }
        }
    }

    /// Requests the asked quantity again if an addition whose response was lost took effect beside its repetition.
    fn take_doubled(&mut self, step: &Step) {
        // A step that sets the quantity is not sent again.
        let is_set = |variant: u64| !matches!(step, Step::Add(_)) && step.variants().contains(&variant);
        let is_added = |lost: &LostCall| lost.before.is_some() && lost.asked > 0;
        let lost = self.lost.clone().into_iter();
        for (variant, lost) in lost.filter(|(variant, lost)| is_added(lost) && !is_set(*variant)) {
            let Some(holding) = self.holding() else { return };
            let there = holding.there(variant).saturating_sub(lost.beside);
            if there > lost.asked {
                // All lines of the variant that are not the store's belong to the buyer.
                self.want(variant, there);
                self.target.lines.insert(variant, lost.asked);
            }
        }
    }

    /// Plans the further work if a late call has set an older address than the last one that the store received.
    fn deliver_again(&mut self, group: &Group, cart: &StoreCart) {
        if group.address.is_none() || group.address != self.target.address || cart.address == group.address {
            return;
        }
        // The late call has removed lines that the store does not sell to that address, and the choice of delivery.
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

    /// Records that a late call may still change settings.
    pub(super) fn lose_settings(&mut self) {
        self.settled.set.clone_from(&self.settings);
        self.settled.is_set_lost = self.settings != Target::default();
    }

    /// Records the content of a call whose response is lost.
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

    /// Removes those lost calls whose effects the cart shows.
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

/// Returns the losses of a rebuilt cart: lower quantities, and lines that were added at the store itself. Variants that
/// are gone completely are reported as missing elsewhere.
pub(super) fn differences(group: &Group, cart: &StoreCart, wanted: &BTreeMap<u64, u32>) -> Vec<Trouble> {
    let before = Some(group.known());
    let (now, then) = (CartComparison { cart, wanted, before }, group.holding());
    let fewer = wanted.iter().filter_map(|(variant, asked)| {
        let (has, had) = (now.pieces(*variant), then.pieces(*variant).min(*asked));
        let detail = format!("The store's cart was rebuilt and has {has} of the {asked} requested.");
        (has < had && now.has(*variant)).then(|| Trouble::new(ErrorCode::StoreRejected, detail, Some(*variant)))
    });
    let is_there = |variant: u64| cart.lines.iter().any(|line| line.variant.0 == variant);
    let others = then.bundles().filter(|line| !is_there(line.variant.0)).map(|line| {
        let detail = format!(
            "The store's cart was rebuilt without “{}”, which was not requested here.",
            line.title
        );
        Trouble::new(ErrorCode::StoreRejected, detail, Some(line.variant.0))
    });
    fewer.chain(others).collect()
}
