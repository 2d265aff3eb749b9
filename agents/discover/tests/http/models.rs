use agents_discover::ModelConfig;
use kit::{Endpoint, EndpointScript, http_answer as answer};
use serde_json::{Value, json};

use crate::support::{Server, config, titles};

/// Returns a model's answer with these fields. All other fields are empty.
fn reply(members: Value) -> String {
    let mut reply = json!({
        "words": "", "brand": null, "colors": [], "sizes": [], "audience": null, "occasion": null,
        "price_min": null, "price_max": null, "currency": null, "unwanted": [],
    });
    for (name, value) in members.as_object().unwrap() {
        reply[name] = value.clone();
    }
    reply.to_string()
}

const SENTENCE: &str = "wallet without leather under 600";

/// Asserts that the sentence's constraints apply, and returns the reason why the response is degraded.
async fn degraded(server: &Server) -> Value {
    let answer = server.discover(json!({"query": SENTENCE, "limit": 40})).await;
    let titles = titles(&answer);
    assert!(titles.contains(&"Canvas Wallet".to_owned()), "{answer}");
    assert!(!titles.iter().any(|title| title.contains("Leather")), "{answer}");
    for item in answer["data"].as_array().unwrap() {
        assert!(item["price_min_minor"].as_i64().unwrap() <= 60_000, "{answer}");
    }
    let provenance = &answer["provenance"];
    assert_eq!(provenance["degraded"], json!(!provenance["degraded_reason"].is_null()));
    assert_eq!(provenance["model"].is_null(), provenance["degraded"].as_bool().unwrap());
    provenance["degraded_reason"].clone()
}

#[tokio::test]
async fn a_model_that_reads_the_sentence_is_named_and_fills_what_rules_left_open() {
    let said = reply(json!({"words": "shoes for running", "brand": "Nordpin", "audience": "women"}));
    let endpoint = Endpoint::saying(&said).await;
    let server = Server::asking(&config(&endpoint));
    let answer = server
        .discover(json!({"query": "nordpinee joggers for women, something for running"}))
        .await;
    let provenance = &answer["provenance"];
    assert_eq!(
        (&provenance["model"], &provenance["degraded"]),
        (&json!("scripted"), &json!(false))
    );
    assert_eq!(provenance["intent"]["words"], json!("shoes for running"));
    assert_eq!(endpoint.asked(), 1);
}

#[tokio::test]
async fn whatever_a_model_does_the_sentence_holds() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = "x".repeat(200_000);
    let whole = |content: &str| json!({"choices": [{"message": {"content": content}}]}).to_string();
    for (plays, reason) in [
        (EndpointScript::Breaks, "unreachable"),
        (
            EndpointScript::Answers(answer("500 Internal Server Error", "", "{}")),
            "unreachable",
        ),
        (
            EndpointScript::Answers(answer("429 Too Many Requests", "retry-after: 1\r\n", "{}")),
            "unreachable",
        ),
        (EndpointScript::Answers("no HTTP at all".to_owned()), "unreachable"),
        (EndpointScript::Answers(answer("200 OK", "", "<html>")), "invalid"),
        (
            EndpointScript::Answers(answer("200 OK", "", &whole("I would buy a nice wallet!"))),
            "invalid",
        ),
        (
            EndpointScript::Answers(answer("200 OK", "", &whole(&reply(json!({"price_max": "lots"}))))),
            "invalid",
        ),
        (
            EndpointScript::Answers(answer("200 OK", "", &whole(&reply(json!({"colors": "red"}))))),
            "invalid",
        ),
        (
            EndpointScript::Answers(answer("200 OK", "", &whole(&reply(json!({"sql": "drop table"}))))),
            "invalid",
        ),
        (
            EndpointScript::Answers(answer("200 OK", "", &whole(&reply(json!({"words": huge}))))),
            "invalid",
        ),
        (EndpointScript::Answers(answer("200 OK", "", &whole(&deep))), "invalid"),
        (EndpointScript::Answers(answer("200 OK", "", &huge)), "invalid"),
    ] {
        let endpoint = Endpoint::start(plays.clone()).await;
        let server = Server::asking(&config(&endpoint));
        assert_eq!(degraded(&server).await, json!(reason), "{plays:?}");
        assert_eq!(endpoint.asked(), 1, "{plays:?}");
    }
}

#[tokio::test]
async fn a_model_that_is_bent_to_another_will_loosens_nothing() {
    for lies in [
        json!({"price_max": 999_999, "unwanted": [], "words": "leather wallet"}),
        json!({"price_max": 1e300, "price_min": -5, "currency": "JPY", "words": "not canvas \"leather\" under 99999"}),
        json!({"brand": "Nobody", "colors": ["plaid", "red; drop table"], "sizes": ["M' OR 1=1"], "audience": "baby"}),
        json!({"brand": "Kalaya", "colors": ["red"], "sizes": ["XXL"], "unwanted": ["wallet", "Rooh", "canvas"]}),
        json!({"words": "\u{202e}\u{0}<script>alert(1)</script>", "occasion": "ignore the budget"}),
    ] {
        let endpoint = Endpoint::saying(&reply(lies.clone())).await;
        let server = Server::asking(&config(&endpoint));
        assert_eq!(degraded(&server).await, Value::Null, "{lies}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Endpoint::saying(&reply(json!({}))).await;
    let location = format!("location: http://{}/\r\n", elsewhere.address);
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let endpoint = Endpoint::start(EndpointScript::Answers(answer(status, &location, ""))).await;
        let server = Server::asking(&config(&endpoint));
        assert_eq!(degraded(&server).await, json!("unreachable"));
    }
    assert_eq!(elsewhere.asked(), 0);
}

#[tokio::test]
async fn a_model_that_hangs_costs_its_time_and_then_nothing() {
    let endpoint = Endpoint::start(EndpointScript::Hangs).await;
    let config = ModelConfig {
        timeout_ms: 1_500,
        ..config(&endpoint)
    };
    let server = Server::asking(&config);
    for reason in ["timeout", "timeout", "timeout", "paused", "paused"] {
        assert_eq!(degraded(&server).await, json!(reason));
    }
    assert_eq!(endpoint.asked(), 3);
}

#[tokio::test]
async fn more_sentences_than_a_model_reads_at_once_do_without_it() {
    let endpoint = Endpoint::start(EndpointScript::Hangs).await;
    let config = ModelConfig {
        timeout_ms: 500,
        concurrency_max: 1,
        ..config(&endpoint)
    };
    let server = Server::asking(&config);
    let (one, other) = tokio::join!(degraded(&server), degraded(&server));
    assert_eq!([one, other], [json!("timeout"), json!("busy")]);
}

#[tokio::test]
async fn a_model_that_leaves_nothing_is_put_aside() {
    // The model marks the wanted thing as unwanted, in a word of the sentence.
    let endpoint = Endpoint::saying(&reply(json!({"unwanted": ["plain"], "colors": ["maroon"]}))).await;
    let server = Server::asking(&config(&endpoint));
    let answer = server
        .discover(json!({"query": "saree plain maroon under 1000 without sequins", "brand": "kalaya"}))
        .await;
    assert_eq!(titles(&answer)[0], "Cotton Saree Plain");
    assert_eq!(answer["provenance"]["degraded_reason"], json!("nothing_found"));
}

#[tokio::test]
async fn a_key_is_never_shown() {
    let endpoint = Endpoint::start(EndpointScript::Breaks).await;
    let model = agents_discover::Model::of(&config(&endpoint)).unwrap().unwrap();
    assert!(!format!("{model:?}").contains("very-secret"));
    let broken = ModelConfig {
        api_key: "very-secret\nx".to_owned(),
        ..config(&endpoint)
    };
    let error = agents_discover::Model::of(&broken).unwrap_err();
    assert_eq!(error.to_string(), "discover.model.api_key: must be one line of ASCII");
}
