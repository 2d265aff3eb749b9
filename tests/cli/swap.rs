use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Haat;

const SWAPS: usize = 20;
const CLIENTS: usize = 3;
const PATHS: [&str; 5] = [
    "/v1/search?q=cotton&limit=40",
    "/v1/search?sort=price_asc&limit=40",
    "/v1/stats",
    "/v1/brands?limit=100",
    "/v1/categories",
];

/// Bodies by release and path. A mixed response from two releases differs from both.
type Bodies = Mutex<BTreeMap<(String, &'static str), String>>;

/// Sends requests until `stop`. Every response must be complete and match its release.
async fn ask(client: &reqwest::Client, base: &str, bodies: &Bodies, stop: &AtomicBool, answers: &AtomicUsize) {
    while !stop.load(Ordering::Relaxed) {
        for path in PATHS {
            let answer = client.get(format!("{base}{path}")).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 200, "{path}");
            let body = answer.text().await.unwrap();
            let document: Value = serde_json::from_str(&body).unwrap();
            let release = document["provenance"]["release"].as_str().unwrap().to_owned();
            let mut bodies = bodies.lock().unwrap();
            // The publication time changes whenever the release becomes current.
            let mut comparable = document;
            if let Some(data) = comparable["data"].as_object_mut() {
                data.remove("release");
            }
            let comparable = comparable.to_string();
            let known = bodies
                .entry((release.clone(), path))
                .or_insert_with(|| comparable.clone());
            assert_eq!(*known, comparable, "{path} of {release} is mixed");
            answers.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn twenty_swaps_under_load_fail_no_request_and_mix_no_answer() {
    let haat = Haat::new().with("HAAT_QUERY_SERVER__POLL_MS", "20");
    let source = ["--products", "300", "--stores", "4", "--seed", "21"];
    let (first, _) = haat.with_stores(&source);
    haat.run(&["crawl", "--release"]).json();
    drop(first);
    let _second = haat.with_stores(&[source.as_slice(), &["--epoch", "1"]].concat());
    haat.run(&["crawl", "--release"]).json();
    let listed = haat.run(&["release", "list"]).json();
    let ids: Vec<String> = listed["releases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|release| release["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 2, "{listed}");

    let (_server, address) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let base = address["address"].as_str().unwrap();
    let (bodies, stop, answers) = (Bodies::default(), AtomicBool::new(false), AtomicUsize::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::new();
        let clients = (0..CLIENTS).map(|_| ask(&client, base, &bodies, &stop, &answers));
        let swaps = async {
            for swap in 0..SWAPS {
                let to = &ids[(swap + 1) % 2];
                let turned = tokio::task::block_in_place(|| haat.run(&["release", "rollback", to]));
                assert_eq!(turned.code, 0, "{turned:?}");
                served(&client, base, to).await;
            }
            stop.store(true, Ordering::Relaxed);
        };
        futures::join!(futures::future::join_all(clients), swaps);
    });
    assert!(answers.load(Ordering::Relaxed) > SWAPS * PATHS.len());
    assert_eq!(
        bodies.lock().unwrap().len(),
        2 * PATHS.len(),
        "both releases answered every path"
    );
}

async fn served(client: &reqwest::Client, base: &str, release: &str) {
    let begun = Instant::now();
    loop {
        let answer = client
            .get(format!("{base}/v1/stats"))
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        if answer["provenance"]["release"] == release {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{release} is not served");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
