//! Hosts that a store has moved to. A host belongs to the store if the store's own address redirects `/meta.json` there
//! and the page there states a host of the store as its permanent one. Crawls recognise a store by the same rule.

use data_model::read_store_json;
use serde::Deserialize;
use tokio::time::Instant;

use crate::call::MOVED_TTL;
use crate::hosts::authority;
use crate::page::FetchOutcome;
use crate::store::{Store, place};

#[derive(Deserialize)]
struct MetaPage {
    myshopify_domain: String,
}

impl Store {
    pub(crate) fn home(&self) -> Option<String> {
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        let home = host.state().home.clone();
        let home = home.filter(|(_, since)| since.elapsed() < MOVED_TTL);
        home.map(|(home, _)| home)
    }

    /// Checks in `/meta.json` if the store has moved to this host (with its port), and remembers a move.
    pub(crate) async fn is_home(&self, to: &str) -> bool {
        let Ok(FetchOutcome::Body(page)) = self.meta().await else {
            return false;
        };
        let stated = read_store_json::<MetaPage>(&page.bytes);
        let is_home = authority(&page.url) == to
            && stated.is_ok_and(|stated| self.is_named(&stated.myshopify_domain.to_ascii_lowercase()));
        if is_home {
            let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
            host.state().home = Some((place(&page.url), Instant::now()));
        }
        is_home
    }
}
