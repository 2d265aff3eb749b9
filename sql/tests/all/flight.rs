//! Tests of Arrow Flight SQL as clients use it, message by message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use api::{Caller, EdgeConfig, EdgeRouter, Guard, Limit, Outcome, Prompt, Verdict};
use axum::body::Body;
use axum::extract::Request;
use http_body_util::BodyExt;
use prost::Message;
use sql::{Door, SqlConfig};

use crate::market::engine;

const TYPES: &str = "type.googleapis.com/arrow.flight.protocol.sql.";
/// Status code RESOURCE_EXHAUSTED of `google.rpc.Code`.
const EXHAUSTED: &str = "8";

/// Protobuf message `google.protobuf.Any`.
#[derive(Clone, PartialEq, Eq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// Protobuf message `CommandStatementQuery`, which is also the request that prepares a statement.
#[derive(Clone, PartialEq, Eq, Message)]
struct Query {
    #[prost(string, tag = "1")]
    query: String,
}

/// Protobuf message `FlightDescriptor`.
#[derive(Clone, PartialEq, Eq, Message)]
struct Descriptor {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(bytes = "vec", tag = "2")]
    cmd: Vec<u8>,
}

/// Protobuf message `Action`.
#[derive(Clone, PartialEq, Eq, Message)]
struct Action {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(bytes = "vec", tag = "2")]
    body: Vec<u8>,
}

/// Rate limit that admits a fixed number of requests of all callers together.
#[derive(Debug)]
struct First(AtomicU32);

impl Limit for First {
    fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        Prompt::Now(Verdict {
            outcome: left.map_or(Outcome::TooFast(Duration::from_secs(1)), |_| Outcome::Allowed),
            ..Verdict::UNLIMITED
        })
    }
}

/// Starts a Flight server that accepts `requests` requests in total.
async fn server(requests: u32) -> EdgeRouter {
    let engine = engine(&SqlConfig::default());
    let guard = Arc::new(Guard {
        limit: Some(Arc::new(First(AtomicU32::new(requests)))),
        ..Guard::default()
    });
    let door = Door {
        engine,
        allowed: None,
        guard,
        timeout_ms: 120_000,
        origin_policy: None,
    };
    let config = EdgeConfig {
        timeout_ms: 120_000,
        ..EdgeConfig::default()
    };
    sql::flight_router(door).edge(config)
}

async fn status(server: &EdgeRouter, call: &str, message: &impl Message) -> String {
    let message = message.encode_to_vec();
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend(message);
    let request = Request::post(format!("/arrow.flight.protocol.FlightService/{call}"))
        .header("host", "localhost")
        .header("content-type", "application/grpc")
        .body(Body::from(body))
        .unwrap();
    let response = server.answer(request).await;
    let early = response.headers().get("grpc-status").cloned();
    let whole = response.into_body().collect().await.unwrap();
    let late = whole.trailers().and_then(|trailers| trailers.get("grpc-status"));
    early.as_ref().or(late).unwrap().to_str().unwrap().to_owned()
}

fn any(kind: &str, value: &impl Message) -> Vec<u8> {
    let any = Any {
        type_url: format!("{TYPES}{kind}"),
        value: value.encode_to_vec(),
    };
    any.encode_to_vec()
}

fn of_statement() -> Descriptor {
    let query = Query {
        query: "select count(*) from products".to_owned(),
    };
    Descriptor {
        kind: 2,
        cmd: any("CommandStatementQuery", &query),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_that_plans_a_statement_counts_as_a_request() {
    let server = server(3).await;
    let prepare = Action {
        kind: "CreatePreparedStatement".to_owned(),
        body: any(
            "ActionCreatePreparedStatementRequest",
            &Query {
                query: "select 1".to_owned(),
            },
        ),
    };
    assert_eq!(status(&server, "GetFlightInfo", &of_statement()).await, "0");
    assert_eq!(status(&server, "GetSchema", &of_statement()).await, "0");
    assert_eq!(status(&server, "DoAction", &prepare).await, "0");
    assert_eq!(status(&server, "GetFlightInfo", &of_statement()).await, EXHAUSTED);
    assert_eq!(status(&server, "GetSchema", &of_statement()).await, EXHAUSTED);
    assert_eq!(status(&server, "DoAction", &prepare).await, EXHAUSTED);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_catalogue_says_is_free() {
    let server = server(0).await;
    let catalogue = Descriptor {
        kind: 2,
        cmd: any("CommandGetDbSchemas", &Query { query: String::new() }),
    };
    assert_eq!(status(&server, "GetFlightInfo", &catalogue).await, "0");
    assert_eq!(status(&server, "GetFlightInfo", &of_statement()).await, EXHAUSTED);
}
