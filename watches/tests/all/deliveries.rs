//! Tests that events reach their receivers signed and once, whatever receivers and servers do.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use ring::hmac;
use serde_json::{Value, json};
use state::Lease;

use crate::support::{Ask, Delivery, Manner, Place, Receiver, Server, World, on_both};

const DAY_MS: i64 = 24 * 3_600_000;

/// True if one of the signatures was made with the secret according to Standard Webhooks.
fn is_signed(delivery: &Delivery, secret: &Value) -> bool {
    let secret = secret.as_str().unwrap().strip_prefix("whsec_").unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(secret).unwrap());
    let (id, at) = (delivery.header("webhook-id"), delivery.header("webhook-timestamp"));
    let signed = [id.as_bytes(), b".", at.as_bytes(), b".", &delivery.body].concat();
    let signatures = delivery.header("webhook-signature").split(' ');
    let mut tags = signatures.map(|one| STANDARD.decode(one.strip_prefix("v1,").unwrap()).unwrap());
    tags.any(|tag| hmac::verify(&key, &signed, &tag).is_ok())
}

/// Starts a server with one watch that has sent an event, and its receiver.
async fn fired(world: &World, place: &Place, manner: Manner) -> (Server, Value, Receiver) {
    world.shelf.put(1, 600, true);
    let server = world.serve(place).await;
    let receiver = Receiver::start(manner).await;
    let watch = server.watch(1, 500, &receiver.url).await;
    world.shelf.put(1, 450, true);
    assert_eq!(server.watches.judge().await.unwrap(), 1);
    (server, watch, receiver)
}

async fn deliver(server: &Server) -> usize {
    server.watches.deliver_due().await.unwrap()
}

#[test]
fn an_event_is_a_signed_post_that_tells_both_prices_and_a_quote() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.quote("a.signed.quote");
        let (server, watch, mut receiver) = fired(&world, &place, Manner::Answers(204)).await;
        assert_eq!(deliver(&server).await, 1);
        let delivery = receiver.arrival().await;
        assert!(is_signed(&delivery, &watch["secret"]));
        assert_eq!(delivery.header("content-type"), "application/json");
        let message = delivery.json();
        assert_eq!(message["type"], "watch.fired");
        let data = &message["data"];
        assert_eq!(data["event_id"], delivery.header("webhook-id"));
        assert_eq!(
            (&data["watch_id"], &data["reasons"]),
            (&watch["id"], &json!(["price_below"]))
        );
        assert_eq!(
            (&data["before"]["price_minor"], &data["now"]["price_minor"]),
            (&json!(600), &json!(450))
        );
        assert_eq!(
            (&data["quote"], &data["product"]["title"]),
            (&json!("a.signed.quote"), &json!("Product 1"))
        );
        assert_eq!(server.events(&watch).await, [("done".to_owned(), 1, None)]);
        assert_eq!(deliver(&server).await, 0);
        assert!(receiver.arrivals().is_empty());
    });
}

#[test]
fn whatever_a_receiver_does_for_a_day_it_gets_the_event_once_and_the_same_bytes() {
    on_both(async |place| {
        let mut elsewhere = Receiver::start(Manner::Answers(200)).await;
        let private: &'static str = elsewhere.url.clone().leak();
        for (manner, failure) in [
            (Manner::Answers(500), "status 500"),
            (Manner::Hangs, "no answer within 50 ms"),
            (Manner::Redirects(private), "status 307"),
            (Manner::Redirects("http://169.254.169.254/latest/"), "status 307"),
        ] {
            let mut world = World::new();
            world.config.timeout_ms = 50;
            let (server, watch, mut receiver) = fired(&world, &place, manner).await;
            let mut passed_ms = 0;
            while passed_ms < DAY_MS {
                deliver(&server).await;
                world.clock.advance_ms(600_000);
                passed_ms += 600_000;
            }
            let failed = receiver.arrivals();
            assert!((6..12).contains(&failed.len()), "{manner:?}: {}", failed.len());
            let told = server.events(&watch).await;
            assert_eq!((told[0].0.as_str(), told[0].2.as_deref()), ("waiting", Some(failure)));
            receiver.is(Manner::Answers(200));
            world.clock.advance_ms(DAY_MS);
            assert_eq!(deliver(&server).await, 1, "{manner:?}");
            let taken = receiver.arrival().await;
            let all = || failed.iter().chain([&taken]);
            let ids: BTreeSet<&str> = all().map(|one| one.header("webhook-id")).collect();
            assert_eq!(ids.len(), 1);
            assert!(all().all(|one| one.body == taken.body && is_signed(one, &watch["secret"])));
            world.clock.advance_ms(DAY_MS);
            assert_eq!(deliver(&server).await, 0);
        }
        assert!(elsewhere.arrivals().is_empty());
    });
}

#[test]
fn after_three_days_an_event_is_dead_and_says_why() {
    on_both(async |place| {
        let world = World::new();
        let (server, watch, mut receiver) = fired(&world, &place, Manner::Answers(503)).await;
        for _ in 0..40 {
            deliver(&server).await;
            world.clock.advance_ms(DAY_MS / 10);
        }
        let events = server.events(&watch).await;
        assert_eq!(
            (events[0].0.as_str(), events[0].2.as_deref()),
            ("dead", Some("status 503"))
        );
        let tried = receiver.arrivals().len();
        world.clock.advance_ms(30 * DAY_MS);
        assert_eq!((deliver(&server).await, tried as u64), (0, events[0].1));
    });
}

#[test]
fn a_name_that_resolves_to_a_private_address_is_not_connected_to() {
    on_both(async |place| {
        let world = World {
            allow_loopback: false,
            resolves_to: Some("10.0.0.7".parse().unwrap()),
            ..World::new()
        };
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let watch = server.watch(1, 500, "https://hooks.example/").await;
        world.shelf.put(1, 450, true);
        server.watches.judge().await.unwrap();
        deliver(&server).await;
        // The message leaves out the address, which would reveal how names resolve in the operator's network.
        let refused = ("waiting".to_owned(), 1, Some("the address is refused".to_owned()));
        assert_eq!(server.events(&watch).await, [refused]);
    });
}

#[test]
fn a_server_that_is_killed_at_any_step_loses_nothing_and_doubles_nothing() {
    on_both(async |place| {
        let mut world = World::new();
        world.config.timeout_ms = 60_000;
        let (server, watch, mut receiver) = fired(&world, &place, Manner::Hangs).await;
        // The server stopped before it sent the event, so only the lease was taken.
        let lease = Lease::new("2026-11-21T12:01:00Z".parse().unwrap()).unwrap();
        let now = kit::NOON.parse().unwrap();
        assert_eq!(server.state.take_watch_events(9, &lease, now).await.unwrap().len(), 1);
        assert_eq!(deliver(&server).await, 0, "somebody has it");
        world.clock.advance_ms(61_000);
        // The server stopped while the receiver processed the event, so the response was lost.
        let first = tokio::select! {
            arrived = receiver.arrival() => arrived,
            _ = server.watches.deliver_due() => panic!("the receiver hangs"),
        };
        world.clock.advance_ms(200_000);
        receiver.is(Manner::Answers(200));
        let next = world.serve(&place).await;
        assert_eq!(deliver(&next).await, 1);
        let second = receiver.arrival().await;
        assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
        assert_eq!(first.body, second.body);
        assert_eq!(next.events(&watch).await, [("done".to_owned(), 3, None)]);
        // The server that was assumed dead can no longer change the event.
        let outcome = state::AttemptOutcome::Again {
            at: now,
            reason: String::new(),
        };
        let id = second.header("webhook-id");
        assert!(!server.state.end_watch_attempt(id, &lease, &outcome, now).await.unwrap());
        world.clock.advance_ms(4 * DAY_MS);
        assert_eq!(deliver(&next).await, 0);
        assert_eq!(next.watches.judge().await.unwrap(), 0);
    });
}

#[test]
fn servers_that_deliver_together_send_each_event_once() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let mut receiver = Receiver::start(Manner::Answers(200)).await;
        let servers = [
            world.serve(&place).await,
            world.serve(&place).await,
            world.serve(&place).await,
        ];
        for _ in 0..40 {
            servers[0].watch(1, 500, &receiver.url).await;
        }
        world.shelf.put(1, 450, true);
        assert_eq!(servers[1].watches.judge().await.unwrap(), 40);
        loop {
            let [one, two, three] = &servers;
            let (one, two, three) = tokio::join!(deliver(one), deliver(two), deliver(three));
            if one + two + three == 0 {
                break;
            }
        }
        let arrivals = receiver.arrivals();
        let ids: BTreeSet<&str> = arrivals.iter().map(|one| one.header("webhook-id")).collect();
        assert_eq!((arrivals.len(), ids.len()), (40, 40));
    });
}

#[test]
fn for_a_day_after_a_rotation_both_secrets_sign() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let mut receiver = Receiver::start(Manner::Answers(200)).await;
        let watch = server.watch(1, 500, &receiver.url).await;
        let path = format!("/v1/watches/{}", watch["id"].as_str().unwrap());
        let rotate = format!("{path}/rotate-secret");
        let (status, _, rotated) = server.ask(Ask::new(Method::POST, &rotate)).await;
        assert_eq!(status, 200);
        let fresh = &rotated["data"]["secret"];
        assert_ne!(*fresh, watch["secret"]);
        let test = format!("{path}/test");
        let mut signed = Vec::new();
        for wait_ms in [0, DAY_MS - 1_000, 2_000] {
            world.clock.advance_ms(wait_ms);
            let (status, _, event) = server.ask(Ask::new(Method::POST, &test)).await;
            assert_eq!((status.as_u16(), &event["data"]["state"]), (200, &json!("waiting")));
            assert_eq!(deliver(&server).await, 1);
            let delivery = receiver.arrival().await;
            assert_eq!(delivery.json()["type"], "watch.test");
            signed.push((is_signed(&delivery, &watch["secret"]), is_signed(&delivery, fresh)));
        }
        assert_eq!(signed, [(true, true), (true, true), (false, true)]);
    });
}

#[test]
fn a_receiver_that_is_gone_pauses_its_watch() {
    on_both(async |place| {
        let world = World::new();
        let (server, watch, _receiver) = fired(&world, &place, Manner::Answers(410)).await;
        deliver(&server).await;
        let events = server.events(&watch).await;
        assert_eq!(events[0].0, "dead");
        let path = format!("/v1/watches/{}", watch["id"].as_str().unwrap());
        assert!(server.get(&path).await["paused_at"].is_string());
    });
}

#[test]
fn the_loops_deliver_by_themselves_until_they_are_told_to_stop() {
    on_both(async |place| {
        let mut world = World::new();
        world.config.poll_ms = 10;
        let (server, _, mut receiver) = fired(&world, &place, Manner::Answers(200)).await;
        let stop = tokio_util::sync::CancellationToken::new();
        let delivering = tokio::spawn(server.watches.clone().deliver(stop.clone()));
        receiver.arrival().await;
        stop.cancel();
        tokio::time::timeout(Duration::from_secs(60), delivering)
            .await
            .unwrap()
            .unwrap();
    });
}
