//! Groups of codes that are entered together, and the conclusions from a store's response. The module is pure (no I/O,
//! no clock).
//!
//! Of the codes entered together, a store applies those that can be combined. A code that applies in a group is
//! therefore proven to apply. A code that does not apply is only proven not to if nothing in the group applied, or if
//! the store says that the code does not exist. All other codes are entered again without those that applied, until no
//! code of a group applies.

use std::collections::VecDeque;

use data_model::{CouponEffect, CouponVerdict};

use super::effect::effect;
use crate::rules::store_cart::{StoreCart, StoreCode, is_same_code};

/// Warnings that do not depend on the other items and codes in the cart. The messages of these warnings do not name a
/// code.
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

    /// Returns the next codes to enter.
    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        self.groups.pop_front()
    }

    /// Splits a group that the store did not accept. Each half is entered separately. Returns `false` if the group is a
    /// single code.
    pub(crate) fn halve(&mut self, group: &[String]) -> bool {
        if group.len() < 2 {
            return false;
        }
        let (one, other) = group.split_at(group.len() / 2);
        self.groups.push_front(other.to_vec());
        self.groups.push_front(one.to_vec());
        true
    }

    /// Returns the verdicts that the store's response to a group proves. Codes without a proven verdict are scheduled
    /// again.
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
        // A code that is missing from the response is entered once more, without other codes. If the code is then
        // missing again, its test ends.
        let silent = told.iter().filter(|(_, told)| told.is_none()).map(|(code, _)| *code);
        if group.len() > 1 {
            self.groups.extend(silent.map(|code| vec![code.clone()]));
        }
        let mut proven = Vec::new();
        match applied.as_slice() {
            [] => {}
            [(code, told)] => proven.push(((*code).clone(), CouponVerdict::Applicable(effect(cart, told)))),
            // The discount of combined codes may differ from the discount of each single code.
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

/// Returns the verdicts that the store's warnings prove for codes that did not apply, independent of other codes. A
/// warning that a code does not exist or is inactive does not name the code. Such warnings can be assigned only if
/// their number equals the number of codes that no other warning names.
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

/// Returns the codes that do not apply because the cart has no delivery, according to the store's warnings.
pub(crate) fn undelivered(group: &[String], cart: &StoreCart) -> impl Iterator<Item = String> {
    let warnings = cart.warnings.iter().filter(|warning| warning.code == NOT_DELIVERED);
    let named = warnings.flat_map(move |warning| group.iter().filter(move |code| warning.names(code)));
    named.cloned()
}

/// True if a code applies but shows no discount: a shipping code before a delivery is set.
pub(crate) fn takes_nothing(effect: &CouponEffect) -> bool {
    effect.discount_minor == 0
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
