//! Parses a store's responses about customers. The module is pure (no I/O, no clock).

use data_model::Timestamp;
use serde::Deserialize;
use storefront::{GraphqlAnswer, GraphqlErrorKind};

use crate::hidden::SecretText;

/// Reasons why a store refuses to sign a customer in, as far as the store states them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SignInRefusal {
    /// The e-mail address already has an account.
    Taken,
    /// The account does not exist, the password is wrong, or the account is disabled. Stores do not distinguish these
    /// cases.
    Unidentified,
    /// The account has no password yet, or must be confirmed first. The store has sent an e-mail about it.
    Unconfirmed,
    /// The store rejects the address or the password. The text is the store's message, without the password.
    Invalid(String),
    /// The store received too many attempts.
    Throttled,
    /// The store rejects the token of the Storefront API, or the token lacks a permission.
    Token,
    /// The response has none of the expected forms.
    Unreadable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CustomerToken {
    pub(super) token: SecretText,
    pub(super) expires_at: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    #[serde(default)]
    customer: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    customer_access_token: Option<Token>,
    #[serde(default)]
    customer_user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    access_token: String,
    expires_at: Timestamp,
}

impl Token {
    fn given(self) -> CustomerToken {
        CustomerToken {
            token: SecretText::new(self.access_token),
            expires_at: self.expires_at,
        }
    }
}

#[derive(Deserialize)]
struct UserError {
    #[serde(default)]
    code: Option<String>,
    message: String,
}

fn payload(answer: &GraphqlAnswer, field: &str) -> Result<Payload, SignInRefusal> {
    let refused = || {
        // Stores report a customer rate limit with an error code, as an error of the call, or only in the message.
        let has_words = answer
            .errors
            .iter()
            .any(|error| error.message.contains("imit exceeded"));
        match answer.error_kind() {
            _ if has_words => SignInRefusal::Throttled,
            GraphqlErrorKind::Access | GraphqlErrorKind::Closed => SignInRefusal::Token,
            GraphqlErrorKind::Size | GraphqlErrorKind::Call => {
                SignInRefusal::Invalid("the store refuses the call".to_owned())
            }
            GraphqlErrorKind::Failure => SignInRefusal::Unreadable,
        }
    };
    let data = answer.data.as_ref().ok_or_else(refused)?;
    let mut data: std::collections::HashMap<String, Option<Payload>> =
        serde_json::from_str(data.get()).map_err(|_| SignInRefusal::Unreadable)?;
    data.remove(field).flatten().ok_or_else(refused)
}

fn denied(errors: Vec<UserError>) -> Option<SignInRefusal> {
    let error = errors.into_iter().next()?;
    Some(match error.code.as_deref() {
        Some("TAKEN") => SignInRefusal::Taken,
        Some("UNIDENTIFIED_CUSTOMER" | "NOT_FOUND") => SignInRefusal::Unidentified,
        Some("CUSTOMER_DISABLED") => SignInRefusal::Unconfirmed,
        _ => SignInRefusal::Invalid(crate::rules::store_cart::words(&error.message)),
    })
}

pub(super) fn created(answer: &GraphqlAnswer) -> Result<(), SignInRefusal> {
    let payload = payload(answer, "customerCreate")?;
    match denied(payload.customer_user_errors) {
        Some(denied) => Err(denied),
        None if payload.customer.is_some() => Ok(()),
        None => Err(SignInRefusal::Unreadable),
    }
}

/// Returns the page on which the store's customers sign in without a password, if the store has one.
pub(super) fn account_page(answer: &GraphqlAnswer) -> Option<String> {
    #[derive(Deserialize)]
    struct Data {
        shop: Shop,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shop {
        customer_account_url: Option<String>,
    }
    let data: Data = serde_json::from_str(answer.data.as_ref()?.get()).ok()?;
    let page = url::Url::parse(&data.shop.customer_account_url?).ok()?;
    matches!(page.scheme(), "https" | "http").then(|| page.to_string())
}

/// Returns the renewed token, which may differ from the old token.
pub(super) fn renewed(answer: &GraphqlAnswer) -> Result<CustomerToken, SignInRefusal> {
    let token = payload(answer, "customerAccessTokenRenew")?.customer_access_token;
    token.map(Token::given).ok_or(SignInRefusal::Unidentified)
}

pub(super) fn signed_in(answer: &GraphqlAnswer) -> Result<CustomerToken, SignInRefusal> {
    let payload = payload(answer, "customerAccessTokenCreate")?;
    if let Some(denied) = denied(payload.customer_user_errors) {
        return Err(denied);
    }
    let token = payload.customer_access_token;
    token.map(Token::given).ok_or(SignInRefusal::Unidentified)
}
