//! The lake's Delta tables: logs, states, commits, and the data files that the logs name.

mod checkpoint;
mod log;
mod losses;
mod prepared;
mod read;
mod table;
mod versions;

pub(crate) use checkpoint::is_usable;
pub(crate) use log::{LastCheckpoint, Log, LogFolder, READS_AT_ONCE, folder_of, is_whole, tick_of};
pub(crate) use losses::Losses;
pub(crate) use prepared::{PreparedActions, PreparedTable, discard};
pub(crate) use read::{TableFile, decode_whole, lost_files, read, scan};
pub(crate) use table::{
    CommitOutcome, DataFile, SHA256_TAG, Table, add, append, data_files, failed, log_store, overwrite, root_url,
    state_at,
};
pub(crate) use versions::{differences, restorations};
