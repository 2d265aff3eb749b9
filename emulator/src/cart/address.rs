//! Delivery addresses of a cart, and the platform's rules for them.

use uuid::Uuid;

use super::{Address, Cart, CartRefusal, Refusal};
use crate::places;

const ADDRESSES_MAX: usize = 20;

/// Maximum number of characters in one part of an address.
const PART_MAX: usize = 255;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    pub(crate) company: Option<String>,
    pub(crate) address1: Option<String>,
    pub(crate) address2: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) province: Option<String>,
    /// ISO 3166-1 alpha-2 country code.
    pub(crate) country: Option<String>,
    pub(crate) zip: Option<String>,
    pub(crate) phone: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct AddressInput {
    pub(crate) place: Option<Place>,
    pub(crate) is_selected: bool,
    pub(crate) is_for_once: bool,
    /// True to check every part that the country needs.
    pub(crate) is_strict: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct AddressChange {
    /// Id of the address, as the request states it.
    pub(crate) id: String,
    pub(crate) place: Option<Place>,
    pub(crate) is_selected: Option<bool>,
    pub(crate) is_for_once: Option<bool>,
    pub(crate) is_strict: bool,
}

impl Place {
    /// Returns `First Last`, or `None` if both names are missing.
    pub(crate) fn name(&self) -> Option<String> {
        let names = [&self.first_name, &self.last_name];
        joined(names.into_iter().flatten().map(String::as_str), " ")
    }

    /// Returns the lines of the address, without the name.
    pub(crate) fn formatted(&self) -> Vec<String> {
        let parts = |parts: [&Option<String>; 3]| joined(parts.into_iter().flatten().map(String::as_str), " ");
        let town = parts([&self.city, &self.province, &self.zip]);
        let country = self.country.as_deref().map(|code| places::name(code).to_owned());
        [
            self.company.clone(),
            self.address1.clone(),
            self.address2.clone(),
            town,
            country,
        ]
        .into_iter()
        .flatten()
        .filter(|line| !line.is_empty())
        .collect()
    }

    /// Returns city, province and country as one text.
    pub(crate) fn area(&self) -> Option<String> {
        let town = joined(
            [&self.city, &self.province].into_iter().flatten().map(String::as_str),
            " ",
        );
        let country = self.country.as_deref().map(places::name);
        joined(town.as_deref().into_iter().chain(country), ", ")
    }

    fn parts(&self) -> [(&'static str, &Option<String>); 9] {
        [
            ("firstName", &self.first_name),
            ("lastName", &self.last_name),
            ("company", &self.company),
            ("address1", &self.address1),
            ("address2", &self.address2),
            ("city", &self.city),
            ("provinceCode", &self.province),
            ("zip", &self.zip),
            ("phone", &self.phone),
        ]
    }

    fn faults(&self, is_strict: bool, field: &[&str]) -> Vec<Refusal> {
        let at = |name: &'static str| {
            let mut at = field.to_vec();
            at.push(name);
            at
        };
        let Some(country) = self.country.as_deref() else {
            return vec![Refusal::new("INVALID", &at("countryCode"), "invalid value")];
        };
        let mut found: Vec<Refusal> = Vec::new();
        for (name, part) in self.parts() {
            let text = part.as_deref().unwrap_or_default();
            if text.chars().count() > PART_MAX {
                found.push(Refusal::new(
                    "ADDRESS_FIELD_IS_TOO_LONG",
                    &at(name),
                    "The field is too long.",
                ));
            } else if text.contains('<') && text.contains('>') {
                let message = "The field contains HTML tags.";
                found.push(Refusal::new("ADDRESS_FIELD_CONTAINS_HTML_TAGS", &at(name), message));
            }
        }
        if is_strict {
            found.extend(self.missing(country, field));
        }
        found
    }

    /// Returns a refusal for each part that the country needs and the address lacks.
    fn missing(&self, country: &str, field: &[&str]) -> Vec<Refusal> {
        let needed = places::needs(country);
        let has = |part: &Option<String>| part.as_deref().is_some_and(|text| !text.trim().is_empty());
        let has_zone = has(&self.province)
            && self
                .province
                .as_deref()
                .is_some_and(|zone| places::has_zone(country, zone));
        let asked = [
            (
                "lastName",
                has(&self.last_name),
                "A last name is required in order to continue.",
            ),
            (
                "address1",
                has(&self.address1),
                "An address is required in order to continue.",
            ),
            (
                "countryCode",
                country != places::NOWHERE,
                "A country is required in order to continue.",
            ),
            (
                "provinceCode",
                !needed.province || has_zone,
                "The specified country requires a zone.",
            ),
            (
                "zip",
                !needed.zip || has(&self.zip),
                "Country specified requires a postal code in order to continue.",
            ),
            (
                "city",
                !needed.city || has(&self.city),
                "A city is required in order to continue.",
            ),
        ];
        let missing = asked.into_iter().filter(|(_, is_there, _)| !is_there);
        let mut found: Vec<Refusal> = missing
            .map(|(name, _, message)| {
                let mut at = field.to_vec();
                at.push(name);
                Refusal::new("ADDRESS_FIELD_IS_REQUIRED", &at, message)
            })
            .collect();
        if !places::is_supported(country) {
            let message = "Country is not supported";
            found.push(Refusal::new("UNSPECIFIED_ADDRESS_ERROR", field, message));
        }
        found
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> Option<String> {
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(between))
}

/// Returns the faults in an address of an input. An input without an address, or with a copy of a customer's, names no
/// country.
fn faults(place: Option<&Place>, is_strict: bool, prefix: &[&str], nth: &str) -> Vec<Refusal> {
    let mut field = prefix.to_vec();
    field.extend([nth, "address", "deliveryAddress"]);
    place.map_or_else(
        || Place::default().faults(is_strict, &field),
        |place| place.faults(is_strict, &field),
    )
}

fn at_most_one_selected(selected: usize, prefix: &[&str]) -> Result<(), CartRefusal> {
    if selected > 1 {
        let message = "Only one delivery address can be selected.";
        let code = "ONLY_ONE_DELIVERY_ADDRESS_CAN_BE_SELECTED";
        return Err(CartRefusal::beside(vec![Refusal::new(code, prefix, message)]));
    }
    Ok(())
}

/// Returns the UUID in a global id, or `None` if the id is not of an address.
fn known_id(text: &str) -> Option<Uuid> {
    text.strip_prefix("gid://shopify/CartSelectableAddress/")?
        .split('?')
        .next()?
        .parse()
        .ok()
}

fn no_address(id: &str, field: &[&str]) -> Refusal {
    let message = format!("The delivery address with {id} does not exist.");
    Refusal::new("INVALID_DELIVERY_ADDRESS_ID", field, message)
}

impl Cart {
    /// Adds addresses. A selected new address replaces the current selection.
    pub(crate) fn add_addresses(&mut self, inputs: Vec<AddressInput>, prefix: &[&str]) -> Result<(), CartRefusal> {
        let places = inputs.iter().enumerate();
        let found: Vec<Refusal> = places
            .flat_map(|(nth, input)| faults(input.place.as_ref(), input.is_strict, prefix, &nth.to_string()))
            .collect();
        if !found.is_empty() {
            return Err(CartRefusal::beside(found));
        }
        at_most_one_selected(inputs.iter().filter(|input| input.is_selected).count(), prefix)?;
        if self.addresses.len() + inputs.len() > ADDRESSES_MAX {
            let message = format!("A cart can have at most {ADDRESSES_MAX} delivery addresses.");
            let error = Refusal::new("TOO_MANY_DELIVERY_ADDRESSES", prefix, message);
            return Err(CartRefusal::beside(vec![error]));
        }
        for input in inputs {
            if input.is_selected {
                self.select(None);
            }
            self.addresses.push(Address {
                id: Uuid::new_v4(),
                is_selected: input.is_selected,
                is_for_once: input.is_for_once,
                place: input.place.unwrap_or_default(),
            });
        }
        Ok(())
    }

    pub(crate) fn replace_addresses(&mut self, inputs: Vec<AddressInput>, prefix: &[&str]) -> Result<(), CartRefusal> {
        self.addresses.clear();
        self.delivery = None;
        self.add_addresses(inputs, prefix)
    }

    pub(crate) fn change_addresses(&mut self, changes: Vec<AddressChange>) -> Result<(), CartRefusal> {
        let prefix = ["addresses"];
        let selected = changes.iter().filter(|change| change.is_selected == Some(true));
        at_most_one_selected(selected.count(), &prefix)?;
        for (nth, change) in changes.into_iter().enumerate() {
            let place = nth.to_string();
            let known = known_id(&change.id);
            let found = self.addresses.iter().position(|address| Some(address.id) == known);
            let Some(found) = found else {
                return Err(CartRefusal::beside(vec![no_address(
                    &change.id,
                    &["addresses", &place],
                )]));
            };
            if let Some(new) = change.place {
                let wrong = faults(Some(&new), change.is_strict, &prefix, &place);
                if !wrong.is_empty() {
                    return Err(CartRefusal::beside(wrong));
                }
                self.addresses[found].place = new;
            }
            match change.is_selected {
                Some(true) => self.select(Some(found)),
                Some(false) => self.addresses[found].is_selected = false,
                None => {}
            }
            let address = &mut self.addresses[found];
            address.is_for_once = change.is_for_once.unwrap_or(address.is_for_once);
        }
        Ok(())
    }

    pub(crate) fn remove_addresses(&mut self, ids: &[String]) -> Result<(), CartRefusal> {
        for (nth, id) in ids.iter().enumerate() {
            let known = known_id(id);
            let found = self.addresses.iter().position(|address| Some(address.id) == known);
            let Some(found) = found else {
                return Err(CartRefusal::beside(vec![no_address(
                    id,
                    &["addressIds", &nth.to_string()],
                )]));
            };
            self.addresses.remove(found);
        }
        Ok(())
    }

    fn select(&mut self, nth: Option<usize>) {
        for (place, address) in self.addresses.iter_mut().enumerate() {
            address.is_selected = nth == Some(place);
        }
        self.delivery = None;
    }
}
