//! Tests that only owners can create, read, pause and delete their watches.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Ask, World, on_both, product_id};

const HOOK: &str = "http://127.0.0.1:9/hook";

fn body(platform_id: u64) -> Value {
    json!({ "product_id": product_id(platform_id), "price_below": 500, "webhook": { "url": HOOK } })
}

#[test]
fn a_watch_is_shown_to_its_owner_alone_and_its_secret_once() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let made = server.watch(1, 500, HOOK).await;
        let secret = made["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_") && secret.len() > 40, "{secret}");
        assert_eq!(made["seen"]["price_minor"], 600);
        assert_eq!(
            made["conditions"],
            json!({
                "price_below": 500, "currency": "INR", "discount_at_least": null, "back_in_stock": false, "new_match": false,
            })
        );
        let path = format!("/v1/watches/{}", made["id"].as_str().unwrap());
        let shown = server.get(&path).await;
        assert!(shown.get("secret").is_none(), "{shown}");
        assert_eq!(server.get("/v1/watches").await, json!([shown]));
        for (method, below) in [
            (Method::GET, ""),
            (Method::DELETE, ""),
            (Method::PATCH, ""),
            (Method::POST, "/rotate-secret"),
            (Method::POST, "/test"),
            (Method::GET, "/events"),
        ] {
            let path = format!("{path}{below}");
            let others = Ask {
                caller: "ravi",
                body: (method == Method::PATCH).then(|| json!({ "paused": true })),
                ..Ask::new(method.clone(), &path)
            };
            let (status, _, answer) = server.ask(others).await;
            assert_eq!(
                (status.as_u16(), &answer["code"]),
                (404, &json!("watch_not_found")),
                "{method} {path}"
            );
        }
        let (status, _, ended) = server.ask(Ask::new(Method::DELETE, &path)).await;
        assert_eq!((status.as_u16(), &ended["data"]["id"]), (200, &made["id"]));
        assert_eq!(server.get("/v1/watches").await, json!([]));
    });
}

#[test]
fn the_same_request_under_the_same_key_makes_one_watch() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let ask = |caller: &'static str, body: Value| Ask {
            caller,
            key: Some("k-1"),
            body: Some(body),
            ..Ask::new(Method::POST, "/v1/watches")
        };
        let (first, again) = tokio::join!(server.ask(ask("asha", body(1))), server.ask(ask("asha", body(1))));
        assert_eq!((first.0, again.0), (StatusCode::OK, StatusCode::OK));
        assert_eq!(
            (&first.2["data"]["id"], &first.2["data"]["secret"]),
            (&again.2["data"]["id"], &again.2["data"]["secret"])
        );
        let replayed = [&first, &again].map(|answer| answer.1.contains_key("idempotent-replayed"));
        assert_eq!(replayed.iter().filter(|is| **is).count(), 1);
        let mut other = body(1);
        other["price_below"] = json!(499);
        let (status, _, refused) = server.ask(ask("asha", other)).await;
        assert_eq!(
            (status.as_u16(), &refused["code"]),
            (422, &json!("idempotency_mismatch"))
        );
        let (status, _, others) = server.ask(ask("ravi", body(1))).await;
        assert_eq!(status, 200);
        assert_ne!(others["data"]["id"], first.2["data"]["id"]);
        assert_eq!(server.get("/v1/watches").await.as_array().unwrap().len(), 1);
    });
}

#[test]
fn a_caller_has_no_more_watches_than_is_allowed_however_many_are_made_at_once() {
    on_both(async |place| {
        let mut world = World::new();
        world.config.per_caller_max = 3;
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let making = (0..8).map(|_| server.post("/v1/watches", body(1)));
        let made = futures::future::join_all(making).await;
        let created = made.iter().filter(|(status, _)| *status == StatusCode::OK).count();
        let refused = made.iter().filter(|(_, answer)| answer["code"] == "forbidden").count();
        assert_eq!((created, refused), (3, 5));
    });
}

#[test]
fn what_cannot_be_watched_is_told_by_its_name() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let hook = json!({ "url": HOOK });
        for (body, places) in [
            (json!({ "webhook": hook, "price_below": 1 }), vec!["product_id"]),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "query": "tea", "price_below": 1 }),
                vec!["product_id"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1) }),
                vec!["price_below"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "back_in_stock": false }),
                vec!["price_below"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "price_below": 0 }),
                vec!["price_below"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "price_below": 4.5 }),
                vec!["price_below"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "discount_at_least": 100 }),
                vec!["discount_at_least"],
            ),
            (
                json!({ "webhook": hook, "query": "tea", "price_below": 1 }),
                vec!["price_below"],
            ),
            (
                json!({ "product_id": product_id(1), "price_below": 1 }),
                vec!["webhook"],
            ),
            (
                json!({ "webhook": hook, "email": "asha@mail.example", "query": "tea" }),
                vec!["webhook"],
            ),
            (json!({ "email": "asha", "query": "tea" }), vec!["email"]),
            // This server sends no e-mail.
            (json!({ "email": "asha@mail.example", "query": "tea" }), vec!["email"]),
            (
                json!({ "product_id": product_id(1), "price_below": 1, "webhook": {} }),
                vec!["url"],
            ),
            (
                json!({ "product_id": "x", "price_below": 1, "webhook": { "url": "nowhere" } }),
                vec!["product_id", "url"],
            ),
            (
                json!({ "webhook": hook, "product_id": product_id(1), "variant_id": "7", "price_below": 1 }),
                vec!["variant_id"],
            ),
        ] {
            let (status, answer) = server.post("/v1/watches", body.clone()).await;
            assert_eq!(status, 422, "{body}: {answer}");
            let faults = answer["detail"].as_array().unwrap().iter();
            let told: Vec<&str> = faults
                .map(|fault| fault["loc"].as_array().unwrap().last().unwrap().as_str().unwrap())
                .collect();
            assert_eq!(told, places, "{body}: {answer}");
        }
        let (status, answer) = server.post("/v1/watches", body(2)).await;
        assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("product_not_found")));
        assert_eq!(server.get("/v1/watches").await, json!([]));
    });
}

#[test]
fn nobody_is_sent_to_an_address_that_is_not_public() {
    on_both(async |place| {
        let world = World {
            allow_loopback: false,
            ..World::new()
        };
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        for url in [
            "http://127.0.0.1:9/hook",
            "https://localhost/hook",
            "https://10.0.0.1/hook",
            "https://[::1]/hook",
            "https://169.254.169.254/latest",
            "https://0x7f000001/",
            "https://db.internal/hook",
            "https://user:pass@hooks.example/",
            "https://hooks.example:8443/",
            "http://hooks.example/",
            "ftp://hooks.example/",
        ] {
            let mut asked = body(1);
            asked["webhook"]["url"] = json!(url);
            let (status, answer) = server.post("/v1/watches", asked).await;
            assert_eq!(status, 422, "{url}: {answer}");
            assert_eq!(answer["detail"][0]["loc"], json!(["body", "webhook", "url"]), "{url}");
        }
        assert_eq!(
            server.watch(1, 500, "https://hooks.example/").await["webhook_url"],
            "https://hooks.example/"
        );
    });
}

#[test]
fn watches_are_for_callers_who_are_known() {
    on_both(async |place| {
        let world = World::new();
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        for caller in ["", "guest"] {
            for method in [Method::GET, Method::POST] {
                let ask = Ask {
                    caller,
                    body: (method == Method::POST).then(|| body(1)),
                    ..Ask::new(method, "/v1/watches")
                };
                let (status, _, answer) = server.ask(ask).await;
                assert_eq!(
                    (status.as_u16(), &answer["code"]),
                    (401, &json!("missing_credentials")),
                    "{caller}"
                );
            }
        }
    });
}

#[test]
fn answers_are_described_as_they_are() {
    let document = serde_json::to_value(watches::openapi()).unwrap();
    assert_eq!(kit::description_faults(&document), Vec::<String>::new());
}
