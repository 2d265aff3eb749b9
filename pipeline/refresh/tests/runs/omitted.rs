//! Tests the variants that listings omit.

use data_model::Product;
use serde_json::json;

use crate::support::{Fault, Rig, Shop, outcomes, product, product_of};

const GRAPHQL: &str = "tea/api/2026-04/graphql.json";
const DAY_MS: i64 = 24 * 3_600_000;

/// Creates a rig whose store has products with these numbers of variants, with the ids 1, 2 and so on.
async fn rig(variants: &[usize]) -> Rig {
    let rig = Rig::with([("tea", Shop::of([]))]).await;
    let products = (1..).zip(variants.iter().copied());
    rig.street.change("tea", |shop| {
        shop.variants = products.clone().collect();
        shop.list(products.map(|(id, variants)| product_of(id, variants)));
    });
    rig
}

/// Returns the number of variants of each product in the lake, and if they are all.
async fn known(rig: &Rig) -> Vec<(usize, bool)> {
    let of = |product: &Product| (product.variants.len(), product.variants_complete());
    rig.products("tea").await.iter().map(of).collect()
}

/// Returns the number of GraphQL requests since the last call.
fn asked(rig: &Rig) -> usize {
    let asked = rig.street.take_asked();
    asked.iter().filter(|asked| asked.starts_with(GRAPHQL)).count()
}

/// Sets a later update of a product with this number of variants.
fn touch(rig: &Rig, variants: usize, day: u32) {
    let mut product = product_of(1, variants);
    product["updated_at"] = json!(format!("2026-02-{day:02}T00:00:00Z"));
    rig.street.change("tea", |shop| shop.list([product]));
}

#[tokio::test]
async fn variants_that_the_listing_omits_are_read_once_and_stay_with_runs_that_do_not_ask() {
    let mut rig = rig(&[600, 250, 3]).await;
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(known(&rig).await, [(600, true), (250, true), (3, true)]);
    assert_eq!(asked(&rig), 2);

    let product = rig.products("tea").await.swap_remove(0);
    let ids: Vec<u64> = product.variants.iter().map(|variant| variant.id.0).collect();
    assert_eq!(ids, (10_000..10_600).collect::<Vec<_>>());
    let (listed, omitted) = (&product.variants[0], &product.variants[599]);
    assert_eq!((listed.available, omitted.available), (false, true));
    assert_eq!((listed.price_minor, omitted.price_minor), (49_900, 49_900));
    assert_eq!((listed.grams, omitted.grams), (Some(500), Some(500)));
    assert_eq!(
        (omitted.title.as_str(), omitted.options[0].value.as_str()),
        ("599", "599")
    );

    let versions = rig.versions().await;
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert_eq!((asked(&rig), rig.versions().await), (0, versions));

    rig.config.variant_requests_max = 0;
    touch(&rig, 600, 1);
    rig.run().await;
    assert_eq!((asked(&rig), known(&rig).await), (0, vec![(600, true)]));

    rig.config.variant_requests_max = 8;
    rig.street.change("tea", |shop| shop.variants = [(1, 400)].into());
    touch(&rig, 400, 2);
    rig.run().await;
    assert_eq!((asked(&rig), known(&rig).await), (1, vec![(400, true)]));
    touch(&rig, 40, 3);
    rig.run().await;
    assert_eq!((asked(&rig), known(&rig).await), (0, vec![(40, true)]));
}

#[tokio::test]
async fn requests_of_a_run_are_bounded_and_the_next_run_goes_on() {
    let rig = rig(&[2048, 600]).await;
    for (requests, of_second, outcome) in [
        (8, (250, false), "tea changed"),
        (2, (600, true), "tea changed"),
        (0, (600, true), "tea unchanged"),
    ] {
        assert_eq!(outcomes(&rig.run().await), [outcome]);
        assert_eq!(
            (asked(&rig), known(&rig).await),
            (requests, vec![(2048, true), of_second])
        );
    }
}

#[tokio::test]
async fn a_product_with_more_variants_than_a_run_may_ask_for_is_not_asked_for_again() {
    let mut rig = rig(&[2048, 600]).await;
    rig.config.variant_requests_max = 2;
    let first = (250, false);
    for (requests, of_second) in [(2, (250, false)), (2, (600, true)), (0, (600, true))] {
        rig.run().await;
        assert_eq!((asked(&rig), known(&rig).await), (requests, vec![first, of_second]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_is_left_alone_for_a_week_and_its_omitted_variants_become_unknown() {
    let error = r#"{"errors":[{"message":"Field 'x' doesn't exist","extensions":{"code":"undefinedField"}}]}"#;
    for fault in [
        Fault::Answer(200, error.into()),
        Fault::Answer(200, "<html>".into()),
        Fault::Answer(403, String::new()),
        Fault::Answer(429, String::new()),
        Fault::Answer(500, String::new()),
    ] {
        let rig = rig(&[600]).await;
        rig.run().await;
        assert_eq!((asked(&rig), known(&rig).await), (2, vec![(600, true)]));
        rig.street.fault("tea", "graphql", fault.clone());
        for (days, requests, variants) in [(0, 1, (600, true)), (2, 0, (600, true)), (6, 1, (250, false))] {
            rig.later(days * DAY_MS);
            touch(&rig, 600, u32::try_from(days).unwrap() + 1);
            rig.run().await;
            assert_eq!(
                (asked(&rig), known(&rig).await),
                (requests, vec![variants]),
                "{fault:?}"
            );
        }
        rig.later(8 * DAY_MS);
        rig.street.change("tea", |shop| shop.faults.clear());
        rig.run().await;
        assert_eq!((asked(&rig), known(&rig).await), (2, vec![(600, true)]), "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_without_the_product_or_in_another_currency_leaves_the_variants_unknown() {
    let dollars = r#"{"data":{"product":{"variantsCount":{"count":251},"variants":{"nodes":[{"id":"gid://shopify/ProductVariant/7",
        "title":"7","price":{"amount":"5.0","currencyCode":"USD"}}],"pageInfo":{"hasNextPage":true,"endCursor":"a"}}}}}"#;
    for answer in [r#"{"data":{"product":null}}"#, dollars] {
        let rig = rig(&[600]).await;
        rig.street.fault("tea", "graphql", Fault::Answer(200, answer.into()));
        for requests in [1, 0] {
            rig.run().await;
            assert_eq!((asked(&rig), known(&rig).await), (requests, vec![(250, false)]));
        }
        rig.street.change("tea", |shop| shop.list([product(1, "499.00")]));
        rig.run().await;
        assert_eq!((asked(&rig), known(&rig).await), (0, vec![(1, true)]));
    }
}
