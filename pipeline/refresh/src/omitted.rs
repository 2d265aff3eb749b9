//! Asks stores for the variants that their listings omit: a listing has 250 variants of a product, which may have 2,048.
//! The answers are saved in `crawl-state/{store}-variants.json.zst`, so that a run that asks for none still has earlier
//! ones. Omitted variants that were not read stay unknown. A store that refuses is not asked again for a week.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{CurrencyCode, StoreHost, Timestamp, read_store_json};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{load_packed, packed_at, save_packed};
use pipeline_task::is_older;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use storefront::documents::REST_OF_VARIANTS;
use storefront::{Effect, GraphqlRequest};

use crate::categories::{AskContext, PRODUCT_GID, ProductVersion, SILENT_S};

/// Number of variants that a listing has of a product, and maximum number that a product may have.
const LISTED: usize = 250;
const VARIANTS_MAX: usize = 2_048;
/// Maximum number of saved variants of one store.
const SAVED_MAX: usize = 25_000;

/// Variants that the listing of one store omits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OmittedVariants {
    /// Version that increases when the variants change, because the same catalogue with other variants is a new
    /// catalogue.
    pub(crate) version: u64,
    /// Time of the last request, if the store refused it.
    refused_at: Option<Timestamp>,
    /// True if products were left for the next run.
    has_rest: bool,
    products: BTreeMap<u64, Answer>,
    /// Number of requests sent in this run.
    #[serde(skip)]
    pub(crate) requests: u32,
}

/// Answer about one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Answer {
    /// Last update of the product at the time of the request.
    updated_at: Option<Timestamp>,
    read_at: Timestamp,
    /// Currency of the prices.
    currency: CurrencyCode,
    /// Number of variants in `page`.
    variants: usize,
    /// Record with the omitted variants, as a page of products; `None` if the store does not state them completely.
    page: Option<String>,
}

/// Reason why the variants of a product were not read.
enum Unread {
    /// The run may send no more requests.
    OverLimit,
    /// The store refuses or cannot be reached.
    Refused,
    /// The answer lacks the product, or has something else than its variants in the right currency.
    Unusable,
}

impl OmittedVariants {
    /// Loads the earlier answers of a store.
    pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<Self, StorageError> {
        Ok(load_packed(storage, &packed_at(store, "variants"))
            .await?
            .unwrap_or_default())
    }

    /// Returns true if the store should be asked even if its catalogue is unchanged.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.has_rest && self.may_ask(now)
    }

    fn may_ask(&self, now: Timestamp) -> bool {
        self.refused_at.is_none() || is_older(self.refused_at, now, SILENT_S)
    }

    /// Returns the omitted variants of a product as a page of products, if their prices are in this currency.
    pub(crate) fn of(&self, product: u64, currency: CurrencyCode) -> Option<&str> {
        let answer = self.products.get(&product)?;
        answer.page.as_deref().filter(|_| answer.currency == currency)
    }

    /// Asks for the omitted variants of the products that are due, as far as the store and the limits allow, and saves
    /// the answers. `cut` are the products whose listed variants may not be all. At most `variants_max` variants are
    /// saved.
    pub(crate) async fn ask(
        &mut self,
        cut: &[ProductVersion],
        currency: CurrencyCode,
        variants_max: usize,
        asking: &AskContext<'_>,
    ) -> Result<(), StorageError> {
        let now = asking.clock.now();
        let is_known = |answer: &Answer, product: &ProductVersion| {
            answer.updated_at == product.updated_at && answer.currency == currency
        };
        let mut due: Vec<ProductVersion> = cut.to_vec();
        due.retain(|product| {
            !self
                .products
                .get(&product.id)
                .is_some_and(|answer| is_known(answer, product))
        });
        let is_done = due.is_empty() && !self.has_rest;
        if is_done || !self.may_ask(now) {
            return Ok(());
        }
        due.sort_by_key(|product| (self.products.contains_key(&product.id), product.id));
        let cut: BTreeSet<u64> = cut.iter().map(|product| product.id).collect();
        self.products.retain(|product, _| cut.contains(product));
        (self.refused_at, self.has_rest) = (None, false);
        for (nth, product) in due.iter().enumerate() {
            let saved: usize = self.products.values().map(|answer| answer.variants).sum();
            if saved + VARIANTS_MAX > variants_max.min(SAVED_MAX) {
                break;
            }
            let variants = match self.read(product.id, currency, asking).await {
                Ok(variants) => Some(variants),
                // A product that needs more requests than a whole run has is not asked for in every run.
                Err(Unread::OverLimit) if nth > 0 || self.requests == 0 || asking.cancel.is_cancelled() => {
                    self.has_rest = true;
                    break;
                }
                Err(Unread::OverLimit | Unread::Unusable) => None,
                Err(Unread::Refused) => {
                    (self.refused_at, self.has_rest) = (Some(now), true);
                    self.forget_old(&due, now);
                    break;
                }
            };
            let ProductVersion { id, updated_at } = *product;
            let page = |variants: &Vec<Value>| {
                json!({ "products": [{ "id": id, "title": "rest", "variants": variants }] }).to_string()
            };
            let answer = Answer {
                updated_at,
                read_at: now,
                currency,
                variants: variants.as_ref().map_or(0, Vec::len),
                page: variants.as_ref().map(page),
            };
            let page_of = |answer: &Answer| (answer.currency, answer.page.clone());
            let now_stated = Some(page_of(&answer));
            let before = self.products.insert(id, answer);
            self.version += u64::from(before.as_ref().map(page_of) != now_stated);
        }
        save_packed(asking.storage, &packed_at(asking.host, "variants"), self).await
    }

    /// Forgets variants that a refusing store has not confirmed for a week, although their products changed.
    fn forget_old(&mut self, changed: &[ProductVersion], now: Timestamp) {
        for product in changed {
            let is_old = |answer: &Answer| is_older(Some(answer.read_at), now, SILENT_S);
            if self.products.get(&product.id).is_some_and(is_old) {
                self.products.remove(&product.id);
                self.version += 1;
            }
        }
    }

    /// Reads the variants of a product from the last one on, until only listed ones are left.
    async fn read(
        &mut self,
        product: u64,
        currency: CurrencyCode,
        asking: &AskContext<'_>,
    ) -> Result<Vec<Value>, Unread> {
        let (mut variants, mut after) = (Vec::new(), Value::Null);
        loop {
            if self.requests == asking.variant_requests_max {
                return Err(Unread::OverLimit);
            }
            self.requests += 1;
            let variables =
                json!({ "id": format!("{PRODUCT_GID}{product}"), "after": after, "country": asking.country });
            let answer = tokio::select! {
                biased;
                () = asking.cancel.cancelled() => return Err(Unread::OverLimit),
                answer = ask_page(asking, variables) => answer.ok_or(Unread::Refused)?,
            };
            let product = &answer["product"];
            let nodes = product["variants"]["nodes"].as_array().ok_or(Unread::Unusable)?;
            for node in nodes {
                let position = 2 * VARIANTS_MAX - variants.len();
                variants.push(listed(node, position, currency).ok_or(Unread::Unusable)?);
            }
            let page_info = &product["variants"]["pageInfo"];
            let all = product["variantsCount"]["count"].as_u64();
            let is_rest = all.is_some_and(|all| (variants.len() + LISTED) as u64 >= all);
            if is_rest || page_info["hasNextPage"] == false {
                return Ok(variants);
            }
            if nodes.is_empty() || variants.len() >= VARIANTS_MAX {
                return Err(Unread::Unusable);
            }
            after = page_info["endCursor"].clone();
        }
    }
}

/// Returns the data of an answer, or `None` if the store refuses it or cannot be reached.
async fn ask_page(asking: &AskContext<'_>, variables: Value) -> Option<Value> {
    let request = GraphqlRequest::new(REST_OF_VARIANTS, "RestOfVariants", variables);
    let answered = asking.store.graphql(&request, Effect::Safe).await;
    let answered = answered.inspect_err(|error| tracing::debug!(%error, "a store does not state omitted variants"));
    let answer = answered.ok()?;
    let data = answer.data.filter(|_| answer.errors.is_empty())?;
    read_store_json(data.get().as_bytes()).ok()
}

/// Returns a variant as a listing states it, or `None` if it has no price in this currency. Its position puts it after
/// the listed variants.
fn listed(node: &Value, position: usize, currency: CurrencyCode) -> Option<Value> {
    let id: u64 = node["id"].as_str()?.rsplit('/').next()?.parse().ok()?;
    let price = Some(&node["price"]).filter(|price| price["currencyCode"] == currency.as_str())?;
    let option = |nth: usize| &node["selectedOptions"][nth]["value"];
    let grams_of_unit = match node["weightUnit"].as_str() {
        Some("GRAMS") => 1.0,
        Some("KILOGRAMS") => 1_000.0,
        Some("OUNCES") => 28.349_523_125,
        Some("POUNDS") => 453.592_37,
        _ => 0.0,
    };
    Some(json!({
        "id": id, "title": node["title"], "position": position,
        "option1": option(0), "option2": option(1), "option3": option(2),
        "sku": node["sku"], "barcode": node["barcode"], "available": node["availableForSale"],
        "grams": (node["weight"].as_f64().unwrap_or(0.0) * grams_of_unit).round() as u64,
        "price": price["amount"], "compare_at_price": node["compareAtPrice"]["amount"],
    }))
}
