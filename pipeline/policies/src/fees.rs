//! Reads the price of shipping, the order value from which it is free, and cash on delivery.

use data_model::{PaymentKind, ShippingFact, ShippingFactKind, ShippingRegion};

use crate::bounds::Bound;
use crate::claims::IF;
use crate::free::goes_on;
use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::pairs::FactMention;
use crate::prices::{MORE, Price};
use crate::sentence::Sentence;
use crate::settle::SentenceFacts;
use crate::words::Words;

impl Sentence<'_> {
    pub(crate) fn read_fees(&self, found: &mut SentenceFacts) {
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
            // `0 for orders above 1000` means free shipping.
            let is_nothing = price.amount.is_some_and(|amount| amount.max == 0);
            if is_nothing && price.kind == ShippingFactKind::Fee {
                (price.kind, price.amount) = (ShippingFactKind::FreeShipping, None);
            }
        }
        self.settle_prices(&bounds, &mut prices);
        let told = prices.iter().map(|price| FactMention {
            at: price.at,
            kind: price.kind,
        });
        let told: Vec<FactMention> = told.collect();
        for (price, region) in prices.iter().zip(self.scopes(&told)) {
            if let Some(fact) = region.and_then(|region| self.fact_of(price, region)) {
                found.add(fact);
            }
        }
        self.read_cod(&bounds, &prices, found);
    }

    /// Reads cash on delivery in a sentence that states nothing else.
    pub(crate) fn read_cod_alone(&self, found: &mut SentenceFacts) {
        self.read_cod(&self.bounds(), &[], found);
    }

    pub(crate) fn before(&self, at: usize, most: usize) -> impl Iterator<Item = &Item> {
        self.items[at.saturating_sub(most)..at].iter().rev()
    }

    /// Returns the prices: free offers, and the amounts that are not bounds.
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
        // `Shipping is free, free of any cost` states one price, not two.
        let mut seen: Vec<u16> = Vec::new();
        prices.retain(|price| {
            let clause = self.items[price.at].clause;
            let again = price.amount.is_none() && seen.contains(&clause);
            if price.amount.is_none() {
                seen.push(clause);
            }
            !again
        });
        // `On orders above 499` may follow on the line after `Free shipping`.
        if let ([], [bound], true) = (&prices[..], bounds, self.asked.offer && self.is_bound_alone())
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

    fn kind_of(&self, at: usize, is_bounded: bool) -> Option<ShippingFactKind> {
        if self.is_of_else(at) || self.counts_else(at) {
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
            // `70 (prepaid), 120 (COD)` states shipping prices and no separate cash on delivery fee.
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
        // `Partial COD: pay 149 now` is an advance payment.
        let is_now = self.items.get(at + 1).is_some_and(|item| item.word() == "now") && self.has(Concept::Advance);
        if has_cod && (is_now || self.has_in(clause, Concept::Advance)) {
            return Some(ShippingFactKind::CodAdvance);
        }
        let asks = self.has(Concept::Fee) || self.has(Concept::Ship) || self.has(Concept::ShipVerb);
        match nearest {
            // `COD orders: 70 shipping` is a shipping fee. `Shipping charges: prepaid 40, COD 80` states no separate
            // cash on delivery fee.
            Some(Concept::Cod) if self.is_for_shipping(at) => Some(ShippingFactKind::Fee),
            Some(Concept::Cod) if self.has(Concept::Prepaid) && !self.has_in(clause, Concept::Fee) => None,
            // `COD (+ 50)` is a fee for cash on delivery.
            Some(Concept::Cod) => {
                let is_more = |item: &Item| item.sense == Sense::Sign('+') || MORE.has(item.word());
                let adds = self.before(at, 2).any(is_more);
                (adds || asks && self.has(Concept::Fee)).then_some(ShippingFactKind::CodFee)
            }
            // `Do you have COD? Yes, for an extra 50.` states a fee for cash on delivery.
            None if self.asked.cod && self.before(at, 2).any(|item| MORE.has(item.word())) => {
                Some(ShippingFactKind::CodFee)
            }
            None if self.asked.cod_fee && !self.has(Concept::Ship) => Some(ShippingFactKind::CodFee),
            None if is_ahead && self.has(Concept::Fee) => Some(ShippingFactKind::CodFee),
            None if has_cod => None,
            _ => {
                let is_asked = self.asked.fee || ((self.asked.line || self.asked.ship) && is_bounded);
                let is_shipping = self.has(Concept::Ship) || self.has(Concept::ShipVerb) || is_asked;
                let is_thing = self.has(Concept::Order) || self.has(Concept::Parcel);
                let of_order = self.has(Concept::Fee) && is_thing && !self.is_named_fee();
                // The amount may be a further row, as in `US shipping: $6. International: $25.`
                let is_row = self.asked.told && self.items.len() <= 5 && !self.places.named.is_empty();
                // The fee may apply below a threshold, as in `Free shipping above 999. Below that, 50 applies.`
                let is_turn = self.asked.threshold.is_some() && self.turn_at(at, &[]).is_some();
                // The heading may be `Shipping`, with `50 flat` below it.
                let is_whole = self.asked.ship && self.items.len() <= 4;
                let is_shipping = is_shipping || is_row || is_turn || is_whole;
                let is_short = self.items.len() <= 9 && self.places.kinds().contains(&ShippingRegion::Domestic);
                (is_shipping || of_order || is_short).then_some(ShippingFactKind::Fee)
            }
        }
    }

    /// Returns true if an amount is per item, for a number of items, or one term of a sum.
    pub(crate) fn counts_else(&self, at: usize) -> bool {
        let per_piece = |item: &Item| matches!(item.word(), "kg" | "item" | "piece" | "product" | "unit");
        // `Shipping for 2 books` is a price for a number of things.
        let counts = |pair: &[Item]| matches!((&pair[0].sense, &pair[1].sense), (Sense::Bare(_, most), Sense::Word(word)) if *most <= 50_000 && word != "or");
        // `40 + 50` is a sum.
        let is_sum = self.items.windows(3).enumerate().any(|(from, three)| {
            let is_money = |item: &Item| matches!(item.sense, Sense::Money(_));
            let is_here = from == at || from + 2 == at;
            is_here && is_money(&three[0]) && three[1].sense == Sense::Sign('+') && is_money(&three[2])
        });
        self.items.iter().any(per_piece) || self.items.windows(2).any(counts) || is_sum
    }

    /// Returns true if the statement applies only to some goods: `Free shipping on rings`, `100 for sarees`.
    pub(crate) fn is_of_goods(&self) -> bool {
        // `depending on the location` and `based on weight` name no goods.
        let depends = |at: usize| {
            self.before(at, 1)
                .any(|item| item.means(Concept::Hedge) || matches!(&item.sense, Sense::Word(word) if word == "based"))
        };
        // The goods may be at the start, as in `All sarees above 2,000 come with free shipping`.
        let is_all = |at: usize| at == 0 && matches!(self.items[0].word(), "all" | "every" | "each" | "any");
        let is_of = |at: usize| (self.is_lead(at) || is_all(at)) && !depends(at) && !self.is_plain_object(at + 1);
        let is_named = |at: usize| self.items[at].means(Concept::Ship) && self.is_of_goods_by_name(at);
        !self.has(Concept::Cod)
            && (0..self.items.len())
                .any(|at| is_of(at) || is_named(at) || self.has_own_subject(at) || self.has_own_condition(at))
    }

    fn is_for_shipping(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        let mut behind = self
            .items
            .iter()
            .skip(at + 1)
            .take(2)
            .filter(|item| item.clause == clause);
        let is_led = self
            .items
            .get(at + 1)
            .is_some_and(|item| matches!(item.word(), "for" | "towards" | "fur" | "pour" | "por"));
        behind.any(|item| item.means(Concept::Ship)) && (is_led || !self.has(Concept::Fee))
    }

    /// Returns true if an amount is for packing, taxes, goods or something else than shipping.
    pub(crate) fn is_of_else(&self, at: usize) -> bool {
        let of = [Concept::Ship, Concept::ShipVerb, Concept::Cod, Concept::Charge];
        let nearest = self.items[..at].iter().rev().find(|item| item.means_any(&of));
        let is_tax = |item: &Item| matches!(&item.sense, Sense::Means(_, word) if matches!(word.as_str(), "gst" | "tax" | "taxes"));
        let mut behind = self.items.iter().skip(at + 1).take(3);
        let behind = behind.find(|item| item.means_any(&of)).filter(|item| !is_tax(item));
        let is_charge = |item: &Item| item.means(Concept::Charge) && !item.means(Concept::Cod);
        // `Price: 1499 (shipping extra)` is the price of goods.
        let is_price = self
            .items
            .first()
            .is_some_and(|item| matches!(item.word(), "price" | "mrp" | "preis" | "prix" | "precio"));
        let is_of_cod = self.has(Concept::Cod);
        is_price || !is_of_cod && (nearest.is_some_and(is_charge) || behind.is_some_and(is_charge))
    }

    /// Returns true if a fee has an unknown name, such as `a booking fee`.
    fn is_named_fee(&self) -> bool {
        const PLAIN: Words = Words(
            "a, an, the, of, flat, nominal, standard, additional, small, be, is, are, minimum, fixed, will, any, \
             s, as, carry, only, der, die, une, un, una, de, ein, eine, regular, normal, base, minimal, our, \
             your, you, we, and, usual, get, par, bhi",
        );
        self.items.windows(2).any(|pair| {
            let names = matches!(&pair[0].sense, Sense::Word(word) if !PLAIN.has(word.as_str()));
            let names = names || pair[0].word() == "handling";
            names && matches!(pair[1].word(), "fee" | "fees" | "charge" | "charges")
        })
    }

    fn fact_of(&self, price: &Price, region: Option<ShippingRegion>) -> Option<ShippingFact> {
        // `We may offer free shipping above 5000` is not certain.
        let may = |item: &Item| {
            matches!(item.word(), "may" | "might" | "could" | "pourrait" | "podria") && item.means(Concept::Hedge)
        };
        let clause = self.items[price.at].clause;
        let mut here = self
            .items
            .iter()
            .enumerate()
            .filter(|(at, item)| *at < price.at || item.clause == clause);
        if price.kind == ShippingFactKind::FreeShipping && here.any(|(_, item)| may(item)) {
            return None;
        }
        // `Free shipping thresholds` is a heading and not an offer.
        let is_named = |at: usize| {
            matches!(&self.items[at].sense, Sense::Word(word) if !goes_on(word))
                && self.items[at - 1].means(Concept::Ship)
        };
        let last = self.items.len() - 1;
        let is_title = price.amount.is_none() && price.min.is_none() && (2..=4).contains(&last) && is_named(last);
        // `0 for COD` is not a fee.
        let is_nothing = price.kind == ShippingFactKind::CodFee && price.amount.is_some_and(|amount| amount.max == 0);
        if is_title || is_nothing || price.is_contrary || price.min.zip(price.max).is_some_and(|(min, max)| min > max) {
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
                // `If you choose cash on delivery, 50 is added` contains a condition and is certain.
                let is_if = |item: &Item| price.kind == ShippingFactKind::CodFee && IF.has(item.word());
                let is_hedged = self.items.iter().any(|item| item.means(Concept::Hedge) && !is_if(item));
                if is_hedged && amount.min == amount.max && !is_bounded {
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

    /// Returns true for a comparison with something other than an amount, such as `above a minimum order value`. `no
    /// minimum` is no comparison.
    fn is_bounded_elsehow(&self) -> bool {
        let compares = [Concept::Above, Concept::Below, Concept::OrMore];
        let mut items = self.items.iter().enumerate();
        items.any(|(at, item)| {
            let is_denied = self.before(at, 2).any(|item| item.means(Concept::Not));
            // `from`, `des` and `desde` compare only if an amount follows.
            let is_weak = item.means(Concept::Following);
            item.means_any(&compares) && !is_denied && !is_weak && !item.means(Concept::Within)
        })
    }

    /// Returns the weight up to which an amount applies. The inner `None` means that no weight is stated. The outer
    /// `None` means that the stated weight is not an upper limit.
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

    /// Returns the payment method to which a price applies.
    pub(crate) fn payment_of(&self, at: usize) -> Option<PaymentKind> {
        let clause = self.items[at].clause;
        if self.has_in(clause, Concept::Prepaid) {
            return Some(PaymentKind::Prepaid);
        }
        if self.has_in(clause, Concept::Cod) {
            return Some(PaymentKind::Cod);
        }
        // A payment method may be before a colon, as in `COD orders: shipping 60`.
        let mut before = self.before(at, 4);
        let is_headed =
            before.any(|item| item.sense == Sense::Sign(':')) && before.any(|item| item.means(Concept::Cod));
        if is_headed {
            return Some(PaymentKind::Cod);
        }
        self.has(Concept::Prepaid).then_some(PaymentKind::Prepaid)
    }
}
