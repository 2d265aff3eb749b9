//! Assigns bounds to prices, and detects unusable prices.

use data_model::ShippingFactKind;

use crate::bounds::Bound;
use crate::item::{Amount, Item, Sense, refers_back};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::words::Words;

/// Words for orders of a higher value.
const BIGGER: [&str; 6] = ["bigger", "larger", "higher", "grossere", "grosseren", "mayores"];
const SMALLER: [&str; 6] = ["smaller", "lower", "lesser", "kleinere", "kleineren", "menores"];
/// Words that mark an additional fee.
pub(crate) const MORE: Words = Words(
    "higher, lower, increased, reduced, more, less, extra, additional, surcharge, bigger, steeper, double, \
     hohere, hoherer, niedrigere, zuschlag, plus, supplement, reduits, mayor, mayores, recargo, discounted, \
     different",
);

/// Words for "otherwise".
const ELSE: Words = Words("otherwise, else, or else, sonst, ansonsten, sinon, warna, nahi to, de lo contrario");
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub(crate) at: usize,
    pub(crate) kind: ShippingFactKind,
    pub(crate) amount: Option<Amount>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    /// True if the price has two different lower or upper bounds.
    pub(crate) is_contrary: bool,
}

impl Sentence<'_> {
    /// Marks a free offer as unusable if the sentence also has an amount or number without comparison. The condition of
    /// the offer is then unknown.
    pub(crate) fn settle_prices(&self, bounds: &[Bound], prices: &mut [Price]) {
        let is_price = |at: usize| prices.iter().any(|price| price.at == at);
        let is_bound = |at: usize| bounds.iter().any(|bound| bound.at == at);
        let is_loose = self.items.iter().enumerate().any(|(at, item)| match &item.sense {
            Sense::Money(_) | Sense::Bare(..) => !is_price(at) && !is_bound(at),
            Sense::Grams(_) | Sense::Percent(_) | Sense::Weekdays(_) => true,
            Sense::Word(word) => crate::numbers::is_count(word),
            _ => false,
        });
        let has_plain_fee = |free: &Price| {
            let is_one = |price: &&Price| {
                let is_open = price.kind == ShippingFactKind::Fee && (price.min, price.max) == (None, None);
                is_open && self.payment_of(price.at) == self.payment_of(free.at)
            };
            prices.iter().any(|price| is_one(&price)) && self.places.named.is_empty()
        };
        let contrary: Vec<bool> = prices
            .iter()
            .map(|price| price.amount.is_none() && price.min.is_none() && (is_loose || has_plain_fee(price)))
            .collect();
        if contrary.contains(&true) {
            // `Price: 499 with free shipping` states no fee.
            for (price, is_contrary) in prices.iter_mut().zip(contrary) {
                let is_plain_fee = price.kind == ShippingFactKind::Fee && (price.min, price.max) == (None, None);
                price.is_contrary |= is_contrary || is_plain_fee;
            }
        }
    }

    /// Assigns each bound to a price: in the same clause if possible, otherwise to the nearest.
    pub(crate) fn attach(&self, bounds: &mut [Bound], prices: &mut [Price]) {
        for bound in bounds.iter_mut() {
            let clause = self.items[bound.at].clause;
            let distance = |price: &&mut Price| {
                let is_here = self.items[price.at].clause == clause;
                // The price after the bound wins if both are equally near: `up to 500: 40, above: 20`.
                (!is_here, price.at.abs_diff(bound.at), price.at < bound.at)
            };
            let Some(price) = prices.iter_mut().min_by_key(distance) else {
                continue;
            };
            // In `COD up to 5000, with a fee of 50`, the bound limits the orders and not the fee.
            let ahead = &self.items[..bound.at];
            let is_of_cod = price.kind == ShippingFactKind::CodFee && bound.at < price.at;
            let offers = |item: &Item| item.means(Concept::Offered) && !item.means(Concept::Fee);
            if is_of_cod && (ahead.iter().any(offers) || self.is_limit(bound.at)) {
                continue;
            }
            // In `The minimum order is 15, shipping costs 3.90`, the bound does not apply to the fee. The same is true
            // if the clause makes something free.
            let is_fee = price.kind == ShippingFactKind::Fee;
            if is_fee && (self.is_limit(bound.at) || self.frees_else(clause)) {
                bound.is_taken = true;
                continue;
            }
            let (min, max) = (&mut price.min, &mut price.max);
            for (held, new) in [(min, bound.min), (max, bound.max)] {
                match (&held, new) {
                    (Some(held), Some(new)) if *held != new => price.is_contrary = true,
                    (None, Some(_)) => *held = new,
                    _ => {}
                }
            }
            bound.is_taken = true;
        }
        self.turn(bounds, prices);
        let [one, other] = &mut prices[..] else { return };
        let (free, only) = if one.amount.is_none() {
            (one, other)
        } else {
            (other, one)
        };
        if (free.kind, only.kind) != (ShippingFactKind::FreeShipping, ShippingFactKind::Fee)
            || self.has(Concept::Fee)
            || (self.places.kinds().len() > 1 && free.min.is_none())
            || (free.min.is_some() && self.is_stated(only.at))
            || (only.min, only.max) != (None, None)
        {
            return;
        }
        // An amount without a comparison or subject is a condition of the free offer.
        let is_short = self.items.len() <= 14 && !self.has(Concept::Elsewhere) && !self.has(Concept::Below);
        let is_least = self.has(Concept::Above)
            && is_short
            && (free.min, free.max, only.min, only.max) == (None, None, None, None);
        only.is_contrary = true;
        // `Min. order for free delivery: Rs. 350` states the condition.
        match only.amount.filter(|_| is_least) {
            Some(amount) => free.min = Some(amount.min),
            None => free.is_contrary = free.min.is_none(),
        }
    }

    /// Ends one price's range where the other's begins: `50 below 500, free above`, `Free above 999. Below that 50`.
    fn turn(&self, bounds: &[Bound], prices: &mut [Price]) {
        let threshold = match bounds {
            [] => self.asked.threshold,
            [bound] => bound.min.or(bound.max.map(|max| max + 1)),
            _ => return,
        };
        for price in prices {
            let is_open = (price.min, price.max) == (None, None);
            let is_of_way = matches!(price.kind, ShippingFactKind::Fee | ShippingFactKind::FreeShipping);
            let Some(turn) = self.turn_at(price.at, bounds).filter(|_| is_open && is_of_way) else {
                continue;
            };
            let is_fee = price.kind == ShippingFactKind::Fee;
            match (threshold, turn) {
                (Some(from), Concept::Below) if is_fee => price.max = Some(from - 1),
                (Some(from), Concept::Above) => price.min = Some(from),
                (Some(from), _) if is_fee => price.max = Some(from - 1),
                (Some(from), _) => price.min = Some(from),
                (None, _) => price.is_contrary = true,
            }
        }
    }

    /// Returns a comparison near a price that refers to an earlier value: `below that`, `otherwise`, `for other
    /// orders`.
    pub(crate) fn turn_at(&self, at: usize, bounds: &[Bound]) -> Option<Concept> {
        let clause = self.items[at].clause;
        let is_bound = |one: usize, leads: bool| {
            let near = |bound: &Bound| {
                if leads {
                    bound.at > one && bound.at <= one + 4
                } else {
                    bound.at < one && bound.at + 3 >= one
                }
            };
            bounds.iter().any(near)
        };
        let is_near = |one: &usize| self.items[*one].clause.abs_diff(clause) <= 1;
        (0..self.items.len()).filter(is_near).find_map(|one| {
            let item = &self.items[one];
            let behind = self.items.get(one + 1);
            if ELSE.has(item.word()) || item.word() == "other" && behind.is_some_and(|next| next.means(Concept::Order))
            {
                return Some(Concept::Not);
            }
            // `Free for bigger orders` refers to an earlier value.
            if behind.is_some_and(|next| next.means(Concept::Order)) {
                let is_one = |words: &[&str]| words.contains(&item.word());
                if is_one(&BIGGER) {
                    return Some(Concept::Above);
                }
                if is_one(&SMALLER) {
                    return Some(Concept::Below);
                }
            }
            // `Free above` and `darüber kostenlos` refer to an earlier value. `from` needs an amount.
            let is_ended = behind.is_none_or(|next| matches!(next.sense, Sense::Sign(_)) || next.means(Concept::Free));
            let refers =
                behind.is_some_and(refers_back) || (!bounds.is_empty() || self.asked.threshold.is_some()) && is_ended;
            let found = [Concept::Below, Concept::OrLess, Concept::Above, Concept::OrMore]
                .into_iter()
                .find(|one| item.means(*one));
            found
                .filter(|found| {
                    refers
                        && !is_bound(one, matches!(found, Concept::Below | Concept::Above))
                        && !item.means(Concept::Following)
                })
                .map(|found| match found {
                    Concept::Below | Concept::OrLess => Concept::Below,
                    _ => Concept::Above,
                })
        })
    }

    /// Returns true if the clause makes something free.
    fn frees_else(&self, clause: u16) -> bool {
        let here = |at: &usize| self.items[*at].clause == clause && self.items[*at].means(Concept::Free);
        (0..self.items.len()).filter(here).any(|at| !self.is_denied_free(at))
    }

    /// Returns true for a directly stated price, such as `delivery is 2.95`.
    fn is_stated(&self, at: usize) -> bool {
        let is_flat = |item: &&Item| {
            matches!(
                item.word(),
                "a" | "flat" | "only" | "just" | "de" | "standard" | "estandar"
            )
        };
        let mut before = self.before(at, 5).filter(|item| !is_flat(item));
        let states = before.next().is_some_and(|item| match &item.sense {
            Sense::Word(word) => matches!(word.as_str(), "is" | "are" | "ist" | "est" | "es"),
            sense => matches!(sense, Sense::Sign(':' | '=')),
        });
        let is_ship = |at: usize| self.items.get(at).is_some_and(|item| item.means(Concept::Ship));
        // `Envío 3,95 € gratis desde 40 €` states a price directly.
        let follows = at.checked_sub(1).is_some_and(is_ship)
            && at.checked_sub(2).is_none_or(|at| !self.items[at].means(Concept::Free));
        let named = [Concept::Ship, Concept::Domestic, Concept::Nation];
        follows || (states && before.next().is_some_and(|item| item.means_any(&named)))
    }

    /// Infers free shipping from a fee that applies only below a bound: `Orders under 999 carry a shipping fee`.
    pub(crate) fn imply(&self, bounds: &[Bound], prices: &mut Vec<Price>) {
        let [bound] = bounds else { return };
        let is_asked = self.has(Concept::Ship) && self.has(Concept::Fee) && self.has(Concept::Order);
        // `A higher fee applies below 300` implies that there is also a fee above.
        let is_more =
            |item: &Item| MORE.has(item.word()) || item.means_any(&[Concept::Not, Concept::Cod, Concept::Hedge]);
        let is_plain = !self.items.iter().any(is_more);
        if let (true, Some(max), None) = (prices.is_empty() && is_asked && is_plain, bound.max, bound.min) {
            let min = if self.compared(bound.at) == Some(Concept::Below) {
                max + 1
            } else {
                return;
            };
            prices.push(Price {
                at: bound.at,
                kind: ShippingFactKind::FreeShipping,
                amount: None,
                min: Some(min),
                max: None,
                is_contrary: false,
            });
        }
    }
}
