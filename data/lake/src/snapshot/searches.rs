use async_recursion::async_recursion as boxed;
use data_searches::CountedDays;
use data_storage::Storage;

use crate::delta::{DataFile, data_files, scan};
use crate::files::Scan;
use crate::rows::searches::{Servers, server_counts};
use crate::{LakeError, LakeSnapshot, TableName};

const TABLE: TableName = TableName::Searches;

impl LakeSnapshot {
    /// Returns the words that shoppers searched for from the day `since` on, such as `2026-11-29`.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn searches(&self, since: &str) -> Result<CountedDays, LakeError> {
        let storage = self.lake.inner.storage.child(TABLE.as_str());
        let mut days = CountedDays::new();
        for file in data_files(TABLE, self.table(TABLE).await?) {
            let Some(day) = file.partition.clone().filter(|day| day.as_str() >= since) else {
                continue;
            };
            let servers = servers_in(&storage, std::slice::from_ref(&file)).await?;
            days.entry(day).or_default().extend(servers);
        }
        Ok(days)
    }
}

pub(crate) async fn servers_in(storage: &Storage, files: &[DataFile]) -> Result<Servers, LakeError> {
    let mut servers = Servers::new();
    let counted = scan(storage, TABLE, files, Scan::default(), server_counts).await?;
    for (server, count) in counted {
        servers.entry(server).or_default().push(count);
    }
    Ok(servers)
}
