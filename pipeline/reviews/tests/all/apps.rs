//! Tests of stores that drop or change their review app.

use data_model::ReviewWidget;

use crate::support::{Market, StoreReviews, one};

#[tokio::test]
async fn an_app_is_gone_when_two_looks_a_week_apart_do_not_find_it() {
    let mut market = Market::open().await;
    market.config.sweep_after_s = u64::MAX;
    market.run().await;
    for widget in ReviewWidget::ALL {
        let (store, _) = market.of(widget);
        let before = market.held(&store).await;
        market.running.use_app(&store.slug, None).unwrap();
        market.later(7 * 24);
        let looked = market.run().await;
        let told = one(&looked, &store);
        assert_eq!((told.source, told.removed), (Some(widget), 0), "{told:?}");
        assert_eq!(
            market.held(&store).await,
            before,
            "{widget}: nothing goes at the first look"
        );
        // Six runs, 25 hours apart, take less than a week.
        for day in 1..=6 {
            let report = market.run().await;
            let told = one(&report, &store);
            assert_eq!((told.source, told.removed), (Some(widget), 0), "{day} {told:?}");
            assert_eq!(told.requests, 1, "{day}: only the app is asked: {told:?}");
            assert_eq!(market.held(&store).await, before, "{widget} {day}");
        }
        let report = market.run().await;
        assert_eq!(one(&report, &store).outcome, "gone", "{widget}");
        assert_eq!(market.held(&store).await, StoreReviews::default(), "{widget}");
        market.check().await;
    }
}

#[tokio::test]
async fn a_page_without_the_app_for_some_days_drops_nothing() {
    let market = Market::open().await;
    market.run().await;
    let (store, _) = market.of(ReviewWidget::Judgeme);
    // Only the second of three checks finds the app.
    for app in [None, Some(ReviewWidget::Judgeme), None] {
        market.running.use_app(&store.slug, app).unwrap();
        market.later(7 * 24);
        for _ in 0..3 {
            let told = market.run().await;
            assert_eq!(one(&told, &store).removed, 0, "{app:?}");
        }
    }
    market
        .running
        .use_app(&store.slug, Some(ReviewWidget::Judgeme))
        .unwrap();
    market.check().await;
}

#[tokio::test]
async fn what_the_app_before_published_goes_when_the_new_one_is_read() {
    let market = Market::open().await;
    market.run().await;
    let (store, old) = market.of(ReviewWidget::Judgeme);
    let before = market.held(&store).await;
    market.running.use_app(&store.slug, Some(ReviewWidget::Yotpo)).unwrap();
    // The new app stays unknown while the store's pages are not read.
    assert_eq!(one(&market.run().await, &store).removed, 0);
    assert_eq!(market.held(&store).await, before);
    market.later(7 * 24);
    let report = market.run().await;
    let told = one(&report, &store);
    assert_eq!(
        (told.source, told.outcome, told.removed),
        (Some(ReviewWidget::Yotpo), "read", old.reviews.len() as u64),
        "{told:?}"
    );
    market.check().await;
}

#[tokio::test]
async fn a_new_app_that_shows_nothing_for_once_drops_nothing() {
    let market = Market::open().await;
    market.run().await;
    let (store, _) = market.of(ReviewWidget::Judgeme);
    let reviews = market.held(&store).await.reviews;
    market.running.use_app(&store.slug, Some(ReviewWidget::Yotpo)).unwrap();
    market.running.set_widget_fault(
        ReviewWidget::Yotpo,
        emulator::WidgetFault::Answer {
            path: "/v1/widget/".to_owned(),
            status: 200,
            body: r#"{"response":{"reviews":[]}}"#.into(),
        },
    );
    market.later(7 * 24);
    let report = market.run().await;
    let told = one(&report, &store);
    assert_eq!(
        (told.source, told.outcome, told.removed),
        (Some(ReviewWidget::Yotpo), "partial", 0),
        "{told:?}"
    );
    assert_eq!(market.held(&store).await.reviews, reviews);
    market.running.set_widget_fault(ReviewWidget::Yotpo, None);
    market.run().await;
    market.check().await;
}
