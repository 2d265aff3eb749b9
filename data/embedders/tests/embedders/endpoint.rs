use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_embedders::{Endpoint, EndpointConfig, EndpointError};
use data_embedding::{DocumentText, Embedder};
use data_model::Secret;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

#[derive(Clone)]
enum Turn {
    /// The server returns a vector of the text's length in bytes and 1 for each text, the last text first.
    Lengths,
    Status(u16, Option<&'static str>),
    Body(String),
    Redirect(String),
    Silence,
}

#[derive(Default)]
struct ServerState {
    turns: VecDeque<Turn>,
    asked: Vec<(Option<String>, Value)>,
}

/// A fake embedding server, and the runtime for the server and the endpoint's requests.
struct Server {
    runtime: Runtime,
    base: Url,
    served: Arc<Mutex<ServerState>>,
}

async fn embeddings(State(served): State<Arc<Mutex<ServerState>>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let turn = {
        let mut served = served.lock().unwrap();
        let key = headers.get(header::AUTHORIZATION);
        let key = key.map(|key| key.to_str().unwrap().to_owned());
        served.asked.push((key, body.clone()));
        served.turns.pop_front().unwrap_or(Turn::Lengths)
    };
    match turn {
        Turn::Lengths => {
            let texts = body["input"].as_array().unwrap().iter().enumerate();
            let entry = |(index, text): (usize, &Value)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1]});
            let data: Vec<Value> = texts.map(entry).rev().collect();
            axum::Json(json!({"object": "list", "data": data})).into_response()
        }
        Turn::Status(status, after) => {
            let status = StatusCode::from_u16(status).unwrap();
            match after {
                Some(after) => (status, [(header::RETRY_AFTER, after)]).into_response(),
                None => status.into_response(),
            }
        }
        Turn::Body(body) => body.into_response(),
        Turn::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response(),
        Turn::Silence => std::future::pending().await,
    }
}

impl Server {
    fn with(turns: impl IntoIterator<Item = Turn>) -> Self {
        let runtime = Runtime::new().unwrap();
        let served = Arc::new(Mutex::new(ServerState {
            turns: turns.into_iter().collect(),
            asked: Vec::new(),
        }));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = Url::parse(&format!("http://{}/v1/", listener.local_addr().unwrap())).unwrap();
        let router = Router::new().fallback(embeddings).with_state(Arc::clone(&served));
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { runtime, base, served }
    }

    fn config(&self) -> EndpointConfig {
        EndpointConfig {
            url: self.base.clone(),
            model: "lengths".into(),
            api_key: Some(Secret::new("hunter2")),
            dimensions: 2,
            shorten: false,
            allow_http: false,
            query_timeout_ms: 5_000,
            documents_timeout_ms: 5_000,
        }
    }

    fn endpoint(&self) -> Endpoint {
        self.endpoint_of(self.config())
    }

    fn endpoint_of(&self, config: EndpointConfig) -> Endpoint {
        Endpoint::new(config, self.runtime.handle().clone()).unwrap()
    }

    fn asked(&self) -> Vec<(Option<String>, Value)> {
        self.served.lock().unwrap().asked.clone()
    }
}

fn documents(titles: &[&str]) -> Vec<DocumentText> {
    let titled = |title: &&str| DocumentText {
        title: (*title).to_owned(),
        ..DocumentText::default()
    };
    titles.iter().map(titled).collect()
}

fn vectors(embedder: &dyn Embedder, titles: &[&str]) -> Vec<Option<Vec<i8>>> {
    let embedded = embedder.embed_documents(&documents(titles)).unwrap().into_iter();
    embedded
        .map(|vector| vector.map(|vector| vector.components().to_vec()))
        .collect()
}

#[test]
fn each_text_gets_its_own_vector_and_blank_ones_are_not_sent() {
    let server = Server::with([]);
    let endpoint = server.endpoint();
    assert_eq!(endpoint.id().as_str(), "endpoint:lengths:2");
    assert_eq!(
        vectors(&endpoint, &["a", " ", "lamp", "a"]),
        [Some(vec![90, 90]), None, Some(vec![123, 31]), Some(vec![90, 90])]
    );
    assert_eq!(endpoint.embed_query("  ").unwrap(), None);
    let query = endpoint.embed_query(" lamp ").unwrap().unwrap();
    assert_eq!(query.components(), [123, 31]);
    let key = Some("Bearer hunter2".to_owned());
    let body = |input: &[&str]| json!({"model": "lengths", "input": input, "encoding_format": "float"});
    assert_eq!(
        server.asked(),
        [(key.clone(), body(&["a", "lamp", "a"])), (key, body(&["lamp"]))]
    );
}

#[test]
fn more_documents_than_a_request_takes_are_sent_in_several() {
    let server = Server::with([]);
    let titles: Vec<String> = (1..=130).map(|length| "a".repeat(length)).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let found = vectors(&server.endpoint(), &titles);
    assert!(found.iter().all(Option::is_some));
    assert_eq!(found[0], Some(vec![90, 90]));
    assert_eq!(found[129], Some(vec![127, 1]));
    let sizes: Vec<usize> = server
        .asked()
        .iter()
        .map(|(_, body)| body["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [64, 64, 2]);
}

#[test]
fn documents_are_sent_again_when_that_may_help_and_only_then() {
    let server = Server::with([Turn::Status(503, None), Turn::Status(429, Some("1"))]);
    assert_eq!(vectors(&server.endpoint(), &["a"]), [Some(vec![90, 90])]);
    assert_eq!(server.asked().len(), 3);
    let server = Server::with([Turn::Status(401, None)]);
    let refused = server.endpoint().embed_documents(&documents(&["a"])).unwrap_err();
    insta::assert_snapshot!(refused, @"the embedder cannot be reached: status 401");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_wrong_answer_is_an_error_and_no_vector() {
    let long = format!("{{\"data\":[],\"padding\":\"{}\"}}", "x".repeat(80_000));
    for (body, why) in [
        (
            json!({"data": []}).to_string(),
            "the embedder returned an invalid answer: the response has 0 vectors for 1 texts",
        ),
        (
            json!({"data": [{"index": 0, "embedding": [1]}]}).to_string(),
            "the embedder returned an invalid answer: a vector has 1 components instead of 2",
        ),
        (
            long,
            "the embedder returned an invalid answer: the response has more than 65856 bytes",
        ),
    ] {
        let server = Server::with([Turn::Body(body.clone()), Turn::Body(body)]);
        let endpoint = server.endpoint();
        assert_eq!(endpoint.embed_query("a").unwrap_err().to_string(), why);
        assert_eq!(
            endpoint.embed_documents(&documents(&["a"])).unwrap_err().to_string(),
            why
        );
        assert_eq!(server.asked().len(), 2);
    }
}

#[test]
fn a_redirect_is_not_followed_and_the_key_stays_here() {
    let other = Server::with([]);
    let server = Server::with([Turn::Redirect(format!("{}embeddings", other.base))]);
    let refused = server.endpoint().embed_query("a").unwrap_err();
    insta::assert_snapshot!(refused, @"the embedder cannot be reached: status 307");
    assert_eq!(other.asked(), []);
}

#[test]
fn a_query_waits_no_longer_than_told_and_an_endpoint_that_fails_is_left_alone_for_a_while() {
    let server = Server::with([Turn::Silence, Turn::Silence, Turn::Silence]);
    let endpoint = server.endpoint_of(EndpointConfig {
        query_timeout_ms: 2_000,
        ..server.config()
    });
    for _ in 0..3 {
        assert!(endpoint.embed_query("a").is_err());
    }
    let started = Instant::now();
    for _ in 0..10 {
        let refused = endpoint.embed_query("a").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the embedder cannot be reached: requests are paused after a failure"
        );
    }
    // Even one wait would take longer.
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn nothing_shows_the_key_or_the_address() {
    let server = Server::with([Turn::Status(500, None)]);
    let endpoint = server.endpoint();
    let error = endpoint.embed_query("a").unwrap_err();
    let gone = Url::parse("http://127.0.0.1:1/secret-path").unwrap();
    let unreachable = server.endpoint_of(EndpointConfig {
        url: gone,
        ..server.config()
    });
    let other = unreachable.embed_query("a").unwrap_err();
    for shown in [
        format!("{endpoint:?}"),
        error.to_string(),
        other.to_string(),
        format!("{other:?}"),
    ] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    assert!(!other.to_string().contains("secret-path"), "{other}");
}

#[test]
fn a_configuration_that_cannot_be_right_is_refused() {
    let server = Server::with([]);
    let refused = |change: &dyn Fn(&mut EndpointConfig)| {
        let mut config = server.config();
        change(&mut config);
        match Endpoint::new(config, server.runtime.handle().clone()) {
            Err(error) => error,
            Ok(endpoint) => panic!("{endpoint:?}"),
        }
    };
    let address = |text: &str| refused(&|config| config.url = Url::parse(text).unwrap());
    for (text, why) in [
        (
            "http://api.example/v1",
            "plain http to another machine requires allow_http",
        ),
        ("ftp://api.example/v1", "the scheme must be https or http"),
        (
            "https://key@api.example/v1",
            "only scheme, host, port and path are allowed",
        ),
        (
            "https://api.example/v1?key=1",
            "only scheme, host, port and path are allowed",
        ),
        ("data:text/plain,a", "it has no host"),
    ] {
        assert_eq!(address(text).to_string(), format!("the endpoint's address: {why}"));
    }
    assert!(matches!(
        refused(&|config| config.model = String::new()),
        EndpointError::Model
    ));
    assert!(matches!(
        refused(&|config| config.model = "two words".into()),
        EndpointError::Model
    ));
    assert!(matches!(
        refused(&|config| config.dimensions = 0),
        EndpointError::Dimensions
    ));
    assert!(matches!(
        refused(&|config| config.dimensions = 4_097),
        EndpointError::Dimensions
    ));
    assert!(matches!(
        refused(&|config| config.api_key = Some(Secret::new("a\nb"))),
        EndpointError::Key
    ));
}
