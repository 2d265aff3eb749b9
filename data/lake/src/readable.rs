//! The readable part of the lake while files of it are missing or damaged, and those files.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};
use data_storage::{ObjectPath, StorageError, get_bytes, put_over};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;

use crate::apply::{compute, read};
use crate::damage::read_whole;
use crate::delta::data_files;
use crate::files::Wanted;
use crate::lost::lost_file;
use crate::rows::brands::{BrandRow, brand_rows};
use crate::rows::live;
use crate::{Lake, LakeError, LakeSnapshot, TableName};

/// Files that are read at the same time.
const READS_AT_ONCE: usize = 8;

/// The lake's note of files that were found damaged.
const NOTE: &str = "_ticks/damaged.json";

/// The most files that are noted: the others are found when these are written anew.
const NOTED_MAX: usize = 1_000;

/// A data file that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostFile {
    /// Its path in the lake.
    pub path: String,
    /// Its table.
    pub table: TableName,
    /// Its bucket, where the table has buckets: which stores' rows it holds.
    pub bucket: Option<u32>,
}

impl LakeError {
    /// The path of the data file that is missing or damaged, where it is this that failed and not the storage.
    #[must_use]
    pub fn lost_file(&self) -> Option<&str> {
        match self {
            Self::Lost { path, .. } => Some(path),
            error => lost_file(error),
        }
    }
}

impl LakeSnapshot {
    /// The bucket of a store.
    #[must_use]
    pub fn bucket_of(&self, store: &StoreHost) -> u32 {
        store.bucket(self.lake.inner.config.buckets)
    }

    /// The files of these tables that are missing or damaged, of those alone that can hold rows of `stores` where these
    /// are given. Reads each of them from end to end.
    ///
    /// # Errors
    /// The storage fails, or a table's log cannot be read.
    #[boxed]
    pub async fn unreadable(
        &self,
        tables: &[TableName],
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<Vec<LostFile>, LakeError> {
        let mut lost = Vec::new();
        for table in tables.iter().copied() {
            let storage = self.lake.inner.storage.child(table.as_str());
            let files = self.files(table, stores).await?.into_values().flatten();
            let looks = files.map(|file| {
                let storage = storage.clone();
                async move {
                    match read_whole(&storage, table, &file).await {
                        Err(error) if lost_file(&error).is_some() => Ok(Some(LostFile {
                            path: format!("{table}/{}", file.path),
                            table,
                            bucket: file.partition.and_then(|bucket| bucket.parse().ok()),
                        })),
                        looked => looked.map(|()| None),
                    }
                }
            });
            let looks: Vec<_> = looks.collect();
            let looks = futures::stream::iter(looks).buffer_unordered(READS_AT_ONCE);
            lost.extend(looks.try_collect::<Vec<_>>().await?.into_iter().flatten());
        }
        lost.sort_unstable();
        Ok(lost)
    }

    /// The brands of which the rows can be read, by store: what can be done without those of a file that is missing or
    /// damaged goes on without them.
    ///
    /// # Errors
    /// The storage fails.
    #[boxed]
    pub async fn readable_brands(&self) -> Result<Vec<BrandRow>, LakeError> {
        const TABLE: TableName = TableName::Brands;
        let storage = self.lake.inner.storage.child(TABLE.as_str());
        let files = data_files(TABLE, self.table(TABLE).await?);
        let reads = futures::stream::iter(files.into_iter().map(|file| {
            let storage = storage.clone();
            async move {
                let bytes = read(&storage, TABLE, std::slice::from_ref(&file)).await?;
                compute(move || {
                    let mut rows = Vec::new();
                    for batch in crate::replace::load(TABLE, bytes, Wanted::default())? {
                        rows.extend(brand_rows(&batch)?);
                    }
                    Ok(rows)
                })
                .await
            }
        }));
        let mut reads = reads.buffered(READS_AT_ONCE);
        let mut brands = Vec::new();
        while let Some(read) = reads.next().await {
            match read {
                Ok(rows) => brands.extend(rows),
                Err(error) if lost_file(&error).is_some() => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "a file of brands is missing or damaged; its brands are not known"
                    );
                }
                Err(error) => return Err(error),
            }
        }
        brands.sort_by(|left, right| left.brand.store.cmp(&right.brand.store));
        Ok(brands)
    }

    /// When the price history of brands last got a row that is not of the crawl which brought their present catalogue: what a
    /// store said live, or that a later crawl found it otherwise. Brands without such a row are left out. Reads the files
    /// alone that can hold rows of `stores`, where these are given.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn live_changes(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Timestamp>, LakeError> {
        let changes = self.rows(TableName::LivePrices, stores, live::changes).await?;
        Ok(changes.into_iter().collect())
    }
}

impl Lake {
    /// Notes files that were found damaged, by their paths in the lake: the next crawl looks at them, see
    /// [`Lake::find_damage`].
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
        // A note that is damaged itself costs that nobody looks; a thorough look still finds all.
        Ok(bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default())
    }

    pub(crate) async fn forget_damage(&self) -> Result<(), LakeError> {
        match self.inner.storage.store().delete(&ObjectPath::from(NOTE)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(StorageError::Write {
                path: NOTE.to_owned(),
                source,
            }
            .into()),
        }
    }
}

fn note_failed(source: serde_json::Error) -> LakeError {
    LakeError::TickRecord {
        path: NOTE.to_owned(),
        source,
    }
}
