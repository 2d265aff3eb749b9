//! Order values at which a price or offer starts or ends.

use crate::item::{Item, Sense, refers_back};
use crate::lexicon::Concept;
use crate::quantity::minor;
use crate::sentence::Sentence;
use crate::words::Words;

/// A lower or upper order value for a price or offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) at: usize,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    /// True if a price has the bound already.
    pub(crate) is_taken: bool,
}

impl Sentence<'_> {
    /// Returns the bounds from amounts with a comparison. `above 2000` is read as from 2000 on. `below 2000` ends one
    /// minor unit before.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let mut bounds = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            let (min, max, is_open) = match item.sense {
                Sense::Money(amount) => (amount.min, amount.max, amount.is_open),
                Sense::Bare(min, max) if min >= 100_000 && self.is_alone(at) => {
                    let minor = |thousandths| minor(thousandths, self.currency);
                    let Some((min, max)) = minor(min).zip(minor(max)) else {
                        continue;
                    };
                    (min, max, false)
                }
                _ => continue,
            };
            let bound = |min, max| Bound {
                at,
                min,
                max,
                is_taken: false,
            };
            if min < max {
                let leads = [Concept::Between, Concept::Order];
                // `Shipping charges are between 40 and 120` gives prices, not a range of order values.
                let named = self
                    .before(at, 6)
                    .find(|item| item.means_any(&[Concept::Order, Concept::Fee, Concept::Ship]));
                let is_price = named.is_some_and(|item| !item.means(Concept::Order));
                if !is_price && self.before(at, 3).any(|item| item.means_any(&leads)) || self.is_row_of(at) {
                    bounds.push(bound(Some(min), Some(max)));
                }
                continue;
            }
            match self.compared(at) {
                Some(Concept::Above | Concept::OrMore) => bounds.push(bound(Some(min), None)),
                Some(Concept::Below) => bounds.push(bound(None, Some(min - 1))),
                Some(Concept::UpTo | Concept::OrLess) => bounds.push(bound(None, Some(min))),
                _ if is_open => bounds.push(bound(Some(min), None)),
                _ => {}
            }
        }
        bounds
    }

    /// Returns true if the store accepts no orders beyond the bound.
    pub(crate) fn is_limit(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        self.before(at, 8)
            .take_while(|item| item.clause + 1 >= clause)
            .any(names_limit)
    }

    /// Returns true if the sentence only limits a statement elsewhere, such as `On all orders above 499`.
    pub(crate) fn is_bound_alone(&self) -> bool {
        const PLAIN: Words = Words(
            "on, for, all, of, your, any, only, the, every, if, value, bei, auf, fur, einem, pour, sur, en, para, de, d, les, des",
        );
        let bounds = [
            Concept::Above,
            Concept::OrMore,
            Concept::Order,
            Concept::Prepaid,
            Concept::Least,
            Concept::Within,
            Concept::Following,
        ];
        let is_plain = |item: &Item| match &item.sense {
            Sense::Word(word) => PLAIN.has(word),
            Sense::Means(..) => {
                item.means_any(&bounds)
                    || PLAIN.has(item.word())
                    || item.means_any(&[Concept::Domestic, Concept::Nation])
            }
            Sense::Days(_) | Sense::Clock(_) | Sense::Percent(_) => false,
            _ => true,
        };
        // `Minimum order value: 15` limits the orders that are accepted at all.
        let is_limit = self.items.first().is_some_and(names_limit);
        !is_limit && !self.has(Concept::Fee) && self.items.iter().all(is_plain)
    }

    fn is_amount(&self, at: usize) -> bool {
        let item = self.items.get(at).map(|item| &item.sense);
        matches!(item, Some(Sense::Money(_) | Sense::Bare(..)))
    }

    /// Returns true for `Free shipping @ 999`.
    fn is_at(&self, at: usize) -> bool {
        let mut before = self.before(at, 3);
        let is_at = before.next().is_some_and(|item| match &item.sense {
            Sense::Word(word) => word == "at",
            sense => *sense == Sense::Sign('@'),
        });
        let is_free = before.next().is_some_and(|item| item.means(Concept::Ship))
            && before.next().is_some_and(|item| item.means(Concept::Free));
        is_at && is_free && self.items.len() <= 7 && matches!(self.items[at].sense, Sense::Money(_))
    }

    /// Returns true for a price row such as `500 - 999: 40`, on its own line or after another row.
    fn is_row_of(&self, at: usize) -> bool {
        let is_sign = |at: usize, signs: &[char]| {
            let item = self.items.get(at).map(|item| &item.sense);
            matches!(item, Some(Sense::Sign(sign)) if signs.contains(sign))
        };
        let begins = at
            .checked_sub(1)
            .is_none_or(|before| is_sign(before, &[':', '/', ',', '(', '-']));
        let is_price =
            |item: &Item| matches!(item.sense, Sense::Money(_)) || item.means_any(&[Concept::Free, Concept::Not]);
        let mut behind = self.items.iter().skip(at + 2).take(4);
        begins && is_sign(at + 1, &[':', '-', '=']) && behind.any(is_price)
    }

    /// Returns true if no countable noun follows the number.
    fn is_alone(&self, at: usize) -> bool {
        self.items.get(at + 1).is_none_or(|item| match &item.sense {
            Sense::Word(word) => matches!(word.as_str(), "only" | "ke" | "ki" | "par" | "or"),
            Sense::Means(concepts, _) => !concepts.contains(&Concept::Pin) && !concepts.contains(&Concept::Order),
            _ => true,
        })
    }

    /// Returns the comparison that follows an amount, such as `or more` or `se kam`.
    fn compared_behind(&self, at: usize) -> Option<Concept> {
        let behind = self.items.get(at + 1).into_iter().chain(self.items.get(at + 2));
        for (distance, item) in behind.enumerate() {
            // `50 plus shipping` is a sum and not a bound.
            let adds = is_plus(item)
                && (self.items.get(at + distance + 2))
                    .is_some_and(|next| next.means_any(&[Concept::Ship, Concept::Fee]));
            // In `below 500 or above 10000`, the comparison belongs to the next amount.
            let leads = self.is_amount(at + distance + 2);
            if let Some(concept) = AFTER
                .into_iter()
                .find(|concept| item.means(*concept) && !adds && !leads)
            {
                return Some(concept);
            }
            if item.means(Concept::Below) && is_below(item) {
                return Some(Concept::Below);
            }
            if distance == 0 && !matches!(item.sense, Sense::Word(_) | Sense::Sign('&')) {
                break;
            }
        }
        None
    }

    /// Returns the comparison that applies to an amount.
    pub(crate) fn compared(&self, at: usize) -> Option<Concept> {
        if let Some(concept) = self.compared_behind(at) {
            return Some(concept);
        }
        // In `the maximum order value for cash orders is 5,000`, a verb precedes the amount. Only such limit phrases
        // compare across a verb.
        if self.is_at(at) {
            return Some(Concept::Above);
        }
        let (mut is_stated, mut is_of_orders) = (false, false);
        for (distance, item) in self.before(at, 8).enumerate() {
            if distance == 0 && item.means_any(&AFTER) && at > 1 && self.is_amount(at - 2) {
                let is_more = item.means(Concept::OrMore);
                return Some(if is_more { Concept::Above } else { Concept::Below });
            }
            if is_below(item) || refers_back(item) {
                return None;
            }
            if let Some(concept) = [Concept::Below, Concept::UpTo, Concept::Above]
                .into_iter()
                .find(|one| item.means(*one))
            {
                // `The maximum COD order value is 7,500` is such a limit phrase.
                let is_limit = names_limit(item) || item.means_any(&[Concept::Least, Concept::Most]) && is_of_orders;
                return Some(concept).filter(|_| !is_stated || is_limit);
            }
            is_of_orders |= item.means(Concept::Order);
            let states = match &item.sense {
                Sense::Word(word) => matches!(word.as_str(), "is" | "are"),
                Sense::Sign(sign) => matches!(sign, ':' | '=' | '-'),
                _ => false,
            };
            is_stated |= states;
            let passes = match &item.sense {
                _ if states => true,
                _ if is_stated && item.means_any(&[Concept::Cod, Concept::Free, Concept::Ship]) => true,
                Sense::Word(word) => !matches!(word.as_str(), "additional" | "flat"),
                Sense::Means(concepts, _) => {
                    let pass = [
                        Concept::Order,
                        Concept::Domestic,
                        Concept::Nation,
                        Concept::Prepaid,
                        Concept::Following,
                        Concept::Within,
                    ];
                    pass.iter().any(|concept| concepts.contains(concept))
                }
                Sense::Sign(sign) => *sign == '.',
                _ => false,
            };
            if !passes {
                return None;
            }
        }
        None
    }
}

const AFTER: [Concept; 2] = [Concept::OrMore, Concept::OrLess];

/// Returns true for Hindi comparisons that follow the amount, such as `499 se kam`.
fn is_below(item: &Item) -> bool {
    item.word().starts_with("se ")
}

fn is_plus(item: &Item) -> bool {
    matches!(&item.sense, Sense::Means(_, word) if word == "plus")
}

/// Returns true for phrases such as `minimum order value`, whose amount may follow a verb.
pub(crate) fn names_limit(item: &Item) -> bool {
    const LIMITS: [&str; 8] = [
        "min",
        "max",
        "mindest",
        "hochst",
        "pedido minimo",
        "montant min",
        "compra min",
        "importe min",
    ];
    let is_limit = |word: &str| {
        word.contains("threshold")
            || LIMITS.iter().any(|limit| word.starts_with(limit)) && (word.contains(' ') || word.starts_with("mindest"))
    };
    item.word().ends_with("limit")
        || item.means(Concept::Order) && matches!(&item.sense, Sense::Means(_, word) if is_limit(word))
}
