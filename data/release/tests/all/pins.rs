use std::time::Duration;

use data_release::{CheckOptions, Current, GcOptions, PinnedBy, Publication, Published, ReleaseError};

use crate::bench::{Bench, stores};

fn now_is(published: Published) -> Current {
    match published {
        Published::Published(current) => current,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_is_published_over_a_pin_until_it_is_taken_off() {
    let bench = Bench::memory();
    let releases = bench.releases();
    assert!(matches!(releases.unpin().await, Err(ReleaseError::NoRelease)));
    let first = bench.build(None, &stores(1));
    let published = now_is(bench.publish(&first).await.unwrap());
    bench.clock.advance_ms(1_000);
    let pinned = now_is(releases.pin(first.id, PinnedBy::Pin).await.unwrap());
    assert_eq!(pinned.pinned.unwrap().by, PinnedBy::Pin);
    assert_eq!(
        (pinned.id, pinned.published_at),
        (published.id, published.published_at),
        "it was current before"
    );
    assert!(matches!(
        releases.pin(first.id, PinnedBy::Rollback).await.unwrap(),
        Published::Unchanged(current) if current == pinned
    ));

    let second = bench.build(Some(&first), &stores(2));
    assert!(matches!(bench.publish(&second).await.unwrap(), Published::Pinned(current) if current == pinned));
    assert!(matches!(bench.publish(&first).await.unwrap(), Published::Unchanged(_)));
    assert_eq!(releases.current().await.unwrap(), Some(pinned));
    assert_eq!(releases.list().await.unwrap()[0].pinned, pinned.pinned);

    let free = now_is(releases.unpin().await.unwrap());
    assert_eq!((free.pinned, free.published_at), (None, published.published_at));
    assert!(matches!(releases.unpin().await.unwrap(), Published::Unchanged(_)));
    assert!(matches!(bench.publish(&second).await.unwrap(), Published::Published(_)));
}

#[tokio::test]
async fn a_publication_that_is_forced_ends_the_pin() {
    let bench = Bench::memory();
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    let pinned = now_is(bench.releases().pin(first.id, PinnedBy::Pin).await.unwrap());
    let second = bench.build(Some(&first), &stores(2));
    let checks = CheckOptions {
        despite_pin: true,
        ..CheckOptions::default()
    };
    let publication = Publication {
        manifest: &second,
        files: &bench.files(),
        cache: &bench.cache(),
        expected: Some(pinned.seq),
        checks: &checks,
    };
    let current = now_is(bench.releases().publish(publication).await.unwrap());
    assert_eq!((current.id, current.pinned), (second.id, None));
}

#[tokio::test]
async fn a_pin_that_comes_while_a_release_is_built_wins() {
    let bench = Bench::memory();
    let first = bench.build(None, &stores(1));
    let before = now_is(bench.publish(&first).await.unwrap());
    let second = bench.build(Some(&first), &stores(2));
    let pinned = now_is(bench.releases().pin(first.id, PinnedBy::Pin).await.unwrap());
    let published = bench.publish_after(&second, Some(before.seq), &bench.cache()).await;
    assert!(matches!(published.unwrap(), Published::Lost(Some(current)) if current == pinned));
}

#[tokio::test]
async fn a_roll_back_keeps_a_pin_and_can_set_one() {
    let bench = Bench::memory();
    let releases = bench.releases();
    let mut manifests = vec![bench.build(None, &stores(1))];
    bench.publish(&manifests[0]).await.unwrap();
    for version in 2..=3 {
        let next = bench.build(manifests.last(), &stores(version));
        bench.publish(&next).await.unwrap();
        manifests.push(next);
    }
    let set = now_is(releases.pin(manifests[1].id, PinnedBy::Rollback).await.unwrap());
    assert_eq!(set.pinned.unwrap().by, PinnedBy::Rollback);
    bench.clock.advance_ms(1_000);
    let kept = now_is(releases.rollback(manifests[0].id).await.unwrap());
    assert_eq!(kept.pinned, set.pinned, "since when and by what stays");
    assert!(matches!(
        releases.rollback(manifests[0].id).await.unwrap(),
        Published::Unchanged(_)
    ));
    assert_eq!(
        releases.rolled_back().await.unwrap().map(|back| back.release),
        Some(manifests[2].id)
    );

    bench.clock.advance_ms(7_200_000);
    let options = GcOptions {
        keep_last: 1,
        min_age: Duration::from_secs(3600),
        ..GcOptions::default()
    };
    let removed = releases.collect(&options).await.unwrap();
    assert_eq!(removed.releases.len(), 2);
    let cache = tempfile::tempdir().unwrap();
    let current = releases.current().await.unwrap().unwrap();
    assert_eq!(current.id, manifests[0].id);
    releases.fetch(&manifests[0], cache.path()).await.unwrap();
}

#[tokio::test]
async fn a_release_that_comes_back_with_a_build_was_not_rolled_back() {
    let bench = Bench::memory();
    let releases = bench.releases();
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    assert_eq!(releases.rolled_back().await.unwrap(), None);
    bench.clock.advance_ms(1_000);
    let mut second = bench.build(Some(&first), &stores(2));
    second.built_at = second.built_at.plus_millis(1_000);
    bench.publish(&second).await.unwrap();
    // The files of the first release are still in the store.
    bench.publish(&first).await.unwrap();
    assert_eq!(releases.rolled_back().await.unwrap(), None);
    assert_eq!(releases.listing().await.unwrap().back, Some(second.id));
    releases.rollback(second.id).await.unwrap();
    let back = releases.rolled_back().await.unwrap().unwrap();
    assert_eq!(back.release, first.id);
    releases.pin(second.id, PinnedBy::Pin).await.unwrap();
    releases.unpin().await.unwrap();
    assert_eq!(
        releases.rolled_back().await.unwrap(),
        Some(back),
        "a pin changes nothing of that"
    );
}
