//! The search for the codes that take off most: each alone, then the best ones together.

use std::collections::VecDeque;

use crate::store_cart::{StoreCart, is_same_code};

/// Most codes that are tried together: the platform takes five on goods and one on shipping.
const TOGETHER_MAX: usize = 6;

/// A search at one store.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    /// Codes that are still to be tried alone.
    alone: VecDeque<String>,
    /// Codes that apply alone, and the total with them, the best first once all were tried.
    found: Vec<(String, i64)>,
    /// The best list so far, and its total.
    best: Option<(Vec<String>, i64)>,
    /// Codes that are still to be tried beside the best list.
    beside: Option<VecDeque<String>>,
    tried: usize,
}

impl Search {
    /// A search among the codes that stand and those that are candidates, each once.
    pub(crate) fn new(standing: &[String], candidates: &[String]) -> Self {
        let mut alone: VecDeque<String> = VecDeque::new();
        for code in standing.iter().chain(candidates) {
            if !code.trim().is_empty() && !alone.iter().any(|known| is_same_code(known, code)) {
                alone.push_back(code.clone());
            }
        }
        Self {
            alone,
            found: Vec::new(),
            best: None,
            beside: None,
            tried: 0,
        }
    }

    /// The list to try next; `None` once nothing is left.
    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        if let Some(code) = self.alone.front() {
            return Some(vec![code.clone()]);
        }
        if self.beside.is_none() {
            // A stable sort: of equal codes, the one that stood before or was thought likelier goes first.
            self.found.sort_by_key(|(_, total)| *total);
            self.beside = Some(self.found.iter().skip(1).map(|(code, _)| code.clone()).collect());
        }
        let (list, _) = self.best.as_ref()?;
        if list.len() >= TOGETHER_MAX {
            return None;
        }
        let code = self.beside.as_ref()?.front()?;
        Some(list.iter().chain([code]).cloned().collect())
    }

    /// Takes in what the store made of the list that [`Search::next`] gave.
    pub(crate) fn told(&mut self, list: Vec<String>, cart: &StoreCart) {
        let total = cart.total_minor;
        let applies = |code: &String| {
            cart.codes
                .iter()
                .any(|told| told.applicable && is_same_code(&told.code, code))
        };
        let is_better = self.best.as_ref().is_none_or(|(_, best)| total < *best);
        if let Some(code) = self.alone.pop_front() {
            self.tried += 1;
            if applies(&code) {
                self.found.push((code, total));
                if is_better {
                    self.best = Some((list, total));
                }
            }
        } else {
            if let Some(beside) = &mut self.beside {
                beside.pop_front();
            }
            if is_better && list.iter().all(applies) {
                self.best = Some((list, total));
            }
        }
    }

    /// The best list, where it is better than `total_minor`, and its total.
    pub(crate) fn best_below(&self, total_minor: i64) -> Option<(&[String], i64)> {
        let (list, total) = self.best.as_ref()?;
        (*total < total_minor).then_some((list.as_slice(), *total))
    }

    /// How many codes were tried, and how many were not.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.tried, self.alone.len())
    }
}
