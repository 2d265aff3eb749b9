use std::sync::Arc;

use api::{JsonObject, MembersReader, Problem, Rule};
use axum::extract::State;
use axum::response::Response;
use data_model::{ErrorCode, Timestamp};
use http::StatusCode;
use mailer::{Mail, Mailer};
use serde_json::{Value, json};
use state::EmailAddress;

use crate::Inner;
use crate::answer::{data, state_problem};
use crate::config::address_of_link;
use crate::doors::Sender;
use crate::local_path::LocalPath;
use crate::own_page::OwnPage;

/// Handles `POST /dashboard/api/mail`: mails a sign-in link. The response reveals nothing about the address.
pub(super) async fn send(
    State(inner): State<Arc<Inner>>,
    _own: OwnPage,
    from: Sender,
    body: JsonObject,
) -> Result<Response, Problem> {
    let mailer = inner.mailer.as_ref();
    let mailer = mailer.ok_or_else(|| unserved("This server sends no e-mails: dashboard.mail is not set."))?;
    let mut reader = MembersReader::new(&body);
    let email = reader.required("email").parsed(|text| {
        let wrong = Rule::Value("not an e-mail address such as asha@mail.example");
        text.parse::<EmailAddress>().map_err(|_| wrong)
    });
    let return_to = LocalPath::member(&mut reader, "return_to");
    // The error cannot happen, because a missing address is already a fault.
    let to = reader.finish(email)?.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let now = inner.now();
    inner.doors.mail(from, &to, now)?;
    let link = inner.state.create_mailed_link(&to, inner.link_lifetime, now).await;
    let link = link.map_err(|error| state_problem(&error))?;
    let link = address_of_link(&inner.public_url, &link, return_to.as_ref());
    if !mailer.take(written(&inner, to, &link, now)) {
        return Err(Problem::new(ErrorCode::Overloaded).detail("Too many e-mails are waiting to be sent."));
    }
    let told = json!({ "minutes": inner.link_lifetime.as_secs() / 60 });
    Ok(data(StatusCode::ACCEPTED, told))
}

fn written(inner: &Inner, to: EmailAddress, link: &str, made_at: Timestamp) -> Mail {
    let (site, minutes) = (&inner.public_url, inner.link_lifetime.as_secs() / 60);
    Mail {
        id: made_at.micros().to_string(),
        to,
        subject: format!("Sign in at {}", site.host()),
        text: format!(
            "Open this link to sign in at {site}:\n\n{link}\n\nThe link works once, within {minutes} minutes. If you \
             did not request it, ignore this e-mail: without the link nobody can sign in as you.\n"
        ),
        unsubscribe_url: None,
        made_at,
    }
}

/// Builds the error for an operation that the configuration disables.
fn unserved(why: &'static str) -> Problem {
    Problem::new(ErrorCode::RouteNotFound).detail(why)
}

/// Handles `GET /dashboard/api/mails`: the mails of the demo, the newest first. Other servers return an error.
pub(super) async fn list(State(inner): State<Arc<Inner>>, _own: OwnPage) -> Result<Response, Problem> {
    let kept = inner.mailer.as_ref().and_then(Mailer::kept);
    let mails = kept.ok_or_else(|| unserved("This server does not show e-mails."))?;
    let told = mails.iter().map(
        |mail| json!({ "to": mail.to.expose(), "subject": mail.subject, "text": mail.text, "made_at": mail.made_at }),
    );
    Ok(data(StatusCode::OK, told.collect::<Value>()))
}
