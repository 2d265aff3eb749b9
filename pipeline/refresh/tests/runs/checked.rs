//! Tests that the last check of each store is recorded even if the lake does not change.

use data_checks::{Check, CheckOutcome, Checks, RunEnd, load};
use pipeline_crawl::Registry;
use pipeline_refresh::RunOptions;

use crate::support::{Fault, Rig, Shop, slug};

fn of<'a>(checks: &'a Checks, name: &str) -> &'a Check {
    checks.of(&format!("{name}.localhost").parse().unwrap()).unwrap()
}

#[tokio::test]
async fn an_unchanged_store_was_asked_although_the_lake_has_no_commit() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    let first = rig.run().await;
    let before = load(&rig.storage).await.unwrap();
    let versions = rig.versions().await;
    rig.later(3_600_000);
    let second = rig.run().await;
    let after = load(&rig.storage).await.unwrap();
    assert_eq!(rig.versions().await, versions);
    let (one, other) = (of(&before, "tea"), of(&after, "tea"));
    assert_eq!((one.outcome, &one.run), (CheckOutcome::Changed, &first.run));
    assert_eq!((other.outcome, &other.run), (CheckOutcome::Unchanged, &second.run));
    assert!(other.checked_at.millis_since(one.checked_at) >= 3_600_000);
    assert_eq!(other.good_at, Some(other.checked_at));
    let last = after.last_run.unwrap();
    assert_eq!((last.end, last.ended_at), (RunEnd::Finished, second.ended_at));
}

#[tokio::test]
async fn a_store_that_fails_or_is_held_back_keeps_when_it_was_last_good() {
    let rig = Rig::with([("mate", Shop::of(1..=40)), ("tea", Shop::of(1..=9))]).await;
    rig.run().await;
    let good = load(&rig.storage).await.unwrap();
    rig.street.change("mate", |shop| *shop = Shop::of(1..=4));
    rig.street
        .fault("tea", "products.json", Fault::Answer(500, "no".into()));
    rig.run().await;
    rig.run_with(&RunOptions {
        only: Some(vec![slug("tea")]),
        ..RunOptions::default()
    })
    .await
    .unwrap();
    let bad = load(&rig.storage).await.unwrap();
    let (mate, tea) = (of(&bad, "mate"), of(&bad, "tea"));
    assert_eq!((mate.outcome, mate.bad_in_row), (CheckOutcome::HeldBack, 1));
    assert_eq!(mate.detail.as_deref(), Some("4 products, compared with 40 before"));
    assert_eq!((tea.outcome, tea.bad_in_row), (CheckOutcome::Failed, 2));
    assert!(tea.code.is_some() && tea.detail.is_some());
    assert_eq!(tea.good_at, Some(of(&good, "tea").checked_at));
}

#[tokio::test]
async fn a_run_that_only_looks_and_one_whose_turn_never_came_say_nothing() {
    let rig = Rig::with([("tea", Shop::of(1..=9))]).await;
    let dry = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    rig.run_with(&dry).await.unwrap();
    assert_eq!(load(&rig.storage).await.unwrap(), Checks::default());
    rig.cancel.cancel();
    rig.run().await;
    let checks = load(&rig.storage).await.unwrap();
    assert!(checks.brands.is_empty());
    assert_eq!(checks.last_run.unwrap().end, RunEnd::Interrupted);
}

#[tokio::test]
async fn a_brand_that_was_removed_is_forgotten_and_one_that_another_run_brought_is_kept() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    rig.run().await;
    let mut registry = Registry::load(&rig.storage).await.unwrap();
    registry.remove(&rig.storage, &slug("mate"), rig.now()).await.unwrap();
    rig.street.open("rum", Shop::of(1..=2));
    rig.register("rum").await;
    rig.run_with(&RunOptions {
        only: Some(vec![slug("rum")]),
        ..RunOptions::default()
    })
    .await
    .unwrap();
    let checks = load(&rig.storage).await.unwrap();
    let slugs: Vec<_> = checks.brands.values().map(|check| check.slug.to_string()).collect();
    assert_eq!(slugs, ["rum", "tea"]);
}
