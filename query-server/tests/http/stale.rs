//! Tests of a server that starts while the release store is unavailable.

use std::sync::Arc;

use axum::body::Body;
use data_release::{PinnedBy, ReleaseStore};
use data_storage::Storage;
use http::Request;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use query_server::{FollowError, Followed, QueryConfig, QueryServer};

use crate::catalogue::small;
use crate::support::{Market, send};

/// Creates another server over the market's releases and cache, with a storage that can be made to fail.
fn restarted(market: &Market) -> (FaultyStore, QueryServer) {
    let faulty = FaultyStore::new(Arc::clone(market.storage.store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), market.storage.url().clone());
    let store = ReleaseStore::new(storage, kit::SetClock::noon());
    let config = QueryConfig::new("INR".parse().unwrap());
    let cache = market.dir.path().join("cache");
    (faulty, QueryServer::new(store, cache, kit::SetClock::noon(), config))
}

async fn cut_off(faulty: &FaultyStore) {
    use object_store::ObjectStoreExt as _;
    faulty.arm(FaultPlan {
        nth: 1,
        kind: FaultKind::BeforeEffect,
        dead_after: true,
    });
    faulty.delete(&"nothing".into()).await.unwrap_err();
}

async fn ready(server: &QueryServer) -> (u16, serde_json::Value) {
    let request = Request::get("/readyz").body(Body::empty()).unwrap();
    let answered = send(server.router(None), request).await;
    (answered.status.as_u16(), answered.json())
}

#[tokio::test]
async fn a_server_that_is_restarted_while_its_storage_is_away_serves_what_it_served_and_says_so() {
    let market = Market::of(&small()).await;
    let first = market.server.release().unwrap();
    assert_eq!(ready(&market.server).await.1["stale"], false);
    let (faulty, server) = restarted(&market);
    cut_off(&faulty).await;
    assert_eq!(server.refresh().await.unwrap(), Followed::Stale(first));
    let (status, document) = ready(&server).await;
    assert_eq!((status, &document["release"]), (200, &first.to_string().into()));
    assert_eq!((&document["stale"], server.is_stale()), (&true.into(), true));
    let request = Request::get("/v1/stats").body(Body::empty()).unwrap();
    let answered = send(server.router(None), request).await;
    let expected = market.get("/v1/stats").await;
    assert_eq!(
        (answered.status, answered.json()["data"].clone()),
        (expected.status, expected.json()["data"].clone())
    );
    // A failure of a later check is reported as for a server that was already running.
    assert!(matches!(server.refresh().await, Err(FollowError::Fetch { .. })));
    assert!(server.is_stale());
    // The storage works again, and the current release is the same.
    faulty.disarm();
    assert_eq!(server.refresh().await.unwrap(), Followed::Same(first));
    assert!(!server.is_stale());
}

#[tokio::test]
async fn the_storage_is_followed_as_soon_as_it_answers() {
    let market = Market::of(&small()).await;
    let first = market.server.release().unwrap();
    let next = market.publish(&small()[..1].to_vec()).await;
    let (faulty, server) = restarted(&market);
    cut_off(&faulty).await;
    assert_eq!(server.refresh().await.unwrap(), Followed::Stale(first));
    faulty.disarm();
    assert_eq!(server.refresh().await.unwrap(), Followed::Swapped(next.id));
    assert!(!server.is_stale());
    // With working storage, a new server loads the current release and nothing from the cache.
    market.store().rollback(first).await.unwrap();
    let (_faulty, server) = restarted(&market);
    assert_eq!(server.refresh().await.unwrap(), Followed::Swapped(first));
}

#[tokio::test]
async fn a_cache_that_is_not_whole_or_of_another_storage_is_not_served() {
    let market = Market::of(&small()).await;
    let (faulty, server) = restarted(&market);
    cut_off(&faulty).await;
    let files = market.dir.path().join("cache/files");
    let file = std::fs::read_dir(&files).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    let mut turned = whole.clone();
    turned[0] ^= 1;
    for damaged in [turned, whole[1..].to_vec()] {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, damaged).unwrap();
        assert!(matches!(server.refresh().await, Err(FollowError::Fetch { .. })));
        assert_eq!((server.release(), ready(&server).await.0), (None, 503));
    }
    std::fs::write(&file, whole).unwrap();
    let elsewhere = Storage::with_store(Arc::new(faulty), "memory:///elsewhere/".parse().unwrap());
    let store = ReleaseStore::new(elsewhere, kit::SetClock::noon());
    let config = QueryConfig::new("INR".parse().unwrap());
    let other = QueryServer::new(store, market.dir.path().join("cache"), kit::SetClock::noon(), config);
    other.refresh().await.unwrap_err();
    assert_eq!(other.release(), None);
    assert!(matches!(server.refresh().await, Ok(Followed::Stale(_))));
}

#[tokio::test]
async fn a_pin_is_no_other_release() {
    let market = Market::of(&small()).await;
    let release = market.server.release().unwrap();
    let tag = market.get("/v1/stats").await.headers["etag"].clone();
    market.store().pin(release, PinnedBy::Pin).await.unwrap();
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Same(release));
    market.store().unpin().await.unwrap();
    assert_eq!(market.server.refresh().await.unwrap(), Followed::Same(release));
    assert_eq!(market.get("/v1/stats").await.headers["etag"], tag);
}
