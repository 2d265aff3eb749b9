use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use data_model::Clock;
use futures::stream::BoxStream;
use http::{HeaderMap, Method, StatusCode};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::answer::{Answer, PaceRefusal};
use crate::body::{self, BodyError, Limits};
use crate::config::StorefrontConfig;
use crate::error::{StoreError, leaves_open};
use crate::graphql;
use crate::host::{Hop, Host, Passes};
use crate::hosts::Hosts;
use crate::memory::{MemoryBudget, OverBudget};
use crate::patience::{OwnWait, within};
use crate::post::Post;
use crate::retry::{self, Failure};
use crate::terms::{Effect, Terms};
use crate::transport::{Transport, TransportError, TransportRequest};

/// Sends single requests and updates the state of each host from their outcomes.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) config: StorefrontConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) memory: MemoryBudget,
}

/// Data of a request that stays the same across redirects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) terms: Terms,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) limits: Limits,
    /// The request body. `None` for a GET.
    pub(crate) post: Option<&'a Post>,
    pub(crate) is_head: bool,
    /// True if somebody is about to open the link. Its path gives access to their cart, so that it is not logged.
    pub(crate) is_look: bool,
    pub(crate) is_graphql: bool,
    /// Set while the store may have received the request but has not reported the outcome.
    pub(crate) is_unanswered: &'a AtomicBool,
}

fn logged_path<'a>(url: &'a Url, ask: Ask<'_>) -> &'a str {
    if ask.is_look { "" } else { url.path() }
}

type Chunks = BoxStream<'static, Result<Bytes, TransportError>>;

/// Maximum number of bytes read from a response that is not a page. They suffice to recognise the response and to reuse
/// its connection.
const ASIDE_BYTES_MAX: u64 = 64 << 10;

/// Minimum time for a store before a request that the caller's deadline cut off is the store's failure.
const FAIR_TIME: Duration = Duration::from_secs(1);

impl Exchange {
    /// Retries an attempt after transient errors. The request's maximum, the host's retry budget, the call's deadline
    /// and an open circuit breaker limit retries. The rate limiter handles the wait after a refusal. A call that must
    /// not be made twice is not retried.
    pub(crate) async fn retrying<T, F, A>(&self, host: &Host, terms: Terms, mut attempt: F) -> Result<T, StoreError>
    where
        F: FnMut() -> A,
        A: Future<Output = Result<T, Failure>>,
    {
        let mut delays = retry::backoff(&self.config);
        host.state().budget.pay_in();
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(Failure { error, is_final: true }) => return Err(error),
                Err(Failure { error, .. }) => error,
            };
            let too_long = |wait: &Option<Duration>| wait.is_some_and(|wait| wait > self.config.retry_after_max());
            if terms.effect == Effect::Unsafe
                || !error.is_worth_a_retry()
                || matches!(&error, StoreError::Throttled { retry_after } if too_long(retry_after))
            {
                return Err(error);
            }
            let Some(delay) = delays.next() else { return Err(error) };
            let waits = match error {
                // The rate limiter does not wait for a refusal that concerns only this operation.
                StoreError::Throttled { retry_after: None } => host.state().pace.held(Instant::now()).is_none(),
                StoreError::Throttled { .. } => false,
                _ => true,
            };
            if waits && terms.is_too_late(Instant::now(), delay) {
                return Err(error);
            }
            let may_retry = {
                let mut state = host.state();
                !state.refuses(terms) && state.budget.take()
            };
            if !may_retry {
                return Err(error);
            }
            tracing::debug!(host = %host.name, error = %error, delay_ms = delay.as_millis(), "a request is retried");
            if waits {
                tokio::time::sleep(delay).await;
            }
        }
    }

    /// Sends one request to one host when its turn comes. The outcome changes the rate limiter and the circuit breaker
    /// of the host that the caller requested, so that a redirect cannot make another store look down. The target's own
    /// rate limit still applies, and a target with an open breaker gets no request.
    #[tracing::instrument(target = "trace::store", name = "store request", level = "info", skip_all, fields(otel.kind = "client", server.address = %hop.host.name, url.path = logged_path(url, ask), http.response.status_code = tracing::field::Empty))]
    pub(crate) async fn hop(&self, hop: Hop<'_>, url: &Url, ask: Ask<'_>) -> Result<Answer, StoreError> {
        let Hop { host, by } = hop;
        let is_left_alone = || {
            if host.is(by) {
                Ok(())
            } else {
                host.not_left_alone(ask.terms)
            }
        };
        is_left_alone()?;
        let mut turn = host.turn(by, ask.terms, self.config.retry_after_max()).await?;
        is_left_alone()?;
        let pass = by.admit(ask.terms)?;
        // If there is nothing to send after all, the turn of this request passes to the next one.
        let body = ask.post.map(Post::bytes).transpose()?.unwrap_or_default();
        turn.used();
        let started = Instant::now();
        let outcome = self.timed(hop, url, ask, body).await;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &outcome {
            Ok(answer) => {
                let (status, size_bytes) = (answer.status.as_u16(), answer.body.len());
                tracing::Span::current().record("http.response.status_code", status);
                tracing::debug!(host = %host.name, path = logged_path(url, ask), status, size_bytes, duration_ms, "the store answered");
            }
            Err(error) => {
                tracing::debug!(host = %host.name, path = logged_path(url, ask), error = %error, duration_ms, "the store did not answer")
            }
        }
        if ask.is_look {
            // A checkout that does not open says nothing about the store's other pages.
            drop(pass);
        } else {
            settle(pass, &outcome, started.elapsed());
        }
        outcome
    }

    async fn timed(&self, hop: Hop<'_>, url: &Url, ask: Ask<'_>, body: Bytes) -> Result<Answer, StoreError> {
        let after = self.config.request_timeout(ask.terms.priority);
        let waited = OwnWait::default();
        // The future is large and moved, so that it is boxed.
        let exchange = within(after, &waited, Box::pin(self.exchange(hop, url, ask, body, &waited)));
        let outcome = match ask.terms.deadline {
            None => exchange.await,
            Some(deadline) => timeout_at(deadline, exchange)
                .await
                .unwrap_or(Some(Err(StoreError::Deadline { wait: None }))),
        };
        outcome.unwrap_or(Err(StoreError::Timeout { after }))
    }

    async fn exchange(
        &self,
        hop: Hop<'_>,
        url: &Url,
        ask: Ask<'_>,
        body: Bytes,
        waited: &OwnWait,
    ) -> Result<Answer, StoreError> {
        let Hop { host, by } = hop;
        let outgoing = TransportRequest {
            method: match ask.post {
                Some(_) => Method::POST,
                None if ask.is_head => Method::HEAD,
                None => Method::GET,
            },
            url: url.clone(),
            headers: ask.headers.clone(),
            body,
        };
        // The unknown outcome of an earlier attempt stays unknown.
        let was_open = ask.is_unanswered.swap(true, Ordering::Relaxed);
        let incoming = self.transport.send(outgoing).await.map_err(|error| {
            let is_connected = matches!(
                error,
                TransportError::Truncated | TransportError::Head | TransportError::Broken(_)
            );
            ask.is_unanswered.store(was_open || is_connected, Ordering::Relaxed);
            self.transport_fault(host, error)
        })?;
        let status = incoming.status;
        let refused = PaceRefusal::by(status, &incoming.headers, self.clock.now());
        // A challenge comes from the platform's edge, before the store.
        let is_open = was_open || (refused != Some(PaceRefusal::Challenge) && leaves_open(status.as_u16()));
        ask.is_unanswered.store(is_open, Ordering::Relaxed);
        self.heed_refusal(hop, ask, refused, status.as_u16())?;
        if incoming.headers.len() > self.config.headers_max {
            return Err(StoreError::Exchange {
                host: host.name.clone(),
                source: TransportError::Head,
            });
        }
        let body = if ask.is_head {
            Bytes::new()
        } else {
            let received = self.received(host, status, incoming.body, &incoming.headers, ask.limits, waited);
            received.await?
        };
        if ask.is_graphql
            && status.is_success()
            && let Some(throttled) = graphql::throttled(&body)
        {
            ask.is_unanswered.store(was_open, Ordering::Relaxed);
            self.heed_refusal(hop, ask, Some(throttled), status.as_u16())?;
        }
        let answer = Answer {
            status,
            headers: incoming.headers,
            body,
        };
        if !status.is_server_error() && !answer.is_redirect() {
            let state = &mut *by.state();
            state.pace.succeeded();
            if ask.terms.caller.is_some() {
                state.challenged.succeeded();
            }
        }
        if !status.is_server_error() && !host.is(by) {
            host.state().pace.succeeded();
        }
        Ok(answer)
    }

    /// Of an error response, only the available bytes are read.
    async fn received(
        &self,
        host: &Host,
        status: StatusCode,
        chunks: Chunks,
        headers: &HeaderMap,
        limits: Limits,
        waited: &OwnWait,
    ) -> Result<Bytes, StoreError> {
        if status.is_success() {
            return body::collect(chunks, headers, limits, &self.memory, waited)
                .await
                .map_err(|error| body_fault(host, error));
        }
        let aside = Limits {
            wire_max: ASIDE_BYTES_MAX,
            decoded_max: ASIDE_BYTES_MAX,
            cut: true,
        };
        // The text of an error page is only a hint, so that a failure to read it is not another error.
        let read = body::collect(chunks, headers, aside, &self.memory, waited).await;
        Ok(read.unwrap_or_else(|_| Bytes::new()))
    }

    /// Returns the error for the caller if the store refuses the request. Lowers the request rate of all calls, unless
    /// the refusal concerns only this call: the check of a link, or one operation of the store.
    fn heed_refusal(
        &self,
        hop: Hop<'_>,
        ask: Ask<'_>,
        refused: Option<PaceRefusal>,
        status: u16,
    ) -> Result<(), StoreError> {
        let Hop { host, by } = hop;
        match refused {
            None => Ok(()),
            Some(PaceRefusal::OfOperation) => Err(StoreError::Throttled { retry_after: None }),
            Some(PaceRefusal::TooFast { retry_after }) if ask.is_look => Err(StoreError::Throttled { retry_after }),
            Some(PaceRefusal::TooFast { retry_after }) => {
                tracing::warn!(host = %host.name, status, retry_after_s = retry_after.map(|wait| wait.as_secs()), "the store asks us to slow down");
                by.state().pace.refused(Instant::now(), retry_after);
                Err(StoreError::Throttled { retry_after })
            }
            Some(PaceRefusal::Challenge) => {
                tracing::warn!(host = %host.name, status, "the store answers with a bot challenge");
                let state = &mut *by.state();
                match ask.terms.caller {
                    _ if ask.is_look => {}
                    Some(_) => state.challenged.refused(Instant::now(), None),
                    None => state.pace.refused(Instant::now(), None),
                }
                Err(StoreError::Challenged { status })
            }
        }
    }

    fn transport_fault(&self, host: &Host, error: TransportError) -> StoreError {
        let host = host.name.clone();
        match error {
            TransportError::Refused(reason) => StoreError::AddressRefused { host, reason },
            TransportError::ConnectTimeout => StoreError::Timeout {
                after: Duration::from_millis(self.config.connect_timeout_ms),
            },
            source @ TransportError::Connect(_) => StoreError::Connect { host, source },
            TransportError::Truncated => StoreError::Truncated,
            source @ (TransportError::Broken(_) | TransportError::Head) => StoreError::Exchange { host, source },
        }
    }
}

fn settle(pass: Passes<'_>, outcome: &Result<Answer, StoreError>, took: Duration) {
    let is_failure = match outcome {
        Ok(answer) if answer.status.is_server_error() => return pass.answered_with_error(),
        Ok(_) => false,
        Err(StoreError::Deadline { .. }) => took >= FAIR_TIME,
        Err(error) => error.is_failure(),
    };
    // The target of a redirect shows whether the requested store works. A request that was cut off early shows nothing
    // about the store.
    let says_nothing = match outcome {
        Ok(answer) => answer.is_redirect(),
        Err(error) => matches!(
            error,
            StoreError::AddressRefused { .. } | StoreError::Deadline { .. } | StoreError::Withdrawn
        ),
    };
    if is_failure {
        pass.failed();
    } else if says_nothing {
        drop(pass);
    } else {
        pass.succeeded();
    }
}

fn body_fault(host: &Host, error: BodyError) -> StoreError {
    match error {
        BodyError::TooLarge { limit, bytes_max } => StoreError::TooLarge { limit, bytes_max },
        BodyError::OverBudget(OverBudget { bytes_max }) => StoreError::OverBudget { bytes_max },
        BodyError::Truncated => StoreError::Truncated,
        BodyError::Encoding => StoreError::Encoding,
        BodyError::Transport(source) => StoreError::Exchange {
            host: host.name.clone(),
            source,
        },
    }
}
