//! Delivery zones in the delivery file of a brand. The data of a zone is stored once, and each area has one byte with
//! the index of its zone. The zones are in the metadata of the file's schema, so that readers that do not support zones
//! can read the columns.

use std::collections::HashMap;

use arrow::error::ArrowError;
use data_model::{Confidence, CurrencyCode, DeliveryRate, DeliveryZone, Timestamp};
use data_pincodes::{AreaId, directory};
use serde::{Deserialize, Serialize};

const NOTE: &str = "haat.zones";

/// Index of areas that belong to no zone.
const NONE: u8 = u8::MAX;

/// Delivery terms of a store for all areas of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasedZone {
    /// Name of the zone.
    pub name: Box<str>,
    /// Confidence in the data of the zone.
    pub confidence: Confidence,
    /// True if the store delivers to the zone. `None` when unknown.
    pub serviceable: Option<bool>,
    /// Minimum number of days until delivery.
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery.
    pub days_max: Option<u16>,
    /// Currency of the delivery rates.
    pub currency: CurrencyCode,
    /// Delivery rates, cheapest first.
    pub rates: Box<[DeliveryRate]>,
    /// Time of the request to the store.
    pub sampled_at: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct ZoneTable {
    zone_of: Box<[u8]>,
    zones: Box<[ReleasedZone]>,
}

#[derive(Serialize, Deserialize)]
struct Note {
    /// Fingerprint of the pincode directory that defines the areas.
    directory: String,
    /// Index of the zone of each area, as two hex digits.
    zone_of: String,
    /// Delivery zones, without the names of their areas.
    zones: Vec<DeliveryZone>,
}

/// Returns the schema metadata that encodes the zones. A zone whose index does not fit in one byte and an area that is
/// not in the directory are left out.
pub(super) fn notes(zones: &[DeliveryZone]) -> Result<HashMap<String, String>, ArrowError> {
    if zones.is_empty() {
        return Ok(HashMap::new());
    }
    let directory = directory();
    let mut zone_of = vec![NONE; directory.areas().len()];
    for (zone, number) in zones.iter().zip(0..NONE) {
        for area in zone.areas.iter().filter_map(|name| directory.named(name)) {
            zone_of[area.index()] = number;
        }
    }
    let bare = |zone: &DeliveryZone| DeliveryZone {
        areas: Vec::new(),
        ..zone.clone()
    };
    let note = Note {
        directory: fingerprint(),
        zone_of: hex::encode(zone_of),
        zones: zones.iter().take(usize::from(NONE)).map(bare).collect(),
    };
    let note = serde_json::to_string(&note).map_err(|error| ArrowError::JsonError(error.to_string()))?;
    Ok(HashMap::from([(NOTE.to_owned(), note)]))
}

fn fingerprint() -> String {
    format!("{:016x}", directory().fingerprint())
}

impl ZoneTable {
    /// Reads the zones from the schema metadata. Zones that were made with another pincode directory are ignored.
    pub(super) fn of(notes: &HashMap<String, String>) -> Result<Self, ArrowError> {
        let Some(note) = notes.get(NOTE) else {
            return Ok(Self::default());
        };
        let note: Note = serde_json::from_str(note).map_err(|error| ArrowError::JsonError(error.to_string()))?;
        if note.directory != fingerprint() {
            tracing::warn!(
                "delivery zones are ignored because they were built with another pincode directory; the next release has them"
            );
            return Ok(Self::default());
        }
        let wrong = || ArrowError::InvalidArgumentError("the delivery zones are incomplete".to_owned());
        let zone_of = hex::decode(&note.zone_of).map_err(|_| wrong())?;
        let known = |zone: &u8| *zone == NONE || usize::from(*zone) < note.zones.len();
        if zone_of.len() != directory().areas().len() || !zone_of.iter().all(known) {
            return Err(wrong());
        }
        Ok(Self {
            zone_of: zone_of.into(),
            zones: note.zones.into_iter().map(ReleasedZone::of).collect(),
        })
    }

    pub(super) fn of_area(&self, area: AreaId) -> Option<&ReleasedZone> {
        self.zones.get(usize::from(*self.zone_of.get(area.index())?))
    }

    pub(super) fn zones(&self) -> &[ReleasedZone] {
        &self.zones
    }

    pub(super) fn areas(&self) -> impl Iterator<Item = AreaId> + '_ {
        let of_a_zone = self.zone_of.iter().zip(0..).filter(|(zone, _)| **zone != NONE);
        of_a_zone.map(|(_, area)| AreaId(area))
    }
}

impl ReleasedZone {
    fn of(zone: DeliveryZone) -> Self {
        Self {
            name: zone.zone.into(),
            confidence: zone.confidence,
            serviceable: zone.serviceable,
            days_min: zone.days_min,
            days_max: zone.days_max,
            currency: zone.currency,
            rates: zone.rates.into(),
            sampled_at: zone.sampled_at,
        }
    }
}
