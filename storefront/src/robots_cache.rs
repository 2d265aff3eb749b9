use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::time::Instant;
use url::{Position, Url};

use crate::answer::{self, Answer};
use crate::body::Limits;
use crate::error::StoreError;
use crate::exchange::{Ask, Exchange};
use crate::host::{CachedRobots, Hop, Host};
use crate::page::Accept;
use crate::retry::Failure;
use crate::robots::{self, Robots};
use crate::terms::Terms;

/// Redirects of a `robots.txt` that are followed (RFC 9309, 2.3.1.2).
const REDIRECTS_MAX: u32 = 5;

impl Exchange {
    /// Lets a URL pass if its host's `robots.txt` allows it; fetches that file when there is none or an old one.
    pub(crate) async fn ask_robots(&self, hop: Hop<'_>, url: &Url, terms: Terms) -> Result<(), StoreError> {
        let host = hop.host;
        // A wait for a fetch of the file would be no shorter than one for the store itself.
        host.hold_allows(terms)?;
        let rules = self.robots_of(hop, url, terms).await?;
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let pause_max = Duration::from_millis(self.config.crawl_delay_max_ms);
        let disallowed = match rules.crawl_delay().filter(|pause| *pause > pause_max) {
            Some(pause) => format!("more than a request in {} s", pause.as_secs()),
            None if rules.allows(path) => return Ok(()),
            None => url.path().chars().take(200).collect(),
        };
        Err(StoreError::RobotsDisallowed {
            host: host.name.clone(),
            disallowed,
        })
    }

    pub(crate) async fn robots_of(&self, hop: Hop<'_>, url: &Url, terms: Terms) -> Result<Arc<Robots>, StoreError> {
        let Hop { host, by } = hop;
        let terms = terms.of_robots();
        let mut cached = host.robots.lock().await;
        let now = Instant::now();
        if let Some(known) = cached.as_ref().filter(|known| now < known.expires) {
            return known
                .rules
                .as_ref()
                .map(Arc::clone)
                .ok_or_else(|| unavailable(host, known.expires, now));
        }
        let fetched = self.retrying(by, terms, || self.fetch_robots(by, url, terms)).await;
        let now = Instant::now();
        let old = cached.as_mut().and_then(|known| known.rules.take());
        let (rules, ttl_ms) = match fetched {
            Ok(rules) => (Some(Arc::new(rules)), self.config.robots_ttl_ms),
            Err(error) => {
                // The caller gets the error.
                tracing::info!(host = %host.name, error = %error, "robots.txt cannot be read");
                match (old, error) {
                    // An old copy stands while the file cannot be read (RFC 9309, 2.4).
                    (Some(old), _) => (Some(old), self.config.robots_retry_ms),
                    // A failure for another store says nothing of this one.
                    (None, StoreError::Status { .. }) if host.is(by) => (None, self.config.robots_retry_ms),
                    // The store was not reached, or wants to be asked later: the caller hears why. Nothing to
                    // remember here; the pace and the breaker do.
                    (None, error) => return Err(error),
                }
            }
        };
        if let Some(rules) = &rules {
            host.state().pace.set_crawl_delay(rules.crawl_delay());
        }
        let known = CachedRobots {
            rules,
            expires: now + Duration::from_millis(ttl_ms),
        };
        let answer = known
            .rules
            .as_ref()
            .map(Arc::clone)
            .ok_or_else(|| unavailable(host, known.expires, now));
        *cached = Some(known);
        answer
    }

    /// Fetches and reads the file. A status of 4xx means that there are no rules (RFC 9309, 2.3.1.3), and so do
    /// too many redirects; any other failure is an error.
    async fn fetch_robots(&self, by: &Host, url: &Url, terms: Terms) -> Result<Robots, Failure> {
        let mut target = url.join("/robots.txt").map_err(|_| StoreError::Url {
            reason: "it has no root",
        })?;
        let limits = Limits {
            wire_max: robots::BYTES_MAX as u64 + 1,
            decoded_max: robots::BYTES_MAX as u64 + 1,
            cut: true,
        };
        let headers = self.headers(Accept::Text, None, None);
        let ask = Ask {
            terms,
            headers: &headers,
            limits,
            post: None,
            is_head: false,
            is_look: false,
            is_graphql: false,
            is_unanswered: &AtomicBool::new(false),
        };
        for _ in 0..=REDIRECTS_MAX {
            let host = self.hosts.of(&target, &self.config);
            let answer = self.hop(Hop { host: &host, by }, &target, ask).await?;
            match answer::redirect(&answer, &target) {
                Some(Ok(next)) => target = self.follow(&target, next)?,
                Some(Err(fault)) => {
                    return Err(StoreError::Redirect {
                        host: host.name.clone(),
                        to: None,
                        fault,
                    }
                    .into());
                }
                None => return Ok(self.read_robots(&answer)?),
            }
        }
        Ok(Robots::default())
    }

    fn read_robots(&self, answer: &Answer) -> Result<Robots, StoreError> {
        match answer.status.as_u16() {
            200..=299 => Ok(Robots::parse(&answer.body, self.config.product_token())),
            400..=499 => Ok(Robots::default()),
            status => Err(StoreError::Status { status }),
        }
    }
}

fn unavailable(host: &Host, expires: Instant, now: Instant) -> StoreError {
    StoreError::RobotsUnavailable {
        host: host.name.clone(),
        retry_after: expires.saturating_duration_since(now),
    }
}
