use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use data_model::ErrorCode;
use http::{HeaderMap, header};
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

use super::*;
use crate::{CacheRule, EdgeConfig, EdgeRouter, OpenRouter, Problem};

/// Test identities with one key and one session. The lookup of credentials that begin with `slow` is asynchronous, and
/// the lookup of `gone` fails.
#[derive(Debug)]
struct Few;

fn known(credential: &str, via: Via) -> Result<Arc<KnownCaller>, NotTaken> {
    let allowance = Arc::new(Allowance::unlimited());
    match credential.trim_start_matches("slow-") {
        "haat_live_good" | "good" => Ok(Arc::new(KnownCaller {
            id: CallerId::account("a1"),
            via,
            allowance,
        })),
        "gone" => Err(NotTaken::Unavailable),
        _ => Err(NotTaken::Invalid),
    }
}

impl Identify for Few {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let key = Via::Key {
            id: "key_1".into(),
            plan: "free",
        };
        let (text, via) = match credential {
            Credential::Key(text) => (text.to_owned(), key),
            Credential::Session("guest") => ("good".to_owned(), Via::Guest { network: None }),
            Credential::Session(text) => (text.to_owned(), Via::Session),
        };
        if text.starts_with("slow-") {
            Prompt::Later(Box::pin(async move {
                tokio::task::yield_now().await;
                known(&text, via)
            }))
        } else {
            Prompt::Now(known(&text, via))
        }
    }
}

/// Limit that admits this many requests of all anonymous callers together.
#[derive(Debug)]
struct Anonymous(AtomicU32);

impl Limit for Anonymous {
    fn admit(&self, caller: &Caller) -> Prompt<Verdict> {
        if caller.known().is_some() {
            return Prompt::Now(Verdict::UNLIMITED);
        }
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let outcome = left.map_or(Outcome::TooFast(Duration::from_millis(150)), |_| Outcome::Allowed);
        Prompt::Now(Verdict {
            outcome,
            remaining: Some(left.map_or(0, |left| left - 1)),
            reset_after: Duration::from_millis(2500),
            today: Some((41, Duration::from_secs(3600))),
        })
    }
}

fn document() -> OpenApi {
    let operation = |id: &str| json!({ "operationId": id, "responses": {} });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "t", "version": "1" },
        "paths": {
            "/v1/search": { "get": operation("search") },
            "/v1/cart": { "post": operation("create_cart"), "get": operation("list") },
            "/v1/coupons": { "get": operation("find_coupons") },
        },
    });
    serde_json::from_value(document).unwrap()
}

async fn named(caller: Caller) -> String {
    caller
        .known()
        .map_or_else(|| "nobody".to_owned(), |known| known.id.to_string())
}

fn market(anonymous: u32) -> EdgeRouter {
    let stored = async |caller| ([(header::CACHE_CONTROL, CacheRule::Graph.value())], named(caller).await);
    let router = Router::new()
        .route("/v1/search", get(named))
        .route("/v1/cart", post(named).get(named))
        .route("/v1/coupons", get(stored))
        .route("/v1/discover", post(named))
        .route("/v1/unknown", get(async || Problem::new(ErrorCode::MissingCredentials)))
        .route("/products/{ident}", get(named))
        .route("/", get(async || "page"))
        .route("/healthz", get(async || "ok"));
    let guard = Guard {
        identify: Arc::new(Few),
        limit: Some(Arc::new(Anonymous(AtomicU32::new(anonymous)))),
        anonymous: Arc::new(Allowance::new(
            NonZeroU32::new(5).unwrap(),
            NonZeroU32::new(12).unwrap(),
            Some(500),
        )),
        keyed: ["create_cart", "find_coupons"].map(str::to_owned).into(),
        ..Guard::default()
    };
    let config = EdgeConfig {
        guard: Arc::new(guard),
        cors_origins: vec!["https://shop.example".parse().unwrap()],
        ..EdgeConfig::default()
    };
    let read = OpenRouter::new(router, ["/v1/search", "/", "/healthz"]).read_by_any_origin();
    let discover = OpenRouter::new(Router::new(), ["/v1/discover"]).read_by_post_of_any_origin();
    read.merge(discover)
        .merge(OpenRouter::new(
            Router::new(),
            ["/v1/cart", "/v1/coupons", "/v1/unknown"],
        ))
        .merge(OpenRouter::new(Router::new(), ["/products/{ident}"]).counted())
        .described(document())
        .edge(config)
}

fn request(method: &str, path: &str, headers: &[(&str, &[u8])]) -> Request {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

async fn text(response: Response) -> String {
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
}

async fn ask(market: &EdgeRouter, method: &str, path: &str, headers: &[(&str, &[u8])]) -> String {
    let response = market.answer(request(method, path, headers)).await;
    let status = response.status().as_u16();
    let body = text(response).await;
    let told = serde_json::from_str::<Value>(&body).ok();
    let told = told.and_then(|told| Some(told.get("code")?.as_str()?.to_owned()));
    format!("{status} {}", told.unwrap_or(body))
}

#[tokio::test]
async fn a_wrong_key_is_refused_wherever_it_is_sent() {
    let market = market(100);
    for (method, path) in [
        ("GET", "/v1/search"),
        ("POST", "/v1/cart"),
        ("DELETE", "/v1/cart"),
        ("GET", "/"),
        ("GET", "/healthz"),
        ("GET", "/openapi.json"),
        ("GET", "/v1/none"),
    ] {
        for header in [
            ("x-service-key", &b"haat_live_bad"[..]),
            ("authorization", b"Bearer haat_live_bad"),
        ] {
            let response = market.answer(request(method, path, &[header])).await;
            assert_eq!(response.status(), 401, "{method} {path}");
            assert_eq!(
                response.headers()["www-authenticate"],
                "Bearer realm=\"haat\", error=\"invalid_token\""
            );
            let body: Value = serde_json::from_str(&text(response).await).unwrap();
            assert_eq!(body["code"], "invalid_key");
        }
    }
}

#[tokio::test]
async fn a_good_key_is_known_by_either_header_and_to_who_answers() {
    let market = market(0);
    let good = b"haat_live_good";
    let bearer = b"bearer  haat_live_good";
    for headers in [
        &[("x-service-key", &good[..])][..],
        &[("authorization", &bearer[..])],
        &[("x-service-key", &good[..]), ("authorization", &bearer[..])],
        &[("x-service-key", &b"slow-haat_live_good"[..])],
    ] {
        assert_eq!(ask(&market, "GET", "/v1/search", headers).await, "200 account:a1");
        assert_eq!(ask(&market, "POST", "/v1/cart", headers).await, "200 account:a1");
    }
    assert_eq!(
        ask(&market, "GET", "/v1/search", &[("x-service-key", b"gone")]).await,
        "503 not_ready"
    );
}

#[tokio::test]
async fn what_cannot_be_read_as_one_key_is_refused_with_why() {
    let market = market(100);
    let long = [b'k'; 257];
    let odd: [&[(&str, &[u8])]; 7] = [
        &[
            ("x-service-key", b"haat_live_good"),
            ("x-service-key", b"haat_live_good"),
        ],
        &[
            ("authorization", b"Bearer haat_live_good"),
            ("authorization", b"Bearer haat_live_good"),
        ],
        &[
            ("x-service-key", b"haat_live_good"),
            ("authorization", b"Bearer haat_live_other"),
        ],
        &[("x-service-key", &long)],
        &[("x-service-key", b"haat_live_g\xf6od")],
        &[("authorization", b"Basic aGFhdA==")],
        &[("authorization", b"haat_live_good")],
    ];
    for headers in odd {
        assert_eq!(
            ask(&market, "GET", "/v1/search", headers).await,
            "401 invalid_key",
            "{headers:?}"
        );
    }
    for path in ["/v1/search?key=haat_live_good", "/v1/search?q=a&x=haat%5Flive%5fgood"] {
        let response = market.answer(request("GET", path, &[])).await;
        let body: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(
            body["detail"],
            "The URL contains a key, and logs and browser histories keep URLs. Rotate the key, and send it in the \
             header X-Service-Key."
        );
    }
}

#[tokio::test]
async fn an_operation_that_needs_a_key_says_so_and_its_other_methods_do_not() {
    let market = market(100);
    let response = market.answer(request("POST", "/v1/cart", &[])).await;
    assert_eq!(response.headers()["www-authenticate"], "Bearer realm=\"haat\"");
    insta::assert_snapshot!(text(response).await.split(",\"request_id").next().unwrap(), @r#"
    {"type":"urn:haat:problem:missing_credentials","title":"A key or a session is needed","status":401,"detail":"This operation needs a key in X-Service-Key, or a session.","code":"missing_credentials"
    "#);
    assert_eq!(ask(&market, "GET", "/v1/cart", &[]).await, "200 nobody");
    assert_eq!(ask(&market, "DELETE", "/v1/cart", &[]).await, "405 method_not_allowed");
}

#[tokio::test]
async fn a_session_acts_for_pages_of_this_site_alone() {
    let market = market(100);
    let cookie = ("cookie", &b"a=b; __Host-haat_session=good; c=d"[..]);
    let host = ("host", &b"market.example"[..]);
    let asked =
        async |more: &[(&str, &[u8])]| ask(&market, "POST", "/v1/cart", &[&[cookie, host], more].concat()).await;
    assert_eq!(asked(&[("sec-fetch-site", b"same-origin")]).await, "200 account:a1");
    assert_eq!(asked(&[("origin", b"https://market.example")]).await, "200 account:a1");
    for foreign in [
        &[
            ("sec-fetch-site", &b"same-site"[..]),
            ("origin", &b"https://market.example"[..]),
        ][..],
        &[("sec-fetch-site", b"cross-site")],
        &[("origin", b"https://evil.example")],
        &[("origin", b"null")],
        &[],
    ] {
        assert_eq!(asked(foreign).await, "403 forbidden", "{foreign:?}");
    }
    assert_eq!(ask(&market, "GET", "/v1/search", &[cookie]).await, "200 account:a1");
}

#[tokio::test]
async fn a_read_that_needs_somebody_takes_a_session_from_scripts_of_this_site_alone() {
    let market = market(100);
    let cookie = ("cookie", &b"__Host-haat_session=good"[..]);
    let host = ("host", &b"market.example"[..]);
    let site = |site: &'static str| ("sec-fetch-site", site.as_bytes());
    let what = |what: &'static str| ("sec-fetch-dest", what.as_bytes());
    let here = site("same-origin");
    let asked =
        async |more: &[(&str, &[u8])]| ask(&market, "GET", "/v1/coupons", &[&[cookie, host], more].concat()).await;
    assert_eq!(asked(&[here]).await, "200 account:a1");
    assert_eq!(asked(&[here, what("empty")]).await, "200 account:a1");
    for elsewhere in [
        &[site("cross-site"), what("document")][..],
        &[site("cross-site"), what("empty")],
        &[site("same-site"), what("empty")],
        &[site("none"), what("document")],
        &[here, what("document")],
        &[here, what("image")],
        &[],
    ] {
        assert_eq!(asked(elsewhere).await, "403 forbidden", "{elsewhere:?}");
    }
    let key = ("x-service-key", &b"haat_live_good"[..]);
    let foreign = site("cross-site");
    assert_eq!(
        ask(&market, "GET", "/v1/coupons", &[key, foreign]).await,
        "200 account:a1"
    );
    let response = market.answer(request("GET", "/openapi.json", &[])).await;
    let document: Value = serde_json::from_str(&text(response).await).unwrap();
    let refusal = |path: &str| document["paths"][path]["get"]["responses"]["403"].is_object();
    assert!(refusal("/v1/coupons") && !refusal("/v1/search"));
}

#[tokio::test]
async fn a_session_that_is_over_is_anybody_where_anybody_may_ask() {
    let market = market(100);
    let same = ("sec-fetch-site", &b"same-origin"[..]);
    for cookie in [&b"__Host-haat_session=over"[..], b"__Host-haat_session=slow-over"] {
        let cookie = ("cookie", cookie);
        assert_eq!(ask(&market, "GET", "/v1/search", &[cookie]).await, "200 nobody");
        assert_eq!(ask(&market, "GET", "/", &[cookie]).await, "200 page");
        assert_eq!(
            ask(&market, "POST", "/v1/cart", &[cookie, same]).await,
            "401 invalid_session"
        );
    }
    let twice = ("cookie", &b"__Host-haat_session=good; __Host-haat_session=good"[..]);
    assert_eq!(
        ask(&market, "POST", "/v1/cart", &[twice, same]).await,
        "401 missing_credentials"
    );
    let gone = ("cookie", &b"__Host-haat_session=gone"[..]);
    assert_eq!(ask(&market, "GET", "/v1/search", &[gone]).await, "200 nobody");
    assert_eq!(ask(&market, "POST", "/v1/cart", &[gone, same]).await, "503 not_ready");
}

#[tokio::test]
async fn limits_are_told_and_what_is_too_much_is_refused_but_pages_do_not_count() {
    let market = market(2);
    let told = |headers: &HeaderMap| {
        let value = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        [value("ratelimit-policy"), value("ratelimit"), value("retry-after")]
    };
    let policy = || Some("\"burst\";q=12;w=3, \"day\";q=500;w=86400".to_owned());
    let rest = |left: u32| Some(format!("\"burst\";r={left};t=3, \"day\";r=41;t=3600"));
    for left in [1, 0] {
        let response = market.answer(request("GET", "/v1/search", &[])).await;
        assert_eq!(told(response.headers()), [policy(), rest(left), None]);
    }
    let response = market.answer(request("GET", "/v1/search", &[])).await;
    assert_eq!(response.status(), 429);
    assert_eq!(told(response.headers()), [policy(), rest(0), Some("1".to_owned())]);
    insta::assert_snapshot!(text(response).await.split(",\"request_id").next().unwrap(), @r#"
    {"type":"urn:haat:problem:rate_limit","title":"Too many requests","status":429,"detail":"Too many requests","code":"rate_limit"
    "#);
    for path in ["/", "/healthz", "/openapi.json"] {
        let response = market.answer(request("GET", path, &[])).await;
        assert_eq!(
            (response.status().as_u16(), told(response.headers())),
            (200, [None, None, None]),
            "{path}"
        );
    }
    let key = ("x-service-key", &b"haat_live_good"[..]);
    assert_eq!(ask(&market, "GET", "/v1/search", &[key]).await, "200 account:a1");
}

#[tokio::test]
async fn documents_that_cost_as_much_as_a_read_count_like_one() {
    let market = market(2);
    assert_eq!(ask(&market, "GET", "/products/1", &[]).await, "200 nobody");
    assert_eq!(ask(&market, "GET", "/v1/search", &[]).await, "200 nobody");
    assert_eq!(ask(&market, "GET", "/products/2", &[]).await, "429 rate_limit");
    let over = ("cookie", &b"__Host-haat_session=over"[..]);
    assert_eq!(ask(&market, "GET", "/products/2", &[over]).await, "429 rate_limit");
    assert_eq!(ask(&market, "GET", "/", &[]).await, "200 page");
}

#[tokio::test]
async fn a_guest_acts_for_pages_of_this_site_alone_and_counts_as_their_network() {
    let market = market(1);
    let cookie = ("cookie", &b"__Host-haat_session=guest"[..]);
    let here = ("sec-fetch-site", &b"same-origin"[..]);
    assert_eq!(ask(&market, "POST", "/v1/cart", &[cookie]).await, "403 forbidden");
    assert_eq!(
        ask(&market, "POST", "/v1/cart", &[cookie, here]).await,
        "200 account:a1"
    );
    assert_eq!(
        ask(&market, "POST", "/v1/cart", &[cookie, here]).await,
        "429 rate_limit"
    );
}

#[tokio::test]
async fn paths_that_there_are_not_count_like_those_that_there_are() {
    let market = market(2);
    for answer in ["404 route_not_found", "404 route_not_found", "429 rate_limit"] {
        assert_eq!(ask(&market, "GET", "/v1/nowhere", &[]).await, answer);
    }
    assert_eq!(ask(&market, "GET", "/nowhere", &[]).await, "404 route_not_found");
}

#[tokio::test]
async fn the_document_says_what_needs_a_key() {
    let response = market(1).answer(request("GET", "/openapi.json", &[])).await;
    let document: Value = serde_json::from_str(&text(response).await).unwrap();
    let security = |path: &str, method: &str| document["paths"][path][method]["security"].clone();
    let credentials = [
        json!({ "ServiceKey": [] }),
        json!({ "Bearer": [] }),
        json!({ "Session": [] }),
    ];
    assert_eq!(security("/v1/cart", "post"), json!(credentials));
    assert_eq!(
        security("/v1/search", "get"),
        json!([&[json!({})], &credentials[..]].concat())
    );
}

#[tokio::test]
async fn shared_caches_keep_no_answer_that_is_for_callers_with_a_key() {
    let answer = market(100)
        .answer(request("GET", "/v1/coupons", &[("x-service-key", b"good")]))
        .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.headers()["cache-control"],
        "private, max-age=30, stale-while-revalidate=300"
    );
}

#[tokio::test]
async fn every_401_names_the_scheme_whoever_answers_it() {
    let answer = market(100).answer(request("GET", "/v1/unknown", &[])).await;
    assert_eq!(answer.status(), 401);
    assert_eq!(answer.headers()["www-authenticate"], "Bearer realm=\"haat\"");
}

/// Returns the headers `Access-Control-Allow-Origin` and `Vary`, and the methods and headers that a preflight response
/// allows.
async fn cors(method: &str, path: &str, headers: &[(&str, &[u8])]) -> String {
    let response = market(100).answer(request(method, path, headers)).await;
    let value = |name| {
        response
            .headers()
            .get(name)
            .map_or("-", |value| value.to_str().unwrap())
    };
    format!(
        "{} {} {} {}",
        response.status().as_u16(),
        value("access-control-allow-origin"),
        value("vary"),
        value("access-control-allow-methods")
    )
}

#[tokio::test]
async fn stored_data_is_for_pages_of_any_origin_and_all_else_for_those_that_are_named() {
    let shop = ("origin", &b"https://shop.example"[..]);
    let other = ("origin", &b"https://other.example"[..]);
    let get = ("access-control-request-method", &b"GET"[..]);
    let post = ("access-control-request-method", &b"POST"[..]);
    assert_eq!(cors("GET", "/v1/search", &[]).await, "200 * - -");
    assert_eq!(cors("HEAD", "/v1/search", &[other]).await, "200 * - -");
    assert_eq!(
        cors("GET", "/v1/search", &[other, ("x-service-key", b"bad")]).await,
        "401 * - -"
    );
    assert_eq!(
        cors("OPTIONS", "/v1/search", &[other, get]).await,
        "204 * - GET, HEAD, OPTIONS"
    );
    assert_eq!(cors("OPTIONS", "/v1/search", &[other, post]).await, "204 - origin -");
    assert_eq!(cors("POST", "/v1/discover", &[other]).await, "200 * - -");
    assert_eq!(
        cors("OPTIONS", "/v1/discover", &[other, post]).await,
        "204 * - GET, HEAD, POST, OPTIONS"
    );
    assert_eq!(cors("GET", "/openapi.json", &[other]).await, "200 * accept-encoding -");
    assert_eq!(cors("POST", "/v1/cart", &[other]).await, "401 - origin -");
    assert_eq!(
        cors("POST", "/v1/cart", &[shop]).await,
        "401 https://shop.example origin -"
    );
    assert_eq!(
        cors("OPTIONS", "/v1/cart", &[shop, post]).await,
        "204 https://shop.example origin GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    );
    assert_eq!(cors("OPTIONS", "/v1/cart", &[other, post]).await, "204 - origin -");
    assert_eq!(cors("GET", "/", &[shop]).await, "200 https://shop.example origin -");
}
