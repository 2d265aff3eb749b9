use bytes::Bytes;
use data_model::ReviewWidget;
use emulator::WidgetFault;
use pipeline_reviews::ReviewsOptions;
use serde_json::json;

use crate::support::{Market, one};

fn answer(path: &str, status: u16, body: impl Into<Bytes>) -> WidgetFault {
    WidgetFault::Answer {
        path: path.to_owned(),
        status,
        body: body.into(),
    }
}

fn bodies() -> Vec<Bytes> {
    let endless = "[".repeat(200_000);
    let wrong =
        r#"{"html": 7, "response": {"reviews": {}}, "data": null, "reviews": "x", "reviewAggregate": [], "total": -1}"#;
    let huge = format!(r#"{{"html": "{}"}}"#, "x".repeat(3 << 20));
    vec![
        Bytes::new(),
        "<!doctype html><h1>Just a moment...</h1>".into(),
        endless.into(),
        wrong.into(),
        huge.into(),
        Bytes::from_static(b"\xff\xfe\x00{}"),
        r#"{"total_count": 1e400}"#.into(),
    ]
}

#[tokio::test]
async fn hostile_answers_fail_their_store_alone_and_lose_nothing() {
    let mut market = Market::open().await;
    market.config.answer_bytes_max = 1 << 20;
    market.run().await;
    let versions = market.versions().await;
    for widget in ReviewWidget::ALL {
        let (store, _) = market.of(widget);
        for body in bodies() {
            market.running.set_widget_fault(widget, answer("/", 200, body.clone()));
            let report = market.run().await;
            let told = one(&report, &store);
            assert_eq!(
                (told.outcome, told.error.is_some()),
                ("failed", true),
                "{widget} {told:?}"
            );
            let others = report.asked.iter().filter(|one| one.source != Some(widget));
            assert!(others.into_iter().all(|one| one.outcome != "failed"), "{report:?}");
        }
        for status in [403, 404, 500, 503] {
            market.running.set_widget_fault(widget, answer("/", status, "no"));
            assert_eq!(one(&market.run().await, &store).outcome, "failed", "{widget} {status}");
        }
        market.running.set_widget_fault(widget, None);
    }
    assert_eq!(market.versions().await, versions);
    market.later(2);
    market.run().await;
    market.check().await;
}

#[tokio::test]
async fn records_that_are_none_are_refused_by_name_and_the_others_are_kept() {
    let market = Market::open().await;
    let (store, truth) = market.of(ReviewWidget::Stamped);
    let product = truth.reviews[0].product;
    let review = |id: serde_json::Value, stars: serde_json::Value, product: u64| {
        json!({"id": id, "reviewRating": stars, "reviewMessage": "Fine.\u{1b}[2J\u{0}", "productId": product,
            "dateCreated": "2026-06-01T00:00:00Z", "author": "A\nB"})
    };
    let data = [
        review(json!(1), json!(5), product),
        review(json!(2), json!(6), product),
        review(json!(3), json!("NaN"), product),
        review(json!("../../etc"), json!(5), product),
        review(json!(4), json!(5), 1),
    ];
    let body = json!({"data": data, "total": 5, "rating": 5.0}).to_string();
    market
        .running
        .set_widget_fault(ReviewWidget::Stamped, answer("/api/widget", 200, body));
    let report = market.run().await;
    let told = one(&report, &store);
    assert_eq!((told.added, told.reviews), (1, 1), "{told:?}");
    let subjects: Vec<&str> = told.refused.iter().map(|one| one.subject.as_str()).collect();
    assert_eq!(subjects, ["2", "3", "review 3"]);
    let quarantined = market.refused(&store).await;
    let told: Vec<(&str, &str)> = quarantined
        .iter()
        .map(|(subject, reason, _)| (subject.as_str(), reason.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("stamped page 1 review 3", "the review has no usable id"),
            ("stamped review 2", "the review has 6.0 stars, not 1 to 5"),
            ("stamped review 3", "the review has no number of stars"),
        ]
    );
    let shown = &quarantined[2].2;
    assert!(
        shown.contains(r#""reviewRating":"NaN""#) && shown.len() < 5_000,
        "{shown}"
    );
    let held = market.held(&store).await.reviews;
    let kept = held.first().unwrap();
    assert_eq!(kept.3.as_deref(), Some("A B"));
    assert!(
        kept.5.starts_with("Fine.") && !kept.5.contains(char::is_control),
        "{kept:?}"
    );

    let again = market.run().await;
    assert_eq!(
        (one(&again, &store).outcome, again.commits),
        ("unchanged", 0),
        "{again:?}"
    );

    market.running.set_widget_fault(ReviewWidget::Stamped, None);
    let sweep = ReviewsOptions {
        sweep: true,
        ..ReviewsOptions::default()
    };
    market.run_with(&sweep).await;
    // Only a second reading of a shorter list is trusted.
    market.run_with(&sweep).await;
    market.check().await;
    assert_eq!(market.refused(&store).await, []);
}

#[tokio::test]
async fn a_list_that_never_ends_and_one_that_shows_too_little_are_left() {
    let market = Market::open().await;
    market.run().await;
    let (store, truth) = market.of(ReviewWidget::Stamped);
    // Every page is the same and states a higher count than it shows.
    let first = &truth.reviews[0];
    let data = json!([{"id": first.id.parse::<u64>().unwrap(), "reviewRating": 5, "productId": first.product}]);
    let body = json!({"data": data, "total": 1_000_000, "rating": 5.0}).to_string();
    market
        .running
        .set_widget_fault(ReviewWidget::Stamped, answer("/api/widget", 200, body));
    let report = market.run().await;
    let told = one(&report, &store);
    assert_eq!((told.outcome, told.removed), ("partial", 0), "{told:?}");
    assert!(told.requests <= 3, "{told:?}");
    let held = market.held(&store).await.reviews;
    assert_eq!(held.len(), truth.reviews.len(), "none is dropped");
    market.running.set_widget_fault(ReviewWidget::Stamped, None);
    market.run().await;
    market.check().await;
}
