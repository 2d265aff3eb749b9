//! A lake of an earlier version gets the columns that it lacks. They can be null, and hold nothing in the rows that are there:
//! no data file is written.

use std::collections::BTreeMap;

use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::{Action, MetadataExt, StructField, StructType};
use deltalake::protocol::DeltaOperation;

use crate::delta::{Committed, Table, failed};
use crate::lake::State;
use crate::tick::{Packed, TickKind, TickRecord};
use crate::{Lake, LakeError, TableName, TickCounts};

impl Lake {
    /// Brings a lake of an earlier version up to this one.
    pub(crate) async fn upgrade(&self, state: &mut State) -> Result<(), LakeError> {
        self.evolve(state).await?;
        self.adopt(state).await
    }

    /// Adds the columns that tables lack. It is a tick, so that the state that readers go by has them.
    async fn evolve(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            // With the records of earlier ticks lost, its number follows the tables.
            self.tables(state).await?;
            self.settle(state).await?;
            if lacking(self.tables(state).await?)?.is_empty() {
                return Ok(());
            }
            let tick = state.ended + 1;
            let (token, staged) = self.inner.ticks.stage(tick, Packed::default()).await?;
            let record = TickRecord {
                tick,
                token,
                kind: TickKind::Compact,
                committed_at: self.inner.clock.now(),
                run: None,
                stores: Vec::new(),
                counts: TickCounts::default(),
                staged,
                restored: BTreeMap::new(),
                dropped: BTreeMap::new(),
            };
            if !self.inner.ticks.begin(&record).await? {
                continue;
            }
            // Whatever fails from here on leaves the tables in a state that has to be read again.
            let mut tables = state.tables.take().unwrap_or_default();
            for table in tables.values_mut() {
                self.add_columns(table, tick).await?;
            }
            state.tables = Some(tables);
            self.finish_tick(state, &record, Vec::new(), None).await?;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    async fn add_columns(&self, table: &mut Table, tick: u64) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            let Some((schema, fields)) = widened(table)? else {
                return Ok(());
            };
            let columns: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            tracing::info!(table = %table.name, ?columns, "columns are added to a table of an earlier version");
            let metadata = table.state().metadata().clone().with_schema(&schema);
            let metadata = metadata.map_err(|error| failed(table.name, "new columns")(error.into()))?;
            let actions = vec![Action::Metadata(metadata)];
            // Another process may have ended this tick meanwhile, and begun the next: its mark must not go back.
            let (tick, now) = (tick.max(table.tick()), self.inner.clock.now());
            let operation = DeltaOperation::AddColumn { fields };
            if table.commit(actions, operation, tick, now).await? == Committed::Landed {
                return Ok(());
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }
}

fn lacking(tables: &BTreeMap<TableName, Table>) -> Result<Vec<TableName>, LakeError> {
    let mut lacking = Vec::new();
    for table in tables.values() {
        if widened(table)?.is_some() {
            lacking.push(table.name);
        }
    }
    Ok(lacking)
}

/// The table's schema with the columns that it lacks, and these; `None` where it has all. What others added stays.
fn widened(table: &Table) -> Result<Option<(StructType, Vec<StructField>)>, LakeError> {
    let name = table.name;
    let wanted: StructType = name
        .spec()
        .schema
        .as_ref()
        .try_into_kernel()
        .map_err(|source| LakeError::Columns {
            table: name.as_str(),
            source,
        })?;
    let present = table.state().schema();
    let absent = wanted.fields().filter(|field| !present.contains(&field.name));
    let absent: Vec<StructField> = absent.cloned().collect();
    if absent.is_empty() {
        return Ok(None);
    }
    let fields = present.fields().cloned().chain(absent.iter().cloned());
    let schema = StructType::try_new(fields).map_err(|error| failed(name, "new columns")(error.into()))?;
    Ok(Some((schema, absent)))
}
