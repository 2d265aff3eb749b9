use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::{CurrencyCode, Day, Timestamp};

use super::batch;
use super::columns::{Columns, moments};
use crate::{LakeError, TableName};

/// Key of a rate: its day and its currency pair.
pub(crate) type Key = (Day, CurrencyCode, CurrencyCode);

/// A rate with its source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImportedRate {
    pub(crate) rate: f64,
    pub(crate) source: String,
    pub(crate) at: Timestamp,
}

/// All exchange rates, in the order of the `exchange_rates` table.
pub(crate) type Rates = BTreeMap<Key, ImportedRate>;

pub(crate) fn rates_batch(rates: &Rates) -> Result<RecordBatch, LakeError> {
    let text = |of: fn((&Key, &ImportedRate)) -> String| {
        let values: StringArray = rates.iter().map(|row| Some(of(row))).collect();
        Arc::new(values) as ArrayRef
    };
    let dates: Date32Array = rates.keys().map(|(date, ..)| Some(date.days())).collect();
    let numbers: Float64Array = rates.values().map(|imported| Some(imported.rate)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(dates),
        text(|((_, base, _), _)| base.to_string()),
        text(|((_, _, quote), _)| quote.to_string()),
        Arc::new(numbers),
        text(|(_, imported)| imported.source.clone()),
        moments(rates.values().map(|imported| Some(imported.at))),
    ];
    batch(TableName::ExchangeRates, columns)
}

/// Reads the rates in a record batch of `exchange_rates`.
pub(crate) fn rates_of(batch: &RecordBatch) -> Result<Vec<(Key, ImportedRate)>, LakeError> {
    let columns = Columns::new(TableName::ExchangeRates, batch);
    let (dates, numbers) = (columns.date("date")?, columns.double("rate")?);
    let (base, quote) = (columns.text("base_currency")?, columns.text("quote_currency")?);
    let (source, at) = (columns.text("source")?, columns.moment("imported_at")?);
    let row = |row| {
        let key = (
            Day::from_days(dates.value(row)),
            columns.parse("base_currency", base.value(row))?,
            columns.parse("quote_currency", quote.value(row))?,
        );
        let imported = ImportedRate {
            rate: numbers.value(row),
            source: source.value(row).to_owned(),
            at: Timestamp::from_micros(at.value(row)),
        };
        Ok((key, imported))
    };
    (0..batch.num_rows()).map(row).collect()
}
