//! Finds the regions that a sentence excludes.

use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::places::PlaceMention;
use crate::sentence::Sentence;
use crate::words::Words;

/// Words that an exception may name without effect: holidays and taxes.
const HARMLESS: Words = Words(
    "holiday, holidays, public, national, bank, gazetted, tax, taxes, gst, vat, mwst, tva, iva, feiertage, \
     feiertagen, feries, festivos, day, days, discount, discounts",
);

impl Sentence<'_> {
    /// Returns the position of a word that introduces an exception. Exceptions of holidays or taxes do not count.
    pub(crate) fn exception(&self) -> Option<usize> {
        self.items.iter().enumerate().position(|(at, item)| {
            let is_article = |item: &Item| {
                matches!(
                    item.word(),
                    "the" | "all" | "der" | "die" | "den" | "les" | "la" | "los" | "on" | "in" | "for" | "an" | "en"
                )
            };
            let named = self
                .items
                .iter()
                .skip(at + 1)
                .find(|item| !matches!(item.sense, Sense::Sign(_)) && !is_article(item));
            // In `Feiertage ausgenommen` ("except holidays"), the excluded word comes first.
            let named = named.or_else(|| self.before(at, 1).next());
            let is_harmless = named.is_some_and(|item| match &item.sense {
                Sense::Weekdays(_) => true,
                _ => item.word().split(' ').any(|word| HARMLESS.has(word)) || item.word().starts_with("discount"),
            });
            (item.means(Concept::Except) && !is_harmless) || self.withdraws_at(at)
        })
    }

    /// Returns true for a denial that limits an offer: `Free shipping above 999, not valid in the North East`.
    fn withdraws_at(&self, at: usize) -> bool {
        let told = |item: &Item| matches!(item.sense, Sense::Money(_) | Sense::Days(_)) || item.means(Concept::Free);
        let mut behind = self.items.iter().skip(at + 1).take(2);
        self.items[at].means(Concept::Not)
            && behind.any(|item| item.means(Concept::Offered))
            && self.items[..at].iter().any(told)
            && self.excepts_behind(at)
    }

    /// Returns true if a region, or a payment method without free shipping, follows a denial.
    fn excepts_behind(&self, at: usize) -> bool {
        let is_place = |place: &PlaceMention| place.at > at;
        let is_place = self.places.named.iter().any(is_place) || self.places.is_unclear;
        let is_free = self.items[..at].iter().any(|item| item.means(Concept::Free));
        match self.items.iter().position(|item| item.means(Concept::Cod)) {
            Some(cod) => cod > at && is_free,
            None => is_place,
        }
    }

    /// Returns true if the sentence limits the one before it: `Not valid for the North East.`
    pub(crate) fn withdraws(&self) -> bool {
        let tells = [
            Concept::Cod,
            Concept::ShipVerb,
            Concept::Dispatch,
            Concept::Deliver,
            Concept::Free,
        ];
        // `Orders below 300 cannot be accepted` does not restrict the preceding sentence.
        let is_valid = |item: &Item| item.means(Concept::Offered) && !item.word().starts_with("accept");
        let denies = self.has(Concept::Not) && self.items.iter().any(is_valid);
        let bounds = self.bounds();
        let is_bound = |at: usize| bounds.iter().any(|bound| bound.at == at);
        let is_amount = |(at, item): (usize, &Item)| {
            matches!(item.sense, Sense::Money(_) | Sense::Days(_) | Sense::Clock(_)) && !is_bound(at)
        };
        // `Europe (except Germany)` introduces a statement about Europe and withdraws nothing.
        let first = self.places.named.first().map_or(usize::MAX, |place| place.at);
        (denies || self.exception().is_some_and(|at| at < first))
            && (!self.places.named.is_empty() || self.places.is_unclear || !bounds.is_empty())
            && !self.is_question
            && !(0..self.items.len()).any(|at| self.frees(at))
            && !self.items.iter().enumerate().any(is_amount)
            && !self.items.iter().any(|item| item.means_any(&tells))
    }
}
