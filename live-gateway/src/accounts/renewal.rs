use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_model::{StoreHost, StoredBrand, Timestamp};
use serde_json::json;
use storefront::{Effect, GraphqlRequest, documents};
use tokio::time::Instant;

use super::Accounts;
use super::answer::renewed;
use super::customers::{Customer, SignedIn};
use super::sign_in::SignInError;
use crate::cart_failure::CartFailure;

/// Remaining validity in milliseconds below which a token is renewed when it is used. Stores issue tokens for some
/// weeks.
const LEFT_MS: i64 = 7 * 86_400_000;
/// Time after a renewal attempt, successful or not, before the next attempt for the same token.
const REST: Duration = Duration::from_secs(3_600);
/// Maximum number of remembered renewal attempts. Further renewals wait.
const TRIES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Renewals(Mutex<HashMap<(String, StoreHost), Instant>>);

impl Renewals {
    fn may_try(&self, caller: &str, store: &StoreHost) -> bool {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= TRIES_MAX {
            tries.retain(|_, at| at.elapsed() < REST);
        }
        let place = (caller.to_owned(), store.clone());
        let rests = tries.get(&place).is_some_and(|at| at.elapsed() < REST);
        if rests || tries.len() >= TRIES_MAX {
            return false;
        }
        tries.insert(place, Instant::now());
        true
    }
}

impl Accounts {
    /// Renews a customer's token that expires soon. The renewal runs in the background, so that no request waits.
    pub(crate) fn renew_in_time(&self, caller: &str, brand: &StoredBrand, signed_in: &SignedIn) {
        let ends_soon = self.context.clock.now().plus_millis(LEFT_MS) > signed_in.expires_at;
        if !ends_soon || !self.renewals.may_try(caller, &brand.store) {
            return;
        }
        let (accounts, caller, brand) = (self.clone(), caller.to_owned(), brand.clone());
        let customer = signed_in.customer.clone();
        tokio::spawn(async move {
            let renewal = Box::pin(accounts.renew(&caller, &brand, &customer));
            match renewal.await {
                Ok(Some(_)) => {}
                Ok(None) => tracing::debug!(brand.store = %brand.store, "a customer's token was not renewed"),
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a customer's token was not renewed"
                    );
                }
            }
        });
    }

    /// Returns the end of the renewed token's validity. Returns `None` if the store does not renew the token. The
    /// token's expiry is then unchanged.
    async fn renew(
        &self,
        caller: &str,
        brand: &StoredBrand,
        customer: &Customer,
    ) -> Result<Option<Timestamp>, CartFailure> {
        let deadline = self.context.time().deadline();
        let Some(token) = self.storefront_token(brand, caller, deadline).await? else {
            return Ok(None);
        };
        let Ok(store) = self.context.store(brand, caller, deadline) else {
            return Ok(None);
        };
        let variables = json!({ "customerAccessToken": customer.token.expose() });
        let request = GraphqlRequest::new(documents::CUSTOMER_TOKEN_RENEW, "CustomerTokenRenew", variables);
        // A customer token is sent only to hosts that are already known as the store's hosts.
        let answer = Box::pin(store.with_token(token).graphql(&request, Effect::Unsafe)).await;
        let given = answer.map_err(SignInError::from);
        let given = match given.and_then(|answer| renewed(&answer).map_err(SignInError::from)) {
            Ok(given) => given,
            Err(failed) => {
                if failed.is_of_token() {
                    self.tokens.forget(&brand.store);
                }
                return Ok(None);
            }
        };
        // If the caller signed in or out in the meantime, the renewal does not overwrite the newer state.
        let now = self.customers(caller).await?;
        let is_the_same = |known: &SignedIn| known.customer.token == customer.token;
        if !now.get(&brand.store).is_some_and(is_the_same) {
            return Ok(None);
        }
        let customer = Customer {
            token: given.token,
            ..customer.clone()
        };
        self.keep_customer(caller, &brand.store, &customer, given.expires_at)
            .await?;
        Ok(Some(given.expires_at))
    }
}
