//! Tests of the protocol's operations through their routes, over REST operations with prepared responses.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod bad_input;
#[path = "../../../../tests/kit/limit.rs"]
mod limit;
mod tools;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents_mcp::{McpConfig, McpParts};
use agents_ucp::{Ucp, UcpConfig};
use api::{CallOperation, EdgeConfig, EdgeRouter, Guard, Limit, OperationAnswer, OperationCall};
use async_trait::async_trait;
use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::limit::RequestCount;

/// Fake market with forty products that records calls.
#[derive(Debug, Default)]
struct Shop {
    asked: Mutex<Vec<String>>,
    /// Response to every call, if set.
    refuses: Option<(u16, &'static str, Option<u64>)>,
    counted: Arc<RequestCount>,
}

fn id(nth: usize) -> String {
    format!("0190b6a2-0000-5000-8000-{nth:012x}")
}

fn detail(nth: usize) -> Value {
    let (id, price) = (id(nth), 10_000 + i64::try_from(nth).unwrap());
    json!({ "data": {
        "id": id, "product_uid": "sha:00", "title": format!("Kurta {nth}"), "brand": "Asha", "brand_slug": "asha",
        "currency": "INR", "rating": null, "rating_count": 0, "price_min_minor": price,
        "media": [{ "url": "https://cdn.example/a.jpg", "kind": "image", "alt": null, "width": null, "height": null }],
        "variants": [
            { "id": "1", "sku": "K-1", "title": "", "options": {}, "image": null },
            { "id": "2", "sku": null, "title": "Long", "options": {}, "image": null },
        ],
        "offers": [
            { "variant_id": "1", "amount_minor": price, "compare_at_minor": price + 500, "currency": "INR", "available": false },
            { "variant_id": "2", "amount_minor": price + 100, "compare_at_minor": null, "currency": "INR", "available": true },
        ],
        "attributes": {
            "description": "Cotton.", "vendor": null, "product_type": null, "tags": ["handloom"],
            "category": { "id": 212, "slug": "shirts-tops", "name": "Shirts & Tops", "path": "Apparel > Shirts & Tops" },
            "url": "https://asha.example/products/kurta", "options": {}, "attributes": {},
        },
    } })
}

/// Returns a brand's offer for a product.
fn offer(nth: usize, price_minor: i64) -> Value {
    json!({
        "id": id(nth), "brand": format!("Brand {nth}"), "url": format!("https://shop-{nth}.example/products/kurta"),
        "variant_id": (nth == 7).then_some("1"), "price_minor": price_minor, "compare_at_minor": null, "currency": "INR",
        "available": true,
    })
}

#[async_trait]
impl CallOperation for Shop {
    async fn call(&self, call: OperationCall) -> OperationAnswer {
        self.asked.lock().unwrap().push(call.operation_id.to_string());
        if let Some((status, code, retry_after_s)) = self.refuses {
            let problems = (status == 404).then(|| json!([{ "code": code, "detail": "None of 9." }]));
            let body = json!({ "code": code, "detail": "No.", "problems": problems.unwrap_or_else(|| json!([])) });
            return OperationAnswer {
                status: StatusCode::from_u16(status).unwrap(),
                body: body.to_string().into(),
                retry_after: retry_after_s.map(Duration::from_secs),
            };
        }
        let known = (0..40).find(|nth| call.path.ends_with(&id(*nth)));
        let (status, body) = match (call.operation_id.as_ref(), known) {
            ("list_offers", _) if call.path.contains(&id(5)) => {
                (200, json!({ "data": [offer(5, 9_000), offer(6, 0), offer(7, 9_500)] }))
            }
            ("search_products", _) => {
                let cards: Vec<Value> = (0..40).map(|nth| json!({ "id": id(nth) })).collect();
                (200, json!({ "data": cards }))
            }
            ("get_product", Some(nth)) => (200, detail(nth)),
            _ => (
                404,
                json!({ "code": "product_not_found", "detail": "There is no such product." }),
            ),
        };
        OperationAnswer {
            status: StatusCode::from_u16(status).unwrap(),
            body: body.to_string().into(),
            retry_after: None,
        }
    }
}

fn router(shop: &Arc<Shop>) -> EdgeRouter {
    let config = UcpConfig {
        public_url: "https://market.example".to_owned(),
        has_carts: true,
    };
    let operations = Arc::clone(shop) as Arc<dyn CallOperation>;
    let guard = Arc::new(Guard {
        limit: Some(Arc::clone(&shop.counted) as Arc<dyn Limit>),
        ..Guard::default()
    });
    let parts = McpParts {
        guard: Arc::clone(&guard),
        config: McpConfig::default(),
        public_url: config.public_url.clone(),
        origins: Vec::new(),
        is_local: false,
        version: "0.0.0",
        stop: CancellationToken::new(),
    };
    let open = Ucp::new(config, operations, Arc::clone(&guard)).open_router(&parts);
    open.edge(EdgeConfig {
        guard,
        ..EdgeConfig::default()
    })
}

async fn send(shop: &Arc<Shop>, method: Method, path: &str, body: Option<Value>) -> (u16, http::HeaderMap, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "market.example");
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let response = router(shop).answer(request.body(body).unwrap()).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (parts.status.as_u16(), parts.headers, value)
}

async fn post(shop: &Arc<Shop>, path: &str, body: Value) -> (u16, Value) {
    let (status, _, body) = send(shop, Method::POST, &format!("/v1/ucp{path}"), Some(body)).await;
    (status, body)
}

#[tokio::test]
async fn pages_of_a_search_are_pieces_of_one_list_and_end() {
    let shop = Arc::new(Shop::default());
    let (mut cursor, mut seen) = (Value::Null, Vec::new());
    loop {
        let mut body = json!({ "query": "kurta", "pagination": { "limit": 15 } });
        if !cursor.is_null() {
            body["pagination"]["cursor"] = cursor.clone();
        }
        let (status, page) = post(&shop, "/catalog/search", body).await;
        assert_eq!(status, 200, "{page}");
        let products = page["products"].as_array().unwrap();
        seen.extend(products.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
        if page["pagination"]["has_next_page"] == false {
            assert_eq!(page["pagination"].get("cursor"), None);
            break;
        }
        cursor = page["pagination"]["cursor"].clone();
    }
    assert_eq!(seen, (0..40).map(id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_look_up_counts_as_more_requests_where_it_reads_more_products() {
    let shop = Arc::new(Shop::default());
    let ids: Vec<String> = (0..40).map(id).collect();
    post(&shop, "/catalog/lookup", json!({ "ids": ids })).await;
    assert_eq!(shop.counted.take(), 4);
    post(&shop, "/catalog/product", json!({ "id": id(3) })).await;
    assert_eq!(shop.counted.take(), 1);
}

#[tokio::test]
async fn a_product_has_its_variants_with_the_one_that_can_be_bought_first() {
    let shop = Arc::new(Shop::default());
    let (_, found) = post(&shop, "/catalog/product", json!({ "id": id(3) })).await;
    let variants = found["product"]["variants"].as_array().unwrap();
    let told: Vec<_> = variants
        .iter()
        .map(|one| {
            (
                one["id"].clone(),
                one["title"].clone(),
                one["availability"]["status"].clone(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (json!(format!("{}:2", id(3))), json!("Long"), json!("in_stock")),
            (json!(format!("{}:1", id(3))), json!("Kurta 3"), json!("out_of_stock")),
        ]
    );
    assert_eq!(variants[0]["seller"], json!({ "name": "Asha" }));
    assert_eq!(variants[0]["url"], "https://asha.example/products/kurta?variant=2");
    assert_eq!(
        found["product"]["list_price_range"]["max"],
        json!({ "amount": 10_503, "currency": "INR" })
    );
}

#[tokio::test]
async fn a_product_that_several_brands_sell_names_their_offers_under_a_name_of_our_own() {
    let shop = Arc::new(Shop::default());
    let (_, alone) = post(&shop, "/catalog/product", json!({ "id": id(3) })).await;
    assert_eq!(alone["product"].get("haat_offers"), None);
    let (_, found) = post(&shop, "/catalog/product", json!({ "id": id(5) })).await;
    // An offer without a price is ignored.
    let of = |nth: usize, item: String, amount: i64| {
        json!({
            "seller": { "domain": format!("shop-{nth}.example"), "name": format!("Brand {nth}") }, "item_id": item,
            "price": { "amount": amount, "currency": "INR" }, "availability": { "available": true, "status": "in_stock" },
            "url": format!("https://shop-{nth}.example/products/kurta"),
        })
    };
    let wanted = json!([of(5, id(5), 9_000), of(7, format!("{}:1", id(7)), 9_500)]);
    assert_eq!(found["product"]["haat_offers"], wanted);
}

#[tokio::test]
async fn identifiers_that_lead_to_one_product_find_it_once_and_others_are_named() {
    let shop = Arc::new(Shop::default());
    let ids = json!([
        id(1),
        format!("{}:2", id(1)),
        format!("{}:1", id(1)),
        id(1),
        format!("{}:9", id(2)),
        "x y"
    ]);
    let (status, found) = post(&shop, "/catalog/lookup", json!({ "ids": ids })).await;
    assert_eq!(status, 200, "{found}");
    let products = found["products"].as_array().unwrap();
    assert_eq!(products.len(), 1);
    let inputs: Vec<_> = products[0]["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["inputs"].clone())
        .collect();
    assert_eq!(
        inputs,
        [
            json!([{ "id": id(1), "match": "featured" }, { "id": format!("{}:2", id(1)), "match": "exact" }]),
            json!([{ "id": format!("{}:1", id(1)), "match": "exact" }]),
        ]
    );
    let absent: Vec<_> = found["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["content"].clone())
        .collect();
    assert_eq!(absent, [json!(format!("{}:9", id(2))), json!("x y")]);
    // A price filter leaves out more expensive variants.
    let cheap = json!({ "ids": [id(1)], "filters": { "price": { "max": 9_000 } } });
    assert_eq!(post(&shop, "/catalog/lookup", cheap).await.1["products"], json!([]));
}

#[tokio::test]
async fn what_an_operation_refuses_is_told_in_the_protocols_way() {
    for (refused, status, code) in [
        ((401, "missing_credentials", None), 401, "missing_credentials"),
        ((409, "idempotency_conflict", Some(6)), 409, "idempotency_conflict"),
        ((422, "idempotency_mismatch", None), 409, "idempotency_mismatch"),
        ((422, "validation", None), 400, "validation"),
        ((429, "rate_limit", Some(7)), 429, "rate_limit"),
        ((503, "overloaded", Some(1)), 503, "overloaded"),
    ] {
        let shop = Arc::new(Shop {
            refuses: Some(refused),
            ..Shop::default()
        });
        let (told, headers, body) = send(&shop, Method::GET, "/v1/ucp/carts/c1", None).await;
        assert_eq!((told, body["code"].as_str()), (status, Some(code)), "{body}");
        let wait = headers.get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
        assert_eq!(wait, refused.2.map(|seconds| seconds.to_string()));
    }
    // Each item that cannot be bought has its own message.
    let shop = Arc::new(Shop {
        refuses: Some((404, "product_not_found", None)),
        ..Shop::default()
    });
    let (status, _, body) = send(&shop, Method::GET, "/v1/ucp/carts/c1", None).await;
    let told = &body["messages"][0];
    assert_eq!(
        (status, &told["code"], &told["content"]),
        (200, &json!("item_unavailable"), &json!("None of 9.")),
        "{body}"
    );
    let shop = Arc::new(Shop::default());
    let (status, gone) = post(&shop, "/carts/c1/cancel", json!({})).await;
    assert_eq!(
        (status, &gone["ucp"]["status"], &gone["messages"][0]["code"]),
        (200, &json!("error"), &json!("not_found"))
    );
}

#[tokio::test]
async fn a_request_that_is_not_as_it_must_be_asks_nothing() {
    let shop = Arc::new(Shop::default());
    for (path, body) in [
        ("/catalog/search", json!({})),
        ("/catalog/search", json!({ "query": "  " })),
        ("/catalog/search", json!({ "query": "a", "pagination": { "limit": 0 } })),
        (
            "/catalog/search",
            json!({ "query": "a", "filters": { "price": { "min": 5, "max": 4 } } }),
        ),
        ("/catalog/search", json!({ "query": "a".repeat(513) })),
        ("/catalog/lookup", json!({ "ids": [] })),
        ("/catalog/lookup", json!({ "ids": (0..51).map(id).collect::<Vec<_>>() })),
        (
            "/catalog/product",
            json!({ "id": id(1), "selected": [{ "name": "a", "label": "b" }, { "name": "a", "label": "c" }] }),
        ),
        (
            "/carts",
            json!({ "line_items": [{ "item": { "id": id(1) }, "quantity": 0 }] }),
        ),
        ("/carts", json!({ "line_items": [] })),
    ] {
        let (status, answer) = post(&shop, path, body.clone()).await;
        assert_eq!(status, 400, "{path} {body}: {answer}");
    }
    assert_eq!(*shop.asked.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn the_profile_and_the_text_for_models_are_kept_by_their_tags() {
    let shop = Arc::new(Shop::default());
    for path in ["/.well-known/ucp", "/.well-known/ucp/2026-08-25", "/llms.txt"] {
        let (status, headers, body) = send(&shop, Method::GET, path, None).await;
        assert_eq!(
            (status, &headers["cache-control"]),
            (200, &"public, max-age=300".parse().unwrap())
        );
        assert!(body.to_string().contains("https://market.example"), "{body}");
        let request = Request::builder()
            .uri(path)
            .header("host", "market.example")
            .header("if-none-match", &headers["etag"])
            .body(Body::empty());
        assert_eq!(router(&shop).answer(request.unwrap()).await.status(), 304, "{path}");
    }
}
