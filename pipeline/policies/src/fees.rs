//! What shipping costs, from which order value it is free, and cash on delivery.

use data_model::{PaymentKind, ShippingFact, ShippingFactKind, ShippingRegion};

use crate::lexicon::Concept;
use crate::sentence::{Amount, Item, Sense, Sentence};
use crate::settle::Found;
use crate::spans::some;

/// An order value that something holds from or up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) at: usize,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    /// `above 2000`, the value itself not included, counts as from 2000 on; `below 2000` ends one minor unit before.
    pub(crate) is_taken: bool,
}

/// What something costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    at: usize,
    pub(crate) kind: ShippingFactKind,
    amount: Option<Amount>,
    min: Option<i64>,
    max: Option<i64>,
    /// It was told two lower or two upper bounds.
    is_contrary: bool,
}

impl Sentence<'_> {
    /// Reads fees, thresholds and what is said of cash on delivery.
    pub(crate) fn read_fees(&self, found: &mut Found) {
        let has_foreign = self
            .items
            .iter()
            .any(|item| matches!(item.sense, Sense::Money(amount) if amount.is_foreign));
        if has_foreign {
            found.note_foreign(self.text);
            return;
        }
        let mut bounds = self.bounds();
        let mut prices = if self.has(Concept::Promo) {
            Vec::new()
        } else {
            self.prices(&bounds)
        };
        self.attach(&mut bounds, &mut prices);
        self.imply(&bounds, &mut prices);
        for price in &prices {
            if let Some(fact) = self.fact_of(price) {
                found.add(fact);
            }
        }
        self.read_cod(&bounds, &prices, found);
    }

    /// Reads whether there is cash on delivery in a sentence that tells nothing else.
    pub(crate) fn read_cod_alone(&self, found: &mut Found) {
        self.read_cod(&self.bounds(), &[], found);
    }

    pub(crate) fn before(&self, at: usize, most: usize) -> impl Iterator<Item = &Item> {
        self.items[at.saturating_sub(most)..at].iter().rev()
    }

    /// What an amount bounds, where a word of comparison stands at it.
    fn bounds(&self) -> Vec<Bound> {
        let mut bounds = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            let (min, max, is_open) = match item.sense {
                Sense::Money(amount) => (amount.min, amount.max, amount.is_open),
                Sense::Bare(min, max) if min >= 10_000 && self.is_alone(at) => (min, max, false),
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
                if self.before(at, 3).any(|item| item.means_any(&leads)) {
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

    /// Whether a number is followed by nothing that it could count.
    fn is_alone(&self, at: usize) -> bool {
        self.items.get(at + 1).is_none_or(|item| match &item.sense {
            Sense::Word(word) => matches!(word.as_str(), "only" | "ke" | "ki" | "par"),
            Sense::Means(concepts, _) => !concepts.contains(&Concept::Pin) && !concepts.contains(&Concept::Order),
            _ => true,
        })
    }

    /// The comparison that an amount stands in.
    pub(crate) fn compared(&self, at: usize) -> Option<Concept> {
        const AFTER: [Concept; 2] = [Concept::OrMore, Concept::OrLess];
        // `499 se kam`
        let is_below = |item: &Item| matches!(&item.sense, Sense::Means(_, words) if words.starts_with("se "));
        let behind = self.items.get(at + 1).into_iter().chain(self.items.get(at + 2));
        for (distance, item) in behind.enumerate() {
            if let Some(concept) = AFTER.into_iter().find(|concept| item.means(*concept)) {
                return Some(concept);
            }
            if item.means(Concept::Below) && is_below(item) {
                return Some(Concept::Below);
            }
            if distance == 0 && !matches!(item.sense, Sense::Word(_) | Sense::Sign('&')) {
                break;
            }
        }
        for item in self.before(at, 6) {
            if is_below(item) {
                return None;
            }
            if let Some(concept) = [Concept::Below, Concept::UpTo, Concept::Above]
                .into_iter()
                .find(|one| item.means(*one))
            {
                return Some(concept);
            }
            let passes = match &item.sense {
                Sense::Word(word) => !matches!(word.as_str(), "is" | "are" | "additional" | "flat"),
                Sense::Means(concepts, _) => {
                    let pass = [
                        Concept::Order,
                        Concept::Domestic,
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

    /// What is said to be free, and the amounts that are no bounds.
    fn prices(&self, bounds: &[Bound]) -> Vec<Price> {
        let mut prices = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            let price = |kind, amount| Price {
                at,
                kind,
                amount,
                min: None,
                max: None,
                is_contrary: false,
            };
            if self.frees(at) {
                prices.push(price(ShippingFactKind::FreeShipping, None));
            } else if let Sense::Money(amount) = item.sense
                && !bounds.iter().any(|bound| bound.at == at)
                && let Some(kind) = self.kind_of(at)
            {
                prices.push(price(kind, Some(amount)));
            }
        }
        // `Shipping is free, free of any cost` says it once.
        let mut seen: Vec<u16> = Vec::new();
        prices.retain(|price| {
            let clause = self.items[price.at].clause;
            let again = price.amount.is_none() && seen.contains(&clause);
            seen.push(clause);
            !again || price.amount.is_some()
        });
        prices
    }

    /// Whether it is said here that shipping costs nothing.
    fn frees(&self, at: usize) -> bool {
        let item = &self.items[at];
        if item.means(Concept::Free) {
            let is_denied = self
                .before(at, 4)
                .any(|before| before.means(Concept::Not) && before.clause == item.clause);
            return !is_denied && self.is_of_shipping(at);
        }
        // `no shipping charges`, `we do not charge anything for shipping`
        if !item.means(Concept::Not) || self.items.iter().any(|item| matches!(item.sense, Sense::Percent(_))) {
            return false;
        }
        let next = |offset: usize, concept| self.items.get(at + offset).is_some_and(|item| item.means(concept));
        let names_fee = next(1, Concept::Ship) && (next(2, Concept::Fee) || next(3, Concept::Fee));
        let is_all =
            |item: &Item| matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "anything" | "any"));
        let asks_none = next(1, Concept::Fee) && self.items[at..].iter().take(4).any(is_all) && self.has(Concept::Ship);
        (names_fee || asks_none) && !self.items[..at].iter().any(|item| item.means(Concept::Cod))
    }

    /// Whether it is shipping that is free, and not a gift.
    fn is_of_shipping(&self, at: usize) -> bool {
        let names_it = |word: &str| {
            ["versand", "porto", "frei haus"]
                .iter()
                .any(|stem| word.starts_with(stem))
        };
        if matches!(&self.items[at].sense, Sense::Means(_, word) if names_it(word)) {
            return true;
        }
        const OF_IT: [Concept; 3] = [Concept::Ship, Concept::ShipVerb, Concept::Deliver];
        const QUALIFIES: &[&str] = &[
            "standard", "insured", "home", "doorstep", "economy", "ground", "fast", "and", "secure", "regular",
            "surface", "der", "la",
        ];
        for item in self.items.iter().skip(at + 1).take(4) {
            if item.means_any(&OF_IT) {
                return true;
            }
            let qualifies = match &item.sense {
                Sense::Word(word) => QUALIFIES.contains(&word.as_str()),
                other => {
                    matches!(other, Sense::Sign('&'))
                        || item.means_any(&[Concept::Prepaid, Concept::Domestic, Concept::Abroad])
                }
            };
            if !qualifies {
                break;
            }
        }
        const GOES_ON: &[&str] = &[
            "on",
            "to",
            "across",
            "throughout",
            "everywhere",
            "ke",
            "par",
            "now",
            "only",
            "bei",
            "auf",
            "sur",
            "pour",
            "with",
            "anywhere",
            "at",
            "per",
            "this",
            "all",
            "any",
            "as",
            "regardless",
            "no",
            "everyone",
        ];
        let follows = match self.items.get(at + 1).map(|item| &item.sense) {
            Some(Sense::Word(word)) => GOES_ON.contains(&word.as_str()) || word == "for",
            _ => true,
        };
        follows && self.before(at, 9).any(|item| item.means_any(&OF_IT))
    }

    /// What an amount is asked for.
    fn kind_of(&self, at: usize) -> Option<ShippingFactKind> {
        let per_piece = self.items.iter().any(|item| {
            matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "kg" | "item" | "piece" | "product" | "unit"))
        });
        if per_piece {
            return None;
        }
        let clause = self.items[at].clause;
        let has_cod = self.has(Concept::Cod);
        let behind = self
            .items
            .iter()
            .skip(at + 1)
            .take(2)
            .any(|item| item.means(Concept::Cod));
        if has_cod && behind {
            return Some(ShippingFactKind::CodFee);
        }
        let nearest = self.items[..at].iter().rev().find_map(|item| {
            if item.means(Concept::Cod) {
                Some(Concept::Cod)
            } else if item.means(Concept::Ship) || item.means(Concept::ShipVerb) {
                Some(Concept::Ship)
            } else {
                None
            }
        });
        let is_ahead = self.items[at..].iter().any(|item| item.means(Concept::Cod));
        if has_cod && self.has_in(clause, Concept::Advance) {
            return Some(ShippingFactKind::CodAdvance);
        }
        let asks = self.has(Concept::Fee) || self.has(Concept::Ship) || self.has(Concept::ShipVerb);
        match nearest {
            Some(Concept::Cod) => asks
                .then_some(ShippingFactKind::CodFee)
                .filter(|_| self.has(Concept::Fee)),
            None if is_ahead && self.has(Concept::Fee) => Some(ShippingFactKind::CodFee),
            None if has_cod => None,
            _ => {
                let is_shipping = self.has(Concept::Ship) || self.has(Concept::ShipVerb);
                let of_order = self.has(Concept::Fee) && self.has(Concept::Order);
                let is_short = self.items.len() <= 9
                    && self
                        .regions()
                        .iter()
                        .any(|(_, region)| *region == ShippingRegion::Domestic);
                (is_shipping || of_order || is_short).then_some(ShippingFactKind::Fee)
            }
        }
    }

    /// Gives each bound to what it bounds: in its own clause, else the nearest.
    fn attach(&self, bounds: &mut [Bound], prices: &mut [Price]) {
        for bound in bounds.iter_mut() {
            let clause = self.items[bound.at].clause;
            let distance = |price: &&mut Price| {
                let is_here = self.items[price.at].clause == clause;
                // Of two as near, that behind: `up to 500: 40, above: 20`.
                (!is_here, price.at.abs_diff(bound.at), price.at < bound.at)
            };
            let Some(price) = prices.iter_mut().min_by_key(distance) else {
                continue;
            };
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
        let [one, other] = &mut prices[..] else { return };
        let (free, only) = if one.amount.is_none() {
            (one, other)
        } else {
            (other, one)
        };
        if (free.kind, only.kind) != (ShippingFactKind::FreeShipping, ShippingFactKind::Fee)
            || self.has(Concept::Fee)
            || (only.min, only.max) != (None, None)
        {
            return;
        }
        // An amount without a word of comparison that nobody asks for: what is free follows from it in some way.
        let is_short = self.items.len() <= 14 && !self.has(Concept::Elsewhere) && !self.has(Concept::Below);
        let is_least = self.has(Concept::Above)
            && is_short
            && (free.min, free.max, only.min, only.max) == (None, None, None, None);
        only.is_contrary = true;
        // `Min. order for free delivery: Rs. 350`
        match only.amount.filter(|_| is_least) {
            Some(amount) => free.min = Some(amount.min),
            None => free.is_contrary = free.min.is_none(),
        }
    }

    /// `Orders under 999 carry a shipping fee`: those from 999 on carry none.
    fn imply(&self, bounds: &[Bound], prices: &mut Vec<Price>) {
        let [bound] = bounds else { return };
        let is_asked = self.has(Concept::Ship) && self.has(Concept::Fee) && self.has(Concept::Order);
        let is_plain = !self.has(Concept::Not) && !self.has(Concept::Cod) && !self.has(Concept::Hedge);
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

    fn fact_of(&self, price: &Price) -> Option<ShippingFact> {
        if price.is_contrary || price.min.zip(price.max).is_some_and(|(min, max)| min > max) {
            return None;
        }
        let mut fact = ShippingFact::new(price.kind, self.text);
        fact.region = self.scope_of(price.at)?;
        fact.payment = self.payment_of(price.at);
        (fact.min_order_minor, fact.max_order_minor) = (price.min, price.max);
        match price.amount {
            None => {
                if price.max.is_some() {
                    return None;
                }
                if price.min.is_none()
                    && (self.has(Concept::Hedge) || self.has(Concept::Elsewhere) || self.is_bounded_elsehow())
                {
                    return None;
                }
                fact.min_order_minor = Some(price.min.unwrap_or(0));
            }
            Some(amount) => {
                let is_bounded = price.min.is_some() || price.max.is_some();
                if self.has(Concept::Hedge) && amount.min == amount.max && !is_bounded {
                    return None;
                }
                fact.amount_minor = Some(amount.min);
                fact.amount_max_minor = (amount.max > amount.min).then_some(amount.max);
                fact.max_grams = self.grams()?;
            }
        }
        if matches!(price.kind, ShippingFactKind::CodFee | ShippingFactKind::CodAdvance) {
            fact.payment = None;
        }
        Some(fact)
    }

    /// A comparison with something that is no amount, as `above a minimum order value`; `no minimum` is none.
    fn is_bounded_elsehow(&self) -> bool {
        let compares = [Concept::Above, Concept::Below, Concept::OrMore];
        let mut items = self.items.iter().enumerate();
        items.any(|(at, item)| {
            let is_denied = self.before(at, 2).any(|item| item.means(Concept::Not));
            // `from`, `des` and `desde` compare only before an amount.
            let is_weak = item.means(Concept::Following);
            item.means_any(&compares) && !is_denied && !is_weak && !item.means(Concept::Within)
        })
    }

    /// The weight up to which an amount holds; `None` within where none is told, without where it is told otherwise.
    fn grams(&self) -> Option<Option<u32>> {
        let Some((at, grams)) = self.items.iter().enumerate().find_map(|(at, item)| match item.sense {
            Sense::Grams(grams) => Some((at, grams)),
            _ => None,
        }) else {
            return Some(None);
        };
        let is_most = self
            .before(at, 2)
            .any(|item| item.means_any(&[Concept::UpTo, Concept::Below]));
        is_most.then_some(Some(grams))
    }

    /// Where a price holds; without where that cannot be told.
    pub(crate) fn scope_of(&self, at: usize) -> Option<Option<ShippingRegion>> {
        let named = self.regions();
        let clause = self.items[at].clause;
        let mut kinds: Vec<ShippingRegion> = named.iter().map(|(_, region)| *region).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.contains(&ShippingRegion::Place) {
            // `within Mumbai, India`
            let excepts = self.has(Concept::Not);
            return (!excepts).then_some(Some(ShippingRegion::Place));
        }
        match kinds[..] {
            [] => Some(None),
            [region] => Some(some(region)),
            _ => {
                let here = named.iter().filter(|(one, _)| self.items[*one].clause == clause);
                let nearest = here.min_by_key(|(one, _)| one.abs_diff(at))?;
                Some(some(nearest.1))
            }
        }
    }

    /// For which payment a price holds.
    fn payment_of(&self, at: usize) -> Option<PaymentKind> {
        let clause = self.items[at].clause;
        if self.has_in(clause, Concept::Prepaid) {
            return Some(PaymentKind::Prepaid);
        }
        if self.has_in(clause, Concept::Cod) {
            return Some(PaymentKind::Cod);
        }
        self.has(Concept::Prepaid).then_some(PaymentKind::Prepaid)
    }
}
