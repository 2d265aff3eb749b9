use serde_json::Value;

use crate::support::{Haat, files, get};

#[test]
fn a_release_costs_what_changed_and_has_a_way_back() {
    let haat = Haat::new();
    let source = ["--products", "400", "--stores", "8", "--seed", "13"];
    let (first, stores) = haat.with_stores(&source);
    let whole = haat.run(&["crawl", "--release"]).json();
    assert_eq!(
        (&whole["release"]["outcome"], &whole["release"]["products_indexed"]),
        (&"published".into(), &400.into())
    );
    let unchanged = haat.run(&["release", "build"]).json();
    assert_eq!(
        (&unchanged["outcome"], &unchanged["products_indexed"]),
        (&"unchanged".into(), &0.into())
    );
    drop(first);

    // These are the same stores at a later epoch, of which one is crawled.
    let (_second, _) = haat.with_stores(&[source.as_slice(), &["--epoch", "1"]].concat());
    let slug = brand_with_products(&haat, &stores);
    haat.run(&["crawl", "--brand", &slug]).json();
    let before = haat.run(&["release", "show"]).json();
    let dry = haat.run(&["release", "build", "--dry-run"]).json();
    assert_eq!(dry["outcome"], "dry_run");
    assert_eq!(haat.run(&["release", "show"]).json(), before);
    let next = haat.run(&["release", "build"]).json();
    let expected = haat.sql(&format!("select count(*) n from products where brand_slug = '{slug}'"))[0]["n"].clone();
    assert_eq!(
        (&next["outcome"], &next["products_indexed"]),
        (&"published".into(), &expected)
    );
    assert_eq!((&next["parts_kept"], &next["parts_built"]), (&1.into(), &1.into()));

    reads_what_is_served(&haat, &slug, &expected);

    // Garbage collection must keep the files of a rollback.
    let back = haat.run(&["release", "rollback"]).json();
    assert_eq!(
        (&back["to"], &back["from"]),
        (&whole["release"]["release"], &next["release"])
    );
    assert_eq!(haat.run(&["release", "show"]).json()["id"], whole["release"]["release"]);
    // A second rollback does not go forward again.
    let further = haat.run(&["release", "rollback"]);
    assert!(further.code == 1 && further.stderr.contains("older"), "{further:?}");
    assert_eq!(haat.run(&["release", "show"]).json()["id"], whole["release"]["release"]);
    let kept = files(&haat.path().join("releases"), "files");
    haat.run(&["release", "gc", "--keep", "2"]).json();
    assert_eq!(files(&haat.path().join("releases"), "files"), kept);
    // No file is damaged, but the lake is newer than the current release.
    assert_eq!(haat.run(&["doctor"]).code, 3);

    // Files that only the newer release needs are removed at any age, even from the cache.
    let haat = haat.with("HAAT_RELEASE__GC_MIN_AGE_S", "0");
    let names = |folder: &str| {
        let found = files(&haat.path().join(folder).join("files"), "");
        let names = found.iter().map(|file| file.file_name().unwrap().to_owned());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert!(names("cache").is_superset(&names("releases")));
    // A build may be running, so its files stay even with a minimum age of 0.
    let build = haat.path().join("cache/build/under-way");
    std::fs::create_dir_all(&build).unwrap();
    let before = names("cache");
    let planned = haat.run(&["release", "gc", "--keep", "1", "--dry-run"]).json();
    assert_eq!(names("cache"), before);
    let freed = haat.run(&["release", "gc", "--keep", "1"]).json();
    assert!(freed["cache_bytes"].as_u64() > Some(0), "{freed}");
    assert_eq!(planned["cache_bytes"], freed["cache_bytes"]);
    assert!(build.exists());
    assert_eq!(names("cache"), names("releases"));
    assert_eq!(haat.run(&["doctor"]).code, 3);
}

/// Returns the registry's slug of a brand that has products.
fn brand_with_products(haat: &Haat, stores: &Value) -> String {
    assert!(stores["stores"].as_array().is_some_and(|stores| stores.len() == 8));
    let rows = haat.sql("select slug from brands where product_count > 20 order by slug limit 1");
    rows[0]["slug"].as_str().unwrap().to_owned()
}

#[test]
fn a_catalogue_that_collapses_is_not_published_and_the_crawl_still_answers() {
    let haat = Haat::new();
    let (first, _) = haat.with_stores(&["--products", "300", "--stores", "3", "--seed", "17"]);
    haat.run(&["crawl", "--release"]).json();
    drop(first);
    let brands = haat.run(&["brands", "list"]).json();
    let slugs: Vec<&str> = brands["brands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|brand| brand["slug"].as_str().unwrap())
        .collect();
    for slug in &slugs[1..] {
        haat.run(&["brands", "remove", slug]).json();
    }
    let refused = haat.run(&["release", "build"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("--accept-collapse"), "{}", refused.stderr);
    assert_eq!(haat.run(&["release", "show"]).json()["counts"]["products"], 300);
    assert_eq!(
        haat.run(&["release", "build", "--accept-collapse"]).json()["outcome"],
        "published"
    );
}

#[test]
fn a_file_of_the_lake_that_was_cut_short_is_seen_by_the_doctor() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "2", "--seed", "3"]);
    haat.run(&["crawl", "--release"]).json();
    assert_eq!(haat.run(&["doctor"]).code, 0);
    let file = files(&haat.path().join("lake/variants"), ".parquet").remove(0);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    let told = haat.run(&["doctor"]);
    assert_eq!(told.code, 1);
    assert!(
        told.stdout.contains("1 damaged data file, among them variants/"),
        "{}",
        told.stdout
    );
    std::fs::remove_file(&file).unwrap();
    assert!(haat.run(&["doctor"]).stdout.contains(": missing"));
    // Readers detect a changed byte within a page.
    let mut turned = bytes.clone();
    turned[60..90].fill(0xff);
    std::fs::write(&file, &turned).unwrap();
    let thorough = haat.run(&["doctor", "--thorough"]);
    assert!(
        thorough.code == 1 && thorough.stdout.contains("variants/"),
        "{thorough:?}"
    );
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(haat.run(&["doctor", "--thorough"]).code, 0);
}

#[test]
fn a_crawl_counts_its_brands_and_leaves_no_empty_folders() {
    let haat = Haat::new()
        .with("HAAT_REFRESH__CRAWL__LANDING_RUNS_KEPT", "1")
        .with("HAAT_LANDING__KEEP_DAYS", "0");
    let (_stores, _) = haat.with_stores(&["--products", "30", "--stores", "3"]);
    for _ in 0..3 {
        haat.run(&["crawl", "--force"]).json();
    }
    haat.run(&["crawl", "--force", "--dry-run"]).json();
    assert_eq!(haat.sql("select max(brands_seen) n from crawl_runs")[0]["n"], 3);
    let runs: Vec<_> = std::fs::read_dir(haat.path().join("landing")).unwrap().collect();
    assert!(runs.len() <= 2, "{runs:?}");
    for run in runs {
        for store in std::fs::read_dir(run.unwrap().path()).unwrap() {
            let store = store.unwrap().path();
            assert!(
                std::fs::read_dir(&store).unwrap().next().is_some(),
                "{store:?} is empty"
            );
        }
    }
}

#[test]
fn the_last_brand_leaves_the_release_when_the_operator_says_so() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "12", "--stores", "1"]);
    haat.run(&["crawl", "--release"]).json();
    let brands = haat.run(&["brands", "list"]).json();
    let slug = brands["brands"][0]["slug"].as_str().unwrap();
    haat.run(&["brands", "remove", slug]).json();
    assert_eq!(haat.run(&["brands", "remove", slug]).code, 2, "it is gone already");
    let refused = haat.run(&["release", "build"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("--accept-collapse"), "{}", refused.stderr);
    let emptied = haat.run(&["release", "build", "--accept-collapse"]).json();
    assert_eq!(
        (&emptied["outcome"], &emptied["counts"]["products"]),
        (&"published".into(), &0.into())
    );
    haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
}

/// Returns a server's interpretation of each query over the current release: its corrections, and the number of ignored
/// words.
fn understood(haat: &Haat, queries: &[String]) -> Vec<Value> {
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = served["address"].as_str().unwrap();
    let of = |query: &String| {
        let (status, answer) = get(&format!("{address}/v1/search?mode=hybrid&q={query}"));
        assert_eq!(status, 200, "{query}");
        let told = &answer["provenance"];
        serde_json::json!([query, told["corrections"], told["synonyms"], told["relaxed"]])
    };
    queries.iter().map(of).collect()
}

#[test]
fn words_of_removed_products_are_not_known_before_their_rows_are_gone_either() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "300", "--stores", "8", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let brands = haat.run(&["brands", "list"]).json();
    let slug = brands["brands"][0]["slug"].as_str().unwrap();
    let titles = haat.sql(&format!("select title from products where brand_slug = '{slug}'"));
    let words: std::collections::BTreeSet<String> = titles
        .iter()
        .flat_map(|row| row["title"].as_str().unwrap().split(' '))
        .filter(|word| word.len() > 5 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .map(str::to_lowercase)
        .collect();
    // Queries use each word unchanged and without its fourth letter.
    let queries: Vec<String> = words
        .into_iter()
        .flat_map(|word| [format!("{}{}", &word[..3], &word[4..]), word])
        .collect();
    assert!(queries.len() > 20, "{queries:?}");
    haat.run(&["brands", "remove", slug]).json();
    let masked = haat.run(&["release", "build", "--accept-collapse"]).json();
    assert_eq!(masked["parts_built"], 0, "{masked}");
    let before = understood(&haat, &queries);
    let whole = haat.run(&["release", "build", "--full", "--accept-collapse"]).json();
    assert_ne!(whole["release"], masked["release"]);
    assert_eq!(before, understood(&haat, &queries));
}

/// Asserts that SQL over the release counts what the release has, describes its tables, and changes nothing.
fn reads_what_is_served(haat: &Haat, slug: &str, expected: &Value) {
    let served = format!("select count(*) n from products where brand_slug = '{slug}'");
    let served = haat.run(&["sql", "--release", &served]).json();
    assert_eq!(served[0]["n"], *expected);
    assert_eq!(haat.run(&["sql", "--release", "drop table products"]).code, 2);
    for table in ["products", "variants", "reviews", "facets", "brands", "product_matches"] {
        let columns = haat.run(&["sql", "--release", &format!("describe {table}")]).json();
        for column in columns.as_array().unwrap() {
            assert!(
                column["comment"].as_str().is_some_and(|told| told.len() > 5),
                "{table}: {column}"
            );
        }
    }
    let absent = haat.run(&["sql", "--release", "select * from product"]);
    assert!(
        absent
            .stderr
            .contains("a release has brands, facets, product_matches, products, reviews, variants;"),
        "{}",
        absent.stderr
    );
}
