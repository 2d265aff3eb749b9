//! Commits exchange rates, which only the operator imports.

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::ExchangeRate;

use super::attempts::Attempts;
use super::plan::Plan;
use crate::delta::scan;
use crate::files::Scan;
use crate::lake::State;
use crate::rows::exchange_rates::{ImportedRate, Rates, rates_batch};
use crate::rows::record::ReadRecord;
use crate::ticks::TickKind;
use crate::{Lake, LakeError, TableName};

/// Result of [`Lake::commit_rates`], or of a dry run of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RatesReport {
    /// Number of rates for new combinations of day and currency pair.
    pub added: usize,
    /// Number of rates that replaced a different rate.
    pub corrected: usize,
    /// Number of rates that were already stored.
    pub unchanged: usize,
    /// Number of the commit batch. `None` if nothing changed, or in a dry run.
    pub tick: Option<u64>,
}

impl Lake {
    /// Adds exchange rates. A rate replaces the stored rate of the same day and currency pair, and other rates stay. If
    /// all are stored already, or with `dry_run`, nothing is written. [`Lake::restore`] with an earlier time undoes an
    /// import.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`], or a data file of the table is missing or damaged.
    #[boxed]
    pub async fn commit_rates(
        &self,
        rates: &[ExchangeRate],
        source: &str,
        dry_run: bool,
    ) -> Result<RatesReport, LakeError> {
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let mut known = self.rates(&mut state).await?;
            let mut report = RatesReport::default();
            for one in rates {
                let imported = ImportedRate {
                    date: one.date,
                    base_currency: one.base,
                    quote_currency: one.quote,
                    rate: one.rate,
                    source: source.to_owned(),
                    imported_at: self.inner.clock.now(),
                };
                match known.get(&imported.key()) {
                    Some(same) if same.rate.to_bits() == one.rate.to_bits() => {
                        report.unchanged += 1;
                        continue;
                    }
                    Some(_) => report.corrected += 1,
                    None => report.added += 1,
                }
                known.insert(imported.key(), imported);
            }
            if dry_run || report.added + report.corrected == 0 {
                return Ok(report);
            }
            let plan = Plan {
                rows: vec![(TableName::ExchangeRates, vec![rates_batch(&known)?])],
                ..Plan::default()
            };
            if let Some(landed) = self.run_tick(&mut state, TickKind::Rates, None, plan).await? {
                report.tick = Some(landed.tick);
                return Ok(report);
            }
        }
    }

    async fn rates(&self, state: &mut State) -> Result<Rates, LakeError> {
        const TABLE: TableName = TableName::ExchangeRates;
        let Some(table) = self.tables(state).await?.get(&TABLE) else {
            return Ok(Rates::new());
        };
        let read = |batch: &RecordBatch| ImportedRate::read_all(TABLE, batch);
        let rates = scan(&table.storage, TABLE, &table.files(), Scan::default(), read).await?;
        Ok(rates.into_iter().map(|rate| (rate.key(), rate)).collect())
    }
}
