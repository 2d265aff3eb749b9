//! Reference data built into the program: currencies and pincodes, as tables that store rows are joined with. The
//! tables are written when a lake is created, by a repair, and by a compaction if their rows are those of another program.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::CurrencyCode;
use data_pincodes::directory;

use crate::commit::{Attempts, Plan};
use crate::delta::{Table, read};
use crate::files::{Encoded, Scan, compute, encode, load, sort};
use crate::rows::batch;
use crate::ticks::TickKind;
use crate::{Lake, LakeError, TableName};

/// The encoded reference tables are the same for every lake.
static ENCODED: Mutex<BTreeMap<TableName, Encoded>> = Mutex::new(BTreeMap::new());

/// Returns the single data file of a built-in reference table, or `None` for a table outside of [`TableName::FACTS`].
pub(crate) fn encoded(table: TableName) -> Result<Option<Encoded>, LakeError> {
    let mut known = ENCODED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(encoded) = known.get(&table) {
        return Ok(Some(encoded.clone()));
    }
    let Some(rows) = rows(table)? else { return Ok(None) };
    let encoded = encode(table, &[rows])?;
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

impl Lake {
    /// Rewrites the built-in reference tables whose rows are not those of this program.
    pub(crate) async fn renew_facts(&self) -> Result<(), LakeError> {
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            // Other processes may have committed outside of any commit batch.
            state.tables = None;
            let tables = self.tables(&mut state).await?;
            let mut plan = Plan::default();
            for name in TableName::FACTS {
                let Some(table) = tables.get(&name) else { continue };
                if let Some(rows) = renewed(table).await? {
                    plan.rows.push((name, vec![rows]));
                    let paths = table.files().into_iter().map(|file| file.path.to_string());
                    plan.dropped.insert(name.as_str().to_owned(), paths.collect());
                }
            }
            if plan.rows.is_empty() || self.run_tick(&mut state, TickKind::Repair, None, plan).await?.is_some() {
                return Ok(());
            }
        }
    }
}

/// Returns the rows of this program for a reference table, if the table has other rows in the same columns.
async fn renewed(table: &Table) -> Result<Option<RecordBatch>, LakeError> {
    let name = table.name;
    let bytes = read(&table.storage, name, &table.files()).await?;
    compute(move || {
        let (known, own) = (sort(name, &load(name, bytes, &Scan::default())?)?, rows(name)?);
        let sorted = sort(name, own.as_slice())?;
        let has_columns = known
            .iter()
            .all(|batch| Some(batch.schema()) == own.as_ref().map(RecordBatch::schema));
        Ok(own.filter(|_| has_columns && known != sorted))
    })
    .await
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
