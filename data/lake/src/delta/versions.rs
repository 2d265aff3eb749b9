//! The way of a table back to an earlier version.

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

/// Files that are read at the same time.
const READS_AT_ONCE: usize = 8;

/// The files that an earlier version has and the table has not, and the other way round.
pub(crate) async fn differences(table: &Table, version: u64) -> Result<(Vec<DataFile>, Vec<DataFile>), LakeError> {
    let (then, now) = (table.files_at(version).await?, table.files());
    let paths = |files: &[DataFile]| files.iter().map(|file| file.path.clone()).collect::<BTreeSet<Path>>();
    let (old, new) = (paths(&then), paths(&now));
    let back = then.into_iter().filter(|file| !new.contains(&file.path));
    let gone = now.into_iter().filter(|file| !old.contains(&file.path));
    Ok((back.collect(), gone.collect()))
}

/// The actions that make a table what it was: files that come back are read first.
pub(crate) async fn restorations(
    table: &Table,
    version: u64,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Result<(), LakeError> {
    let (back, gone) = differences(table, version).await?;
    // Each read owns its parts: a stream of borrowed parts is not known to be fit for another thread.
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

/// Reads a file that is to come back.
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
