//! What is to be done next at a store so that its cart becomes what it is to be.

use std::collections::BTreeMap;

use data_model::VariantId;

use crate::cart_client::CartAddress;
use crate::carts::record::Target;
use crate::hidden::Hidden;
use crate::store_cart::{Refusal, StoreCart, is_same_code};

/// One mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Takes lines away.
    Remove(Vec<Hidden>, Vec<u64>),
    /// Sets quantities of lines.
    Update(Vec<(Hidden, u32)>, Vec<u64>),
    /// Adds variants that are not there.
    Add(Vec<(VariantId, u32)>),
    Codes(Vec<String>),
    Address(CartAddress),
    Attributes(Vec<(String, String)>),
    /// Groups of delivery and the handle to choose there.
    Deliver(Vec<(Hidden, String)>),
}

/// The next step; `None` where the cart is what it is to be, as far as it can be.
pub(crate) fn next(cart: &StoreCart, target: &Target) -> Option<Step> {
    // What can be bought depends on where it goes.
    let address = target.address.clone().map(Step::Address);
    address
        .or_else(|| lines(cart, target))
        .or_else(|| codes(cart, target))
        .or_else(|| attributes(cart, target))
        .or_else(|| delivery(cart, target))
}

/// What is to be done with the lines of variants.
#[derive(Default)]
struct Lines {
    set: (Vec<(Hidden, u32)>, Vec<u64>),
    add: Vec<(VariantId, u32)>,
    away: (Vec<Hidden>, Vec<u64>),
}

impl Lines {
    fn of(cart: &StoreCart, wanted: &BTreeMap<u64, u32>) -> Self {
        let mut lines = Self::default();
        for (variant, quantity) in wanted {
            let mut there = cart.lines.iter().filter(|line| line.variant.0 == *variant);
            match there.next() {
                None if *quantity > 0 => lines.add.push((VariantId(*variant), *quantity)),
                None => {}
                Some(line) if *quantity > 0 => {
                    if line.quantity != *quantity {
                        lines.set.0.push((line.id.clone(), *quantity));
                        lines.set.1.push(*variant);
                    }
                    // A second line of the same variant, which a person made at the store, counts into the first.
                    lines.away.0.extend(there.map(|line| line.id.clone()));
                }
                Some(line) => {
                    lines.away.0.push(line.id.clone());
                    lines.away.0.extend(there.map(|line| line.id.clone()));
                    lines.away.1.push(*variant);
                }
            }
        }
        lines
    }

    fn remove(&mut self) -> Option<Step> {
        let (away, variants) = std::mem::take(&mut self.away);
        (!away.is_empty()).then_some(Step::Remove(away, variants))
    }

    fn update(&mut self) -> Option<Step> {
        let (set, variants) = std::mem::take(&mut self.set);
        (!set.is_empty()).then_some(Step::Update(set, variants))
    }

    fn add(&mut self) -> Option<Step> {
        let add = std::mem::take(&mut self.add);
        (!add.is_empty()).then_some(Step::Add(add))
    }
}

fn lines(cart: &StoreCart, target: &Target) -> Option<Step> {
    let Some(only) = &target.only else {
        let mut lines = Lines::of(cart, &target.lines);
        return lines.remove().or_else(|| lines.update()).or_else(|| lines.add());
    };
    let named = |variant: &u64| only.contains(variant);
    let wanted = target.lines.iter().filter(|(variant, _)| named(variant));
    let mut lines = Lines::of(cart, &wanted.map(|(variant, quantity)| (*variant, *quantity)).collect());
    // What is to come in comes first: where the store refuses all of it, the cart keeps what it has.
    let first = lines.update().or_else(|| lines.add());
    if first.is_some() {
        return first;
    }
    let (stays, goes): (Vec<_>, Vec<_>) = cart.lines.iter().partition(|line| named(&line.variant.0));
    if only.is_empty() || !stays.is_empty() {
        lines.away.0.extend(goes.iter().map(|line| line.id.clone()));
        lines.away.1.extend(goes.iter().map(|line| line.variant.0));
    }
    lines.remove()
}

fn codes(cart: &StoreCart, target: &Target) -> Option<Step> {
    let wanted = target.codes.as_ref()?;
    let is_there = wanted.len() == cart.codes.len()
        && wanted
            .iter()
            .zip(&cart.codes)
            .all(|(code, there)| is_same_code(code, &there.code));
    (!is_there).then(|| Step::Codes(wanted.clone()))
}

fn attributes(cart: &StoreCart, target: &Target) -> Option<Step> {
    if target.attributes.iter().all(|pair| cart.attributes.contains(pair)) {
        return None;
    }
    Some(Step::Attributes(with_attributes(&cart.attributes, &target.attributes)))
}

/// Attributes with others set beside or in place of them.
pub(crate) fn with_attributes(there: &[(String, String)], new: &[(String, String)]) -> Vec<(String, String)> {
    let kept = there.iter().filter(|(key, _)| !new.iter().any(|(name, _)| name == key));
    kept.chain(new).cloned().collect()
}

fn delivery(cart: &StoreCart, target: &Target) -> Option<Step> {
    let handle = target.delivery.as_ref()?;
    let offering = cart
        .deliveries
        .iter()
        .filter(|group| group.options.iter().any(|option| option.handle == *handle));
    let to_choose = offering.filter(|group| group.selected.as_ref() != Some(handle));
    let chosen: Vec<_> = to_choose.map(|group| (group.id.clone(), handle.clone())).collect();
    (!chosen.is_empty()).then_some(Step::Deliver(chosen))
}

impl Target {
    /// The rest, once a step was taken. What a store made of it (fewer pieces than asked for) is its last word.
    pub(crate) fn after(&mut self, step: &Step) {
        match step {
            Step::Remove(_, variants) => {
                self.only = None;
                self.lines.retain(|variant, _| !variants.contains(variant));
            }
            Step::Update(_, variants) => {
                self.lines.retain(|variant, _| !variants.contains(variant));
            }
            Step::Add(lines) => self
                .lines
                .retain(|known, _| !lines.iter().any(|(variant, _)| variant.0 == *known)),
            Step::Codes(_) => self.codes = None,
            Step::Address(_) => self.address = None,
            Step::Attributes(_) => self.attributes.clear(),
            Step::Deliver(_) => self.delivery = None,
        }
    }
}

/// The positions of lines that a store refuses, where it refuses single ones: `lines`, `0`, `merchandiseId`.
pub(crate) fn refused_lines(refusals: &[Refusal]) -> Vec<(usize, &Refusal)> {
    let position = |refusal: &Refusal| {
        let at = refusal.field.iter().position(|step| step == "lines")?;
        refusal.field.get(at + 1)?.parse().ok()
    };
    refusals
        .iter()
        .filter_map(|refusal| Some((position(refusal)?, refusal)))
        .collect()
}

/// Whether a store does not take the customer's token (any more).
pub(crate) fn refuses_customer(refusals: &[Refusal]) -> bool {
    let names = |refusal: &Refusal| refusal.field.iter().any(|step| step == "customerAccessToken");
    refusals.iter().any(names)
}
