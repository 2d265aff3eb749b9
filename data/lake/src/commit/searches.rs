//! Commits the words that shoppers searched for, as servers counted them.
//!
//! A server counts a day as a whole, and its newest counts replace its earlier ones, so that committing the same counts
//! again changes nothing.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_searches::CountedDays;

use super::attempts::Attempts;
use super::plan::Plan;
use crate::delta::DataFile;
use crate::lake::State;
use crate::rows::build::TableRows;
use crate::rows::searches::SearchRows;
use crate::snapshot::servers_in;
use crate::ticks::TickKind;
use crate::{Lake, LakeError, TableName};

const TABLE: TableName = TableName::Searches;

impl Lake {
    /// Replaces the counts of each day and server in `counted`, and removes those of days before `oldest`. Others stay.
    /// If nothing changes, nothing is written. Returns the number of the commit batch, if there is one.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`], or a data file of one of the days is missing or damaged.
    #[boxed]
    pub async fn commit_searches(&self, counted: &CountedDays, oldest: &str) -> Result<Option<u64>, LakeError> {
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let plan = self.plan_searches(&mut state, counted, oldest).await?;
            if plan.rows.is_empty() && plan.dropped.is_empty() {
                return Ok(None);
            }
            if let Some(landed) = self.run_tick(&mut state, TickKind::Searches, None, plan).await? {
                return Ok(Some(landed.tick));
            }
        }
    }

    /// Plans to replace the file of each day that changes.
    async fn plan_searches(&self, state: &mut State, counted: &CountedDays, oldest: &str) -> Result<Plan, LakeError> {
        let Some(table) = self.tables(state).await?.get(&TABLE) else {
            return Ok(Plan::default());
        };
        let mut files: BTreeMap<String, Vec<DataFile>> = BTreeMap::new();
        for file in table.files() {
            let day = file.partition.clone().unwrap_or_default();
            files.entry(day).or_default().push(file);
        }
        let (mut rows, mut replaced) = (SearchRows::default(), Vec::new());
        let mut changes_rows = false;
        for (day, servers) in counted.range(oldest.to_owned()..) {
            let old = files.remove(day).unwrap_or_default();
            let mut known = servers_in(&table.storage, &old).await?;
            let counts_of = |server: &String| known.get(server).map(Vec::as_slice).unwrap_or_default();
            let is_same = |server| counts_of(server) == servers[server].as_slice();
            if servers.keys().all(is_same) {
                continue;
            }
            known.extend(servers.clone());
            rows.push(day, &known);
            changes_rows = true;
            replaced.extend(old);
        }
        let expired = files.into_iter().filter(|(day, _)| day.as_str() < oldest);
        replaced.extend(expired.flat_map(|(_, files)| files));
        let mut plan = Plan::default();
        if changes_rows {
            plan.rows.push((TABLE, vec![rows.finish()?]));
        }
        if !replaced.is_empty() {
            let paths = replaced.iter().map(|file| file.path.to_string()).collect();
            plan.dropped.insert(TABLE.to_string(), paths);
        }
        Ok(plan)
    }
}
