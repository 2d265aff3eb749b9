//! Tests of emulated stores as clients use them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "what tests share fails and speaks as tests do"
)]

mod addressing;
mod ajax;
mod baskets;
mod change;
mod client;
mod customers;
mod deliveries;
mod discounts;
mod endpoints;
mod faults;
mod on_demand;
mod platform_schema;
mod prices;
mod queries;
mod query_faults;
mod recorded;
mod recorded_steps;
mod replay;
mod replay_carts;

use emulator::{Emulator, EmulatorConfig, RunningStores, Source, StoreAddress};
use reqwest::header::HeaderMap;
use serde_json::Value;

async fn market(products: u64, stores: u32) -> RunningStores {
    Emulator::start(EmulatorConfig::new(Source::Generated {
        products,
        stores,
        seed: 42,
    }))
    .await
    .unwrap()
}

async fn store(products: u64) -> (RunningStores, StoreAddress) {
    let running = market(products, 1).await;
    let store = running.stores().remove(0);
    (running, store)
}

/// Returns a client that follows no redirects and by default requests no content coding.
fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_gzip()
        .no_brotli()
        .no_proxy()
        .build()
        .unwrap()
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

async fn get_with(store: &StoreAddress, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = client().get(format!("{}{path}", store.base_url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer {
        status,
        headers,
        body: response.bytes().await.unwrap().to_vec(),
    }
}

async fn post(store: &StoreAddress, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut request = client()
        .post(format!("{}{path}", store.base_url))
        .header("content-type", "application/json")
        .body(body.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer {
        status,
        headers,
        body: response.bytes().await.unwrap().to_vec(),
    }
}

/// URL path of GraphQL queries.
const GRAPHQL: &str = "/api/2026-04/graphql.json";

/// Sends a GraphQL query without a token and returns the response.
async fn query(store: &StoreAddress, query: &str, variables: Value) -> Answer {
    post(
        store,
        GRAPHQL,
        &[],
        &serde_json::json!({ "query": query, "variables": variables }),
    )
    .await
}

async fn get(store: &StoreAddress, path: &str) -> Answer {
    get_with(store, path, &[]).await
}

/// Reads every product of a store page by page, like a crawler.
async fn crawl(store: &StoreAddress, limit: usize) -> Vec<Value> {
    let mut products = Vec::new();
    for page in 1.. {
        let answer = get(store, &format!("/products.json?limit={limit}&page={page}")).await;
        let listed = answer.json()["products"].as_array().unwrap().clone();
        if listed.is_empty() {
            break;
        }
        products.extend(listed);
    }
    products
}
