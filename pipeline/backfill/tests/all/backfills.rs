use std::collections::BTreeSet;

use data_lake::{AsOf, TableName};
use pipeline_backfill::{BackfillOptions, BackfillState, Range, SkipReason, StoreOutcome, VariantMove};

use crate::support::{Rig, all, objects};

/// With so many products, changing a few of them is not a collapse.
fn teas() -> Vec<(u64, &'static str)> {
    (1..=12).map(|id| (id, "499.00")).collect()
}

/// Creates a lake whose only brand was parsed wrongly: one wrong price, one extra product, and one missing product.
async fn mistaken() -> Rig {
    let rig = Rig::with(&[("tea", teas())]).await;
    rig.crawl().await;
    rig.mistake("tea", |products| {
        products[0].variants[0].price_minor = 4_990;
        products[1].variants[0].available = false;
        let mut extra = products.remove(11);
        extra.key.platform_id = 99;
        products.push(extra);
    })
    .await;
    rig
}

#[tokio::test]
async fn pages_that_say_what_the_lake_has_change_nothing() {
    let rig = Rig::with(&[("mate", teas()), ("tea", teas())]).await;
    rig.crawl().await;
    let before = rig.lake().await.snapshot().await.unwrap().tick();
    let report = rig.backfill(&all()).await.unwrap();
    assert_eq!((report.totals.unchanged, report.commits), (2, 0));
    assert_eq!((report.totals.difference.same, report.estimate.products), (24, 24));
    assert!(report.is_whole() && report.estimate.minutes.is_some());
    assert_eq!(rig.lake().await.snapshot().await.unwrap().tick(), before);
}

#[tokio::test]
async fn the_present_is_what_the_pages_say_the_history_is_as_it_was_and_a_restore_undoes_it() {
    let rig = mistaken().await;
    let (before, observed) = (rig.products("tea").await, rig.history("tea").await);
    let report = rig.backfill(&all()).await.unwrap();
    let difference = &report.totals.difference;
    assert_eq!(
        (difference.added, difference.changed, difference.gone, difference.same),
        (1, 2, 1, 9)
    );
    assert_eq!(
        (difference.prices_moved, difference.into_stock, difference.out_of_stock),
        (1, 1, 0)
    );
    let moved = VariantMove {
        title: "Tea 1".to_owned(),
        variant: 10,
        before_minor: 4_990,
        now_minor: 49_900,
        currency: "INR".parse().unwrap(),
    };
    assert_eq!(difference.moves, [moved]);
    let prices: Vec<_> = (1..=12).map(|id| (id, 49_900)).collect();
    assert_eq!(rig.prices("tea").await, prices);
    assert_eq!(rig.history("tea").await, observed);
    // The next crawl does not need to read everything.
    assert_eq!(rig.crawl().await.totals.unchanged, 1);

    let tables: BTreeSet<TableName> = TableName::CRAWLED.into_iter().collect();
    let as_of = AsOf::Timestamp(report.undo_as_of.unwrap());
    rig.lake().await.restore(&tables, &as_of, false).await.unwrap();
    assert_eq!(rig.products("tea").await, before);
    assert_eq!(rig.history("tea").await, observed);
}

#[tokio::test]
async fn a_dry_run_tells_the_same_and_writes_nothing() {
    let rig = mistaken().await;
    let before = objects(&rig.storage).await;
    let dry = BackfillOptions { dry_run: true, ..all() };
    let told = rig.backfill(&dry).await.unwrap();
    assert!(objects(&rig.storage).await == before);
    let done = rig.backfill(&all()).await.unwrap();
    assert_eq!((told.totals, told.stores), (done.totals, done.stores));
}

#[tokio::test]
async fn an_older_landing_is_taken_on_demand_alone_and_leaves_no_trace_in_the_history() {
    let rig = Rig::with(&[("tea", teas())]).await;
    rig.crawl().await;
    let first = rig.clock_now();
    rig.clock.advance_ms(5_000);
    let mut fewer = teas();
    fewer.remove(0);
    fewer[0].1 = "599.00";
    rig.list("tea", fewer);
    rig.crawl().await;
    let observed = rig.history("tea").await;
    let then = BackfillOptions {
        range: Range {
            from: None,
            until: Some(first.plus_millis(1)),
        },
        ..all()
    };
    let refused = rig.backfill(&then).await.unwrap();
    assert!(matches!(
        refused.stores[0].outcome,
        StoreOutcome::Left(SkipReason::Older { .. })
    ));
    assert_eq!(
        (refused.totals.left, refused.commits, refused.is_whole()),
        (1, 0, false)
    );
    assert_eq!(rig.prices("tea").await.len(), 11);

    let asked = BackfillOptions { older: true, ..then };
    let report = rig.backfill(&asked).await.unwrap();
    assert_eq!(
        (report.totals.difference.added, report.totals.difference.prices_moved),
        (1, 1)
    );
    assert_eq!(rig.prices("tea").await.len(), 12);
    assert_eq!(rig.history("tea").await, observed);
    // The store has not changed, but the lake has, so that the next crawl restores the current state.
    assert_eq!(rig.crawl().await.totals.changed, 1);
    assert_eq!(rig.prices("tea").await[0], (2, 59_900));
}

#[tokio::test]
async fn what_a_crawl_would_hold_back_is_left_until_the_operator_accepts_it() {
    let rig = Rig::with(&[("tea", teas())]).await;
    rig.crawl().await;
    rig.mistake("tea", |products| {
        let more = (101..=140).map(|id| {
            let mut product = products[0].clone();
            product.key.platform_id = id;
            product
        });
        let more: Vec<_> = more.collect();
        products.extend(more);
    })
    .await;
    let report = rig.backfill(&all()).await.unwrap();
    assert_eq!((report.totals.doubtful, report.commits), (1, 0));
    let accepting = BackfillOptions {
        accept_collapse: true,
        ..all()
    };
    let report = rig.backfill(&accepting).await.unwrap();
    assert_eq!((report.state, report.totals.changed), (BackfillState::Finished, 1));
    assert_eq!(rig.prices("tea").await.len(), 12);
}

#[tokio::test]
async fn a_lake_that_is_gone_is_made_again_of_what_is_landed() {
    let rig = Rig::with(&[("mate", teas()), ("tea", teas())]).await;
    rig.crawl().await;
    let before = (rig.products("mate").await, rig.products("tea").await);
    for path in objects(&rig.storage)
        .await
        .into_keys()
        .filter(|path| path.starts_with("lake/"))
    {
        use object_store::ObjectStoreExt;
        rig.storage.store().delete(&path.as_str().into()).await.unwrap();
    }
    let report = rig.backfill(&all()).await.unwrap();
    assert_eq!((report.totals.changed, report.totals.difference.added), (2, 24));
    assert_eq!(report.undo_as_of, None);
    assert_eq!((rig.products("mate").await, rig.products("tea").await), before);
    assert_eq!(rig.history("tea").await, 12);
}
