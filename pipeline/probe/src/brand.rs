//! One brand: asked as far as today's budget goes.

use data_model::{CurrencyCode, DeliveryProbe};
use data_pincodes::directory;
use pipeline_delivery::{Carts, Question, next_questions};
use pipeline_task::StoreDeps;
use serde::Serialize;
use storefront::Store;

use crate::ask::{AskError, ProbeCart, empty, make, readdress};

/// After so many answers the plan is made anew: what a store says decides what it is asked.
const BATCH: usize = 10;

/// The outcome of one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    /// All is asked that there is to ask.
    Complete,
    /// More is asked another day: the budget is used up.
    BudgetUsed,
    /// The run was stopped.
    Stopped,
    /// The store does not sell in India's currency: it was asked for its countries alone.
    Abroad,
    /// The lake has nothing of it that can be bought.
    NothingToBuy,
    /// The store's goods cost something else than the lake says: it is asked again after its next crawl.
    CatalogueTooOld,
    /// Another process asks the store now: it is left for the next run.
    Skipped,
    /// The store could not be asked, or refused.
    Failed,
}

/// A run's work at one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandProbed {
    /// Its slug.
    pub brand_slug: String,
    /// Its outcome.
    pub outcome: ProbeOutcome,
    /// Answers of this run; in a dry run, how many would be asked next.
    pub asked: usize,
    /// Answers that are known now.
    pub probes: usize,
    /// Zones that follow from them.
    pub zones: usize,
    /// The reason why it failed or was skipped, for an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The things that a store is asked with.
pub(crate) struct Desk<'a> {
    pub(crate) store: &'a Store,
    pub(crate) carts: &'a mut Carts,
    pub(crate) deps: &'a StoreDeps,
}

/// Asks up to `budget` questions; what was answered is added to `probes`, however it ends.
pub(crate) async fn ask_all(
    desk: &mut Desk<'_>,
    probes: &mut Vec<DeliveryProbe>,
    budget: usize,
) -> Result<ProbeOutcome, AskError> {
    let mut made: Option<ProbeCart> = None;
    let ended = ask(desk, probes, budget, &mut made).await;
    if let Some(made) = made {
        leave(desk, &made).await;
    }
    ended
}

async fn ask(
    desk: &mut Desk<'_>,
    probes: &mut Vec<DeliveryProbe>,
    budget: usize,
    made: &mut Option<ProbeCart>,
) -> Result<ProbeOutcome, AskError> {
    let mut left = budget;
    loop {
        let mut questions = next_questions(directory(), desk.carts, probes);
        if questions.is_empty() {
            return Ok(ProbeOutcome::Complete);
        }
        questions.truncate(BATCH.min(left));
        // One cart after the other.
        questions.sort_by_key(|question| question.cart != desk.carts.base);
        for question in questions {
            if desk.deps.cancel.is_cancelled() {
                return Ok(ProbeOutcome::Stopped);
            }
            left -= 1;
            let options = match one(desk, &question, made).await {
                // The store has fewer of it, or none: another cart will do.
                Err(AskError::OtherGoods) if question.cart != desk.carts.base => {
                    desk.carts.leave_out(&question.cart);
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
                currency: desk.carts.currency,
                options,
                asked_at: desk.deps.clock.now(),
            });
        }
        if left == 0 {
            let is_all = next_questions(directory(), desk.carts, probes).is_empty();
            return Ok(if is_all {
                ProbeOutcome::Complete
            } else {
                ProbeOutcome::BudgetUsed
            });
        }
    }
}

async fn one(
    desk: &Desk<'_>,
    question: &Question,
    made: &mut Option<ProbeCart>,
) -> Result<Vec<data_model::DeliveryRate>, AskError> {
    let currency: CurrencyCode = desk.carts.currency;
    if let Some(held) = made.take_if(|held| held.cart != question.cart) {
        leave(desk, &held).await;
    }
    if let Some(held) = made.as_ref() {
        match readdress(desk.store, held, question.pincode, currency).await {
            // At a place without delivery the platform may have emptied the cart: another one says more.
            Ok(options) if !options.is_empty() => return Ok(options),
            Ok(_) | Err(AskError::OtherGoods | AskError::Refused(_)) => {
                if let Some(held) = made.take() {
                    leave(desk, &held).await;
                }
            }
            Err(error) => return Err(error),
        }
    }
    let (fresh, options) = make(desk.store, question, currency).await?;
    *made = Some(fresh);
    Ok(options)
}

/// Empties a cart; one that cannot be emptied is forgotten by the store in time.
async fn leave(desk: &Desk<'_>, made: &ProbeCart) {
    if let Err(error) = empty(desk.store, made).await {
        tracing::debug!(%error, "a cart of a probe is left as it is");
    }
}
