use data_model::{Classify, ErrorCode};
use storefront::StoreError;

use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// Converts a store's failure into a reason for the buyer. Only malformed responses have a code of their own; all other
/// failures are `store_unavailable`.
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

/// True if a store rejects GraphQL requests altogether, so that `.js` must be used.
pub(crate) fn refuses_graphql(error: &StoreError) -> bool {
    match error {
        StoreError::RobotsDisallowed { .. } | StoreError::NotJson { .. } | StoreError::Redirect { .. } => true,
        StoreError::Status { status } => (400..500).contains(status),
        _ => false,
    }
}
