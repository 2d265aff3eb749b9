use agents_mcp::McpConfig;
use axum::body::Body;
use axum::extract::Request;
use futures::StreamExt;
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
async fn whoever_did_not_name_event_streams_is_told_for_a_moment() {
    let market = Market::new();
    for headers in [&[][..], &[("accept", "*/*")]] {
        let began = tokio::time::Instant::now();
        let response = market.edge.answer(get(headers)).await;
        let whole = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!((whole.as_ref(), began.elapsed().as_secs()), (&b": here\n\n"[..], 5));
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

#[tokio::test]
async fn streams_have_a_bound_and_give_their_places_back() {
    let market = Market::with(
        McpConfig {
            streams_max: 1,
            ..McpConfig::default()
        },
        u32::MAX,
    );
    let first = market.edge.answer(get(&[NAMED])).await;
    let refused = market.send(get(&[NAMED])).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    drop(first);
    assert_eq!(market.edge.answer(get(&[NAMED])).await.status(), 200);
}
