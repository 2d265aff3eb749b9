use storefront::StoreError;

use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// The word for a buyer on a store's failure.
pub(crate) fn unverified(error: &StoreError) -> Unverified {
    let code = match error {
        StoreError::Timeout { .. } | StoreError::Deadline { .. } => UnverifiedCode::StoreTimeout,
        StoreError::Throttled { .. } => UnverifiedCode::StoreThrottled,
        StoreError::NotJson { .. }
        | StoreError::TooLarge { .. }
        | StoreError::OverBudget { .. }
        | StoreError::Truncated
        | StoreError::Encoding => UnverifiedCode::StoreUnreadable,
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
