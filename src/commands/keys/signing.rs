use anyhow::Context as _;
use serde_json::json;

use crate::exit::Outcome;
use crate::live::{self, SealedState};
use crate::wiring::Context;

pub(super) async fn rotate(context: &Context) -> anyhow::Result<Outcome> {
    let SealedState { state, keys } = live::kept(context).await?;
    let config = &context.config.live_gateway.carts;
    let rotated = live_gateway::rotate_signing_key(&state, &keys, config, context.clock.now()).await;
    state.close().await;
    let rotated = rotated.context("signing keys")?;
    let told: Vec<_> = rotated
        .iter()
        .map(|key| json!({ "kid": key.id, "signs_from": key.signs_from, "ends_at": key.ends_at }))
        .collect();
    context.output.print(&json!({ "keys": told }), |out| {
        for key in &rotated {
            match key.ends_at {
                Some(end) => writeln!(out, "{}: verifies until {end}", key.id)?,
                None => writeln!(out, "{}: signs from {} on", key.id, key.signs_from)?,
            }
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
