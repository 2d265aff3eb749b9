//! Checks that the price history has live observations and crawl findings once each, in chronological order.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::*;
use data_lake::{CrawlSpan, Lake, ObservationReport};
use data_model::{Observation, ObservedVariant, Timestamp, VariantId};
use data_storage::Storage;

const HOUR_MS: i64 = 3_600_000;

fn hour(number: i64) -> Timestamp {
    Timestamp::from_micros(START).plus_millis(number * HOUR_MS)
}

/// The clock is later than all observations in these tests.
fn late() -> Arc<SetClock> {
    let clock = midnight();
    clock.advance_ms(1_000 * HOUR_MS);
    clock
}

/// Returns a live observation of a product of alpha. In the first crawl, product 3 has variant 32 at 3000 and variant
/// 31 at 3050.
fn said(at: i64, product: u64, prices: &[(u64, i64)]) -> Observation {
    let seen = |(id, price_minor): &(u64, i64)| ObservedVariant {
        id: VariantId(*id),
        price_minor: *price_minor,
        compare_at_minor: id.is_multiple_of(3).then_some(price_minor + 100),
        available: !id.is_multiple_of(5),
    };
    Observation {
        store: host("alpha"),
        product,
        observed_at: hour(at),
        currency: "INR".parse().unwrap(),
        variants: prices.iter().map(seen).collect(),
        gone: Vec::new(),
    }
}

async fn fold(lake: &Lake, observations: Vec<Observation>) -> ObservationReport {
    lake.commit_observations(observations, BTreeMap::new(), run(9))
        .await
        .unwrap()
}

fn span(began: i64, ended: i64) -> CrawlSpan {
    CrawlSpan {
        began_at: hour(began),
        ended_at: hour(ended),
    }
}

async fn see(lake: &Lake, at: i64) -> ObservationReport {
    let seen = BTreeMap::from([(host("alpha"), span(at, at))]);
    lake.commit_observations(Vec::new(), seen, run(9)).await.unwrap()
}

const HISTORY: &str = "SELECT tick, variant_id AS variant, event, previous_price_minor AS was, price_minor AS price, \
    available, observed_at AS at, run_id AS run, source FROM price_history WHERE platform_product_id = 3 \
    AND brand_slug = 'alpha' ORDER BY tick, observed_at, variant";

const LIVE: &str = "SELECT platform_product_id AS product, variant_id AS variant, price_minor AS price, available, \
    observed_at, changed_at FROM live_prices ORDER BY product, variant";

fn third(price_minor: i64) -> Vec<data_model::BrandRefresh> {
    let mut products: Vec<_> = (1..=5)
        .map(|id| product("alpha", id, 1000 * id.cast_signed()))
        .collect();
    products[2].variants[0].price_minor = price_minor;
    vec![refresh("alpha", 6, products)]
}

#[tokio::test]
async fn a_price_that_was_seen_live_is_one_row_however_often_it_comes_in() {
    let lake = open(&Storage::memory(), &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before = content(&lake).await;
    let news = vec![said(4, 3, &[(32, 2500), (31, 3050)]), said(3, 3, &[(32, 2800)])];
    let report = fold(&lake, news.clone()).await;
    let expected = ObservationReport {
        tick: Some(2),
        stores: vec![host("alpha")],
        rows: 2,
        taken: 2,
        ..ObservationReport::default()
    };
    assert_eq!(report, expected);
    let mut after = content(&lake).await;
    for table in ["products", "variants", "brands", "reviews", "product_history"] {
        assert_eq!(
            after.remove(table),
            before.get(table).cloned(),
            "{table} is what the crawl saw"
        );
    }
    // The same observations are merged again, and one that is older than the stored offer.
    let again = fold(&lake, news).await;
    assert_eq!((again.tick, again.rows, again.outdated), (None, 0, 2));
    let old = fold(&lake, vec![said(2, 3, &[(32, 9)]), said(1, 1, &[(12, 9)])]).await;
    assert_eq!((old.tick, old.outdated), (None, 2), "the second is as old as the crawl");
    insta::assert_snapshot!(sql(&lake, LIVE).await, @"
    +---------+---------+-------+-----------+----------------------+----------------------+
    | product | variant | price | available | observed_at          | changed_at           |
    +---------+---------+-------+-----------+----------------------+----------------------+
    | 3       | 31      | 3050  | true      | 2026-11-21T04:00:00Z |                      |
    | 3       | 32      | 2500  | true      | 2026-11-21T04:00:00Z | 2026-11-21T04:00:00Z |
    +---------+---------+-------+-----------+----------------------+----------------------+
    ");
}

#[tokio::test]
async fn a_crawl_that_finds_a_price_which_was_seen_live_adds_no_row() {
    let lake = open(&Storage::memory(), &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    fold(&lake, vec![said(3, 3, &[(32, 2800)]), said(4, 3, &[(32, 2500)])]).await;
    let crawled = lake.commit(third(2500), run(6)).await.unwrap();
    assert_eq!(
        crawled.counts.price_changes, 0,
        "the crawl brings nothing new of prices"
    );
    assert_eq!(
        sql(&lake, LIVE).await.lines().count(),
        2,
        "the crawl is the newest word"
    );
    assert_eq!(fold(&lake, vec![said(4, 3, &[(32, 2400)])]).await.outdated, 1);
    lake.commit(read_at(second(), 7), run(7)).await.unwrap();
    let told = sql(&lake, HISTORY).await;
    insta::assert_snapshot!(told, @"
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | tick | variant | event      | was  | price | available | at                   | run   | source |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | 1    | 31      | first_seen |      | 3050  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 1    | 32      | first_seen |      | 3000  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 2    | 32      | changed    | 3000 | 2800  | true      | 2026-11-21T03:00:00Z |       | live   |
    | 2    | 32      | changed    | 2800 | 2500  | true      | 2026-11-21T04:00:00Z |       | live   |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    ");
    lake.compact(false).await.unwrap();
    assert_eq!(sql(&lake, HISTORY).await, told, "however the files are cut");
    let kinds = sql(
        &lake,
        "SELECT tick, kind, run_id, price_changes FROM crawl_runs ORDER BY tick",
    )
    .await;
    insta::assert_snapshot!(kinds, @"
    +------+---------+--------+---------------+
    | tick | kind    | run_id | price_changes |
    +------+---------+--------+---------------+
    | 1    | refresh | run-1  | 20            |
    | 2    | live    | run-9  | 2             |
    | 3    | refresh | run-6  | 0             |
    | 4    | refresh | run-7  | 4             |
    +------+---------+--------+---------------+
    ");
}

#[tokio::test]
async fn a_crawl_that_finds_a_store_unchanged_takes_back_what_was_seen_live_before_it() {
    let lake = open(&Storage::memory(), &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    assert!(see(&lake, 2).await.tick.is_none(), "nothing was seen live");
    let mut news = said(3, 3, &[(32, 2500), (33, 700)]);
    news.gone = vec![VariantId(31), VariantId(34)];
    assert_eq!(fold(&lake, vec![news]).await.rows, 3, "nobody ever saw variant 34");
    assert!(see(&lake, 2).await.tick.is_none(), "that crawl ended before");
    let report = lake.commit(first(), run(4)).await.unwrap();
    assert!(report.ticks.is_empty(), "that crawl is older still");
    assert_eq!(see(&lake, 4).await.rows, 3);
    assert!(see(&lake, 5).await.tick.is_none());
    fold(&lake, vec![said(5, 3, &[(32, 2600)])]).await;
    let mut same = first();
    same.iter_mut()
        .for_each(|refresh| (refresh.read_since, refresh.observed_at) = (hour(6), hour(6)));
    let report = lake.commit(same, run(6)).await.unwrap();
    assert_eq!(
        (report.changed.len(), report.unchanged.len(), report.ticks),
        (0, 3, vec![5])
    );
    // Live observations from before and after the crawl are merged in chronological order.
    let seen = BTreeMap::from([(host("alpha"), span(8, 8))]);
    let news = vec![said(9, 3, &[(32, 2800)]), said(7, 3, &[(32, 2700)])];
    lake.commit_observations(news, seen, run(8)).await.unwrap();
    insta::assert_snapshot!(sql(&lake, HISTORY).await, @"
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | tick | variant | event      | was  | price | available | at                   | run   | source |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | 1    | 31      | first_seen |      | 3050  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 1    | 32      | first_seen |      | 3000  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 2    | 31      | gone       | 3050 |       |           | 2026-11-21T03:00:00Z |       | live   |
    | 2    | 32      | changed    | 3000 | 2500  | true      | 2026-11-21T03:00:00Z |       | live   |
    | 2    | 33      | first_seen |      | 700   | true      | 2026-11-21T03:00:00Z |       | live   |
    | 3    | 31      | first_seen |      | 3050  | true      | 2026-11-21T04:00:00Z | run-9 | crawl  |
    | 3    | 32      | changed    | 2500 | 3000  | true      | 2026-11-21T04:00:00Z | run-9 | crawl  |
    | 3    | 33      | gone       | 700  |       |           | 2026-11-21T04:00:00Z | run-9 | crawl  |
    | 4    | 32      | changed    | 3000 | 2600  | true      | 2026-11-21T05:00:00Z |       | live   |
    | 5    | 32      | changed    | 2600 | 3000  | true      | 2026-11-21T06:00:00Z | run-6 | crawl  |
    | 6    | 32      | changed    | 3000 | 2700  | true      | 2026-11-21T07:00:00Z |       | live   |
    | 6    | 32      | changed    | 2700 | 3000  | true      | 2026-11-21T08:00:00Z | run-8 | crawl  |
    | 6    | 32      | changed    | 3000 | 2800  | true      | 2026-11-21T09:00:00Z |       | live   |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    ");
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    let gone = "SELECT variant_id AS variant, previous_price_minor AS was FROM price_history \
        WHERE event = 'gone' AND tick = 7 AND platform_product_id = 3 ORDER BY variant";
    insta::assert_snapshot!(sql(&lake, gone).await, @"
    +---------+------+
    | variant | was  |
    +---------+------+
    | 31      | 3050 |
    | 32      | 2800 |
    +---------+------+
    ");
    assert_eq!(
        sql(&lake, LIVE).await.lines().count(),
        2,
        "nothing is known of a brand that is gone"
    );
}

#[tokio::test]
async fn a_crawl_that_ended_before_a_store_was_asked_live_does_not_speak_against_it() {
    let lake = open(&Storage::memory(), &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    fold(&lake, vec![said(7, 3, &[(32, 2500)]), said(5, 4, &[(42, 1)])]).await;
    // The crawl committed here ended at six o'clock.
    let report = lake.commit(third(2600), run(6)).await.unwrap();
    assert_eq!(
        report.counts.price_changes, 1,
        "of product 4 alone, which was asked before"
    );
    insta::assert_snapshot!(sql(&lake, LIVE).await, @"
    +---------+---------+-------+-----------+----------------------+----------------------+
    | product | variant | price | available | observed_at          | changed_at           |
    +---------+---------+-------+-----------+----------------------+----------------------+
    | 3       | 32      | 2500  | true      | 2026-11-21T07:00:00Z | 2026-11-21T07:00:00Z |
    +---------+---------+-------+-----------+----------------------+----------------------+
    ");
    let mut later = third(2600);
    (later[0].read_since, later[0].observed_at) = (hour(8), hour(8));
    assert_eq!(lake.commit(later, run(8)).await.unwrap().counts.price_changes, 1);
    insta::assert_snapshot!(sql(&lake, HISTORY).await, @"
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | tick | variant | event      | was  | price | available | at                   | run   | source |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | 1    | 31      | first_seen |      | 3050  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 1    | 32      | first_seen |      | 3000  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 2    | 32      | changed    | 3000 | 2500  | true      | 2026-11-21T07:00:00Z |       | live   |
    | 4    | 32      | changed    | 2500 | 2600  | true      | 2026-11-21T08:00:00Z | run-8 | crawl  |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    ");
}

#[tokio::test]
async fn a_crawl_that_was_reading_while_a_store_was_asked_live_does_not_take_the_price_back() {
    let lake = open(&Storage::memory(), &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    // The store is queried live at five and at seven o'clock. The crawl reads from six to eight, and has the page from
    // before seven.
    fold(&lake, vec![said(7, 3, &[(32, 2500)]), said(5, 4, &[(42, 1)])]).await;
    let mut crawl = third(3000);
    (crawl[0].read_since, crawl[0].observed_at) = (hour(6), hour(8));
    crawl[0].products[0].title = "Another".to_owned();
    let report = lake.commit(crawl, run(8)).await.unwrap();
    assert_eq!(report.counts.price_changes, 1, "of product 4 alone");
    // The next crawl finds the store unchanged, and was still reading pages at seven o'clock.
    let seen = BTreeMap::from([(host("alpha"), span(6, 9))]);
    let report = lake.commit_observations(Vec::new(), seen, run(9)).await.unwrap();
    assert_eq!((report.tick, report.rows), (None, 0));
    // The next crawl reads everything after the live query.
    see(&lake, 10).await;
    insta::assert_snapshot!(sql(&lake, HISTORY).await, @"
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | tick | variant | event      | was  | price | available | at                   | run   | source |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    | 1    | 31      | first_seen |      | 3050  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 1    | 32      | first_seen |      | 3000  | true      | 2026-11-21T01:00:00Z | run-1 | crawl  |
    | 2    | 32      | changed    | 3000 | 2500  | true      | 2026-11-21T07:00:00Z |       | live   |
    | 4    | 32      | changed    | 2500 | 3000  | true      | 2026-11-21T10:00:00Z | run-9 | crawl  |
    +------+---------+------------+------+-------+-----------+----------------------+-------+--------+
    ");
}

#[tokio::test]
async fn what_says_nothing_of_a_known_price_is_dropped_and_counted() {
    let clock = midnight();
    clock.advance_ms(5 * HOUR_MS);
    let storage = Storage::memory();
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let left = objects(&storage).await;
    let mut nobody = said(2, 3, &[(32, 1)]);
    nobody.store = host("nobody");
    let mut dollars = said(2, 3, &[(32, 1)]);
    dollars.currency = "USD".parse().unwrap();
    let news = vec![nobody, dollars, said(2, 99, &[(32, 1)]), said(6, 3, &[(32, 1)])];
    let report = fold(&lake, news).await;
    let expected = ObservationReport {
        unknown: 2,
        other_currency: 1,
        ahead: 1,
        ..ObservationReport::default()
    };
    assert_eq!(report, expected);
    assert_eq!(objects(&storage).await, left, "nothing is written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_seen_live_is_written_once_wherever_a_process_dies() {
    let news = || {
        let mut gone = said(4, 1, &[]);
        gone.gone = vec![VariantId(11), VariantId(12)];
        vec![said(3, 3, &[(32, 2500)]), gone]
    };
    let begun = Storage::memory();
    open(&begun, &late()).await.commit(first(), run(1)).await.unwrap();
    let process = move |storage| async move {
        fold(&open(&storage, &late()).await, news()).await;
    };
    let left = deaths(&begun, process).await;
    assert!(left.len() > 6, "{}", left.len());
    let expected = content(&open(left.last().unwrap(), &late()).await).await;
    for (nth, storage) in left.into_iter().enumerate() {
        let lake = open(&storage, &late()).await;
        fold(&lake, news()).await;
        fold(&lake, news()).await;
        assert_eq!(content(&lake).await, expected, "after write {nth}");
    }
}

#[tokio::test]
async fn what_is_lost_of_live_prices_is_told_by_the_history() {
    let storage = Storage::memory();
    let lake = open(&storage, &late()).await;
    lake.commit(first(), run(1)).await.unwrap();
    fold(&lake, vec![said(3, 3, &[(32, 2500)])]).await;
    for path in objects(&storage).await.into_keys() {
        if path.starts_with("live_prices/") && path.ends_with(".parquet") {
            let path = data_storage::ObjectPath::from(path);
            data_storage::ObjectStoreExt::delete(&**storage.store(), &path)
                .await
                .unwrap();
        }
    }
    let lake = open(&storage, &late()).await;
    let refused = lake.commit(third(2500), run(6)).await.unwrap_err();
    assert!(
        matches!(refused, data_lake::LakeError::Lost { .. }),
        "other brands share the file: {refused:?}"
    );
    let mut all = first();
    all[0] = third(2500).remove(0);
    let report = lake.commit(all, run(6)).await.unwrap();
    assert_eq!(report.counts.price_changes, 0);
    assert_eq!(fold(&lake, vec![said(7, 3, &[(32, 2400)])]).await.rows, 1);
}
