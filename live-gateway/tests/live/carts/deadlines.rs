//! Tests of the time budget that all parts of a request share, from the edge to the stores.

use std::sync::Arc;

use async_trait::async_trait;
use data_model::{ProductIdent, ResolvedProducts, StoredBrand};
use emulator::{Fault, FaultRule};
use live_gateway::{Catalogue, CatalogueError};
use serde_json::json;

use super::mall::{Call, Mall, group, path};

/// Catalogue that never responds to a request.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl Catalogue for Silent {
    async fn resolve(&self, _: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError> {
        std::future::pending().await
    }

    async fn brand(&self, _: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_cut_has_an_unknown_outcome_and_invites_nobody_to_repeat_it() {
    let mut mall = Mall::open(1).await;
    mall.edge_ms = 1_000;
    let cart = mall.server().await.cart(&[mall.item(0, 0, 1)]).await;
    let server = mall.server_over(Arc::new(Silent)).await;
    let items = json!({ "items": [mall.item(0, 0, 1)] });
    let sign_in = json!({ "email": "a@example.com", "password": "correct horse", "brand": mall.brand(0) });
    for call in [
        Call::post("/v1/cart", items.clone()),
        Call::post(path(&cart, "/lines"), items.clone()),
        Call::post(path(&cart, "/lines"), items).once("k"),
        Call::post("/v1/account/login", sign_in),
    ] {
        let (status, headers, body) = server.send_whole(call).await;
        assert_eq!(
            (status.as_u16(), &body["code"]),
            (504, &json!("outcome_unknown")),
            "{body}"
        );
        assert!(!headers.contains_key("retry-after"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_have_what_the_edge_leaves_of_the_time() {
    let mut mall = Mall::open(2).await;
    let cart = mall
        .server()
        .await
        .cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)])
        .await;
    // The edge's timeout is shorter than the time budget of carts.
    mall.edge_ms = 4_000;
    let server = mall.server().await;
    let silent = FaultRule::from(Fault::AnswerLost { hold_ms: 3_600_000 }).on_operation("cartLinesAdd");
    mall.stores.set_faults(&mall.slug(0), [silent]).unwrap();
    let more = json!({ "items": [mall.item(0, 1, 1), mall.item(1, 1, 1)] });
    let (status, body) = server.send(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(status, 200, "told before the edge cuts: {body}");
    let told = &body["data"];
    assert_eq!(
        group(told, &mall.brand(0))["lines"].as_array().unwrap().len(),
        2,
        "it was looked up"
    );
    assert_eq!(group(told, &mall.brand(1))["lines"].as_array().unwrap().len(), 2);
}
