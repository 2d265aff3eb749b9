//! Whether there is cash on delivery, and for which orders.

use data_model::{ShippingFact, ShippingFactKind};

use crate::fees::{Bound, Price};
use crate::lexicon::Concept;
use crate::sentence::{Sense, Sentence};
use crate::settle::Found;

impl Sentence<'_> {
    /// Reads whether there is cash on delivery, for which orders, and what is paid in advance.
    pub(crate) fn read_cod(&self, bounds: &[Bound], prices: &[Price], found: &mut Found) {
        let Some(at) = self.items.iter().position(|item| item.means(Concept::Cod)) else {
            self.answer_cod(found);
            return;
        };
        let clause = self.items[at].clause;
        let percent = self.items.iter().find_map(|item| match item.sense {
            Sense::Percent(percent) => Some(percent),
            _ => None,
        });
        let is_partial = self.has(Concept::Advance) || (self.has(Concept::Prepaid) && percent.is_some());
        if is_partial {
            if let Some(percent) = percent.filter(|percent| (1..100).contains(percent)) {
                let mut fact = ShippingFact::new(ShippingFactKind::CodAdvance, self.text);
                fact.percent = Some(percent);
                found.add(fact);
            }
            return;
        }
        let Some(region) = self.scope_of(at) else { return };
        let is_denied = self.is_denied(at, clause);
        let is_offered = self.has(Concept::Offered) && !self.has(Concept::Not) && !self.has(Concept::Ended);
        if self.has(Concept::Hedge) || self.has(Concept::Promo) {
            return;
        }
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        fact.region = region;
        let loose: Vec<&Bound> = bounds.iter().filter(|bound| !bound.is_taken).collect();
        if is_denied {
            // Not above 3,000 is up to 3,000.
            match loose[..] {
                [] if prices.is_empty() => fact.is_available = Some(false),
                [bound] => {
                    fact.is_available = Some(true);
                    fact.max_order_minor = bound.min;
                    fact.min_order_minor = bound.max.map(|max| {
                        if self.compared(bound.at) == Some(Concept::Below) {
                            max + 1
                        } else {
                            max
                        }
                    });
                    if bound.min.is_some() && bound.max.is_some() {
                        return;
                    }
                }
                _ => return,
            }
            found.add(fact);
        } else if is_offered && prices.iter().all(|price| price.kind != ShippingFactKind::Fee) {
            fact.is_available = Some(true);
            for bound in loose {
                fact.min_order_minor = fact.min_order_minor.or(bound.min);
                fact.max_order_minor = fact.max_order_minor.or(bound.max);
            }
            found.add(fact);
        }
    }

    /// Whether cash on delivery is said not to be there.
    fn is_denied(&self, at: usize, clause: u16) -> bool {
        let here = |concept| self.has_in(clause, concept);
        let is_none = self.before(at, 1).any(|item| item.means(Concept::Not));
        (here(Concept::Not) && (here(Concept::Offered) || is_none))
            || here(Concept::Ended)
            || (here(Concept::Not) && self.items.len() <= 4)
    }

    /// `Do you offer COD? No, we do not.`
    fn answer_cod(&self, found: &mut Found) {
        let (true, Some(first)) = (self.asked.cod, self.items.first()) else {
            return;
        };
        let said = if first.means(Concept::Yes) {
            true
        } else if first.means(Concept::Not) {
            false
        } else {
            return;
        };
        if self.has(Concept::Hedge) || (said && self.has(Concept::Not)) {
            return;
        }
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        fact.is_available = Some(said);
        found.add(fact);
    }
}
