//! Chooses the next step at a store towards the wanted state of its cart.

use std::collections::BTreeMap;

use data_model::VariantId;

use super::own::{CartComparison, sum};
use super::record::Target;
use crate::hidden::SecretText;
use crate::rules::store_cart::{
    CartAddress, CartAttribute, DeliveryChoice, LineQuantity, Refusal, StoreCart, StoreDelivery, StoreLine,
    StoreOption, VariantQuantity, is_same_code,
};

/// One mutation of a store's cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Removes lines. The second list contains the variants that have no line after this step.
    Remove(Vec<SecretText>, Vec<u64>),
    /// Sets quantities of lines. The second list contains the variants that have their target quantity after this step.
    Update(Vec<LineQuantity>, Vec<u64>),
    /// Adds the missing quantities of variants.
    Add(Vec<VariantQuantity>),
    Buyer,
    Codes(Vec<String>),
    Address(CartAddress),
    Attributes(Vec<CartAttribute>),
    Deliver(Vec<DeliveryChoice>),
}

/// Returns the next step. Returns `None` if the cart matches its target as far as possible.
pub(crate) fn next(holding: CartComparison<'_>, target: &Target) -> Option<Step> {
    let cart = holding.cart;
    let buyer = target.tells_buyer.then_some(Step::Buyer);
    // The address is set first, because some goods are sold only to some addresses.
    buyer
        .or_else(|| address(cart, target))
        .or_else(|| at_store(target))
        .or_else(|| lines(holding, target))
        .or_else(|| codes(cart, target))
        .or_else(|| attributes(cart, target))
        .or_else(|| delivery(cart, target))
}

/// Returns the step for lines that the store added and that the request changes.
fn at_store(target: &Target) -> Option<Step> {
    let named = &target.at_store;
    let away = named.iter().filter(|line| line.quantity == 0);
    let away: Vec<_> = away.map(|line| line.id.clone()).collect();
    if !away.is_empty() {
        return Some(Step::Remove(away, Vec::new()));
    }
    (!named.is_empty()).then(|| Step::Update(named.clone(), Vec::new()))
}

/// Changes to the lines of variants, by kind of call.
#[derive(Default)]
struct Lines {
    set: (Vec<LineQuantity>, Vec<u64>),
    add: Vec<VariantQuantity>,
    away: (Vec<SecretText>, Vec<u64>),
}

impl Lines {
    fn of(holding: CartComparison<'_>, target: &BTreeMap<u64, u32>) -> Self {
        let mut lines = Self::default();
        for (variant, quantity) in target {
            lines.plan(holding, *variant, *quantity);
        }
        // A merged line is removed only if all variants in it are removed.
        let goes = |variant: u64| target.get(&variant) == Some(&0);
        let merged: Vec<u64> = holding.merged().collect();
        if !merged.is_empty() && merged.iter().all(|variant| goes(*variant)) {
            let bundles = holding.bundles().map(|line| line.id.clone());
            let bundles: Vec<_> = bundles.filter(|id| !lines.away.0.contains(id)).collect();
            lines.away.0.extend(bundles);
            lines.away.1.extend(merged);
        }
        lines
    }

    fn plan(&mut self, holding: CartComparison<'_>, variant: u64, quantity: u32) {
        let pieces = |quantity: u32| VariantQuantity {
            variant: VariantId(variant),
            quantity,
        };
        if holding.is_merged(variant) {
            let more = quantity.saturating_sub(holding.wanted(variant));
            self.add.extend((more > 0).then(|| pieces(more)));
            return;
        }
        let own = holding.own(variant);
        match own.split_first() {
            None if quantity > 0 => self.add.push(pieces(quantity)),
            None => {}
            Some(_) if quantity == 0 => {
                self.away.0.extend(own.iter().map(|line| line.id.clone()));
                self.away.1.push(variant);
            }
            Some((first, others)) if sum(&own) != quantity => {
                // If a variant has several lines, one call moves its whole quantity to the first line, so that no unit
                // is lost between two calls.
                let to = |line: &StoreLine, quantity: u32| LineQuantity {
                    id: line.id.clone(),
                    quantity,
                };
                self.set.0.push(to(first, quantity));
                self.set.0.extend(others.iter().map(|line| to(line, 0)));
                self.set.1.push(variant);
            }
            Some(_) => {}
        }
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

fn lines(holding: CartComparison<'_>, target: &Target) -> Option<Step> {
    let mut lines = Lines::of(holding, &target.lines);
    let Some(only) = &target.only else {
        return lines.remove().or_else(|| lines.update()).or_else(|| lines.add());
    };
    // Additions come before removals: if the store refuses all additions, the cart keeps its lines.
    let first = lines.update().or_else(|| lines.add());
    if first.is_some() {
        return first;
    }
    let is_there = only.is_empty() || only.iter().any(|variant| holding.has(*variant));
    if is_there { lines.remove() } else { None }
}

fn address(cart: &StoreCart, target: &Target) -> Option<Step> {
    let address = target
        .address
        .as_ref()
        .filter(|address| cart.address.as_ref() != Some(*address));
    address.cloned().map(Step::Address)
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

/// Returns the attributes with `new` added; equal keys are replaced.
pub(crate) fn with_attributes(there: &[CartAttribute], new: &[CartAttribute]) -> Vec<CartAttribute> {
    let kept = there.iter().filter(|one| !new.iter().any(|other| other.key == one.key));
    kept.chain(new).cloned().collect()
}

fn delivery(cart: &StoreCart, target: &Target) -> Option<Step> {
    let chosen = target.chosen.as_ref()?;
    // Before a selection, the cheapest option appears as selected, but the total does not include it.
    let is_counted = cart.delivery_minor > 0 && cart.other_minor == 0;
    let is_chosen = |group: &StoreDelivery, option: &StoreOption| {
        group.selected.as_ref() == Some(&option.handle) && (is_counted || option.amount_minor == 0)
    };
    let to_choose = chosen.offered(cart).into_iter();
    let to_choose = to_choose.filter(|(group, option)| !is_chosen(group, option));
    let chosen: Vec<_> = to_choose
        .map(|(group, option)| DeliveryChoice {
            group: group.id.clone(),
            handle: option.handle.clone(),
        })
        .collect();
    (!chosen.is_empty()).then_some(Step::Deliver(chosen))
}

impl Step {
    /// True if the step changes a setting of the whole cart, not a line.
    pub(crate) const fn is_of_settings(&self) -> bool {
        !matches!(self, Self::Remove(..) | Self::Update(..) | Self::Add(_))
    }

    /// Returns the variants that have their target quantity after this step.
    pub(crate) fn variants(&self) -> Vec<u64> {
        match self {
            Self::Remove(_, variants) | Self::Update(_, variants) => variants.clone(),
            Self::Add(lines) => lines.iter().map(|line| line.variant.0).collect(),
            _ => Vec::new(),
        }
    }
}

impl Target {
    /// Removes the changes of a finished step from the target. The store's result is final, even if it is less than
    /// requested.
    pub(crate) fn after(&mut self, step: &Step) {
        let variants = step.variants();
        self.lines.retain(|variant, _| !variants.contains(variant));
        match step {
            Step::Remove(lines, _) => self.at_store.retain(|named| !lines.contains(&named.id)),
            Step::Update(lines, _) => {
                let is_set = |id: &SecretText| lines.iter().any(|line| line.id == *id);
                self.at_store.retain(|named| !is_set(&named.id));
            }
            Step::Add(_) => {}
            Step::Buyer => self.tells_buyer = false,
            Step::Codes(_) => self.codes = None,
            Step::Address(_) => self.address = None,
            Step::Attributes(_) => self.attributes.clear(),
            Step::Deliver(_) => self.chosen = None,
        }
    }
}

/// Returns the indexes of the refused lines, if the store refuses single lines. The store names a line as `lines`, `0`,
/// `merchandiseId`.
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

/// True if the store rejects the customer's token.
pub(crate) fn refuses_customer(refusals: &[Refusal]) -> bool {
    let names = |refusal: &Refusal| refusal.field.iter().any(|step| step == "customerAccessToken");
    refusals.iter().any(names)
}
