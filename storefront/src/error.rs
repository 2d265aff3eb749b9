use std::time::Duration;

use data_model::{Classify, ErrorCode, Retry};

use crate::address::Refusal;
use crate::body::BodyLimit;
use crate::transport::TransportError;

/// The reason why a store's page could not be had. No variant carries a query string or a secret.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address given is no address of a store, or the path is none.
    #[error("not an address of a store: {reason}")]
    Url {
        /// The fault in it.
        reason: &'static str,
    },
    /// The address, one it redirects to, or one it resolves to, is not public.
    #[error("{host} is refused")]
    AddressRefused {
        /// The host that was to be asked.
        host: String,
        /// The reason for the refusal.
        #[source]
        reason: Refusal,
    },
    /// The store's `robots.txt` asks us not to fetch this path, or to fetch more slowly than a crawl can.
    #[error("robots.txt of {host} disallows {disallowed}")]
    RobotsDisallowed {
        /// The store.
        host: String,
        /// The path, without its query, or the pace.
        disallowed: String,
    },
    /// The store's `robots.txt` cannot be read for now, so nothing may be fetched (RFC 9309, 2.3.1.4).
    #[error("robots.txt of {host} cannot be read")]
    RobotsUnavailable {
        /// The store.
        host: String,
        /// Time after which it will be asked for again.
        retry_after: Duration,
    },
    /// The store asks us to slow down (429, 430, 503 with `Retry-After`), longer or more often than we wait here.
    #[error("the store asks to slow down{}", wait_text(*.retry_after))]
    Throttled {
        /// Time for which it wants to be left alone, if it says.
        retry_after: Option<Duration>,
    },
    /// A bot challenge stands before the store.
    #[error("the store answers with a bot challenge (status {status})")]
    Challenged {
        /// The status it came with.
        status: u16,
    },
    /// The store is closed by a password page.
    #[error("the store is behind a password page")]
    PasswordPage,
    /// The store does not publish its catalogue.
    #[error("the store does not publish its catalogue (status {status})")]
    CatalogueClosed {
        /// 401, 403, 404 or 410.
        status: u16,
    },
    /// The platform has suspended the store (402: unpaid, 423: locked).
    #[error("the store is suspended (status {status})")]
    Suspended {
        /// 402 or 423.
        status: u16,
    },
    /// JSON was asked for, something else came.
    #[error("the store answers with something that is not JSON")]
    NotJson {
        /// The type that it said it was.
        content_type: Option<String>,
    },
    /// The page lies beyond the platform's cap on page × limit.
    #[error("the page is beyond the platform's cap")]
    PageCap,
    /// The body is larger than is read.
    #[error("the body is larger than {bytes_max} bytes ({limit})")]
    TooLarge {
        /// The one of the two limits that it broke.
        limit: BodyLimit,
        /// The limit.
        bytes_max: u64,
    },
    /// The body takes more memory than there is for one page.
    #[error("the body takes more than the {bytes_max} bytes of memory that refresh.memory_bytes_max leaves for it")]
    OverBudget {
        /// The memory that there is.
        bytes_max: u64,
    },
    /// The body ended before it was complete.
    #[error("the body ended early")]
    Truncated,
    /// The body's content encoding is unknown or broken.
    #[error("the body cannot be decoded")]
    Encoding,
    /// The store took too long.
    #[error("no complete answer within {} ms", after.as_millis())]
    Timeout {
        /// Time that was waited.
        after: Duration,
    },
    /// The call's own deadline ([`crate::Store::with_deadline`]) is over, or would be before its turn came.
    #[error("the call cannot be answered before its deadline{}", turn_text(*.wait))]
    Deadline {
        /// Time for which it would have had to wait for its turn, where that is why; it was not sent then.
        wait: Option<Duration>,
    },
    /// A call that writes was or may have been sent, and what came of it is not known: one that must not be made twice
    /// ([`crate::Effect::Unsafe`]), or one that was refused only when it was sent again. It must be looked up at the store
    /// before the call is made again.
    #[error("{host} may have carried out the request, but did not say so")]
    OutcomeUnknown {
        /// The host that was asked.
        host: String,
        /// The fault by which the answer was lost.
        #[source]
        source: Box<StoreError>,
    },
    /// The body cannot be written as JSON.
    #[error("the request cannot be written as JSON")]
    Unwritable {
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The caller no longer wanted an answer when the call's turn came, and no request was sent.
    #[error("nothing was asked for any more when the turn came")]
    Withdrawn,
    /// No connection.
    #[error("cannot connect to {host}")]
    Connect {
        /// The host.
        host: String,
        /// The transport's error.
        #[source]
        source: TransportError,
    },
    /// The connection broke or spoke no proper HTTP.
    #[error("the exchange with {host} failed")]
    Exchange {
        /// The host.
        host: String,
        /// The transport's error.
        #[source]
        source: TransportError,
    },
    /// Any other status than the ones that have their own variant.
    #[error("the store answers with status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The store failed several times in a row and is left alone.
    #[error("the store failed repeatedly and is left alone")]
    BreakerOpen {
        /// Time after which one request may try again.
        retry_after: Duration,
    },
    /// A redirect that is not followed.
    #[error("a redirect of {host}{} is not followed: {fault}", to_text(.to.as_deref()))]
    Redirect {
        /// The host that redirected.
        host: String,
        /// The place that it leads to, if that is an address.
        to: Option<String>,
        /// The reason why it is not followed.
        fault: RedirectFault,
    },
}

/// The reason why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// More than the configured number, a loop for instance.
    #[error("too many")]
    TooMany,
    /// No `Location`, or one that is no URL.
    #[error("no usable location")]
    Location,
    /// From https to http.
    #[error("it gives up https")]
    Downgrade,
    /// From a public store to this machine.
    #[error("it leads to loopback")]
    Inward,
    /// The call must not be made twice ([`crate::Effect::Unsafe`]).
    #[error("the call must not be sent again")]
    Unsafe,
    /// The call is for the brand alone, and the host is none that is known as its own ([`crate::Store::with_own_hosts`]).
    #[error("it leads to a host that is not the brand's own")]
    Foreign,
    /// A POST is sent to another page of the same host, to be read there.
    #[error("it leads to a page, not to where the POST belongs")]
    Page,
}

/// True where an answer with this status leaves it open if the request was carried out. Below 500 it is refused or done. A
/// server's error may be that of a gateway which gave up on a store that goes on: 500, 502, 504 and the 52x of the platform's
/// edge. The statuses 501, 503 and 505 are of a server that does not begin with a request (RFC 9110, 15.6).
pub(crate) const fn leaves_open(status: u16) -> bool {
    matches!(status, 200..300 | 500..) && !matches!(status, 501 | 503 | 505)
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
    /// Time for which the store says that it wants to be left alone.
    #[must_use]
    pub const fn asks_to_wait(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after } => *retry_after,
            _ => None,
        }
    }

    /// True where the same request may succeed at a later time, without anybody changing anything.
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

    /// The fault by which an answer was lost, of an unknown outcome; any other error itself.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::OutcomeUnknown { source, .. } => source.cause(),
            error => error,
        }
    }

    /// True where the store may have carried out a request that ended so.
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

    /// True where the request is worth sending again at once (after a back-off). A challenge, an open breaker and an unreadable
    /// `robots.txt` are transient but not helped by asking again soon; a deadline leaves no time for it.
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

    /// True where it says that the store did not manage to answer, as opposed to refusing.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::Timeout { .. } | Self::Connect { .. } | Self::Exchange { .. }
        )
    }
}

/// A store refuses in an answer of GraphQL alone: an error of the mutation's own, or one of a [`crate::GraphqlErrorKind`] that
/// says so. All that comes in place of such an answer may be another one a moment later, so none of it is
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
        /// Time to wait after a refusal that names none.
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
