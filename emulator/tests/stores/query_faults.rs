//! Tests of faults in GraphQL: those of the JSON views, and those of GraphQL alone.

use std::time::{Duration, Instant};

use emulator::{Fault, FaultRule};
use serde_json::json;

use super::baskets::{create, line, read, shop};
use super::*;

const ASKED: &str =
    "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ProductVariant { id price { amount currencyCode } } } }";

/// Starts a store with 40 products and returns the ids of their first variants.
async fn subject() -> (RunningStores, StoreAddress, Vec<String>) {
    let (running, store) = store(40).await;
    let products = crawl(&store, 250).await;
    let ids = products
        .iter()
        .map(|product| format!("gid://shopify/ProductVariant/{}", product["variants"][0]["id"]));
    let ids = ids.collect();
    (running, store, ids)
}

async fn ask(store: &StoreAddress, ids: &[String]) -> Answer {
    query(store, ASKED, json!({ "ids": ids })).await
}

#[tokio::test]
async fn refusals_of_the_edge_reach_queries_too() {
    let (running, store, ids) = subject().await;
    for (status, retry_after_s) in [
        (430, None),
        (429, Some(60)),
        (429, None),
        (402, None),
        (404, None),
        (503, None),
    ] {
        let rule = FaultRule::from(Fault::Status { status, retry_after_s }).on_path("/api/");
        running.set_faults(&store.slug, [rule]).unwrap();
        let answer = ask(&store, &ids).await;
        let wait = retry_after_s.map_or(String::new(), |seconds: u64| seconds.to_string());
        assert_eq!((answer.status, answer.header("retry-after")), (status, wait.as_str()));
        assert_eq!(get(&store, "/products.json").await.status, 200);
    }
}

#[tokio::test]
async fn the_platform_throttles_and_breaks_with_200() {
    let (running, store, ids) = subject().await;
    let mut told = String::new();
    for fault in [
        Fault::QueryThrottled,
        Fault::QueryErrors { partial: false },
        Fault::QueryErrors { partial: true },
        Fault::PasswordPage,
    ] {
        running.set_fault(&store.slug, fault).unwrap();
        let answer = ask(&store, &ids).await;
        assert_eq!(answer.status, 200);
        told.push_str(&answer.text());
        told.push('\n');
    }
    insta::assert_snapshot!(told, @r#"
{"errors":[{"extensions":{"code":"THROTTLED"},"message":"Throttled"}]}
{"errors":[{"extensions":{"code":"INTERNAL_SERVER_ERROR"},"message":"Internal error. Looks like something went wrong on our end."}]}
{"data":{"nodes":null},"errors":[{"extensions":{"code":"INTERNAL_SERVER_ERROR"},"message":"Internal error. Looks like something went wrong on our end.","path":["nodes"]}],"extensions":{"cost":{"requestedQueryCost":80}}}
{"errors":[{"extensions":{"code":"ONLINE_STORE_LOCKED"},"message":"Online Store channel is locked."}]}
"#);
    running.set_fault(&store.slug, Fault::QueryThrottled).unwrap();
    assert_eq!(get(&store, "/products.json").await.status, 200);
}

#[tokio::test]
async fn a_store_can_lie_about_the_product_and_the_currency() {
    let (running, store, ids) = subject().await;
    let honest = ask(&store, &ids).await.json();
    let path = |answer: &Value, nth: usize, key: &str| answer["data"]["nodes"][nth][key].clone();

    running.set_fault(&store.slug, Fault::OtherProduct).unwrap();
    let lie = ask(&store, &ids).await.json();
    for nth in 0..ids.len() {
        let told = path(&lie, nth, "id");
        assert!(told.is_string() && told != path(&honest, nth, "id"));
    }
    let product = crawl(&store, 250).await.remove(0);
    let script = get(&store, &format!("/products/{}.js", product["handle"].as_str().unwrap()))
        .await
        .json();
    assert!(script["id"].is_u64() && script["id"] != product["id"]);

    let foreign = Fault::OtherCurrency {
        currency: "USD".to_owned(),
        rate_pct: 10,
    };
    running.set_fault(&store.slug, foreign).unwrap();
    let lie = ask(&store, &ids).await.json();
    for nth in 0..ids.len() {
        let amount = |answer: &Value| {
            path(answer, nth, "price")["amount"]
                .as_str()
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        assert_eq!(path(&lie, nth, "price")["currencyCode"], "USD");
        assert!((amount(&lie) - amount(&honest) / 10.0).abs() < 0.011);
    }
    assert_eq!(get(&store, "/meta.json").await.json()["currency"], "USD");
    let page = get(&store, &format!("/products/{}", product["handle"].as_str().unwrap()))
        .await
        .text();
    assert!(page.contains("\"priceCurrency\":\"USD\"") && page.contains("{\"active\":\"USD\""));
    let told = get(&store, &format!("/products/{}.js", product["handle"].as_str().unwrap()))
        .await
        .json();
    assert_eq!(told["id"], product["id"]);

    running.set_fault(&store.slug, Fault::NullNodes { every: 3 }).unwrap();
    let answer = ask(&store, &ids).await.json();
    let nodes = answer["data"]["nodes"].as_array().unwrap();
    assert!(
        nodes
            .iter()
            .zip(1..)
            .all(|(node, nth)| node.is_null() == (nth % 3 == 0))
    );
}

#[tokio::test]
async fn a_query_is_answered_with_what_is_no_json_or_too_much_of_it() {
    let (running, store, ids) = subject().await;
    running.set_fault(&store.slug, Fault::HtmlForJson).unwrap();
    let answer = ask(&store, &ids).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/html; charset=utf-8")
    );

    running.set_fault(&store.slug, Fault::BrokenJson).unwrap();
    assert!(serde_json::from_slice::<Value>(&ask(&store, &ids).await.body).is_err());

    let large = FaultRule::from(Fault::HugeRecord { bytes: 10 << 20 }).on_path(GRAPHQL);
    running.set_faults(&store.slug, [large]).unwrap();
    let answer = ask(&store, &ids).await;
    assert!(answer.body.len() > 10 << 20 && answer.json()["data"]["nodes"].is_array());

    running
        .set_fault(
            &store.slug,
            Fault::GzipBomb {
                decoded_bytes: 64 << 20,
            },
        )
        .unwrap();
    let answer = ask(&store, &ids).await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    assert!(answer.body.len() < 1 << 20);

    running
        .set_fault(&store.slug, Fault::CatalogueClosed { status: 404 })
        .unwrap();
    assert_eq!(ask(&store, &ids).await.status, 200);
    assert_eq!(get(&store, "/products.json").await.status, 404);
}

#[tokio::test]
async fn a_query_can_be_late_or_never_answered() {
    let (running, store, ids) = subject().await;
    running.set_fault(&store.slug, Fault::Slow { delay_ms: 150 }).unwrap();
    let started = Instant::now();
    assert_eq!(ask(&store, &ids).await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(150));

    let send = || {
        client()
            .post(format!("{}{GRAPHQL}", store.base_url))
            .header("content-type", "application/json")
            .body("{\"query\":\"{ shop { name } }\"}")
            .send()
    };
    running.set_fault(&store.slug, Fault::Reset).unwrap();
    assert!(send().await.is_err());
    running
        .set_fault(&store.slug, Fault::Slow { delay_ms: 3_600_000 })
        .unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(200), send()).await.is_err());
    running
        .set_fault(
            &store.slug,
            Fault::Throttle {
                per_second: 2,
                retry_after_s: Some(1),
            },
        )
        .unwrap();
    // All requests are sent concurrently. If a second passes meanwhile, two more requests are accepted.
    let answers = futures::future::join_all((0..40).map(|_| ask(&store, &ids))).await;
    let count = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert!(count(200) >= 2 && count(429) >= 1, "{} and {}", count(200), count(429));
    assert_eq!(count(200) + count(429), 40);
}

/// Adds one more unit to a cart and returns the response as text.
async fn add_one(store: &StoreAddress, made: &Value, variant: u64) -> String {
    let asked = "mutation ($cart: ID!, $lines: [CartLineInput!]!) {
        cartLinesAdd(cartId: $cart, lines: $lines) { cart { totalQuantity } } }";
    let variables = json!({ "cart": made["cart"]["id"], "lines": [line(variant, 1)] });
    let sent = client()
        .post(format!("{}{GRAPHQL}", store.base_url))
        .header("content-type", "application/json")
        .body(json!({ "query": asked, "variables": variables }).to_string())
        .send();
    match sent.await {
        Ok(answer) => match answer.bytes().await.map(|body| serde_json::from_slice::<Value>(&body)) {
            Ok(Ok(json)) => json["data"]["cartLinesAdd"].to_string(),
            _ => "no JSON".to_owned(),
        },
        Err(_) => "no answer".to_owned(),
    }
}

/// Returns the faults at which a change may be carried out.
fn faults() -> Vec<Fault> {
    vec![
        Fault::Status {
            status: 430,
            retry_after_s: None,
        },
        Fault::Challenge,
        Fault::HtmlForJson,
        Fault::PasswordPage,
        Fault::RedirectLoop,
        Fault::Reset,
        Fault::QueryThrottled,
        Fault::QueryErrors { partial: false },
        Fault::QueryErrors { partial: true },
        Fault::AnswerLost { hold_ms: 0 },
        Fault::EdgeFailed { status: 502 },
        Fault::Delayed { status: 504 },
        Fault::Late {
            status: 504,
            requests: 1,
        },
        Fault::Late {
            status: 504,
            requests: 2,
        },
        Fault::Truncated { after_bytes: 20 },
        Fault::BrokenJson,
        Fault::Drip {
            chunk_bytes: 64,
            delay_ms: 1,
        },
        Fault::Slow { delay_ms: 1 },
    ]
}

#[tokio::test]
async fn a_mutation_is_done_where_only_its_answer_goes_wrong() {
    let (running, store, _, variant) = shop().await;
    running.set_stock(&store.slug, variant, 1_000).unwrap();
    let mut told = String::new();
    for fault in faults() {
        let made = create(&store, json!({ "lines": [line(variant, 1)] })).await;
        running.set_fault(&store.slug, fault.clone()).unwrap();
        let answer = add_one(&store, &made, variant).await;
        running.set_fault(&store.slug, None).unwrap();
        let done = read(&store, &made["cart"]["id"]).await["totalQuantity"] == 2;
        told.push_str(&format!(
            "{fault:?}: {answer}, {}\n",
            if done { "done" } else { "not done" }
        ));
        let late = running.catch_up(&store.slug).unwrap();
        // The read above was the only request since the fault.
        let is_by_itself = matches!(fault, Fault::Late { requests: 1, .. });
        let is_late = matches!(fault, Fault::Delayed { .. } | Fault::Late { .. });
        assert_eq!(late, usize::from(is_late && !is_by_itself));
        let now = read(&store, &made["cart"]["id"]).await["totalQuantity"] == 2;
        assert_eq!(now, done || is_late, "{fault:?}: done once, or late");
    }
    insta::assert_snapshot!(told, @r#"
    Status { status: 430, retry_after_s: None }: no JSON, not done
    Challenge: no JSON, not done
    HtmlForJson: no JSON, not done
    PasswordPage: null, not done
    RedirectLoop: no JSON, not done
    Reset: no answer, not done
    QueryThrottled: null, not done
    QueryErrors { partial: false }: null, not done
    QueryErrors { partial: true }: null, done
    AnswerLost { hold_ms: 0 }: no answer, done
    EdgeFailed { status: 502 }: no JSON, done
    Delayed { status: 504 }: no JSON, not done
    Late { status: 504, requests: 1 }: no JSON, not done
    Late { status: 504, requests: 2 }: no JSON, not done
    Truncated { after_bytes: 20 }: no JSON, done
    BrokenJson: no JSON, done
    Drip { chunk_bytes: 64, delay_ms: 1 }: {"cart":{"totalQuantity":2}}, done
    Slow { delay_ms: 1 }: {"cart":{"totalQuantity":2}}, done
    "#);
}

#[tokio::test]
async fn queries_are_counted_like_other_requests() {
    let (running, store, ids) = subject().await;
    for _ in 0..3 {
        ask(&store, &ids).await;
    }
    let requests = running.requests(&store.slug).unwrap();
    assert_eq!(requests.count_of(GRAPHQL), 3);
    assert_eq!(requests.latest.last().unwrap().method, "POST");
}
