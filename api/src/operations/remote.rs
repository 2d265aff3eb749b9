use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use data_model::ErrorCode;
use http::header;

use super::{CallOperation, OperationAnswer, OperationCall};
use crate::{LogThrottle, Problem, request_id};

/// Maximum size of a response. A page of products with all variants is much smaller.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Operations of another server that trusts every client: a query server's listener for gateways.
///
/// The caller is not passed on, because access was checked here.
#[derive(Debug, Clone)]
pub struct RemoteOperations {
    client: reqwest::Client,
    base: String,
    /// Throttle for warnings that the server is not available.
    away: Arc<LogThrottle>,
}

/// Error for a client that cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for operations of another server cannot be created")]
pub struct RemoteError(#[source] reqwest::Error);

impl RemoteOperations {
    /// Creates the operations of the server at `base`, with `timeout` for each call. No request is sent yet.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub fn new(base: &str, timeout: Duration) -> Result<Self, RemoteError> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none());
        Ok(Self {
            client: client.build().map_err(RemoteError)?,
            base: base.trim_end_matches('/').to_owned(),
            away: Arc::default(),
        })
    }

    async fn asked(&self, call: &OperationCall) -> Result<OperationAnswer, reqwest::Error> {
        let url = format!("{}{}", self.base, call.target());
        let mut request = self.client.request(call.method.clone(), url);
        request = request.header(request_id::HEADER, call.asker.request_id.clone().into_header());
        if let Some(body) = &call.body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        if let Some(key) = &call.idempotency_key {
            request = request.header(crate::IDEMPOTENCY_KEY, key.clone());
        }
        let mut response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                tracing::warn!(
                    bytes_max = ANSWER_BYTES_MAX,
                    "the response of an operation of another server is too large"
                );
                return Ok(OperationAnswer::problem(Problem::new(ErrorCode::Internal), &call.asker));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(OperationAnswer::told(status, &headers, Bytes::from(body)))
    }
}

#[async_trait]
impl CallOperation for RemoteOperations {
    async fn call(&self, call: OperationCall) -> OperationAnswer {
        self.asked(&call).await.unwrap_or_else(|error| {
            let code = if error.is_timeout() {
                ErrorCode::Overloaded
            } else {
                ErrorCode::NotReady
            };
            // Every request would log this while the other server is not available.
            if let Some(left_out) = self.away.is_due() {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    operation = call.operation_id.as_ref(),
                    left_out,
                    "an operation of another server does not answer"
                );
            }
            OperationAnswer::problem(Problem::new(code), &call.asker)
        })
    }
}
