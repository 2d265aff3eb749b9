//! Generated stores. Every product is a pure function of (seed, store, slot, epoch), so a market of a million products
//! needs only a few kilobytes of memory.

mod body;
mod coin;
pub(crate) mod dice;
mod drift;
mod ids;
mod moment;
mod options;
mod persona;
mod record;
mod resold;
pub(crate) mod reviews;
mod sketch;
mod split;
pub(crate) mod trades;

pub(crate) use body::push_html;
pub use drift::Drift;
pub(crate) use drift::Step;
pub(crate) use moment::{epoch_s, push_moment};
pub(crate) use persona::{Persona, kebab};
pub(crate) use record::Scratch;
pub(crate) use resold::{Maker, ResoldGoods};
pub(crate) use sketch::{Sketch, Steps};
pub(crate) use split::split;

use crate::json::push_inner;

#[derive(Debug)]
pub(crate) struct GeneratedCatalogue {
    pub(crate) persona: Persona,
    /// Number of slots in this store, which is the number of its products in every epoch.
    size: u64,
    /// Number of slots in the stores before this one.
    offset: u64,
    /// Number of slots in all stores.
    slots: u64,
    drift: Drift,
    base_url_escaped: String,
    resold: ResoldGoods,
}

impl GeneratedCatalogue {
    pub(crate) fn new(persona: Persona, size: u64, offset: u64, slots: u64, drift: Drift, base_url: &str) -> Self {
        let mut escaped = Vec::new();
        push_inner(&mut escaped, base_url.as_bytes());
        let base_url_escaped = String::from_utf8(escaped).unwrap_or_default();
        Self {
            persona,
            size,
            offset,
            slots,
            drift,
            base_url_escaped,
            resold: ResoldGoods::default(),
        }
    }

    /// Returns this store with products of other stores in addition to its own.
    pub(crate) fn reselling(mut self, resold: ResoldGoods) -> Self {
        self.resold = resold;
        self
    }

    pub(crate) fn len(&self) -> u64 {
        self.size
    }

    fn steps(&self, slot: u64, epoch: u64) -> Steps {
        Steps::at(self.persona.seed, self.persona.index, slot, &self.drift, epoch)
    }

    pub(crate) fn sketch(&self, slot: u64, epoch: u64) -> Sketch<'_> {
        let steps = self.steps(slot, epoch);
        let (persona, offset, slots) = (&self.persona, self.offset, self.slots);
        match self.resold.source(slot) {
            Some((maker, theirs)) => Sketch::resold(persona, maker, theirs, slot, offset, slots, &steps),
            None => Sketch::listed(persona, slot, offset, slots, &steps),
        }
    }

    /// Appends the record of the product in a slot.
    pub(crate) fn push_record(&self, slot: u64, epoch: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        record::push_record(&self.sketch(slot, epoch), &self.base_url_escaped, scratch, out);
    }

    /// Appends the record of the `number`th product that is in no slot.
    pub(crate) fn push_invented(&self, number: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        let sketch = Sketch::invented(&self.persona, number, self.slots);
        record::push_record(&sketch, &self.base_url_escaped, scratch, out);
    }

    /// Returns a number that changes whenever the record in a slot changes.
    pub(crate) fn fingerprint(&self, slot: u64, epoch: u64) -> u64 {
        self.steps(slot, epoch).fingerprint(slot)
    }

    pub(crate) fn product_id(&self, slot: u64, epoch: u64) -> u64 {
        self.ordinal(slot, self.steps(slot, epoch).generation.count)
            .product_id()
    }

    fn ordinal(&self, slot: u64, generation: u64) -> ids::Ordinal {
        ids::Ordinal::listed(self.offset + slot, generation, self.slots)
    }

    /// Returns the slot whose current product has this id.
    pub(crate) fn find_product(&self, id: u64, epoch: u64) -> Option<u64> {
        self.find_ordinal(ids::Ordinal::of_product(id)?, epoch)
    }

    /// Returns the slot whose current product has a variant with this id.
    pub(crate) fn find_variant(&self, id: u64, epoch: u64) -> Option<u64> {
        let (ordinal, nth) = ids::Ordinal::of_variant(id)?;
        let slot = self.find_ordinal(ordinal, epoch)?;
        (nth < self.sketch(slot, epoch).variant_count()).then_some(slot)
    }

    fn find_ordinal(&self, ordinal: ids::Ordinal, epoch: u64) -> Option<u64> {
        let slot = ordinal.slot(self.slots)?.checked_sub(self.offset)?;
        let is_there = slot < self.size && self.ordinal(slot, self.steps(slot, epoch).generation.count) == ordinal;
        is_there.then_some(slot)
    }

    /// Returns the slot whose current product has this handle.
    pub(crate) fn find(&self, handle: &str, epoch: u64) -> Option<u64> {
        let (slot, generation) = sketch::place_of(handle)?;
        if slot >= self.size || self.steps(slot, epoch).generation.count != generation {
            return None;
        }
        (self.sketch(slot, epoch).handle() == handle).then_some(slot)
    }
}

#[cfg(test)]
mod tests;
