//! Tests of reviews from review apps, from stores to API responses: crawl, refresh reviews, release, query.

use data_model::{ReviewWidget, Timestamp};
use serde_json::Value;

use crate::documents::documents;
use crate::support::{Haat, ServerProcess, get};

/// Returns a home with five crawled emulated stores: one for each app, and one without.
fn home() -> (Haat, ServerProcess) {
    let haat = Haat::new();
    let (stores, told) = haat.with_stores(&["--products", "300", "--stores", "5", "--seed", "7", "--widgets"]);
    let haat = ReviewWidget::ALL.iter().fold(haat, |haat, app| {
        let url = told["widgets"][app.as_str()].as_str().unwrap();
        haat.with(&format!("HAAT_REVIEWS__{}_URL", app.as_str().to_uppercase()), url)
    });
    let haat = haat.with("HAAT_REVIEWS__RATE_START_PER_S", "1e9");
    assert_eq!(haat.run(&["crawl"]).code, 0);
    (haat, stores)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Compares the API responses about a product of each app with the lake.
fn check_products(haat: &Haat, address: &str) {
    let best = "select product_id as id, source, rating_average as stars, rating_count as ratings from widget_ratings \
         where rating_count > 0 order by source, rating_count desc, 1";
    let rated = haat.sql(best);
    let mut checked = Vec::new();
    for one in rated {
        let source = one["source"].as_str().unwrap().to_owned();
        if checked.contains(&source) {
            continue;
        }
        let id = one["id"].as_str().unwrap();
        let (status, product) = get(&format!("{address}/v1/products/{id}"));
        let data = &product["data"];
        assert_eq!(
            (status, &data["rating_source"], &data["rating_count"]),
            (200, &one["source"], &one["ratings"])
        );
        let shown = data["rating"].as_f64().unwrap() - one["stars"].as_f64().unwrap();
        assert!(shown.abs() < 1e-6, "{data}");
        let (_, reviews) = get(&format!("{address}/v1/products/{id}/reviews?limit=100"));
        let reviews = reviews["data"].as_array().unwrap();
        assert!(
            reviews.iter().all(|review| review["source"] == one["source"]),
            "{reviews:?}"
        );
        assert_eq!(reviews.len() as u64, number(&one["ratings"]).min(100), "each once");
        let dates: Vec<&str> = reviews
            .iter()
            .map(|review| review["created_at"].as_str().unwrap())
            .collect();
        assert!(dates.is_sorted_by(|one, next| one >= next), "newest first");
        checked.push(source);
    }
    assert_eq!(checked, ["judgeme", "okendo", "stamped", "yotpo"]);
}

#[test]
fn reviews_of_apps_reach_the_answers_and_a_second_run_and_a_crawl_change_nothing() {
    let (haat, _stores) = home();
    let dry = haat.run(&["reviews", "refresh", "--dry-run"]).json();
    assert_eq!((&dry["dry_run"], &dry["commits"]), (&true.into(), &0.into()));
    let read = haat.run(&["reviews", "refresh"]).json();
    let added = number(&read["added"]);
    assert!(added > 100 && read["commits"] == 1, "{read}");
    let sources: Vec<&Value> = read["asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["source"])
        .collect();
    assert!(sources.contains(&&Value::Null) && sources.len() == 5, "{read}");
    let slugs: Vec<&str> = read["asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["brand"].as_str().unwrap())
        .collect();
    let again = haat.run(&["reviews", "refresh", "--brand", &slugs.join(",")]).json();
    assert_eq!(
        (&again["commits"], &again["requests"]),
        (&0.into(), &4.into()),
        "{again}"
    );
    assert_eq!(haat.run(&["reviews", "refresh"]).json()["due"], 0);
    let rows = || number(&haat.sql("select count(*) as rows from widget_reviews")[0]["rows"]);
    assert_eq!(rows(), added);
    assert_eq!(haat.run(&["crawl", "--force"]).code, 0);
    assert_eq!(rows(), added, "a crawl keeps them");

    assert_eq!(haat.run(&["release", "build"]).code, 0);
    let (_server, up) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = up["address"].as_str().unwrap();
    check_products(&haat, address);
    let (_, stats) = get(&format!("{address}/v1/stats"));
    assert_eq!(number(&stats["data"]["reviews"]), added);
    let released = haat
        .run(&[
            "sql",
            "--release",
            "select source, count(*) as reviews from reviews group by 1",
        ])
        .json();
    let counted: u64 = released
        .as_array()
        .unwrap()
        .iter()
        .map(|one| number(&one["reviews"]))
        .sum();
    assert_eq!((released.as_array().unwrap().len(), counted), (4, added));
    let unchanged = haat.run(&["release", "build"]).json();
    assert_eq!(
        (&unchanged["outcome"], &unchanged["products_indexed"]),
        (&"unchanged".into(), &0.into())
    );
}

#[test]
fn the_questions_of_analysts_are_answered_from_reviews() {
    let (haat, _stores) = home();
    assert_eq!(haat.run(&["reviews", "refresh"]).code, 0);
    let all = documents();
    let guide = all.iter().find(|document| document.path == "docs/analysts.md").unwrap();
    let blocks = guide.blocks();
    let block = blocks
        .iter()
        .find(|block| block.text.contains("from widget_reviews"))
        .unwrap();
    let mut ran = 0;
    for line in block.text.lines().filter(|line| !line.trim().is_empty()) {
        let statement = line
            .strip_prefix("haat sql \"")
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap();
        assert!(!haat.sql(statement).is_empty(), "{statement}");
        ran += 1;
    }
    assert_eq!(ran, 4);
    let refused = haat.run(&["reviews", "refresh", "--brand", "nobody"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("no brand is registered as nobody"),
        "{}",
        refused.stderr
    );
}

#[test]
fn reviews_that_are_lost_come_back_of_what_is_landed_while_stores_and_apps_are_away() {
    let (haat, stores) = home();
    let rows = || {
        let of = |table: &str, by: &str| haat.sql(&format!("select * from {table} order by {by}"));
        (
            of("widget_reviews", "store, source, review_id"),
            of("widget_ratings", "store, source, product_id"),
        )
    };
    assert_eq!(rows(), (vec![], vec![]));
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let empty = Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap()).to_string();
    assert_eq!(haat.run(&["reviews", "refresh"]).code, 0);
    let before = rows();
    assert!(before.0.len() > 100 && !before.1.is_empty());
    drop(stores);
    let restore = ["--table", "widget_reviews", "--table", "widget_ratings"];
    let back = [&["lake", "restore", "--as-of", empty.as_str()], &restore[..]].concat();
    assert_eq!(haat.run(&back).code, 0);
    assert_eq!(rows(), (vec![], vec![]));

    let dry = haat
        .run(&["backfill", "--all", "--stage", "reviews", "--dry-run"])
        .json();
    assert_eq!(number(&dry["report"]["totals"]["reviews_added"]), before.0.len() as u64);
    assert_eq!(rows(), (vec![], vec![]));
    let told = haat.told(&["backfill", "--all", "--stage", "reviews"]);
    assert_eq!(rows(), before);
    let undo = told.lines().last().unwrap().strip_prefix("undo: haat ").unwrap();
    let again = haat.run(&["backfill", "--all", "--stage", "reviews"]).json();
    assert_eq!(
        (
            &again["report"]["totals"]["changed"],
            &again["report"]["totals"]["unchanged"]
        ),
        (&0.into(), &4.into())
    );
    assert_eq!(haat.run(&undo.split(' ').collect::<Vec<_>>()).code, 0);
    assert_eq!(rows(), (vec![], vec![]));
}
