//! Reference data built into the program: currencies and pincodes, as tables that store rows are joined with. They are
//! written when a lake is created, and again by a repair.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::CurrencyCode;
use data_pincodes::directory;

use crate::files::{Encoded, encode};
use crate::rows::batch;
use crate::{LakeConfig, LakeError, TableName};

/// The encoded reference tables are the same for every lake.
static ENCODED: Mutex<BTreeMap<TableName, Encoded>> = Mutex::new(BTreeMap::new());

/// Returns the single data file of a built-in reference table, or `None` for a table outside of [`TableName::FACTS`].
pub(crate) fn encoded(table: TableName, config: &LakeConfig) -> Result<Option<Encoded>, LakeError> {
    let mut known = ENCODED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(encoded) = known.get(&table) {
        return Ok(Some(encoded.clone()));
    }
    let Some(rows) = rows(table)? else { return Ok(None) };
    let encoded = encode(table, &[rows], config)?;
    known.insert(table, encoded.clone());
    Ok(Some(encoded))
}

pub(crate) fn rows(table: TableName) -> Result<Option<RecordBatch>, LakeError> {
    match table {
        TableName::Currencies => currencies().map(Some),
        TableName::Pincodes => pincodes().map(Some),
        _ => Ok(None),
    }
}

fn currencies() -> Result<RecordBatch, LakeError> {
    let all: Vec<CurrencyCode> = CurrencyCode::all().collect();
    let text = |of: fn(&CurrencyCode) -> &str| Arc::new(all.iter().map(|code| Some(of(code))).collect::<StringArray>());
    let exponents: Int64Array = all.iter().map(|code| Some(i64::from(code.exponent()))).collect();
    let units: Int64Array = all.iter().map(|code| 10_i64.checked_pow(code.exponent())).collect();
    let columns: Vec<ArrayRef> = vec![
        text(|code| code.as_str()),
        Arc::new(exponents),
        Arc::new(units),
        text(|code| code.name()),
    ];
    batch(TableName::Currencies, columns)
}

fn pincodes() -> Result<RecordBatch, LakeError> {
    let rows: Vec<_> = directory()
        .pincodes()
        .filter_map(|(pincode, area)| Some((pincode, directory().get(area)?)))
        .collect();
    let numbers: StringArray = rows.iter().map(|(pincode, _)| Some(pincode.to_string())).collect();
    let text = |of: fn(&'static data_pincodes::Area) -> Option<&'static str>| {
        Arc::new(rows.iter().map(|(_, area)| of(area)).collect::<StringArray>()) as ArrayRef
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(numbers),
        text(|area| Some(&area.name)),
        text(|area| area.state.as_deref()),
        text(data_pincodes::Area::province_code),
        text(|area| area.district.as_deref()),
        text(|area| Some(area.kind.as_str())),
    ];
    batch(TableName::Pincodes, columns)
}
