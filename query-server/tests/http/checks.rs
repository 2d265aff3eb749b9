use std::collections::BTreeMap;
use std::sync::Arc;

use data_checks::{CheckOutcome, CheckReport, LastRun, RunEnd};
use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, put_over};
use http::HeaderValue;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use query_server::schema::{self, BrandAnswer, BrandsAnswer, StatsAnswer};
use query_server::{CursorKey, QueryConfig, QueryServer};

use crate::catalogue::{brand, product, small};
use crate::support::Market;

/// Records a crawl run that ended at time `at` and checked these stores, by the slugs of their brands.
async fn record(home: &Storage, end: RunEnd, at: &str, checks: &[(&str, CheckOutcome)]) {
    let ended_at: Timestamp = at.parse().unwrap();
    let run = LastRun {
        run: format!("{}-00000000", at.replace(['-', ':'], "")).parse().unwrap(),
        ended_at,
        end,
        error: None,
    };
    let checked = checks.iter().map(|(slug, outcome)| CheckReport {
        store: format!("{slug}.myshopify.example").parse().unwrap(),
        slug: slug.parse().unwrap(),
        checked_at: ended_at,
        outcome: *outcome,
        code: None,
        detail: None,
        is_incomplete: *slug == "blue-tokai",
    });
    let checked: Vec<_> = checked.collect();
    data_checks::record(home, &run, &checked, |_| true).await.unwrap();
}

fn at(moment: &str) -> Option<Timestamp> {
    moment.parse().ok()
}

async fn tags(market: &Market, paths: &[&str]) -> Vec<HeaderValue> {
    let mut tags = Vec::new();
    for path in paths {
        tags.push(market.get(path).await.headers["etag"].clone());
    }
    tags
}

#[tokio::test]
async fn a_brand_says_when_its_store_was_last_asked_and_what_came_of_it() {
    let market = Market::of(&small()).await;
    let before: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    assert_eq!(
        (before.data.checked_at.newest, before.data.check_outcomes.never_checked),
        (None, 3)
    );
    let unknown: BrandAnswer<'static> = market.get("/v1/brands/kissaten").await.read();
    assert_eq!((unknown.data.checked_at, unknown.data.check_outcome), (None, None));

    record(
        &market.home,
        RunEnd::Finished,
        "2026-11-19T08:00:00Z",
        &[("blue-tokai", CheckOutcome::Changed)],
    )
    .await;
    // A brand that is not in a release yet does not count in the catalogue's totals.
    let second = [
        ("loom-thread", CheckOutcome::HeldBack),
        ("not-yet-there", CheckOutcome::Failed),
    ];
    record(&market.home, RunEnd::Finished, "2026-11-20T08:00:00Z", &second).await;
    market.server.refresh_checks().await;

    let brands: BrandsAnswer<'static> = market.get("/v1/brands").await.read();
    let told: Vec<_> = brands
        .data
        .iter()
        .map(|brand| (brand.slug.as_ref(), brand.checked_at, brand.check_outcome))
        .collect();
    let known = [
        (
            "blue-tokai",
            at("2026-11-19T08:00:00Z"),
            Some(schema::CheckOutcome::Changed),
        ),
        (
            "loom-thread",
            at("2026-11-20T08:00:00Z"),
            Some(schema::CheckOutcome::HeldBack),
        ),
        ("kissaten", None, None),
    ];
    assert_eq!(told, known);
    for (slug, checked_at, outcome) in known {
        let one: BrandAnswer<'static> = market.get(&format!("/v1/brands/{slug}")).await.read();
        assert_eq!(
            (one.data.checked_at, one.data.check_outcome),
            (checked_at, outcome),
            "{slug}"
        );
        let is_complete = outcome.map(|_| slug != "blue-tokai");
        assert_eq!(one.data.catalogue_complete, is_complete, "{slug}");
    }
    let stats: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    let span = stats.data.checked_at;
    assert_eq!(
        (span.oldest, span.newest),
        (at("2026-11-19T08:00:00Z"), at("2026-11-20T08:00:00Z"))
    );
    let outcomes = stats.data.check_outcomes;
    assert_eq!(
        (
            outcomes.changed,
            outcomes.unchanged,
            outcomes.held_back,
            outcomes.failed,
            outcomes.never_checked
        ),
        (1, 0, 1, 0, 1)
    );
}

#[tokio::test]
async fn a_check_without_a_release_changes_the_tags_of_what_tells_of_it_and_no_others() {
    let market = Market::of(&small()).await;
    let id = market.get("/v1/search?limit=1").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let telling = ["/v1/stats", "/v1/brands", "/v1/brands?limit=2", "/v1/brands/kissaten"];
    let product = format!("/v1/products/{id}");
    let others = [
        "/v1/search?q=coffee",
        "/v1/categories",
        "/v1/browse?brand=kissaten",
        "/v1/suggest?q=coffee",
        &product,
    ];
    let (told, silent) = (tags(&market, &telling).await, tags(&market, &others).await);
    let first: BrandsAnswer<'static> = market.get("/v1/brands?limit=2").await.read();
    let cursor = first.provenance.page.next_cursor.unwrap();

    record(
        &market.home,
        RunEnd::Finished,
        "2026-11-20T08:00:00Z",
        &[("kissaten", CheckOutcome::Failed)],
    )
    .await;
    market.server.refresh_checks().await;
    let now = tags(&market, &telling).await;
    for (at, path) in telling.iter().enumerate() {
        assert_ne!(now[at], told[at], "{path}");
    }
    assert_eq!(tags(&market, &others).await, silent);
    // The list of brands has not changed, so its cursors stay valid.
    let rest: BrandsAnswer<'static> = market.get(&format!("/v1/brands?limit=2&cursor={cursor}")).await.read();
    assert_eq!(rest.data[0].check_outcome, Some(schema::CheckOutcome::Failed));

    // Neither a run that checked no store nor another read of the same record changes an entity tag.
    record(&market.home, RunEnd::Failed, "2026-11-21T08:00:00Z", &[]).await;
    market.server.refresh_checks().await;
    market.server.refresh_checks().await;
    assert_eq!(tags(&market, &telling).await, now);
}

#[tokio::test]
async fn a_release_that_is_swapped_in_tells_the_checks_that_are_known() {
    let market = Market::empty();
    record(
        &market.home,
        RunEnd::Finished,
        "2026-11-20T08:00:00Z",
        &[("fresh", CheckOutcome::Unchanged)],
    )
    .await;
    market.server.refresh_checks().await;
    for title in ["Mug", "Cup"] {
        let facts = brand("Fresh", "INR");
        market
            .publish(&vec![(facts.clone(), vec![product(&facts, 1, title)])])
            .await;
        market.server.refresh().await.unwrap();
        let one: BrandAnswer<'static> = market.get("/v1/brands/fresh").await.read();
        assert_eq!(one.data.check_outcome, Some(schema::CheckOutcome::Unchanged), "{title}");
        let stats: StatsAnswer<'static> = market.get("/v1/stats").await.read();
        assert_eq!(stats.data.checked_at.newest, at("2026-11-20T08:00:00Z"), "{title}");
    }
}

#[tokio::test]
async fn what_follows_releases_follows_checks_too() {
    let market = Market::of(&small()).await;
    let before = market.get("/v1/stats").await.headers["etag"].clone();
    record(
        &market.home,
        RunEnd::Finished,
        "2026-11-20T08:00:00Z",
        &[("kissaten", CheckOutcome::Changed)],
    )
    .await;
    let stop = tokio_util::sync::CancellationToken::new();
    let following = tokio::spawn({
        let (server, stop) = (market.server.clone(), stop.clone());
        async move { server.follow(stop).await }
    });
    while market.get("/v1/stats").await.headers["etag"] == before {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    following.await.unwrap();
}

#[tokio::test]
async fn a_record_that_cannot_be_read_leaves_what_is_known() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let counting = metrics::set_default_local_recorder(&recorder);
    let market = Market::of(&small()).await;
    let faulty = FaultyStore::new(Arc::clone(market.home.store()));
    let home = Storage::with_store(Arc::new(faulty.clone()), market.home.url().clone());
    let mut config = QueryConfig::new("INR".parse().unwrap());
    config.cursor_key = CursorKey::from_secret("test");
    config.checks = Some(home.clone());
    let cache = tempfile::tempdir().unwrap();
    let server = QueryServer::new(
        market.store(),
        cache.path().join("cache"),
        kit::SetClock::noon(),
        config,
    );
    server.refresh().await.unwrap();
    record(
        &home,
        RunEnd::Finished,
        "2026-11-20T08:00:00Z",
        &[("kissaten", CheckOutcome::Changed)],
    )
    .await;
    server.refresh_checks().await;

    faulty.arm(FaultPlan {
        nth: 1,
        kind: FaultKind::BeforeEffect,
        dead_after: true,
    });
    put_over(&home, &ObjectPath::from("dies"), "x").await.unwrap_err();
    for _ in 0..3 {
        server.refresh_checks().await;
    }
    let request = || {
        http::Request::get("/v1/brands/kissaten")
            .body(axum::body::Body::empty())
            .unwrap()
    };
    let during: BrandAnswer<'static> = crate::support::send(server.router(None), request()).await.read();
    assert_eq!(during.data.check_outcome, Some(schema::CheckOutcome::Changed));
    drop(counting);
    let counted = recorder.handle().render();
    assert!(counted.contains("query_checks_failed_total 3\n"), "{counted}");

    faulty.disarm();
    record(
        &home,
        RunEnd::Finished,
        "2026-11-21T08:00:00Z",
        &[("kissaten", CheckOutcome::Failed)],
    )
    .await;
    server.refresh_checks().await;
    let after: BrandAnswer<'static> = crate::support::send(server.router(None), request()).await.read();
    assert_eq!(after.data.check_outcome, Some(schema::CheckOutcome::Failed));
}

#[tokio::test]
async fn metrics_tell_how_old_checks_are_and_what_came_of_them() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let counting = metrics::set_default_local_recorder(&recorder);
    let market = Market::of(&small()).await;
    market.server.refresh_checks().await;
    // The metrics leave out unknown times, because 0 would mean 1970.
    assert!(!recorder.handle().render().contains("crawl_last"));
    let first = [
        ("kissaten", CheckOutcome::Failed),
        ("loom-thread", CheckOutcome::Failed),
    ];
    record(&market.home, RunEnd::Finished, "2026-11-19T08:00:00Z", &first).await;
    record(
        &market.home,
        RunEnd::Failed,
        "2026-11-20T08:00:00Z",
        &[("blue-tokai", CheckOutcome::Unchanged)],
    )
    .await;
    market.server.refresh_checks().await;
    let told = recorder.handle().render();
    for line in [
        "crawl_last_checked_timestamp_seconds{stat=\"oldest\"} 1795075200",
        "crawl_last_checked_timestamp_seconds{stat=\"newest\"} 1795161600",
        "brands_by_check_outcome{outcome=\"failed\"} 2",
        "brands_by_check_outcome{outcome=\"unchanged\"} 1",
        "brands_by_check_outcome{outcome=\"held_back\"} 0",
        "crawl_last_run_ended_timestamp_seconds 1795161600",
        "crawl_last_run_failed 1",
    ] {
        assert!(told.lines().any(|one| one == line), "{line} in {told}");
    }
    record(&market.home, RunEnd::Finished, "2026-11-21T08:00:00Z", &first).await;
    market.server.refresh_checks().await;
    drop(counting);
    let told = recorder.handle().render();
    assert!(told.contains("crawl_last_run_failed 0\n"), "{told}");
    assert!(!told.contains("kissaten"), "no brand is a label: {told}");
}

#[test]
fn the_description_names_what_checks_tell() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let schemas = &document["components"]["schemas"];
    let outcomes: BTreeMap<_, _> = CheckOutcome::ALL.map(|one| (one.as_str(), ())).into();
    let named = schemas["CheckOutcome"]["enum"].as_array().unwrap();
    assert_eq!(
        named
            .iter()
            .map(|one| (one.as_str().unwrap(), ()))
            .collect::<BTreeMap<_, _>>(),
        outcomes
    );
    for (schema, member) in [
        ("Brand", "checked_at"),
        ("BrandDetail", "checked_at"),
        ("CheckStats", "oldest"),
        ("CheckStats", "newest"),
    ] {
        let described = &schemas[schema]["properties"][member];
        assert_eq!(described["format"], "date-time", "{schema}.{member}: {described}");
        assert!(
            schemas[schema]["required"].as_array().unwrap().contains(&member.into()),
            "{schema}.{member}"
        );
    }
}
