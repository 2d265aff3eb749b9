use axum::body::{Body, to_bytes};
use axum::routing::{get, post};
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use super::*;
use crate::{EntityTag, GraphAnswer, JsonObject, MembersReader, QueryReader, if_none_match};

const LONG: &str = r#"{"title":"Cold brew"}"#;

fn router(config: EdgeConfig) -> EdgeRouter {
    let graph = async |headers: HeaderMap| {
        let tag = EntityTag::of(&[b"r1"]);
        if if_none_match(&headers, &tag) {
            GraphAnswer::NotModified(tag)
        } else {
            GraphAnswer::Fresh(tag, LONG.repeat(100).into())
        }
    };
    let order = async |body: JsonObject| {
        let mut members = MembersReader::new(&body);
        members.required("qty").integer(1..=99);
        members.required("password").text(3);
        members.optional("gift").boolean();
        members.required("items").list(1, |item| item.integer(1..=9));
        members.finish("taken")
    };
    let panics = async || -> &'static str { panic!("shelf 7 fell down") };
    let router = Router::new()
        .route("/graph", get(graph))
        .route("/orders", post(order))
        .route("/panics", get(panics))
        .route("/never", get(async || std::future::pending::<()>().await))
        .route("/healthz", get(async || "ok"));
    Edge::new(config).around(router, ["/graph", "/orders", "/panics", "/never", "/healthz"])
}

async fn send(router: EdgeRouter, request: http::request::Builder, body: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
    let response = router.answer(request.body(Body::from(body.to_owned())).unwrap()).await;
    let (parts, body) = response.into_parts();
    (
        parts.status,
        parts.headers,
        to_bytes(body, usize::MAX).await.unwrap().to_vec(),
    )
}

async fn ask(method: &str, path: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("x-request-id", "test-1");
    send(router(EdgeConfig::default()), request, "").await
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[tokio::test]
async fn an_unknown_path_is_a_problem_with_the_request_id() {
    let (status, headers, body) = ask("GET", "/v2/none").await;
    assert_eq!(
        (status, &headers["content-type"]),
        (StatusCode::NOT_FOUND, &"application/problem+json".parse().unwrap())
    );
    assert_eq!(headers["x-request-id"], "test-1");
    insta::assert_snapshot!(String::from_utf8(body).unwrap(), @r#"{"type":"urn:haat:problem:route_not_found","title":"No such path","status":404,"detail":"No such path","code":"route_not_found","request_id":"test-1"}"#);
}

#[tokio::test]
async fn a_slash_at_the_end_is_the_same_path_where_there_is_no_other() {
    let (status, _, body) = ask("GET", "/graph/?a=1").await;
    assert_eq!((status, body), (StatusCode::OK, ask("GET", "/graph").await.2));
    for none in ["/graph//", "/none/", "//"] {
        assert_eq!(ask("GET", none).await.0, StatusCode::NOT_FOUND, "{none}");
    }
}

#[tokio::test]
async fn another_method_is_405_with_allow_and_options_are_told() {
    let (status, headers, body) = ask("DELETE", "/graph").await;
    assert_eq!(
        (status, json(&body)["code"].as_str()),
        (StatusCode::METHOD_NOT_ALLOWED, Some("method_not_allowed"))
    );
    assert_eq!(headers["allow"], "GET,HEAD");
    let (status, headers, body) = ask("OPTIONS", "/orders").await;
    assert_eq!(
        (status, &headers["allow"], body.len()),
        (StatusCode::NO_CONTENT, &"POST".parse().unwrap(), 0)
    );
}

#[tokio::test]
async fn head_answers_what_get_would_without_the_body() {
    let (status, headers, body) = ask("HEAD", "/graph").await;
    assert_eq!(
        (status, body.len(), &headers["content-length"]),
        (StatusCode::OK, 0, &"2100".parse().unwrap())
    );
    let (status, headers, body) = ask("HEAD", "/none").await;
    assert_eq!((status, body.len()), (StatusCode::NOT_FOUND, 0));
    assert!(headers["content-length"].to_str().unwrap().parse::<u32>().unwrap() > 50);
}

#[tokio::test]
async fn a_known_tag_is_304_with_the_same_tag() {
    let (_, fresh, _) = ask("GET", "/graph").await;
    let request = Request::builder()
        .uri("/graph")
        .header(header::IF_NONE_MATCH, fresh["etag"].clone());
    let (status, headers, body) = send(router(EdgeConfig::default()), request, "").await;
    assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0));
    for name in ["etag", "cache-control", "vary"] {
        assert_eq!(headers[name], fresh[name], "{name}");
    }
    assert!(headers.contains_key("x-request-id"));
    // A response without a body must not state the length of the full response.
    let request = Request::builder()
        .method("HEAD")
        .uri("/graph")
        .header(header::IF_NONE_MATCH, fresh["etag"].clone());
    let (status, headers, _) = send(router(EdgeConfig::default()), request, "").await;
    assert_eq!(
        (status, headers.get("content-length")),
        (StatusCode::NOT_MODIFIED, None)
    );
}

#[tokio::test]
async fn an_answer_is_compressed_only_when_asked_and_worth_it() {
    let gzipped = |path: &str| {
        Request::builder()
            .uri(path.to_owned())
            .header(header::ACCEPT_ENCODING, "gzip")
    };
    let (_, headers, body) = send(router(EdgeConfig::default()), gzipped("/graph"), "").await;
    assert_eq!(headers["content-encoding"], "gzip");
    assert!(body.len() < 300);
    let (_, headers, body) = send(router(EdgeConfig::default()), gzipped("/healthz"), "").await;
    assert_eq!((headers.get("content-encoding"), body.as_slice()), (None, &b"ok"[..]));
    let (_, headers, body) = ask("GET", "/graph").await;
    assert_eq!((headers.get("content-encoding"), body.len()), (None, 2100));
}

#[tokio::test]
async fn every_answer_of_a_server_behind_tls_keeps_browsers_to_it() {
    let told = async |is_https: bool, path: &str| {
        let config = EdgeConfig {
            is_https,
            ..EdgeConfig::default()
        };
        let (_, headers, _) = send(router(config), Request::builder().uri(path), "").await;
        headers.get("strict-transport-security").cloned()
    };
    for path in ["/graph", "/healthz", "/nowhere", "/panics"] {
        assert_eq!(told(true, path).await.unwrap(), "max-age=31536000", "{path}");
        assert_eq!(told(false, path).await, None, "{path}");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_that_tells_nothing() {
    let (status, _, body) = ask("GET", "/panics").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!String::from_utf8(body.clone()).unwrap().contains("shelf"));
    assert_eq!(json(&body)["code"], "internal");
}

#[tokio::test]
async fn what_takes_too_long_is_503_with_retry_after() {
    let config = EdgeConfig {
        timeout_ms: 10,
        ..EdgeConfig::default()
    };
    let (status, headers, body) = send(router(config), Request::builder().uri("/never"), "").await;
    assert_eq!(
        (status, &headers["retry-after"]),
        (StatusCode::SERVICE_UNAVAILABLE, &"1".parse().unwrap())
    );
    assert_eq!(json(&body)["code"], "overloaded");
}

#[tokio::test]
async fn under_overload_probes_are_answered_and_the_rest_refused_at_once() {
    let app = router(EdgeConfig {
        in_flight_max: 0,
        ..EdgeConfig::default()
    });
    let (status, headers, body) = send(app.clone(), Request::builder().uri("/graph"), "").await;
    assert_eq!(
        (status, json(&body)["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("overloaded"))
    );
    assert_eq!(headers["retry-after"], "1");
    assert_eq!(
        send(app, Request::builder().uri("/healthz"), "").await.0,
        StatusCode::OK
    );
}

async fn order(media_type: &str, body: &str) -> (u16, Value) {
    let app = router(EdgeConfig {
        body_bytes_max: 200,
        ..EdgeConfig::default()
    });
    let mut request = Request::builder().method("POST").uri("/orders");
    if !media_type.is_empty() {
        request = request.header("content-type", media_type);
    }
    let (status, _, body) = send(app, request.header("x-request-id", "test-1"), body).await;
    (status.as_u16(), json(&body))
}

#[tokio::test]
async fn bodies_are_checked_for_type_and_size() {
    assert_eq!(order("text/plain", "{}").await.1["code"], "unsupported_media_type");
    assert_eq!(
        order("application/json", &" ".repeat(201)).await.1["code"],
        "payload_too_large"
    );
    let (status, body) = order("application/json; charset=utf-8", "{\"qty\" 1}").await;
    assert_eq!((status, &body["code"]), (422, &"malformed_json".into()));
    assert_eq!(body["detail"][0]["loc"], serde_json::json!(["body", 7]));
    assert_eq!(
        order("application/json", "[]").await.1["detail"][0]["type"],
        "dict_type"
    );
    assert_eq!(order("application/json", "").await.1["detail"][0]["type"], "missing");
    // Without a media type, an empty body is missing, and any other body has the wrong type.
    assert_eq!(order("", "").await.1["detail"][0]["type"], "missing");
    assert_eq!(order("", "{}").await.1["code"], "unsupported_media_type");
}

#[tokio::test]
async fn every_member_of_a_body_is_checked() {
    let (status, body) = order(
        "application/json",
        r#"{"qty": 1.5, "password": "hunter2", "gift": "maybe", "items": [1, 2]}"#,
    )
    .await;
    assert_eq!(status, 422);
    assert_eq!(
        (&body["code"], &body["request_id"]),
        (&"validation".into(), &"test-1".into())
    );
    let faults: Vec<_> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    {"input":1.5,"loc":["body","qty"],"msg":"Input should be a valid integer, got a number with a fractional part","type":"int_from_float"}
    {"ctx":{"max_length":3},"loc":["body","password"],"msg":"String should have at most 3 characters","type":"string_too_long"}
    {"input":"maybe","loc":["body","gift"],"msg":"Input should be a valid boolean, unable to interpret input","type":"bool_parsing"}
    {"ctx":{"actual_length":2,"field_type":"List","max_length":1},"input":[1,2],"loc":["body","items"],"msg":"List should have at most 1 items after validation, not 2","type":"too_long"}
    "#);
}

#[tokio::test]
async fn an_address_that_is_too_long_is_refused() {
    let of_length = async |length: usize| ask("GET", &format!("/graph?q={}", "a".repeat(length))).await;
    assert_eq!(of_length(32_000).await.0, StatusCode::OK);
    let (status, headers, body) = of_length(33_000).await;
    let told = json(&body);
    assert_eq!(status, StatusCode::URI_TOO_LONG);
    assert_eq!(
        (&told["code"], &told["status"]),
        (&"payload_too_large".into(), &414.into())
    );
    assert!(headers.contains_key("x-request-id"));
    assert_eq!(
        told["detail"],
        "The URI is too long: path and query together may have at most 32768 bytes."
    );
}

#[tokio::test]
async fn a_body_whose_stated_length_is_too_large_is_told_so() {
    let request = Request::builder().method("POST").uri("/orders");
    let (status, _, body) = send(router(EdgeConfig::default()), request, &"x".repeat(300_000)).await;
    assert_eq!(
        (status, &json(&body)["detail"]),
        (
            StatusCode::PAYLOAD_TOO_LARGE,
            &"The body is too large: it may have at most 262144 bytes.".into()
        )
    );
}

#[tokio::test]
async fn path_parameters_that_are_no_utf8_are_told_by_name() {
    const SHELVES: &str = "/shelves/{shelf}/{row}/{box}";
    let shelf = async |path: crate::PathParameters| {
        assert_eq!(path.text("row"), Some("a b"));
        QueryReader::new(None).finish(path, "read")
    };
    let app = Edge::new(EdgeConfig::default()).around(Router::new().route(SHELVES, get(shelf)), [SHELVES]);
    let (status, _, body) = send(app, Request::builder().uri("/shelves/%ff/a%20b/%C3%28"), "").await;
    let body = json(&body);
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let faults: Vec<_> = body["detail"].as_array().unwrap().iter().collect();
    assert_eq!(faults.len(), 2);
    for (fault, name, sent) in [(faults[0], "shelf", "%ff"), (faults[1], "box", "%C3%28")] {
        assert_eq!(fault["loc"], serde_json::json!(["path", name]));
        assert_eq!(
            (&fault["type"], &fault["input"]),
            (&"string_unicode".into(), &sent.into())
        );
    }
}

#[tokio::test]
async fn a_constant_is_answered_without_the_router_and_other_methods_with_it() {
    let router = Router::new()
        .route("/stats", get(async || "routed").post(async || "posted"))
        .route("/broken", get(async || "routed"));
    let config = EdgeConfig {
        in_flight_max: 0,
        always_answered: Vec::new(),
        ..EdgeConfig::default()
    };
    let edge = |config| {
        let greeting = |headers: &HeaderMap| format!("hello {:?}", headers.get("from")).into_response();
        Edge::new(config)
            .constant("/stats", greeting)
            .constant("/broken", |_| panic!("shelf 7 fell down"))
            .around(router.clone(), ["/stats", "/broken"])
    };
    let asked = |method| Request::builder().method(method).uri("/stats").header("from", "x");
    let (status, headers, body) = send(edge(config.clone()), asked("GET"), "").await;
    assert_eq!((status, body.as_slice()), (StatusCode::OK, &br#"hello Some("x")"#[..]));
    assert!(headers.contains_key("x-request-id"));
    let (status, head, body) = send(edge(config.clone()), asked("HEAD"), "").await;
    assert_eq!((status, body.len()), (StatusCode::OK, 0));
    assert_eq!(head["content-length"], headers["content-length"]);
    assert_eq!(
        send(edge(config), asked("POST"), "").await.0,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(send(edge(EdgeConfig::default()), asked("POST"), "").await.2, b"posted");
    let broken = Request::builder().uri("/broken");
    let (status, _, body) = send(edge(EdgeConfig::default()), broken, "").await;
    assert_eq!(
        (status, &json(&body)["code"]),
        (StatusCode::INTERNAL_SERVER_ERROR, &"internal".into())
    );
}

#[tokio::test]
async fn a_route_is_counted_under_its_pattern() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let guard = metrics::set_default_local_recorder(&recorder);
    ask("GET", "/graph?q=secret").await;
    ask("GET", "/nowhere/secret").await;
    drop(guard);
    let text = handle.render();
    assert!(
        text.contains(r#"http_requests_total{route="/graph",status="2xx"} 1"#),
        "{text}"
    );
    assert!(
        text.contains(r#"http_requests_total{route="unmatched",status="4xx"} 1"#),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn every_error_code_becomes_an_answer_with_its_status() {
    for code in ErrorCode::ALL {
        let app = Edge::new(EdgeConfig::default()).around(
            Router::new().route("/", get(async || Problem::new(*code).member("brand_slug", "x"))),
            [],
        );
        let (status, headers, body) = send(app, Request::builder().uri("/"), "").await;
        let body = json(&body);
        assert_eq!((status.as_u16(), &body["code"]), (code.status(), &code.as_str().into()));
        assert_eq!(body["brand_slug"], "x");
        if code.status() == 422 {
            // The contract defines the format of every 422, whatever its code.
            let fault = &body["detail"][0];
            assert_eq!(
                (&fault["type"], &fault["loc"], &fault["msg"]),
                (
                    &code.as_str().into(),
                    &serde_json::json!(["body"]),
                    &code.title().into()
                )
            );
        } else {
            assert_eq!(
                (&body["status"], body["detail"].is_string()),
                (&code.status().into(), true)
            );
        }
        assert_eq!(body["request_id"], headers["x-request-id"].to_str().unwrap());
    }
}

#[tokio::test]
async fn a_query_reader_lists_the_faults_of_path_and_query_together() {
    let mut path = crate::PathParameters::none();
    path.refuse(
        "ident",
        &crate::Rule::UuidParsing("invalid length: found 2".into()),
        "zz",
    );
    let mut query = QueryReader::new(Some("limit=0"));
    query.optional("limit").integer(1..=40);
    let problem = query.finish(path, ()).unwrap_err();
    let app = Edge::new(EdgeConfig::default()).around(Router::new().route("/", get(async || problem)), []);
    let request = Request::builder().uri("/").header("x-request-id", "test-1");
    insta::assert_snapshot!(String::from_utf8(send(app, request, "").await.2).unwrap(), @r#"{"detail":[{"type":"uuid_parsing","loc":["path","ident"],"msg":"Input should be a valid UUID, invalid length: found 2","input":"zz","ctx":{"error":"invalid length: found 2"}},{"type":"greater_than_equal","loc":["query","limit"],"msg":"Input should be greater than or equal to 1","input":"0","ctx":{"ge":1}}],"code":"validation","request_id":"test-1"}"#);
}

#[tokio::test]
async fn an_answer_of_the_live_tier_is_kept_by_nobody() {
    let live = async || crate::LiveAnswer(LONG.into());
    let app = Edge::new(EdgeConfig::default()).around(Router::new().route("/price", get(live)), ["/price"]);
    let request = Request::builder().uri("/price").header(header::IF_NONE_MATCH, "*");
    let (status, headers, body) = send(app, request, "").await;
    assert_eq!((status, body.as_slice()), (StatusCode::OK, LONG.as_bytes()));
    let told = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    assert_eq!(told("content-type"), Some("application/json"));
    assert_eq!(told("cache-control"), Some("no-store"));
    assert_eq!(told("x-content-type-options"), Some("nosniff"));
    assert_eq!(told("etag"), None);
}

fn one_route(path: &'static str, words: &'static str) -> OpenRouter {
    use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem};
    let operation = OperationBuilder::new().operation_id(Some(words)).build();
    let paths = utoipa::openapi::PathsBuilder::new().path(path, PathItem::new(HttpMethod::Get, operation));
    let info = utoipa::openapi::InfoBuilder::new().title(words).version("1.0").build();
    let document = utoipa::openapi::OpenApiBuilder::new().info(info).paths(paths).build();
    OpenRouter::new(Router::new(), [] as [&str; 0])
        .route(path, get(async move || words))
        .described(document)
}

#[tokio::test]
async fn servers_behind_one_edge_share_its_limits_its_metrics_and_one_description() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let guard = metrics::set_default_local_recorder(&recorder);
    let reads = one_route("/reads", "reads").constant("/reads", |_| "constant".into_response());
    let app = reads
        .merge(one_route("/live/{ident}", "live"))
        .edge(EdgeConfig::default());
    let ask = async |path: &str| send(app.clone(), Request::builder().uri(path), "").await;
    assert_eq!(ask("/reads").await.2, b"constant");
    assert_eq!(ask("/live/1").await.2, b"live");
    assert_eq!(ask("/other").await.0, StatusCode::NOT_FOUND);
    let document = json(&ask("/openapi.json").await.2);
    drop(guard);
    assert_eq!(document["info"]["title"], "reads");
    let described: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(described, ["/live/{ident}", "/reads"]);
    let counted = handle.render();
    for pattern in ["/reads", "/live/{ident}", "/openapi.json", "unmatched"] {
        assert!(
            counted.contains(&format!("route=\"{pattern}\"")),
            "{pattern} in {counted}"
        );
    }
}
