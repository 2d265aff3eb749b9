//! What shipping costs, from which order value it is free, and cash on delivery.

use data_model::{PaymentKind, ShippingFact, ShippingFactKind, ShippingRegion};

use crate::bounds::Bound;
use crate::lexicon::Concept;
use crate::sentence::{Amount, Item, Sense, Sentence};
use crate::settle::Found;

/// What something costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub(crate) at: usize,
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
        let mut prices = if self.has(Concept::Promo) || self.is_of_goods() {
            Vec::new()
        } else {
            self.prices(&bounds)
        };
        self.attach(&mut bounds, &mut prices);
        self.imply(&bounds, &mut prices);
        for price in &mut prices {
            // `0 for orders above 1000`
            let is_nothing = price.amount.is_some_and(|amount| amount.max == 0);
            if is_nothing && price.kind == ShippingFactKind::Fee {
                (price.kind, price.amount) = (ShippingFactKind::FreeShipping, None);
            }
        }
        self.settle_prices(&bounds, &mut prices);
        let told: Vec<(usize, ShippingFactKind)> = prices.iter().map(|price| (price.at, price.kind)).collect();
        for (price, region) in prices.iter().zip(self.scopes(&told)) {
            if let Some(fact) = region.and_then(|region| self.fact_of(price, region)) {
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
                && let Some(kind) = self.kind_of(at, !bounds.is_empty())
            {
                prices.push(price(kind, Some(amount)));
            }
        }
        // `Shipping is free, free of any cost` says it once.
        let mut seen: Vec<u16> = Vec::new();
        prices.retain(|price| {
            let clause = self.items[price.at].clause;
            let again = price.amount.is_none() && seen.contains(&clause);
            if price.amount.is_none() {
                seen.push(clause);
            }
            !again
        });
        // `Free shipping`, and below it `On orders above 499`.
        if let ([], [bound], true) = (&prices[..], bounds, self.asked.offer && !self.has(Concept::Fee))
            && bound.max.is_none()
            && self.items[..bound.at]
                .iter()
                .all(|item| !matches!(item.sense, Sense::Money(_) | Sense::Days(_)))
        {
            prices.push(Price {
                at: bound.at,
                kind: ShippingFactKind::FreeShipping,
                amount: None,
                min: None,
                max: None,
                is_contrary: false,
            });
        }
        prices
    }

    /// What an amount is asked for.
    fn kind_of(&self, at: usize, is_bounded: bool) -> Option<ShippingFactKind> {
        let per_piece = self.items.iter().any(|item| {
            matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "kg" | "item" | "piece" | "product" | "unit"))
        });
        if per_piece || self.is_of_else(at) {
            return None;
        }
        // `Shipping for 2 books`
        let counts = |pair: &[Item]| matches!((&pair[0].sense, &pair[1].sense), (Sense::Bare(_, most), Sense::Word(word)) if *most <= 5_000 && word != "or");
        // `40 + 50`
        let is_sum = self.items.windows(3).enumerate().any(|(from, three)| {
            let is_money = |item: &Item| matches!(item.sense, Sense::Money(_));
            let is_here = from == at || from + 2 == at;
            is_here && is_money(&three[0]) && three[1].sense == Sense::Sign('+') && is_money(&three[2])
        });
        if self.items.windows(2).any(counts) || is_sum {
            return None;
        }
        let clause = self.items[at].clause;
        let has_cod = self.has(Concept::Cod);
        let behind = self
            .items
            .iter()
            .skip(at + 1)
            .take(2)
            .any(|item| item.means(Concept::Cod) && item.clause == clause);
        if has_cod && behind {
            // `70 (prepaid), 120 (COD)` tells no fee beside shipping.
            let is_more = |item: &Item| matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "additional" | "zusatzlich" | "more"));
            let asks = self.has(Concept::Fee) || self.items.iter().any(is_more);
            let adds = asks && (!self.has(Concept::Prepaid) || self.has_in(clause, Concept::Fee));
            return adds.then_some(ShippingFactKind::CodFee);
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
            // `Shipping charges: prepaid 40, COD 80` tells no fee beside shipping.
            // `COD orders: 70 shipping`
            Some(Concept::Cod) if self.is_for_shipping(at) => Some(ShippingFactKind::Fee),
            Some(Concept::Cod) if self.has(Concept::Prepaid) && !self.has_in(clause, Concept::Fee) => None,
            Some(Concept::Cod) => asks
                .then_some(ShippingFactKind::CodFee)
                .filter(|_| self.has(Concept::Fee)),
            None if is_ahead && self.has(Concept::Fee) => Some(ShippingFactKind::CodFee),
            None if has_cod => None,
            _ => {
                let is_asked = self.asked.fee || (self.asked.line && is_bounded);
                let is_shipping = self.has(Concept::Ship) || self.has(Concept::ShipVerb) || is_asked;
                let is_thing = self.has(Concept::Order) || self.has(Concept::Parcel);
                let of_order = self.has(Concept::Fee) && is_thing && !self.is_named_fee();
                let is_short = self.items.len() <= 9 && self.places.kinds().contains(&ShippingRegion::Domestic);
                (is_shipping || of_order || is_short).then_some(ShippingFactKind::Fee)
            }
        }
    }

    /// `Free shipping on rings`, `100 for sarees`: it is told of some goods alone.
    fn is_of_goods(&self) -> bool {
        // `depending on the location`, `based on weight`
        let depends = |at: usize| {
            self.before(at, 1)
                .any(|item| item.means(Concept::Hedge) || matches!(&item.sense, Sense::Word(word) if word == "based"))
        };
        let is_of = |at: usize| self.is_lead(at) && !depends(at) && !self.is_plain_object(at + 1);
        let is_named = |at: usize| self.items[at].means(Concept::Ship) && self.is_of_goods_by_name(at);
        !self.has(Concept::Cod) && (0..self.items.len()).any(|at| is_of(at) || is_named(at))
    }

    fn is_for_shipping(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        let mut behind = self
            .items
            .iter()
            .skip(at + 1)
            .take(2)
            .filter(|item| item.clause == clause);
        behind.any(|item| item.means(Concept::Ship)) && !self.has(Concept::Fee)
    }

    /// Whether an amount is asked for something that is not shipping: packing, taxes, goods.
    fn is_of_else(&self, at: usize) -> bool {
        let of = [Concept::Ship, Concept::ShipVerb, Concept::Cod, Concept::Charge];
        let nearest = self.items[..at].iter().rev().find(|item| item.means_any(&of));
        let is_tax = |item: &Item| matches!(&item.sense, Sense::Means(_, word) if matches!(word.as_str(), "gst" | "tax" | "taxes"));
        let mut behind = self.items.iter().skip(at + 1).take(3);
        let behind = behind.find(|item| item.means_any(&of)).filter(|item| !is_tax(item));
        let is_charge = |item: &Item| item.means(Concept::Charge) && !item.means(Concept::Cod);
        let is_of_cod = self.has(Concept::Cod);
        !is_of_cod && (nearest.is_some_and(is_charge) || behind.is_some_and(is_charge))
    }

    /// `a booking fee`: a fee that a word names of which nobody here knows what it is.
    fn is_named_fee(&self) -> bool {
        const PLAIN: &[&str] = &[
            "a",
            "an",
            "the",
            "of",
            "flat",
            "nominal",
            "standard",
            "additional",
            "small",
            "be",
            "is",
            "are",
            "minimum",
            "fixed",
            "will",
            "any",
            "s",
            "as",
            "carry",
            "only",
            "der",
            "die",
            "une",
            "un",
            "una",
            "de",
            "ein",
            "eine",
            "regular",
            "normal",
            "base",
            "minimal",
            "our",
            "your",
            "you",
            "we",
            "and",
            "usual",
            "get",
            "par",
            "bhi",
        ];
        self.items.windows(2).any(|pair| {
            let names = matches!(&pair[0].sense, Sense::Word(word) if !PLAIN.contains(&word.as_str()));
            names && matches!(&pair[1].sense, Sense::Means(_, word) if matches!(word.as_str(), "fee" | "fees" | "charge" | "charges"))
        })
    }

    /// What is free beside an amount or a number that nobody compares is free under a condition that is not known.
    fn settle_prices(&self, bounds: &[Bound], prices: &mut [Price]) {
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
            // `Price: 499 with free shipping` tells no fee either.
            for (price, is_contrary) in prices.iter_mut().zip(contrary) {
                let is_plain_fee = price.kind == ShippingFactKind::Fee && (price.min, price.max) == (None, None);
                price.is_contrary |= is_contrary || is_plain_fee;
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
            // `COD up to 5000, with a fee of 50`: it is the orders that are bounded.
            let ahead = &self.items[..bound.at];
            let is_of_cod = price.kind == ShippingFactKind::CodFee && bound.at < price.at;
            if is_of_cod
                && ahead
                    .iter()
                    .any(|item| item.means(Concept::Offered) && !item.means(Concept::Fee))
            {
                continue;
            }
            // `The minimum order is 15, shipping costs 3.90`; and what is free from there on, whatever it is.
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

    /// Whether something is said to be free in a clause.
    fn frees_else(&self, clause: u16) -> bool {
        let here = |at: &usize| self.items[*at].clause == clause && self.items[*at].means(Concept::Free);
        (0..self.items.len()).filter(here).any(|at| !self.is_denied_free(at))
    }

    /// `delivery is 2.95`
    fn is_stated(&self, at: usize) -> bool {
        let mut before = self.before(at, 2);
        let states = before.next().is_some_and(|item| match &item.sense {
            Sense::Word(word) => matches!(word.as_str(), "is" | "are" | "ist" | "est" | "es"),
            sense => matches!(sense, Sense::Sign(':' | '=')),
        });
        let is_ship = |at: usize| self.items.get(at).is_some_and(|item| item.means(Concept::Ship));
        // `Envío 3,95 € gratis desde 40 €`
        let follows = at.checked_sub(1).is_some_and(is_ship)
            && at.checked_sub(2).is_none_or(|at| !self.items[at].means(Concept::Free));
        let named = [Concept::Ship, Concept::Domestic, Concept::Nation];
        follows || (states && before.next().is_some_and(|item| item.means_any(&named)))
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

    fn fact_of(&self, price: &Price, region: Option<ShippingRegion>) -> Option<ShippingFact> {
        if price.is_contrary || price.min.zip(price.max).is_some_and(|(min, max)| min > max) {
            return None;
        }
        let mut fact = ShippingFact::new(price.kind, self.text);
        fact.region = region;
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

    /// For which payment a price holds.
    fn payment_of(&self, at: usize) -> Option<PaymentKind> {
        let clause = self.items[at].clause;
        if self.has_in(clause, Concept::Prepaid) {
            return Some(PaymentKind::Prepaid);
        }
        if self.has_in(clause, Concept::Cod) {
            return Some(PaymentKind::Cod);
        }
        // `COD orders: shipping 60`
        let mut before = self.before(at, 4);
        let is_headed =
            before.any(|item| item.sense == Sense::Sign(':')) && before.any(|item| item.means(Concept::Cod));
        if is_headed {
            return Some(PaymentKind::Cod);
        }
        self.has(Concept::Prepaid).then_some(PaymentKind::Prepaid)
    }
}
