use api::{QueryReader, Rule};
use data_model::Pincode;
use serde_json::Value;

use crate::operations::{Day, DeliveryTo};

const PINCODE: Rule = Rule::StringPatternMismatch("^[1-9][0-9]{5}$");
const DAY: Rule = Rule::Value("not a date such as 2026-11-24");

pub(in crate::routes) fn pincode(reader: &mut QueryReader<'_>) -> Option<Pincode> {
    reader
        .optional("pincode")
        .parsed(|text| text.parse().map_err(|_| PINCODE))
}

/// Reads `pincode` and `deliver_by`. A date without a pincode is a fault, because delivery needs a destination.
pub(super) fn read(reader: &mut QueryReader<'_>) -> Option<DeliveryTo> {
    let pincode = pincode(reader);
    let by = reader.optional("deliver_by").parsed(|text| Day::read(text).ok_or(DAY));
    if pincode.is_none() && by.is_some() && !reader.refused("pincode") {
        reader.refuse("pincode", &Rule::Missing, Some(Value::Null));
    }
    pincode.map(|pincode| DeliveryTo { pincode, by })
}
