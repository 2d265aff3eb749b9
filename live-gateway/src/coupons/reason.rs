use serde::Serialize;
use storefront::{GraphqlErrorKind, StoreError};
use utoipa::ToSchema;

use crate::cart_client::CartError;
use crate::desk::failure::unverified;
use crate::rules::store_cart::CartFault;
use crate::schema::UnverifiedCode;

/// Reasons why a code was not tested: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UntestedReason {
    /// The time or the calls that testing may take were over. Testing goes on behind the answer for a while: ask again.
    Budget,
    /// The store asks to be left alone for a while.
    Throttled,
    /// The store did not answer in time.
    StoreTimeout,
    /// The store cannot be reached, is closed, or does not take carts from us.
    StoreUnavailable,
    /// The store's answer cannot be understood.
    StoreUnreadable,
    /// The store does not take the code as one, or says nothing about it.
    Refused,
    /// The store has nothing to put into a cart: the item is sold out, or the brand has nothing in stock.
    SoldOut,
    /// Codes are being tested at too many stores at this moment.
    Busy,
}

impl UntestedReason {
    /// The reason as answers and metrics spell it.
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

    /// True where the store is to be left alone for a while.
    pub(crate) const fn is_of_store(self) -> bool {
        matches!(
            self,
            Self::Throttled | Self::StoreTimeout | Self::StoreUnavailable | Self::StoreUnreadable
        )
    }
}

/// The reason that stands for an error of a call to a store's cart.
pub(crate) fn reason(error: &CartError) -> UntestedReason {
    match error {
        // Of our own time.
        CartError::Store(error) if matches!(error.cause(), StoreError::Deadline { .. }) => UntestedReason::Budget,
        CartError::Store(error) => match unverified(error).code {
            UnverifiedCode::StoreTimeout => UntestedReason::StoreTimeout,
            UnverifiedCode::StoreThrottled => UntestedReason::Throttled,
            UnverifiedCode::StoreUnreadable => UntestedReason::StoreUnreadable,
            _ => UntestedReason::StoreUnavailable,
        },
        // Fewer codes may be taken.
        CartError::Fault(CartFault::Refused(GraphqlErrorKind::Size)) => UntestedReason::Refused,
        CartError::Fault(CartFault::Refused(_)) => UntestedReason::StoreUnavailable,
        CartError::Fault(CartFault::Unreadable(_)) => UntestedReason::StoreUnreadable,
    }
}
