use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::routing::{get, post};
use data_model::ErrorCode;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

use super::*;
use crate::{
    Allowance, Caller, CallerId, EdgeConfig, Guard, JsonObject, KnownCaller, OpenRouter, PathParameters, QueryReader,
    RequestId, Via,
};

/// Returns the request as an operation reads it.
async fn echo(caller: Caller, mut path: PathParameters, request: Request) -> Result<axum::response::Response, Problem> {
    let id = path.text("id").map(str::to_owned);
    if id.as_deref() == Some("panic") {
        std::panic::resume_unwind(Box::new("on purpose"));
    }
    let mut reader = QueryReader::new(request.uri().query());
    let q = reader.optional("q").text(9).map(std::borrow::Cow::into_owned);
    if id.as_deref() == Some("bad") {
        path.refuse("id", &crate::Rule::Value("bad"), "bad");
    }
    let q = reader.finish(path, q)?;
    let key = request
        .headers()
        .get(crate::IDEMPOTENCY_KEY)
        .map(|key| key.to_str().unwrap().to_owned());
    let who = caller.known().map(|known| known.id.to_string());
    Ok(crate::json(
        StatusCode::OK,
        &json!({ "id": id, "q": q, "key": key, "who": who }),
    ))
}

async fn made(body: JsonObject) -> Result<axum::response::Response, Problem> {
    match body.0.get("late") {
        Some(_) => Err(Problem::new(ErrorCode::Overloaded).retry_after(std::time::Duration::from_secs(7))),
        None => Ok(crate::json(StatusCode::OK, &Value::Object(body.0))),
    }
}

fn market() -> OpenRouter {
    let router = Router::new()
        .route("/v1/things/{id}", get(echo))
        .route("/v1/cart", post(made));
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "t", "version": "1" },
        "paths": {
            "/v1/things/{id}": { "get": { "operationId": "get_thing", "responses": {} } },
            "/v1/cart": { "post": { "operationId": "create_cart", "responses": {} } },
        },
    });
    OpenRouter::new(router, ["/v1/things/{id}", "/v1/cart"]).described(serde_json::from_value(document).unwrap())
}

fn guard() -> Arc<Guard> {
    Arc::new(Guard {
        keyed: ["create_cart".to_owned()].into(),
        ..Guard::default()
    })
}

fn asker(known: bool) -> Asker {
    let known = known.then(|| KnownCaller {
        id: CallerId::account("a1"),
        via: Via::Session,
        allowance: Arc::new(Allowance::unlimited()),
    });
    Asker {
        caller: known.map_or(Caller::Anonymous(None), |known| Caller::Known(Arc::new(known))),
        request_id: RequestId::of(&HeaderMap::from_iter([(
            crate::request_id::HEADER,
            HeaderValue::from_static("r-1"),
        )])),
    }
}

fn thing(id: &str, known: bool) -> OperationCall {
    let path = format!("/v1/things/{}", OperationCall::segment(id));
    OperationCall::new("get_thing", Method::GET, path, asker(known))
}

async fn told(call: OperationCall) -> (u16, Value) {
    let answer = market().operations(guard()).call(call).await;
    (answer.status.as_u16(), serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test]
async fn a_call_reaches_the_operation_as_it_was_said() {
    let mut call = thing("a/b ü%2F", true).query("q", "x&y=#+é");
    call.idempotency_key = Some(HeaderValue::from_static("once"));
    let wanted = json!({ "id": "a/b ü%2F", "q": "x&y=#+é", "key": "once", "who": "account:a1" });
    assert_eq!(told(call).await, (200, wanted));
}

#[tokio::test]
async fn what_is_wrong_is_told_as_rest_tells_it_in_the_askers_request() {
    let call = thing("bad", false).query("q", "0123456789");
    let asked = Request::builder()
        .uri("/v1/things/bad?q=0123456789")
        .header("x-request-id", "r-1")
        .body(axum::body::Body::empty())
        .unwrap();
    let rest = market().edge(EdgeConfig::default()).answer(asked).await;
    let status = rest.status().as_u16();
    let body = to_bytes(rest.into_body(), 1 << 20).await.unwrap();
    let (within, document) = told(call).await;
    assert_eq!(
        (within, &document),
        (status, &serde_json::from_slice::<Value>(&body).unwrap())
    );
    assert_eq!((within, document["detail"].as_array().unwrap().len()), (422, 2));
}

#[tokio::test]
async fn an_operation_that_needs_a_key_is_refused_to_nobody() {
    let create = |known| OperationCall::new("create_cart", Method::POST, "/v1/cart", asker(known)).body("{\"a\":1}");
    let (status, document) = told(create(false)).await;
    assert_eq!((status, &document["code"]), (401, &json!("missing_credentials")));
    assert_eq!(told(create(true)).await, (200, json!({ "a": 1 })));
}

#[tokio::test]
async fn when_to_try_again_is_told() {
    let call = OperationCall::new("create_cart", Method::POST, "/v1/cart", asker(true)).body("{\"late\":1}");
    let answer = market().operations(guard()).call(call).await;
    assert_eq!(
        (answer.status.as_u16(), answer.retry_after.unwrap().as_secs()),
        (503, 7)
    );
    assert!(!answer.is_success());
}

#[tokio::test]
async fn a_panic_is_one_answer_and_what_has_no_route_is_not_found() {
    assert_eq!(told(thing("panic", false)).await.1["code"], json!("internal"));
    let nowhere = OperationCall::new("get_thing", Method::GET, "/v1/nowhere", asker(false));
    assert_eq!(told(nowhere).await.1["code"], json!("route_not_found"));
}

#[derive(Debug)]
struct TestRemote;

#[async_trait]
impl CallOperation for TestRemote {
    async fn call(&self, call: OperationCall) -> OperationAnswer {
        OperationAnswer {
            status: StatusCode::OK,
            body: format!("\"{} {}\"", call.method, call.target()).into(),
            retry_after: None,
        }
    }
}

#[tokio::test]
async fn what_the_routes_do_not_have_is_asked_elsewhere() {
    let operations = market().operations(guard()).or(Arc::new(TestRemote));
    let call = OperationCall::new("search", Method::GET, "/v1/search", asker(false)).query("q", "a b");
    assert_eq!(
        operations.call(call.query("n", "1")).await.body,
        "\"GET /v1/search?q=a%20b&n=1\""
    );
    assert_eq!(operations.call(thing("1", false)).await.status, 200);
}
