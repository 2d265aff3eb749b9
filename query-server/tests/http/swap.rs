use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use object_store::ObjectStoreExt;
use object_store::path::Path;
use query_server::{FollowError, Followed};
use serde_json::Value;

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market};

#[tokio::test]
async fn until_a_release_is_open_requests_are_503_and_the_process_is_healthy() {
    let market = Market::empty();
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Nothing);
    market.server.refresh_checks().await;
    // Without a release no cache folder is created, because the parent folder may not exist.
    assert!(!market.dir.path().join("cache").exists());
    for path in ["/readyz", "/v1/search", "/v1/stats", "/v1/brands/x"] {
        let answered = market.get(path).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (503, &"not_ready".into()),
            "{path}"
        );
        assert_eq!(answered.headers["retry-after"], "1");
    }
    assert_eq!(market.get("/healthz").await.status, 200);
    assert_eq!(market.get("/v1/search?limit=0").await.status, 422);
    let manifest = market.publish(&small()).await;
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Swapped(manifest.id));
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Same(manifest.id));
    assert_eq!(market.get("/readyz").await.json()["release"], manifest.id.to_string());
}

/// Returns a catalogue in which every text and price identifies its release.
fn marked(mark: i64) -> Catalogue {
    let facts = brand("Marked", "INR");
    let products = (1..=6).map(|id| {
        let mut product = product(&facts, id, &format!("Marked Mug {mark}"));
        product.variants[0].price_minor = mark;
        product
    });
    vec![(facts.clone(), products.collect())]
}

/// Returns the price that identifies the release of a response. Fails if two prices are from different releases.
fn mark_of(answer: &Value) -> i64 {
    let cards = answer["data"]
        .as_array()
        .map_or_else(|| std::slice::from_ref(&answer["data"]), Vec::as_slice);
    let marks: Vec<_> = cards
        .iter()
        .map(|card| card["price_min_minor"].as_i64().unwrap())
        .collect();
    assert!(
        marks.iter().all(|mark| *mark == marks[0]),
        "one answer holds products of two releases: {answer}"
    );
    assert!(
        cards
            .iter()
            .all(|card| card["title"] == format!("Marked Mug {}", marks[0]))
    );
    marks[0]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swap_drops_no_request_and_mixes_no_answer() {
    let market = Arc::new(Market::of(&marked(1)).await);
    let first_release = market.server.release().unwrap().to_string();
    let id = market.get("/v1/search?limit=1").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let stop = Arc::new(AtomicBool::new(false));
    let askers: Vec<_> = (0..4)
        .map(|asker| {
            let (market, stop, id) = (Arc::clone(&market), Arc::clone(&stop), id.clone());
            tokio::spawn(async move {
                let mut seen = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let path = if asker % 2 == 0 {
                        "/v1/search?q=marked+mug".to_owned()
                    } else {
                        format!("/v1/products/{id}")
                    };
                    let answered = market.get(&path).await;
                    assert_eq!(answered.status, 200);
                    let answer = answered.json();
                    let release = answer["provenance"]["release"].as_str().unwrap().to_owned();
                    seen.push((mark_of(&answer), release));
                    tokio::task::yield_now().await;
                }
                seen
            })
        })
        .collect();
    let mut releases = vec![first_release];
    for mark in 2..=4 {
        market.publish(&marked(mark)).await;
        market.server.refresh().await.unwrap();
        releases.push(market.server.release().unwrap().to_string());
    }
    stop.store(true, Ordering::Relaxed);
    for asker in askers {
        let seen = asker.await.unwrap();
        assert!(!seen.is_empty());
        assert!(
            seen.windows(2).all(|pair| pair[0].0 <= pair[1].0),
            "an asker sees releases in order"
        );
        for (mark, release) in seen {
            assert_eq!(releases[usize::try_from(mark).unwrap() - 1], release);
        }
    }
    assert_eq!(mark_of(&market.get("/v1/search?q=mug").await.json()), 4);
}

#[tokio::test]
async fn a_damaged_release_is_not_served_and_the_one_before_goes_on() {
    let market = Market::of(&marked(1)).await;
    let before = market.server.release();
    let manifest = market.publish(&marked(2)).await;
    // Truncates every file of the new release in the store.
    for file in manifest.files() {
        let path = Path::from(format!("files/{}", file.sha256));
        let whole = market.storage.store().get(&path).await.unwrap().bytes().await.unwrap();
        market
            .storage
            .store()
            .put(&path, whole.slice(..whole.len() / 2).into())
            .await
            .unwrap();
    }
    let refused = market.server.refresh().await;
    assert!(
        matches!(refused, Err(FollowError::Fetch { release: Some(_), .. })),
        "{refused:?}"
    );
    assert_eq!(market.server.release(), before);
    assert_eq!(mark_of(&market.get("/v1/search").await.json()), 1);
}

#[tokio::test]
async fn an_older_release_is_served_again_after_a_roll_back() {
    let market = Market::of(&marked(1)).await;
    let old_tag = market.get("/v1/stats").await.headers["etag"].clone();
    let first = market.server.release().unwrap();
    market.publish(&marked(2)).await;
    market.server.refresh().await.unwrap();
    assert_ne!(market.get("/v1/stats").await.headers["etag"], old_tag);
    market.store().rollback(first).await.unwrap();
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Swapped(first));
    assert_eq!(mark_of(&market.get("/v1/search").await.json()), 1);
}

#[tokio::test]
async fn following_ends_when_it_is_told_to() {
    let market = Market::of(&marked(1)).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let following = tokio::spawn({
        let (server, stop) = (market.server.clone(), stop.clone());
        async move { server.follow(stop).await }
    });
    stop.cancel();
    following.await.unwrap();
}
