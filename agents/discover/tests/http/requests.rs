use std::sync::Arc;

use api::{Guard, Limit};
use http::StatusCode;
use kit::{Endpoint, EndpointScript};
use serde_json::{Value, json};

use crate::limit::RequestCount;
use crate::support::{Server, config};

#[tokio::test]
async fn every_fault_of_a_request_is_told_with_its_field() {
    let (status, _, answer) = Server::alone()
        .send(r#"{"query": " ", "budget_max_minor": -1, "limit": 41, "brand": 3, "context": [1]}"#)
        .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let told: Vec<String> = answer["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| format!("{} {}", fault["loc"], fault["type"]))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
        ["body","query"] "string_too_short"
        ["body","brand"] "string_type"
        ["body","budget_max_minor"] "greater_than_equal"
        ["body","limit"] "less_than_equal"
        ["body","context"] "string_type"
        "#);
}

#[tokio::test]
async fn a_body_that_is_none_is_refused() {
    let server = Server::alone();
    for (body, status, code) in [
        ("", StatusCode::UNPROCESSABLE_ENTITY, "validation"),
        ("{}", StatusCode::UNPROCESSABLE_ENTITY, "validation"),
        ("[]", StatusCode::UNPROCESSABLE_ENTITY, "validation"),
        ("{", StatusCode::UNPROCESSABLE_ENTITY, "malformed_json"),
    ] {
        let (told, _, answer) = server.send(body).await;
        assert_eq!((told, &answer["code"]), (status, &json!(code)), "{body}");
    }
    let long = json!({"query": "x".repeat(513)}).to_string();
    assert_eq!(server.send(&long).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let further = json!({"query": "mug", "stream": true, "budget_max_minor": null, "brand": null, "context": null});
    assert_eq!(server.send(&further.to_string()).await.0, StatusCode::OK);
}

#[tokio::test]
async fn an_answer_is_of_the_graph_tier_with_a_tag_unless_a_model_spoke() {
    let mug = r#"{"query": "mug"}"#;
    let server = Server::alone();
    let (_, headers, answer) = server.send(mug).await;
    assert_eq!((&answer["tier"], answer.get("as_of")), (&json!("graph"), None));
    let of = async |body| server.send(body).await.1["etag"].clone();
    assert_eq!(of(mug).await, headers["etag"]);
    assert_ne!(of(r#"{"query": "red mug"}"#).await, headers["etag"]);
    let silent = Endpoint::start(EndpointScript::Breaks).await;
    let (_, headers, answer) = Server::asking(&config(&silent)).send(mug).await;
    assert_eq!((&answer["tier"], headers.contains_key("etag")), (&json!("graph"), true));
    let said = json!({
        "words": "mug", "brand": null, "colors": [], "sizes": [], "audience": null, "occasion": null,
        "price_min": null, "price_max": null, "currency": null, "unwanted": [],
    });
    let speaking = Endpoint::saying(&said.to_string()).await;
    let (_, headers, answer) = Server::asking(&config(&speaking)).send(mug).await;
    assert_eq!(
        (&answer["tier"], &answer["as_of"], &headers["cache-control"]),
        (
            &json!("live"),
            &json!("2026-11-21T12:00:00Z"),
            &"no-store".parse().unwrap()
        ),
        "{answer}"
    );
    assert!(!headers.contains_key("etag"));
}

#[tokio::test]
async fn a_tag_tells_equal_answers_apart_and_never_takes_the_place_of_one() {
    let mug = r#"{"query": "mug"}"#;
    let server = Server::alone();
    let first = server.send(mug).await;
    let tag = first.1["etag"].to_str().unwrap().to_owned();
    for known in [tag.as_str(), "*"] {
        let again = server.send_with(("if-none-match", known), mug).await;
        assert_eq!((again.0, &again.2), (StatusCode::OK, &first.2));
        assert_eq!(again.1["etag"], tag);
    }
    assert_ne!(server.send(r#"{"query": "red mug"}"#).await.1["etag"], tag);
}

#[tokio::test]
async fn a_sentence_that_is_not_to_be_understood_is_words_alone() {
    let endpoint = Endpoint::saying(r#"{"words": "mug"}"#).await;
    let server = Server::asking(&config(&endpoint));
    let sentence = "wallet under 600 without leather";
    let answer = server
        .discover(json!({"query": sentence, "context": "under 100", "understand": false, "budget_max_minor": 80_000}))
        .await;
    let provenance = &answer["provenance"];
    let intent = &provenance["intent"];
    assert_eq!((&intent["words"], &intent["unwanted"]), (&json!(sentence), &json!([])));
    assert_eq!(
        (&intent["price_max_minor"], &provenance["understood"]),
        (&json!(80_000), &json!([]))
    );
    assert_eq!((endpoint.asked(), &provenance["degraded_reason"]), (0, &json!("off")));
    assert!(
        crate::support::titles(&answer).contains(&"Leather Wallet".to_owned()),
        "{answer}"
    );
    let (status, ..) = server.send(r#"{"query": "mug", "understand": "perhaps"}"#).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn what_was_read_is_told_stretch_by_stretch_as_it_was_typed() {
    let mut told = Vec::new();
    for query in [
        "gift for my sister under 2000 rupees, not red",
        "Size UK 9 shoes DO HAZAR se kam bina leather",
        "saree below five hundred, nothing from Kalaya",
        "saree",
    ] {
        let answer = Server::alone()
            .discover(json!({ "query": query, "context": "under 100" }))
            .await;
        told.push(format!("{query} → {}", answer["provenance"]["understood"]));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
        gift for my sister under 2000 rupees, not red → [{"filter":null,"meaning":"gift","text":"gift for my sister"},{"filter":{"currency":"INR","price_max":200000},"meaning":"price","text":"under 2000 rupees"},{"filter":{"excluded":["red"]},"meaning":"excluded","text":"not red"}]
        Size UK 9 shoes DO HAZAR se kam bina leather → [{"filter":{"currency":"INR","price_max":200000},"meaning":"price","text":"DO HAZAR se kam"},{"filter":{"excluded":["leather"]},"meaning":"excluded","text":"bina leather"}]
        saree below five hundred, nothing from Kalaya → [{"filter":{"currency":"INR","price_max":50000},"meaning":"price","text":"below five hundred"},{"filter":{"excluded":["Kalaya"]},"meaning":"excluded","text":"nothing from Kalaya"}]
        saree → []
        "#);
}

#[tokio::test]
async fn a_sentence_counts_as_many_requests_as_are_asked_for_it() {
    let counted = Arc::new(RequestCount::default());
    let guard = Guard {
        limit: Some(Arc::clone(&counted) as Arc<dyn Limit>),
        ..Guard::default()
    };
    let server = Server::counting(None, Arc::new(guard));
    server.discover(json!({"query": "black running shoes size UK 9"})).await;
    // One search has all constraints, and the other fewer.
    assert_eq!(counted.take(), 2);
    server.discover(json!({"query": "mug", "budget_max_minor": 1})).await;
    // No product has that price. Three more searches look for the cheapest product above it, for sold-out products, and
    // for both together.
    assert_eq!(counted.take(), 4);
}

#[test]
fn every_status_is_described() {
    let document: Value = serde_json::to_value(agents_discover::openapi()).unwrap();
    let operation = &document["paths"]["/v1/discover"]["post"];
    assert_eq!(operation["operationId"], json!("discover_products"));
    for status in [
        "200", "401", "405", "408", "413", "414", "415", "422", "429", "431", "500", "503",
    ] {
        assert!(operation["responses"][status].is_object(), "{status}");
    }
}
