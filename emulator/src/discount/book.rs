use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::draw::draw;
use super::{DiscountRule, folded};
use crate::catalogue::Catalogue;

/// Maximum number of discount rules in a store.
pub(crate) const RULES_MAX: usize = 1_000;

/// Discounts of one store, generated at first use, because most stores of a large market never need them.
#[derive(Debug, Default)]
pub(crate) struct Book(OnceLock<RwLock<Arc<Vec<DiscountRule>>>>);

impl Book {
    fn rules(&self, catalogue: &Catalogue) -> &RwLock<Arc<Vec<DiscountRule>>> {
        self.0.get_or_init(|| RwLock::new(Arc::new(draw(catalogue))))
    }

    pub(crate) fn all(&self, catalogue: &Catalogue) -> Arc<Vec<DiscountRule>> {
        let rules = self.rules(catalogue).read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&rules)
    }

    pub(crate) fn set(&self, catalogue: &Catalogue, rules: Vec<DiscountRule>) {
        *self.rules(catalogue).write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Adds a rule, or replaces the one with the same name. Returns false at the maximum.
    pub(crate) fn add(&self, catalogue: &Catalogue, rule: DiscountRule) -> bool {
        let mut held = self.rules(catalogue).write().unwrap_or_else(PoisonError::into_inner);
        let mut rules = held.as_ref().clone();
        rules.retain(|known| folded(known.name()) != folded(rule.name()));
        if rules.len() >= RULES_MAX {
            return false;
        }
        rules.push(rule);
        *held = Arc::new(rules);
        true
    }

    /// Removes the rule with this code or title. Returns false if there is none.
    pub(crate) fn remove(&self, catalogue: &Catalogue, name: &str) -> bool {
        let mut held = self.rules(catalogue).write().unwrap_or_else(PoisonError::into_inner);
        let mut rules = held.as_ref().clone();
        rules.retain(|known| folded(known.name()) != folded(name));
        let is_removed = rules.len() < held.len();
        *held = Arc::new(rules);
        is_removed
    }
}
