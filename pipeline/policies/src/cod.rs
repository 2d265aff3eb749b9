//! Reads cash on delivery: its availability and the orders to which it applies.

use data_model::{ShippingFact, ShippingFactKind, ShippingRegion};

use crate::bounds::{Bound, names_limit};
use crate::item::{Item, Sense, is_told};
use crate::lexicon::Concept;
use crate::objects::is_lead;
use crate::prices::{MORE, Price};
use crate::sentence::Sentence;
use crate::settle::SentenceFacts;
use crate::words::Words;

impl Sentence<'_> {
    pub(crate) fn read_cod(&self, bounds: &[Bound], prices: &[Price], found: &mut SentenceFacts) {
        let Some(at) = self.items.iter().position(|item| item.means(Concept::Cod)) else {
            self.answer_cod(bounds, found);
            self.read_prepaid_only(bounds, prices, found);
            return;
        };
        if self.read_advance(found) || self.is_unsure(at) || self.has(Concept::Promo) || self.is_of_some_cod() {
            return;
        }
        let Some(region) = self.scope_of(at) else { return };
        let is_yes = self.is_head(at) && self.has_in(self.items[at].clause + 1, Concept::Yes);
        // `Payment: UPI, cards, COD` lists payment methods.
        let names = |item: &Item| {
            matches!(
                item.word(),
                "payment" | "payments" | "zahlung" | "bezahlung" | "paiement" | "paiements" | "pago" | "pagos"
            )
        };
        let is_listed = self.items.first().is_some_and(names)
            && self.items.get(1).is_some_and(|item| item.sense == Sense::Sign(':'));
        // `COD at no extra cost` implies availability.
        let is_free =
            self.has(Concept::Free) && !self.has(Concept::Ship) && !self.has(Concept::Ended) && bounds.is_empty();
        // `COD charges: 2% of the order value` implies availability.
        let is_share = self.has(Concept::Fee) && self.items.iter().any(|item| matches!(item.sense, Sense::Percent(_)));
        let is_offered = (is_free || is_share || self.offers() || is_yes || is_listed || self.asked.pays)
            && !self.denials().any(|_| true);
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        fact.region = region;
        let loose: Vec<&Bound> = bounds.iter().filter(|bound| !bound.is_taken).collect();
        if self.is_denied(at) {
            if self.has(Concept::Hedge) || self.denies_other(at) || !prices.is_empty() || !self.deny(&loose, &mut fact)
            {
                return;
            }
            found.add(fact);
        } else if is_offered && prices.iter().all(|price| price.kind != ShippingFactKind::Fee) {
            // A bound of a fee, or an amount without a comparison, may also limit the orders themselves.
            let is_known =
                |at: usize| bounds.iter().any(|bound| bound.at == at) || prices.iter().any(|price| price.at == at);
            let mut amounts = (0..self.items.len()).filter(|at| matches!(self.items[*at].sense, Sense::Money(_)));
            if loose.len() < bounds.len() || amounts.any(|at| !is_known(at)) {
                return;
            }
            fact.is_available = Some(true);
            for bound in loose {
                fact.min_order_minor = fact.min_order_minor.or(bound.min);
                fact.max_order_minor = fact.max_order_minor.or(bound.max);
            }
            found.add(fact);
        } else if let [bound] = loose[..]
            && prices.iter().all(|price| price.kind == ShippingFactKind::CodFee)
            && (self.limits_orders() || self.ends_at(bound.at) && !self.denials().any(|_| true))
        {
            // `Minimum order value for COD: 400` limits the orders.
            fact.is_available = Some(true);
            (fact.min_order_minor, fact.max_order_minor) = (bound.min, bound.max);
            found.add(fact);
        }
    }

    /// Reads that only prepaid orders are accepted: `We only accept online payments`. With a bound, cash on delivery is
    /// available up to it: `Orders above 5,000 must be prepaid`.
    fn read_prepaid_only(&self, bounds: &[Bound], prices: &[Price], found: &mut SentenceFacts) {
        const ONLY: Words = Words("only, must, mandatory, compulsory, nur, uniquement, solo, sirf");
        let apart = [
            Concept::Free,
            Concept::Hedge,
            Concept::Special,
            Concept::Express,
            Concept::Not,
            Concept::Promo,
        ];
        let is_only = self.items.iter().any(|item| ONLY.has(item.word()));
        // `Prepaid orders only.` counts, but not below an offer that it would limit.
        let is_said = |item: &Item| item.means_any(&[Concept::Prepaid, Concept::Order]) || ONLY.has(item.word());
        let is_whole = self.text.ends_with('.') && !self.asked.offer && self.asked.threshold.is_none();
        let is_whole = is_whole
            && self
                .items
                .iter()
                .all(|item| is_said(item) || item.sense == Sense::Sign('.'));
        let is_taken = is_whole || self.has(Concept::Offered) || self.has(Concept::Order) && !bounds.is_empty();
        if !self.has(Concept::Prepaid) || !is_only || !is_taken || !prices.is_empty() {
            return;
        }
        let is_apart = self.items.iter().any(|item| item.means_any(&apart)) || !self.places.named.is_empty();
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        match bounds {
            _ if is_apart => return,
            [] => fact.is_available = Some(false),
            [bound] if bound.max.is_none() => (fact.is_available, fact.max_order_minor) = (Some(true), bound.min),
            _ => return,
        }
        found.add(fact);
    }

    /// Returns true if availability depends on a condition or is only possible.
    pub(crate) fn is_unsure(&self, at: usize) -> bool {
        const UNSURE: Words = Words(
            "may, might, could, depends, depending, sometimes, soon, usually not, usually no, abhangig, pourrait, \
             podria",
        );
        let mut hedges = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.means(Concept::Hedge));
        hedges.any(|(hedge, item)| hedge < at || UNSURE.has(item.word()))
    }

    /// Returns true if no further statement about the orders follows the amount: `COD for orders up to 5,000 only`.
    fn ends_at(&self, at: usize) -> bool {
        let is_end = |item: &Item| {
            item.means(Concept::Order) || matches!(item.word(), "only" | "per" | "tak" | "and" | "value" | "")
        };
        let is_cod_alone = !self.has(Concept::Free) && !self.has(Concept::Ship) && !self.has(Concept::Prepaid);
        is_cod_alone
            && self
                .items
                .iter()
                .skip(at + 1)
                .all(|item| is_end(item) || item.means(Concept::OrLess))
    }

    /// Returns true if the sentence states that something is available. `COD orders have no fee` states only that there
    /// is no fee.
    fn offers(&self) -> bool {
        let denies = |item: &Item| item.means_any(&[Concept::Not, Concept::Ended]);
        let is_weak =
            |item: &Item| matches!(&item.sense, Sense::Means(_, word) if matches!(word.as_str(), "hai" | "have"));
        let denied = |clause: u16| self.items.iter().any(|item| item.clause == clause && denies(item));
        let mut offers = self.items.iter().filter(|item| item.means(Concept::Offered));
        // `You can also pay at the door` offers cash on delivery.
        let pays = |pair: &[Item]| {
            pair[1].means(Concept::Cod)
                && pair[1].word().starts_with("pa")
                && matches!(pair[0].word(), "can" | "also" | "either" | "or")
        };
        // `Pay online or by COD` is an instruction.
        let is_told_to = self.items.len() > 2 && self.items[0].word().starts_with("pay") && !self.has(Concept::Fee);
        is_told_to || offers.any(|item| !(is_weak(item) && denied(item.clause))) || self.items.windows(2).any(pays)
    }

    /// Reads the share paid in advance. Returns true if the sentence is about an advance payment.
    fn read_advance(&self, found: &mut SentenceFacts) -> bool {
        let percent = self.items.iter().find_map(|item| match item.sense {
            Sense::Percent(percent) => Some(percent),
            _ => None,
        });
        let is_partial = self.has(Concept::Advance) || (self.has(Concept::Prepaid) && percent.is_some());
        // `an additional 5% as a fee` is not an advance.
        let is_percent = |item: &Item| matches!(item.sense, Sense::Percent(_));
        let at = self.items.iter().position(is_percent).unwrap_or_default();
        let is_fee = self.before(at, 2).any(|item| MORE.has(item.word()));
        if is_partial
            && !is_fee
            && let Some(percent) = percent.filter(|percent| (1..100).contains(percent) && self.bounds().is_empty())
        {
            let mut fact = ShippingFact::new(ShippingFactKind::CodAdvance, self.text);
            fact.percent = Some(percent);
            found.add(fact);
        }
        is_partial
    }

    /// Turns a denial into a fact: "not above 3,000" means up to 3,000, and "not below 500" means from 500 on.
    fn deny(&self, loose: &[&Bound], fact: &mut ShippingFact) -> bool {
        let least = |bound: &Bound| {
            let is_below = self.compared(bound.at) == Some(Concept::Below);
            bound.max.map(|max| if is_below { max + 1 } else { max })
        };
        // `Not available for all items` means available for some items.
        let denied = self.denials().next().unwrap_or_default();
        if self.items[denied..]
            .iter()
            .any(|item| matches!(item.word(), "all" | "every" | "alle" | "tous" | "todos"))
        {
            return false;
        }
        match loose {
            [] => fact.is_available = Some(false),
            // A denial for one region with a bound would need two facts.
            _ if fact.region.is_some() => return false,
            [bound] if bound.min.is_none() || bound.max.is_none() => {
                fact.is_available = Some(true);
                (fact.min_order_minor, fact.max_order_minor) = (least(bound), bound.min);
            }
            [one, other] => {
                let (low, high) = if one.min.is_none() { (one, other) } else { (other, one) };
                let (Some(min), None, Some(max), None) = (least(low), low.min, high.min, high.max) else {
                    return false;
                };
                fact.is_available = Some(true);
                (fact.min_order_minor, fact.max_order_minor) = (Some(min), Some(max));
                return min < max;
            }
            _ => return false,
        }
        true
    }

    fn limits_orders(&self) -> bool {
        !self.denials().any(|_| true) && self.items.iter().any(names_limit)
    }

    /// Returns true if a punctuation mark, such as a colon, separates the item from the statement about it.
    fn is_head(&self, at: usize) -> bool {
        let behind = self.items.get(at + 1);
        behind.is_some_and(|item| matches!(item.sense, Sense::Sign(':' | '-' | '=')))
    }

    /// Returns the positions of denials that are not about a fee. `no extra charges` and `no longer free` are about a
    /// fee.
    fn denials(&self) -> impl Iterator<Item = usize> {
        let denies = |item: &Item| item.means_any(&[Concept::Not, Concept::Ended]);
        let all = (0..self.items.len()).filter(move |at| denies(&self.items[*at]));
        all.filter(|at| !self.denies_fee(*at))
    }

    fn denies_fee(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        // `COD par koi extra charge nahi hai` means "no extra charge on COD".
        let is_begin = |item: &Item| item.means(Concept::Cod) || matches!(item.word(), "we" | "wir" | "nous");
        let mut before = self
            .before(at, 3)
            .take_while(|item| item.clause == clause && !is_begin(item));
        if before.any(|item| item.means(Concept::Fee)) {
            return true;
        }
        let behind = self.items.iter().skip(at + 1).take(4);
        for item in behind.take_while(|item| item.clause == clause) {
            let is_least = matches!(&item.sense, Sense::Means(_, word) if word.starts_with("min"));
            let is_pay =
                matches!(&item.sense, Sense::Means(_, word) if matches!(word.as_str(), "collect" | "pay" | "payable"));
            if item.means_any(&[Concept::Fee, Concept::Free]) && !is_pay || is_least {
                return true;
            }
            if item.means(Concept::Offered) || matches!(item.sense, Sense::Money(_)) {
                return false;
            }
        }
        false
    }

    /// Returns true if the sentence denies cash on delivery.
    fn is_denied(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        // `COD: not available` is one clause.
        let is_here = |one: u16| one == clause || (self.is_head(at) && one == clause + 1);
        let here = |concept| self.has_in(clause, concept) || (self.is_head(at) && self.has_in(clause + 1, concept));
        let denied: Vec<usize> = self.denials().filter(|at| is_here(self.items[*at].clause)).collect();
        let is_word = |at: &usize| matches!(&self.items[*at].sense, Sense::Word(_));
        let nearest = (0..at).rev().take(4).find(|before| !is_word(before));
        let is_none = nearest.is_some_and(|before| denied.contains(&before));
        let is_ended = denied.iter().any(|at| self.items[*at].means(Concept::Ended));
        is_ended || (!denied.is_empty() && (here(Concept::Offered) || is_none || self.items.len() <= 4))
    }

    /// Returns true if the denial is about another subject or only a condition: `free shipping is not available on
    /// COD`, `not without a telephone number`.
    pub(crate) fn denies_other(&self, at: usize) -> bool {
        const LEADS: [&str; 6] = ["on", "for", "fur", "bei", "pour", "para"];
        const LACKS: Words = Words("without, until, till, ohne, sans, sin, bina, unless");
        let lacks = self.denials().any(|at| LACKS.has(self.items[at].word())) && self.denials().count() > 1;
        let is_led = self.before(at, 2).any(|item| LEADS.contains(&item.word()));
        let is_said = self.items[..at]
            .iter()
            .any(|item| item.means_any(&[Concept::Not, Concept::Offered]));
        let clause = self.items[at].clause;
        let mut before = self.items[..at].iter();
        let is_free = before.any(|item| item.clause == clause && item.means(Concept::Free));
        lacks || (is_led && is_said) || is_free
    }

    /// Returns true if the sentence applies only to some goods, customers or days.
    pub(crate) fn is_of_some_cod(&self) -> bool {
        let cause = self.items.iter().position(is_cause).unwrap_or(self.items.len());
        let told = &self.items[..cause];
        let apart = [Concept::Special, Concept::Express];
        let is_apart = |item: &Item| matches!(item.sense, Sense::Weekdays(_)) || item.means_any(&apart);
        let mut leads = (0..told.len()).filter(|at| is_lead(&told[*at]));
        // Some sentences apply from a date on, as in `from 1 January on`.
        let bounds = self.bounds();
        let is_date = |(at, item): (usize, &Item)| {
            let of_pins = told
                .get(at + 1)
                .is_some_and(|next| next.means(Concept::Pin) || next.sense == Sense::Sign('+'));
            matches!(item.sense, Sense::Bare(..)) && !of_pins && !bounds.iter().any(|bound| bound.at == at)
        };
        // In `It takes 10 days to Ladakh; COD is not available there`, `there` refers to a region.
        let is_there = |pair: &[Item]| {
            let is = matches!(&pair[1].sense, Sense::Word(word) if matches!(word.as_str(), "there" | "dort" | "wahan"));
            is && pair[0].means_any(&[Concept::Offered, Concept::Ended])
        };
        told.windows(2).any(is_there)
            || told.iter().any(is_apart)
            || told.iter().enumerate().any(is_date)
            || leads.any(|lead| !self.is_general_object(lead + 1))
    }

    /// Returns true for `Available on all orders` below a heading.
    fn starts_available(&self, first: usize) -> bool {
        let is = |item: &Item| matches!(&item.sense, Sense::Means(_, word) if word == "available");
        first == 0 && self.items.first().is_some_and(is)
    }

    /// Reads an answer to a question such as `Do you offer COD? No, we do not.`
    fn answer_cod(&self, bounds: &[Bound], found: &mut SentenceFacts) {
        let (true, Some(first)) = (self.asked.cod, self.items.iter().position(is_told)) else {
            return;
        };
        let denies = self.denials().next() == Some(first);
        let is_yes = self.items[first].means(Concept::Yes) || self.starts_available(first);
        let has_denial = self.denials().next().is_some();
        let is_home = self
            .places
            .kinds()
            .iter()
            .all(|region| *region == ShippingRegion::Domestic);
        let is_bound = !bounds.is_empty() || !is_home || self.places.is_unclear;
        if (!denies && !is_yes)
            || is_bound
            || self.has(Concept::Hedge)
            || (is_yes && has_denial)
            || self.is_of_some_cod()
        {
            return;
        }
        let Some(region) = self.scope_of(first) else { return };
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        fact.region = region;
        fact.is_available = Some(is_yes);
        found.add(fact);
    }
}

/// Returns true for phrases such as `due to`, which introduce a reason.
fn is_cause(item: &Item) -> bool {
    matches!(&item.sense, Sense::Word(word) | Sense::Means(_, word)
        if matches!(word.as_str(), "due" | "because" | "owing" | "as" | "since" | "weil" | "aufgrund" | "car"))
}
