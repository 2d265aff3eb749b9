use async_recursion::async_recursion as boxed;
use data_searches::CountedDays;

use crate::commit::servers_in;
use crate::delta::data_files;
use crate::{LakeError, LakeSnapshot, TableName};

impl LakeSnapshot {
    /// Returns the words that shoppers searched for from the day `since` on, such as `2026-11-29`.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn searches(&self, since: &str) -> Result<CountedDays, LakeError> {
        const TABLE: TableName = TableName::Searches;
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
