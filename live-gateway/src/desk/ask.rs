use std::sync::Arc;

use data_model::StoredProduct;
use serde_json::json;
use storefront::{Effect, Fetched, GraphqlAnswer, GraphqlRequest, Store, StoreError, documents};

use super::failure::unverified;
use crate::rules::nodes::{Found, Nodes, variant_gid};
use crate::rules::reason::{Nonsense, Unverified};
use crate::rules::{Source, Told, js};

/// What one query brought.
#[derive(Debug)]
pub(super) enum Queried {
    /// One entry for each product, in their order.
    Products(Vec<Result<Found, Nonsense>>),
    /// The query is too complex for the store.
    TooComplex,
    /// The store does not take such queries.
    Refused,
    /// It failed, for all of them.
    Failed(Unverified),
}

/// Codes of a query that costs more than is allowed without a token (platform: Storefront API, complexity).
const TOO_COMPLEX: [&str; 2] = ["MAX_COMPLEXITY_EXCEEDED", "MAX_COST_EXCEEDED"];
/// Codes with which a store refuses the query as such.
const REFUSED: [&str; 3] = ["ACCESS_DENIED", "UNAUTHORIZED", "SHOP_INACTIVE"];

/// Asks for all variants of `products` with one query, or several where one product has more than a query takes.
pub(super) async fn by_graphql(
    (store, country): (&Store, Option<&str>),
    products: &[Arc<StoredProduct>],
    variants_max: usize,
) -> Queried {
    let ids: Vec<String> = products
        .iter()
        .flat_map(|product| product.variants.iter().map(|variant| variant_gid(variant.id)))
        .collect();
    let (mut nodes, mut partial) = (Nodes::empty(), false);
    for ids in ids.chunks(variants_max.max(1)) {
        let request = GraphqlRequest::new(
            documents::VARIANTS_BY_ID,
            "Variants",
            json!({ "ids": ids, "country": country }),
        );
        let answer = match store.graphql(&request, Effect::Safe).await {
            Ok(answer) => answer,
            Err(error) if super::failure::refuses_graphql(&error) => {
                tracing::debug!(error = %error, "the store refuses GraphQL");
                return Queried::Refused;
            }
            Err(error) => return Queried::Failed(unverified(&error)),
        };
        partial |= !answer.errors.is_empty();
        match understood(&answer, ids.len()) {
            Ok(more) => nodes.extend(more),
            Err(queried) => return queried,
        }
    }
    let mut start = 0;
    let found = products.iter().map(|product| {
        let at = start;
        start += product.variants.len();
        nodes.product(at, product, partial)
    });
    Queried::Products(found.collect())
}

fn understood(answer: &GraphqlAnswer, asked: usize) -> Result<Nodes, Queried> {
    let has = |codes: &[&str]| {
        let mut stated = answer.errors.iter().filter_map(|error| error.code.as_deref());
        stated.any(|code| codes.contains(&code))
    };
    let data = answer
        .data
        .as_ref()
        .map(|data| data.get())
        .filter(|data| *data != "null");
    match data {
        Some(data) => Nodes::read(data, asked).map_err(|nonsense| Queried::Failed(nonsense.into())),
        None if has(&TOO_COMPLEX) => Err(Queried::TooComplex),
        None if has(&REFUSED) => Err(Queried::Refused),
        None => {
            let told = answer
                .errors
                .first()
                .map_or("neither data nor errors", |error| error.message.as_str());
            Err(Queried::Failed(Nonsense::Refused(told.to_owned()).into()))
        }
    }
}

/// Asks for one product by its `.js` view.
pub(super) async fn by_js(store: &Store, stored: &StoredProduct) -> Result<Told, Unverified> {
    match store.product_js(&stored.handle).await {
        Ok(Fetched::Body(page)) => Ok(js::read(&page.bytes, stored, page.cart_currency)?),
        // No validator was sent, so nothing is unchanged.
        Ok(Fetched::NotModified) => Err(Nonsense::Form("not modified since never".to_owned()).into()),
        // The platform answers 404 for a product that was deleted or is not published any more.
        Err(StoreError::Status { status: 404 | 410 }) => {
            let gone = stored.variants.iter().map(|variant| variant.id).collect();
            Ok(Told {
                source: Source::Js,
                variants: Vec::new(),
                gone,
            })
        }
        Err(error) => Err(unverified(&error)),
    }
}
