use std::sync::{Arc, OnceLock};

use data_model::{Clock, StoredBrand, StoredProduct, Timestamp};
use serde_json::json;
use storefront::{Effect, FetchOutcome, GraphqlAnswer, GraphqlErrorKind, GraphqlRequest, Store, StoreError, documents};

use super::failure::{refuses_graphql, unverified};
use super::state::{StoreCoalescer, Turn};
use crate::rules::nodes::{Nodes, ProductNodes, variant_gid};
use crate::rules::reason::{Nonsense, Unverified};
use crate::rules::{ProductReply, Source, identity, js};
use crate::schema::UnverifiedCode;

#[derive(Debug)]
pub(super) enum QueryOutcome {
    /// Results in the order of the products.
    Products(Vec<Result<ProductNodes, Nonsense>>),
    /// The query is too complex for the store.
    TooComplex,
    /// The store does not accept GraphQL queries from this service.
    Refused,
    /// The query failed for all products.
    Failed(Unverified),
}

/// Products of a query, and the time just before the query. Results are valid from that time on.
pub(super) type QueryBatch = (Vec<Arc<StoredProduct>>, Timestamp);

/// Queries the store for the waiting products as soon as the rate limit allows it. A product with more variants than a
/// query allows needs several queries. Also returns the queried products and the time of the query. The list of
/// products is empty if no query was sent.
pub(super) async fn by_graphql(
    store: &Store,
    coalescer: &Arc<StoreCoalescer>,
    clock: &Arc<dyn Clock>,
) -> (QueryBatch, QueryOutcome) {
    let asked: Arc<OnceLock<QueryBatch>> = Arc::default();
    let make = {
        let (coalescer, asked, clock) = (Arc::clone(coalescer), Arc::clone(&asked), Arc::clone(clock));
        move || {
            let (products, _) = asked.get_or_init(|| (coalescer.choose(Turn::Graphql), clock.now()));
            let ids: Vec<String> = ids(products).take(coalescer.variants_max()).collect();
            (!ids.is_empty()).then(|| request(&coalescer, &ids))
        }
    };
    let first = store.graphql_at_turn(make, Effect::Safe).await;
    let (products, as_of) = asked.get().cloned().unwrap_or_else(|| (Vec::new(), clock.now()));
    let queried = rest(store, coalescer, &products, first).await;
    ((products, as_of), queried.unwrap_or_else(|queried| queried))
}

fn ids(products: &[Arc<StoredProduct>]) -> impl Iterator<Item = String> {
    let variants = products.iter().flat_map(|product| &product.variants);
    variants.map(|variant| variant_gid(variant.id))
}

fn request(coalescer: &StoreCoalescer, ids: &[String]) -> GraphqlRequest {
    let variables = json!({ "ids": ids, "country": coalescer.country });
    GraphqlRequest::new(documents::VARIANTS_BY_ID, "Variants", variables)
}

/// Queries the variants that did not fit into the first query, and parses all responses.
async fn rest(
    store: &Store,
    coalescer: &StoreCoalescer,
    products: &[Arc<StoredProduct>],
    first: Result<GraphqlAnswer, StoreError>,
) -> Result<QueryOutcome, QueryOutcome> {
    let ids: Vec<String> = ids(products).collect();
    let (mut nodes, mut partial) = (Nodes::empty(), false);
    let mut first = Some(first);
    for ids in ids.chunks(coalescer.variants_max().max(1)) {
        let answer = match first.take() {
            Some(first) => first,
            None => store.graphql(&request(coalescer, ids), Effect::Safe).await,
        };
        let answer = answer.map_err(|error| failed(&error))?;
        partial |= !answer.errors.is_empty();
        nodes.extend(understood(&answer, ids.len())?);
    }
    if let Some(Err(error)) = first {
        return Err(failed(&error));
    }
    let mut start = 0;
    let found = products.iter().map(|product| {
        let at = start;
        start += product.variants.len();
        nodes.product(at, product, partial)
    });
    Ok(QueryOutcome::Products(found.collect()))
}

fn failed(error: &StoreError) -> QueryOutcome {
    match error {
        StoreError::Withdrawn => QueryOutcome::Products(Vec::new()),
        error if refuses_graphql(error) => {
            tracing::debug!(error = %error, "the store refuses GraphQL requests");
            QueryOutcome::Refused
        }
        error => QueryOutcome::Failed(unverified(error)),
    }
}

fn understood(answer: &GraphqlAnswer, asked: usize) -> Result<Nodes, QueryOutcome> {
    let data = answer
        .data
        .as_ref()
        .map(|data| data.get())
        .filter(|data| *data != "null");
    match (data, answer.error_kind()) {
        (Some(data), _) => Nodes::read(data, asked).map_err(|nonsense| QueryOutcome::Failed(nonsense.into())),
        (None, GraphqlErrorKind::Size) => Err(QueryOutcome::TooComplex),
        (None, GraphqlErrorKind::Access | GraphqlErrorKind::Closed) => Err(QueryOutcome::Refused),
        (None, GraphqlErrorKind::Call | GraphqlErrorKind::Failure) => {
            let told = answer
                .errors
                .first()
                .map_or("the answer has neither data nor errors", |error| error.message.as_str());
            Err(QueryOutcome::Failed(Nonsense::Refused(told.to_owned()).into()))
        }
    }
}

/// Queries one product by its `.js` view.
pub(super) async fn by_js(
    store: &Store,
    coalescer: &StoreCoalescer,
    brand: &StoredBrand,
    stored: &StoredProduct,
) -> Result<ProductReply, Unverified> {
    match store.product_js(&stored.handle).await {
        Ok(FetchOutcome::Body(page)) => Ok(js::read(&page.bytes, stored, page.cart_currency)?),
        // The request had no validator, so a `not modified` response is invalid.
        Ok(FetchOutcome::NotModified) => {
            Err(Nonsense::Form("the store answered `not modified` to a request without a validator".to_owned()).into())
        }
        // The platform returns 404 for a deleted or unpublished product, but also if the shop is closed or the address
        // belongs to another shop. In the last two cases the product may still exist.
        Err(StoreError::Status { status: 404 | 410 }) => {
            if !coalescer.is_known() {
                prove(store, brand).await?;
                coalescer.know();
            }
            let gone = stored.variants.iter().map(|variant| variant.id).collect();
            Ok(ProductReply {
                source: Source::Js,
                variants: Vec::new(),
                gone,
            })
        }
        Err(error) => Err(unverified(&error)),
    }
}

/// Checks by `/meta.json` that the store is the one that was crawled.
async fn prove(store: &Store, brand: &StoredBrand) -> Result<(), Unverified> {
    let unproven = |detail: &str| Unverified::new(UnverifiedCode::StoreUnavailable, detail);
    let page = match store.meta().await {
        Ok(FetchOutcome::Body(page)) => page,
        Ok(FetchOutcome::NotModified) | Err(StoreError::Status { .. }) => {
            return Err(unproven(
                "the store does not have the product, and does not state its own identity",
            ));
        }
        Err(error) => return Err(unverified(&error)),
    };
    if identity::is_store(&page.bytes, &brand.store) {
        Ok(())
    } else {
        Err(unproven("another store answers at this store's address"))
    }
}
