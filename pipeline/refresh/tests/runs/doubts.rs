//! Tests catalogues that are doubtful for reasons other than their size.

use data_storage::{ObjectPath, ObjectStoreExt};
use pipeline_refresh::{Example, HoldReason, Outcome, RunReport, confirm, held_back};
use serde_json::Value;

use crate::support::{Rig, Shop, outcomes, product, slug};

const EMPTY: &str = r#"{"products":[]}"#;
const DAY_MS: i64 = 24 * 3600 * 1000;

fn priced(ids: impl IntoIterator<Item = u64>, price: &str) -> Vec<Value> {
    ids.into_iter().map(|id| product(id, price)).collect()
}

fn titled(ids: impl IntoIterator<Item = u64>, title: impl Fn(u64) -> String) -> Vec<Value> {
    let product = |id| {
        let mut product = product(id, "499.00");
        product["title"] = title(id).into();
        product
    };
    ids.into_iter().map(product).collect()
}

fn list(rig: &Rig, products: Vec<Value>) {
    rig.street.change("tea", |shop| shop.list(products));
}

/// Returns the reason for holding back the run's only store, and its text.
fn doubt(report: &RunReport) -> (HoldReason, String) {
    let outcome = &report.stores[0].outcome;
    match outcome {
        Outcome::HeldBack { doubt: Some(doubt), .. } => (*doubt, outcome.detail().unwrap()),
        other => panic!("{other:?}"),
    }
}

async fn prices(rig: &Rig) -> Vec<i64> {
    let products = rig.products("tea").await;
    products.iter().map(|product| product.variants[0].price_minor).collect()
}

#[tokio::test]
async fn a_listing_that_repeats_its_first_page_or_ends_after_it_while_the_store_counts_more_is_held_back() {
    for repeats in [true, false] {
        let rig = Rig::with([("tea", Shop::of(1..=5))]).await;
        rig.street.change("tea", |shop| shop.states.1 = Some(5));
        assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
        rig.street.change("tea", |shop| {
            shop.pages[1] = if repeats { shop.pages[0].clone() } else { EMPTY.into() };
        });
        let report = rig.run().await;
        let told = "only 3 of 5 products are listed, by the store's own count: 3 products, compared with 5 before";
        assert_eq!(doubt(&report), (HoldReason::Short, told.into()), "{repeats}");
        let held = held_back(&rig.storage).await.unwrap();
        assert_eq!((held[0].doubt, held[0].stated), (Some(HoldReason::Short), Some(5)));
        assert_eq!(rig.ids("tea").await, [1, 2, 3, 4, 5]);
        assert_eq!(outcomes(&rig.run().await), ["tea changed"], "found again");
        assert_eq!(rig.ids("tea").await, [1, 2, 3]);
    }
}

#[tokio::test]
async fn a_store_that_counts_products_it_never_lists_is_believed() {
    let rig = Rig::with([("tea", Shop::of(1..=20))]).await;
    rig.street.change("tea", |shop| shop.states.1 = Some(25));
    assert_eq!(
        outcomes(&rig.run().await),
        ["tea changed"],
        "a first crawl has nothing to lose"
    );
    for (listed, stated, price) in [
        (19, 24, "450.00"),
        (18, 23, "451.00"),
        (18, 30, "452.00"),
        (17, 28, "453.00"),
    ] {
        rig.street.change("tea", |shop| shop.states.1 = Some(stated));
        list(&rig, priced(1..=listed, price));
        assert_eq!(outcomes(&rig.run().await), ["tea changed"], "{listed} of {stated}");
    }
}

#[tokio::test]
async fn prices_of_next_to_nothing_are_held_back_until_the_operator_confirms_them() {
    for (price, minor) in [("0.01", 1), ("0.00", 0), ("4.99", 499)] {
        let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
        rig.run().await;
        list(&rig, priced(1..=30, price));
        for _ in 0..3 {
            let report = rig.run().await;
            let told = "30 of 30 prices fell to almost nothing: 30 products, compared with 30 before";
            assert_eq!(doubt(&report), (HoldReason::Prices, told.into()));
        }
        assert_eq!(prices(&rig).await, [49_900; 30]);
        confirm(&rig.storage, &slug("tea")).await.unwrap();
        assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
        assert_eq!(prices(&rig).await, [minor; 30]);
    }
}

#[tokio::test]
async fn a_sale_and_a_few_free_samples_are_believed() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    let mut products = priced(1..=25, "49.90");
    products.extend(priced(26..=30, "0.00"));
    list(&rig, products);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}

#[tokio::test]
async fn a_catalogue_that_shrinks_twice_is_not_believed_with_prices_of_next_to_nothing() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    list(&rig, priced(1..=8, "499.00"));
    assert_eq!(doubt(&rig.run().await).0, HoldReason::Shrank);
    list(&rig, priced(1..=8, "0.01"));
    for _ in 0..2 {
        assert_eq!(doubt(&rig.run().await).0, HoldReason::Prices);
    }
    assert_eq!(prices(&rig).await, [49_900; 30]);
}

#[tokio::test]
async fn entirely_different_titles_are_held_back_until_they_are_found_again() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    list(&rig, titled(1..=30, |id| format!("Win a phone {id}")));
    let told = "30 of 30 products have completely different titles: 30 products, compared with 30 before";
    assert_eq!(doubt(&rig.run().await), (HoldReason::Titles, told.into()));
    assert_eq!(rig.products("tea").await[0].title, "Tea 1");
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.products("tea").await[0].title, "Win a phone 1");
    // A reworded title is not a different title, and a few different titles do not make a different catalogue.
    list(
        &rig,
        titled(1..=30, |id| {
            if id <= 14 {
                "Green Leaf".into()
            } else {
                format!("Phone: win one ({id})")
            }
        }),
    );
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}

#[tokio::test]
async fn losses_of_a_week_are_one_loss_however_small_each_is() {
    let rig = Rig::with([("tea", Shop::of(1..=100))]).await;
    rig.run().await;
    let state = ObjectPath::from("crawl-state/tea.localhost.json");
    list(&rig, priced(1..=60, "499.00"));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"], "less than half");
    rig.later(2 * DAY_MS);
    list(&rig, priced(1..=55, "499.00"));
    let before = rig.storage.store().get(&state).await.unwrap().bytes().await.unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    // The process was killed between the commit and the write of the crawl state.
    rig.storage.store().put(&state, before.into()).await.unwrap();
    rig.later(2 * DAY_MS);
    list(&rig, priced(1..=40, "499.00"));
    let told = "only 40 of 100 products of the last days are still listed: 40 products, compared with 55 before";
    assert_eq!(doubt(&rig.run().await), (HoldReason::Dwindled, told.into()));
    assert_eq!(rig.ids("tea").await.len(), 55);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"], "found again");
    list(&rig, priced(1..=39, "499.00"));
    assert_eq!(
        outcomes(&rig.run().await),
        ["tea changed"],
        "what was confirmed is over"
    );
}

#[tokio::test]
async fn losses_further_apart_than_a_week_are_losses_of_their_own() {
    let rig = Rig::with([("tea", Shop::of(1..=100))]).await;
    rig.run().await;
    for products in [60, 40, 25] {
        rig.later(8 * DAY_MS);
        list(&rig, priced(1..=products, "499.00"));
        assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    }
}

#[tokio::test]
async fn a_run_tells_what_came_what_went_and_what_has_another_price() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=10))]).await;
    let first = rig.run().await;
    let totals = |report: &RunReport| {
        let totals = report.totals;
        (totals.products_added, totals.products_removed, totals.prices_changed)
    };
    assert_eq!(totals(&first), (14, 0, 0));
    let mut products = priced(3..=6, "450.00");
    products.extend(priced(7..=15, "499.00"));
    list(&rig, products);
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate unchanged", "tea changed"]);
    assert_eq!((totals(&report), report.stores[0].changes.clone()), ((5, 2, 4), None));
    let changes = report.stores[1].changes.clone().unwrap();
    let added = |id| Example::Added {
        title: format!("Tea {id}"),
    };
    let removed = |id| Example::Removed {
        title: format!("Tea {id}"),
    };
    let price = |id| Example::Price {
        title: format!("Tea {id}"),
        before_minor: 49_900,
        now_minor: 45_000,
        currency: "INR".parse().unwrap(),
    };
    let few = [added(11), added(12), removed(1), removed(2), price(3), price(4)];
    assert_eq!(changes.examples, few);
    let kept = pipeline_refresh::read_run(&rig.storage, &report.run).await.unwrap();
    assert_eq!(kept, Some(report), "what the summary keeps is what was told");
}
