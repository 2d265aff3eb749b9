use std::collections::BTreeSet;

use data_model::ReviewWidget;
use emulator::WidgetFault;
use pipeline_reviews::ReviewsOptions;

use crate::support::{Market, one};

#[tokio::test]
async fn counts_texts_and_ratings_of_all_four_apps_are_exact_and_a_second_run_costs_one_request_a_store() {
    let market = Market::open().await;
    let products = market.versions().await;
    let report = market.run().await;
    let used: BTreeSet<_> = report.asked.iter().filter_map(|one| one.source).collect();
    assert_eq!(
        (used.len(), report.run.brands, report.commits),
        (4, 10, 1),
        "{report:?}"
    );
    assert!(
        report.added > 500 && report.asked.iter().all(|one| one.error.is_none()),
        "{report:?}"
    );
    market.check().await;
    let versions = market.versions().await;
    let changed: Vec<&String> = versions
        .iter()
        .filter(|(name, version)| products[*name] != **version)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["crawl_runs", "widget_ratings", "widget_reviews"]);

    let asked = market.asked();
    let again = market.run().await;
    assert_eq!((again.commits, again.changed, again.requests), (0, 0, 8), "{again:?}");
    assert_eq!(market.asked() - asked, 8);
    assert_eq!(market.versions().await, versions);
    let of_pages = market.running.widget_requests(ReviewWidget::Yotpo);
    assert_eq!(of_pages.answered(304), 2, "a validator is shown where one was given");

    let soon = market
        .run_with(&ReviewsOptions {
            only: Some(vec![]),
            ..ReviewsOptions::default()
        })
        .await;
    assert_eq!((soon.run.due, soon.requests), (0, 0));
}

#[tokio::test]
async fn new_edited_and_deleted_reviews_arrive_and_cost_little() {
    let market = Market::open().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        let (store, truth) = market.of(widget);
        let handle = &truth.reviews[0].handle;
        market
            .running
            .add_review(&store.slug, handle, 2, "Came broken & late.")
            .unwrap()
            .unwrap();
        let report = market.run().await;
        let told = one(&report, &store);
        assert_eq!(
            (told.outcome, told.added, told.edited, told.removed),
            ("read", 1, 0, 0),
            "{told:?}"
        );
        assert!(
            told.requests <= 3,
            "{widget}: the list's first page, and the product's rating: {told:?}"
        );
        market.check().await;

        // The newest page shows the edit, even if the app's count is unchanged.
        let newest = market.of(widget).1.reviews[0].clone();
        market
            .running
            .edit_review(&store.slug, &newest.id, 5, "They replaced it.")
            .unwrap();
        let told = market.run().await;
        assert_eq!(one(&told, &store).edited, 1, "{widget}");
        market.check().await;

        let oldest = market.of(widget).1.reviews.pop().unwrap();
        market.running.delete_review(&store.slug, &oldest.id).unwrap();
        let told = market.run().await;
        assert_eq!(one(&told, &store).removed, 1, "{widget}");
        market.check().await;
    }
}

#[tokio::test]
async fn an_edit_that_no_count_tells_of_is_found_by_a_sweep() {
    let market = Market::open().await;
    market.run().await;
    let (store, truth) = market.of(ReviewWidget::Judgeme);
    let old = truth.reviews.last().unwrap();
    market
        .running
        .edit_review(&store.slug, &old.id, old.stars, "On second thoughts.")
        .unwrap();
    assert_eq!(one(&market.run().await, &store).outcome, "unchanged");
    let swept = market
        .run_with(&ReviewsOptions {
            sweep: true,
            ..ReviewsOptions::default()
        })
        .await;
    assert_eq!(one(&swept, &store).edited, 1);
    market.check().await;
    market.later(31 * 24);
    let oldest = truth.reviews[truth.reviews.len() - 2].clone();
    market
        .running
        .edit_review(&store.slug, &oldest.id, oldest.stars, "By the month.")
        .unwrap();
    assert_eq!(one(&market.run().await, &store).edited, 1, "every month anyway");
    market.check().await;
}

#[tokio::test]
async fn a_run_that_is_cut_short_goes_on_where_it_was() {
    let mut market = Market::open().await;
    (market.config.pages_max, market.config.products_max) = (2, 5);
    let (store, truth) = market.of(ReviewWidget::Judgeme);
    assert!(truth.reviews.len() > 60, "{}", truth.reviews.len());
    let first = market.run().await;
    let told = one(&first, &store);
    assert_eq!((told.outcome, told.added), ("partial", 40), "{told:?}");
    // Reviews written during the reading shift the list.
    market
        .running
        .add_review(&store.slug, &truth.reviews[0].handle, 4, "Meanwhile.")
        .unwrap()
        .unwrap();
    for _ in 0..40 {
        let report = market.run().await;
        if report.asked.iter().all(|one| one.outcome != "partial") {
            break;
        }
    }
    market.check().await;
    let again = market.run().await;
    assert_eq!((again.commits, again.requests), (0, 8), "{again:?}");
}

#[tokio::test]
async fn a_run_that_is_cut_short_is_gone_on_with_by_the_next_however_soon() {
    let mut market = Market::open().await;
    (market.config.pages_max, market.config.after_s) = (2, 3 * 86_400);
    let (store, truth) = market.of(ReviewWidget::Judgeme);
    assert!(truth.reviews.len() > 60, "{}", truth.reviews.len());
    assert_eq!(one(&market.run().await, &store).outcome, "partial");
    let next = market.run().await;
    assert!(one(&next, &store).added > 0, "{next:?}");
    // Stores that were read completely are not due.
    assert!(next.run.due < next.run.brands, "{next:?}");
}

#[tokio::test]
async fn an_app_that_dies_in_the_middle_loses_nothing_that_was_read() {
    let market = Market::open().await;
    for requests in [1, 3, 5, 8, 13, 21, 34] {
        for widget in ReviewWidget::ALL {
            market
                .running
                .set_widget_fault(widget, WidgetFault::DiesAfter { requests });
        }
        let report = market.run().await;
        let has_failed = report.asked.iter().any(|one| one.outcome == "failed");
        assert!(has_failed || requests > 8, "{report:?}");
    }
    for widget in ReviewWidget::ALL {
        market.running.set_widget_fault(widget, None);
    }
    market.run().await;
    market.run().await;
    market.check().await;
}

#[tokio::test]
async fn an_app_that_says_wait_is_waited_for_and_its_robots_are_obeyed() {
    let mut market = Market::open().await;
    market.storefront.retries_max = 3;
    market.config.rate_start_per_s = 200.0;
    let fault = WidgetFault::Throttle {
        per_second: 20,
        retry_after_s: 1,
    };
    market.running.set_widget_fault(ReviewWidget::Judgeme, fault);
    for _ in 0..4 {
        market.run().await;
    }
    market.check().await;
    let asked = market.running.widget_requests(ReviewWidget::Judgeme);
    assert!(asked.answered(429) > 0, "it did say so");
    assert!(asked.count_of("/robots.txt") > 0);
    let disallowed = asked.count_by_path.keys().any(|path| path.starts_with("/api/"));
    assert!(!disallowed, "{asked:?}");
}

#[tokio::test]
async fn a_dry_run_writes_nothing_and_an_unknown_brand_is_refused() {
    let market = Market::open().await;
    let versions = market.versions().await;
    let dry = market
        .run_with(&ReviewsOptions {
            dry_run: true,
            ..ReviewsOptions::default()
        })
        .await;
    assert!(dry.added > 500 && dry.commits == 0, "{dry:?}");
    assert_eq!(market.versions().await, versions);
    assert!(market.run().await.added > 500, "nothing was noted either");
}
