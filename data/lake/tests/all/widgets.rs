//! Checks that reviews of review apps are committed row by row, separately from crawls, and that crawls keep them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::*;
use data_lake::{Lake, REFUSED_REVIEWS_MAX, ReviewChanges, TableName};
use data_model::{Quarantined, Review, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

fn review(id: &str, product: u64, text: &str) -> WidgetReview {
    WidgetReview {
        widget: ReviewWidget::Yotpo,
        id: id.to_owned(),
        product,
        review: Review {
            rating: 4.0,
            author: Some("Asha".to_owned()),
            title: None,
            body: text.to_owned(),
            created_at: Some(Timestamp::from_micros(START)),
        },
        is_verified: Some(true),
    }
}

fn rating(product: u64, average: f64, count: u32) -> WidgetRating {
    WidgetRating {
        widget: ReviewWidget::Yotpo,
        product,
        average,
        count,
    }
}

fn none(name: &str) -> ReviewChanges {
    ReviewChanges::none(host(name), brand(name).slug, Timestamp::from_micros(START))
}

async fn held(lake: &Lake, name: &str) -> (BTreeMap<String, String>, Vec<WidgetRating>) {
    let stores: BTreeSet<StoreHost> = BTreeSet::from([host(name)]);
    let snapshot = lake.snapshot().await.unwrap();
    let reviews = snapshot.widget_reviews(&stores).await.unwrap().remove(&host(name));
    let reviews = reviews.unwrap_or_default().into_iter();
    let ratings = snapshot.widget_ratings(&stores).await.unwrap().remove(&host(name));
    let texts = reviews.map(|review| (review.id, review.review.body)).collect();
    (texts, ratings.unwrap_or_default())
}

async fn files(storage: &Storage) -> BTreeMap<String, u64> {
    let mut all = objects(storage).await;
    all.retain(|path, _| path.starts_with("widget_reviews/bucket="));
    all
}

async fn filled(storage: &Storage) -> Lake {
    let lake = open(storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    // Many copies of one text would compress to the size of a single review.
    let text = |nth: u64| {
        let words = (1..12).map(|at| nth.wrapping_mul(at * 2_654_435_761).to_string());
        words.collect::<Vec<_>>().join(" ")
    };
    let reviews = |from: u64| (from..from + 300).map(move |nth| review(&format!("r{nth}"), nth % 5 + 1, &text(nth)));
    let told = ReviewChanges {
        reviews: reviews(0).collect(),
        ratings: vec![rating(1, 4.66667, 3), rating(2, 5.0, 1)],
        ..none("alpha")
    };
    let beta = ReviewChanges {
        reviews: vec![review("r1", 1, "Another store's.")],
        ..none("beta")
    };
    let report = lake.commit_reviews(vec![told, beta]).await.unwrap();
    assert_eq!(report.ticks.len(), 1);
    lake
}

#[tokio::test]
async fn one_more_review_writes_a_small_file_and_no_other_row() {
    let storage = Storage::memory();
    let lake = filled(&storage).await;
    let (before, products) = (files(&storage).await, lake.snapshot().await.unwrap().versions().clone());
    let more = ReviewChanges {
        reviews: vec![review("new", 1, "One more.")],
        ratings: vec![rating(1, 4.75, 4)],
        ..none("alpha")
    };
    lake.commit_reviews(vec![more]).await.unwrap();
    let (texts, ratings) = held(&lake, "alpha").await;
    assert_eq!((texts.len(), texts["new"].as_str()), (301, "One more."));
    assert_eq!(ratings, [rating(1, 4.75, 4), rating(2, 5.0, 1)]);
    let after = files(&storage).await;
    let added: Vec<u64> = after
        .iter()
        .filter(|(path, _)| !before.contains_key(*path))
        .map(|(_, size)| *size)
        .collect();
    let whole: u64 = before.values().sum();
    assert_eq!((added.len(), before.len() + 1), (1, after.len()));
    assert!(added[0] < 6_000 && added[0] * 2 < whole, "{added:?} of {whole}");
    let now = lake.snapshot().await.unwrap().versions().clone();
    let changed: Vec<&String> = now
        .iter()
        .filter(|(name, version)| products[*name] != **version)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["crawl_runs", "widget_ratings", "widget_reviews"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_begun_tick_of_reviews_whose_rows_are_lost_is_given_up_and_no_crawl_is_asked_for_them() {
    let more = || ReviewChanges {
        reviews: vec![review("r1", 1, "Edited."), review("new", 1, "One more.")],
        ..none("alpha")
    };
    let whole = Storage::memory();
    filled(&whole).await;
    let lost = files(&whole).await.into_keys().collect::<Vec<_>>();
    let process = move |storage| async move {
        let lake = open(&storage, &midnight()).await;
        lake.commit_reviews(vec![more()]).await.unwrap();
    };
    let mut given_up = 0;
    for (nth, storage) in deaths(&whole, process).await.into_iter().enumerate() {
        let marks = objects(&storage).await;
        let is_begun = marks.contains_key("_ticks/00000000000000000003.json");
        let is_ended = marks.contains_key("_ticks/00000000000000000003.done.json");
        let of_reviews = |path: &String| path.starts_with("widget_reviews/_delta_log/00000000000000000002");
        if !is_begun || is_ended || marks.keys().any(of_reviews) {
            continue;
        }
        for file in &lost {
            storage.store().delete(&ObjectPath::from(file.as_str())).await.unwrap();
        }
        let next = open(&storage, &midnight()).await;
        // If one table already has a part of the commit batch, only restoring the file itself helps.
        let Ok(damaged) = next.find_damage(false).await else {
            continue;
        };
        assert_eq!(damaged, BTreeSet::new(), "after write {nth}");
        given_up += 1;
        // Crawls still succeed, and a repair removes the lost files from their table.
        next.commit(second(), run(2)).await.unwrap();
        let repaired = Lake::repair(&storage, config(), midnight(), false).await.unwrap();
        assert_eq!(repaired.lost.len(), lost.len());
        let lake = open(&storage, &midnight()).await;
        lake.commit_reviews(vec![more()]).await.unwrap();
        assert_eq!(held(&lake, "alpha").await.0.len(), 2);
    }
    assert!(given_up > 0);
}

#[tokio::test]
async fn edits_and_deletions_change_their_rows_alone_and_the_same_again_writes_nothing() {
    let storage = Storage::memory();
    let lake = filled(&storage).await;
    let changes = || ReviewChanges {
        reviews: vec![review("r7", 3, "Edited."), review("r8", 4, "Moved.")],
        reviews_gone: vec![
            (ReviewWidget::Yotpo, "r9".to_owned()),
            (ReviewWidget::Okendo, "r10".to_owned()),
        ],
        ratings_gone: vec![(ReviewWidget::Yotpo, 2)],
        ..none("alpha")
    };
    lake.commit_reviews(vec![changes()]).await.unwrap();
    let (texts, ratings) = held(&lake, "alpha").await;
    assert_eq!(
        (texts.len(), texts["r7"].as_str(), texts.contains_key("r9")),
        (299, "Edited.", false)
    );
    assert!(
        texts.contains_key("r10"),
        "another app's review of the same id is another one"
    );
    assert_eq!(ratings, [rating(1, 4.66667, 3)]);
    assert_eq!(held(&lake, "beta").await.0.len(), 1, "another store's is untouched");

    let before = objects(&storage).await;
    let again = lake
        .commit_reviews(vec![changes(), none("beta"), none("nobody")])
        .await
        .unwrap();
    assert_eq!((again.ticks, again.changed), (vec![], vec![]));
    assert_eq!(objects(&storage).await, before);
    let twice = lake
        .commit_reviews(vec![none("alpha"), none("alpha")])
        .await
        .unwrap_err();
    assert_eq!(twice.to_string(), "alpha.myshopify.com occurs twice in one tick");
}

#[tokio::test]
async fn crawls_and_compaction_keep_them_and_the_brand_takes_them_with_it() {
    let storage = Storage::memory();
    let lake = filled(&storage).await;
    let more = ReviewChanges {
        reviews: vec![review("new", 1, "One more.")],
        ..none("alpha")
    };
    lake.commit_reviews(vec![more]).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    assert_eq!(held(&lake, "alpha").await.0.len(), 301);
    lake.compact(false).await.unwrap();
    assert_eq!(held(&lake, "alpha").await.0.len(), 301);
    let lake = open(&storage, &midnight()).await;
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    assert_eq!(held(&lake, "alpha").await, (BTreeMap::new(), vec![]));
    assert_eq!(held(&lake, "beta").await.0.len(), 1);
    assert!(
        TableName::WIDGETS
            .iter()
            .all(|table| !TableName::CRAWLED.contains(table))
    );
}

#[tokio::test]
async fn readers_find_them_by_their_columns() {
    let lake = filled(&Storage::memory()).await;
    let query = "SELECT source, review_id, rating, author, verified, platform_product_id AS product FROM widget_reviews \
        WHERE review_id = 'r7'";
    insta::assert_snapshot!(sql(&lake, query).await, @"
    +--------+-----------+--------+--------+----------+---------+
    | source | review_id | rating | author | verified | product |
    +--------+-----------+--------+--------+----------+---------+
    | yotpo  | r7        | 4.0    | Asha   | true     | 3       |
    +--------+-----------+--------+--------+----------+---------+
    ");
    let query = "SELECT rating_average, rating_count FROM widget_ratings ORDER BY platform_product_id";
    insta::assert_snapshot!(sql(&lake, query).await, @"
    +----------------+--------------+
    | rating_average | rating_count |
    +----------------+--------------+
    | 4.66667        | 3            |
    | 5.0            | 1            |
    +----------------+--------------+
    ");
}

fn refused(name: &str, nth: usize, reason: &str) -> Quarantined {
    Quarantined {
        store: host(name),
        subject: format!("yotpo review {nth}"),
        reason: reason.to_owned(),
        excerpt: format!(r#"{{"id":{nth}}}"#),
    }
}

/// Returns the subjects and reasons of a store's refused reviews, and the total number of quarantined records.
async fn in_quarantine(lake: &Lake, name: &str) -> (Vec<(String, String)>, usize) {
    let (stores, snapshot) = (BTreeSet::from([host(name)]), lake.snapshot().await.unwrap());
    let records = snapshot.refused_reviews(&stores).await.unwrap().remove(&host(name));
    let records = records.unwrap_or_default().into_iter();
    let all = snapshot.quarantined(&stores).await.unwrap().len();
    (records.map(|one| (one.subject, one.reason)).collect(), all)
}

#[tokio::test]
async fn refused_reviews_stand_in_quarantine_beside_what_crawls_refused_and_change_one_by_one() {
    let storage = Storage::memory();
    let lake = filled(&storage).await;
    let (_, of_crawl) = in_quarantine(&lake, "alpha").await;
    let both = ReviewChanges {
        refused: vec![
            refused("alpha", 1, "it has 6 stars"),
            refused("alpha", 2, "it has no stars"),
        ],
        ..none("alpha")
    };
    lake.commit_reviews(vec![both.clone()]).await.unwrap();
    let known = |nth: usize, reason: &str| (format!("yotpo review {nth}"), reason.to_owned());
    let expected = vec![known(1, "it has 6 stars"), known(2, "it has no stars")];
    assert_eq!(in_quarantine(&lake, "alpha").await, (expected.clone(), of_crawl + 2));
    assert!(lake.commit_reviews(vec![both]).await.unwrap().ticks.is_empty());

    // A crawl replaces only its own records, and compaction replaces none.
    lake.commit(second(), run(2)).await.unwrap();
    lake.compact(false).await.unwrap();
    let lake = open(&storage, &midnight()).await;
    assert_eq!(in_quarantine(&lake, "alpha").await.0, expected);
    let query =
        "SELECT position, subject, run_id, brand_slug, excerpt FROM quarantine WHERE position >= 1000000 ORDER BY 1";
    insta::assert_snapshot!(sql(&lake, query).await, @r#"
    +----------+----------------+---------+------------+----------+
    | position | subject        | run_id  | brand_slug | excerpt  |
    +----------+----------------+---------+------------+----------+
    | 1000000  | yotpo review 1 | reviews | alpha      | {"id":1} |
    | 1000001  | yotpo review 2 | reviews | alpha      | {"id":2} |
    +----------+----------------+---------+------------+----------+
    "#);

    let other = ReviewChanges {
        refused: vec![refused("alpha", 2, "it has 7 stars")],
        refused_gone: vec!["yotpo review 1".to_owned(), "yotpo review 9".to_owned()],
        ..none("alpha")
    };
    lake.commit_reviews(vec![other]).await.unwrap();
    assert_eq!(in_quarantine(&lake, "alpha").await.0, [known(2, "it has 7 stars")]);

    let many = ReviewChanges {
        refused: (0..REFUSED_REVIEWS_MAX + 50)
            .map(|nth| refused("beta", nth, "it has no stars"))
            .collect(),
        ..none("beta")
    };
    lake.commit_reviews(vec![many]).await.unwrap();
    assert_eq!(in_quarantine(&lake, "beta").await.0.len(), REFUSED_REVIEWS_MAX);
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    assert_eq!(in_quarantine(&lake, "alpha").await, (vec![], 0));
}
