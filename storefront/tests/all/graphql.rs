//! Tests of GraphQL requests and of the interpretation of their answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use apollo_compiler::{ExecutableDocument, Schema};
use data_model::{Classify as _, ErrorCode};
use serde_json::json;
use storefront::{
    BodyLimit, Effect, GraphqlAnswer, GraphqlErrorKind, GraphqlRequest, Priority, StoreError, StorefrontConfig,
    documents,
};
use tokio::time::Instant;

use crate::support::{Reply, ok, pages, status, store, store_at, unpaced};

fn variants() -> GraphqlRequest {
    let ids = ["gid://shopify/ProductVariant/1"];
    GraphqlRequest::new(
        documents::VARIANTS_BY_ID,
        "Variants",
        json!({"ids": ids, "country": "IN"}),
    )
}

async fn answer(body: &'static str) -> Result<GraphqlAnswer, StoreError> {
    let script = pages(move |_, _| {
        let version = ("x-shopify-api-version", "2026-07".to_owned());
        Reply::Answer(200, vec![version], body)
    });
    store(unpaced(), &script).graphql(&variants(), Effect::Safe).await
}

const THROTTLED: &str = r#"{"data":null,"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}"#;

#[tokio::test(start_paused = true)]
async fn a_request_goes_to_the_api_of_the_configured_version() {
    let script = pages(|_, _| ok(r#"{"data":{"nodes":[null]}}"#));
    let config = StorefrontConfig {
        graphql_version: "2026-10".to_owned(),
        country: Some("IN".to_owned()),
        ..unpaced()
    };
    let store = store_at("https://brand.example/en-in/", config, &script);
    store.graphql(&variants(), Effect::Safe).await.unwrap();
    let posts = script.posts.lock().unwrap();
    let (url, body) = &posts[0];
    assert_eq!(url, "https://brand.example/en-in/api/2026-10/graphql.json");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["query"], documents::VARIANTS_BY_ID);
    insta::assert_json_snapshot!(body, {".query" => "the document"}, @r#"
    {
      "operationName": "Variants",
      "query": "the document",
      "variables": {
        "country": "IN",
        "ids": [
          "gid://shopify/ProductVariant/1"
        ]
      }
    }
    "#);
    let headers = script.headers.lock().unwrap();
    assert!(
        !headers.last().unwrap().contains_key("cookie"),
        "the document says the country"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_its_data_its_errors_and_its_version() {
    let told = answer(
        r#"{"data":{"nodes":[{"price":{"amount":"25.0"}},null]},
            "errors":[{"message":"Access denied","path":["nodes",0,"quantityAvailable"],"extensions":{"code":"ACCESS_DENIED"}},{"message":"?"}],
            "extensions":{"cost":{"requestedQueryCost":4}}}"#,
    )
    .await
    .unwrap();
    insta::assert_debug_snapshot!(told, @r#"
    GraphqlAnswer {
        data: Some(
            RawValue(
                {"nodes":[{"price":{"amount":"25.0"}},null]},
            ),
        ),
        errors: [
            GraphqlError {
                message: "Access denied",
                code: Some(
                    "ACCESS_DENIED",
                ),
                path: [
                    "nodes",
                    "0",
                    "quantityAvailable",
                ],
            },
            GraphqlError {
                message: "?",
                code: None,
                path: [],
            },
        ],
        version: Some(
            "2026-07",
        ),
        is_open: false,
    }
    "#);
}

#[tokio::test(start_paused = true)]
async fn half_a_surrogate_pair_costs_its_character_and_not_the_answer() {
    let told = answer(r#"{"data":{"title":"Tea \ud83d"}}"#).await.unwrap();
    let data: serde_json::Value = serde_json::from_str(told.data.unwrap().get()).unwrap();
    assert_eq!(data, json!({ "title": "Tea \u{fffd}" }));
}

#[tokio::test(start_paused = true)]
async fn errors_without_data_are_an_answer() {
    for body in [
        r#"{"errors":[{"message":"Complexity exceeded","extensions":{"code":"MAX_COMPLEXITY_EXCEEDED","cost":1250,"maxCost":1000}}]}"#,
        r#"{"data":null,"errors":[{"message":"m","extensions":{"code":"MAX_COMPLEXITY_EXCEEDED"}}]}"#,
    ] {
        let told = answer(body).await.unwrap();
        assert!(told.data.is_none());
        assert_eq!(told.errors[0].code.as_deref(), Some("MAX_COMPLEXITY_EXCEEDED"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_a_refusal_where_it_is_about_the_call_itself() {
    use GraphqlErrorKind::{Access, Call, Closed, Failure, Size};
    for (codes, kind, code, leaves_open) in [
        (vec!["MAX_COMPLEXITY_EXCEEDED"], Size, ErrorCode::StoreRejected, false),
        (vec!["MAX_INPUT_SIZE_EXCEEDED"], Size, ErrorCode::StoreRejected, false),
        (vec!["BAD_USER_INPUT"], Call, ErrorCode::StoreRejected, false),
        (
            vec!["undefinedField", "variableNotUsed"],
            Call,
            ErrorCode::StoreRejected,
            false,
        ),
        (vec!["ACCESS_DENIED"], Access, ErrorCode::StoreUnavailable, false),
        (vec!["ONLINE_STORE_LOCKED"], Closed, ErrorCode::StoreUnavailable, false),
        (
            vec!["INTERNAL_SERVER_ERROR"],
            Failure,
            ErrorCode::StoreUnavailable,
            true,
        ),
        (vec!["NEVER_HEARD_OF"], Failure, ErrorCode::StoreUnavailable, true),
        (vec![""], Failure, ErrorCode::StoreUnavailable, true),
        // With several errors, the kind with the least certain outcome counts.
        (
            vec!["BAD_USER_INPUT", "INTERNAL_SERVER_ERROR"],
            Failure,
            ErrorCode::StoreUnavailable,
            true,
        ),
    ] {
        let errors = codes
            .iter()
            .map(|code| json!({ "message": "m", "extensions": { "code": code } }));
        let body = json!({ "errors": errors.collect::<Vec<_>>() }).to_string();
        let found = answer(String::leak(body)).await.unwrap().error_kind();
        assert_eq!(
            (found, found.code(), found.leaves_open()),
            (kind, code, leaves_open),
            "{codes:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_message_is_cut_and_long_lists_too() {
    let long = "ü".repeat(600);
    let errors = vec![json!({"message": long, "path": vec!["a"; 900]}); 300];
    let body = json!({"data": {}, "errors": errors}).to_string().leak();
    let told = answer(body).await.unwrap();
    assert_eq!(told.errors.len(), 100);
    assert_eq!(told.errors[0].message, "ü".repeat(500));
    assert_eq!(told.errors[0].path.len(), 50);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_of_graphql_is_not_json() {
    for body in [
        "<html>Just a moment</html>",
        "[]",
        "{}",
        r#"{"data":null}"#,
        r#"{"errors":[]}"#,
        r#"{"errors":"no"}"#,
        r#"{"data":{}} {}"#,
    ] {
        let error = answer(body).await.unwrap_err();
        assert!(matches!(error, StoreError::NotJson { .. }), "{body}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn throttled_with_status_200_slows_the_pace_as_a_429_does() {
    let script = pages(|_, nth| if nth < 2 { ok(THROTTLED) } else { ok(r#"{"data":{}}"#) });
    let config = StorefrontConfig {
        rate_growth: 0.0,
        ..StorefrontConfig::default()
    };
    let store = store(config, &script);
    store.graphql(&variants(), Effect::Safe).await.unwrap();
    assert_eq!(script.page_times(), [1000, 3000, 7000], "two seconds, then four");
    assert!((store.rate_per_s() - 0.25).abs() < 1e-9, "{}", store.rate_per_s());
}

#[tokio::test(start_paused = true)]
async fn a_flaw_of_a_text_hides_no_throttling() {
    for flaw in ["half \\ud83d", "bell \u{7}"] {
        let data = THROTTLED.replace("null", &format!("{{\"title\":\"{flaw}\"}}"));
        for body in [data, THROTTLED.replace("Throttled", flaw)] {
            let body: &str = body.leak();
            let script = pages(move |_, _| ok(body));
            let error = store(unpaced(), &script).graphql(&variants(), Effect::Unsafe).await;
            assert!(matches!(error, Err(StoreError::Throttled { .. })), "{body}: {error:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn throttled_is_told_to_who_cannot_wait_and_never_repeated_for_an_unsafe_call() {
    let script = pages(|_, _| ok(THROTTLED));
    let store = store(unpaced(), &script);
    let error = store.graphql(&variants(), Effect::Unsafe).await.unwrap_err();
    assert!(matches!(error, StoreError::Throttled { retry_after: None }), "{error}");
    assert_eq!(script.posted_to().len(), 1);
    let asked = Instant::now();
    let hurried = store
        .with_priority(Priority::Interactive)
        .with_deadline(asked + Duration::from_secs(1));
    let error = hurried.graphql(&variants(), Effect::Safe).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Throttled { retry_after: Some(wait) } if wait == Duration::from_secs(2)),
        "{error}"
    );
    assert_eq!(asked.elapsed(), Duration::ZERO, "at once");
    assert_eq!(script.posted_to().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_one_operation_rests_no_other_call() {
    let limited = r#"{"data":{"customerCreate":null},"errors":[{"message":"Creating Customer Limit exceeded.",
        "path":["customerCreate"],"extensions":{"code":"THROTTLED"}}]}"#;
    let script = pages(move |_, nth| {
        if nth % 2 == 0 {
            ok(limited)
        } else {
            ok(r#"{"data":{}}"#)
        }
    });
    let store = store(unpaced(), &script);
    let error = store.graphql(&variants(), Effect::Unsafe).await.unwrap_err();
    assert!(matches!(error, StoreError::Throttled { retry_after: None }), "{error}");
    let asked = Instant::now();
    store.graphql(&variants(), Effect::Safe).await.unwrap();
    assert_eq!(asked.elapsed(), Duration::ZERO);
    store.graphql(&variants(), Effect::Idempotent).await.unwrap();
    assert!(asked.elapsed() > Duration::ZERO, "a repetition waits");
}

#[tokio::test(start_paused = true)]
async fn the_word_alone_throttles_nobody() {
    let told = answer(r#"{"data":{"title":"THROTTLED"},"errors":[{"message":"THROTTLED"}]}"#)
        .await
        .unwrap();
    assert_eq!(told.errors[0].message, "THROTTLED");
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_answer_to_an_unsafe_call_is_an_unknown_outcome() {
    let script = pages(|_, _| ok(r#"{"data":null}"#));
    let error = store(unpaced(), &script)
        .graphql(&variants(), Effect::Unsafe)
        .await
        .unwrap_err();
    assert!(
        matches!(&error, StoreError::OutcomeUnknown { source, .. } if matches!(**source, StoreError::NotJson { .. })),
        "{error:?}"
    );
    let told = pages(|_, _| ok(r#"{"data":null,"errors":[{"message":"no"}]}"#));
    store(unpaced(), &told)
        .graphql(&variants(), Effect::Unsafe)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_by_status_is_what_it_is_for_pages() {
    for code in [401, 403, 404] {
        let script = pages(move |_, _| status(code));
        let error = store(unpaced(), &script)
            .graphql(&variants(), Effect::Safe)
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Status { status } if status == code),
            "{error}"
        );
    }
    let script = pages(|_, _| status(430));
    let error = store(unpaced(), &script)
        .graphql(&variants(), Effect::Unsafe)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Throttled { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_beyond_its_limit_is_too_large() {
    let script = pages(|_, _| ok(r#"{"data":{"a":"0123456789"}}"#));
    let config = StorefrontConfig {
        graphql_bytes_max: 20,
        ..unpaced()
    };
    let error = store(config, &script)
        .graphql(&variants(), Effect::Safe)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::TooLarge {
                limit: BodyLimit::Wire,
                bytes_max: 20
            }
        ),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_made_at_its_turn_is_made_then_and_once() {
    let script = pages(|_, nth| if nth < 2 { status(502) } else { ok(r#"{"data":{}}"#) });
    let store = store(StorefrontConfig::default(), &script);
    let (asked, made) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let times = Arc::clone(&made);
    let make = move || {
        times.lock().unwrap().push(asked.elapsed());
        Some(variants())
    };
    store.graphql_at_turn(make, Effect::Safe).await.unwrap();
    assert_eq!(*made.lock().unwrap(), [Duration::from_secs(1)], "behind robots.txt");
    let posts = script.posts.lock().unwrap();
    assert_eq!(posts.len(), 3);
    assert!(posts.iter().all(|post| *post == posts[0]));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_wants_any_more_is_not_sent_and_takes_no_place() {
    let script = pages(|_, _| ok(r#"{"data":{}}"#));
    let config = StorefrontConfig {
        rate_growth: 0.0,
        ..StorefrontConfig::default()
    };
    let store = store(config, &script);
    store.robots().await.unwrap();
    let (withdrawn, sent) = tokio::join!(
        store.graphql_at_turn(|| None, Effect::Unsafe),
        store.graphql_at_turn(|| Some(variants()), Effect::Safe)
    );
    assert!(matches!(withdrawn, Err(StoreError::Withdrawn)), "{withdrawn:?}");
    sent.unwrap();
    assert_eq!(script.page_times(), [1000], "the next one has its place");
}

#[tokio::test(start_paused = true)]
async fn a_token_is_shown_to_the_api_alone_and_to_nobody_else() {
    let script = pages(|_, _| ok(r#"{"data":{}}"#));
    let store = store(unpaced(), &script).with_token(data_model::Secret::new("shpat-planted"));
    store.graphql(&variants(), Effect::Unsafe).await.unwrap();
    store.meta().await.unwrap();
    let headers = script.headers.lock().unwrap();
    let shown: Vec<_> = headers
        .iter()
        .map(|headers| headers.contains_key("x-shopify-storefront-access-token"))
        .collect();
    assert_eq!(shown.iter().filter(|shown| **shown).count(), 1, "{shown:?}");
    assert!(!format!("{headers:?} {store:?}").contains("shpat-planted"));
}

/// Every document with the operation named in its doc comment.
const DOCUMENTS: [(&str, &str); 17] = [
    (
        documents::VARIANTS_BY_ID,
        "query Variants($ids: [ID!]!, $country: CountryCode)",
    ),
    (
        documents::PRODUCTS_BY_ID,
        "query Products($ids: [ID!]!, $country: CountryCode)",
    ),
    (documents::CATEGORIES_BY_ID, "query Categories($ids: [ID!]!)"),
    (
        documents::REST_OF_VARIANTS,
        "query RestOfVariants($id: ID!, $after: String, $country: CountryCode) @inContext(country: $country)",
    ),
    (documents::POLICIES, "query Policies {"),
    (documents::CART_CREATE, "mutation CartCreate("),
    (documents::CART_READ, "query CartRead("),
    (documents::CART_LINES_ADD, "mutation CartLinesAdd("),
    (documents::CART_LINES_UPDATE, "mutation CartLinesUpdate("),
    (documents::CART_LINES_REMOVE, "mutation CartLinesRemove("),
    (documents::CART_DISCOUNT_CODES, "mutation CartDiscountCodes("),
    (documents::CART_BUYER_IDENTITY, "mutation CartBuyerIdentity("),
    (documents::CART_ATTRIBUTES, "mutation CartAttributes("),
    (documents::CART_ADDRESSES, "mutation CartAddresses("),
    (documents::CART_DELIVERY_OPTIONS, "mutation CartDeliveryOptions("),
    (documents::CUSTOMER_CREATE, "mutation CustomerCreate("),
    (documents::CUSTOMER_TOKEN_CREATE, "mutation CustomerTokenCreate("),
];

#[test]
fn each_document_has_the_operation_that_its_doc_names() {
    for (document, operation) in DOCUMENTS {
        assert_eq!(document.matches(operation).count(), 1, "{operation}");
        let begins = |line: &&str| line.starts_with("query ") || line.starts_with("mutation ");
        assert_eq!(
            document.lines().filter(begins).count(),
            1,
            "one operation a document: {operation}"
        );
    }
}

#[test]
fn each_document_is_valid_in_the_platforms_own_schema() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/storefront/storefront.schema.graphql"
    );
    let Ok(sdl) = std::fs::read_to_string(file) else {
        println!("skipped: {file} is absent");
        return;
    };
    let schema = Schema::parse_and_validate(sdl, "platform.graphql").unwrap_or_else(|error| panic!("{error}"));
    let all = DOCUMENTS
        .iter()
        .map(|(document, _)| *document)
        .chain([documents::SHOP_ACCOUNTS, documents::SHOP_COUNTRIES]);
    for document in all {
        let read = ExecutableDocument::parse_and_validate(&schema, document, "document.graphql");
        assert!(read.is_ok(), "{}", read.unwrap_err());
    }
}
