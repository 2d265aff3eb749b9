use pipeline_refresh::{HeldError, Outcome, confirm, held_back};

use crate::support::{Rig, Shop, outcomes, product, slug};

fn shrink(rig: &Rig, ids: std::ops::RangeInclusive<u64>) {
    rig.street
        .change("tea", |shop| shop.list(ids.map(|id| product(id, "499.00"))));
}

#[tokio::test]
async fn a_collapsed_catalogue_is_held_back_until_a_second_crawl_finds_the_same() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    shrink(&rig, 1..=8);
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate unchanged", "tea held_back"]);
    assert_eq!(
        report.stores[1].outcome,
        Outcome::HeldBack {
            products_before: 30,
            products_found: 8
        }
    );
    assert_eq!(
        (report.commits, rig.ids("tea").await.len(), report.stores[1].products),
        (0, 30, 30)
    );
    let held = held_back(&rig.storage).await.unwrap();
    assert_eq!((held.len(), held[0].products_found, held[0].confirmed), (1, 8, false));

    assert_eq!(outcomes(&rig.run().await), ["mate unchanged", "tea changed"]);
    assert_eq!(rig.ids("tea").await.len(), 8);
    assert!(held_back(&rig.storage).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_emptied_catalogue_is_never_believed_at_once_and_one_that_keeps_falling_is_held_back_anew() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    shrink(&rig, 1..=12);
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    rig.street.change("tea", |shop| shop.list([]));
    for _ in 0..3 {
        assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
        assert_eq!(rig.ids("tea").await.len(), 30, "however often it is seen empty");
    }
    confirm(&rig.storage, &slug("tea")).await.unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());
}

#[tokio::test]
async fn a_store_that_lists_nothing_twice_and_says_that_it_has_nothing_is_believed() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list([]);
        shop.states.1 = Some(0);
    });
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());
}

#[tokio::test]
async fn records_that_cannot_be_understood_do_not_empty_a_brand_by_coming_twice() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list((1..=30).map(|id| product(id, if id <= 8 { "499.00" } else { "on request" })));
    });
    for _ in 0..3 {
        assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    }
    assert_eq!(rig.ids("tea").await.len(), 30);
    assert_eq!(held_back(&rig.storage).await.unwrap()[0].quarantined, 22);
    confirm(&rig.storage, &slug("tea")).await.unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}

#[tokio::test]
async fn a_catalogue_that_comes_back_was_never_gone() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    let versions = rig.versions().await;
    shrink(&rig, 1..=3);
    rig.run().await;
    shrink(&rig, 1..=30);
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert!(held_back(&rig.storage).await.unwrap().is_empty());
    assert_eq!(rig.versions().await, versions);
    // The collapse that was forgotten confirms nothing.
    shrink(&rig, 1..=3);
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
}

#[tokio::test]
async fn the_operator_confirms_what_was_found() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    assert!(matches!(
        confirm(&rig.storage, &slug("tea")).await,
        Err(HeldError::Nothing(_))
    ));
    shrink(&rig, 1..=8);
    rig.run().await;
    assert!(confirm(&rig.storage, &slug("tea")).await.unwrap().confirmed);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}
