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

/// RFC 9309, 2.3.1.2.
const REDIRECTS_MAX: u32 = 5;

impl Exchange {
    /// Checks that the host's `robots.txt` allows a URL. Fetches the file if there is no fresh copy.
    pub(crate) async fn ask_robots(&self, hop: Hop<'_>, url: &Url, terms: Terms) -> Result<(), StoreError> {
        let host = hop.host;
        // A fetch of the file would wait at least as long as a request to the store itself.
        host.hold_allows(terms)?;
        let rules = self.robots_of(hop, url, terms).await?;
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let pause_max = Duration::from_millis(self.config.crawl_delay_max_ms);
        let disallowed = match rules.crawl_delay().filter(|pause| *pause > pause_max) {
            Some(pause) => format!("more than one request in {} s", pause.as_secs()),
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
                // The info level suffices, because the caller gets the error.
                tracing::info!(host = %host.name, error = %error, "robots.txt cannot be read");
                match (old, error) {
                    // An old copy stays valid while the file cannot be read (RFC 9309, 2.4).
                    (Some(old), _) => (Some(old), self.config.robots_retry_ms),
                    // A failure on behalf of another store does not show a fault of this host.
                    (None, StoreError::Status { .. }) if host.is(by) => (None, self.config.robots_retry_ms),
                    // The store was not reached, or requested a later attempt. The error is not cached, because the
                    // rate limiter and the circuit breaker remember it.
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

    /// A 4xx status means that there are no rules (RFC 9309, 2.3.1.3), and so do too many redirects. Any other failure
    /// is an error.
    async fn fetch_robots(&self, by: &Host, url: &Url, terms: Terms) -> Result<Robots, Failure> {
        let mut target = url.join("/robots.txt").map_err(|_| StoreError::Url {
            reason: "the URL has no root path",
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
