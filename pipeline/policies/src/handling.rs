//! Until when and on which days orders are handled.

use data_model::{ShippingFact, ShippingFactKind};

use crate::lexicon::Concept;
use crate::sentence::{Sense, Sentence};
use crate::settle::Found;

const ALL_DAYS: u8 = 0b111_1111;

impl Sentence<'_> {
    /// Reads the cut-off and the working days.
    pub(crate) fn read_handling(&self, found: &mut Found) {
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
        if let Some(minute) = self.cut_off() {
            let mut fact = ShippingFact::new(ShippingFactKind::CutOff, self.text);
            fact.minute_of_day = Some(minute);
            found.add(fact);
        }
        if let Some(weekdays) = self.weekdays() {
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
        // Two times are hours of business.
        let compares = self.has(Concept::Before) || self.has(Concept::After);
        (compares && self.has(Concept::SameDay) && clocks.next().is_none()).then_some(minute)
    }

    fn weekdays(&self) -> Option<u8> {
        let named = self.items.iter().filter_map(|item| match item.sense {
            Sense::Weekdays(mask) => Some(mask),
            _ => None,
        });
        let masks: Vec<u8> = named.collect();
        let first = *masks.first()?;
        if masks.iter().any(|mask| mask.count_ones() > 2) {
            return (masks.len() == 1).then_some(first);
        }
        let closed = masks.iter().fold(0, |all, mask| all | mask);
        // `Sunday` alone says nothing: only that it is no day of work does.
        let is_rest = self.has(Concept::Not) && closed & 0b001_1111 == 0;
        is_rest.then_some(ALL_DAYS & !closed)
    }
}
