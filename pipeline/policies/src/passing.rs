//! Detects temporary offers: until a date, for a week or for a day.

use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::words::Words;

/// Full and short month names. `may` and `mar` count only next to a number.
const MONTHS: Words = Words(
    "january, february, march, april, may, june, july, august, september, october, november, december, jan, feb, \
     mar, apr, jun, jul, aug, sep, sept, oct, nov, dec, januar, februar, marz, mai, juni, juli, oktober, \
     dezember, janvier, fevrier, mars, avril, juin, juillet, aout, septembre, octobre, novembre, decembre, enero, \
     febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre, okt, dez, dic",
);
/// Words before a month in which an offer is valid.
const IN: Words = Words("through, throughout, during, in, this, im, en, till, until, bis, hasta, jusqu a, from, for");
/// Words between day and month.
const OF: Words = Words("st, nd, rd, th, of, de, er, the");
/// Words before an end date or end day.
const ENDS: Words =
    Words("till, until, untill, ends, ending, expires, valid, bis, jusqu, jusqu a, au, hasta, through, tak");
/// Words for offers that are valid until then.
const OFFERS: Words =
    Words("offer, offers, sale, deal, deals, promotion, promo, aktion, angebot, offre, oferta, valid");

impl Sentence<'_> {
    /// Returns true if the offer is valid only until or on some date or day.
    pub(crate) fn is_passing(&self) -> bool {
        self.has(Concept::Passing)
            || (0..self.items.len()).any(|at| self.is_date(at) || self.is_end(at) || self.is_day(at) || self.lasts(at))
    }

    /// Returns true if the sentence ends the preceding offer: `Offer valid till Sunday.`
    pub(crate) fn ends_offer(&self) -> bool {
        let ways = [
            Concept::Ship,
            Concept::ShipVerb,
            Concept::Deliver,
            Concept::Dispatch,
            Concept::Cod,
        ];
        self.is_passing()
            && !self.is_question
            && self.items.len() <= 12
            && !self
                .items
                .iter()
                .any(|item| item.means_any(&ways) || matches!(item.sense, Sense::Days(_)))
    }

    /// Returns true for dates: `31st December`, `December 31`, `31/12/2025`.
    fn is_date(&self, at: usize) -> bool {
        let number = |at: Option<usize>| match at.and_then(|at| self.items.get(at)).map(|item| &item.sense) {
            Some(Sense::Bare(min, max)) => {
                min % 1_000 == 0 && (1..=31).contains(&(min / 1_000)) && max / 1_000 <= 2_100
            }
            _ => false,
        };
        let is_slash = |at: usize| {
            matches!(
                self.items.get(at).map(|item| &item.sense),
                Some(Sense::Sign('/' | '-' | '.'))
            )
        };
        let is_number = |at: usize| matches!(self.items.get(at).map(|item| &item.sense), Some(Sense::Bare(..)));
        if number(Some(at)) && is_slash(at + 1) && is_number(at + 2) && is_slash(at + 3) && is_number(at + 4) {
            return true;
        }
        let word = self.items[at].word();
        let is_month = MONTHS.has(word);
        let before = (0..at).rev().find(|before| !OF.has(self.items[*before].word()));
        // A month may have no day, as in `all through October`. `may` is usually a verb.
        let is_in = before.is_some_and(|before| IN.has(self.items[before].word())) && word.len() > 3;
        is_month && (is_in || number(before) || number(Some(at + 1)) && word != "may")
    }

    /// Returns true for `Free shipping for the next 3 days`.
    fn lasts(&self, at: usize) -> bool {
        const NEXT: Words = Words("the, next, only, just, die, les, los");
        let is_span =
            matches!(self.items[at].sense, Sense::Days(_)) && self.has(Concept::Free) && !self.has(Concept::Take);
        let mut before = self.before(at, 4).filter(|item| !NEXT.has(item.word()));
        is_span
            && before
                .next()
                .is_some_and(|item| matches!(item.word(), "for" | "fur" | "pendant" | "durante"))
    }

    /// Returns true for end dates: `until Sunday`, `ends tonight`, `bis 31.12.`.
    fn is_end(&self, at: usize) -> bool {
        if !ENDS.has(self.items[at].word()) {
            return false;
        }
        let ends = |item: &Item| match &item.sense {
            Sense::Weekdays(mask) => mask.count_ones() <= 2,
            Sense::Bare(min, max) => {
                min == max && (1..=31).contains(&(min / 1_000)) && (1..=12).contains(&(min % 1_000 / 10))
            }
            _ => matches!(
                item.word(),
                "midnight" | "tonight" | "tomorrow" | "today" | "month" | "stocks" | "stock" | "supplies" | "end"
            ),
        };
        self.items.iter().skip(at + 1).take(3).any(ends)
    }

    /// Returns true for `Sunday sale`, `this Friday`, and an occasion at the start: `Holi offer: …`.
    fn is_day(&self, at: usize) -> bool {
        let is_offer = |at: usize| self.items.get(at).is_some_and(|item| OFFERS.has(item.word()));
        let is_named = matches!(self.items[at].sense, Sense::Sign(':' | '-' | ','));
        let is_this = at > 0 && matches!(self.items[at - 1].word(), "this" | "next" | "coming");
        match self.items[at].sense {
            Sense::Weekdays(_) => is_this || is_offer(at + 1),
            _ => is_named && (2..=4).contains(&at) && is_offer(at - 1),
        }
    }
}
