//! Tests of valid but strange answers: lists that are temporarily empty or shorter than before.

use data_model::ReviewWidget;
use emulator::{ReviewsTruth, WidgetFault};
use pipeline_reviews::{ReviewsOptions, ReviewsReport};
use serde_json::json;

use crate::support::{Market, one};

fn answer(path: &str, body: &str) -> WidgetFault {
    WidgetFault::Answer {
        path: path.to_owned(),
        status: 200,
        body: body.to_owned().into(),
    }
}

/// Returns the answers of an app without reviews.
fn empty(widget: ReviewWidget) -> Vec<WidgetFault> {
    let bodies: &[(&str, &str)] = match widget {
        ReviewWidget::Judgeme => &[("/", r#"{"html":""}"#), ("/", r#"{"html":"","total_count":0}"#)],
        ReviewWidget::Yotpo => &[
            ("/", r#"{"response":{"reviews":[]}}"#),
            ("/", r#"{"response":{"reviews":[],"pagination":{"total":0}}}"#),
        ],
        ReviewWidget::Stamped => &[("/", r#"{"data":[]}"#), ("/", r#"{"data":[],"total":0}"#)],
        ReviewWidget::Okendo => &[("/", r#"{"reviewAggregate":{"reviewCount":0},"reviews":[]}"#)],
    };
    bodies.iter().map(|(path, body)| answer(path, body)).collect()
}

fn sweep() -> ReviewsOptions {
    ReviewsOptions {
        sweep: true,
        ..ReviewsOptions::default()
    }
}

/// Two stores use each app.
fn removed(report: &ReviewsReport, widget: ReviewWidget) -> u64 {
    let of_app = report.asked.iter().filter(|one| one.source == Some(widget));
    of_app.map(|one| one.removed).sum()
}

/// The list of the first store of each app becomes longer than a page.
fn lengthen(market: &Market) {
    for widget in ReviewWidget::ALL {
        let (store, truth) = market.of(widget);
        for _ in truth.reviews.len()..150 {
            let handle = &truth.reviews[0].handle;
            market
                .running
                .add_review(&store.slug, handle, 4, "One of many.")
                .unwrap()
                .unwrap();
        }
    }
}

#[tokio::test]
async fn a_list_that_is_empty_for_once_drops_nothing() {
    let market = Market::open().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        let (store, _) = market.of(widget);
        let before = market.held(&store).await;
        for fault in empty(widget) {
            for options in [ReviewsOptions::default(), sweep()] {
                market.running.set_widget_fault(widget, fault.clone());
                let report = market.run_with(&options).await;
                let told = one(&report, &store);
                assert_eq!(
                    (told.outcome, told.removed, told.error.is_some()),
                    ("partial", 0, true),
                    "{widget} {fault:?} {told:?}"
                );
                assert_eq!(market.held(&store).await, before, "{widget} {fault:?}");
                market.running.set_widget_fault(widget, None);
                let report = market.run().await;
                assert_eq!(one(&report, &store).error, None, "{widget} {fault:?}");
                market.check().await;
            }
        }
    }
    // Rereading the landed pages of these readings removes nothing either.
    let again = market.reread(&Default::default()).await;
    assert_eq!(
        (again.totals.counts.changed, again.totals.reviews_gone),
        (0, 0),
        "{again:?}"
    );
}

#[tokio::test]
async fn a_list_that_is_empty_twice_is_believed() {
    let market = Market::open().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        let (store, truth) = market.of(widget);
        let fault = empty(widget).remove(0);
        market.running.set_widget_fault(widget, fault);
        assert_eq!(one(&market.run().await, &store).removed, 0, "{widget}");
        let told = market.run().await;
        assert_eq!(one(&told, &store).removed, truth.reviews.len() as u64, "{widget}");
        assert!(market.held(&store).await.reviews.is_empty());
        market.running.set_widget_fault(widget, None);
    }
    market.run().await;
    market.check().await;
}

#[tokio::test]
async fn a_count_that_is_too_low_ends_no_list() {
    let market = Market::undated().await;
    lengthen(&market);
    market.run().await;
    market.check().await;
    for widget in ReviewWidget::ALL {
        for total in [0, 1, 30] {
            for options in [ReviewsOptions::default(), sweep()] {
                market.running.set_widget_fault(widget, WidgetFault::Counts { total });
                let report = market.run_with(&options).await;
                assert_eq!(removed(&report, widget), 0, "{widget} {total} {report:?}");
                market.check().await;
            }
        }
        market.running.set_widget_fault(widget, None);
        market.run().await;
        market.check().await;
    }
    let again = market.run().await;
    assert_eq!((again.commits, again.requests), (0, 8), "{again:?}");
}

#[tokio::test]
async fn a_first_reading_comes_to_the_end_whatever_is_counted() {
    let market = Market::open().await;
    lengthen(&market);
    for widget in ReviewWidget::ALL {
        market
            .running
            .set_widget_fault(widget, WidgetFault::Counts { total: 2 });
    }
    market.run().await;
    market.check().await;
}

/// Returns a Yotpo list with these reviews, with or without the names of their products.
fn yotpo(truth: &ReviewsTruth, reviews: usize, total: usize, names: bool) -> WidgetFault {
    let shown = truth.reviews.iter().take(reviews);
    let shown: Vec<_> = shown
        .map(|one| json!({"id": one.id.parse::<u64>().unwrap(), "score": one.stars, "product_id": one.product}))
        .collect();
    let products = truth.reviews.iter().filter(|_| names);
    let products: Vec<_> = products
        .map(|one| json!({"id": one.product, "domain_key": one.product.to_string()}))
        .collect();
    let body = json!({"response": {"reviews": shown, "products": products, "pagination": {"total": total}}});
    answer("/v1/widget/", &body.to_string())
}

#[tokio::test]
async fn a_list_whose_products_nobody_knows_for_once_drops_nothing() {
    let market = Market::open().await;
    market.run().await;
    let (store, truth) = market.of(ReviewWidget::Yotpo);
    let all = truth.reviews.len();
    let fault = yotpo(&truth, all, all, false);
    for options in [ReviewsOptions::default(), sweep()] {
        market.running.set_widget_fault(ReviewWidget::Yotpo, fault.clone());
        let report = market.run_with(&options).await;
        let told = one(&report, &store);
        assert_eq!((told.outcome, told.removed), ("partial", 0), "{told:?}");
        assert_eq!(market.held(&store).await.reviews.len(), all);
        let again = market.reread(&Default::default()).await;
        assert_eq!(again.totals.reviews_gone, 0, "{again:?}");
        market.running.set_widget_fault(ReviewWidget::Yotpo, None);
        market.run().await;
        market.check().await;
    }
}

#[tokio::test]
async fn a_count_that_fell_far_is_believed_when_it_is_so_twice() {
    let market = Market::open().await;
    market.run().await;
    let (store, truth) = market.of(ReviewWidget::Yotpo);
    let (all, most) = (truth.reviews.len(), truth.reviews.len() * 3 / 4);
    // The list shows three quarters of the reviews, but the count is far too low.
    market
        .running
        .set_widget_fault(ReviewWidget::Yotpo, yotpo(&truth, most, all / 10, true));
    let report = market.run().await;
    let told = one(&report, &store);
    assert_eq!((told.outcome, told.removed), ("partial", 0), "{told:?}");
    let report = market.run().await;
    assert_eq!(one(&report, &store).removed, (all - most) as u64);
    market.running.set_widget_fault(ReviewWidget::Yotpo, None);
    market.run().await;
    market.check().await;
}

#[tokio::test]
async fn a_page_behind_the_last_that_is_none_ends_the_list() {
    let market = Market::undated().await;
    for (widget, status) in [
        (ReviewWidget::Judgeme, 404),
        (ReviewWidget::Yotpo, 400),
        (ReviewWidget::Stamped, 500),
    ] {
        market.running.set_widget_fault(widget, WidgetFault::Ends { status });
    }
    let report = market.run().await;
    assert!(report.asked.iter().all(|one| one.error.is_none()), "{report:?}");
    market.check().await;
    for widget in [ReviewWidget::Judgeme, ReviewWidget::Yotpo, ReviewWidget::Stamped] {
        let (store, mut truth) = market.of(widget);
        let oldest = truth.reviews.pop().unwrap();
        market.running.delete_review(&store.slug, &oldest.id).unwrap();
        // The app does not state the end of the list, so that unseen reviews are removed only after the second reading.
        let report = market.run().await;
        let told = one(&report, &store);
        assert_eq!((told.outcome, told.removed), ("partial", 0), "{widget} {told:?}");
        let report = market.run().await;
        assert_eq!(one(&report, &store).removed, 1, "{widget}");
        market.check().await;
    }
}
