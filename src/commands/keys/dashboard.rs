use serde_json::json;
use state::{KeyName, LOCAL_ISSUER, State};

use super::operator;
use crate::exit::usage;
use crate::wiring::Context;

/// `haat keys dashboard`: a link that signs `name` in to the dashboard, once.
pub(super) async fn run(context: &Context, state: &State, name: &KeyName) -> anyhow::Result<()> {
    // Where this configuration serves; the same address that its servers take for their own.
    let listen = context.config.query_server.listen.address().await?;
    let public_url = crate::access::public_url(context, listen);
    dashboard::check_public_url(&public_url).map_err(|error| usage(error.into()))?;
    let now = context.clock.now();
    let account = state
        .find_or_create_account(LOCAL_ISSUER, name.as_str(), None, now)
        .await?;
    let lifetime = context.config.dashboard.link_lifetime();
    let token = state
        .create_sign_in_link(&account.id, lifetime, &operator(), now)
        .await?;
    let link = dashboard::link_address(&public_url, &token)?;
    let minutes = context.config.dashboard.link_minutes;
    let ends_at = now.plus_millis(i64::from(minutes) * 60_000);
    let document = json!({ "link": link, "account": name, "ends_at": ends_at });
    context.output.print(&document, |out| {
        writeln!(out, "{link}")?;
        writeln!(out, "It signs {name} in once, until {ends_at}: give it to nobody else.")
    })
}
