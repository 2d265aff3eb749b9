//! Finds brands whose rows are damaged.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_recursion::async_recursion as boxed;
use data_model::StoreHost;
use data_storage::{ObjectPath, delete, get_bytes, list_all, put_over};

use crate::delta::{Losses, TableFile, lost_files};
use crate::error::lost_file;
use crate::{Lake, LakeError, TableName};

const NOTE: &str = "_ticks/damaged.json";

/// Maximum number of files in the list. Further damaged files are found after these are rewritten.
const NOTED_MAX: usize = 1_000;

impl Lake {
    /// Checks the data files of the tables that crawls replace, and remembers the stores with rows in a missing or
    /// damaged file. A commit with all stores of a damaged file rewrites it, even if their content is unchanged.
    ///
    /// Files of the delivery matrix and of review apps are not checked, because crawls do not write them. Files of
    /// append-only tables are not checked either, because they are never rewritten.
    ///
    /// A `thorough` search reads every file. Otherwise one listing per table shows missing files and different sizes,
    /// and only the files of [`Lake::note_damage`] are read.
    ///
    /// # Errors
    /// The storage fails, or a table's log cannot be read.
    #[boxed]
    pub async fn find_damage(&self, thorough: bool) -> Result<BTreeSet<StoreHost>, LakeError> {
        let mut state = self.state().await;
        self.recover(&mut state).await?;
        let tables = self.tables(&mut state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let crawled = tables.values().filter(|table| {
            let is_of_no_crawl = TableName::DELIVERY.contains(&table.name) || TableName::WIDGETS.contains(&table.name);
            TableName::CURRENT.contains(&table.name) && !is_of_no_crawl
        });
        let files = crawled.flat_map(|table| {
            let of_table = |file| TableFile {
                table: table.name,
                storage: table.storage.clone(),
                file,
            };
            table.files().into_iter().map(of_table)
        });
        let (files, noted) = (files.collect(), self.noted_damage().await?);
        let files = if thorough {
            files
        } else {
            suspects(files, &noted).await?
        };
        let lost = lost_files(files).await?;
        for one in &lost {
            tracing::warn!(path = one.path(), "a file is missing or damaged");
        }
        let buckets: BTreeSet<i32> = lost.iter().filter_map(TableFile::bucket).collect();
        let mut damaged = BTreeSet::new();
        for bucket in buckets {
            match losses.holders(bucket).await {
                Ok(held) => damaged.extend(held.into_iter().map(|(store, _)| store)),
                // The stores of the rows cannot be determined here. A commit reports the same error.
                Err(error) if lost_file(&error).is_some() => {}
                Err(error) => return Err(error),
            }
        }
        if lost.is_empty() && !noted.is_empty() {
            self.forget_damage().await?;
        }
        state.damaged.clone_from(&damaged);
        Ok(damaged)
    }
}

/// Returns the files that are missing, differ in size from the log, or are noted as damaged.
async fn suspects(files: Vec<TableFile>, noted: &BTreeSet<String>) -> Result<Vec<TableFile>, LakeError> {
    let mut sizes: BTreeMap<TableName, HashMap<ObjectPath, u64>> = BTreeMap::new();
    for TableFile { table, storage, .. } in &files {
        if sizes.contains_key(table) {
            continue;
        }
        let listed = list_all(storage, None).await?.into_iter();
        let listed = listed.map(|meta| (meta.location, meta.size)).collect();
        sizes.insert(*table, listed);
    }
    let is_suspect = |one: &TableFile| {
        let size = sizes.get(&one.table).and_then(|sizes| sizes.get(&one.file.path));
        size != Some(&one.file.size) || noted.contains(&one.path())
    };
    Ok(files.into_iter().filter(is_suspect).collect())
}

impl Lake {
    /// Notes damaged files, by their paths in the lake. The next crawl checks them: see [`Lake::find_damage`].
    ///
    /// # Errors
    /// The storage fails.
    pub async fn note_damage<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> Result<(), LakeError> {
        let mut noted = self.noted_damage().await?;
        let before = noted.len();
        noted.extend(files.into_iter().take(NOTED_MAX).map(str::to_owned));
        if noted.len() == before || noted.len() > NOTED_MAX {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&noted).map_err(note_failed)?;
        Ok(put_over(&self.inner.storage, &ObjectPath::from(NOTE), bytes).await?)
    }

    pub(crate) async fn noted_damage(&self) -> Result<BTreeSet<String>, LakeError> {
        let bytes = get_bytes(&self.inner.storage, &ObjectPath::from(NOTE)).await?;
        // If the list itself is damaged, a thorough search still finds all damage.
        Ok(bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default())
    }

    pub(crate) async fn forget_damage(&self) -> Result<(), LakeError> {
        Ok(delete(&self.inner.storage, &ObjectPath::from(NOTE)).await?)
    }
}

fn note_failed(source: serde_json::Error) -> LakeError {
    LakeError::TickRecord {
        path: NOTE.to_owned(),
        source,
    }
}
