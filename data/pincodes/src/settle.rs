//! Corrects pincodes that a table places wrongly, because a post office was entered with another one's district.

use std::collections::BTreeMap;

/// The source's text for an unknown state or district.
pub(crate) const NOT_STATED: &str = "NA";
/// Maximum distance between two places of a district, in kilometres.
const DISTRICT_KM_MAX: f64 = 200.0;
const KM_PER_DEGREE: f64 = 111.0;
/// First pincode of the army's post offices, which move with the army.
const ARMY: u32 = 900_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

impl Point {
    fn km_to(self, other: Self) -> f64 {
        let north = (self.latitude - other.latitude) * KM_PER_DEGREE;
        let east = (self.longitude - other.longitude) * KM_PER_DEGREE * self.latitude.to_radians().cos();
        north.hypot(east)
    }

    fn median(points: impl Iterator<Item = Self>) -> Option<Self> {
        let (mut latitudes, mut longitudes): (Vec<f64>, Vec<f64>) =
            points.map(|point| (point.latitude, point.longitude)).unzip();
        latitudes.sort_unstable_by(f64::total_cmp);
        longitudes.sort_unstable_by(f64::total_cmp);
        let middle = latitudes.len() / 2;
        Some(Self {
            latitude: *latitudes.get(middle)?,
            longitude: *longitudes.get(middle)?,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) state: String,
    pub(crate) district: String,
    /// Coordinates of the post offices, if the table states them.
    pub(crate) at: Option<Point>,
}

/// Corrects the places that conflict with the other rows of the table. A place conflicts if no other pincode with the
/// same first three digits is in its state, and its post offices are far from all others of its district or have no
/// coordinates. A conflicting pincode gets the state of its neighbouring pincodes if its post offices are near them,
/// and an unknown district.
pub(crate) fn settled(places: &BTreeMap<u32, Place>) -> BTreeMap<u32, Place> {
    let mut districts: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
    for (number, place) in places {
        districts
            .entry((&place.state, &place.district))
            .or_default()
            .push(*number);
    }
    let of_number = |(number, place): (&u32, &Place)| {
        let beside = places.range(number / 1_000 * 1_000..(number / 1_000 + 1) * 1_000);
        let beside: Vec<&Place> = beside
            .filter(|(other, place)| *other != number && place.state != NOT_STATED)
            .map(|(_, place)| place)
            .collect();
        let of_district = districts[&(place.state.as_str(), place.district.as_str())].iter();
        let of_district = of_district
            .filter(|other| *other != number)
            .filter_map(|other| places[other].at);
        let state = if *number >= ARMY {
            Some(NOT_STATED)
        } else if place.state == NOT_STATED || !is_contradicted(place, &beside, of_district) {
            None
        } else {
            Some(state_beside(place, &beside).unwrap_or(NOT_STATED))
        };
        let settled = state.map_or_else(
            || place.clone(),
            |state| Place {
                state: state.to_owned(),
                district: NOT_STATED.to_owned(),
                at: place.at,
            },
        );
        (*number, settled)
    };
    places.iter().map(of_number).collect()
}

fn is_contradicted(place: &Place, beside: &[&Place], of_district: impl Iterator<Item = Point>) -> bool {
    let is_alone = !beside.is_empty() && beside.iter().all(|other| other.state != place.state);
    let Some(middle) = Point::median(of_district).filter(|_| is_alone) else {
        return false;
    };
    place.at.is_none_or(|at| at.km_to(middle) > DISTRICT_KM_MAX)
}

/// Returns the common state of the neighbouring places, if this place is geographically near them.
fn state_beside<'a>(place: &Place, beside: &[&'a Place]) -> Option<&'a str> {
    let (first, middle) = (
        beside.first()?,
        Point::median(beside.iter().filter_map(|other| other.at))?,
    );
    let is_one = beside.iter().all(|other| other.state == first.state);
    let is_there = place.at.is_some_and(|at| at.km_to(middle) <= DISTRICT_KM_MAX);
    (is_one && is_there).then_some(first.state.as_str())
}
