//! Queries stores for the categories that they themselves state for their products, by GraphQL and after the catalogue.
//! A few requests per run are about new or changed products. The answers are saved in
//! `crawl-state/{store}-categories.json.zst`, so that a run without requests still has earlier ones. A store that
//! states nothing, or refuses, is not queried again for a week.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{Clock, StoreHost, Timestamp, read_store_json};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{load_packed, packed_at, save_packed};
use pipeline_task::is_older;
use serde::{Deserialize, Serialize};
use serde_json::json;
use storefront::documents::{CATEGORIES_BY_ID, CATEGORY_IDS_MAX};
use storefront::{Effect, GraphqlRequest, Store};
use tokio_util::sync::CancellationToken;

/// Time in seconds for which a store that states nothing is not asked.
pub(crate) const SILENT_S: u64 = 7 * 24 * 3600;
/// Maximum length of a path in bytes, and maximum number of paths of one store. Shopify has some 11,000 categories.
const PATH_BYTES_MAX: usize = 500;
const PATHS_MAX: usize = 12_000;
pub(crate) const PRODUCT_GID: &str = "gid://shopify/Product/";

/// A listed product and its last update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProductVersion {
    pub(crate) id: u64,
    pub(crate) updated_at: Option<Timestamp>,
}

/// Categories that one store states for its products.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OwnCategories {
    /// Increased when the answers change, because the same catalogue with other categories is a new catalogue.
    pub(crate) version: u64,
    /// Time of the last request.
    asked_at: Option<Timestamp>,
    /// True if the store stated nothing in the last request, or refused.
    is_silent: bool,
    /// True if products were left for the next run.
    has_rest: bool,
    /// Number of each path of names.
    paths: BTreeMap<String, u32>,
    products: BTreeMap<u64, Answer>,
    /// Number of requests in this run.
    #[serde(skip)]
    pub(crate) requests: u32,
}

/// Answer about one product.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Answer {
    /// Number of its path. `None` if the store states no category.
    path: Option<u32>,
    /// Last update of the product at the time of the request.
    updated_at: Option<Timestamp>,
}

/// Parameters of the requests to a store.
#[derive(Debug)]
pub(crate) struct AskContext<'a> {
    pub(crate) storage: &'a Storage,
    pub(crate) host: &'a StoreHost,
    pub(crate) store: Store,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) cancel: &'a CancellationToken,
    /// Country whose prices are requested, if any.
    pub(crate) country: Option<&'a str>,
    /// Maximum number of requests for categories in one run.
    pub(crate) requests_max: u32,
    /// Maximum number of requests for omitted variants in one run.
    pub(crate) variant_requests_max: u32,
}

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<Option<Node>>,
}

#[derive(Deserialize)]
struct Node {
    id: Option<String>,
    category: Option<Category>,
}

#[derive(Deserialize)]
struct Category {
    name: String,
    /// Ancestors, with the parent first.
    ancestors: Vec<Ancestor>,
}

#[derive(Deserialize)]
struct Ancestor {
    name: String,
}

impl OwnCategories {
    pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<Self, StorageError> {
        Ok(load_packed(storage, &packed_at(store, "categories"))
            .await?
            .unwrap_or_default())
    }

    /// Returns true if the store should be queried even if its catalogue is unchanged.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.may_ask(now) && (self.asked_at.is_none() || self.is_silent || self.has_rest)
    }

    fn may_ask(&self, now: Timestamp) -> bool {
        !self.is_silent || is_older(self.asked_at, now, SILENT_S)
    }

    /// Returns the stated path of names of each product, by id.
    pub(crate) fn stated(&self) -> BTreeMap<u64, &str> {
        let by_number: BTreeMap<u32, &str> = self
            .paths
            .iter()
            .map(|(path, number)| (*number, path.as_str()))
            .collect();
        let products = self.products.iter();
        products
            .filter_map(|(product, answer)| Some((*product, *by_number.get(&answer.path?)?)))
            .collect()
    }

    /// Returns the products to query: first those without an answer, then those changed since. New ones come first.
    fn due(&self, listed: &[ProductVersion]) -> Vec<ProductVersion> {
        let known = |id: &u64| self.products.get(id);
        let is_due =
            |product: &&ProductVersion| known(&product.id).is_none_or(|answer| answer.updated_at != product.updated_at);
        let mut due: Vec<ProductVersion> = listed.iter().filter(is_due).copied().collect();
        due.sort_by_key(|product| (known(&product.id).is_some(), std::cmp::Reverse(product.id)));
        due
    }

    /// Queries the due products, as far as the store and the limit allow, and saves the answers.
    pub(crate) async fn ask(&mut self, listed: &[ProductVersion], asking: &AskContext<'_>) -> Result<(), StorageError> {
        let now = asking.clock.now();
        let due = self.due(listed);
        let is_done = due.is_empty() && !self.is_due(now);
        if asking.requests_max == 0 || is_done || !self.may_ask(now) {
            return Ok(());
        }
        // A listing that lost most of its products may be wrong, so that no answer is dropped.
        if listed.len() * 2 > self.products.len() {
            let listed: BTreeSet<u64> = listed.iter().map(|product| product.id).collect();
            self.products.retain(|product, _| listed.contains(product));
        }
        (self.asked_at, self.is_silent) = (Some(now), false);
        let mut answered = 0;
        for batch in due.chunks(CATEGORY_IDS_MAX).take(asking.requests_max as usize) {
            self.requests += 1;
            let stated = tokio::select! {
                biased;
                () = asking.cancel.cancelled() => break,
                stated = ask_batch(&asking.store, batch) => stated,
            };
            if let Some(stated) = stated {
                self.note(batch, &stated);
                answered += batch.len();
            } else {
                self.is_silent = true;
            }
            if self.is_silent {
                break;
            }
        }
        self.has_rest = answered < due.len();
        save_packed(asking.storage, &packed_at(asking.host, "categories"), self).await
    }

    /// Records the answer about a batch.
    fn note(&mut self, batch: &[ProductVersion], stated: &BTreeMap<u64, String>) {
        for ProductVersion { id, updated_at } in batch {
            let path = stated.get(id).and_then(|path| self.number(path));
            let answer = Answer {
                path,
                updated_at: *updated_at,
            };
            let before = self.products.insert(*id, answer);
            if before.and_then(|before| before.path) != path {
                self.version += 1;
            }
        }
        self.is_silent = self.products.values().all(|answer| answer.path.is_none());
    }

    fn number(&mut self, path: &str) -> Option<u32> {
        let known = self.paths.get(path).copied();
        known.or_else(|| {
            let number = u32::try_from(self.paths.len()).ok()?;
            let has_room = self.paths.len() < PATHS_MAX && path.len() <= PATH_BYTES_MAX;
            has_room.then(|| self.paths.insert(path.to_owned(), number))?;
            Some(number)
        })
    }
}

/// Returns the stated paths of these products, or `None` if the store refuses or cannot be reached.
async fn ask_batch(store: &Store, batch: &[ProductVersion]) -> Option<BTreeMap<u64, String>> {
    let ids: Vec<String> = batch
        .iter()
        .map(|product| format!("{PRODUCT_GID}{}", product.id))
        .collect();
    let request = GraphqlRequest::new(CATEGORIES_BY_ID, "Categories", json!({ "ids": ids }));
    let answered = store.graphql(&request, Effect::Safe).await;
    let answered = answered.inspect_err(|error| tracing::debug!(%error, "a store does not state categories"));
    let answer = answered.ok()?;
    let data = answer.data.filter(|_| answer.errors.is_empty())?;
    let Nodes { nodes } = read_store_json(data.get().as_bytes()).ok()?;
    let path = |node: Node| {
        let id = node.id?.strip_prefix(PRODUCT_GID)?.parse().ok()?;
        let Category { name, ancestors } = node.category?;
        let above = ancestors.into_iter().rev().map(|ancestor| ancestor.name);
        Some((id, above.chain([name]).collect::<Vec<_>>().join(" > ")))
    };
    Some(nodes.into_iter().flatten().filter_map(path).collect())
}
