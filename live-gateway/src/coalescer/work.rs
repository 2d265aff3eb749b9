use std::sync::Arc;
use std::time::Duration;

use data_model::StoredProduct;
use storefront::{Priority, Store, StoreError};
use tokio::time::Instant;
use url::Url;

use super::ask::{QueryOutcome, by_graphql, by_js};
use super::failure::unverified;
use super::state::{StoreCoalescer, Turn};
use super::{Answer, CoalescerContext, Outcome};
use crate::rules::judge;
use crate::rules::nodes::ProductNodes;
use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// Guard that marks the coalescer as idle if its task panics. Otherwise later requests would wait for a task that has
/// ended.
struct Shift(Arc<StoreCoalescer>);

impl Drop for Shift {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.rest();
        }
    }
}

/// Queries the store until no request waits.
pub(super) async fn work(coalescer: Arc<StoreCoalescer>, shared: Arc<CoalescerContext>) {
    let shift = Shift(coalescer);
    let coalescer = &shift.0;
    while coalescer.has_work() {
        let budget = Duration::from_millis(shared.config.budget_ms);
        // The permit is released after each query, so that a store that hangs blocks a permit for at most one time
        // budget.
        let Ok(Ok(_place)) = tokio::time::timeout(budget, shared.places.acquire()).await else {
            coalescer.fail_all(&Unverified::busy());
            continue;
        };
        match store_of(coalescer, &shared, Instant::now() + budget) {
            Ok(store) => turn(coalescer, &shared, &store).await,
            Err(error) => coalescer.fail_all(&unverified(&error)),
        }
    }
}

fn store_of(coalescer: &StoreCoalescer, shared: &CoalescerContext, deadline: Instant) -> Result<Store, StoreError> {
    let url = Url::parse(&coalescer.base_url).map_err(|_| StoreError::Url {
        reason: "the stored address is not a URL",
    })?;
    let store = shared
        .storefront
        .store(&url)?
        .in_country(coalescer.country.as_deref())?;
    Ok(store.with_priority(Priority::Interactive).with_deadline(deadline))
}

/// Sends one query to the store. The query includes all products that wait when the rate limit allows it.
async fn turn(coalescer: &Arc<StoreCoalescer>, shared: &CoalescerContext, store: &Store) {
    match coalescer.next_turn(shared.config.way) {
        None => {}
        Some(Turn::Graphql) => query(coalescer, shared, store).await,
        Some(Turn::Js) => {
            for stored in &coalescer.choose(Turn::Js) {
                let as_of = shared.clock.now();
                let Some(brand) = coalescer.brand_of(stored.platform_id) else {
                    continue;
                };
                let told = by_js(store, coalescer, &brand, stored).await;
                if told.as_ref().is_ok_and(|told| told.gone.is_empty()) && coalescer.was_missing(stored.platform_id) {
                    // The store's website sells products that its GraphQL API does not show.
                    coalescer.pause_graphql(Duration::from_secs(shared.config.graphql_retry_s));
                }
                let outcome = told.map(|told| Answer::new(told, as_of, stored.currency));
                answer(coalescer, shared, stored, &outcome);
            }
        }
    }
}

async fn query(coalescer: &Arc<StoreCoalescer>, shared: &CoalescerContext, store: &Store) {
    let ((products, as_of), queried) = by_graphql(store, coalescer, &shared.clock).await;
    metrics::histogram!("live_products_per_query").record(products.len() as f64);
    match queried {
        QueryOutcome::Products(found) => {
            if !found.is_empty() {
                coalescer.accept_graphql();
            }
            for (stored, found) in products.iter().zip(found) {
                match found {
                    Ok(ProductNodes::Told(told)) => {
                        let told = Answer::new(told, as_of, stored.currency);
                        answer(coalescer, shared, stored, &Ok(told));
                    }
                    Ok(ProductNodes::Missing) => coalescer.put_back_missing(stored.platform_id),
                    Err(nonsense) => answer(coalescer, shared, stored, &Err(nonsense.into())),
                }
            }
        }
        QueryOutcome::TooComplex => {
            let variants = products.iter().map(|product| product.variants.len()).sum::<usize>();
            let variants = variants.min(coalescer.variants_max());
            if coalescer.shrink(variants) {
                coalescer.put_back();
            } else {
                let why = Unverified::new(
                    UnverifiedCode::StoreUnavailable,
                    "the store rejects every query as too complex",
                );
                coalescer.fail_all(&why);
            }
        }
        QueryOutcome::Refused if shared.config.way == crate::config::Way::Auto => {
            coalescer.refuse_graphql(Duration::from_secs(shared.config.graphql_retry_s));
            coalescer.put_back();
        }
        QueryOutcome::Refused => {
            let why = Unverified::new(UnverifiedCode::StoreUnavailable, "the store refuses GraphQL requests");
            coalescer.fail_all(&why);
        }
        // The query was not sent in time. The other waiting requests would have the same problem.
        QueryOutcome::Failed(why) if products.is_empty() => coalescer.fail_all(&why),
        QueryOutcome::Failed(why) => {
            let outcome = Err(why);
            for stored in &products {
                answer(coalescer, shared, stored, &outcome);
            }
        }
    }
}

/// Sends the outcome to the waiting requests, and records the observation with the time of the query.
fn answer(coalescer: &StoreCoalescer, shared: &CoalescerContext, stored: &StoredProduct, outcome: &Outcome) {
    let brand = coalescer.tell(stored.platform_id, outcome, &shared.config);
    if let (Ok(answer), Some(brand)) = (outcome, brand) {
        let observation = judge::observation(stored, &brand, &answer.told, answer.as_of);
        if shared.seen.is_news(stored.id, &observation) {
            shared.observer.observe(observation);
        }
    }
}
