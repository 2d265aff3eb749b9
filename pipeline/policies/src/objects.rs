//! Determines if a fact is about all orders or only about some goods.

use crate::claims::{GAINS, IF};
use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::words::Words;

impl Sentence<'_> {
    /// Returns true if the object of `for` or `on` is all orders, a region or a fee, and not specific goods.
    pub(crate) fn is_general_object(&self, from: usize) -> bool {
        for (at, item) in self.items.iter().enumerate().skip(from).take(6) {
            match &item.sense {
                Sense::Word(word)
                    if at > from
                        && matches!(
                            word.as_str(),
                            "is" | "are" | "will" | "can" | "has" | "ist" | "est" | "es"
                        ) =>
                {
                    return true;
                }
                Sense::Word(word) if word == "this" => {
                    let of = self.items.get(at + 1).map(|item| &item.sense);
                    let is_shop = matches!(of, Some(Sense::Word(word)) if SHOP.has(word.as_str()));
                    if !is_shop {
                        return false;
                    }
                }
                Sense::Word(word) if GENERAL.has(word.as_str()) || SHOP.has(word.as_str()) => {}
                Sense::Word(_) => return self.places.named.iter().any(|place| place.at == at),
                Sense::Means(..) if is_lead(item) => return true,
                Sense::Means(..) if item.means_any(&[Concept::Fee, Concept::Free, Concept::Break]) => return true,
                // The text does not say which region `your pin code` is, so the statement is not about all orders.
                Sense::Means(..) if item.means(Concept::Pin) && self.is_owned(at) => return false,
                Sense::Means(..) => {}
                _ => return true,
            }
        }
        true
    }

    /// Returns true for `your pin code`.
    fn is_owned(&self, at: usize) -> bool {
        let mut before = self.before(at, 1);
        before.any(|item| matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "your" | "this")))
    }

    /// Returns true if the item introduces the object of a statement, as `for` and `on` do.
    pub(crate) fn is_lead(&self, at: usize) -> bool {
        let leads = |word: &str| matches!(word, "for" | "on" | "fur" | "auf" | "pour" | "sur" | "para");
        matches!(&self.items[at].sense, Sense::Word(word) | Sense::Means(_, word) if leads(word))
    }

    /// Returns true if the statement has a specific subject: `Sofas ship free`, `Card holders get free delivery`.
    pub(crate) fn has_own_subject(&self, at: usize) -> bool {
        let word = self.items[at].word();
        let is_verb = matches!(word, "ship" | "ships" | "shipped") || GAINS.has(word);
        let subject = (0..at).rev().find(|before| !AUXILIARY.has(self.items[*before].word()));
        // The subject may be the store's own name.
        let subject = subject.filter(|subject| is_verb && (*subject > 0 || word != "ships"));
        subject.is_some_and(|subject| self.is_own_word(subject))
    }

    /// Returns true for a specific condition: `Free shipping if you follow us`, `when you pay with a card of some
    /// bank`, `Use SHIP50 to get …`
    pub(crate) fn has_own_condition(&self, at: usize) -> bool {
        let clause = self.items[at].clause;
        let behind = || (at + 1..self.items.len()).take_while(|one| self.items[*one].clause == clause);
        let is_value = |one: usize| {
            let item = &self.items[one];
            item.means_any(&[Concept::Order, Concept::Above, Concept::Prepaid]) || matches!(item.sense, Sense::Money(_))
        };
        let is_known = behind().any(is_value) && !behind().any(|one| self.items[one].word().starts_with("pay"));
        IF.has(self.items[at].word()) && !is_known && behind().any(|one| self.is_own_word(one))
            || at == 0 && matches!(self.items[0].word(), "use" | "apply" | "enter" | "show")
    }

    /// Returns true for an unknown word that is not the name of a region.
    fn is_own_word(&self, at: usize) -> bool {
        let is_place = self.places.named.iter().any(|place| place.at == at);
        matches!(&self.items[at].sense, Sense::Word(word)
            if !is_place && ![GENERAL, SHOP, PLAIN, AUXILIARY].iter().any(|known| known.has(word)))
    }

    /// Returns true if no word between the preposition and the next known word names specific goods.
    pub(crate) fn is_plain_object(&self, from: usize) -> bool {
        for (at, item) in self.items.iter().enumerate().skip(from).take(6) {
            match &item.sense {
                Sense::Word(word)
                    if GENERAL.has(word.as_str()) || SHOP.has(word.as_str()) || PLAIN.has(word.as_str()) => {}
                Sense::Word(_) => return self.places.named.iter().any(|place| place.at == at),
                _ => return true,
            }
        }
        true
    }
}

/// Words that do not restrict a statement about shipping.
const PLAIN: Words = Words(
    "one, hundred, thousand, this, just, standard, regular, normal, dich, dir, sie, ihnen, euch, uns, vous, ti, \
     toda, todo, tu, su, ton, ta, votre, vos, mes, ihre, deine, deinen, ihren, jede, jeden, alles, tout, toute, \
     cada, every, single, total, more, than, full, working, weekdays, whatever, anything, everything, them, that, \
     other, others, smaller, larger, bigger, website, first",
);

/// Prepositions that introduce the object of a statement.
pub(crate) fn is_lead(item: &Item) -> bool {
    let leads = |word: &str| {
        matches!(
            word,
            "for" | "on" | "in" | "with" | "fur" | "bei" | "auf" | "pour" | "sur" | "para" | "en" | "con"
        )
    };
    matches!(&item.sense, Sense::Word(word) | Sense::Means(_, word) if leads(word))
}

/// Auxiliary words next to a verb that are not a subject.
const AUXILIARY: Words = Words(
    "we, wir, nous, ho, hota, is, are, be, been, will, would, can, do, does, to, ll, also, always, still, usually, only, now, just, that, \
     so, i, he, she, they, who, then, hum, aap, s, your, has, goes",
);

/// Words by which a shop refers to itself.
const SHOP: Words = Words("website, site, store, shop, platform, time, moment, portal, page, tienda, boutique");

/// Words that do not name specific goods.
const GENERAL: Words = Words(
    "cash, tarjeta, paypal, bizum, transferencia, card, cards, upi, carte, virement, kreditkarte, rechnung, \
     across, over, throughout, anywhere, everywhere, ke, par, pe, placed, any, all, our, the, your, every, \
     product, products, item, items, present, now, most, us, you, customers, everyone, each, of, a, an, only, \
     value, values, amount, both, additional, extra, nominal, small, minimal, flat, zero, cost, option, options, \
     it, alle, allen, unseren, unsere, toutes, tous, nos, les, la, le, el, los, las, todos, todas, nuestros, \
     nuestra, unserem, das, die, der, den, dem, einen, einer, ein, un, une, una, de, des, purchases, whole, \
     entire, and, or, parts, locations, cities, major, serviceable, areas, hidden, no, choosing, payment, mode, \
     moments, articles, productos, artikel",
);
