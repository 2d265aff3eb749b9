use agents_mcp::McpConfig;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures::{FutureExt, StreamExt};
use http_body_util::BodyExt;

use crate::support::Market;

fn get(headers: &[(&str, &str)]) -> Request {
    let request = Request::builder().uri("/v1/mcp");
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Body::empty()).unwrap()
}

const NAMED: (&str, &str) = ("accept", "text/event-stream");

#[tokio::test(start_paused = true)]
async fn a_stream_beats_at_once_and_then_every_while_until_the_server_stops() {
    let market = Market::new();
    let response = market.edge.answer(get(&[NAMED])).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut beats = response.into_body().into_data_stream();
    let began = tokio::time::Instant::now();
    for passed_s in [0, 15, 30, 45] {
        assert_eq!(beats.next().await.unwrap().unwrap(), ": here\n\n");
        assert_eq!(began.elapsed().as_secs(), passed_s);
    }
    market.stop.cancel();
    assert!(beats.next().await.is_none());
    assert_eq!(began.elapsed().as_secs(), 45, "at once");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_after_its_lifetime_however_it_was_asked_for() {
    for headers in [&[][..], &[("accept", "*/*")], &[NAMED]] {
        let market = Market::with(
            McpConfig {
                stream_lifetime_s: 50,
                ..McpConfig::default()
            },
            u32::MAX,
        );
        let began = tokio::time::Instant::now();
        let response = market.edge.answer(get(headers)).await;
        let whole = response.into_body().collect().await.unwrap().to_bytes();
        let beats = ": here\n\n".repeat(4);
        assert_eq!((whole.as_ref(), began.elapsed().as_secs()), (beats.as_bytes(), 50));
    }
}

#[tokio::test]
async fn there_is_no_stream_for_clients_of_later_revisions_or_without_event_streams() {
    let market = Market::new();
    for headers in [
        &[NAMED, ("mcp-protocol-version", "2026-07-28")][..],
        &[("accept", "application/json")],
        &[("accept", "text/event-stream;q=0, */*")],
    ] {
        let refused = market.send(get(headers)).await;
        assert_eq!((refused.status, refused.header("allow")), (405, "POST"), "{headers:?}");
    }
    assert_eq!(
        market
            .send(get(&[NAMED, ("origin", "http://evil.example")]))
            .await
            .status,
        403
    );
}

/// Reads the first data of a stream, and returns true if the stream is still open.
async fn is_open(stream: &mut Response) -> bool {
    let next = stream.body_mut().frame().now_or_never();
    next.is_none_or(|frame| frame.is_some())
}

async fn opened(market: &Market, from: &str) -> Response {
    let mut stream = market.edge.answer_from(from.parse().ok(), get(&[NAMED])).await;
    assert_eq!(stream.status(), 200);
    let first = stream.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), ": here\n\n");
    stream
}

#[tokio::test(start_paused = true)]
async fn the_oldest_stream_of_a_network_gives_way_to_its_next_one() {
    for (networks, times) in [
        ("192.0.2.1", 1),
        ("2001:db8::{}", 1),
        ("2001:db8:0:{}::1", 4),
        ("2001:db8:0:{}00::1", 16),
        ("192.0.2.{}", 16),
    ] {
        let config = McpConfig {
            streams_per_client_max: 1,
            ..McpConfig::default()
        };
        let market = Market::with(config, u32::MAX);
        let mut other = opened(&market, "198.51.100.1").await;
        let mut open = Vec::new();
        for number in 0..=times {
            open.push(opened(&market, &networks.replace("{}", &number.to_string())).await);
        }
        assert!(is_open(&mut other).await, "{networks}");
        for (number, stream) in open.iter_mut().enumerate() {
            assert_eq!(is_open(stream).await, number > 0, "{networks} {number}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn where_all_streams_are_open_one_of_whoever_has_most_gives_way() {
    let config = McpConfig {
        streams_max: 3,
        ..McpConfig::default()
    };
    let market = Market::with(config, u32::MAX);
    let mut first = opened(&market, "198.51.100.1").await;
    let mut many = [opened(&market, "192.0.2.1").await, opened(&market, "192.0.2.1").await];
    let mut last = opened(&market, "203.0.113.1").await;
    assert!(is_open(&mut first).await && is_open(&mut last).await);
    assert_eq!(
        [is_open(&mut many[0]).await, is_open(&mut many[1]).await],
        [false, true]
    );
    // A closed stream frees its slot.
    drop(first);
    let mut next = opened(&market, "203.0.113.2").await;
    assert!(is_open(&mut next).await && is_open(&mut last).await && is_open(&mut many[1]).await);
}
