use std::net::SocketAddr;
use std::time::Instant;

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;

struct Running {
    at: SocketAddr,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<Result<(), ServeError>>,
}

async fn running(router: Router, config: ServerConfig) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let until = stop.clone();
    let router = crate::Edge::new(crate::EdgeConfig::default()).around(router, []);
    let ended = tokio::spawn(async move { serve(listener, router, &config, until).await });
    Running { at, stop, ended }
}

async fn all_of(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

async fn ask(at: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_client_that_sends_its_head_too_slowly_is_cut_off() {
    let config = ServerConfig {
        header_read_timeout_ms: 50,
        ..ServerConfig::default()
    };
    let server = running(Router::new().route("/", get(|| async { "here" })), config).await;
    let started = Instant::now();
    let answer = all_of(ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow").await).await;
    assert!(!answer.contains("200"), "{answer}");
    assert!(started.elapsed() < Duration::from_secs(5));
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_tell_its_protocol_is_cut_off() {
    let config = ServerConfig {
        header_read_timeout_ms: 50,
        ..ServerConfig::default()
    };
    let server = running(Router::new(), config).await;
    let started = Instant::now();
    for beginning in ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r"] {
        assert_eq!(all_of(ask(server.at, beginning).await).await, "", "{beginning:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_takes_longer_than_a_head_may_is_waited_for() {
    let config = ServerConfig {
        header_read_timeout_ms: 50,
        ..ServerConfig::default()
    };
    let (sender, receiver) = oneshot::channel::<()>();
    let once = Arc::new(tokio::sync::Mutex::new(Some(receiver)));
    let router = Router::new().route(
        "/",
        axum::routing::post(move || async move {
            once.lock().await.take().unwrap().await.unwrap();
            "late"
        }),
    );
    let server = running(router, config).await;
    // `P` begins both protocols' connections.
    let stream = ask(server.at, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let other = ask(server.at, "").await;
    // A connection that says nothing is cut off meanwhile.
    assert_eq!(all_of(other).await, "");
    sender.send(()).unwrap();
    assert!(all_of(stream).await.ends_with("late"));
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_head_with_too_many_headers_is_refused() {
    let server = running(
        Router::new(),
        ServerConfig {
            headers_max: 5,
            ..ServerConfig::default()
        },
    )
    .await;
    let head = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-More: y\r\n".repeat(9));
    let answer = all_of(ask(server.at, &head).await).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_in_flight_is_answered_though_the_server_was_told_to_stop() {
    let (entered, arrived) = oneshot::channel();
    let (release, released) = oneshot::channel::<()>();
    let once = Arc::new(tokio::sync::Mutex::new(Some((entered, released))));
    let router = Router::new().route(
        "/",
        get(move || async move {
            let (entered, released) = once.lock().await.take().unwrap();
            entered.send(()).unwrap();
            released.await.unwrap();
            "drained"
        }),
    );
    let server = running(router, ServerConfig::default()).await;
    let stream = ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    arrived.await.unwrap();
    server.stop.cancel();
    release.send(()).unwrap();
    assert!(all_of(stream).await.ends_with("drained"));
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off_and_told() {
    let (entered, mut arrived) = tokio::sync::mpsc::channel(1);
    let router = Router::new().route(
        "/",
        get(move || async move {
            entered.send(()).await.unwrap();
            std::future::pending::<()>().await;
        }),
    );
    let server = running(
        router,
        ServerConfig {
            drain_ms: 20,
            ..ServerConfig::default()
        },
    )
    .await;
    let stream = ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    arrived.recv().await.unwrap();
    server.stop.cancel();
    let ended = server.ended.await.unwrap();
    assert!(
        matches!(ended, Err(ServeError::Drain { connections: 1, .. })),
        "{ended:?}"
    );
    assert_eq!(all_of(stream).await, "");
}

#[tokio::test]
async fn connections_beyond_the_cap_wait_their_turn() {
    let config = ServerConfig {
        connections_max: 1,
        ..ServerConfig::default()
    };
    let server = running(Router::new().route("/", get(|| async { "here" })), config).await;
    let first = ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let second = ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let waiting = tokio::time::timeout(Duration::from_millis(50), second.readable()).await;
    assert!(
        waiting.is_err(),
        "the second connection is served while the first holds the only place"
    );
    drop(first);
    assert!(all_of(second).await.ends_with("here"));
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_names_one_host() {
    let router = Router::new().route("/", get(async || "here"));
    let server = running(router, ServerConfig::default()).await;
    let answer = async |head: &str| all_of(ask(server.at, &format!("{head}Connection: close\r\n\r\n")).await).await;
    for (head, kind) in [
        ("GET / HTTP/1.1\r\n", "missing"),
        ("GET /nowhere HTTP/1.1\r\n", "missing"),
        ("GET http://x/ HTTP/1.1\r\n", "missing"),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n", "value_error"),
        ("GET / HTTP/1.1\r\nHost: a b\r\n", "value_error"),
        ("GET / HTTP/1.1\r\nHost: user@x\r\n", "value_error"),
    ] {
        let answer = answer(head).await;
        assert!(answer.starts_with("HTTP/1.1 422"), "{head}: {answer}");
        let (head_of, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head_of.contains("x-request-id: "), "{answer}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(
            (&body["code"], &body["detail"][0]["loc"], &body["detail"][0]["type"]),
            (
                &"validation".into(),
                &serde_json::json!(["header", "host"]),
                &kind.into()
            ),
            "{head}"
        );
    }
    for head in [
        "GET / HTTP/1.0\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]:80\r\n",
        "GET / HTTP/1.1\r\nHost: a_b.example\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n",
    ] {
        let answer = answer(head).await;
        assert!(answer.contains(" 200 ") && answer.ends_with("here"), "{head}: {answer}");
    }
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}
