//! Search for the codes with the highest discount: tries each code separately, then combines the best codes.

use std::collections::VecDeque;

use crate::rules::store_cart::{StoreCart, is_same_code};

/// Maximum number of combined codes: the platform accepts five on goods and one on shipping.
const TOGETHER_MAX: usize = 6;

/// Number of codes from which combined lists are built, the best first. One code is not enough, because the best list
/// may not contain the best single code.
const SEEDS_MAX: usize = 3;

#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// Codes that have not been tried alone yet.
    alone: VecDeque<String>,
    /// Codes that apply alone, with the cart's total. The list is sorted by total once all codes were tried.
    found: Vec<(String, i64)>,
    /// Best code list so far, and the cart's total with it.
    best: Option<(Vec<String>, i64)>,
    /// Code lists under construction; `None` until all codes were tried alone.
    chains: Option<VecDeque<Chain>>,
    tried: usize,
}

#[derive(Debug, Clone)]
struct Chain {
    list: Vec<String>,
    total_minor: i64,
    /// Codes that have not been added to the list yet.
    beside: VecDeque<String>,
}

impl Search {
    pub(crate) fn new(standing: &[String], candidates: &[String]) -> Self {
        let mut alone: VecDeque<String> = VecDeque::new();
        for code in standing.iter().chain(candidates) {
            if !code.trim().is_empty() && !alone.iter().any(|known| is_same_code(known, code)) {
                alone.push_back(code.clone());
            }
        }
        Self {
            alone,
            ..Self::default()
        }
    }

    /// Returns the next code list to try; `None` once nothing is left.
    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        if let Some(code) = self.alone.front() {
            return Some(vec![code.clone()]);
        }
        if self.chains.is_none() {
            self.chains = Some(self.seeds());
        }
        let chains = self.chains.as_mut()?;
        while let Some(chain) = chains.front() {
            match chain.beside.front() {
                Some(code) if chain.list.len() < TOGETHER_MAX => {
                    return Some(chain.list.iter().chain([code]).cloned().collect());
                }
                _ => chains.pop_front(),
            };
        }
        None
    }

    fn seeds(&mut self) -> VecDeque<Chain> {
        // The sort is stable, so current and more likely codes come first among codes with equal totals.
        self.found.sort_by_key(|(_, total)| *total);
        let chain = |(at, (code, total)): (usize, &(String, i64))| {
            // Pairs with codes that were starting codes before have been tried already.
            let others = self.found.iter().skip(at + 1).map(|(code, _)| code.clone());
            Chain {
                list: vec![code.clone()],
                total_minor: *total,
                beside: others.collect(),
            }
        };
        self.found.iter().enumerate().take(SEEDS_MAX).map(chain).collect()
    }

    /// Records the store's result for the list that [`Search::next`] returned.
    pub(crate) fn told(&mut self, list: Vec<String>, cart: &StoreCart) {
        let total = cart.total_minor;
        let applies = |code: &String| {
            let mut told = cart.codes.iter();
            told.any(|told| told.applicable && is_same_code(&told.code, code))
        };
        let is_whole = list.iter().all(applies);
        if let Some(code) = self.alone.pop_front() {
            self.tried += 1;
            if is_whole {
                self.found.push((code, total));
            }
        } else if let Some(chain) = self.chains.as_mut().and_then(VecDeque::front_mut) {
            chain.beside.pop_front();
            if is_whole && total < chain.total_minor {
                chain.list.clone_from(&list);
                chain.total_minor = total;
            }
        }
        if is_whole && self.best.as_ref().is_none_or(|(_, best)| total < *best) {
            self.best = Some((list, total));
        }
    }

    /// Returns the best code list and its total, if the total is below `total_minor`.
    pub(crate) fn best_below(&self, total_minor: i64) -> Option<(&[String], i64)> {
        let (list, total) = self.best.as_ref()?;
        (*total < total_minor).then_some((list.as_slice(), *total))
    }

    /// Returns the number of tried codes and the number of untried codes.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.tried, self.alone.len())
    }
}

#[cfg(test)]
mod tests {
    use data_model::CurrencyCode;
    use proptest::prelude::*;

    use super::*;
    use crate::hidden::SecretText;
    use crate::rules::store_cart::{Discounts, StoreCode};

    /// Builds a cart of 1,000 with these codes. `off` contains the discount of each code, and `apart` the pairs that
    /// cannot be combined.
    fn cart(list: &[String], off: &[i64], apart: &[(usize, usize)]) -> StoreCart {
        let at = |code: &String| code.parse::<usize>().unwrap();
        let refused = |code: usize| {
            let clash = |(one, other): &(usize, usize)| {
                let has = |wanted: usize| list.iter().any(|code| at(code) == wanted);
                *other == code && has(*one)
            };
            off[code] == 0 || apart.iter().any(clash)
        };
        let codes: Vec<_> = list
            .iter()
            .map(|code| StoreCode {
                code: code.clone(),
                applicable: !refused(at(code)),
                discount_minor: 0,
                shipping_minor: 0,
                is_for_shipping: false,
                stated: None,
            })
            .collect();
        let taken: i64 = list
            .iter()
            .map(at)
            .filter(|code| !refused(*code))
            .map(|code| off[code])
            .sum();
        StoreCart {
            id: SecretText::new("c"),
            checkout_url: SecretText::new("u"),
            currency: "INR".parse::<CurrencyCode>().unwrap(),
            lines: Vec::new(),
            subtotal_minor: 1_000,
            discounts: Discounts::default(),
            delivery_minor: 0,
            other_minor: 0,
            total_minor: 1_000 - taken,
            codes,
            automatic: Vec::new(),
            deliveries: Vec::new(),
            attributes: Vec::new(),
            address: None,
            warnings: Vec::new(),
        }
    }

    fn search(off: &[i64], apart: &[(usize, usize)]) -> (Option<(Vec<String>, i64)>, usize) {
        let candidates: Vec<String> = (0..off.len()).map(|at| at.to_string()).collect();
        let mut search = Search::new(&[], &candidates);
        let mut calls = 0;
        while let Some(list) = search.next() {
            calls += 1;
            let told = cart(&list, off, apart);
            search.told(list, &told);
        }
        (
            search.best_below(1_000).map(|(list, total)| (list.to_vec(), total)),
            calls,
        )
    }

    #[test]
    fn the_best_code_alone_need_not_be_in_the_best_list() {
        let apart = [(0, 1), (1, 0), (0, 2), (2, 0)];
        let (best, _) = search(&[120, 100, 50], &apart);
        assert_eq!(best, Some((vec!["1".to_owned(), "2".to_owned()], 850)));
        assert_eq!(search(&[0, 0], &[]).0, None);
    }

    proptest! {
        /// The found list applies as a whole, is never worse than the best single code, and is found in a bounded
        /// number of calls.
        #[test]
        fn a_search_ends_with_a_list_that_holds(
            off in proptest::collection::vec(0_i64..100, 0..8),
            apart in proptest::collection::vec((0_usize..8, 0_usize..8), 0..12),
        ) {
            let both: Vec<_> = apart.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).filter(|(one, other)| one != other).collect();
            let (best, calls) = search(&off, &both);
            prop_assert!(calls <= off.len() + SEEDS_MAX * off.len());
            let alone = off.iter().max().copied().unwrap_or_default();
            prop_assert_eq!(best.is_some(), alone > 0);
            if let Some((list, total)) = best {
                let told = cart(&list, &off, &both);
                prop_assert!(told.codes.iter().all(|code| code.applicable));
                prop_assert_eq!(told.total_minor, total);
                prop_assert!(total <= 1_000 - alone);
            }
        }
    }
}
