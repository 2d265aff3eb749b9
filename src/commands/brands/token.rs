use std::io::Read;

use anyhow::Context as _;
use data_model::{Secret, StoreHost};

use crate::live::{self, SealedState};
use crate::wiring::Context;

/// Maximum length of a token; Shopify's tokens have 32 characters.
const BYTES_MAX: u64 = 256;

/// Reads the token from the command line, or from standard input for `-`.
pub(super) fn read(given: String) -> anyhow::Result<Secret> {
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin()
            .take(BYTES_MAX + 1)
            .read_to_string(&mut text)
            .context("--storefront-token -")?;
        text
    } else {
        given
    };
    let text = text.trim();
    let fits = (1..=BYTES_MAX as usize).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    anyhow::ensure!(
        fits,
        "--storefront-token: this is not a valid token; a token has only ASCII characters without spaces"
    );
    Ok(Secret::new(text))
}

/// Saves a store's token, sealed, for servers that sign customers in there.
pub(super) async fn keep(context: &Context, store: &StoreHost, token: &Secret) -> anyhow::Result<()> {
    let SealedState { state, keys } = live::kept(context).await?;
    let sealed = live_gateway::seal_storefront_token(&keys, store, token).context("state.master_key")?;
    let kept = state.put_storefront_token(store, sealed, context.clock.now()).await;
    state.close().await;
    kept.context("state")
}
