//! Checks that the responding store is the registered one. A domain that was sold, expired or misconfigured may lead to
//! another shop, whose catalogue must never become this brand's.

use data_model::StoreHost;
use url::Url;

use crate::registry::{PLATFORM_DOMAIN, StoreIdentity, domain_of};
use crate::{CrawlError, RegisteredBrand, StoreCrawl, StoreFacts};

#[derive(Debug, Clone)]
pub(super) struct Identity {
    registered: String,
    hosts: Vec<String>,
    /// Shopify redirects visitors of a permanent host to the domain that the store chose.
    leads_home: bool,
}

impl Identity {
    /// Compares the store's stated identity and responding address with the registration and the last crawl. A brand
    /// registered without a permanent host gets the permanent host that its store states later. A store whose host was
    /// renamed is identified by its id.
    pub(super) fn established(
        brand: &RegisteredBrand,
        known: Option<&StoreCrawl>,
        facts: &StoreFacts,
        answered_at: Option<&Url>,
    ) -> Result<Self, CrawlError> {
        let registered = brand.identity();
        let before = known.map(|known| known.facts.identity()).unwrap_or_default();
        let expected = StoreIdentity {
            host: registered.host.or(before.host),
            shop_id: registered.shop_id.or(before.shop_id),
        };
        let base = host_of(&brand.base_url);
        let leads_home = leads_home(&base, answered_at);
        let answered_at = answered_at.map(host_of);
        let another = |found: &str| CrawlError::AnotherStore {
            registered: expected.host.as_ref().unwrap_or(&brand.store).to_string(),
            found: found.to_owned(),
        };
        match (expected.is_same(&facts.identity()), &answered_at) {
            (Some(false), _) => {
                let stated = facts.permanent_host.as_ref().map(StoreHost::as_str);
                return Err(another(stated.or(answered_at.as_deref()).unwrap_or(&base)));
            }
            // A store that responds at another address must state its identity.
            (None, Some(elsewhere)) if *elsewhere != base && expected.host.is_some() => return Err(another(elsewhere)),
            _ => {}
        }
        let hosts = [Some(base), answered_at].into_iter().flatten().collect();
        Ok(Self {
            registered: brand.domain.clone(),
            hosts,
            leads_home,
        })
    }

    /// A page must come from the store's address or from that of its self-description.
    pub(super) fn check(&self, page: &Url) -> Result<(), CrawlError> {
        let host = host_of(page);
        if self.leads_home || self.hosts.contains(&host) {
            return Ok(());
        }
        Err(CrawlError::AnotherStore {
            registered: self.registered.clone(),
            found: host,
        })
    }
}

fn leads_home(base: &str, answered_at: Option<&Url>) -> bool {
    answered_at.is_none() && base.ends_with(PLATFORM_DOMAIN)
}

/// Returns the address of `page` if a crawl would reject it as a page of the store at `base`. `described_at` is the
/// address of the store's self-description.
pub(crate) fn stray(base: &Url, described_at: Option<&Url>, page: &Url) -> Option<Url> {
    let (home, host) = (host_of(base), host_of(page));
    let is_known = host == home || described_at.map(host_of).as_ref() == Some(&host);
    if is_known || leads_home(&home, described_at) {
        return None;
    }
    let mut elsewhere = page.clone();
    elsewhere.set_path("/");
    elsewhere.set_query(None);
    Some(elsewhere)
}

/// Stores are not distinguished by `www` or the scheme.
fn host_of(url: &Url) -> String {
    let domain = domain_of(url).unwrap_or_default().to_ascii_lowercase();
    let domain = domain.trim_end_matches('.');
    domain.strip_prefix("www.").unwrap_or(domain).to_owned()
}
