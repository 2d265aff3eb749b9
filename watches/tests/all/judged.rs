//! Tests of watches: an event is sent once when a condition becomes true, even if several servers evaluate the watch.

use data_model::{Observation, ObservedVariant, VariantId};
use http::Method;
use serde_json::{Value, json};
use state::StateTarget;
use watches::MatchedProduct;

use crate::support::{Ask, Manner, Receiver, Server, World, on_both, product_id};

const HOOK: &str = "http://127.0.0.1:9/hook";

async fn judged(server: &Server) -> u64 {
    server.watches.judge().await.unwrap()
}

#[test]
fn each_fall_of_a_price_is_told_once_whoever_judges_and_however_often() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let (server, other) = (world.serve(&place).await, world.serve(&place).await);
        let watch = server.watch(1, 500, HOOK).await;
        assert_eq!(judged(&server).await, 0);
        world.shelf.put(1, 450, true);
        let (one, two) = tokio::join!(judged(&server), judged(&other));
        assert_eq!(one + two, 1);
        assert_eq!(judged(&server).await + judged(&other).await, 0);
        world.shelf.put(1, 440, true);
        assert_eq!(judged(&server).await, 0, "it was below already");
        world.shelf.put(1, 550, true);
        world.shelf.put(1, 430, true);
        assert_eq!(judged(&other).await, 0, "nobody saw it above");
        world.shelf.put(1, 550, true);
        assert_eq!(judged(&other).await, 0);
        world.shelf.put(1, 430, true);
        assert_eq!(judged(&server).await, 1);
        assert_eq!(server.events(&watch).await.len(), 2);
    });
}

#[test]
fn a_price_counts_only_while_it_is_in_stock_and_a_product_that_returns_is_back() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let body = json!({
            "product_id": product_id(1), "price_below": 500, "back_in_stock": true, "webhook": { "url": HOOK },
        });
        let (status, _) = server.post("/v1/watches", body).await;
        assert_eq!(status, 200);
        world.shelf.put(1, 400, false);
        assert_eq!(judged(&server).await, 0);
        world.shelf.put(1, 400, true);
        assert_eq!(judged(&server).await, 1, "both are one event");
        // The time of a removal is the server's current time, which is later than the crawls of this test.
        world.shelf.take(1);
        world.clock.advance_ms(10_000);
        assert_eq!(judged(&server).await, 0);
        for _ in 0..20 {
            world.shelf.put(1, 400, true);
        }
        assert_eq!(judged(&server).await, 1);
    });
}

#[test]
fn a_paused_watch_tells_when_it_goes_on_what_is_still_so() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let watch = server.watch(1, 500, HOOK).await;
        let path = format!("/v1/watches/{}", watch["id"].as_str().unwrap());
        let pause = async |paused: bool| {
            let ask = Ask {
                body: Some(json!({ "paused": paused })),
                ..Ask::new(Method::PATCH, &path)
            };
            server.ask(ask).await.2["data"]["paused_at"].clone()
        };
        assert_ne!(pause(true).await, Value::Null);
        world.shelf.put(1, 450, true);
        assert_eq!(judged(&server).await, 0);
        assert_eq!(pause(false).await, Value::Null);
        assert_eq!(judged(&server).await, 1);
    });
}

#[test]
fn a_variant_is_watched_alone_and_a_live_answer_counts_at_once() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let body = json!({
            "product_id": product_id(1), "variant_id": "2", "price_below": 5_500, "webhook": { "url": HOOK },
        });
        let (status, made) = server.post("/v1/watches", body).await;
        assert_eq!(
            (status.as_u16(), &made["data"]["seen"]["price_minor"]),
            (200, &json!(6_000))
        );
        let observed = |number: u64, price_minor: i64, second: i64| Observation {
            store: "alpha.myshopify.com".parse().unwrap(),
            product: 1,
            observed_at: kit::NOON
                .parse::<data_model::Timestamp>()
                .unwrap()
                .plus_millis(second * 1_000),
            currency: "INR".parse().unwrap(),
            variants: vec![ObservedVariant {
                id: VariantId(number),
                price_minor,
                compare_at_minor: None,
                available: true,
            }],
            gone: Vec::new(),
        };
        for (observation, events) in [
            (observed(1, 10, 60), 0),
            (observed(2, 5_000, 0), 0),
            (observed(2, 5_000, 61), 1),
            (observed(2, 5_000, 61), 0),
            (observed(2, 4_000, 62), 0),
        ] {
            assert_eq!(
                server.watches.judge_observation(&observation).await.unwrap(),
                events,
                "{observation:?}"
            );
        }
        assert_eq!(judged(&server).await, 0, "the release is older than the live answer");
    });
}

#[test]
fn a_product_that_a_query_finds_is_told_once_where_it_is_new() {
    on_both(async |place| {
        let world = World::new();
        let (server, other) = (world.serve(&place).await, world.serve(&place).await);
        let body = json!({ "query": "masala tea", "webhook": { "url": HOOK } });
        let (status, watch) = server.post("/v1/watches", body).await;
        assert_eq!(status, 200);
        let found = |number: u64, second: i64| MatchedProduct {
            id: product_id(number),
            title: format!("Tea {number}"),
            brand_slug: "alpha".to_owned(),
            first_seen_at: Some(
                kit::NOON
                    .parse::<data_model::Timestamp>()
                    .unwrap()
                    .plus_millis(second * 1_000),
            ),
        };
        let undated = MatchedProduct {
            first_seen_at: None,
            ..found(9, 0)
        };
        world.shelf.find(vec![found(1, -60), undated.clone()]);
        assert_eq!(judged(&server).await, 0);
        world.shelf.find(vec![found(1, -60), found(2, 60), undated]);
        let (one, two) = tokio::join!(judged(&server), judged(&other));
        assert_eq!(one + two, 1);
        assert_eq!(judged(&server).await, 0);
        world.shelf.find(vec![found(3, 120), found(2, 60)]);
        assert_eq!(judged(&server).await, 1);
        assert_eq!(server.events(&watch["data"]).await.len(), 2);
    });
}

#[tokio::test]
async fn ten_thousand_watches_are_judged_each_by_itself() {
    let world = World::new();
    for number in 0..100 {
        world.shelf.put(number * 10, 600, true);
    }
    let place = crate::support::Place::of(StateTarget::Memory);
    let server = world.serve(&place).await;
    let mut receiver = Receiver::start(Manner::Answers(200)).await;
    let made = server.watch(0, 500, &receiver.url).await;
    let row = server
        .state
        .watch("key:asha", made["id"].as_str().unwrap())
        .await
        .unwrap()
        .unwrap();
    for nth in 1..10_000_u64 {
        let number = nth % 100 * 10;
        let id = product_id(number).to_string();
        let copy = state::WatchRow {
            id: format!("wat_{nth:05}"),
            caller: format!("key:{nth}"),
            terms: row.terms.replace(row.product.as_deref().unwrap(), &id),
            product: Some(id),
            ..row.clone()
        };
        server.state.create_watch(&copy, 1).await.unwrap();
    }
    world.shelf.put(10, 400, true);
    world.shelf.put(20, 700, true);
    assert_eq!(
        judged(&server).await,
        100,
        "those of the one product that became cheaper"
    );
    assert_eq!(judged(&server).await, 0);
    assert!(receiver.arrivals().is_empty(), "nothing is delivered by judging");
}
