//! Measures the time that carts add to the stores' own time. The results are printed, not asserted.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use state::StateTarget;

use super::mall::{Call, Mall, Server, group, path};

const ROUNDS: usize = 200;
const CARTS: usize = 10_000;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Returns the resident memory of this process in MiB.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or_default();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
    kib / 1_024
}

/// Measures one call to a store without a gateway.
async fn bare(mall: &Mall) -> Duration {
    let (client, store) = (reqwest::Client::new(), &mall.stores.stores()[0]);
    let variant = format!("gid://shopify/ProductVariant/{}", mall.goods(0)[0].1);
    let body = json!({
        "query": storefront::documents::CART_CREATE, "operationName": "CartCreate",
        "variables": { "input": { "lines": [{ "merchandiseId": variant, "quantity": 1 }] } },
    });
    let url = format!("{}/api/2026-04/graphql.json", store.base_url);
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let call = client
            .post(&url)
            .header("content-type", "application/json")
            .body(body.to_string());
        call.send().await.unwrap().bytes().await.unwrap();
        times.push(began.elapsed());
    }
    median(times)
}

/// Measures adding an item to a cart at the store without a gateway.
async fn bare_add(mall: &Mall) -> Duration {
    let (client, store) = (reqwest::Client::new(), &mall.stores.stores()[0]);
    let url = format!("{}/api/2026-04/graphql.json", store.base_url);
    let send = async |query: &str, operation: &str, variables: Value| -> Value {
        let body = json!({ "query": query, "operationName": operation, "variables": variables });
        let call = client.post(&url).header("content-type", "application/json");
        let answer = call.body(body.to_string()).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    };
    let variant = format!("gid://shopify/ProductVariant/{}", mall.goods(0)[0].1);
    let lines = json!([{ "merchandiseId": variant, "quantity": 1 }]);
    let input = json!({ "input": { "lines": lines } });
    let made = send(storefront::documents::CART_CREATE, "CartCreate", input).await;
    let id = &made["data"]["cartCreate"]["cart"]["id"];
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let variables = json!({ "cartId": id, "lines": lines });
        send(storefront::documents::CART_LINES_ADD, "CartLinesAdd", variables).await;
        times.push(began.elapsed());
    }
    median(times)
}

async fn timed(server: &Server, calls: impl Iterator<Item = Call>) -> Duration {
    let mut times = Vec::with_capacity(ROUNDS);
    for call in calls {
        let began = Instant::now();
        server.data(call).await;
        times.push(began.elapsed());
    }
    median(times)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures; run it by itself with --nocapture, with the address of an empty database in MEASURE_POSTGRES for PostgreSQL"]
async fn what_an_operation_costs_over_the_stores_own_time() {
    let mut mall = Mall::open(1).await;
    if let Ok(url) = std::env::var("MEASURE_POSTGRES") {
        mall.target = StateTarget::postgres(&url).unwrap();
    }
    let server = mall.server().await;
    let create = || Call::post("/v1/cart", json!({ "items": [mall.item(0, 0, 1)] }));
    let cart = server.data(create()).await;
    println!("a store's own cartCreate: {:?}", bare(&mall).await);
    println!("create_cart: {:?}", timed(&server, (0..ROUNDS).map(|_| create())).await);
    let keyed = (0..ROUNDS).map(|nth| create().once(format!("k{nth}")));
    println!("create_cart with a key: {:?}", timed(&server, keyed).await);
    println!(
        "get_cart: {:?}",
        timed(&server, (0..ROUNDS).map(|_| Call::get(path(&cart, "")))).await
    );
    let line = group(&cart, &mall.brand(0))["lines"][0]["line_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let set = |nth: usize| {
        let at = path(&cart, &format!("/lines/{line}"));
        Call::new(Method::PATCH, at).with(json!({ "qty": 1 + nth % 2 }))
    };
    println!("update_cart_line: {:?}", timed(&server, (0..ROUNDS).map(set)).await);
    let add = |nth: usize| Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, nth % 2, 1)] }));
    println!("add_cart_lines: {:?}", timed(&server, (0..ROUNDS).map(add)).await);
    println!("the store's own cartLinesAdd: {:?}", bare_add(&mall).await);
    let discount = |nth: usize| {
        if nth.is_multiple_of(2) {
            Call::post(path(&cart, "/discount"), json!({ "code": "X" }))
        } else {
            Call::new(Method::DELETE, path(&cart, "/discount/X"))
        }
    };
    println!(
        "add and remove_cart_discount: {:?}",
        timed(&server, (0..ROUNDS).map(discount)).await
    );
    let before = resident_mib();
    let began = Instant::now();
    for _ in 0..CARTS {
        server.data(create()).await;
    }
    let took = began.elapsed();
    println!(
        "{CARTS} carts in {took:?}; memory {before} MiB before, {} MiB after, the emulated store's included",
        resident_mib()
    );
}
