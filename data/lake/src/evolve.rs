//! A lake of an earlier version gets the columns that it lacks: they can be null, and hold nothing in the rows that are
//! there, so that no data file is written. Tables of facts get those of this version.

use std::collections::BTreeMap;

use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::{Action, MetadataExt, StructField, StructType};
use deltalake::protocol::DeltaOperation;

use crate::apply::{compute, write};
use crate::delta::{CommitOutcome, Table, add, failed, overwrite};
use crate::facts::{encoded, holds};
use crate::lake::State;
use crate::layout::complete;
use crate::staging::PackedRows;
use crate::tick::{TickKind, TickRecord};
use crate::{Lake, LakeError, TableName, TickCounts};

/// The parts that a lake lacks.
#[derive(Debug, Default)]
struct MissingParts {
    columns: Vec<TableName>,
    facts: Vec<TableName>,
}

impl MissingParts {
    const fn is_nothing(&self) -> bool {
        self.columns.is_empty() && self.facts.is_empty()
    }
}

impl Lake {
    /// Brings a lake of an earlier version up to this one.
    pub(crate) async fn upgrade(&self, state: &mut State) -> Result<(), LakeError> {
        self.evolve(state).await?;
        complete(&self.inner.storage, &self.inner.config).await
    }

    /// Brings the missing parts of tables. It is a tick, so that the state that readers go by has it.
    pub(crate) async fn evolve(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            // With the records of earlier ticks lost, its number follows the tables.
            self.tables(state).await?;
            self.recover(state).await?;
            let lacking = self.lacking(state).await?;
            if lacking.is_nothing() {
                return Ok(());
            }
            let tick = state.ended + 1;
            let (token, staged) = self.inner.ticks.stage(tick, PackedRows::default()).await?;
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
                fence: None,
                gone: BTreeMap::new(),
            };
            if !self.inner.ticks.begin(&record).await? {
                continue;
            }
            // A failure from here on leaves the tables in a state that has to be read again.
            let mut tables = state.tables.take().unwrap_or_default();
            for table in tables.values_mut() {
                self.add_columns(table, tick).await?;
                if lacking.facts.contains(&table.name) {
                    self.replace_facts(table, tick).await?;
                }
            }
            state.tables = Some(tables);
            self.finish_tick(state, &record, Vec::new(), None).await?;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    async fn lacking(&self, state: &mut State) -> Result<MissingParts, LakeError> {
        let tables = self.tables(state).await?;
        let mut lacking = MissingParts::default();
        for table in tables.values() {
            if widened(table)?.is_some() {
                lacking.columns.push(table.name);
            }
            let config = std::sync::Arc::clone(&self.inner.config);
            let name = table.name;
            let facts = compute(move || encoded(name, &config)).await?;
            if facts.is_some_and(|facts| !holds(table, &facts)) {
                lacking.facts.push(table.name);
            }
        }
        Ok(lacking)
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
            let operation = DeltaOperation::AddColumn { fields };
            if self.commit_by(table, actions, operation, tick).await? == CommitOutcome::Landed {
                return Ok(());
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Makes a table of facts hold those of this version.
    async fn replace_facts(&self, table: &mut Table, tick: u64) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            let (name, config, now) = (
                table.name,
                std::sync::Arc::clone(&self.inner.config),
                self.inner.clock.now(),
            );
            let Some(facts) = compute(move || encoded(name, &config)).await? else {
                return Ok(());
            };
            if holds(table, &facts) {
                return Ok(());
            }
            tracing::info!(table = %name, "a table gets the facts of this version");
            let mut actions: Vec<Action> = table.files().iter().map(|file| file.remove(true, now)).collect();
            let path = write(&table.storage, name, None, &facts).await?;
            actions.push(add(name, &path, None, &facts, now, true));
            if self.commit_by(table, actions, overwrite(name), tick).await? == CommitOutcome::Landed {
                return Ok(());
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    async fn commit_by(
        &self,
        table: &mut Table,
        actions: Vec<Action>,
        operation: DeltaOperation,
        tick: u64,
    ) -> Result<CommitOutcome, LakeError> {
        // Another process may have ended this tick meanwhile, and begun the next: its mark must not go back.
        let (tick, now) = (tick.max(table.tick()), self.inner.clock.now());
        table.commit(actions, operation, (tick, None), now).await
    }
}

/// The table's schema with the columns that it lacks, and these; `None` where it has all. Columns of others stay.
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
