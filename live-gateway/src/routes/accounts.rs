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

/// Registers a customer with a brand's store, or logs a customer in there.
///
/// The password is sent to the brand's store and is not stored. The store's token is stored sealed, for this caller and
/// this brand only. From then on, the caller's carts at that store belong to the customer. If the store refuses, the
/// problem is `store_rejected`. The problem's `reason` is as precise as the store's response: `wrong_credentials` (also
/// for a missing or disabled account, because stores do not distinguish these), `email_taken`, `disabled`, `invalid`,
/// `no_passwords` (customers sign in on the store's own page) or `no_token` (the store's page shows no token). A store
/// that temporarily accepts no more attempts gives `store_throttled` with the reason `throttled`. A store that rejects
/// its token gives `store_unavailable` with `no_token`. If the store may have created the account without confirming
/// it, the reason is `unknown`. Within 15 minutes, ten attempts are allowed for an address, 60 for a caller and 600 for
/// a brand. Successful log-ins do not count. Beyond these limits no store is queried, and the response is 429.
#[utoipa::path(
    post,
    path = "/v1/account/{action}",
    operation_id = "account_action",
    tag = "Account",
    params(Once, ("action" = String, Path, description = "`register` or `login`.", pattern = "^(register|login)$")),
    request_body(content = AccountBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The caller is signed in.",
            body = CartAnswerDocument<Account>, headers(("X-Request-Id" = String))),
        (status = 404, description = "No such brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        (status = 502, description = "The store does not answer, or accepts no further attempts for now.",
            body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        (status = 504, description = "The store took too long, or the outcome is unknown (`outcome_unknown`).",
            body = api::ProblemDocument,
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
    // A guest account is deleted after a while, but the account at the store would remain.
    if caller
        .known()
        .is_some_and(|known| matches!(known.via, Via::Guest { .. }))
    {
        let detail = "A guest has no accounts at stores: sign in first.";
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
