//! Delivery by a POST request in the form of Standard Webhooks.

use std::time::Duration;

use async_trait::async_trait;
use data_model::Timestamp;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use state::DueEvent;
use storefront::TransportRequest;

use super::{Carrier, Failure};
use crate::rules::signature::{Message, signatures};
use crate::target::{Webhook, check};
use crate::watches::WatchesParts;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

#[async_trait]
impl Carrier for Webhook {
    async fn carry(&self, event: &DueEvent, parts: &WatchesParts) -> Result<(), Failure> {
        // The rules may have changed since the watch was created.
        check(&self.url, parts.allow_loopback).map_err(|error| Failure::passing(&error))?;
        let headers = headers(self, event, parts.clock.now());
        let request = TransportRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: headers.ok_or_else(|| Failure::passing(&"the event cannot be signed"))?,
            body: event.body.clone().into(),
        };
        let timeout_ms = parts.config.timeout_ms;
        // Only the head of the response matters. The body is not read, and redirects are not followed. Failure messages
        // contain no address, because the owner must not learn how names resolve in this network.
        let answer = tokio::time::timeout(Duration::from_millis(timeout_ms), parts.transport.send(request)).await;
        let answer = answer.map_err(|_| Failure::Passing(format!("no answer within {timeout_ms} ms")))?;
        match answer.map_err(|error| Failure::passing(&error))?.status {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(Failure::Gone),
            status => Err(Failure::Passing(format!("status {}", status.as_u16()))),
        }
    }
}

fn headers(webhook: &Webhook, event: &DueEvent, now: Timestamp) -> Option<HeaderMap> {
    let timestamp_s = now.micros().div_euclid(1_000_000);
    let message = Message {
        id: &event.id,
        timestamp_s,
        body: &event.body,
    };
    let signatures = signatures(webhook.secrets(now), message);
    let headers = [
        (ID, HeaderValue::try_from(&event.id).ok()?),
        (TIMESTAMP, HeaderValue::from(timestamp_s)),
        (SIGNATURE, HeaderValue::try_from(signatures).ok()?),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static("haat-webhooks")),
    ];
    Some(headers.into_iter().collect())
}
