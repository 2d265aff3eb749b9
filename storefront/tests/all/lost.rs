//! Tests over real sockets: broken connections, counted at the server, and bodies larger than the limit for interactive
//! calls.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use axum::routing::{get, post};
use serde_json::json;
use storefront::{Accept, BodyLimit, Effect, GraphqlRequest, Priority, StoreError, StorefrontConfig, documents};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::served::{config, serve, store};

/// Server's reaction to a POST.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// The server closes the connection without a response.
    Silence,
    /// The server resets the connection.
    Reset,
    /// The server sends half of a response head.
    HalfHead,
    /// The server sends a response head and half of the body.
    HalfBody,
    /// The server sends a body without a length and closes the connection early.
    EarlyEnd,
}

/// Starts a server that keeps connections open for GET requests and treats POST requests according to `fate`. Returns
/// the number of POSTs that it read.
async fn treacherous(fate: Fate) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let posts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&posts);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(converse(socket, fate, Arc::clone(&count)));
        }
    });
    (address, posts)
}

async fn converse(mut socket: TcpStream, fate: Fate, posts: Arc<AtomicUsize>) {
    let mut request = vec![0; 8192];
    while let Ok(read @ 1..) = socket.read(&mut request).await {
        if request[..read].starts_with(b"GET /robots.txt") {
            let answer = b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n";
            socket.write_all(answer).await.ok();
        } else if request[..read].starts_with(b"GET ") {
            socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                .await
                .ok();
        } else {
            posts.fetch_add(1, Ordering::SeqCst);
            let answer: &[u8] = match fate {
                Fate::Silence | Fate::Reset => b"",
                Fate::HalfHead => b"HTTP/1.1 200 OK\r\ncontent-le",
                Fate::HalfBody => b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"cart\":",
                Fate::EarlyEnd => b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"cart\":",
            };
            socket.write_all(answer).await.ok();
            if matches!(fate, Fate::Reset) {
                socket.set_zero_linger().ok();
            }
            return;
        }
    }
}

const FATES: [Fate; 5] = [
    Fate::Silence,
    Fate::Reset,
    Fate::HalfHead,
    Fate::HalfBody,
    Fate::EarlyEnd,
];

#[tokio::test]
async fn an_unsafe_call_reaches_a_store_once_however_the_connection_breaks() {
    for fate in FATES {
        for is_connected in [false, true] {
            let (address, posts) = treacherous(fate).await;
            let config = StorefrontConfig {
                retries_max: 3,
                backoff_start_ms: 1,
                ..config()
            };
            let store = store(config, address);
            if is_connected {
                store.get("/x", Accept::Json).await.unwrap();
            }
            let error = store
                .post_json("/x", &json!({"n": 1}), Effect::Unsafe)
                .await
                .unwrap_err();
            assert!(matches!(error, StoreError::OutcomeUnknown { .. }), "{fate:?} {error:?}");
            assert_eq!(posts.load(Ordering::SeqCst), 1, "{fate:?}");
        }
    }
}

#[tokio::test]
async fn an_idempotent_call_is_sent_again_when_the_connection_breaks() {
    for fate in FATES {
        let (address, posts) = treacherous(fate).await;
        let config = StorefrontConfig {
            retries_max: 2,
            backoff_start_ms: 1,
            ..config()
        };
        let error = store(config, address)
            .post_json("/x", &json!({}), Effect::Idempotent)
            .await
            .unwrap_err();
        assert!(
            !matches!(error, StoreError::OutcomeUnknown { .. }),
            "{fate:?} {error:?}"
        );
        assert_eq!(posts.load(Ordering::SeqCst), 3, "{fate:?}");
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_connected_to_was_not_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, first) = tokio::sync::oneshot::channel();
    // The server answers robots.txt, then stops listening.
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        drop(listener);
        let mut request = vec![0; 4096];
        assert_ne!(socket.read(&mut request).await.unwrap(), 0);
        let answer = b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        socket.write_all(answer).await.unwrap();
        seen.send(()).unwrap();
    });
    let store = store(config(), address);
    store.robots().await.unwrap();
    first.await.unwrap();
    let error = store.post_json("/x", &json!({}), Effect::Unsafe).await.unwrap_err();
    assert!(matches!(error, StoreError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn an_unsafe_call_that_hangs_ends_at_its_deadline_with_an_unknown_outcome() {
    let posts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&posts);
    let router = Router::new().route(
        "/x",
        post(|| async move {
            count.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }),
    );
    let store = store(config(), serve(router).await);
    store.robots().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    let error = store
        .with_deadline(deadline)
        .post_json("/x", &json!({}), Effect::Unsafe)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::OutcomeUnknown { .. }), "{error:?}");
    assert!(deadline.elapsed() < Duration::from_secs(60));
    assert_eq!(posts.load(Ordering::SeqCst), 1);
}

/// Compresses sixty-four megabytes of spaces inside a JSON text.
fn bomb() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(b"{\"data\":{}").unwrap();
    let blanks = vec![b' '; 1 << 20];
    (0..64).for_each(|_| encoder.write_all(&blanks).unwrap());
    encoder.write_all(b"}").unwrap();
    encoder.finish().unwrap()
}

async fn packed() -> Response<Body> {
    Response::builder()
        .header("content-encoding", "gzip")
        .body(Body::from(bomb()))
        .unwrap()
}

async fn ten_megabytes() -> Response<Body> {
    let mut text = vec![b' '; 10 << 20];
    text[0] = b'{';
    *text.last_mut().unwrap() = b'}';
    Response::new(Body::from(text))
}

#[tokio::test]
async fn a_bomb_or_ten_megabytes_cost_a_buyer_one_error() {
    let router = Router::new()
        .route("/bomb", get(packed).post(packed))
        .route("/large", get(ten_megabytes).post(ten_megabytes))
        .route("/api/2026-04/graphql.json", post(packed))
        .route("/api/2026-07/graphql.json", post(ten_megabytes));
    let address = serve(router).await;
    let too_large = |error: StoreError, limit: BodyLimit, most: u64| {
        let is_it = matches!(&error, StoreError::TooLarge { limit: broken, bytes_max } if (*broken, *bytes_max) == (limit, most));
        assert!(is_it, "{error:?}");
    };
    let store = store(config(), address);
    let buyer = store.clone().with_priority(Priority::Interactive);
    too_large(
        buyer.get("/bomb", Accept::Json).await.unwrap_err(),
        BodyLimit::Decoded,
        8 << 20,
    );
    too_large(
        buyer.get("/large", Accept::Json).await.unwrap_err(),
        BodyLimit::Wire,
        2 << 20,
    );
    let posted = buyer.post_json("/large", &json!({}), Effect::Safe).await;
    too_large(posted.unwrap_err(), BodyLimit::Wire, 2 << 20);
    let request = GraphqlRequest::new(documents::POLICIES, "Policies", json!({}));
    let error = buyer.graphql(&request, Effect::Safe).await.unwrap_err();
    too_large(error, BodyLimit::Decoded, 4 << 20);
    let newer = StorefrontConfig {
        graphql_version: "2026-07".to_owned(),
        ..config()
    };
    let error = crate::served::store(newer, address)
        .graphql(&request, Effect::Safe)
        .await
        .unwrap_err();
    too_large(error, BodyLimit::Wire, 4 << 20);
    store.get("/large", Accept::Json).await.unwrap();
}

#[tokio::test]
async fn what_is_posted_arrives_over_a_socket_and_its_answer_too() {
    let router = Router::new().route(
        "/api/2026-04/graphql.json",
        post(|headers: axum::http::HeaderMap, body: String| async move {
            assert_eq!(headers["content-type"], "application/json");
            assert_eq!(headers["content-length"], body.len().to_string().as_str());
            let asked: serde_json::Value = serde_json::from_str(&body).unwrap();
            let told = json!({"data": {"echo": asked["variables"]}}).to_string();
            ([("x-shopify-api-version", "2026-04")], told)
        }),
    );
    let store = store(config(), serve(router).await);
    let request = GraphqlRequest::new(documents::VARIANTS_BY_ID, "Variants", json!({"ids": ["a", "ü"]}));
    let told = store.graphql(&request, Effect::Safe).await.unwrap();
    assert_eq!(told.data.unwrap().get(), r#"{"echo":{"ids":["a","ü"]}}"#);
    assert_eq!((told.errors, told.version.as_deref()), (vec![], Some("2026-04")));
}
