use serde::Serialize;
use storefront::{GraphqlErrorKind, StoreError};
use utoipa::ToSchema;

use crate::cart_client::CartError;
use crate::coalescer::failure::unverified;
use crate::rules::store_cart::CartFault;
use crate::schema::UnverifiedCode;

/// Reasons why a code was not tested. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UntestedReason {
    /// The time or the number of calls for a test was used up. Testing continues for a while after the response, so a
    /// later request may return more.
    Budget,
    /// The store asks clients to send no requests for a while.
    Throttled,
    /// The store did not respond in time.
    StoreTimeout,
    /// The store cannot be reached, is closed, or does not accept carts from this service.
    StoreUnavailable,
    /// The store's response cannot be parsed.
    StoreUnreadable,
    /// The store does not accept the text as a code, or its response does not mention the code.
    Refused,
    /// No item can be added to a cart: the item is sold out, or the brand has nothing in stock.
    SoldOut,
    /// Codes are being tested at too many stores at this moment.
    Busy,
}

impl UntestedReason {
    /// Returns the reason as it is spelled in responses and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Throttled => "throttled",
            Self::StoreTimeout => "store_timeout",
            Self::StoreUnavailable => "store_unavailable",
            Self::StoreUnreadable => "store_unreadable",
            Self::Refused => "refused",
            Self::SoldOut => "sold_out",
            Self::Busy => "busy",
        }
    }

    /// True if the store must not be queried for a while.
    pub(crate) const fn is_of_store(self) -> bool {
        matches!(
            self,
            Self::Throttled | Self::StoreTimeout | Self::StoreUnavailable | Self::StoreUnreadable
        )
    }
}

pub(crate) fn reason(error: &CartError) -> UntestedReason {
    match error {
        // The deadline of this service has passed.
        CartError::Store(error) if matches!(error.cause(), StoreError::Deadline { .. }) => UntestedReason::Budget,
        CartError::Store(error) => match unverified(error).code {
            UnverifiedCode::StoreTimeout => UntestedReason::StoreTimeout,
            UnverifiedCode::StoreThrottled => UntestedReason::Throttled,
            UnverifiedCode::StoreUnreadable => UntestedReason::StoreUnreadable,
            _ => UntestedReason::StoreUnavailable,
        },
        // The store may accept a smaller group of codes.
        CartError::Fault(CartFault::Refused(GraphqlErrorKind::Size)) => UntestedReason::Refused,
        CartError::Fault(CartFault::Refused(_)) => UntestedReason::StoreUnavailable,
        CartError::Fault(CartFault::Unreadable(_)) => UntestedReason::StoreUnreadable,
    }
}
