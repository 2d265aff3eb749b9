use std::sync::Arc;

use api::{JsonObject, MembersReader, Problem, Rule};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;
use state::{LinkToken, LinkUse, SignInMethod};

use crate::answer::{data, state_problem, with_cookie};
use crate::doors::Sender;
use crate::own_page::OwnPage;
use crate::{Inner, cookies};

/// Maximum length of a text that is parsed as a link token. Real tokens are shorter.
const TOKEN_CHARS_MAX: usize = 128;

/// Handles `POST /dashboard/api/link`: signs in with a link from the operator or from a mail. A link works once.
pub(super) async fn sign_in(
    State(inner): State<Arc<Inner>>,
    _own: OwnPage,
    from: Sender,
    headers: HeaderMap,
    body: JsonObject,
) -> Result<Response, Problem> {
    let token = token(&body)?;
    from.may(&inner.doors.wrong_links, inner.now())?;
    let before = cookies::session(&headers).map(|token| token.hash());
    let session = inner.new_session(SignInMethod::Link, client(&headers), before);
    let used = inner.state.use_sign_in_link(&token.hash(), session, inner.now()).await;
    match used.map_err(|error| state_problem(&error))? {
        LinkUse::SignedIn(session) => {
            counted("signed_in");
            let cookie = cookies::set_session(&session.token, inner.session_limits.total_ms / 1000);
            let told = data(StatusCode::OK, json!({ "signed_in": true }));
            Ok(with_cookie(told, cookie))
        }
        LinkUse::Refused(why) => {
            from.tried(&inner.doors.wrong_links, inner.now());
            counted(why.as_str());
            let detail = "The link is not valid. A link works only once, and only for a short time.";
            let problem = Problem::new(ErrorCode::Forbidden).detail(detail);
            Err(problem.member("why", why.as_str()))
        }
    }
}

fn token(body: &JsonObject) -> Result<LinkToken, Problem> {
    let mut reader = MembersReader::new(body);
    let text = reader.required("token").text(TOKEN_CHARS_MAX);
    let token = text.and_then(|text| text.parse::<LinkToken>().ok());
    if token.is_none() && !reader.refused("token") {
        reader.refuse("token", &Rule::Value("not the token of a sign-in link"), None);
    }
    let token = reader.finish(token)?;
    // The error cannot happen, because a missing token is already a fault.
    token.ok_or_else(|| Problem::new(ErrorCode::Internal))
}

pub(super) fn client(headers: &HeaderMap) -> String {
    let told = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    told.unwrap_or_default().to_owned()
}

fn counted(outcome: &'static str) {
    metrics::counter!("dashboard_sign_ins_total", "method" => "link", "outcome" => outcome).increment(1);
}
