//! Tests of `POST /v1/sql` as clients use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::{
    Allowance, CallerId, Credential, EdgeConfig, EdgeRouter, Guard, Identify, KnownCaller, NotTaken, OriginPolicy,
    Prompt, Via,
};
use axum::body::Body;
use axum::extract::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sql::{AllowedKeys, Door, SqlConfig};

use crate::market::engine;

pub(crate) async fn server(allowed: Option<&str>) -> EdgeRouter {
    guarded(allowed, Guard::default()).await
}

async fn guarded(allowed: Option<&str>, guard: Guard) -> EdgeRouter {
    let config = SqlConfig {
        timeout_ms: 120_000,
        ..SqlConfig::default()
    };
    let engine = engine(&config);
    let guard = Arc::new(guard);
    let door = Door {
        engine,
        allowed: allowed.map(|keys| Arc::new(keys.parse::<AllowedKeys>().unwrap())),
        guard: Arc::clone(&guard),
        timeout_ms: 120_000,
        origin_policy: Some(OriginPolicy::new("", &[], true)),
    };
    let config = EdgeConfig {
        guard,
        timeout_ms: 120_000,
        ..EdgeConfig::default()
    };
    sql::open_router(door).edge(config)
}

async fn asked(server: &EdgeRouter, accept: &str, body: &Value) -> (u16, String, Vec<u8>) {
    let request = Request::post("/v1/sql")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", accept)
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = server.answer(request).await;
    let status = response.status().as_u16();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, kind, bytes.to_vec())
}

pub(crate) async fn told(server: &EdgeRouter, sql: &str) -> String {
    let (status, _, body) = asked(server, "*/*", &json!({ "sql": sql })).await;
    let mut document: Value = serde_json::from_slice(&body).unwrap();
    if let Some(members) = document.as_object_mut() {
        members.remove("request_id");
    }
    format!("{status} {document}")
}

const CHEAPEST: &str = "select product_id, title, price_minor from products order by price_minor, product_id limit 2";

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_json_csv_or_an_arrow_stream() {
    let server = server(None).await;
    insta::assert_snapshot!(told(&server, CHEAPEST).await, @r#"200 {"columns":[{"comment":"Names the product.","name":"product_id","nullable":false,"type":"Int64"},{"comment":"What the store calls it.","name":"title","nullable":false,"type":"Utf8"},{"comment":"Price in minor units.","name":"price_minor","nullable":false,"type":"Int64"}],"data":[{"price_minor":0,"product_id":0,"title":"linen shirt aaaaaaaaaaaaaaaaaaaaaaaa 0"},{"price_minor":0,"product_id":997,"title":"linen shirt aaaaaaaaaaaaaaaaaaaaaaaa 95243"}],"provenance":{"engine":"sql","source":"r1"},"tier":"graph"}"#);
    let (status, kind, body) = asked(&server, "text/csv", &json!({ "sql": CHEAPEST })).await;
    assert_eq!((status, kind.as_str()), (200, "text/csv; charset=utf-8"));
    insta::assert_snapshot!(String::from_utf8(body).unwrap(), @r"
    product_id,title,price_minor
    0,linen shirt aaaaaaaaaaaaaaaaaaaaaaaa 0,0
    997,linen shirt aaaaaaaaaaaaaaaaaaaaaaaa 95243,0
    ");
    let accept = "application/vnd.apache.arrow.stream";
    let (status, kind, body) = asked(&server, accept, &json!({ "sql": "select * from products" })).await;
    assert_eq!((status, kind.as_str()), (200, accept));
    let batches = datafusion::arrow::ipc::reader::StreamReader::try_new(body.as_slice(), None).unwrap();
    let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_names_this_machine_its_own_way_reads_nothing() {
    let server = server(None).await;
    for (host, origin, status) in [
        ("localhost:8088", None, 200),
        ("127.0.0.1:8088", Some("http://localhost:3000"), 200),
        ("rebound.evil.example", None, 403),
        ("rebound.evil.example", Some("http://rebound.evil.example"), 403),
        ("localhost:8088", Some("https://evil.example"), 403),
    ] {
        let mut request = Request::post("/v1/sql")
            .header("host", host)
            .header("content-type", "application/json");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let request = request
            .body(Body::from(json!({ "sql": "select 1" }).to_string()))
            .unwrap();
        let told = server.answer(request).await;
        assert_eq!(told.status().as_u16(), status, "{host} {origin:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_run_is_a_problem_that_says_why() {
    let server = server(None).await;
    insta::assert_snapshot!(told(&server, "drop table products").await, @r#"422 {"code":"validation","detail":[{"loc":["body","sql"],"msg":"statements may only read data: DROP is refused","type":"validation"}],"reason":"refused"}"#);
    insta::assert_snapshot!(told(&server, "select * from product").await, @r#"422 {"code":"validation","detail":[{"loc":["body","sql"],"msg":"table 'product' not found; there are products","type":"validation"}],"reason":"invalid"}"#);
    insta::assert_snapshot!(told(&server, "select 1 a, 2 a").await, @r#"422 {"code":"validation","detail":[{"loc":["body","sql"],"msg":"Projections require unique expression names but the expression \"Int64(1) AS a\" at position 0 and \"Int64(2) AS a\" at position 1 have the same name. Consider aliasing (\"AS\") one of them.","type":"validation"}],"reason":"invalid"}"#);
    insta::assert_snapshot!(told(&server, "select cast(title as int) from products").await, @r#"422 {"code":"validation","detail":[{"loc":["body","sql"],"msg":"Arrow error: Cast error: Cannot cast string 'linen shirt aaaaaaaaaaaaaaaaaaaaaaaa 0' to value of Int32 type","type":"validation"}],"reason":"invalid"}"#);
    insta::assert_snapshot!(told(&server, "").await, @r#"422 {"code":"validation","detail":[{"ctx":{"min_length":1},"input":"","loc":["body","sql"],"msg":"String should have at least 1 character","type":"string_too_short"}]}"#);
    for moment in [json!("2026-01-01T00:00:00Z"), json!("3"), json!(3)] {
        let past = json!({ "sql": "select 1", "as_of": moment });
        let (status, _, body) = asked(&server, "*/*", &past).await;
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &problem["reason"]), (422, &json!("as_of")), "{moment}");
    }
    for (misspelt, kind) in [
        (json!({ "sql": "select 1", "as_off": 3 }), "extra_forbidden"),
        (json!({ "sql": "select 1", "as_of": -3 }), "string_type"),
    ] {
        let (status, _, body) = asked(&server, "*/*", &misspelt).await;
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (status, &problem["detail"][0]["type"]),
            (422, &json!(kind)),
            "{misspelt}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_of_columns_are_described_and_can_be_selected() {
    let server = server(None).await;
    insta::assert_snapshot!(told(&server, "describe products").await, @r#"200 {"columns":[{"comment":null,"name":"column_name","nullable":false,"type":"Utf8"},{"comment":null,"name":"data_type","nullable":false,"type":"Utf8"},{"comment":null,"name":"is_nullable","nullable":false,"type":"Utf8"},{"comment":null,"name":"comment","nullable":true,"type":"Utf8"}],"data":[{"column_name":"product_id","comment":"Names the product.","data_type":"Int64","is_nullable":"NO"},{"column_name":"title","comment":"What the store calls it.","data_type":"Utf8","is_nullable":"NO"},{"column_name":"price_minor","comment":"Price in minor units.","data_type":"Int64","is_nullable":"NO"}],"provenance":{"engine":"sql","source":"r1"},"tier":"graph"}"#);
    insta::assert_snapshot!(
        told(&server, "select table_name, comment from haat.columns where column_name = 'title'").await, @r#"200 {"columns":[{"comment":null,"name":"table_name","nullable":false,"type":"Utf8"},{"comment":null,"name":"comment","nullable":true,"type":"Utf8"}],"data":[{"comment":"What the store calls it.","table_name":"products"}],"provenance":{"engine":"sql","source":"r1"},"tier":"graph"}"#);
    insta::assert_snapshot!(
        told(&server, "select count(*) n from information_schema.columns where table_name = 'products'").await, @r#"200 {"columns":[{"comment":null,"name":"n","nullable":false,"type":"Int64"}],"data":[{"n":3}],"provenance":{"engine":"sql","source":"r1"},"tier":"graph"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_keys_are_wanted_nobody_comes_in_without_one() {
    let server = server(Some("granted")).await;
    insta::assert_snapshot!(told(&server, "select 1").await, @r#"401 {"code":"missing_credentials","detail":"statements need a key that the operator has allowed: send it in X-Service-Key or as a bearer token","reason":"anonymous","status":401,"title":"A key or a session is needed","type":"urn:haat:problem:missing_credentials"}"#);
}

/// Identity check that accepts any key until it has checked it `revoked_after` times.
#[derive(Debug)]
struct RevokedKey {
    asked: AtomicUsize,
    revoked_after: usize,
}

impl Identify for RevokedKey {
    fn identify(&self, _credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= self.revoked_after {
            return Prompt::Now(Err(NotTaken::Invalid));
        }
        Prompt::Now(Ok(Arc::new(KnownCaller {
            id: CallerId::key("key_a"),
            via: Via::Key {
                id: "key_a".into(),
                plan: "granted",
            },
            allowance: Arc::new(Allowance::unlimited()),
        })))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_soon_after_its_key_is_revoked() {
    let endless = "with recursive n as (select 1 i union all select i + 1 from n) select count(*) from n";
    // The key is checked at the edge and when the statement starts. The third check, a second later, finds it revoked.
    let identify = Arc::new(RevokedKey {
        asked: AtomicUsize::new(0),
        revoked_after: 2,
    });
    let guard = Guard {
        identify: Arc::clone(&identify) as Arc<dyn Identify>,
        ..Guard::default()
    };
    let server = guarded(Some("granted"), guard).await;
    let request = Request::post("/v1/sql")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("authorization", "Bearer haat_live_any")
        .body(Body::from(json!({ "sql": endless }).to_string()))
        .unwrap();
    let begun = std::time::Instant::now();
    let response = server.answer(request).await;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let problem: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((status, &problem["reason"]), (403, &json!("revoked")), "{problem}");
    // The statement must end long before its own time limit.
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(identify.asked.load(Ordering::Relaxed), 3);
}
