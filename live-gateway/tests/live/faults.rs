use std::time::{Duration, Instant};

use data_model::ProductIdent;
use emulator::Fault;
use live_gateway::GatewayConfig;

use crate::support::{Market, Options, generated, offers, stored_offers};

fn short(budget_ms: u64) -> Options {
    Options {
        gateway: GatewayConfig {
            budget_ms,
            ..GatewayConfig::default()
        },
        ..Options::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_store_does_costs_its_own_entries_only() {
    let hang = Fault::Slow { delay_ms: 600_000 };
    let status = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    let faults = [
        (hang, "store_timeout"),
        (Fault::Reset, "store_unavailable"),
        (status(500), "store_unavailable"),
        (status(429), "store_throttled"),
        (status(430), "store_throttled"),
        (status(402), "store_unavailable"),
        (Fault::QueryThrottled, "store_throttled"),
        (Fault::QueryErrors { partial: false }, "store_unavailable"),
        (Fault::Challenge, "store_unavailable"),
        (Fault::PasswordPage, "store_unavailable"),
        (Fault::OtherProduct, "store_unreadable"),
        (Fault::BrokenJson, "store_unreadable"),
        (Fault::HtmlForJson, "store_unreadable"),
        (
            Fault::OtherCurrency {
                currency: "EUR".to_owned(),
                rate_pct: 110,
            },
            "currency_differs",
        ),
        (Fault::GzipBomb { decoded_bytes: 1 << 30 }, "store_unreadable"),
    ];
    let stores = u32::try_from(faults.len() + 1).unwrap();
    let market = Market::open(generated(u64::from(stores) * 8, stores), short(9_000)).await;
    for (at, (fault, _)) in faults.iter().enumerate() {
        market.stores.set_fault(&market.slug(at), fault.clone()).unwrap();
    }
    let idents: Vec<ProductIdent> = (0..faults.len() + 1).map(|store| market.idents(store)[0]).collect();
    let began = Instant::now();
    let entries = market.prices(&idents).await;
    let took = began.elapsed();
    for ((fault, code), (ident, entry)) in faults.iter().zip(idents.iter().zip(&entries)) {
        assert_eq!(entry["code"], *code, "{fault:?}: {entry}");
        assert_eq!(offers(entry), stored_offers(market.stored(ident)));
    }
    assert_eq!(entries[faults.len()]["verified"], true, "{}", entries[faults.len()]);
    // The time budget ended the request while the store was still silent.
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_products_over_eight_stores_of_which_two_hang_and_one_lies() {
    let market = Market::open(generated(160, 8), short(6_000)).await;
    let hang = Fault::Slow { delay_ms: 600_000 };
    market.stores.set_fault(&market.slug(0), hang.clone()).unwrap();
    market.stores.set_fault(&market.slug(1), hang).unwrap();
    market.stores.set_fault(&market.slug(2), Fault::OtherProduct).unwrap();
    let wanted: Vec<(usize, ProductIdent)> = (0..20)
        .map(|at| {
            let store = at % 8;
            let idents = market.idents(store);
            (store, idents[(at / 8) % idents.len()])
        })
        .collect();
    let idents: Vec<ProductIdent> = wanted.iter().map(|(_, ident)| *ident).collect();
    let began = Instant::now();
    let entries = market.prices(&idents).await;
    // The time budget ended the request while the stores were still silent.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(entries.len(), 20);
    for ((store, ident), entry) in wanted.iter().zip(&entries) {
        assert_eq!(entry["verified"], *store > 2, "{entry}");
        assert_eq!(offers(entry), stored_offers(market.stored(ident)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_refuses_graphql_is_asked_by_js_and_not_by_graphql_again() {
    let market = Market::open(generated(12, 1), short(60_000)).await;
    let slug = market.slug(0);
    let refused = emulator::FaultRule {
        path: Some("/api/".to_owned()),
        ..emulator::FaultRule::from(Fault::Status {
            status: 404,
            retry_after_s: None,
        })
    };
    market.stores.set_faults(&slug, [refused]).unwrap();
    for ident in market.idents(0).to_vec().iter().take(3) {
        let entry = market.price(ident).await;
        assert_eq!(
            (entry["verified"].as_bool(), entry["source"].as_str()),
            (Some(true), Some("js")),
            "{entry}"
        );
    }
    let requests = market.stores.requests(&slug).unwrap();
    assert_eq!(requests.count_of("/api/2026-04/graphql.json"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_graphql_does_not_show_is_asked_for_by_js_before_it_is_called_gone() {
    let market = Market::open(generated(12, 1), short(60_000)).await;
    let slug = market.slug(0);
    market.stores.set_fault(&slug, Fault::NullNodes { every: 1 }).unwrap();
    let entry = market.price(&market.idents(0)[0]).await;
    assert_eq!(
        (entry["verified"].as_bool(), entry["source"].as_str()),
        (Some(true), Some("js")),
        "{entry}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_every_store_is_down_everything_is_answered_from_the_snapshot() {
    let market = Market::open(generated(16, 4), short(1_000)).await;
    for store in 0..4 {
        market.stores.set_fault(&market.slug(store), Fault::Reset).unwrap();
    }
    let idents: Vec<ProductIdent> = (0..4).map(|store| market.idents(store)[0]).collect();
    for entry in market.prices(&idents).await {
        assert_eq!(entry["verified"], false);
        assert_eq!(entry["snapshot_at"], crate::support::CRAWLED);
        assert_eq!(entry["as_of"], crate::support::CRAWLED);
    }
}

fn every(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after_s: None,
    }
}

fn refuses_graphql() -> emulator::FaultRule {
    emulator::FaultRule {
        path: Some("/api/".to_owned()),
        ..emulator::FaultRule::from(every(404))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_of_js_in_another_currency_are_not_taken_for_the_stored_one() {
    let market = Market::open(generated(12, 1), short(60_000)).await;
    let foreign = Fault::OtherCurrency {
        currency: "USD".to_owned(),
        rate_pct: 10,
    };
    let rules = [refuses_graphql(), foreign.into()];
    market.stores.set_faults(&market.slug(0), rules).unwrap();
    let entry = market.price(&market.idents(0)[0]).await;
    assert_eq!(
        (entry["verified"].as_bool(), entry["code"].as_str()),
        (Some(false), Some("currency_differs")),
        "{entry}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_store_has_not_lost_its_products() {
    let market = Market::open(generated(12, 1), short(60_000)).await;
    market.stores.set_fault(&market.slug(0), every(404)).unwrap();
    let entry = market.price(&market.idents(0)[0]).await;
    assert_eq!(entry["code"], "store_unavailable", "{entry}");
    assert!(market.seen.all().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn products_are_not_gone_where_another_store_answers() {
    let options = Options {
        replaced: true,
        ..short(60_000)
    };
    let market = Market::open(generated(24, 2), options).await;
    let entry = market.price(&market.idents(0)[0]).await;
    assert_eq!(entry["code"], "store_unavailable", "{entry}");
    assert_eq!(entry["verified"], false);
    assert!(market.seen.all().is_empty());
}
