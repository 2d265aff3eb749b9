mod changes;
mod overlay;

use std::collections::BTreeMap;

use serde_json::Value;

use self::changes::Changes;
use crate::generated::dice::fold;
use crate::generated::{GeneratedCatalogue, Persona, Scratch, Sketch, kebab};
use crate::recorded::RecordedCatalogue;

/// Source of a store's products.
#[derive(Debug)]
pub(crate) enum Goods {
    Recorded {
        recorded: Box<RecordedCatalogue>,
        /// Generator of products that a recording lacks, which faults invent.
        stand_in: GeneratedCatalogue,
    },
    Generated(GeneratedCatalogue),
}

/// Products of a store at an epoch, generated or recorded, with the changes made on demand.
///
/// A product is identified by its *place*: the slot in a generated store, or the index of the record in a recorded
/// store. The number of a place never changes, but the product listed there changes with the epoch.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) goods: Goods,
    pub(crate) changes: Changes,
}

/// Collection of products in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shelf {
    pub(crate) handle: String,
    pub(crate) title: String,
    pub(crate) products: u64,
}

/// Places of the products in a listing, in its order.
#[derive(Debug)]
pub(crate) enum Places {
    /// All places from 0 up to this number.
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
    pub(crate) fn new(goods: Goods) -> Self {
        Self {
            goods,
            changes: Changes::default(),
        }
    }

    fn drawn(&self) -> &GeneratedCatalogue {
        match &self.goods {
            Goods::Recorded { stand_in, .. } => stand_in,
            Goods::Generated(generated) => generated,
        }
    }

    pub(crate) fn persona(&self) -> &Persona {
        &self.drawn().persona
    }

    /// Returns a value in the store's recorded `meta.json`, or `None` if the file or the key is missing.
    pub(crate) fn fact(&self, key: &str) -> Option<&Value> {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.store.meta.as_ref()?.get(key),
            Goods::Generated(_) => None,
        }
    }

    pub(crate) const fn is_generated(&self) -> bool {
        matches!(self.goods, Goods::Generated(_))
    }

    pub(crate) fn places(&self, epoch: u64) -> Places {
        let places = match &self.goods {
            Goods::Recorded { recorded, .. } if epoch > 0 => {
                Places::Some(recorded.listed(epoch).into_iter().map(|nth| nth as u64).collect())
            }
            Goods::Recorded { recorded, .. } => Places::All(recorded.store.records.len() as u64),
            Goods::Generated(generated) => Places::All(generated.len()),
        };
        if !self.changes.removes_any() {
            return places;
        }
        let all = (0..places.len()).filter_map(|nth| places.get(nth));
        Places::Some(all.filter(|place| !self.is_removed(*place, epoch)).collect())
    }

    fn is_removed(&self, place: u64, epoch: u64) -> bool {
        self.product_id(place, epoch)
            .is_some_and(|product| self.changes.is_removed(product))
    }

    /// Appends the product's record as `/products.json` shows it.
    pub(crate) fn push_record(&self, place: u64, epoch: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        let start = out.len();
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.push_record(place as usize, epoch, out),
            Goods::Generated(generated) => generated.push_record(place, epoch, scratch, out),
        }
        if let Some(product) = self.product_id(place, epoch).filter(|_| self.changes.is_any()) {
            self.changes.apply(product, epoch, start, out);
        }
    }

    /// Appends the record of the `number`th invented product, which is in no listing.
    pub(crate) fn push_invented(&self, number: u64, scratch: &mut Scratch, out: &mut Vec<u8>) {
        self.drawn().push_invented(number, scratch, out);
    }

    /// Returns a number that changes whenever the record changes.
    pub(crate) fn fingerprint(&self, place: u64, epoch: u64) -> u64 {
        let print = self.goods_fingerprint(place, epoch);
        let changed = self
            .product_id(place, epoch)
            .and_then(|product| self.changes.latest_of(product));
        changed.map_or(print, |change| fold(&[print, change]))
    }

    /// Returns a number like `fingerprint`, which ignores changes made on demand.
    pub(crate) fn goods_fingerprint(&self, place: u64, epoch: u64) -> u64 {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.fingerprint(place as usize, epoch),
            Goods::Generated(generated) => generated.fingerprint(place, epoch),
        }
    }

    /// Returns the id of the product at a place, or `None` for a recorded product without an id.
    pub(crate) fn product_id(&self, place: u64, epoch: u64) -> Option<u64> {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.product_id(place as usize),
            Goods::Generated(generated) => Some(generated.product_id(place, epoch)),
        }
    }

    /// Returns the place of the product with this handle.
    pub(crate) fn find(&self, handle: &str, epoch: u64) -> Option<u64> {
        self.lookup(handle, epoch)
            .filter(|place| !self.is_removed(*place, epoch))
    }

    /// Returns the place of the listed product with this id at an epoch.
    pub(crate) fn find_product(&self, id: u64, epoch: u64) -> Option<u64> {
        self.lookup_product(id, epoch)
            .filter(|place| !self.is_removed(*place, epoch))
    }

    /// Returns the place of the listed product that has a variant with this id at an epoch.
    pub(crate) fn find_variant(&self, id: u64, epoch: u64) -> Option<u64> {
        self.lookup_variant(id, epoch)
            .filter(|place| !self.is_removed(*place, epoch))
    }

    /// Finds a product like [`Catalogue::find_product`], even if it was removed on demand.
    pub(crate) fn lookup_product(&self, id: u64, epoch: u64) -> Option<u64> {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.find_product(id, epoch),
            Goods::Generated(generated) => generated.find_product(id, epoch),
        }
    }

    /// Finds a product like [`Catalogue::find_variant`], even if it was removed on demand.
    pub(crate) fn lookup_variant(&self, id: u64, epoch: u64) -> Option<u64> {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.find_variant(id, epoch),
            Goods::Generated(generated) => generated.find_variant(id, epoch),
        }
    }

    /// Finds a product like [`Catalogue::find`], even if it was removed on demand.
    pub(crate) fn lookup(&self, handle: &str, epoch: u64) -> Option<u64> {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded.find(handle, epoch),
            Goods::Generated(generated) => generated.find(handle, epoch),
        }
    }

    /// Returns the next listed place. After the last place, this is the first one.
    pub(crate) fn place_after(&self, place: u64, epoch: u64) -> Option<u64> {
        let places = self.places(epoch);
        match &places {
            Places::All(count) => (place + 1).checked_rem(*count),
            Places::Some(list) => {
                let at = list.iter().position(|listed| *listed == place)?;
                list.get((at + 1) % list.len()).copied()
            }
        }
    }

    /// Returns the generated product at a place, or `None` for a recorded product.
    pub(crate) fn sketch(&self, place: u64, epoch: u64) -> Option<Sketch<'_>> {
        match &self.goods {
            Goods::Recorded { .. } => None,
            Goods::Generated(generated) => Some(generated.sketch(place, epoch)),
        }
    }

    /// Returns the type of the product at a place, which determines its collection.
    pub(crate) fn product_type(&self, place: u64, epoch: u64) -> &str {
        match &self.goods {
            Goods::Recorded { recorded, .. } => recorded
                .store
                .records
                .get(place as usize)
                .map_or("", |record| &record.product_type),
            Goods::Generated(generated) => generated.sketch(place, epoch).kind.product_type,
        }
    }

    /// Returns the store's collections, one for each product type, sorted by handle.
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

    /// Returns the places of the products in a collection, or `None` if the collection does not exist.
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
