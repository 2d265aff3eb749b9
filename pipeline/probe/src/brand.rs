//! Queries the store of one brand until the day's budget is used up.

use data_model::{CurrencyCode, DeliveryProbe};
use data_pincodes::directory;
use pipeline_delivery::{Carts, Question, next_questions};
use pipeline_task::StoreDeps;
use serde::Serialize;
use storefront::Store;

use crate::ask::{AskError, ProbeCart, empty, make, readdress};

/// Number of answers after which the questions are planned again. The next questions depend on a store's answers.
const BATCH: usize = 10;

/// Outcome of probing one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    /// All questions are answered.
    Complete,
    /// The budget is used up. The remaining questions are sent another day.
    BudgetUsed,
    /// The run was cancelled.
    Stopped,
    /// The store does not sell in Indian rupees. Only its shipping countries were requested.
    Abroad,
    /// The lake has no product of the brand that can be bought.
    NothingToBuy,
    /// The store's goods have other prices than in the lake. The store is queried again after its next crawl.
    CatalogueTooOld,
    /// Another process is querying the store. The next run will query it.
    Skipped,
    /// The store could not be reached, or refused the request.
    Failed,
}

/// Result of a run for one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandProbed {
    /// Slug of the brand.
    pub brand_slug: String,
    /// Outcome for the brand.
    pub outcome: ProbeOutcome,
    /// Number of answers in this run. In a dry run, the number of questions that would be sent next.
    pub asked: usize,
    /// Number of answers known now.
    pub probes: usize,
    /// Number of zones derived from the answers.
    pub zones: usize,
    /// Reason why the brand failed or was skipped, for an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

pub(crate) struct ProbeContext<'a> {
    pub(crate) store: &'a Store,
    pub(crate) carts: &'a mut Carts,
    pub(crate) deps: &'a StoreDeps,
}

/// Sends up to `budget` questions. The answers are added to `probes`, even if the function returns an error.
pub(crate) async fn ask_all(
    context: &mut ProbeContext<'_>,
    probes: &mut Vec<DeliveryProbe>,
    budget: usize,
) -> Result<ProbeOutcome, AskError> {
    let mut made: Option<ProbeCart> = None;
    let ended = ask(context, probes, budget, &mut made).await;
    if let Some(made) = made {
        leave(context, &made).await;
    }
    ended
}

async fn ask(
    context: &mut ProbeContext<'_>,
    probes: &mut Vec<DeliveryProbe>,
    budget: usize,
    made: &mut Option<ProbeCart>,
) -> Result<ProbeOutcome, AskError> {
    let mut left = budget;
    loop {
        let mut questions = next_questions(directory(), context.carts, probes);
        if questions.is_empty() {
            return Ok(ProbeOutcome::Complete);
        }
        questions.truncate(BATCH.min(left));
        // All questions with one cart come before those with the next.
        questions.sort_by_key(|question| question.cart != context.carts.base);
        for question in questions {
            if context.deps.cancel.is_cancelled() {
                return Ok(ProbeOutcome::Stopped);
            }
            left -= 1;
            let options = match one(context, &question, made).await {
                // The store has less stock than this cart needs, so that another cart is used.
                Err(AskError::OtherGoods) if question.cart != context.carts.base => {
                    context.carts.leave_out(&question.cart);
                    break;
                }
                answered => answered?,
            };
            probes.push(DeliveryProbe {
                pincode: question.pincode,
                variant: question.cart.variant,
                quantity: question.cart.quantity,
                goods_minor: question.cart.goods_minor,
                grams: Some(question.cart.grams).filter(|grams| *grams > 0),
                currency: context.carts.currency,
                options,
                asked_at: context.deps.clock.now(),
            });
        }
        if left == 0 {
            let is_all = next_questions(directory(), context.carts, probes).is_empty();
            return Ok(if is_all {
                ProbeOutcome::Complete
            } else {
                ProbeOutcome::BudgetUsed
            });
        }
    }
}

async fn one(
    context: &ProbeContext<'_>,
    question: &Question,
    made: &mut Option<ProbeCart>,
) -> Result<Vec<data_model::DeliveryRate>, AskError> {
    let currency: CurrencyCode = context.carts.currency;
    if let Some(held) = made.take_if(|held| held.cart != question.cart) {
        leave(context, &held).await;
    }
    if let Some(held) = made.as_ref() {
        match readdress(context.store, held, question.pincode, currency).await {
            // If the address has no delivery, the platform may have emptied the cart, so that a new cart is tried.
            Ok(options) if !options.is_empty() => return Ok(options),
            Ok(_) | Err(AskError::OtherGoods | AskError::Refused(_)) => {
                if let Some(held) = made.take() {
                    leave(context, &held).await;
                }
            }
            Err(error) => return Err(error),
        }
    }
    let (fresh, options) = make(context.store, question, currency).await?;
    *made = Some(fresh);
    Ok(options)
}

/// A failure to empty a cart is harmless, because the store deletes unused carts after some time.
async fn leave(context: &ProbeContext<'_>, made: &ProbeCart) {
    if let Err(error) = empty(context.store, made).await {
        tracing::debug!(%error, "the cart of a probe could not be emptied");
    }
}
