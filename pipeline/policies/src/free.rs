//! Finds statements that shipping costs nothing.

use crate::item::{Item, QUALIFIES, Sense, is_told};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::words::Words;

/// Words for shipping.
const OF_IT: [Concept; 3] = [Concept::Ship, Concept::ShipVerb, Concept::Deliver];
/// Words that link `free` to the preceding subject.
const STATES: Words = Words(
    "is, are, be, wir, ihr, nous, on, we, hum, us, become, becomes, devient, deviennent, vuelve, pack, will, get, gets, was, absolutely, completely, totally, always, also, all, for, you, your, now, it, them, entirely, fully, 100, ships, \
     and, ist, sind, wird, immer, dich, dir, sie, uns, euch, ihnen, fur, est, sont, toujours, vous, es, son, sera, seran, siempre, te, hai, bilkul, \
     ho, domicile, maison, ekdum, sab, shopping, par, pe, or, oder, ou, o, so, then, dann, alors, das, er, anywhere, item, items, product, products, parcel, door, rest",
);
/// Words that may follow `shipping is free`.
const GOES_ON: Words = Words(
    "on, to, across, throughout, everywhere, ke, par, now, only, bei, auf, sur, pour, with, anywhere, at, per, \
     this, all, any, as, regardless, no, everyone, for, fur, para, sans, quel, hoga, rahega, always, partout, \
     uberall, everything",
);
/// Words that may be between a denial and the denied action: `you do not have to pay anything for shipping`.
const BETWEEN: Words = Words(
    "any, anything, additional, hidden, separate, de, d, des, du, les, el, los, para, por, for, on, towards, \
     have, to, a, the, of, hay, extra, you, sie, pagas, pagaras, pagar, payez, paierez, wir, koi, bhi, separately",
);
/// Words that may follow a denial after its subject: `shipping charges are not levied`.
const DENIED: Words = Words("apply, applies, applied, an, added, due, hai, lagta, lagega, lagti");

impl Sentence<'_> {
    /// Returns true if the item at this position means that shipping costs nothing.
    pub(crate) fn frees(&self, at: usize) -> bool {
        let item = &self.items[at];
        if item.means(Concept::Free) {
            return !self.is_denied_free(at) && self.is_of_shipping(at);
        }
        // A plain no answers `Do you charge for shipping?`.
        if self.asked.charged
            && item.means(Concept::Not)
            && self
                .items
                .iter()
                .enumerate()
                .all(|(one, item)| one == at || !is_told(item))
        {
            return true;
        }
        // A yes answers `Is shipping free?`.
        if self.asked.free && item.means(Concept::Yes) && self.items[..at].iter().all(|item| !is_told(item)) {
            return !self.has(Concept::Not) && !self.has(Concept::Free);
        }
        if !item.means(Concept::Not) || self.items.iter().any(|item| matches!(item.sense, Sense::Percent(_))) {
            return false;
        }
        let is_cod = self.items[..at].iter().any(|item| item.means(Concept::Cod));
        !is_cod && (self.asks_nothing(at) || self.is_nil(at) || self.is_not_asked(at))
    }

    /// Returns true if the free offer is denied: `not free`, `free shipping is no longer offered`, `wir übernehmen
    /// keine Haftung`.
    pub(crate) fn is_denied_free(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        let before = self
            .before(at, 4)
            .any(|item| item.means(Concept::Not) && item.clause == clause);
        let mut behind = self
            .items
            .iter()
            .skip(at + 1)
            .take(6)
            .take_while(|item| item.clause == clause);
        let is_least = self
            .items
            .get(at + 2)
            .is_some_and(|item| item.means_any(&[Concept::Least, Concept::Above]));
        let is_next = self.items.get(at + 1).is_some_and(|item| item.means(Concept::Not)) && !is_least;
        // `no minimum` does not deny the offer.
        let is_behind = behind.any(|item| item.means(Concept::Ended) || is_word(item, "not"));
        before || is_next || is_behind
    }

    /// Returns true for denied charges: `no shipping charges`, `we do not charge anything for shipping`, `no pagas
    /// gastos de envío`.
    fn asks_nothing(&self, at: usize) -> bool {
        let (clause, mut fee, mut ship) = (self.items[at].clause, false, false);
        for item in self.items.iter().skip(at + 1).take(7) {
            if item.clause != clause {
                break;
            }
            let is_fee = item.means(Concept::Fee);
            let is_ship = item.means_any(&[Concept::Ship, Concept::ShipVerb]);
            let passes = match &item.sense {
                Sense::Word(word) => BETWEEN.has(word.as_str()),
                Sense::Means(..) => {
                    let weak = [
                        Concept::Following,
                        Concept::Offered,
                        Concept::Within,
                        Concept::Above,
                        Concept::Order,
                    ];
                    is_fee || is_ship || item.means_any(&weak)
                }
                _ => false,
            };
            if !passes {
                break;
            }
            (fee, ship) = (fee || is_fee, ship || is_ship);
            if fee && ship {
                return true;
            }
        }
        false
    }

    /// Returns true for `Shipping charges: NIL`, and in a line about shipping also for `nil for orders above 500`.
    fn is_nil(&self, at: usize) -> bool {
        let is_nil = matches!(&self.items[at].sense, Sense::Means(_, word) if matches!(word.as_str(), "nil" | "zero" | "nothing" | "none"));
        let is_fee = |item: &Item| item.means(Concept::Fee) && !matches!(item.word(), "extra" | "handling" | "collect");
        let is_price = |item: &Item| item.means(Concept::Ship) || is_fee(item);
        let told = self.before(at, 5).any(is_price) || self.asked.fee || self.asked.line;
        let ends = match self.items.get(at + 1).map(|item| &item.sense) {
            Some(Sense::Word(word)) => goes_on(word),
            Some(Sense::Means(concepts, _)) => !concepts.contains(&Concept::Ship) && !concepts.contains(&Concept::Fee),
            _ => true,
        };
        is_nil && told && ends
    }

    /// Returns true if the denial follows the fee: `shipping charges are not levied`, `Versandkosten fallen nicht an`.
    fn is_not_asked(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        let here = || self.before(at, 5).take_while(|item| item.clause == clause);
        let names_fee = here().any(|item| item.means(Concept::Ship)) && here().any(|item| item.means(Concept::Fee));
        let ends = self.items.get(at + 1).is_some_and(|item| match &item.sense {
            Sense::Word(word) => DENIED.has(word.as_str()),
            Sense::Means(_, word) => matches!(
                word.as_str(),
                "charged" | "levied" | "collected" | "applicable" | "berechnet" | "erhoben" | "lagta" | "lagega"
            ),
            _ => false,
        });
        // Hindi `Koi shipping charge nahi` means "no shipping charge".
        let is_none =
            here().any(|item| is_word(item, "koi")) && self.items.get(at + 1).is_none_or(|item| !is_told(item));
        names_fee && (ends || is_none)
    }

    /// Returns true if shipping is free, and not something else such as a gift.
    fn is_of_shipping(&self, at: usize) -> bool {
        if self.items[at].names_free_shipping() {
            return true;
        }
        // `free of parabens` is not about shipping.
        if self
            .items
            .get(at + 1)
            .is_some_and(|next| matches!(next.word(), "of" | "from"))
        {
            return false;
        }
        // In `COD at no extra cost`, only cash on delivery is free.
        if self.has(Concept::Cod) && !self.items.iter().any(|item| item.means_any(&OF_IT)) && !self.asked.fee {
            return false;
        }
        for item in self.items.iter().skip(at + 1).take(5) {
            if item.means_any(&OF_IT) {
                return true;
            }
            let qualifies = match &item.sense {
                Sense::Word(word) => QUALIFIES.has(word.as_str()),
                other => {
                    matches!(other, Sense::Sign('&'))
                        || item.means_any(&[
                            Concept::Prepaid,
                            Concept::Domestic,
                            Concept::Nation,
                            Concept::Abroad,
                            Concept::Following,
                            Concept::Fee,
                        ])
                }
            };
            if !qualifies {
                break;
            }
        }
        let follows = match self.items.get(at + 1).map(|item| &item.sense) {
            Some(Sense::Word(word)) => goes_on(word),
            Some(Sense::Means(concepts, _)) => {
                let other = [Concept::Promo, Concept::Stray, Concept::Charge, Concept::Special];
                !concepts.iter().any(|concept| other.contains(concept))
            }
            _ => true,
        };
        let is_asked = self.asked.free || self.asked.fee;
        let is_near = self.asked.line || self.asked.told || self.asked.ship;
        // A row of prices names shipping only once, possibly far away.
        let most = if self.has(Concept::Fee) { self.items.len() } else { 9 };
        // Compounds such as `odor free` are not about shipping.
        let is_compound = at
            .checked_sub(1)
            .is_some_and(|before| matches!(&self.items[before].sense, Sense::Word(word) if !STATES.has(word)));
        follows && (is_asked || !is_compound && (is_near || self.before(at, most).any(|item| item.means_any(&OF_IT))))
    }
}

pub(crate) fn goes_on(word: &str) -> bool {
    GOES_ON.has(word)
        || matches!(
            word,
            "too" | "anyway" | "sitewide" | "storewide" | "guaranteed" | "everyday" | "forever" | "today"
        )
}

fn is_word(item: &Item, word: &str) -> bool {
    item.word() == word
}
