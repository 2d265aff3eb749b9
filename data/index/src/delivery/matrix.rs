use std::collections::HashMap;

use arrow::array::{Array, RecordBatch};
use arrow::error::ArrowError;
use data_model::{Pincode, Timestamp};
use data_pincodes::AreaId;

use super::SampleColumns;
use super::zones::{ReleasedZone, ZoneTable};
use crate::columns::table::{Columns, flag, number, text};

/// Delivery facts of one brand by pincode, read in place.
#[derive(Debug)]
pub struct DeliveryMatrix {
    samples: SampleColumns,
    zones: ZoneTable,
}

/// Answer of a store about delivery to one pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryRef<'a> {
    /// True if the store delivers to the pincode. `None` when unknown.
    pub serviceable: Option<bool>,
    /// Name of the delivery zone.
    pub zone: Option<&'a str>,
    /// Minimum number of days until delivery.
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery.
    pub days_max: Option<u16>,
    /// Time of the request to the store.
    pub sampled_at: Timestamp,
}

impl DeliveryMatrix {
    /// An error is returned if the pincodes do not ascend.
    pub(crate) fn of(batch: &RecordBatch, notes: &HashMap<String, String>) -> Result<Self, ArrowError> {
        let matrix = Self {
            samples: SampleColumns::of(batch)?,
            zones: ZoneTable::of(notes)?,
        };
        if matrix.samples.pincode.values().windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(matrix)
        } else {
            Err(ArrowError::InvalidArgumentError(
                "pincodes are not in ascending order".to_owned(),
            ))
        }
    }

    /// Returns the pincodes of the requests to the store, as numbers in ascending order.
    #[must_use]
    pub fn pincodes(&self) -> &[u32] {
        self.samples.pincode.values()
    }

    /// Returns the store's answer for this pincode.
    #[must_use]
    pub fn get(&self, pincode: Pincode) -> Option<DeliveryRef<'_>> {
        let at = self.pincodes().binary_search(&pincode.number()).ok()?;
        Some(self.at(at))
    }

    /// Returns the store's answers for pincodes of the same sorting district. These pincodes share the first three
    /// digits.
    pub fn district(&self, pincode: Pincode) -> impl ExactSizeIterator<Item = DeliveryRef<'_>> {
        let first = pincode.number() / 1_000 * 1_000;
        let below = |limit: u32| self.pincodes().partition_point(|one| *one < limit);
        (below(first)..below(first + 1_000)).map(|at| self.at(at))
    }

    /// Returns the zone of the area of this pincode, in nanoseconds and without an allocation.
    #[must_use]
    pub fn zone(&self, pincode: Pincode) -> Option<&ReleasedZone> {
        self.zones.of_area(data_pincodes::directory().area(pincode)?)
    }

    /// Returns the zone with this name.
    #[must_use]
    pub fn named(&self, zone: &str) -> Option<&ReleasedZone> {
        self.zones.zones().iter().find(|one| &*one.name == zone)
    }

    /// Returns true if the file has delivery zones that were derived from the store's answers.
    #[must_use]
    pub fn has_zones(&self) -> bool {
        !self.zones.zones().is_empty()
    }

    /// Returns true if the store delivers to any pincode, and `None` if all known answers are negative but do not cover
    /// every pincode.
    #[must_use]
    pub fn serves(&self) -> Option<bool> {
        let zones = || self.zones.zones().iter().map(|zone| zone.serviceable);
        let samples = (0..self.samples.pincode.len()).map(|at| self.at(at).serviceable);
        if zones().chain(samples).any(|served| served == Some(true)) {
            return Some(true);
        }
        let is_everywhere = self.areas().count() == data_pincodes::directory().areas().len();
        let is_nowhere = is_everywhere && zones().all(|served| served == Some(false));
        is_nowhere.then_some(false)
    }

    /// Returns true if any answer states a delivery time.
    #[must_use]
    pub fn has_days(&self) -> bool {
        self.samples.days_max.null_count() < self.samples.days_max.len()
            || self.zones.zones().iter().any(|zone| zone.days_max.is_some())
    }

    /// Returns the areas that belong to a zone.
    pub fn areas(&self) -> impl Iterator<Item = AreaId> + '_ {
        self.zones.areas()
    }

    fn at(&self, at: usize) -> DeliveryRef<'_> {
        let samples = &self.samples;
        DeliveryRef {
            serviceable: flag(&samples.serviceable, at),
            zone: text(&samples.zone, at),
            days_min: number(&samples.days_min, at),
            days_max: number(&samples.days_max, at),
            sampled_at: Timestamp::from_micros(samples.sampled_at.value(at)),
        }
    }
}
