//! Checks of store links that somebody is about to open. The content of the pages is not read.

use std::sync::atomic::AtomicBool;

use async_recursion::async_recursion as boxed;
use url::Url;

use crate::answer;
use crate::call::until;
use crate::error::{RedirectFault, StoreError};
use crate::exchange::Ask;
use crate::host::Hop;
use crate::hosts::authority;
use crate::page::Accept;
use crate::store::Store;
use crate::terms::{Effect, Terms};

/// Hosts on which Shopify serves checkouts of stores.
const PLATFORM_HOSTS: [&str; 2] = ["checkout.shopify.com", "shop.app"];
/// Domain of stores' permanent hosts. Each host below it redirects visitors to the domain that the store chose.
const PERMANENT_DOMAIN: &str = ".myshopify.com";

fn is_platform(url: &Url) -> bool {
    url.host_str().is_some_and(|host| PLATFORM_HOSTS.contains(&host))
}

impl Store {
    /// Returns the same path and query at the store's base URL, if a link leads to a host that is not known to belong
    /// to the store, or names a user.
    #[must_use]
    pub fn at_home(&self, link: &Url) -> Option<Url> {
        if link.username().is_empty() && (is_platform(link) || self.is_own(link)) {
            return None;
        }
        let mut home = self.base_url().clone();
        home.set_path(link.path());
        home.set_query(link.query());
        Some(home)
    }

    /// Checks the target of a link of the store with one HEAD request. Follows redirects among the store's own hosts
    /// and waits for a turn at each host. A store creates such a link for one buyer, so that `robots.txt`, which is for
    /// crawls, does not apply. Shopify's own hosts are trusted without a request.
    ///
    /// # Errors
    /// [`StoreError::Redirect`] if the link is on, or leads to, a host that does not belong to the store. Any other
    /// [`StoreError`] if the link leads to no page.
    #[boxed]
    pub async fn look(&self, link: &Url) -> Result<(), StoreError> {
        let terms = self.terms(Effect::Safe);
        until(terms.deadline, Box::pin(self.look_along(link, terms))).await
    }

    async fn look_along(&self, link: &Url, terms: Terms) -> Result<(), StoreError> {
        let exchange = &self.exchange;
        let headers = exchange.headers(Accept::Html, self.country.as_deref(), None);
        let ask = Ask {
            terms,
            headers: &headers,
            limits: exchange.page_limits(terms.priority),
            post: None,
            is_head: true,
            is_look: true,
            is_graphql: false,
            is_unanswered: &AtomicBool::new(false),
        };
        let astray = |to: Option<&Url>, fault| StoreError::Redirect {
            host: authority(link),
            to: to.map(authority),
            fault,
        };
        let mut url = exchange.checked(link.clone())?;
        for _ in 0..=exchange.config.redirects_max {
            if is_platform(&url) {
                return Ok(());
            }
            if !self.is_own(&url) {
                return Err(astray(Some(&url), RedirectFault::Foreign));
            }
            let host = exchange.hosts.of(&url, &exchange.config);
            let mut answer = exchange.hop(Hop::to(&host), &url, ask).await?;
            // Some servers support a page only with GET, not with HEAD.
            if ask.is_head && matches!(answer.status.as_u16(), 404 | 405 | 501) {
                let ask = Ask { is_head: false, ..ask };
                answer = exchange.hop(Hop::to(&host), &url, ask).await?;
            }
            let next = match answer::redirect(&answer, &url) {
                None => return answer::judge(&answer, Accept::Html, false),
                Some(next) => next.map_err(|fault| astray(None, fault))?,
            };
            if let Some(wall) = answer::wall(&next, answer.status) {
                return Err(wall);
            }
            let is_permanent = url.host_str().is_some_and(|host| host.ends_with(PERMANENT_DOMAIN));
            url = exchange.follow(&url, next)?;
            if is_permanent && !self.is_own(&url) {
                return Ok(());
            }
        }
        Err(astray(Some(&url), RedirectFault::TooMany))
    }
}
