use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_model::{Secret, StoreHost, StoredBrand};
use state::{MasterKeyError, MasterKeys, Purpose};
use storefront::{Accept, FetchOutcome, StoreError};
use tokio::time::Instant;

use super::Accounts;
use crate::cart_failure::CartFailure;

const STOREFRONT_TOKEN: Purpose = Purpose::new("storefront-token");
/// Time for which a token found on a store's page is reused.
const FOUND_TTL: Duration = Duration::from_secs(3_600);
const FOUND_MAX: usize = 10_000;
/// JSON key of the token in a theme's pages (platform: `shopify-features`).
const MEMBER: &str = "\"accessToken\":\"";

#[derive(Debug, Default)]
pub(super) struct FoundTokens(Mutex<HashMap<StoreHost, (Secret, Instant)>>);

/// Seals the token of a store's Storefront API in the form that `State::put_storefront_token` saves.
///
/// # Errors
/// Returns a [`MasterKeyError`].
pub fn seal_storefront_token(keys: &MasterKeys, store: &StoreHost, token: &Secret) -> Result<Vec<u8>, MasterKeyError> {
    keys.seal(STOREFRONT_TOKEN, store.as_str(), token.expose().as_bytes())
}

impl Accounts {
    /// Returns the token of a store's Storefront API: the operator's own, or else the public one on every page of the
    /// store's theme.
    pub(super) async fn storefront_token(
        &self,
        brand: &StoredBrand,
        caller: &str,
        deadline: Instant,
    ) -> Result<Option<Secret>, CartFailure> {
        if let Some(sealed) = self.context.state.storefront_token(&brand.store).await? {
            let plain = self
                .context
                .keys
                .open(STOREFRONT_TOKEN, brand.store.as_str(), &sealed)?;
            let text = String::from_utf8(plain).map_err(|_| state::OpenError::Form)?;
            return Ok(Some(Secret::new(text)));
        }
        if let Some(token) = self.tokens.get(&brand.store) {
            return Ok(Some(token));
        }
        // The page may be missing only now, so a later request reads it again.
        let unread = |error: StoreError| {
            tracing::debug!(
                %error,
                brand.store = %brand.store,
                "the page with the store's Storefront API token cannot be read"
            );
            CartFailure::of_store(&error)
        };
        let store = self.context.store(brand, caller, deadline).map_err(unread)?;
        let token = match Box::pin(store.get("/", Accept::Html)).await.map_err(unread)? {
            FetchOutcome::Body(page) => shown(&String::from_utf8_lossy(&page.bytes)),
            FetchOutcome::NotModified => None,
        };
        if let Some(token) = &token {
            self.tokens.put(&brand.store, token);
        }
        Ok(token)
    }
}

impl FoundTokens {
    fn get(&self, store: &StoreHost) -> Option<Secret> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (token, at) = found.get(store)?;
        (at.elapsed() < FOUND_TTL).then(|| token.clone())
    }

    fn put(&self, store: &StoreHost, token: &Secret) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= FOUND_MAX {
            found.retain(|_, (_, at)| at.elapsed() < FOUND_TTL);
        }
        if found.len() < FOUND_MAX {
            found.insert(store.clone(), (token.clone(), Instant::now()));
        }
    }

    /// Forgets a token that the store rejects. Returns true if a token was known.
    pub(super) fn forget(&self, store: &StoreHost) -> bool {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.remove(store).is_some()
    }
}

/// Returns the token in a page, which has 32 hexadecimal digits.
fn shown(page: &str) -> Option<Secret> {
    let (_, rest) = page.split_once(MEMBER)?;
    let (token, _) = rest.split_once('"')?;
    let fits = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| Secret::new(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_its_token_in_its_features_and_nothing_else_is_taken_for_one() {
        let token = "0123456789abcdef0123456789abcdef";
        let page = format!(
            r#"<script id="shopify-features" type="application/json">{{"accessToken":"{token}","x":1}}</script>"#
        );
        assert_eq!(shown(&page).unwrap().expose(), token);
        for page in [
            "",
            r#""accessToken":""#,
            r#""accessToken":"short""#,
            r#""accessToken":"0123456789abcdef0123456789abcde!""#,
        ] {
            assert!(shown(page).is_none(), "{page}");
        }
    }
}
