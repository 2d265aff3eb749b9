use std::collections::BTreeSet;

use pipeline_crawl::{NewBrand, Registry, RegistryError};
use pipeline_refresh::{Outcome, RefreshError, RemoveError, RunOptions, RunState, list_runs, read_run, remove_brand};
use serde_json::json;

use crate::support::{Fault, Rig, Shop, outcomes, product, slug};

#[tokio::test]
async fn a_first_run_fills_the_lake_in_one_commit_and_a_second_writes_nothing_to_it() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=7))]).await;
    let first = rig.run().await;
    assert_eq!(outcomes(&first), ["mate changed", "tea changed"]);
    assert_eq!((first.state, first.commits), (RunState::Finished, 1));
    let totals = first.totals;
    assert_eq!(
        (totals.stores, totals.products, totals.variants, totals.requests),
        (2, 11, 11, 9)
    );
    assert_eq!(rig.ids("tea").await, (1..=7).collect::<Vec<_>>());

    let versions = rig.versions().await;
    rig.street.take_asked();
    let second = rig.run().await;
    assert_eq!(outcomes(&second), ["mate unchanged", "tea unchanged"]);
    assert_eq!(
        (second.commits, second.totals.products, second.totals.variants),
        (0, 11, 0)
    );
    assert_eq!(rig.versions().await, versions);
    assert!(rig.street.take_asked().iter().all(|asked| asked.ends_with("304")));
    assert_ne!(first.run, second.run);
}

#[tokio::test]
async fn only_what_changed_is_written() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=7))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list((2..=9).map(|id| product(id, if id == 5 { "450.50" } else { "499.00" })))
    });
    let report = rig.run().await;
    assert_eq!(
        (outcomes(&report), report.commits),
        (vec!["mate unchanged".into(), "tea changed".into()], 1)
    );
    let products = rig.products("tea").await;
    let prices: Vec<_> = products
        .iter()
        .map(|product| (product.key.platform_id, product.variants[0].price_minor))
        .collect();
    let expected: Vec<_> = (2..=9).map(|id| (id, if id == 5 { 45_050 } else { 49_900 })).collect();
    assert_eq!(prices, expected);
}

#[tokio::test]
async fn a_change_that_means_nothing_is_no_change() {
    let rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    let versions = rig.versions().await;
    rig.street.change("tea", |shop| {
        let touched = (1..=4).map(|id| {
            let mut product = product(id, "499.00");
            product["updated_at"] = "2026-11-20T00:00:00Z".into();
            product
        });
        shop.list(touched);
    });
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert_eq!(rig.versions().await, versions);
    rig.street.take_asked();
    rig.run().await;
    assert!(
        rig.street.take_asked().iter().all(|asked| asked.ends_with("304")),
        "and is remembered as read"
    );
}

#[tokio::test]
async fn what_is_read_while_the_store_is_crawled_is_what_its_landed_pages_say() {
    let mut seen = Vec::new();
    // The memory is enough for no page, for about one page, or for all pages.
    for bytes_max in [0, 1_500, 1 << 20] {
        let mut rig = Rig::with([("tea", Shop::of(1..=11))]).await;
        rig.config.read_ahead_bytes_max = bytes_max;
        rig.street.change("tea", |shop| {
            let price = |id| if id % 4 == 0 { "not a price" } else { "499.00" };
            shop.list((1..=11).map(|id| product(id, price(id))));
        });
        let report = rig.run().await;
        seen.push((
            rig.products("tea").await,
            report.totals.quarantined,
            report.totals.products,
        ));
    }
    assert_eq!((seen[0].1, seen[0].2), (2, 9));
    assert!(seen[0] == seen[1] && seen[1] == seen[2]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_costs_itself_alone_and_keeps_its_products() {
    let rig = Rig::with([
        ("mate", Shop::of(1..=4)),
        ("tea", Shop::of(1..=7)),
        ("yerba", Shop::of(1..=2)),
    ])
    .await;
    rig.run().await;
    rig.street
        .fault("tea", "/products.json?page=2", Fault::Answer(429, String::new()));
    rig.street.fault(
        "yerba",
        "/products.json",
        Fault::Answer(200, "{\"nonsense\": true}".into()),
    );
    rig.street.change("mate", |shop| shop.list([product(1, "1.00")]));
    let report = rig.run().await;
    let codes: Vec<_> = report
        .stores
        .iter()
        .map(|store| match &store.outcome {
            Outcome::Failed { code, .. } => format!("{} {code} {}", store.slug, store.products),
            other => format!("{} {other} {}", store.slug, store.products),
        })
        .collect();
    assert_eq!(codes, ["mate changed 1", "tea throttled 7", "yerba not_a_catalogue 2"]);
    assert_eq!(
        rig.ids("tea").await.len(),
        7,
        "a throttled page is not read, never gone"
    );
    assert_eq!((rig.ids("yerba").await.len(), rig.ids("mate").await.len()), (2, 1));
    assert_eq!(report.state, RunState::Finished);
}

#[tokio::test]
async fn a_domain_that_leads_to_another_store_does_not_bring_that_stores_products() {
    let rig = Rig::with([]).await;
    rig.street.open("tea", Shop::of(1..=7));
    let mut registry = Registry::load(&rig.storage).await.unwrap();
    let brand = NewBrand {
        store: Some("tea.myshopify.com".parse().unwrap()),
        name: Some("tea".into()),
        ..NewBrand::at("http://tea.localhost".parse().unwrap())
    };
    registry.add(&rig.storage, &[brand], rig.now()).await.unwrap();
    rig.street
        .change("tea", |shop| shop.states.0 = Some("tea.myshopify.com"));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    let versions = rig.versions().await;
    rig.street.change("tea", |shop| {
        *shop = Shop::of(101..=120);
        shop.states.0 = Some("coffee.myshopify.com");
    });
    for force in [false, true] {
        let options = RunOptions {
            force,
            ..RunOptions::default()
        };
        let report = rig.run_with(&options).await.unwrap();
        let Outcome::Failed { code, reason } = &report.stores[0].outcome else {
            panic!("{report:?}");
        };
        assert_eq!(code, "another_store");
        assert!(
            reason.contains("tea.myshopify.com") && reason.contains("coffee.myshopify.com"),
            "{reason}"
        );
        assert_eq!(report.stores[0].products, 7);
    }
    assert_eq!(rig.versions().await, versions);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_a_part_or_a_bare_list_is_no_end_of_the_catalogue() {
    let rig = Rig::with([("tea", Shop::of(1..=7))]).await;
    rig.run().await;
    let nested = "[".repeat(500) + &"]".repeat(500);
    for (status, body, expected) in [
        (206, r#"{"products":[]}"#, "status"),
        (200, "[]", "not_a_catalogue"),
        (200, &nested, "not_a_catalogue"),
    ] {
        rig.street
            .fault("tea", "/products.json?page=2", Fault::Answer(status, body.to_owned()));
        for _ in 0..2 {
            let report = rig.run().await;
            assert!(
                matches!(&report.stores[0].outcome, Outcome::Failed { code, .. } if code == expected),
                "{body:.20} {report:?}"
            );
        }
    }
    assert_eq!(rig.ids("tea").await.len(), 7);
}

#[tokio::test]
async fn a_record_that_cannot_be_understood_goes_to_quarantine_and_its_neighbours_to_the_lake() {
    let rig = Rig::with([("tea", Shop::of([]))]).await;
    rig.street.change("tea", |shop| {
        shop.list([
            product(1, "1.00"),
            product(2, "12,99"),
            json!({"id": 3}),
            product(4, "4.00"),
        ])
    });
    let report = rig.run().await;
    assert_eq!((report.stores[0].products, report.stores[0].quarantined), (2, Some(2)));
    assert_eq!(rig.ids("tea").await, [1, 4]);
    let snapshot = rig.lake().await.snapshot().await.unwrap();
    let quarantined = snapshot
        .quarantined(&BTreeSet::from(["tea.localhost".parse().unwrap()]))
        .await
        .unwrap();
    assert_eq!(
        quarantined
            .iter()
            .map(|record| record.subject.as_str())
            .collect::<Vec<_>>(),
        ["2", "3"]
    );
}

#[tokio::test]
async fn prices_need_a_currency_which_the_registry_can_give() {
    let rig = Rig::with([(
        "tea",
        Shop {
            currency: None,
            ..Shop::of(1..=3)
        },
    )])
    .await;
    let report = rig.run().await;
    assert!(
        matches!(&report.stores[0].outcome, Outcome::Failed { code, .. } if code == "currency_unknown"),
        "{report:?}"
    );
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());

    let mut registry = Registry::load(&rig.storage).await.unwrap();
    let base_url = "http://tea.localhost".parse().unwrap();
    let brand = NewBrand {
        currency: Some("JPY".parse().unwrap()),
        ..NewBrand::at(base_url)
    };
    registry.add(&rig.storage, &[brand], rig.now()).await.unwrap();
    rig.street
        .change("tea", |shop| shop.list([product(1, "1200"), product(2, "1200.00")]));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    let products = rig.products("tea").await;
    assert!(
        products
            .iter()
            .all(|product| product.variants[0].price_minor == 1200 && product.currency.as_str() == "JPY")
    );
}

#[tokio::test]
async fn another_currency_in_the_registry_is_another_reading_of_the_same_pages() {
    let rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.run().await;
    let mut registry = Registry::load(&rig.storage).await.unwrap();
    let brand = NewBrand {
        currency: Some("USD".parse().unwrap()),
        ..NewBrand::at("http://tea.localhost".parse().unwrap())
    };
    registry.add(&rig.storage, &[brand], rig.now()).await.unwrap();
    rig.street.take_asked();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert!(rig.street.take_asked().iter().all(|asked| asked.ends_with("304")));
    assert_eq!(rig.products("tea").await[0].currency.as_str(), "USD");
}

#[tokio::test]
async fn a_brand_that_left_the_lake_by_other_means_is_brought_back_although_its_store_did_not_change() {
    let rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.run().await;
    rig.lake()
        .await
        .remove_brands(&["tea.localhost".parse().unwrap()])
        .await
        .unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, [1, 2, 3]);
}

#[tokio::test]
async fn a_dry_run_tells_what_would_change_and_leaves_no_trace() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street
        .change("mate", |shop| shop.list([product(1, "1.00"), product(2, "2.00")]));
    rig.street.change("tea", |shop| shop.list([product(1, "1.00")]));
    let (objects, versions) = (rig.objects().await, rig.versions().await);
    let report = rig
        .run_with(&RunOptions {
            dry_run: true,
            ..RunOptions::default()
        })
        .await
        .unwrap();
    assert_eq!(outcomes(&report), ["mate changed", "tea held_back"]);
    assert_eq!((rig.objects().await, rig.versions().await), (objects, versions));
    assert_eq!(report.stores[0].products, 2);
}

#[tokio::test]
async fn a_forced_run_reads_everything_anew_and_still_writes_only_what_changed() {
    let rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.run().await;
    let versions = rig.versions().await;
    rig.street.take_asked();
    let report = rig
        .run_with(&RunOptions {
            force: true,
            ..RunOptions::default()
        })
        .await
        .unwrap();
    assert!(rig.street.take_asked().iter().all(|asked| asked.ends_with("200")));
    assert_eq!(
        (outcomes(&report), rig.versions().await),
        (vec!["tea unchanged".to_owned()], versions)
    );
}

#[tokio::test]
async fn a_brand_stays_as_its_store_described_it_while_the_description_cannot_be_had() {
    let rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    let meta = |answer: Option<(&str, &str)>| {
        let answer = answer.map_or_else(
            || Fault::Answer(404, "no".into()),
            |(name, host)| {
                let meta = json!({"id": host.len(), "name": name, "currency": "INR", "country": "IN",
                    "description": "Tea since 1900.", "myshopify_domain": host});
                Fault::Answer(200, meta.to_string())
            },
        );
        rig.street.fault("tea", "/meta.json", answer);
    };
    let brand = || async {
        let snapshot = rig.lake().await.snapshot().await.unwrap();
        let brand = snapshot.brands().await.unwrap().remove(0).brand;
        (brand.name, brand.description)
    };
    let described = ("Tea House".to_owned(), Some("Tea since 1900.".to_owned()));
    meta(Some(("Tea House", "tea.myshopify.com")));
    rig.run().await;
    assert_eq!(brand().await, described);
    // Without a self-description, nothing else is new, or a product is new, or everything is read again.
    for (number, force) in [(0_u64, false), (1, false), (2, true)] {
        meta(None);
        rig.street.change("tea", |shop| {
            shop.list((1..=3 + number).map(|id| product(id, "499.00")))
        });
        let options = RunOptions {
            force,
            ..RunOptions::default()
        };
        let report = rig.run_with(&options).await.unwrap();
        let expected = if number == 0 { "tea unchanged" } else { "tea changed" };
        assert_eq!(outcomes(&report), [expected], "{force}");
        assert_eq!(brand().await, described);
        meta(Some(("Coffee House", "coffee.myshopify.com")));
        let refused = rig.run_with(&options).await.unwrap();
        assert!(
            matches!(&refused.stores[0].outcome, Outcome::Failed { code, .. } if code == "another_store"),
            "{refused:?}"
        );
    }
    meta(Some(("Tea Garden", "tea.myshopify.com")));
    rig.run().await;
    assert_eq!(brand().await.0, "Tea Garden", "until it says something else");
}

#[tokio::test]
async fn a_run_can_be_limited_to_brands_that_are_registered() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    let only = |name| RunOptions {
        only: Some(vec![slug(name)]),
        ..RunOptions::default()
    };
    assert_eq!(outcomes(&rig.run_with(&only("tea")).await.unwrap()), ["tea changed"]);
    assert!(matches!(
        rig.run_with(&only("coffee")).await,
        Err(RefreshError::UnknownBrand(_))
    ));
    assert_eq!(outcomes(&rig.run().await), ["mate changed", "tea unchanged"]);
}

#[tokio::test]
async fn a_run_leaves_its_summary_its_report_and_only_the_latest_landings() {
    let mut rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    (rig.config.crawl.landing_runs_kept, rig.config.crawl.landing_keep_days) = (1, 0);
    rig.config.reports_kept = 2;
    let mut reports = Vec::new();
    for price in ["1.00", "2.00", "3.00"] {
        rig.street.change("tea", |shop| shop.list([product(1, price)]));
        reports.push(rig.run().await);
    }
    let runs = list_runs(&rig.storage).await.unwrap();
    assert_eq!(runs, [reports[2].run.clone(), reports[1].run.clone()]);
    assert_eq!(
        read_run(&rig.storage, &runs[0]).await.unwrap().as_ref(),
        Some(&reports[2])
    );
    let objects = rig.objects().await;
    assert_eq!(
        objects
            .iter()
            .filter(|path| path.starts_with("runs/") && path.ends_with(".html"))
            .count(),
        2
    );
    // The unchanged store's only pages are those of the first run, so that they are kept.
    let landed: BTreeSet<_> = objects
        .iter()
        .filter(|path| path.starts_with("landing/") && path.contains("products-"))
        .map(|path| path.split('/').skip(1).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let kept = [
        format!("{} mate.localhost", reports[0].run),
        format!("{} tea.localhost", reports[2].run),
    ];
    assert_eq!(landed, BTreeSet::from(kept));
}

#[tokio::test]
async fn many_stores_are_folded_into_few_commits_within_little_memory() {
    let mut rig = Rig::with([]).await;
    for number in 0..40 {
        let name = format!("shop{number}");
        rig.street.open(&name, Shop::of(1..=5));
        rig.register(&name).await;
    }
    (rig.config.memory_bytes_max, rig.config.read_ahead_bytes_max) = (64 << 20, 0);
    rig.config.crawl.stores_concurrent = 4;
    let report = rig.run().await;
    assert_eq!((report.totals.changed, report.totals.products), (40, 200));
    assert_eq!(
        rig.lake().await.snapshot().await.unwrap().brands().await.unwrap().len(),
        40
    );

    rig.config.memory_bytes_max = 256 << 20;
    rig.config.tick_ms = 60_000;
    for number in 0..40 {
        rig.street.change(&format!("shop{number}"), |shop| {
            shop.list([product(1, "1.00"), product(2, "1.00"), product(3, "1.00")])
        });
    }
    assert_eq!(rig.run().await.commits, 1);
}

#[tokio::test]
async fn a_removed_brand_is_gone_from_registry_lake_and_memory_and_can_be_added_again() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    rig.run().await;
    for _ in 0..2 {
        // The brand is removed twice, as after a removal that failed.
        remove_brand(&slug("tea"), &rig.storage, &rig.lake().await, rig.now())
            .await
            .unwrap();
    }
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());
    assert!(
        rig.objects()
            .await
            .iter()
            .all(|path| !path.starts_with("crawl-state/tea"))
    );
    assert_eq!(outcomes(&rig.run().await), ["mate unchanged"]);
    let unknown = remove_brand(&slug("coffee"), &rig.storage, &rig.lake().await, rig.now()).await;
    assert!(matches!(unknown, Err(RemoveError::Registry(RegistryError::Unknown(_)))));
    rig.register("tea").await;
    assert_eq!(outcomes(&rig.run().await), ["mate unchanged", "tea changed"]);
}

#[tokio::test]
async fn a_store_that_lists_more_variants_than_one_may_have_fails_alone() {
    for read_ahead in [0, 1 << 20] {
        let mut rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=30))]).await;
        (rig.config.variants_max, rig.config.read_ahead_bytes_max) = (29, read_ahead);
        let report = rig.run().await;
        assert_eq!(outcomes(&report), ["mate changed", "tea failed"]);
        let Outcome::Failed { code, reason } = &report.stores[1].outcome else {
            panic!("{report:?}");
        };
        assert_eq!(
            (code.as_str(), reason.as_str()),
            ("too_many_variants", "it lists more than 29 variants")
        );
        rig.config.variants_max = 30;
        assert_eq!(outcomes(&rig.run().await), ["mate unchanged", "tea changed"]);
    }
}
