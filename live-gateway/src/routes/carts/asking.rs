use std::collections::BTreeSet;

use api::{AnswerBy, Caller, PathParameters, Problem};
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use http::HeaderMap;
use http::request::Parts;
use serde::Serialize;
use serde_json::Value;

use crate::accounts::schema::Account;
use crate::cart_failure::CartFailure;
use crate::checkout::Checkouts;
use crate::checkout::quote::QuoteReader;
use crate::checkout::schema::Checkout;
use crate::config::CartConfig;
use crate::gateway::LiveGateway;
use crate::idempotent::{self, OnceContext, Request};
use crate::request_time::RequestTime;
use crate::rules::carts::ids::CartId;
use crate::schema::carts::{Cart, CartAnswerDocument, CartProblem, OptimizedCart};

/// Response of an operation that queries stores.
pub(in crate::routes) trait AskedStores {
    fn stores(&self) -> usize;
}

impl AskedStores for Cart {
    fn stores(&self) -> usize {
        let groups = self.groups.iter().map(|group| group.brand_slug.as_str());
        distinct(groups, &self.problems)
    }
}

impl AskedStores for OptimizedCart {
    fn stores(&self) -> usize {
        self.cart.stores()
    }
}

impl AskedStores for Checkout {
    fn stores(&self) -> usize {
        let checkouts = self.checkouts.iter().map(|checkout| checkout.brand_slug.as_str());
        distinct(checkouts, &self.problems)
    }
}

impl AskedStores for Account {
    fn stores(&self) -> usize {
        1
    }
}

fn distinct<'a>(brands: impl Iterator<Item = &'a str>, problems: &'a [CartProblem]) -> usize {
    let failed = problems.iter().filter_map(|problem| problem.brand_slug.as_deref());
    brands.chain(failed).collect::<BTreeSet<_>>().len()
}

/// Carts of the server, and the caller of a request.
#[derive(Debug)]
pub(in crate::routes) struct RequestContext {
    checkouts: Checkouts,
    caller: String,
    who: Caller,
    gateway: LiveGateway,
    headers: HeaderMap,
    time: RequestTime,
}

/// Context of a request for the cart in the path. A malformed id is treated as the id of an unknown cart.
#[derive(Debug)]
pub(in crate::routes) struct CartRequestContext {
    pub(in crate::routes) asking: RequestContext,
    pub(in crate::routes) cart: CartId,
    pub(in crate::routes) path: PathParameters,
}

impl FromRequestParts<LiveGateway> for RequestContext {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gateway: &LiveGateway) -> Result<Self, Problem> {
        let checkouts = gateway.checkouts()?.clone();
        let Ok(who) = Caller::from_request_parts(parts, gateway).await;
        let known = who.known().ok_or_else(|| Problem::new(ErrorCode::MissingCredentials))?;
        let budget_ms = checkouts.carts.context.config.budget_ms;
        let edge = parts.extensions.get::<AnswerBy>().copied();
        Ok(Self {
            checkouts,
            caller: known.id.as_str().to_owned(),
            who: who.clone(),
            gateway: gateway.clone(),
            headers: parts.headers.clone(),
            time: RequestTime::new(budget_ms, edge.map(AnswerBy::instant)),
        })
    }
}

impl FromRequestParts<LiveGateway> for CartRequestContext {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, gateway: &LiveGateway) -> Result<Self, Problem> {
        let asking = RequestContext::from_request_parts(parts, gateway).await?;
        let path = PathParameters::from_request_parts(parts, gateway).await?;
        let cart = path.text("cart_id").and_then(|text| text.parse().ok());
        let cart = cart.ok_or_else(|| Problem::new(ErrorCode::CartNotFound))?;
        Ok(Self { asking, cart, path })
    }
}

impl RequestContext {
    pub(super) fn config(&self) -> &CartConfig {
        &self.checkouts.carts.context.config
    }

    pub(super) async fn quote_reader(&self) -> Result<QuoteReader, Problem> {
        self.checkouts.quote_reader().await.map_err(|failure| failure.problem())
    }

    /// Reads a cart and returns the response. The read continues if the client disconnects.
    pub(super) async fn read(self, id: CartId) -> Result<Response, Problem> {
        let work = async move {
            let read = self.checkouts.carts.read(&self.caller, &id).await?;
            if !read.is_shared {
                self.gateway.count_stores(&self.who, read.told.data.stores()).await;
            }
            Ok(serde_json::to_vec(&read.told)?)
        };
        let body = idempotent::finished(work).await.map_err(|failure| failure.problem())?;
        Ok(api::LiveAnswer(body.into()).into_response())
    }

    /// Executes a request at most once for each `Idempotency-Key`, counts the queried stores, and returns the response.
    /// `content` and the caller must determine the response. `run` continues if the client disconnects.
    pub(in crate::routes) async fn once<T, F>(
        self,
        operation: &'static str,
        content: Value,
        run: impl FnOnce(Checkouts, OnceContext) -> F,
    ) -> Result<Response, Problem>
    where
        T: Serialize + AskedStores + Send,
        F: Future<Output = Result<CartAnswerDocument<T>, CartFailure>> + Send + 'static,
    {
        let request = Request {
            caller: &self.caller,
            route: operation,
            headers: &self.headers,
            content,
            time: self.time,
        };
        let (worker, gateway, who) = (self.checkouts.clone(), self.gateway.clone(), self.who.clone());
        let work = |begin| {
            let told = run(worker, begin);
            async move {
                let told = told.await?;
                gateway.count_stores(&who, told.data.stores()).await;
                Ok(serde_json::to_vec(&told)?)
            }
        };
        Box::pin(idempotent::once(&self.checkouts.carts.context, request, work)).await
    }
}
