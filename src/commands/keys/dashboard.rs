use serde_json::json;
use state::{KeyName, LOCAL_ISSUER, State};

use super::operator;
use crate::exit::usage;
use crate::running;
use crate::wiring::Context;

/// Runs `haat keys dashboard`: prints a link that signs `name` in to the dashboard once.
pub(super) async fn run(context: &Context, state: &State, name: &KeyName) -> anyhow::Result<()> {
    let (public_url, is_served) = address(context).await?;
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
        writeln!(out, "It signs {name} in once, until {ends_at}: do not share it.")?;
        if !is_served {
            writeln!(out, "No server is running on this home: start one with `haat up`.")?;
        }
        Ok(())
    })
}

/// Returns the URL of the dashboard, and true if a dashboard is known to be there. The URL is `public_url`, else that
/// of the server that runs on this home, else the configured listen address.
async fn address(context: &Context) -> anyhow::Result<(String, bool)> {
    let listen = context.config.query_server.listen.address().await?;
    let configured = crate::access::public_url(context, listen);
    if !context.config.public_url.is_empty() {
        return Ok((configured, true));
    }
    let running = running::newest(&context.storage()?);
    let is_served = running.is_some();
    Ok((running.unwrap_or(configured), is_served))
}
