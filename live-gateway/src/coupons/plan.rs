//! Codes that are entered together, and the proof that an answer gives of them. Pure.
//!
//! Of codes that are entered together the store applies those that go with each other. So what applies in a group is proven;
//! what does not, only where nothing of the group applied, or where the store says that it has no such code. Everything else
//! is entered again without what applied, until a group brings nothing.

use std::collections::VecDeque;

use data_model::{CouponEffect, CouponVerdict};

use super::effect::effect;
use crate::rules::store_cart::{StoreCart, StoreCode, is_same_code};

/// Warnings that hold whatever else is in the cart and whatever other codes there are; their words name no code.
const NO_SUCH_CODE: &str = "DISCOUNT_NOT_FOUND";
const INACTIVE: &str = "DISCOUNT_CURRENTLY_INACTIVE";
/// The word that keeps a code for delivery from a cart that is delivered nowhere yet.
const NOT_DELIVERED: &str = "DISCOUNT_NO_ENTITLED_SHIPPING_LINES";

/// Codes that are still to be entered at a cart.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    groups: VecDeque<Vec<String>>,
}

impl Plan {
    /// Codes in groups of `size`, in their order.
    pub(crate) fn of(codes: &[String], size: usize) -> Self {
        let groups = codes.chunks(size.clamp(1, 250)).map(<[String]>::to_vec);
        Self {
            groups: groups.collect(),
        }
    }

    /// The codes that are to be entered next.
    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        self.groups.pop_front()
    }

    /// Takes codes back that the store did not take together: each half is entered by itself. `false` where it is one code.
    pub(crate) fn halve(&mut self, group: &[String]) -> bool {
        if group.len() < 2 {
            return false;
        }
        let (one, other) = group.split_at(group.len() / 2);
        self.groups.push_front(other.to_vec());
        self.groups.push_front(one.to_vec());
        true
    }

    /// The verdicts that the store's answer to a group proves; codes of which it proves nothing are entered again.
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
        // A code that the store keeps silent about is asked for once more by itself, and then left.
        let silent = told.iter().filter(|(_, told)| told.is_none()).map(|(code, _)| *code);
        if group.len() > 1 {
            self.groups.extend(silent.map(|code| vec![code.clone()]));
        }
        let mut proven = Vec::new();
        match applied.as_slice() {
            [] => {}
            [(code, told)] => proven.push(((*code).clone(), CouponVerdict::Applicable(effect(cart, told)))),
            // Together they may take off something else than alone.
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

/// The verdicts that the store's warnings prove of codes that did not apply, whatever else applied. A warning that a code is
/// not there, or not active, names none: it is clear which ones are meant where there are as many as codes that no other
/// warning names.
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

/// Codes that the store's warnings say not to apply for want of a delivery.
pub(crate) fn undelivered(group: &[String], cart: &StoreCart) -> impl Iterator<Item = String> {
    let warnings = cart.warnings.iter().filter(|warning| warning.code == NOT_DELIVERED);
    let named = warnings.flat_map(move |warning| group.iter().filter(move |code| warning.names(code)));
    named.cloned()
}

/// True where a code that applies takes nothing off as far as the cart shows: a code for delivery, before there is any.
pub(crate) fn takes_nothing(effect: &CouponEffect) -> bool {
    effect.discount_minor == 0
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
