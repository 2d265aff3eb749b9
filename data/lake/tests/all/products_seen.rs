//! Tests `product_history`: product names, and the times at which products were listed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use crate::support::*;
use data_lake::Lake;
use data_model::{BrandRefresh, CategoryId, Product};
use data_storage::Storage;

const TOLD: &str = "SELECT tick, brand_slug AS brand, platform_product_id AS id, event, title, handle, vendor, \
    category_id AS category, run_id AS run FROM product_history ORDER BY tick, brand, id";

fn named(id: u64, title: &str) -> Product {
    Product {
        title: title.into(),
        ..product("alpha", id, 100)
    }
}

fn alpha(number: u32, products: Vec<Product>) -> Vec<BrandRefresh> {
    vec![refresh("alpha", number, products)]
}

#[tokio::test]
async fn every_change_of_a_product_is_one_row_and_no_change_is_none() {
    let storage = Storage::memory();
    let lake = open(&storage, &SetClock::at("2026-11-21T04:00:00Z")).await;
    lake.commit(
        alpha(1, vec![named(1, "One"), named(2, "Two"), named(3, "Three")]),
        run(1),
    )
    .await
    .unwrap();
    // A price change is not a change of the product's naming.
    let mut dearer = vec![named(1, "One"), named(2, "Two"), named(3, "Three")];
    dearer[0].variants[0].price_minor += 1;
    let version = |lake: &Lake| {
        let lake = lake.clone();
        async move { lake.snapshot().await.unwrap().versions()["product_history"] }
    };
    let before = version(&lake).await;
    lake.commit(alpha(2, dearer), run(2)).await.unwrap();
    assert_eq!(version(&lake).await, before, "nothing is written");
    let mut changed = vec![named(1, "One, renamed"), named(2, "Two"), named(4, "Four")];
    changed[1].category = Some(CategoryId(1));
    changed[1].vendor = None;
    lake.commit(alpha(3, changed.clone()), run(3)).await.unwrap();
    // The third product returns with another handle. The other products are unchanged.
    let mut back = named(3, "Three");
    back.handle = "p-3-again".into();
    changed.insert(2, back);
    lake.commit(alpha(4, changed), run(4)).await.unwrap();
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    lake.commit(alpha(6, vec![named(1, "One"), named(9, "Nine")]), run(6))
        .await
        .unwrap();
    insta::assert_snapshot!(sql(&lake, TOLD).await, @"
    +------+-------+----+------------+--------------+-----------+--------+----------+-------+
    | tick | brand | id | event      | title        | handle    | vendor | category | run   |
    +------+-------+----+------------+--------------+-----------+--------+----------+-------+
    | 1    | alpha | 1  | first_seen | One          | p-1       | alpha  | 1868     | run-1 |
    | 1    | alpha | 2  | first_seen | Two          | p-2       | alpha  | 1868     | run-1 |
    | 1    | alpha | 3  | first_seen | Three        | p-3       | alpha  | 1868     | run-1 |
    | 3    | alpha | 1  | changed    | One, renamed | p-1       | alpha  | 1868     | run-3 |
    | 3    | alpha | 2  | changed    | Two          | p-2       |        | 1        | run-3 |
    | 3    | alpha | 3  | gone       | Three        | p-3       | alpha  | 1868     | run-3 |
    | 3    | alpha | 4  | first_seen | Four         | p-4       | alpha  | 1868     | run-3 |
    | 4    | alpha | 3  | returned   | Three        | p-3-again | alpha  | 1868     | run-4 |
    | 5    | alpha | 1  | gone       | One, renamed | p-1       | alpha  | 1868     |       |
    | 5    | alpha | 2  | gone       | Two          | p-2       |        | 1        |       |
    | 5    | alpha | 3  | gone       | Three        | p-3-again | alpha  | 1868     |       |
    | 5    | alpha | 4  | gone       | Four         | p-4       | alpha  | 1868     |       |
    | 6    | alpha | 1  | returned   | One          | p-1       | alpha  | 1868     | run-6 |
    | 6    | alpha | 9  | first_seen | Nine         | p-9       | alpha  | 1868     | run-6 |
    +------+-------+----+------------+--------------+-----------+--------+----------+-------+
    ");
    let seen = "SELECT event, count(*) AS rows, count(last_seen_at) AS seen, min(last_seen_at) AS first \
        FROM product_history GROUP BY event ORDER BY event";
    insta::assert_snapshot!(sql(&lake, seen).await, @"
    +------------+------+------+----------------------+
    | event      | rows | seen | first                |
    +------------+------+------+----------------------+
    | changed    | 2    | 0    |                      |
    | first_seen | 5    | 0    |                      |
    | gone       | 5    | 5    | 2026-11-21T02:00:00Z |
    | returned   | 2    | 0    |                      |
    +------------+------+------+----------------------+
    ");
    documented_queries_answer(&lake).await;
    let told = sql(&lake, TOLD).await;
    lake.compact(false).await.unwrap();
    assert_eq!(sql(&lake, TOLD).await, told, "however the files are cut");
    assert_eq!(sql(&open(&storage, &midnight()).await, TOLD).await, told);
}

/// The queries are exactly those of the analysts' guide.
async fn documented_queries_answer(lake: &Lake) {
    let guide = include_str!("../../../../docs/analysts.md");
    let queries: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("haat sql \"")?.strip_suffix('"'))
        .filter(|query| query.contains("from product_history"))
        .collect();
    assert_eq!(queries.len(), 2);
    let seen = sql(lake, queries[0]).await;
    // The product disappeared twice. The second time it disappeared with its brand, under the handle with which it had
    // returned.
    let two = seen.lines().find(|line| line.contains("| Two ")).unwrap();
    assert!(
        two.contains("2026-11-21T01:00:00Z") && two.contains("2026-11-21T04:00:00Z"),
        "{seen}"
    );
    let one = seen.lines().find(|line| line.contains("| One ")).unwrap();
    assert!(!one.contains("2026-11-21T04:00:00Z"), "it is there: {seen}");
    let gone = sql(lake, queries[1]).await;
    let three = gone.lines().filter(|line| line.contains("| Three "));
    let times: Vec<_> = three.filter_map(|line| line.split('|').nth(4)).map(str::trim).collect();
    assert_eq!(
        times,
        ["2026-11-21T04:00:00Z", "2026-11-21T03:00:00Z"],
        "the last first: {gone}"
    );
    assert_eq!(gone.matches("| alpha ").count(), 5, "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_of_products_is_written_once_wherever_a_process_dies() {
    let begun = Storage::memory();
    let one = alpha(1, vec![named(1, "One"), named(2, "Two")]);
    open(&begun, &midnight()).await.commit(one, run(1)).await.unwrap();
    let two = || alpha(2, vec![named(1, "Uno"), named(3, "Three")]);
    let process = move |storage| async move {
        let lake = open(&storage, &midnight()).await;
        lake.commit(two(), run(2)).await.unwrap();
    };
    let left = deaths(&begun, process).await;
    let expected = sql(&open(left.last().unwrap(), &midnight()).await, TOLD).await;
    for (nth, storage) in left.into_iter().enumerate() {
        let next = open(&storage, &midnight()).await;
        next.commit(two(), run(2)).await.unwrap();
        assert_eq!(sql(&next, TOLD).await, expected, "after write {nth}");
    }
}
