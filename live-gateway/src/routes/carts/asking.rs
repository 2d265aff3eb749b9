use api::{Caller, PathParameters, Problem};
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use data_model::{ErrorCode, Timestamp};
use http::HeaderMap;
use http::request::Parts;
use serde::Serialize;
use serde_json::Value;

use super::document;
use crate::carts::{CartFailure, Carts};
use crate::gateway::LiveGateway;
use crate::idempotent::{self, Begin, Request};
use crate::rules::carts::ids::CartId;

/// What a request for a caller's carts begins with: the carts, where the server keeps any, and whose are meant.
#[derive(Debug)]
pub(in crate::routes) struct Asking {
    pub(in crate::routes) carts: Carts,
    pub(in crate::routes) caller: String,
    headers: HeaderMap,
}

/// The same for one cart, which the path names. What is no id names no cart.
#[derive(Debug)]
pub(in crate::routes) struct AskingOfCart {
    pub(in crate::routes) asking: Asking,
    pub(in crate::routes) cart: CartId,
    pub(in crate::routes) path: PathParameters,
}

impl FromRequestParts<LiveGateway> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gateway: &LiveGateway) -> Result<Self, Problem> {
        let carts = super::carts(gateway)?.clone();
        let Ok(caller) = Caller::from_request_parts(parts, gateway).await;
        let known = caller
            .known()
            .ok_or_else(|| Problem::new(ErrorCode::MissingCredentials))?;
        Ok(Self {
            carts,
            caller: known.id.as_str().to_owned(),
            headers: parts.headers.clone(),
        })
    }
}

impl FromRequestParts<LiveGateway> for AskingOfCart {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gateway: &LiveGateway) -> Result<Self, Problem> {
        let asking = Asking::from_request_parts(parts, gateway).await?;
        let path = PathParameters::from_request_parts(parts, gateway).await?;
        let cart = path.text("cart_id").and_then(|text| text.parse().ok());
        let cart = cart.ok_or_else(|| Problem::new(ErrorCode::CartNotFound))?;
        Ok(Self { asking, cart, path })
    }
}

impl Asking {
    /// Does what changes nothing that is told apart by a key, to its end even where the caller goes away, and answers.
    pub(super) async fn answer<T, F>(self, run: impl FnOnce(Carts, String) -> F) -> Result<Response, Problem>
    where
        T: Serialize,
        F: Future<Output = Result<(T, Timestamp), CartFailure>> + Send + 'static,
    {
        let told = run(self.carts, self.caller);
        let work = async move { document(told.await?) };
        let body = idempotent::finished(work).await.map_err(|failure| failure.problem())?;
        Ok(api::LiveAnswer(body.into()).into_response())
    }

    /// Does what is asked, once for each `Idempotency-Key`, and answers. `content` is all that the answer depends on besides
    /// who asks; `run` is to its end even where the caller goes away.
    pub(in crate::routes) async fn once<T, F>(
        self,
        operation: &'static str,
        content: Value,
        run: impl FnOnce(Carts, Begin) -> F,
    ) -> Result<Response, Problem>
    where
        T: Serialize,
        F: Future<Output = Result<(T, Timestamp), CartFailure>> + Send + 'static,
    {
        let request = Request {
            caller: &self.caller,
            route: operation,
            headers: &self.headers,
            content,
        };
        let worker = self.carts.clone();
        let work = |begin| {
            let told = run(worker, begin);
            async move { document(told.await?) }
        };
        Box::pin(idempotent::once(&self.carts, request, work)).await
    }
}
