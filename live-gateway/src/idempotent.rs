//! Idempotent execution of unsafe requests.
//!
//! In: a request, its optional `Idempotency-Key`, and the work to do. Out: the response, or the earlier response to the
//! same request under the same key. Keys, requests and responses are in the shared state, so that all servers agree.
//! The work continues if the client disconnects.

use std::sync::Arc;
use std::time::Duration;

use api::{Location, Problem, Rule, Violation};
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use state::{IdempotentRow, IdempotentSlot, Lease, Purpose, RequestStart};
use tokio::time::Instant;

use crate::cart_context::{CallerContext, CartContext};
use crate::cart_failure::{CartFailure, unknown};
use crate::leases::{self, HeldLease, Leased};
use crate::random::random_hex;
use crate::request_time::RequestTime;
use crate::rules::carts::ids::CartId;

const KEY: HeaderName = api::IDEMPOTENCY_KEY;
/// Header that marks a replayed response.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const KEY_BYTES_MAX: usize = 255;
const REQUEST: Purpose = Purpose::new("idempotent-request");
const ANSWER: Purpose = Purpose::new("idempotent-answer");

/// Request with its headers, including the idempotency key.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) caller: &'a str,
    /// Id of the API operation.
    pub(crate) route: &'static str,
    pub(crate) headers: &'a HeaderMap,
    /// Content that determines the response: path parameters and body.
    pub(crate) content: Value,
    pub(crate) time: RequestTime,
}

/// Ids of the operation and of its cart, which stay the same when a request is repeated.
#[derive(Debug, Clone)]
pub(crate) struct OnceContext {
    pub(crate) asked: CallerContext,
    /// Id of the cart if the request creates one.
    pub(crate) cart: CartId,
    /// True if the same request began before and its progress is unknown.
    pub(crate) is_again: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct RequestRecord {
    fingerprint: String,
    operation: String,
    cart: String,
}

/// Idempotency key, and the lease for the work on its request.
struct Place {
    slot: IdempotentSlot,
    lease: HeldLease,
}

/// Executes the request at most once for each key. `run` returns the body of the response with status 200.
pub(crate) async fn once<R, F>(context: &Arc<CartContext>, request: Request<'_>, run: R) -> Result<Response, Problem>
where
    R: FnOnce(OnceContext) -> F,
    F: Future<Output = Result<Vec<u8>, CartFailure>> + Send + 'static,
{
    let key = key(request.headers)?;
    let told = |failure: CartFailure| failure.problem();
    let fresh = RequestRecord {
        fingerprint: fingerprint(&request.content),
        operation: random_hex().map_err(told)?,
        cart: random_hex().map_err(told)?,
    };
    let Some(key) = key else {
        let work = run(begin(&request, &fresh, false).map_err(told)?);
        let body = in_time(finished(work), request.time).await?;
        return Ok(api::LiveAnswer(body.into()).into_response());
    };
    let slot = IdempotentSlot::new(request.caller, request.route, &key);
    let (place, kept, is_again) = match claim(context, slot, fresh).await.map_err(told)? {
        ClaimOutcome::Ours(place, kept, is_again) => (place, kept, is_again),
        ClaimOutcome::Answered(body) => {
            let mut response = api::LiveAnswer(body.into()).into_response();
            response
                .headers_mut()
                .insert(REPLAYED, HeaderValue::from_static("true"));
            return Ok(response);
        }
        ClaimOutcome::Another => {
            let words = "the idempotency key was used with a different request";
            return Err(Problem::refused_at(
                ErrorCode::IdempotencyMismatch,
                place_of_key(),
                words,
            ));
        }
        ClaimOutcome::InFlight(left) => return Err(Problem::new(ErrorCode::IdempotencyConflict).retry_after(left)),
    };
    let work = run(begin(&request, &kept, is_again).map_err(told)?);
    let context = Arc::clone(context);
    let done = finished(async move {
        let outcome = work.await;
        settle(&context, &place, &outcome).await;
        outcome
    });
    Ok(api::LiveAnswer(in_time(done, request.time).await?.into()).into_response())
}

/// Waits for the outcome until shortly before the edge's deadline. The work continues after that.
async fn in_time(
    work: impl Future<Output = Result<Vec<u8>, CartFailure>>,
    time: RequestTime,
) -> Result<Vec<u8>, Problem> {
    let outcome = match time.answer_by() {
        None => work.await,
        Some(by) => tokio::time::timeout_at(by, work).await.map_err(|_| unknown())?,
    };
    outcome.map_err(|failure| failure.problem())
}

/// Runs the work to its end, even if the waiting task is dropped.
pub(crate) async fn finished(
    work: impl Future<Output = Result<Vec<u8>, CartFailure>> + Send + 'static,
) -> Result<Vec<u8>, CartFailure> {
    tokio::spawn(work).await.unwrap_or(Err(CartFailure::Lost))
}

fn begin(request: &Request<'_>, kept: &RequestRecord, is_again: bool) -> Result<OnceContext, CartFailure> {
    Ok(OnceContext {
        asked: CallerContext {
            caller: request.caller.to_owned(),
            operation: kept.operation.clone(),
            time: request.time,
        },
        cart: kept.cart.parse().map_err(|_| CartFailure::Random)?,
        is_again,
    })
}

/// Result of a claim to an idempotency key.
enum ClaimOutcome {
    /// This server must carry out the request; `true` if the request began before.
    Ours(Place, RequestRecord, bool),
    /// The request is done; contains the response.
    Answered(Vec<u8>),
    /// The key was used for a different request.
    Another,
    /// Another task is carrying out the request. The duration is the rest of that task's lease, which may be renewed.
    InFlight(Duration),
}

async fn claim(context: &CartContext, slot: IdempotentSlot, fresh: RequestRecord) -> Result<ClaimOutcome, CartFailure> {
    let keys = &context.keys;
    let now = context.clock.now();
    let (lease, since) = (leases::lease(now)?, Instant::now());
    let held = |slot: IdempotentSlot, lease: Lease| {
        let (state, clock) = (context.state.clone(), Arc::clone(&context.clock));
        let lease = HeldLease::new(Leased::Request(slot.clone()), lease, state, clock, since);
        Place { slot, lease }
    };
    let sealed = keys.seal(REQUEST, &slot.place(), &serde_json::to_vec(&fresh)?)?;
    let expires_at = now.plus_millis(context.config.idempotency_ms());
    let begun = context.state.begin_idempotent(&slot, sealed, &lease, now, expires_at);
    let row: IdempotentRow = match begun.await? {
        RequestStart::New => return Ok(ClaimOutcome::Ours(held(slot, lease), fresh, false)),
        RequestStart::Before(row) => row,
    };
    let kept: RequestRecord = serde_json::from_slice(&keys.open(REQUEST, &slot.place(), &row.request)?)?;
    if kept.fingerprint != fresh.fingerprint {
        return Ok(ClaimOutcome::Another);
    }
    if let Some((_, sealed)) = row.answer {
        return Ok(ClaimOutcome::Answered(keys.open(ANSWER, &slot.place(), &sealed)?));
    }
    // A lease that ends later than a new lease would was written by a server whose clock was ahead.
    let is_at_work = row.lease_until > now && row.lease_until <= lease.until().latest_believed(0);
    if is_at_work || !context.state.resume_idempotent(&slot, &lease, now).await? {
        return Ok(ClaimOutcome::InFlight(leases::wait(row.lease_until, now)));
    }
    Ok(ClaimOutcome::Ours(held(slot, lease), kept, true))
}

/// Saves the outcome of the request. A final response is saved. A failure that changed nothing frees the key. After any
/// other failure, or after temporary problems, a retry with the same key continues the work.
async fn settle(context: &CartContext, place: &Place, outcome: &Result<Vec<u8>, CartFailure>) {
    let (slot, lease) = (&place.slot, place.lease.lease());
    let kept = match outcome {
        Ok(body) if is_passing(body) => {
            let suspended = context.state.suspend_idempotent(slot, lease).await;
            suspended.map_err(CartFailure::State)
        }
        Ok(body) => match context.keys.seal(ANSWER, &slot.place(), body) {
            Ok(sealed) => {
                let finished = context.state.finish_idempotent(slot, lease, 200, sealed).await;
                finished.map(|_| ()).map_err(CartFailure::State)
            }
            Err(error) => Err(CartFailure::Seal(error)),
        },
        Err(failure) if failure.may_have_begun() => {
            let suspended = context.state.suspend_idempotent(slot, lease).await;
            suspended.map_err(CartFailure::State)
        }
        Err(_) => {
            let forgotten = context.state.forget_idempotent(slot, lease).await;
            forgotten.map_err(CartFailure::State)
        }
    };
    if let Err(error) = kept {
        // The lease expires by itself. A retry of the request then finds that the work was done.
        let error: &dyn std::error::Error = &error;
        tracing::warn!(
            error,
            "the answer to a request with an idempotency key cannot be stored"
        );
    }
}

fn place_of_key() -> Vec<Location> {
    vec!["header".into(), "Idempotency-Key".into()]
}

/// True if a response reports problems and all of them are temporary. A retry may then succeed.
fn is_passing(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Answer {
        data: Data,
    }
    #[derive(Deserialize)]
    struct Data {
        #[serde(default)]
        problems: Vec<CartProblemCode>,
    }
    #[derive(Deserialize)]
    struct CartProblemCode {
        code: String,
    }
    let passes = |problem: &CartProblemCode| {
        let mut codes = ErrorCode::ALL.iter();
        codes.any(|code| code.as_str() == problem.code && code.is_passing())
    };
    serde_json::from_slice::<Answer>(body)
        .is_ok_and(|answer| !answer.data.problems.is_empty() && answer.data.problems.iter().all(passes))
}

/// Returns the idempotency key of a request, if there is one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(KEY).into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let wrong = |rule: &Rule| Problem::invalid(vec![Violation::new(place_of_key(), rule, None)]);
    if values.next().is_some() {
        return Err(wrong(&Rule::Value("a request must have at most one idempotency key")));
    }
    let is_shown = |byte: &u8| (0x20..0x7f).contains(byte);
    match value.as_bytes() {
        [] => Err(wrong(&Rule::StringTooShort(1))),
        bytes if bytes.len() > KEY_BYTES_MAX => Err(wrong(&Rule::StringTooLong(KEY_BYTES_MAX))),
        bytes if !bytes.iter().all(is_shown) => Err(wrong(&Rule::Value("an idempotency key must be printable ASCII"))),
        bytes => Ok(Some(String::from_utf8_lossy(bytes).into_owned())),
    }
}

/// Returns a hash of the request that does not depend on whitespace or the order of JSON keys.
fn fingerprint(content: &Value) -> String {
    hex::encode(Sha256::digest(sorted(content).to_string()))
}

/// Returns the value with all JSON keys sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut pairs: Vec<_> = members.iter().collect();
            pairs.sort_by_key(|(name, _)| *name);
            let pairs = pairs.into_iter().map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_request_has_one_fingerprint_however_it_is_written() {
        let one: Value = serde_json::from_str(r#"{"a":{"x":1,"y":[1,2]},"b":"c"}"#).unwrap();
        let same: Value = serde_json::from_str(r#"{ "b" : "c", "a": {"y":[1,2],"x":1} }"#).unwrap();
        assert_eq!(fingerprint(&one), fingerprint(&same));
        for other in [
            json!({ "a": { "x": 1, "y": [2, 1] }, "b": "c" }),
            json!({ "a": { "x": "1", "y": [1, 2] }, "b": "c" }),
            json!({ "a": { "x": 1, "y": [1, 2] }, "b": "c", "d": null }),
        ] {
            assert_ne!(fingerprint(&one), fingerprint(&other), "{other}");
        }
    }

    #[test]
    fn a_key_is_printable_ascii_of_at_most_255_characters() {
        let of = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(KEY, HeaderValue::from_bytes(value).unwrap());
            key(&headers)
        };
        assert_eq!(of(b"8e03978e-40d5").unwrap().as_deref(), Some("8e03978e-40d5"));
        assert_eq!(of(&[b'a'; 255]).unwrap().unwrap().len(), 255);
        for value in [b"".as_slice(), &[b'a'; 256], "schl\u{fc}ssel".as_bytes(), b"a\tb"] {
            assert_eq!(of(value).unwrap_err().code(), ErrorCode::Validation);
        }
        assert_eq!(key(&HeaderMap::new()).unwrap(), None);
    }
}
