use serde_json::json;

use crate::support::{Market, Options, generated};

#[tokio::test]
async fn what_is_wrong_with_a_batch_is_told_by_its_place() {
    let market = Market::open(generated(4, 1), Options::default()).await;
    let ident = market.idents(0)[0].to_string();
    let mut told = Vec::new();
    for body in [
        "".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        "{}".to_owned(),
        json!({ "idents": ident }).to_string(),
        json!({ "idents": [ident, 7, "no-ident"] }).to_string(),
        json!({ "idents": vec![ident.clone(); 21] }).to_string(),
    ] {
        let (status, answer) = market.post("/v1/prices", &body).await;
        let faults = answer["detail"].as_array().unwrap().iter();
        let faults: Vec<_> = faults.map(|fault| json!([fault["loc"], fault["type"]])).collect();
        told.push(json!([status.as_u16(), answer["code"], faults]));
    }
    let lines: Vec<String> = told.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    [422,"validation",[[["body"],"missing"]]]
    [422,"validation",[[["body"],"dict_type"]]]
    [422,"malformed_json",[[["body",0],"json_invalid"]]]
    [422,"validation",[[["body","idents"],"missing"]]]
    [422,"validation",[[["body","idents"],"list_type"]]]
    [422,"validation",[[["body","idents",1],"string_type"],[["body","idents",2],"uuid_parsing"]]]
    [422,"validation",[[["body","idents"],"too_long"]]]
    "#);
}

#[tokio::test]
async fn an_unknown_ident_is_an_entry_of_its_own_and_a_repeated_one_is_answered_twice() {
    let market = Market::open(generated(4, 1), Options::default()).await;
    let known = market.idents(0)[0];
    let uid = market.stored(&known).product_uid.to_string();
    let unknown = "00000000-0000-5000-8000-000000000000";
    let body = json!({ "idents": [known.to_string(), unknown, uid, known.to_string()], "more": 1 });
    let (status, answer) = market.post("/v1/prices", &body.to_string()).await;
    assert_eq!(status, 200, "{answer}");
    let entries = answer["data"].as_array().unwrap();
    let verified: Vec<_> = entries
        .iter()
        .map(|entry| entry["verified"].as_bool().unwrap())
        .collect();
    assert_eq!(verified, [true, false, true, true]);
    insta::assert_json_snapshot!(entries[1], @r#"
    {
      "as_of": "2026-11-21T12:00:00Z",
      "brand_slug": null,
      "changes": null,
      "code": "product_not_found",
      "currency": null,
      "detail": "no such product",
      "in_stock": null,
      "price_max_minor": null,
      "price_min_minor": null,
      "product_id": "00000000-0000-5000-8000-000000000000",
      "product_uid": null,
      "snapshot_at": null,
      "source": null,
      "title": null,
      "variants": [],
      "variants_complete": false,
      "verified": false
    }
    "#);
    assert_eq!(
        market
            .stores
            .requests(&market.slug(0))
            .unwrap()
            .count_of("/api/2026-04/graphql.json"),
        1
    );
    assert_eq!(answer["tier"], "live");
}

#[tokio::test]
async fn an_empty_batch_is_answered_with_nothing_and_asks_nobody() {
    let market = Market::open(generated(4, 1), Options::default()).await;
    let before = market.stores.requests(&market.slug(0)).unwrap().count();
    let (status, answer) = market.post("/v1/prices", r#"{"idents":[]}"#).await;
    assert_eq!((status.as_u16(), &answer["data"]), (200, &json!([])));
    assert_eq!(market.stores.requests(&market.slug(0)).unwrap().count(), before);
}

#[tokio::test]
async fn one_unknown_product_is_a_404_a_malformed_ident_a_422() {
    let market = Market::open(generated(4, 1), Options::default()).await;
    let (status, answer) = market
        .get("/v1/products/00000000-0000-5000-8000-000000000000/price")
        .await;
    assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("product_not_found")));
    let (status, answer) = market.get("/v1/products/kettle/price").await;
    assert_eq!(
        (status.as_u16(), &answer["detail"][0]["loc"]),
        (422, &json!(["path", "ident"]))
    );
}

#[tokio::test]
async fn without_a_release_nothing_is_ready() {
    let options = Options {
        closed: true,
        ..Options::default()
    };
    let market = Market::open(generated(4, 1), options).await;
    let ident = market.idents(0)[0];
    let (status, answer) = market.get(&format!("/v1/products/{ident}/price")).await;
    assert_eq!((status.as_u16(), &answer["code"]), (503, &json!("not_ready")));
    assert_eq!(market.get("/readyz").await.0, 503);
    assert_eq!(market.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn a_gateway_without_state_keeps_no_carts_and_says_so() {
    let market = Market::open(generated(4, 1), Options::default()).await;
    let (status, answer) = market.post("/v1/cart", r#"{"items":[]}"#).await;
    assert_eq!((status.as_u16(), answer["code"].as_str()), (503, Some("not_ready")));
    let ident = market.idents(0)[0];
    let (status, answer) = market.get(&format!("/v1/products/{ident}/price?quote=true")).await;
    assert_eq!((status.as_u16(), answer["code"].as_str()), (503, Some("not_ready")));
    let (status, answer) = market.get("/.well-known/jwks.json").await;
    assert_eq!((status.as_u16(), answer["code"].as_str()), (503, Some("not_ready")));
}
