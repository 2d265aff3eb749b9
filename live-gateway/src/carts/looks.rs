//! Checks of checkout links before a buyer gets them. Results are cached for a while, and checks end within the
//! request's time budget.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_model::{ErrorCode, StoredBrand};
use sha2::{Digest, Sha256};
use storefront::{RedirectFault, StoreError};
use tokio::time::Instant;
use url::Url;

use super::Carts;
use crate::hidden::SecretText;
use crate::rules::carts::record::Group;
use crate::schema::carts::CartProblem;

/// Time for which the result of a check is reused.
const BELIEVED: Duration = Duration::from_secs(300);
/// Maximum number of links whose check is remembered.
const LINKS_MAX: usize = 10_000;
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Link that opens a checkout, or the reason why no link does.
type Opening = Result<SecretText, String>;

/// Result of a check with its time.
#[derive(Debug)]
struct Look {
    opening: Opening,
    at: Instant,
}

/// Cached checks of links, by the links' digests.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<HashMap<[u8; 32], Look>>);

impl Looks {
    fn get(&self, link: &SecretText) -> Option<Opening> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let look = known.get(&digest(link))?;
        (look.at.elapsed() < BELIEVED).then(|| look.opening.clone())
    }

    fn put(&self, link: &SecretText, opening: &Opening) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= LINKS_MAX {
            known.retain(|_, look| look.at.elapsed() < BELIEVED);
        }
        if known.len() < LINKS_MAX {
            let look = Look {
                opening: opening.clone(),
                at: Instant::now(),
            };
            known.insert(digest(link), look);
        }
    }
}

fn digest(link: &SecretText) -> [u8; 32] {
    Sha256::digest(link.expose()).into()
}

impl Carts {
    /// Sets the link that opens the checkout of a group: the store's own link, or else the same path at another host of
    /// the store. If no check gives a result, the store's own link is used. Returns a problem if no link opens the
    /// checkout.
    pub(crate) async fn open_link(&self, caller: &str, group: &mut Group, deadline: Instant) -> Option<CartProblem> {
        let opening = match self.looks.get(&group.seen.checkout_url) {
            Some(known) => known,
            None => self.look_at_link(caller, group, deadline).await,
        };
        match opening {
            Ok(link) => {
                group.seen.checkout_url = link;
                None
            }
            Err(why) => {
                let detail = format!("The brand's checkout cannot be opened: {why}.");
                let code = ErrorCode::StoreUnavailable;
                Some(CartProblem::new(Some(&group.brand), None, code, detail).because(Some("checkout_closed")))
            }
        }
    }

    async fn look_at_link(&self, caller: &str, group: &Group, deadline: Instant) -> Opening {
        let (brand, stated) = (&group.brand, &group.seen.checkout_url);
        let Ok(link) = Url::parse(stated.expose()) else {
            return Ok(stated.clone());
        };
        let mut fault = None;
        for link in [link.clone()].into_iter().chain(elsewhere(brand, &link)) {
            let Ok(store) = self
                .context
                .store(brand, caller, deadline.min(Instant::now() + LOOK_MAX))
            else {
                break;
            };
            match store.look(&link).await {
                Ok(()) => {
                    let opening = Ok(if fault.is_none() {
                        stated.clone()
                    } else {
                        SecretText::new(link)
                    });
                    self.looks.put(stated, &opening);
                    return opening;
                }
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        let Some((fault, why)) = fault.and_then(|fault| leads_nowhere(&fault).map(|why| (fault, why))) else {
            return Ok(stated.clone());
        };
        let opening = Err(why.to_owned());
        // The next request checks again what may pass.
        if !fault.is_transient() {
            self.looks.put(stated, &opening);
        }
        opening
    }
}

/// Returns the same link at the store's other hosts: the host of its carts, and its permanent host.
fn elsewhere(brand: &StoredBrand, link: &Url) -> Vec<Url> {
    let permanent = format!("https://{}", brand.store);
    let bases = [brand.base_url.as_str(), permanent.as_str()].into_iter();
    let mut links: Vec<Url> = Vec::new();
    for base in bases.filter_map(|base| Url::parse(base).ok()) {
        let mut other = base;
        other.set_path(link.path());
        other.set_query(link.query());
        if other.origin() != link.origin() && !links.contains(&other) {
            links.push(other);
        }
    }
    links
}

/// Returns the reason why a link opens no checkout, if it is certain. A store that is slow, overloaded or blocks bots
/// may still show the page to a person.
fn leads_nowhere(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::Connect { .. } | StoreError::AddressRefused { .. } | StoreError::Url { .. } => {
            "its address does not answer"
        }
        StoreError::Status { status: 404 | 410 } => "the store does not have the checkout page",
        StoreError::PasswordPage => "the store is behind a password page",
        StoreError::Suspended { .. } => "the store is suspended",
        StoreError::Redirect {
            fault: RedirectFault::Foreign,
            ..
        } => "its host is not known to belong to the brand",
        StoreError::Redirect { .. } => "its redirect leads to no page",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_looked_for_at_the_stores_host_and_at_its_permanent_one() {
        let brand = |base_url: &str| StoredBrand {
            store: "tea.myshopify.com".parse().unwrap(),
            slug: "tea".parse().unwrap(),
            name: "Tea".to_owned(),
            domain: "tea.example".to_owned(),
            base_url: base_url.to_owned(),
            currency: "INR".parse().unwrap(),
            crawl_country: None,
            refreshed_at: "2026-11-21T00:00:00Z".parse().unwrap(),
        };
        let link: Url = "https://pay.tea.example/cart/c/1?key=2".parse().unwrap();
        let found = |base_url: &str, link: &Url| -> Vec<String> {
            elsewhere(&brand(base_url), link).into_iter().map(Into::into).collect()
        };
        let (own, permanent) = (
            "https://tea.example/cart/c/1?key=2".to_owned(),
            "https://tea.myshopify.com/cart/c/1?key=2".to_owned(),
        );
        assert_eq!(found("https://tea.example", &link), [own.clone(), permanent.clone()]);
        assert_eq!(
            found("https://tea.example", &own.parse().unwrap()),
            std::slice::from_ref(&permanent)
        );
        assert_eq!(found("https://tea.myshopify.com", &link), [permanent]);
    }
}
