//! Landed answers of stores and review apps to requests outside of a crawl, each in an object
//! `{kind}/{store}/{microseconds:020}.{ending}`.

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};
use data_storage::{ObjectPath, Storage, StorageError, delete};

use crate::document::list_objects;

/// Folder for landed answers of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerFolder {
    /// Folder name below the root.
    pub kind: &'static str,
    /// File extension of the objects.
    pub ending: &'static str,
}

impl AnswerFolder {
    /// Returns the path of a landed answer by its time. Times before 1970 count as 1970-01-01.
    #[must_use]
    pub fn path(&self, store: &StoreHost, at: Timestamp) -> ObjectPath {
        let file = format!("{:020}.{}", at.micros().max(0), self.ending);
        ObjectPath::from_iter([self.kind, store.as_str(), &file])
    }

    /// Returns the time and path of each of a store's landed answers, oldest first. Other objects are skipped.
    ///
    /// # Errors
    /// The folder cannot be listed.
    #[boxed]
    pub async fn list(
        &self,
        storage: &Storage,
        store: &StoreHost,
    ) -> Result<Vec<(Timestamp, ObjectPath)>, StorageError> {
        let prefix = ObjectPath::from_iter([self.kind, store.as_str()]);
        let listed = list_objects(storage, &prefix).await?;
        let found = listed.into_iter().filter_map(|path| Some((self.moment(&path)?, path)));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Deletes a store's answers from before a given time. Another process may delete the same answer.
    ///
    /// # Errors
    /// The folder cannot be listed, or an object cannot be deleted.
    #[boxed]
    pub async fn prune(&self, storage: &Storage, store: &StoreHost, before: Timestamp) -> Result<(), StorageError> {
        let listed = self.list(storage, store).await?;
        for (_, path) in listed.into_iter().take_while(|(at, _)| *at < before) {
            delete(storage, &path).await?;
        }
        Ok(())
    }

    fn moment(&self, path: &ObjectPath) -> Option<Timestamp> {
        let digits = path.filename()?.strip_suffix(self.ending)?.strip_suffix('.')?;
        digits.parse().ok().map(Timestamp::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use data_storage::put_over;

    use super::*;

    const FOLDER: AnswerFolder = AnswerFolder {
        kind: "policies",
        ending: "json.zst",
    };

    #[tokio::test]
    async fn answers_are_listed_by_age_and_pruned_before_a_moment() {
        let (storage, store) = (Storage::memory(), "tea.myshopify.com".parse().unwrap());
        let moments = [3_000_000, 1_000_000, 2_000_000].map(Timestamp::from_micros);
        for at in moments {
            put_over(&storage, &FOLDER.path(&store, at), vec![1]).await.unwrap();
        }
        let strange = ObjectPath::from("policies/tea.myshopify.com/notes.json.zst");
        put_over(&storage, &strange, vec![1]).await.unwrap();
        let listed = || async {
            let listed = FOLDER.list(&storage, &store).await.unwrap();
            listed
                .into_iter()
                .map(|(at, path)| (at.micros(), path.to_string()))
                .collect::<Vec<_>>()
        };
        let path = |second: u64| format!("policies/tea.myshopify.com/{:020}.json.zst", second * 1_000_000);
        let all = [1_i64, 2, 3].map(|second| (second * 1_000_000, path(second.unsigned_abs())));
        assert_eq!(listed().await, all);
        FOLDER
            .prune(&storage, &store, Timestamp::from_micros(2_000_000))
            .await
            .unwrap();
        assert_eq!(listed().await, all[1..]);
        assert!(data_storage::get_bytes(&storage, &strange).await.unwrap().is_some());
    }
}
