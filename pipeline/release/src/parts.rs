use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use data_index::{BrandFacts, BuildOptions};
use data_lake::{LakeError, LakeSnapshot, StoreHistory};
use data_model::{Product, StoreHost};
use data_release::{BuildPlan, BuiltParts, PartPlan, PartsBuilder};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;

use crate::error::ReleaseBuildError;
use crate::progress::BuildProgress;

/// Number of products per batch from the lake reader to the indexer.
const CHUNK_PRODUCTS: usize = 512;
/// Number of chunks in the channel between reader and indexer, which limits memory and keeps both busy.
const CHUNKS_WAITING: usize = 4;

#[derive(Clone)]
pub(crate) struct Workshop {
    pub(crate) snapshot: LakeSnapshot,
    pub(crate) facts: Arc<BTreeMap<StoreHost, BrandFacts>>,
    pub(crate) options: BuildOptions,
    pub(crate) progress: Arc<dyn BuildProgress>,
    /// Reason why a file of the price history cannot be read, once detected.
    pub(crate) history_lost: Arc<OnceLock<LakeError>>,
}

pub(crate) async fn build_parts(
    plan: &BuildPlan,
    workshop: &Workshop,
    dir: &Path,
    threads: usize,
) -> Result<BuiltParts, ReleaseBuildError> {
    let builds = plan.build.iter().map(|part| build_part(part, workshop.clone(), dir));
    let built: Vec<BuiltParts> = stream::iter(builds)
        .buffer_unordered(threads.max(1))
        .try_collect()
        .await?;
    Ok(built.into_iter().flatten().collect())
}

async fn build_part(part: &PartPlan, workshop: Workshop, dir: &Path) -> Result<BuiltParts, ReleaseBuildError> {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING);
    let builder = PartsBuilder::new(dir, &workshop.options);
    let facts = Arc::clone(&workshop.facts);
    let progress = Arc::clone(&workshop.progress);
    let stores: BTreeSet<StoreHost> = part.stores.iter().cloned().collect();
    let history = workshop.snapshot.readable_price_history(&stores).await;
    let (history, lost) = history.map_err(ReleaseBuildError::History)?;
    if let Some(error) = lost {
        // All parts read the same history files, so that the first error suffices.
        let _ = workshop.history_lost.set(error);
    }
    // Indexing takes seconds of CPU time and must not block async threads.
    let indexer = tokio::task::spawn_blocking(move || index(builder, receiver, &facts, &history, progress.as_ref()));
    let read = read(&workshop.snapshot, &stores, sender).await;
    let built = indexer.await.map_err(|_| ReleaseBuildError::BrokeOff)?;
    // A failed indexer closes the channel, which also ends the reading, so that the indexer's error comes first.
    let built = built?;
    read?;
    Ok(built)
}

async fn read(
    snapshot: &LakeSnapshot,
    stores: &BTreeSet<StoreHost>,
    sender: mpsc::Sender<Vec<Product>>,
) -> Result<(), ReleaseBuildError> {
    let products = snapshot.products(stores).await.map_err(ReleaseBuildError::Products)?;
    let mut chunks = std::pin::pin!(products.try_chunks(CHUNK_PRODUCTS));
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|broken| ReleaseBuildError::Products(broken.1))?;
        if sender.send(chunk).await.is_err() {
            return Err(ReleaseBuildError::BrokeOff);
        }
    }
    Ok(())
}

fn index(
    mut builder: PartsBuilder,
    mut chunks: mpsc::Receiver<Vec<Product>>,
    facts: &BTreeMap<StoreHost, BrandFacts>,
    history: &BTreeMap<StoreHost, StoreHistory>,
    progress: &dyn BuildProgress,
) -> Result<BuiltParts, ReleaseBuildError> {
    while let Some(chunk) = chunks.blocking_recv() {
        for product in &chunk {
            // The snapshot returns only the requested stores, which are the keys of the facts.
            let Some(facts) = facts.get(&product.key.store) else {
                continue;
            };
            let history = history.get(&product.key.store);
            let points = history.and_then(|history| history.get(&product.key.platform_id));
            builder
                .push(product, facts, points.map_or(&[], Vec::as_slice))
                .map_err(ReleaseBuildError::Part)?;
        }
        progress.indexed(chunk.len() as u64);
    }
    builder.finish().map_err(ReleaseBuildError::Part)
}
