//! Limits that several servers share.

mod link;

use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use api::{Allowance, Caller, ClientNetwork, Limit, Outcome, Prompt, Verdict};
use data_model::Clock;
use redis::Script;
use state::Day;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::link::{Connection, Link, Question, Reply, TallyRequest};
use super::counted_as;
use super::local::LocalLimits;
use crate::config::LimitsConfig;

const FALLBACK: &str = "limits_fallback_total";

/// Limits that are counted in a Valkey or Redis server, by its clock, for all programs that share it.
///
/// A script checks and counts each request in one atomic step, so a limit of N is N over all servers. Counters expire
/// once they have no effect. If the server does not respond within `limits.timeout_ms`, this and all later requests are
/// counted by the [`LocalLimits`] of this process, with the whole limit. A new connection is tried at least every two
/// seconds. `limits_fallback_total` counts such requests, `limits_shared_up` is 0, and one warning is logged. Clones
/// share one connection.
#[derive(Clone)]
pub struct SharedLimits(Arc<ValkeyLimits>);

struct ValkeyLimits {
    link: Link,
    local: LocalLimits,
    timeout: Duration,
    /// Clock that counts; `None` means the server's clock.
    clock: Option<Arc<dyn Clock>>,
}

/// Reasons why the configured server cannot be used. Messages never contain its address, which may include a password.
#[derive(Debug, thiserror::Error)]
pub enum InvalidServer {
    /// The address is invalid.
    #[error("limits.url is not the address of a Valkey or Redis server (redis://host:port or rediss://host:port)")]
    Url,
    /// A certificate file is set, but the address does not use TLS.
    #[error("limits.ca_file is only for servers with TLS: limits.url must start with rediss://")]
    NoTls,
    /// The certificate file cannot be read.
    #[error("limits.ca_file {0:?} cannot be read")]
    Unreadable(String, #[source] std::io::Error),
    /// The certificate file contains no certificate, or a damaged one.
    #[error("limits.ca_file {0:?} contains no usable PEM certificate")]
    NoCertificate(String),
}

impl SharedLimits {
    /// Starts limits in the server that `limits.url` names (one server, no cluster). Also returns a future that keeps
    /// the connection open and must run until `stop` is cancelled. The server need not respond yet. `local` contains
    /// the limits of each plan and the time zone of the days.
    ///
    /// For `rediss://`, a program with several cryptographic providers of rustls must have chosen one
    /// (`CryptoProvider::install_default`). Otherwise the server counts as unreachable.
    ///
    /// # Errors
    /// Returns an [`InvalidServer`].
    pub fn start(
        config: &LimitsConfig,
        local: LocalLimits,
        stop: CancellationToken,
    ) -> Result<(Self, impl Future<Output = ()> + Send + 'static), InvalidServer> {
        Self::start_by(config, local, None, stop)
    }

    /// Like `start`, with the given clock instead of the server's.
    ///
    /// # Errors
    /// Returns an [`InvalidServer`].
    pub fn start_by(
        config: &LimitsConfig,
        local: LocalLimits,
        clock: Option<Arc<dyn Clock>>,
        stop: CancellationToken,
    ) -> Result<(Self, impl Future<Output = ()> + Send + 'static), InvalidServer> {
        metrics::describe_counter!(
            FALLBACK,
            "Number of requests whose limits were counted in this process because Valkey did not answer"
        );
        metrics::counter!(FALLBACK).increment(0);
        let timeout = Duration::from_millis(config.timeout_ms);
        let link = Link::new(config, Script::new(include_str!("gcra.lua")))?;
        let shared = Arc::new(ValkeyLimits {
            link,
            local,
            timeout,
            clock,
        });
        let kept = Arc::clone(&shared);
        Ok((Self(shared), async move { kept.link.keep(stop).await }))
    }

    /// True while limits are counted in the shared server.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.link.connection().is_some()
    }

    fn judge(&self, caller: &Caller, what: TallyRequest) -> Prompt<Verdict> {
        let shared = &self.0;
        let allowance = shared.local.plans().of_caller(caller);
        if allowance.rate().is_none() {
            return Prompt::Now(Verdict::UNLIMITED);
        }
        let Some(connection) = shared.link.connection() else {
            return Prompt::Now(shared.fall_back(caller, what));
        };
        let (shared, caller, allowance) = (Arc::clone(shared), caller.clone(), Arc::clone(allowance));
        let number = connection.number;
        Prompt::Later(Box::pin(async move {
            let asked = shared.ask(connection, &caller, &allowance, what);
            match timeout(shared.timeout, asked).await {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(_)) | Err(_) => {
                    shared.link.give_up(number);
                    shared.fall_back(&caller, what)
                }
            }
        }))
    }
}

impl ValkeyLimits {
    fn fall_back(&self, caller: &Caller, what: TallyRequest) -> Verdict {
        match what {
            TallyRequest::Look => self.local.look_now(caller),
            TallyRequest::Take => {
                metrics::counter!(FALLBACK).increment(1);
                self.local.admit_now(caller)
            }
            TallyRequest::Owe(requests) => {
                self.local.owe_now(caller, requests);
                Verdict::UNLIMITED
            }
        }
    }

    async fn ask(
        &self,
        mut connection: Connection,
        caller: &Caller,
        allowance: &Allowance,
        what: TallyRequest,
    ) -> redis::RedisResult<Verdict> {
        let Some((per_second, burst)) = allowance.rate() else {
            return Ok(Verdict::UNLIMITED);
        };
        let zone = self.local.zone();
        let today = Day::of(self.local.now(), zone);
        let question = Question {
            tallies: tallies_of(caller),
            per_second: per_second.get(),
            burst: burst.get(),
            per_day: allowance.per_day().unwrap_or(0),
            day: today.number(),
            begins: [0, 1, 2].map(|days| today.plus(days).begin(zone).micros()),
            what,
            moment: self.clock.as_ref().map(|clock| clock.now().micros()),
        };
        let reply = self.link.ask(&mut connection.redis, &question).await?;
        Ok(verdict(reply, allowance.per_day()))
    }
}

/// Returns the names of the caller's counter and of those of the networks around it, each with its multiple of the
/// limit.
fn tallies_of(caller: &Caller) -> Vec<(String, u32)> {
    match caller {
        Caller::Known(known) => vec![(format!("haat:limits:{}", counted_as(known)), 1)],
        Caller::Anonymous(Some(network)) => {
            let name =
                |(network, times): (ClientNetwork, NonZeroU32)| (format!("haat:limits:network:{network}"), times.get());
            network.levels().map(name).collect()
        }
        Caller::Anonymous(None) => vec![("haat:limits:nowhere".to_owned(), 1)],
    }
}

fn verdict(reply: Reply, per_day: Option<u64>) -> Verdict {
    let (outcome, wait, remaining, reset, taken, day_left) = reply;
    let (wait, day_left) = (Duration::from_micros(wait), Duration::from_micros(day_left));
    Verdict {
        outcome: match outcome {
            0 => Outcome::Allowed,
            1 => Outcome::TooFast(wait),
            _ => Outcome::TooManyToday(wait),
        },
        remaining: Some(remaining),
        reset_after: Duration::from_micros(reset),
        today: per_day.map(|per_day| (per_day.saturating_sub(taken), day_left)),
    }
}

impl Limit for SharedLimits {
    fn admit(&self, caller: &Caller) -> Prompt<Verdict> {
        self.judge(caller, TallyRequest::Take)
    }

    fn owe(&self, caller: &Caller, requests: u32) -> Prompt<()> {
        match self.judge(caller, TallyRequest::Owe(requests)) {
            Prompt::Now(_) => Prompt::Now(()),
            Prompt::Later(owed) => Prompt::Later(Box::pin(async move {
                let _ = owed.await;
            })),
        }
    }

    fn look(&self, caller: &Caller) -> Prompt<Verdict> {
        self.judge(caller, TallyRequest::Look)
    }
}

impl fmt::Debug for SharedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValkeyLimits { link, local, .. } = &*self.0;
        f.debug_struct("SharedLimits")
            .field("link", link)
            .field("local", local)
            .finish_non_exhaustive()
    }
}
