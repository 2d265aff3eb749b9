use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use data_model::{CurrencyCode, Day, Timestamp};

use super::build::TableRows;
use super::record::{Record, record};
use crate::{LakeError, TableName};

pub(crate) type Key = (Day, CurrencyCode, CurrencyCode);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImportedRate {
    pub(crate) date: Day,
    pub(crate) base_currency: CurrencyCode,
    pub(crate) quote_currency: CurrencyCode,
    pub(crate) rate: f64,
    pub(crate) source: String,
    pub(crate) imported_at: Timestamp,
}

record! {
    /// Builder for rows of `exchange_rates`.
    RateRows of ImportedRate {
        date: Day,
        base_currency: CurrencyCode,
        quote_currency: CurrencyCode,
        rate: f64,
        source: String,
        imported_at: Timestamp,
    }
}

impl TableRows for RateRows {
    const TABLE: TableName = TableName::ExchangeRates;
}

/// All exchange rates, in the order of the `exchange_rates` table.
pub(crate) type Rates = BTreeMap<Key, ImportedRate>;

impl ImportedRate {
    pub(crate) const fn key(&self) -> Key {
        (self.date, self.base_currency, self.quote_currency)
    }
}

pub(crate) fn rates_batch(rates: &Rates) -> Result<RecordBatch, LakeError> {
    let mut rows = RateRows::default();
    rates.values().for_each(|rate| rate.append(&mut rows));
    rows.finish()
}
