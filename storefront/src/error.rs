use std::time::Duration;

use data_model::{Classify, ErrorCode, Retry};

use crate::address::Refusal;
use crate::body::BodyLimit;
use crate::transport::TransportError;

/// Reason why a call to a store failed. No variant contains a query string or a secret.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The given address or path is not valid for a store.
    #[error("not a valid store address: {reason}")]
    Url {
        /// Description of the fault.
        reason: &'static str,
    },
    /// The store's address, a redirect target or a resolved IP address is not public.
    #[error("{host} is refused")]
    AddressRefused {
        /// Host that was to be requested.
        host: String,
        /// Reason for the refusal.
        #[source]
        reason: Refusal,
    },
    /// The store's `robots.txt` disallows this path, or requires a slower rate than a crawl can keep.
    #[error("robots.txt of {host} disallows {disallowed}")]
    RobotsDisallowed {
        /// Host of the store.
        host: String,
        /// Disallowed path without its query, or the requested rate.
        disallowed: String,
    },
    /// The store's `robots.txt` cannot be read at present, so nothing may be fetched (RFC 9309, 2.3.1.4).
    #[error("robots.txt of {host} cannot be read")]
    RobotsUnavailable {
        /// Host of the store.
        host: String,
        /// Time after which `robots.txt` will be requested again.
        retry_after: Duration,
    },
    /// The store requires a slower rate (429, 430, 503 with `Retry-After`), for longer or more often than a call waits.
    #[error("the store asks us to slow down{}", wait_text(*.retry_after))]
    Throttled {
        /// Time that the store asks to wait, if it states one.
        retry_after: Option<Duration>,
    },
    /// The store responds with a bot challenge.
    #[error("the store answers with a bot challenge (status {status})")]
    Challenged {
        /// HTTP status of the challenge.
        status: u16,
    },
    /// The store shows only its password page.
    #[error("the store is behind a password page")]
    PasswordPage,
    /// The store does not publish its catalogue.
    #[error("the store does not publish its catalogue (status {status})")]
    CatalogueClosed {
        /// HTTP status: 401, 403, 404 or 410.
        status: u16,
    },
    /// Shopify has suspended the store (402: unpaid, 423: locked).
    #[error("the store is suspended (status {status})")]
    Suspended {
        /// HTTP status: 402 or 423.
        status: u16,
    },
    /// The response to a request for JSON is not JSON.
    #[error("the store's response is not JSON")]
    NotJson {
        /// Content type of the response.
        content_type: Option<String>,
    },
    /// The page is beyond Shopify's cap on page × limit.
    #[error("the page is beyond the platform's maximum number of products")]
    PageCap,
    /// The body is larger than the limit.
    #[error("the body is larger than {bytes_max} bytes ({limit})")]
    TooLarge {
        /// Kind of limit that was exceeded.
        limit: BodyLimit,
        /// Limit in bytes.
        bytes_max: u64,
    },
    /// The body needs more memory than is available for one page.
    #[error(
        "the body needs more than {bytes_max} bytes of memory, the maximum that refresh.memory_bytes_max leaves for it"
    )]
    OverBudget {
        /// Memory available for one page, in bytes.
        bytes_max: u64,
    },
    /// The body ended before it was complete.
    #[error("the body ended early")]
    Truncated,
    /// The body's content encoding is unknown or broken.
    #[error("the body cannot be decoded")]
    Encoding,
    /// The store did not respond within the time limit.
    #[error("no complete response within {} ms", after.as_millis())]
    Timeout {
        /// Time waited before giving up.
        after: Duration,
    },
    /// The deadline of the call ([`crate::Store::with_deadline`]) has passed, or would pass before the call gets its
    /// turn.
    #[error("the call cannot be completed before its deadline{}", turn_text(*.wait))]
    Deadline {
        /// Time that the call would have had to wait for its turn. Set only if the call was not sent because of this
        /// wait.
        wait: Option<Duration>,
    },
    /// The outcome of a call that writes is unknown, because the store may have received the call. Either the call must
    /// not be made twice ([`crate::Effect::Unsafe`]), or only a repetition was refused. The caller must look up the
    /// outcome at the store before repeating the call.
    #[error("{host} may have carried out the request, but did not confirm it")]
    OutcomeUnknown {
        /// Host that was requested.
        host: String,
        /// Error that hides the answer.
        #[source]
        source: Box<StoreError>,
    },
    /// The request body cannot be serialised as JSON.
    #[error("the request cannot be serialised as JSON")]
    Unwritable {
        /// Serialiser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The caller withdrew the call before its request was sent.
    #[error("the call was cancelled while it waited for its turn")]
    Withdrawn,
    /// Connecting failed.
    #[error("cannot connect to {host}")]
    Connect {
        /// Host that was requested.
        host: String,
        /// Transport error.
        #[source]
        source: TransportError,
    },
    /// The connection broke or the response was not valid HTTP.
    #[error("the HTTP exchange with {host} failed")]
    Exchange {
        /// Host that was requested.
        host: String,
        /// Transport error.
        #[source]
        source: TransportError,
    },
    /// Any status without its own variant.
    #[error("the store answers with status {status}")]
    Status {
        /// HTTP status.
        status: u16,
    },
    /// The circuit breaker is open after consecutive failures of the store.
    #[error("the store failed repeatedly; requests to it are paused")]
    BreakerOpen {
        /// Time after which a trial request may be sent.
        retry_after: Duration,
    },
    /// A redirect was not followed.
    #[error("a redirect from {host}{} is not followed: {fault}", to_text(.to.as_deref()))]
    Redirect {
        /// Host that redirected.
        host: String,
        /// Target of the redirect, if it is an address.
        to: Option<String>,
        /// Reason why the redirect is not followed.
        fault: RedirectFault,
    },
}

/// Reason why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// More redirects than configured, for instance because of a loop.
    #[error("too many redirects")]
    TooMany,
    /// `Location` is missing or is not a URL.
    #[error("it has no usable location")]
    Location,
    /// Redirect from https to http.
    #[error("it changes from https to http")]
    Downgrade,
    /// Redirect from a public store to this machine.
    #[error("it leads to a loopback address")]
    Inward,
    /// The call must not be made twice ([`crate::Effect::Unsafe`]).
    #[error("the request must not be sent twice")]
    Unsafe,
    /// The target is not one of the brand's own hosts ([`crate::Store::with_own_hosts`]), but the call must go only to
    /// these.
    #[error("it leads to a host that does not belong to the brand")]
    Foreign,
    /// A POST is redirected to another page of the same host. A redirected client would read this page with GET.
    #[error("it leads to a page that does not accept the POST")]
    Page,
}

/// Returns true if it is uncertain after this status whether the request was carried out. With a status from 300 to 499,
/// the request is known to be refused or done. Any status from 500 on may come from a gateway that gave up or lost its
/// connection while the store continues. This includes 503, with or without `Retry-After`: gateways send it when the
/// store closes the connection after the request.
pub(crate) const fn leaves_open(status: u16) -> bool {
    matches!(status, 200..300 | 500..)
}

fn wait_text(retry_after: Option<Duration>) -> String {
    retry_after
        .map(|wait| format!(" for {} s", wait.as_secs_f64().ceil()))
        .unwrap_or_default()
}

fn turn_text(wait: Option<Duration>) -> String {
    wait.map(|wait| format!(": its turn comes in {} ms", wait.as_millis()))
        .unwrap_or_default()
}

fn to_text(to: Option<&str>) -> String {
    to.map(|to| format!(" to {to}")).unwrap_or_default()
}

impl StoreError {
    /// Returns the time that the store asks to wait.
    #[must_use]
    pub const fn asks_to_wait(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after } => *retry_after,
            _ => None,
        }
    }

    /// Returns true if the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RobotsUnavailable { .. }
            | Self::Throttled { .. }
            | Self::Challenged { .. }
            | Self::Truncated
            | Self::Encoding
            | Self::Timeout { .. }
            | Self::Deadline { .. }
            | Self::Connect { .. }
            | Self::Exchange { .. }
            | Self::BreakerOpen { .. } => true,
            Self::Status { status } => matches!(status, 408 | 425 | 500..),
            _ => false,
        }
    }

    /// Returns the source error of an unknown outcome, and any other error itself.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::OutcomeUnknown { source, .. } => source.cause(),
            error => error,
        }
    }

    /// Returns true if the store may have carried out a request that ended with this error.
    #[must_use]
    pub const fn leaves_open(&self) -> bool {
        match self {
            Self::OutcomeUnknown { .. }
            | Self::Timeout { .. }
            | Self::Deadline { wait: None }
            | Self::Truncated
            | Self::Encoding
            | Self::NotJson { .. }
            | Self::TooLarge { .. }
            | Self::OverBudget { .. }
            | Self::Exchange { .. } => true,
            Self::Status { status } => leaves_open(*status),
            _ => false,
        }
    }

    /// Returns true if a retry after a back-off may help. A challenge, an open breaker and an unreadable `robots.txt`
    /// are transient, but a quick retry does not help. After a deadline, no time is left.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        self.is_transient()
            && !matches!(
                self,
                Self::Challenged { .. }
                    | Self::BreakerOpen { .. }
                    | Self::RobotsUnavailable { .. }
                    | Self::Deadline { .. }
            )
    }

    /// Returns true if the store failed to answer. A refusal is an answer.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::Timeout { .. } | Self::Connect { .. } | Self::Exchange { .. }
        )
    }
}

/// Only a GraphQL response can contain a store's rejection: as a user error of the mutation, or as a
/// [`crate::GraphqlErrorKind`] for rejections. Other responses may change a moment later, so that none of them maps to
/// [`ErrorCode::StoreRejected`].
impl Classify for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Url { .. } => ErrorCode::Validation,
            Self::Unwritable { .. } | Self::Withdrawn => ErrorCode::Internal,
            Self::Timeout { .. } | Self::Deadline { .. } => ErrorCode::StoreTimeout,
            Self::OutcomeUnknown { source, .. } => source.code(),
            Self::Throttled { .. } => ErrorCode::StoreThrottled,
            Self::AddressRefused { .. }
            | Self::RobotsDisallowed { .. }
            | Self::RobotsUnavailable { .. }
            | Self::CatalogueClosed { .. }
            | Self::Challenged { .. }
            | Self::PasswordPage
            | Self::Suspended { .. }
            | Self::Status { .. }
            | Self::NotJson { .. }
            | Self::PageCap
            | Self::TooLarge { .. }
            | Self::OverBudget { .. }
            | Self::Truncated
            | Self::Encoding
            | Self::Redirect { .. }
            | Self::Connect { .. }
            | Self::Exchange { .. }
            | Self::BreakerOpen { .. } => ErrorCode::StoreUnavailable,
        }
    }

    fn retry(&self) -> Retry {
        /// Default wait after a refusal that states no time.
        const COOL: Duration = Duration::from_secs(60);
        match self {
            Self::Throttled { retry_after } => Retry::After(retry_after.unwrap_or(COOL)),
            Self::Deadline { wait: Some(wait) } => Retry::After(*wait),
            Self::BreakerOpen { retry_after } | Self::RobotsUnavailable { retry_after, .. } => {
                Retry::After(*retry_after)
            }
            Self::Challenged { .. } => Retry::After(COOL),
            _ if self.is_transient() => Retry::After(Duration::from_secs(1)),
            _ => Retry::Never,
        }
    }
}
