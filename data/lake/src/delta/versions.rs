//! Restores a table to an earlier version.

use std::collections::BTreeSet;

use data_model::Timestamp;
use data_storage::Storage;
use deltalake::kernel::Action;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;

use super::read::read_whole;
use super::table::{DataFile, Table};
use crate::error::lost_file;
use crate::{LakeError, TableName};

const READS_AT_ONCE: usize = 8;

/// Returns the files that the table lacks compared with an earlier version, and the files that it has in addition.
pub(crate) async fn differences(table: &Table, version: u64) -> Result<(Vec<DataFile>, Vec<DataFile>), LakeError> {
    let (then, now) = (table.files_at(version).await?, table.files());
    let paths = |files: &[DataFile]| files.iter().map(|file| file.path.clone()).collect::<BTreeSet<Path>>();
    let (old, new) = (paths(&then), paths(&now));
    let back = then.into_iter().filter(|file| !new.contains(&file.path));
    let gone = now.into_iter().filter(|file| !old.contains(&file.path));
    Ok((back.collect(), gone.collect()))
}

/// Files that are added again are read first.
pub(crate) async fn restorations(
    table: &Table,
    version: u64,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Result<(), LakeError> {
    let (back, gone) = differences(table, version).await?;
    // Each read owns its data: the compiler does not accept a stream of borrowed parts as `Send`.
    let (storage, name) = (&table.storage, table.name);
    let reads: Vec<_> = back
        .iter()
        .cloned()
        .map(|file| whole(storage.clone(), name, version, file))
        .collect();
    let reads = futures::stream::iter(reads).buffer_unordered(READS_AT_ONCE);
    reads.try_collect::<()>().await?;
    actions.extend(gone.iter().map(|file| file.remove(true, now)));
    actions.extend(back.iter().map(DataFile::add_again));
    Ok(())
}

async fn whole(storage: Storage, table: TableName, version: u64, file: DataFile) -> Result<(), LakeError> {
    let read = read_whole(&storage, table, &file).await;
    read.map_err(|source| match lost_file(&source) {
        Some(path) => LakeError::NotRestorable {
            table: table.as_str(),
            version,
            path: path.to_owned(),
            source: Box::new(source),
        },
        None => source,
    })
}
