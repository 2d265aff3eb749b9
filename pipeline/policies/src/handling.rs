//! Reads the daily cut-off time and the days on which orders are processed.

use data_model::{ShippingFact, ShippingFactKind, ShippingRegion};

use crate::context::Scope;
use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::settle::SentenceFacts;
use crate::words::Words;

const ALL_DAYS: u8 = 0b111_1111;

impl Sentence<'_> {
    pub(crate) fn read_handling(&self, found: &mut SentenceFacts) {
        let is_handling = [Concept::Dispatch, Concept::ShipVerb, Concept::Ship]
            .iter()
            .any(|concept| self.has(*concept));
        let is_warehouse = self
            .items
            .iter()
            .any(|item| matches!(&item.sense, Sense::Word(word) if word == "warehouse"));
        if self.has(Concept::Support) || !(is_handling || is_warehouse || self.has(Concept::SameDay)) {
            return;
        }
        let is_headed = self.asked.is_headed && self.asked.scope != Scope::Everywhere;
        if is_headed {
            return;
        }
        if let Some(minute) = self.cut_off() {
            let mut fact = ShippingFact::new(ShippingFactKind::CutOff, self.text);
            fact.minute_of_day = Some(minute);
            found.add(fact);
        }
        let is_home = |region: &ShippingRegion| *region == ShippingRegion::Domestic;
        let is_general = self.places.kinds().iter().all(is_home) && !self.places.is_unclear;
        // Days of delivery are not the days of processing.
        let arrives = |item: &Item| {
            ["deliver", "liefer", "zustell", "livr", "entreg", "courier"]
                .iter()
                .any(|stem| item.word().starts_with(stem))
        };
        let leaves = self
            .items
            .iter()
            .any(|item| item.means_any(&[Concept::Dispatch, Concept::ShipVerb]));
        let is_handled = leaves || !self.items.iter().any(arrives);
        if let Some(weekdays) = self.weekdays().filter(|_| is_general && is_handled) {
            let mut fact = ShippingFact::new(ShippingFactKind::WorkingDays, self.text);
            fact.weekdays = Some(weekdays);
            found.add(fact);
        }
    }

    fn cut_off(&self) -> Option<u16> {
        let mut clocks = self.items.iter().filter_map(|item| match item.sense {
            Sense::Clock(minute) => Some(minute),
            _ => None,
        });
        let minute = clocks.next()?;
        // Two times are opening hours.
        let compares = self.has(Concept::Before) || self.has(Concept::After);
        (compares && self.has(Concept::SameDay) && clocks.next().is_none()).then_some(minute)
    }

    fn weekdays(&self) -> Option<u8> {
        let named = self.items.iter().filter_map(|item| match item.sense {
            Sense::Weekdays(mask) => Some(mask),
            _ => None,
        });
        let masks: Vec<u8> = named.collect();
        // `closed on second Saturdays` describes only some Saturdays.
        const SOME: Words = Words("second, alternate, first, third, fourth, last, nd, th, every");
        let is_some = |item: &Item| matches!(&item.sense, Sense::Word(word) if SOME.has(word.as_str()));
        let is_day = |item: &Item| matches!(item.sense, Sense::Weekdays(_));
        if self.items.windows(2).any(|pair| is_some(&pair[0]) && is_day(&pair[1])) {
            return None;
        }
        let first = *masks.first()?;
        if masks.iter().any(|mask| mask.count_ones() > 2) {
            return (masks.len() == 1).then_some(first);
        }
        let closed = masks.iter().fold(0, |all, mask| all | mask);
        // The word `Sunday` is not enough. The text must state that Sunday is not a working day.
        let denies = self.has(Concept::Not) || self.has(Concept::Except);
        // `Within 2 days, excluding Sundays` describes the counting of days.
        let is_counted =
            self.has(Concept::Except) && self.items.iter().any(|item| matches!(item.sense, Sense::Days(_)));
        let is_rest = denies && !is_counted && closed & 0b001_1111 == 0;
        is_rest.then_some(ALL_DAYS & !closed)
    }
}
