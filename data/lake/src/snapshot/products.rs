//! Streams complete products, joined from three tables that have the same order.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, Int64Array, StringArray};
use data_model::{Product, ProductKey, Review, StoreHost, Variant};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tokio::sync::mpsc;

use crate::delta::{DataFile, read};
use crate::files::{Batches, FileBytes, Scan, batches, compute};
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::rows::record::ReadRecord;
use crate::{LakeError, LakeSnapshot, TableName};

const PORTION: usize = 256;
const PORTIONS_MAX: usize = 4;

const TABLES: [TableName; 3] = [TableName::Products, TableName::Variants, TableName::Reviews];

type PartitionFiles = [Vec<FileBytes>; 3];

impl LakeSnapshot {
    /// Streams the complete products of these stores, store by store, ordered by Shopify id within a store.
    ///
    /// Only the partitions with these stores are read, one after the other. Memory contains the files of two partitions
    /// and a few thousand rows, however many products there are.
    ///
    /// # Errors
    /// The tables' logs cannot be read. A later error is the stream's last item.
    pub async fn products(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<impl Stream<Item = Result<Product, LakeError>> + Send + 'static, LakeError> {
        let [mut products, mut variants, mut reviews] = [
            self.files(TABLES[0], Some(stores)).await?,
            self.files(TABLES[1], Some(stores)).await?,
            self.files(TABLES[2], Some(stores)).await?,
        ];
        let buckets: Vec<i32> = products.keys().copied().collect();
        let fetches = buckets.into_iter().map(move |bucket| {
            [&mut products, &mut variants, &mut reviews].map(|files| files.remove(&bucket).unwrap_or_default())
        });
        let lake = self.lake.inner.storage.clone();
        let storages = TABLES.map(|table| lake.child(table.as_str()));
        let fetched = futures::stream::iter(fetches.map(move |files| {
            let storages = storages.clone();
            // A separate task fetches the next partition while this one is joined.
            tokio::spawn(async move { fetch(&storages, files).await })
        }));
        let (sender, receiver) = mpsc::channel(PORTIONS_MAX);
        tokio::spawn(produce(fetched.buffered(2).boxed(), Arc::new(stores.clone()), sender));
        let portions = futures::stream::unfold(receiver, |mut receiver| async move {
            let portion: Result<Vec<Product>, LakeError> = receiver.recv().await?;
            let items: Vec<Result<Product, LakeError>> = match portion {
                Ok(products) => products.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            Some((futures::stream::iter(items), receiver))
        });
        Ok(portions.flatten())
    }
}

async fn fetch(storages: &[data_storage::Storage; 3], files: [Vec<DataFile>; 3]) -> Result<PartitionFiles, LakeError> {
    let [a, b, c] = &files;
    let [x, y, z] = storages;
    let fetched = futures::try_join!(read(x, TABLES[0], a), read(y, TABLES[1], b), read(z, TABLES[2], c));
    fetched.map(<[_; 3]>::from)
}

type PartitionReads = BoxStream<'static, Result<Result<PartitionFiles, LakeError>, tokio::task::JoinError>>;
type Sender = mpsc::Sender<Result<Vec<Product>, LakeError>>;

/// Joins partition after partition until all products are sent or the receiver is dropped.
async fn produce(mut fetches: PartitionReads, stores: Arc<BTreeSet<StoreHost>>, sender: Sender) {
    while let Some(fetched) = fetches.next().await {
        let (stores, portions) = (Arc::clone(&stores), sender.clone());
        let joined = match fetched.map_err(LakeError::Task).flatten() {
            Ok(fetched) => compute(move || join(fetched, &stores, &portions)).await,
            Err(error) => Err(error),
        };
        match joined {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                // If the receiver is dropped, the error is not needed.
                let _ = sender.send(Err(error)).await;
                return;
            }
        }
    }
}

/// Returns `false` if the receiver was dropped.
fn join(fetched: PartitionFiles, stores: &BTreeSet<StoreHost>, sender: &Sender) -> Result<bool, LakeError> {
    let wanted = &Scan::of(stores);
    let [products, variants, reviews] = fetched;
    let mut variants = Children::<Variant>::new(TableName::Variants, variants, wanted)?;
    let mut reviews = Children::<Review>::new(TableName::Reviews, reviews, wanted)?;
    let mut portion = Vec::with_capacity(PORTION);
    for batch in batches(TableName::Products, products, wanted)? {
        for mut product in Product::read_all(TableName::Products, &batch?)? {
            product.variants = variants.of(&product.key)?;
            product.reviews = reviews.of(&product.key)?;
            portion.push(product);
            if portion.len() == PORTION
                && sender
                    .blocking_send(Ok(std::mem::replace(&mut portion, Vec::with_capacity(PORTION))))
                    .is_err()
            {
                return Ok(false);
            }
        }
    }
    Ok(portion.is_empty() || sender.blocking_send(Ok(portion)).is_ok())
}

/// Records that belong to products, such as variants, in the products' order.
struct Children<R> {
    table: TableName,
    batches: Batches,
    current: Option<Current<R>>,
}

struct Current<R> {
    store: StringArray,
    product: Int64Array,
    row: usize,
    records: std::vec::IntoIter<R>,
}

impl<R: ReadRecord> Children<R> {
    fn new(table: TableName, files: Vec<FileBytes>, wanted: &Scan) -> Result<Self, LakeError> {
        Ok(Self {
            table,
            batches: batches(table, files, wanted)?,
            current: None,
        })
    }

    /// Returns the records of the product, and skips those of earlier products.
    fn of(&mut self, product: &ProductKey) -> Result<Vec<R>, LakeError> {
        let mut found = Vec::new();
        loop {
            let is_over = |current: &Current<R>| current.row == current.store.len();
            if self.current.as_ref().is_none_or(is_over) && !self.advance()? {
                return Ok(found);
            }
            let Some(current) = &mut self.current else {
                return Ok(found);
            };
            let at = (
                current.store.value(current.row),
                id_from_column(current.product.value(current.row)),
            );
            let order = at.cmp(&(product.store.as_str(), product.platform_id));
            if order == Ordering::Greater {
                return Ok(found);
            }
            found.extend(current.records.next().filter(|_| order == Ordering::Equal));
            current.row += 1;
        }
    }

    fn advance(&mut self) -> Result<bool, LakeError> {
        self.current = None;
        for batch in self.batches.by_ref() {
            let batch = batch?;
            if batch.num_rows() > 0 {
                let columns = Columns::new(self.table, &batch);
                self.current = Some(Current {
                    store: columns.text("store")?.clone(),
                    product: columns.int("platform_product_id")?.clone(),
                    records: R::read_all(self.table, &batch)?.into_iter(),
                    row: 0,
                });
                break;
            }
        }
        Ok(self.current.is_some())
    }
}
