use data_model::ReviewWidget;
use emulator::WidgetFault;
use pipeline_reviews::ReviewsOptions;
use pipeline_task::{RereadOptions, RereadOutcome};

use crate::support::Market;

/// Reviews of every app are read, edited, added and deleted, one day apart.
async fn weeks(market: &Market) {
    market.run().await;
    for widget in ReviewWidget::ALL {
        let (store, truth) = market.of(widget);
        let handle = &truth.reviews[0].handle;
        market
            .running
            .add_review(&store.slug, handle, 2, "Came broken & late.")
            .unwrap()
            .unwrap();
        market.run().await;
        let newest = market.of(widget).1.reviews[0].clone();
        market
            .running
            .edit_review(&store.slug, &newest.id, 5, "They replaced it.")
            .unwrap();
        market.run().await;
        let oldest = market.of(widget).1.reviews.pop().unwrap();
        market.running.delete_review(&store.slug, &oldest.id).unwrap();
        market.run().await;
    }
}

#[tokio::test]
async fn rows_that_are_lost_are_made_again_of_what_is_landed_and_nobody_is_asked() {
    let market = Market::open().await;
    let empty = market.now();
    weeks(&market).await;
    market.check().await;
    let (before, asked) = (market.all_held().await, market.asked());
    let same = market.reread(&RereadOptions::default()).await;
    assert_eq!(
        (
            same.totals.counts.changed,
            same.totals.counts.unchanged,
            same.totals.counts.left
        ),
        (0, 8, 2),
        "{same:?}"
    );

    market.restore(empty).await;
    assert!(market.all_held().await.values().all(|held| held.reviews.is_empty()));
    let dry = RereadOptions {
        dry_run: true,
        ..RereadOptions::default()
    };
    let told = market.reread(&dry).await;
    let reviews: usize = before.values().map(|held| held.reviews.len()).sum();
    assert_eq!(
        (told.totals.counts.changed, told.totals.reviews_added),
        (8, reviews as u64)
    );
    assert!(market.all_held().await.values().all(|held| held.reviews.is_empty()));

    let only = RereadOptions {
        only: Some(vec![told.brands[0].brand.clone(), told.brands[3].brand.clone()]),
        ..RereadOptions::default()
    };
    market.reread(&only).await;
    let made = market.reread(&RereadOptions::default()).await;
    assert!(
        made.totals.counts.changed < 8 && made.totals.counts.changed > 0,
        "{made:?}"
    );
    assert_eq!(market.all_held().await, before);
    market.check().await;
    assert_eq!(market.asked(), asked);
    let undo = made.undo_as_of.unwrap();
    market.restore(undo).await;
    assert_ne!(market.all_held().await, before);
}

#[tokio::test]
async fn a_list_that_is_read_in_parts_is_told_by_all_of_them_and_not_before_its_end() {
    let mut market = Market::open().await;
    (market.config.pages_max, market.config.products_max) = (2, 5);
    let empty = market.now();
    let (store, _) = market.of(ReviewWidget::Judgeme);
    market.run().await;
    let told = market.reread(&RereadOptions::default()).await;
    let of_store = |told: &pipeline_reviews::RereadReviews| {
        let mut brands = told.brands.iter();
        brands.find(|one| one.brand.as_str() == store.slug).unwrap().outcome
    };
    assert_eq!(of_store(&told), RereadOutcome::NotWhole);
    for _ in 0..40 {
        let report = market.run().await;
        if report.asked.iter().all(|one| one.outcome != "partial") {
            break;
        }
    }
    market.check().await;
    let before = market.all_held().await;
    market.restore(empty).await;
    let told = market.reread(&RereadOptions::default()).await;
    assert_eq!(of_store(&told), RereadOutcome::Changed);
    assert_eq!(market.all_held().await, before);
}

#[tokio::test]
async fn what_is_landed_goes_with_time_but_not_what_a_whole_list_is_told_by() {
    let market = Market::open().await;
    weeks(&market).await;
    let (store, _) = market.of(ReviewWidget::Yotpo);
    assert_eq!(market.landed(&store).await, 4);
    // An unchanged answer is not landed.
    market.run().await;
    assert_eq!(market.landed(&store).await, 4);
    let sweep = ReviewsOptions {
        sweep: true,
        keep_days: 1_000,
        ..ReviewsOptions::default()
    };
    market.run_with(&sweep).await;
    assert_eq!(market.landed(&store).await, 5);
    market.run_with(&ReviewsOptions { keep_days: 0, ..sweep }).await;
    assert_eq!(market.landed(&store).await, 1);
    let before = market.all_held().await;
    let told = market.reread(&RereadOptions::default()).await;
    assert_eq!(
        (told.totals.counts.changed, told.totals.counts.unchanged),
        (0, 8),
        "{told:?}"
    );
    assert_eq!(market.all_held().await, before);
}

#[tokio::test]
async fn an_older_state_is_taken_only_when_it_is_asked_for() {
    let market = Market::open().await;
    market.run().await;
    let (store, truth) = market.of(ReviewWidget::Okendo);
    let first = market.all_held().await;
    market.later(1);
    let until = Some(market.now());
    market
        .running
        .add_review(&store.slug, &truth.reviews[0].handle, 3, "Later.")
        .unwrap()
        .unwrap();
    market.run().await;
    let range = RereadOptions {
        until,
        ..RereadOptions::default()
    };
    let told = market.reread(&range).await;
    let outcome = |told: &pipeline_reviews::RereadReviews| {
        let mut brands = told.brands.iter();
        brands.find(|one| one.brand.as_str() == store.slug).unwrap().outcome
    };
    assert_eq!(outcome(&told), RereadOutcome::Older);
    let told = market.reread(&RereadOptions { older: true, ..range }).await;
    assert_eq!(outcome(&told), RereadOutcome::Changed);
    assert_eq!(market.all_held().await[&store.slug].reviews, first[&store.slug].reviews);
    // Without a range, the newest state is restored.
    market.reread(&RereadOptions::default()).await;
    market.check().await;
}

#[tokio::test]
async fn readings_that_died_before_their_first_page_are_begun_anew() {
    let market = Market::open().await;
    market.run().await;
    let sweep = ReviewsOptions {
        sweep: true,
        ..ReviewsOptions::default()
    };
    for widget in ReviewWidget::ALL {
        for requests in 0..3 {
            let (store, mut truth) = market.of(widget);
            let oldest = truth.reviews.pop().unwrap();
            market.running.delete_review(&store.slug, &oldest.id).unwrap();
            market.later(1);
            market
                .running
                .set_widget_fault(widget, WidgetFault::DiesAfter { requests });
            market.run_with(&sweep).await;
            market.running.set_widget_fault(widget, None);
            market.later(24 * 8);
            for _ in 0..2 {
                market.run().await;
            }
            market.check().await;
            let told = market.reread(&RereadOptions::default()).await;
            let unlike = told.brands.iter().find(|one| one.outcome == RereadOutcome::Changed);
            assert_eq!(unlike, None, "{widget} that died after {requests} requests");
            market.check().await;
        }
    }
}

#[tokio::test]
async fn the_next_refresh_brings_back_what_an_older_state_took() {
    let market = Market::open().await;
    market.run().await;
    market.later(1);
    let until = Some(market.now());
    for widget in ReviewWidget::ALL {
        let (store, truth) = market.of(widget);
        let id = &truth.reviews[0].id;
        market.running.edit_review(&store.slug, id, 1, "It broke.").unwrap();
    }
    market.run().await;
    market.check().await;
    let older = RereadOptions {
        until,
        older: true,
        ..RereadOptions::default()
    };
    let now = market.all_held().await;
    let told = market.reread(&older).await;
    assert!(told.totals.reviews_changed >= 4, "{told:?}");
    assert_ne!(market.all_held().await, now);
    market.later(24 * 8);
    market.run().await;
    market.check().await;
}
