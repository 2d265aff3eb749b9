use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agents_mcp::{MarketOffer, MarketTools, Mcp, McpConfig, McpParts};
use api::{
    Allowance, Caller, CallerId, Credential, EdgeConfig, EdgeRouter, Guard, Identify, KnownCaller, Limit, NotTaken,
    OpenRouter, Outcome, PathParameters, Problem, Prompt, QueryReader, Verdict, Via,
};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use data_model::ErrorCode;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Market with one endpoint, and controls for tests.
pub(crate) struct Market {
    pub(crate) edge: EdgeRouter,
    pub(crate) stop: CancellationToken,
    pub(crate) work: Arc<Work>,
}

/// Signals of a search that blocks until its client disconnects.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) begun: Notify,
    pub(crate) ended: Notify,
}

/// Signal for the end of the work, sent on drop.
struct Ends(Arc<Work>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ended.notify_one();
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

#[derive(Debug)]
struct OneKey;

impl Identify for OneKey {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let Credential::Key("haat_live_good") = credential else {
            return Prompt::Now(Err(NotTaken::Invalid));
        };
        Prompt::Now(Ok(Arc::new(KnownCaller {
            id: CallerId::account("a1"),
            via: Via::Session,
            allowance: Arc::new(Allowance::unlimited()),
        })))
    }
}

#[derive(Debug)]
struct SoMany(AtomicU32);

impl Limit for SoMany {
    fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let outcome = left.map_or(Outcome::TooFast(Duration::from_secs(2)), |_| Outcome::Allowed);
        Prompt::Now(Verdict {
            outcome,
            ..Verdict::UNLIMITED
        })
    }
}

async fn found(request: Request, work: Arc<Work>) -> Result<Response, Problem> {
    let mut reader = QueryReader::new(request.uri().query());
    let q = reader.optional("q").text(20).map(|q| q.into_owned());
    let limit = reader.optional("limit").integer(1..=40);
    let (q, limit) = reader.finish(PathParameters::none(), (q, limit))?;
    match q.as_deref() {
        Some("slow") => std::future::pending().await,
        Some("held") => {
            let _ends = Ends(Arc::clone(&work));
            work.begun.notify_one();
            std::future::pending().await
        }
        Some("broken") => Err(Problem::new(ErrorCode::Internal)),
        _ => Ok(api::json(
            StatusCode::OK,
            &json!({ "data": { "q": q, "limit": limit } }),
        )),
    }
}

async fn product(path: PathParameters) -> Result<Response, Problem> {
    match path.text("ident") {
        Some("none") => Err(Problem::new(ErrorCode::ProductNotFound)),
        ident => Ok(api::json(StatusCode::OK, &json!({ "data": { "ident": ident } }))),
    }
}

async fn asked(request: Request) -> Response {
    api::json(StatusCode::OK, &json!({ "data": { "asked": request.uri().query() } }))
}

async fn whose(caller: Caller) -> Response {
    let whose = caller.known().map(|known| known.id.to_string());
    api::json(StatusCode::OK, &json!({ "data": { "whose": whose } }))
}

fn document() -> Value {
    let text = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" } });
    let limit = json!({ "name": "limit", "in": "query", "schema": { "type": "integer", "format": "int64" } });
    let answer =
        json!({ "200": { "description": "d", "content": { "application/json": { "schema": { "type": "object" } } } } });
    let operation =
        |id: &str, parameters: Vec<Value>| json!({ "operationId": id, "parameters": parameters, "responses": answer });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "t", "version": "1" },
        "paths": {
            "/v1/search": { "get": operation("search_products", vec![text("q", "query"), limit]) },
            "/v1/products/{ident}": { "get": operation("get_product", vec![text("ident", "path")]) },
            "/v1/products/{ident}/price": { "get": operation("get_price", vec![text("ident", "path")]) },
            "/v1/products/{ident}/offers": { "get": operation("list_offers", vec![]) },
            "/v1/recommend": { "get": operation("recommend", vec![]) },
            "/v1/browse": { "get": operation("browse", vec![text("category", "query"), text("pincode", "query"), text("sort", "query")]) },
            "/v1/suggest": { "get": operation("suggest", vec![]) },
            "/v1/coupons": { "get": operation("find_coupons", vec![]) },
            "/v1/brands": { "get": operation("list_brands", vec![]) },
            "/v1/categories": { "get": operation("list_categories", vec![]) },
        },
    })
}

impl Market {
    pub(crate) fn new() -> Self {
        Self::with(McpConfig::default(), u32::MAX)
    }

    /// Creates a market that admits `requests` requests.
    pub(crate) fn with(config: McpConfig, requests: u32) -> Self {
        let limit = SoMany(AtomicU32::new(requests));
        let guard = Arc::new(Guard {
            identify: Arc::new(OneKey),
            limit: Some(Arc::new(limit)),
            anonymous: Arc::new(Allowance::new(NonZeroU32::MIN, NonZeroU32::MIN, None)),
            keyed: ["find_coupons".to_owned()].into(),
            ..Guard::default()
        });
        let work = Arc::new(Work::default());
        let of_search = Arc::clone(&work);
        let router = Router::new()
            .route("/v1/search", get(move |request| found(request, Arc::clone(&of_search))))
            .route("/v1/products/{ident}", get(product))
            .route("/v1/products/{ident}/price", get(product))
            .route("/v1/browse", get(asked))
            .route("/v1/coupons", get(whose))
            .route("/v1/cart", post(whose));
        let mut described = document();
        for item in described["paths"].as_object_mut().unwrap().values_mut() {
            item["get"] = json!({ "operationId": item["get"]["operationId"], "responses": {} });
        }
        let described = serde_json::from_value(described).unwrap();
        let open = OpenRouter::new(router, ["/v1/search", "/v1/products/{ident}"]).described(described);
        let stop = CancellationToken::new();
        let operations = Arc::new(open.operations(Arc::clone(&guard)));
        let offer = MarketOffer {
            with_carts: config.cart_tools,
            answer_bytes_max: config.answer_bytes_max,
            public_url: "https://market.example".to_owned(),
        };
        let tools = MarketTools::of(operations, &document(), offer).unwrap();
        let parts = McpParts {
            guard: Arc::clone(&guard),
            config,
            public_url: "https://market.example".to_owned(),
            origins: vec!["https://shop.example".parse().unwrap()],
            is_local: true,
            version: "0.0.0",
            stop: stop.clone(),
        };
        let mcp = Mcp::new(parts, Arc::new(tools));
        let config = EdgeConfig {
            guard,
            ..EdgeConfig::default()
        };
        let edge = open.merge(mcp.open_router()).edge(config);
        Self { edge, stop, work }
    }

    /// Sends a body with these additional headers.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: impl Into<String>) -> Answer {
        let mut request = Request::builder().method("POST").uri("/v1/mcp");
        request = request
            .header("content-type", "application/json")
            .header("x-request-id", "r-1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.into())).unwrap()).await
    }

    pub(crate) async fn send(&self, request: Request) -> Answer {
        let response = self.edge.answer(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Calls a tool like a client of revision 2025-11-25 and returns the result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let headers = [("mcp-protocol-version", "2025-11-25")];
        let answer = self.post(&headers, call(1, tool, &arguments)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }
}

pub(crate) fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Returns the document that a result contains as text.
#[track_caller]
pub(crate) fn told(result: &Value) -> Value {
    serde_json::from_str(
        result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{result}")),
    )
    .unwrap()
}
