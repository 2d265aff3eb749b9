use api::{Caller, JsonObject, MembersReader, PathParameters, Problem, Rule, Via};
use axum::response::Response;
use data_model::{ErrorCode, Secret};
use serde_json::json;

use super::carts::asking::RequestContext;
use super::carts::body::{brand, email};
use super::described::{Once, OnceErrors};
use crate::accounts::schema::{Account, AccountBody};
use crate::accounts::{AccountAction, AccountRequest};
use crate::schema::carts::CartAnswerDocument;

const PASSWORD_CHARS_MAX: usize = 1_000;

/// Registers with a brand's store, or logs in there.
///
/// The password goes to the brand's store and is kept nowhere. The store's token is kept sealed, for this caller and this
/// brand alone; the caller's carts at that store are the customer's from then on. Where the store lets nobody in, the
/// problem is `store_rejected`, and `reason` says why as far as the store does: `wrong_credentials` (or no such account, or
/// one that is shut: stores do not tell), `email_taken`, `disabled`, `invalid`, `no_passwords`
/// (customers sign in on a page of the store's own), `no_token` (its page shows none). A store that takes no more tries for
/// now is `store_throttled` with the reason `throttled`; one that does not take its token, `store_unavailable` with
/// `no_token`; one that may have made the account and did not say so has the reason `unknown`. In a quarter of an hour an address has ten tries, a caller 60 and a
/// brand 600, of which a log-in that succeeds is none; beyond them no store is asked, and the answer is 429.
#[utoipa::path(
    post,
    path = "/v1/account/{action}",
    operation_id = "account_action",
    tag = "Account",
    params(Once, ("action" = String, Path, description = "`register` or `login`.", pattern = "^(register|login)$")),
    request_body(content = AccountBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The caller is signed in.", body = CartAnswerDocument<Account>, headers(("X-Request-Id" = String))),
        (status = 404, description = "No such brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        (status = 502, description = "The store does not answer, or takes no more tries for now.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        (status = 504, description = "The store took too long, or it is not known if it was done (`outcome_unknown`).", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        OnceErrors,
    )
)]
pub(crate) async fn account_action(
    caller: Caller,
    asking: RequestContext,
    mut path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    // A guest's things are forgotten, and an account at a store would not be.
    if caller
        .known()
        .is_some_and(|known| matches!(known.via, Via::Guest { .. }))
    {
        let detail = "Sign in first: a guest has no accounts at stores.";
        return Err(Problem::new(ErrorCode::MissingCredentials).detail(detail));
    }
    let given = path.text("action").unwrap_or_default().to_owned();
    let action = match given.as_str() {
        "register" => Some(AccountAction::Register),
        "login" => Some(AccountAction::LogIn),
        _ => None,
    };
    if action.is_none() {
        path.refuse("action", &Rule::Enum(vec!["register", "login"]), &given);
    }
    let mut reader = MembersReader::new(&body);
    let email = reader.required("email").parsed(email);
    let password = reader.required("password").parsed(password);
    let brand = reader.required("brand").parsed(brand);
    let read = email.zip(password).zip(brand).zip(action);
    let read = reader.finish_with(path, read)?;
    let (((email, password), brand), action) = read.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let content = json!({ "action": given, "body": body.0 });
    let request = AccountRequest {
        action,
        email,
        password,
        brand,
    };
    asking
        .once("account_action", content, |checkouts, begin| async move {
            let accounts = &checkouts.carts.accounts;
            accounts.sign_in(&begin.asked, &request, begin.is_again).await
        })
        .await
}

fn password(text: &str) -> Result<Secret, Rule> {
    match text.chars().count() {
        0 => Err(Rule::StringTooShort(1)),
        1..=PASSWORD_CHARS_MAX => Ok(Secret::new(text)),
        _ => Err(Rule::StringTooLong(PASSWORD_CHARS_MAX)),
    }
}
