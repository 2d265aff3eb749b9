use std::net::SocketAddr;
use std::time::Instant;

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;

struct TestServer {
    at: SocketAddr,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<Result<(), ServeError>>,
}

async fn running(router: Router, config: ServerConfig) -> TestServer {
    running_edge(router, crate::EdgeConfig::default(), config).await
}

async fn running_edge(router: Router, edge: crate::EdgeConfig, config: ServerConfig) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let until = stop.clone();
    let router = crate::Edge::new(edge).around(router, []);
    let ended = tokio::spawn(async move { serve(listener, router, &config, until).await });
    TestServer { at, stop, ended }
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
    assert!(started.elapsed() < Duration::from_secs(60));
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
    assert!(started.elapsed() < Duration::from_secs(60));
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_takes_longer_than_a_head_may_is_waited_for() {
    let config = ServerConfig {
        header_read_timeout_ms: 2_000,
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
    // Requests of both protocols begin with `P` (`POST` and `PRI`).
    let stream = ask(server.at, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let other = ask(server.at, "").await;
    // A connection that sends nothing is closed after a while.
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
    assert_eq!(answer.matches("x-request-id: ").count(), 1, "{answer}");
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

/// Sends a request on a connection that stays open, and reads the whole response with the body `here`.
async fn ask_and_keep(stream: &mut TcpStream) {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"here") {
        let read = stream.read_buf(&mut answer).await.unwrap();
        assert!(read > 0, "cut off after {}", String::from_utf8_lossy(&answer));
    }
}

async fn connect_from(address: [u8; 4], at: SocketAddr) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((address, 0).into()).unwrap();
    socket.connect(at).await.unwrap()
}

/// Starts a server that responds with `here` and never times connections out.
async fn patient(connections_max: usize, connections_per_address_max: usize, trusted_proxies: &str) -> TestServer {
    let config = ServerConfig {
        connections_max,
        connections_per_address_max,
        refusal_delay_ms: 0,
        trusted_proxies: trusted_proxies.parse().unwrap(),
        header_read_timeout_ms: 86_400_000,
        ..ServerConfig::default()
    };
    running(Router::new().route("/", get(|| async { "here" })), config).await
}

#[tokio::test]
async fn connections_beyond_an_addresss_share_are_closed_and_others_are_served() {
    let server = patient(4096, 3, "").await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = connect_from([127, 0, 0, 1], server.at).await;
        ask_and_keep(&mut stream).await;
        held.push(stream);
    }
    for _ in 0..5 {
        let beyond = connect_from([127, 0, 0, 1], server.at).await;
        assert_eq!(all_of(beyond).await, "");
    }
    ask_and_keep(&mut connect_from([127, 0, 0, 2], server.at).await).await;
    for stream in &mut held {
        ask_and_keep(stream).await;
    }
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_refused_connection_is_closed_after_a_delay_or_when_the_server_stops() {
    let config = ServerConfig {
        connections_max: 2,
        connections_per_address_max: 1,
        refusal_delay_ms: 86_400_000,
        ..ServerConfig::default()
    };
    let server = running(Router::new().route("/", get(|| async { "here" })), config).await;
    let mut first = connect_from([127, 0, 0, 1], server.at).await;
    ask_and_keep(&mut first).await;
    let mut waiting = Vec::new();
    for _ in 0..2 {
        waiting.push(connect_from([127, 0, 0, 1], server.at).await);
    }
    let beyond = connect_from([127, 0, 0, 1], server.at).await;
    assert_eq!(all_of(beyond).await, "", "as many as may wait do");
    for stream in &waiting {
        let closed = tokio::time::timeout(Duration::from_millis(20), stream.readable()).await;
        assert!(closed.is_err(), "a refused connection is closed at once");
    }
    ask_and_keep(&mut first).await;
    server.stop.cancel();
    for stream in waiting {
        assert_eq!(all_of(stream).await, "");
    }
    server.ended.await.unwrap().unwrap();
}

#[test]
fn the_more_refused_connections_wait_the_longer_each_does() {
    let delays = [0, 399, 400, 4_000].map(|waiting| refusal_delay(1_000, waiting).as_secs());
    assert_eq!(delays, [1, 1, 2, 11]);
}

#[tokio::test]
async fn a_trusted_proxy_has_more_connections_than_a_share() {
    let server = patient(4096, 1, "127.0.0.1").await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = connect_from([127, 0, 0, 1], server.at).await;
        ask_and_keep(&mut stream).await;
        held.push(stream);
    }
    let mut other = connect_from([127, 0, 0, 2], server.at).await;
    ask_and_keep(&mut other).await;
    assert_eq!(all_of(connect_from([127, 0, 0, 2], server.at).await).await, "");
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn where_no_place_is_left_an_idle_connection_of_whoever_has_most_gives_way() {
    let server = patient(3, 9, "").await;
    let mut one = connect_from([127, 0, 0, 2], server.at).await;
    ask_and_keep(&mut one).await;
    let mut older = connect_from([127, 0, 0, 1], server.at).await;
    ask_and_keep(&mut older).await;
    let mut newer = connect_from([127, 0, 0, 1], server.at).await;
    ask_and_keep(&mut newer).await;
    let mut third = connect_from([127, 0, 0, 3], server.at).await;
    ask_and_keep(&mut third).await;
    assert_eq!(all_of(older).await, "");
    for stream in [&mut one, &mut newer, &mut third] {
        ask_and_keep(stream).await;
    }
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn where_no_place_is_left_what_is_being_answered_is_waited_for() {
    let (entered, mut arrived) = tokio::sync::mpsc::channel(1);
    let (release, released) = oneshot::channel::<()>();
    let once = Arc::new(tokio::sync::Mutex::new(Some(released)));
    let slow = get(move || async move {
        entered.send(()).await.unwrap();
        once.lock().await.take().unwrap().await.unwrap();
        "slow"
    });
    let config = ServerConfig {
        connections_max: 1,
        header_read_timeout_ms: 86_400_000,
        ..ServerConfig::default()
    };
    let router = Router::new().route("/", get(|| async { "here" })).route("/slow", slow);
    let server = running(router, config).await;
    let first = ask(server.at, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    arrived.recv().await.unwrap();
    let second = ask(server.at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let waiting = tokio::time::timeout(Duration::from_millis(50), second.readable()).await;
    assert!(
        waiting.is_err(),
        "the second connection is served while the first holds the only place"
    );
    release.send(()).unwrap();
    // The response is complete, and then the connection is closed.
    assert!(all_of(first).await.ends_with("slow"));
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
        assert!(answer.starts_with("HTTP/1.1 400"), "{head}: {answer}");
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

#[tokio::test]
async fn a_server_answers_beside_bodies_that_are_half_sent() {
    let router = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/orders", axum::routing::post(|_: crate::BodyBytes| async { "taken" }));
    let edge = crate::EdgeConfig {
        in_flight_max: 1,
        ..crate::EdgeConfig::default()
    };
    let server = running_edge(router, edge, ServerConfig::default()).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        let head = "POST /orders HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
        let mut stream = ask(server.at, head).await;
        // The server sends `100 Continue` when it waits for the body.
        let mut told = [0; 12];
        stream.read_exact(&mut told).await.unwrap();
        assert_eq!(&told, b"HTTP/1.1 100");
        stream.write_all(b"a").await.unwrap();
        held.push(stream);
    }
    let close = "Host: x\r\nConnection: close\r\n";
    let read = all_of(ask(server.at, &format!("GET / HTTP/1.1\r\n{close}\r\n")).await).await;
    assert!(read.ends_with("here"), "{read}");
    let whole = format!("POST /orders HTTP/1.1\r\n{close}Content-Length: 2\r\n\r\nab");
    let taken = all_of(ask(server.at, &whole).await).await;
    assert!(taken.ends_with("taken"), "{taken}");
    drop(held);
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_cannot_be_read_has_an_id_in_its_answer_too() {
    let router = Router::new().route("/", get(|| async { "here" }));
    let server = running(router, ServerConfig::default()).await;
    let long = |bytes: usize| {
        format!(
            "GET /?{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "a".repeat(bytes)
        )
    };
    for (head, status) in [
        ("garbled\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n".to_owned(), 400),
        (long(31_000), 200),
        (long(40_000), 414),
        (long(66_000), 431),
        (
            format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "a".repeat(66_000)),
            431,
        ),
    ] {
        let answer = all_of(ask(server.at, &head).await).await;
        let told = answer.lines().next().unwrap_or_default();
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {told}");
        let (head, _) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(head.matches("x-request-id: ").count(), 1, "{head}");
        assert_eq!(head.matches("x-content-type-options: nosniff").count(), 1, "{head}");
    }
    server.stop.cancel();
    server.ended.await.unwrap().unwrap();
}
