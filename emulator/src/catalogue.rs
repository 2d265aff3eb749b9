use std::collections::BTreeMap;

use crate::generated::{Generated, Persona, Scratch, Sketch, kebab};
use crate::recorded::Recorded;

/// A store's products at an epoch, whatever their source.
///
/// A product is named by its *place*: the slot of a generated store, the position of a record of a recorded one. A
/// place keeps its number for ever; what is listed there changes with the epoch.
#[derive(Debug)]
pub(crate) enum Catalogue {
    Recorded {
        recorded: Box<Recorded>,
        /// Draws what no recording holds: products that faults invent.
        stand_in: Generated,
    },
    Generated(Generated),
}

/// A collection of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shelf {
    pub(crate) handle: String,
    pub(crate) title: String,
    pub(crate) products: u64,
}

/// The places that a listing goes through, in its order.
#[derive(Debug)]
pub(crate) enum Places {
    /// Every place from 0.
    All(u64),
    Some(Vec<u64>),
}

impl Places {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Some(places) => places.len() as u64,
        }
    }

    pub(crate) fn get(&self, nth: u64) -> Option<u64> {
        match self {
            Self::All(count) => (nth < *count).then_some(nth),
            Self::Some(places) => places.get(usize::try_from(nth).ok()?).copied(),
        }
    }
}

impl Catalogue {
    fn drawn(&self) -> &Generated {
        match self {
            Self::Recorded { stand_in, .. } => stand_in,
            Self::Generated(generated) => generated,
        }
    }

    pub(crate) fn persona(&self) -> &Persona {
        &self.drawn().persona
    }

    /// Every place that is listed at an epoch.
    pub(crate) fn places(&self, epoch: u64) -> Places {
        match self {
            Self::Recorded { recorded, .. } if epoch > 0 => {
                Places::Some(recorded.listed(epoch).into_iter().map(|nth| nth as u64).collect())
            }
            Self::Recorded { recorded, .. } => Places::All(recorded.store.records.len() as u64),
            Self::Generated(generated) => Places::All(generated.len()),
        }
    }

    /// Appends the product's record as `/products.json` shows it.
    pub(crate) fn push_record(&self, place: u64, epoch: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        match self {
            Self::Recorded { recorded, .. } => recorded.push_record(place as usize, epoch, out),
            Self::Generated(generated) => generated.push_record(place, epoch, scratch, out),
        }
    }

    /// Appends the record of the `number`th product that no listing has.
    pub(crate) fn push_invented(&self, number: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        self.drawn().push_invented(number, scratch, out);
    }

    /// A number that differs whenever the record does.
    pub(crate) fn fingerprint(&self, place: u64, epoch: u64) -> u64 {
        match self {
            Self::Recorded { recorded, .. } => recorded.fingerprint(place as usize, epoch),
            Self::Generated(generated) => generated.fingerprint(place, epoch),
        }
    }

    /// The place of the product with this handle.
    pub(crate) fn find(&self, handle: &str, epoch: u64) -> Option<u64> {
        match self {
            Self::Recorded { recorded, .. } => {
                let found = recorded
                    .store
                    .records
                    .iter()
                    .position(|record| record.handle == handle)?;
                recorded.is_listed(found, epoch).then_some(found as u64)
            }
            Self::Generated(generated) => generated.find(handle, epoch),
        }
    }

    /// The drawn product at a place; `None` for a recorded one.
    pub(crate) fn sketch(&self, place: u64, epoch: u64) -> Option<Sketch<'_>> {
        match self {
            Self::Recorded { .. } => None,
            Self::Generated(generated) => Some(generated.sketch(place, epoch)),
        }
    }

    /// The product type of what is at a place: what collections are made by.
    fn product_type(&self, place: u64, epoch: u64) -> &str {
        match self {
            Self::Recorded { recorded, .. } => recorded
                .store
                .records
                .get(place as usize)
                .map_or("", |record| &record.product_type),
            Self::Generated(generated) => generated.sketch(place, epoch).kind.product_type,
        }
    }

    /// The store's collections: one for each product type, by handle.
    pub(crate) fn shelves(&self, epoch: u64) -> Vec<Shelf> {
        let places = self.places(epoch);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for place in (0..places.len()).filter_map(|nth| places.get(nth)) {
            *counts.entry(self.product_type(place, epoch)).or_default() += 1;
        }
        let mut shelves: BTreeMap<String, Shelf> = BTreeMap::new();
        for (title, products) in counts {
            let handle = kebab(title);
            if !handle.is_empty() {
                let fresh = Shelf {
                    handle: handle.clone(),
                    title: title.to_owned(),
                    products: 0,
                };
                shelves.entry(handle).or_insert(fresh).products += products;
            }
        }
        shelves.into_values().collect()
    }

    /// The places of a collection; `None` for one that does not exist.
    pub(crate) fn shelf(&self, handle: &str, epoch: u64) -> Option<Places> {
        let places = self.places(epoch);
        if handle == "all" {
            return Some(places);
        }
        let of_shelf = |place: &u64| kebab(self.product_type(*place, epoch)) == handle;
        let found: Vec<u64> = (0..places.len())
            .filter_map(|nth| places.get(nth))
            .filter(of_shelf)
            .collect();
        (!found.is_empty()).then_some(Places::Some(found))
    }
}
