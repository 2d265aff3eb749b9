//! Operations of the protocol for REST and MCP, from request body to outcome.

use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::{RequestOutcome, ended};
use crate::carts::{self, Answer, CartBody};
use crate::catalogue;
use crate::failure::{Failure, RequestBody};
use crate::market::Market;
use crate::members::members;
use crate::message::Capability;
use crate::read::Agent;
use crate::{Ucp, Version};

/// Action of a request on a cart or its checkout.
pub(crate) enum CartAction<'a> {
    Make(RequestBody),
    Read(&'a str),
    Replace(&'a str, RequestBody),
    Complete(&'a str, RequestBody),
    Cancel(&'a str),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Look {
    Search,
    Lookup,
    Product,
}

impl Ucp {
    pub(crate) async fn look(&self, agent: Agent, version: Version, look: Look, sent: RequestBody) -> RequestOutcome {
        let market = self.market(agent.asker, version);
        let capability = match look {
            Look::Search => Capability::Search,
            Look::Lookup | Look::Product => Capability::Lookup,
        };
        match look {
            Look::Search => {
                let work = async { catalogue::search(&market, body(sent)?).await };
                told(StatusCode::OK, capability, &market, agent.fault, Box::pin(work)).await
            }
            Look::Lookup => {
                let work = async { catalogue::lookup(&market, body(sent)?).await };
                told(StatusCode::OK, capability, &market, agent.fault, Box::pin(work)).await
            }
            Look::Product => {
                let work = async { catalogue::get_product(&market, body(sent)?).await };
                told(StatusCode::OK, capability, &market, agent.fault, Box::pin(work)).await
            }
        }
    }

    /// Executes a cart action. Returns the cart or its checkout, depending on `answer`.
    pub(crate) async fn carry_out(
        &self,
        agent: Agent,
        version: Version,
        asked: CartAction<'_>,
        answer: Answer,
    ) -> RequestOutcome {
        let (market, capability) = (self.market(agent.asker, version), answer.capability());
        let status = match asked {
            CartAction::Make(_) => StatusCode::CREATED,
            _ => StatusCode::OK,
        };
        let work = async {
            match asked {
                CartAction::Make(sent) => {
                    let is_checkout = capability == Capability::Checkout;
                    carts::create(&market, CartBody::read(sent)?, agent.key, is_checkout).await
                }
                CartAction::Read(id) => carts::read(&market, id, answer).await,
                CartAction::Replace(id, sent) => {
                    carts::replace(&market, id, agent.key, CartBody::read(sent)?, answer).await
                }
                CartAction::Complete(id, sent) => {
                    carts::create(&market, CartBody::of_cart(id, sent?), agent.key, true).await
                }
                CartAction::Cancel(id) => carts::cancel(&market, id, agent.key, answer).await,
            }
        };
        told(status, capability, &market, agent.fault, Box::pin(work)).await
    }
}

fn body<T: DeserializeOwned>(sent: RequestBody) -> Result<T, Failure> {
    members(&sent?)
}

/// Returns the outcome of `work`. If the agent identified itself incorrectly, its `fault` is the outcome and `work`
/// does not run.
async fn told<T: Serialize>(
    status: StatusCode,
    capability: Capability,
    market: &Market<'_>,
    fault: Option<Failure>,
    work: impl Future<Output = Result<T, Failure>>,
) -> RequestOutcome {
    let result = match fault {
        Some(fault) => Err(fault),
        None => work.await,
    };
    ended(status, capability, market, result)
}
