//! Groups of codes that are entered together, and the verdicts that follow from a response. The module is pure (no I/O,
//! no clock).
//!
//! A store applies those codes of a group that can be combined. A code that applies in a group is therefore proven to
//! apply. A code that does not apply is proven not to apply only if no code of the group applied, or if the store says
//! that the code does not exist. All other codes are entered again without those that applied, until no code of a group
//! applies.

use std::collections::VecDeque;

use data_model::{CouponEffect, CouponVerdict};

use super::effect::effect;
use crate::rules::store_cart::{StoreCart, StoreCode, is_same_code};

/// Warning that depends on no other item or code in the cart and whose message names no code.
const NO_SUCH_CODE: &str = "DISCOUNT_NOT_FOUND";
const INACTIVE: &str = "DISCOUNT_CURRENTLY_INACTIVE";
/// Warning for a shipping code on a cart without a delivery.
const NOT_DELIVERED: &str = "DISCOUNT_NO_ENTITLED_SHIPPING_LINES";

/// Codes that still have to be entered on a cart.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    groups: VecDeque<Vec<String>>,
}

impl Plan {
    /// Splits the codes into groups of `size`, in their order.
    pub(crate) fn of(codes: &[String], size: usize) -> Self {
        let groups = codes.chunks(size.clamp(1, 250)).map(<[String]>::to_vec);
        Self {
            groups: groups.collect(),
        }
    }

    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        self.groups.pop_front()
    }

    /// Splits a group that the store did not accept into halves. Returns `false` if the group is a single code.
    pub(crate) fn halve(&mut self, group: &[String]) -> bool {
        if group.len() < 2 {
            return false;
        }
        let (one, other) = group.split_at(group.len() / 2);
        self.groups.push_front(other.to_vec());
        self.groups.push_front(one.to_vec());
        true
    }

    /// Returns the verdicts that a response proves for a group. Codes without a verdict are entered again.
    pub(crate) fn told(&mut self, group: &[String], cart: &StoreCart) -> Vec<(String, CouponVerdict)> {
        let of = |code: &String| cart.codes.iter().find(|told| is_same_code(&told.code, code));
        let told: Vec<(&String, Option<&StoreCode>)> = group.iter().map(|code| (code, of(code))).collect();
        let applied: Vec<(&String, &StoreCode)> = told
            .iter()
            .filter_map(|(code, told)| Some((*code, told.filter(|told| told.applicable)?)))
            .collect();
        let rest: Vec<&String> = told
            .iter()
            .filter(|(_, told)| told.is_some_and(|told| !told.applicable))
            .map(|(code, _)| *code)
            .collect();
        // A code that is missing in the response is entered once more, alone. If it is missing again, its test ends.
        let silent = told.iter().filter(|(_, told)| told.is_none()).map(|(code, _)| *code);
        if group.len() > 1 {
            self.groups.extend(silent.map(|code| vec![code.clone()]));
        }
        let mut proven = Vec::new();
        match applied.as_slice() {
            [] => {}
            [(code, told)] => proven.push(((*code).clone(), CouponVerdict::Applicable(effect(cart, told)))),
            // A code's discount in a combination may differ from its discount alone.
            several => {
                let alone = several.iter().rev().map(|(code, _)| vec![(*code).clone()]);
                alone.for_each(|group| self.groups.push_front(group));
            }
        }
        let (mut unproven, named) = (Vec::new(), refused(cart, &rest));
        for (code, verdict) in rest.into_iter().zip(named) {
            match verdict {
                Some(verdict) => proven.push((code.clone(), verdict)),
                None if applied.is_empty() => proven.push((code.clone(), CouponVerdict::NotApplicable)),
                None => unproven.push(code.clone()),
            }
        }
        if !unproven.is_empty() {
            self.groups.push_front(unproven);
        }
        proven
    }
}

/// Returns the verdicts that the warnings prove for codes that did not apply, regardless of other codes. A warning
/// about an unknown or inactive code does not name the code. Such warnings can be assigned only if there are as many of
/// them as codes that no other warning names.
fn refused(cart: &StoreCart, codes: &[&String]) -> Vec<Option<CouponVerdict>> {
    let nameless = |code: &str| cart.warnings.iter().filter(|warning| warning.code == code).count();
    let (absent, inactive) = (nameless(NO_SUCH_CODE), nameless(INACTIVE));
    let is_named = |code: &String| {
        let others = cart
            .warnings
            .iter()
            .filter(|warning| warning.code.starts_with("DISCOUNT_"));
        let mut others = others.filter(|warning| ![NO_SUCH_CODE, INACTIVE].contains(&warning.code.as_str()));
        others.any(|warning| warning.names(code))
    };
    let named: Vec<bool> = codes.iter().map(|code| is_named(code)).collect();
    let unnamed = named.iter().filter(|named| !**named).count();
    let verdict = match (absent + inactive == unnamed, inactive) {
        (true, 0) => Some(CouponVerdict::UnknownCode),
        (true, _) => Some(CouponVerdict::NotApplicable),
        (false, _) => None,
    };
    named.into_iter().map(|named| verdict.filter(|_| !named)).collect()
}

/// Returns the codes that do not apply only because the cart has no delivery.
pub(crate) fn undelivered(group: &[String], cart: &StoreCart) -> impl Iterator<Item = String> {
    let warnings = cart.warnings.iter().filter(|warning| warning.code == NOT_DELIVERED);
    let named = warnings.flat_map(move |warning| group.iter().filter(move |code| warning.names(code)));
    named.cloned()
}

/// True if a code applies without a discount, as a shipping code does before a delivery is set.
pub(crate) fn takes_nothing(effect: &CouponEffect) -> bool {
    effect.discount_minor == 0
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
