use std::fmt;

use data_model::{Classify, ErrorCode, Secret, StoredBrand};
use serde_json::json;
use storefront::{Effect, GraphqlRequest, Store, StoreError, documents};

use super::Accounts;
use super::answer::{CustomerToken, SignInRefusal, account_page, created, signed_in};
use super::customers::Customer;
use super::schema::Account;
use super::tries::actor;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::hidden::SecretText;
use crate::schema::carts::CartAnswerDocument;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountAction {
    Register,
    LogIn,
}

impl AccountAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::LogIn => "login",
        }
    }
}

#[derive(Clone)]
pub(crate) struct AccountRequest {
    pub(crate) action: AccountAction,
    pub(crate) email: String,
    pub(crate) password: Secret,
    /// Brand, by slug or domain.
    pub(crate) brand: String,
}

impl fmt::Debug for AccountRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccountRequest(at {})", self.brand)
    }
}

/// Reasons why the customer was not signed in.
#[derive(Debug)]
pub(super) enum SignInError {
    Denied(SignInRefusal),
    Store(StoreError),
}

impl SignInError {
    pub(super) fn is_of_token(&self) -> bool {
        matches!(self, Self::Denied(SignInRefusal::Token))
    }
}

impl From<StoreError> for SignInError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Status { status: 401 | 403 } => Self::Denied(SignInRefusal::Token),
            StoreError::Throttled { .. } => Self::Denied(SignInRefusal::Throttled),
            error => Self::Store(error),
        }
    }
}

impl From<SignInRefusal> for SignInError {
    fn from(denied: SignInRefusal) -> Self {
        Self::Denied(denied)
    }
}

impl Accounts {
    /// Registers or logs a customer in at a brand's store. `is_again` is true if the same request was made before and
    /// its outcome is unknown.
    pub(crate) async fn sign_in(
        &self,
        asked: &CallerContext,
        request: &AccountRequest,
        is_again: bool,
    ) -> Result<CartAnswerDocument<Account>, CartFailure> {
        let brand = self.context.catalogue.brand(&request.brand).await?;
        let brand = brand.ok_or(CartFailure::NoSuchBrand)?;
        self.take_try(&asked.caller, &brand, request).await?;
        let (mut store, mut given) = self.ask(asked, &brand, request, is_again).await?;
        // A store with a new token shows the token on its pages, so the page is read once more.
        if given.as_ref().is_err_and(SignInError::is_of_token) && self.tokens.forget(&brand.store) {
            (store, given) = self.ask(asked, &brand, request, is_again).await?;
        }
        let is_unknown = matches!(
            &given,
            Err(SignInError::Denied(
                SignInRefusal::Unidentified | SignInRefusal::Unconfirmed
            ))
        );
        if is_unknown && let Some(page) = page(&store).await {
            let detail = format!("Customers of this store have no passwords. They sign in at {page}.");
            return Err(rejected("no_passwords", &detail));
        }
        let given = given.map_err(|failed| self.why_not(&brand, request.action, failed))?;
        if request.action == AccountAction::LogIn {
            let store = brand.store.as_str();
            self.tries.give_back(&asked.caller, store, &request.email);
        }
        let customer = Customer {
            email: SecretText::new(&request.email),
            token: given.token,
        };
        self.keep_customer(&asked.caller, &brand.store, &customer, given.expires_at)
            .await?;
        let account = Account {
            brand_slug: brand.slug.to_string(),
            email: request.email.clone(),
            status: match request.action {
                AccountAction::Register => "registered",
                AccountAction::LogIn => "logged_in",
            },
            expires_at: given.expires_at,
        };
        Ok(CartAnswerDocument::new(account, self.context.clock.now()))
    }

    /// Sends the request to the store with the known Storefront token. Also returns the store.
    async fn ask(
        &self,
        asked: &CallerContext,
        brand: &StoredBrand,
        request: &AccountRequest,
        is_again: bool,
    ) -> Result<(Store, Result<CustomerToken, SignInError>), CartFailure> {
        let (caller, deadline) = (&asked.caller, asked.time.deadline());
        let Some(token) = self.storefront_token(brand, caller, deadline).await? else {
            let detail = "Sign-in needs a token for the store's Storefront API, but the store shows none and the \
                operator has set none.";
            return Err(rejected("no_token", detail));
        };
        let store = self
            .context
            .store(brand, caller, deadline)
            .map_err(|error| CartFailure::of_store(&error))?;
        let store = store.with_token(token);
        let given = match request.action {
            AccountAction::LogIn => log_in(&store, request).await,
            AccountAction::Register => register(&store, request, is_again).await,
        };
        Ok((store, given))
    }

    /// Counts an attempt and writes it to the audit log, because the store learns an address or sends an e-mail.
    async fn take_try(&self, caller: &str, brand: &StoredBrand, request: &AccountRequest) -> Result<(), CartFailure> {
        let (action, now) = (request.action, self.context.clock.now());
        let taken = self.tries.take(caller, brand.store.as_str(), &request.email, now);
        let outcome = if taken.is_ok() { "asked" } else { "refused" };
        metrics::counter!("account_tries_total", "action" => action.as_str(), "outcome" => outcome).increment(1);
        taken.map_err(CartFailure::TooOften)?;
        let detail = json!({ "brand": brand.slug.as_str(), "action": action.as_str() });
        Ok(self
            .context
            .state
            .audit_store_account(&actor(caller), detail, now)
            .await?)
    }

    fn why_not(&self, brand: &StoredBrand, action: AccountAction, failed: SignInError) -> CartFailure {
        let denied = match failed {
            SignInError::Denied(denied) => denied,
            SignInError::Store(error) => {
                tracing::debug!(%error, brand.store = %brand.store, "the sign-in at the store failed");
                return unanswered(action, &error);
            }
        };
        match (denied, action) {
            (SignInRefusal::Taken, _) => rejected("email_taken", "An account with this address exists: log in."),
            (SignInRefusal::Unidentified, AccountAction::LogIn) => rejected(
                "wrong_credentials",
                "The store has no account with this address and password, or the account is disabled. The store does \
                 not say which.",
            ),
            (SignInRefusal::Unidentified, AccountAction::Register) => rejected(
                "no_passwords",
                "The store accepted the registration but does not allow sign-in with a password. Sign in on the \
                 store's own page.",
            ),
            (SignInRefusal::Unconfirmed, _) => rejected(
                "disabled",
                "The account has no password yet or is disabled. The store has sent an e-mail to the address.",
            ),
            (SignInRefusal::Invalid(words), _) => rejected("invalid", &format!("The store says: {words}")),
            (SignInRefusal::Token, _) => {
                // The store may show a different token at the next attempt.
                self.tokens.forget(&brand.store);
                CartFailure::Store {
                    code: ErrorCode::StoreUnavailable,
                    reason: Some("no_token"),
                    detail: "The store does not accept its Storefront API token, which it shows itself or the \
                        operator has set."
                        .to_owned(),
                }
            }
            (SignInRefusal::Throttled, _) => CartFailure::Store {
                code: ErrorCode::StoreThrottled,
                reason: Some("throttled"),
                detail: "The store accepts no further attempts for now.".to_owned(),
            },
            (SignInRefusal::Unreadable, action) => unanswered(action, &StoreError::NotJson { content_type: None }),
        }
    }
}

fn rejected(reason: &'static str, detail: &str) -> CartFailure {
    CartFailure::Store {
        code: ErrorCode::StoreRejected,
        reason: Some(reason),
        detail: detail.to_owned(),
    }
}

/// Returns the failure of a call without a readable response.
fn unanswered(action: AccountAction, error: &StoreError) -> CartFailure {
    match action {
        AccountAction::Register if error.leaves_open() => CartFailure::Store {
            code: error.code(),
            reason: Some("unknown"),
            detail: "The store did not confirm the registration, but may have created the account: repeat the request."
                .to_owned(),
        },
        _ => CartFailure::of_store(error),
    }
}

/// Returns the page on which the store's customers sign in without a password.
async fn page(store: &Store) -> Option<String> {
    let request = GraphqlRequest::new(documents::SHOP_ACCOUNTS, "ShopAccounts", json!({}));
    let answer = Box::pin(store.graphql(&request, Effect::Safe)).await;
    account_page(&answer.ok()?)
}

fn input(request: &AccountRequest) -> serde_json::Value {
    json!({ "input": { "email": request.email, "password": request.password.expose() } })
}

async fn log_in(store: &Store, request: &AccountRequest) -> Result<CustomerToken, SignInError> {
    let operation = "CustomerTokenCreate";
    let call = GraphqlRequest::new(documents::CUSTOMER_TOKEN_CREATE, operation, input(request));
    // A second customer token does no harm. The call is still marked unsafe, because a password is sent only to hosts
    // that are already known as the store's hosts.
    let answer = Box::pin(store.graphql(&call, Effect::Unsafe)).await?;
    Ok(signed_in(&answer)?)
}

async fn register(store: &Store, request: &AccountRequest, is_again: bool) -> Result<CustomerToken, SignInError> {
    if is_again && let Ok(given) = log_in(store, request).await {
        // The account exists because an earlier attempt of the same request created it.
        return Ok(given);
    }
    let call = GraphqlRequest::new(documents::CUSTOMER_CREATE, "CustomerCreate", input(request));
    let lost = match Box::pin(store.graphql(&call, Effect::Unsafe)).await {
        Ok(answer) => match created(&answer) {
            Ok(()) => None,
            Err(SignInRefusal::Unreadable) => Some(SignInError::Denied(SignInRefusal::Unreadable)),
            Err(denied) => return Err(denied.into()),
        },
        Err(error @ StoreError::OutcomeUnknown { .. }) => Some(SignInError::Store(error)),
        Err(error) => return Err(error.into()),
    };
    // If the response was lost, a customer who can log in is registered. If the log-in fails, the outcome stays
    // unknown.
    match (log_in(store, request).await, lost) {
        (Err(_), Some(lost)) => Err(lost),
        (given, _) => given,
    }
}
