use data_codes::load;
use pipeline_refresh::{CodesRead, RunOptions};

use crate::support::{Fault, Rig, Shop, outcomes, product};

fn telling(bar: &str) -> Shop {
    Shop {
        front: Some(bar.to_owned()),
        ..Shop::of(1..=2)
    }
}

async fn codes(rig: &Rig) -> Vec<String> {
    let stated = load(&rig.storage, &"tea.localhost".parse().unwrap()).await.unwrap();
    stated.all().into_iter().map(|stated| stated.code).collect()
}

/// Runs of this rig read the discount codes that stores state.
async fn reading(shop: Shop) -> Rig {
    let mut rig = Rig::with([("tea", shop)]).await;
    rig.config.crawl.front_page_after_s = 3600;
    rig
}

#[tokio::test]
async fn codes_that_a_store_states_are_kept_beside_the_lake_and_change_without_a_commit() {
    let rig = reading(telling("<p>Use code TEA10 for 10% off</p>")).await;
    let first = rig.run().await;
    assert_eq!(
        (outcomes(&first), codes(&rig).await),
        (vec!["tea changed".into()], vec!["TEA10".into()])
    );
    let read = CodesRead {
        requests: 1,
        bytes: 33,
        codes: 1,
    };
    assert_eq!((first.stores[0].codes, first.totals.codes), (Some(read), read));

    let versions = rig.versions().await;
    rig.street.change("tea", |shop| {
        shop.front = Some("<p>Use code TEA20 for 20% off</p>".into())
    });
    let second = rig.run().await;
    assert_eq!(
        (codes(&rig).await, second.stores[0].codes),
        (vec!["TEA10".into()], None)
    );
    rig.later(2 * 3600 * 1000);
    let third = rig.run().await;
    assert_eq!(
        (outcomes(&third), codes(&rig).await),
        (vec!["tea unchanged".into()], vec!["TEA20".into()])
    );
    assert_eq!(rig.versions().await, versions);
}

#[tokio::test(start_paused = true)]
async fn a_front_page_that_fails_costs_the_catalogue_nothing() {
    for fault in [
        Fault::Hang,
        Fault::Answer(500, String::new()),
        Fault::Answer(429, String::new()),
    ] {
        let rig = reading(telling("")).await;
        rig.street.fault("tea", "/", fault.clone());
        let report = rig.run().await;
        assert_eq!(
            (outcomes(&report), codes(&rig).await),
            (vec!["tea changed".into()], vec![]),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn a_dry_run_reads_no_front_page() {
    let rig = reading(telling("<p>Use code TEA10 for 10% off</p>")).await;
    let options = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    let report = rig.run_with(&options).await.unwrap();
    assert_eq!(report.totals.codes, CodesRead::default());
    assert!(!rig.street.take_asked().iter().any(|asked| asked.starts_with("tea/ ")));
}

#[tokio::test]
async fn pages_without_a_currency_are_read_in_the_one_that_the_front_page_shows_and_never_fail_for_it() {
    let front = r#"<script>Shopify.currency = {"active":"USD","rate":"0.0119"};</script>"#;
    let mut rig = reading(telling(front)).await;
    rig.country = None;
    let money = async |rig: &Rig| {
        let products = rig.products("tea").await;
        products
            .into_iter()
            .map(|product| product.currency.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(money(&rig).await, ["USD", "USD"]);
    rig.street.take_asked();
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    let asked = rig.street.take_asked();
    assert!(asked.iter().all(|asked| !asked.starts_with("tea/ ")), "{asked:?}");

    rig.later(2 * 3600 * 1000);
    rig.street.fault("tea", "/", Fault::Answer(503, String::new()));
    rig.street
        .change("tea", |shop| shop.list([product(1, "9.00"), product(2, "499.00")]));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(money(&rig).await, ["USD", "USD"]);
}
