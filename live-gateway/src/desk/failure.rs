use data_model::{Classify, ErrorCode};
use storefront::StoreError;

use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// The word for a buyer on a store's failure: its code, and of those that are `store_unavailable` an unreadable answer apart.
pub(crate) fn unverified(error: &StoreError) -> Unverified {
    let cause = error.cause();
    let code = match (cause.code(), cause) {
        (ErrorCode::StoreTimeout, _) => UnverifiedCode::StoreTimeout,
        (ErrorCode::StoreThrottled, _) => UnverifiedCode::StoreThrottled,
        (
            _,
            StoreError::NotJson { .. }
            | StoreError::TooLarge { .. }
            | StoreError::OverBudget { .. }
            | StoreError::Truncated
            | StoreError::Encoding,
        ) => UnverifiedCode::StoreUnreadable,
        _ => UnverifiedCode::StoreUnavailable,
    };
    Unverified::new(code, error.to_string())
}

/// True where a store says that it does not take GraphQL requests like ours at all, so that `.js` is the way.
pub(crate) fn refuses_graphql(error: &StoreError) -> bool {
    match error {
        StoreError::RobotsDisallowed { .. } | StoreError::NotJson { .. } | StoreError::Redirect { .. } => true,
        StoreError::Status { status } => (400..500).contains(status),
        _ => false,
    }
}
