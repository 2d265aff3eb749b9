use data_model::{Classify, ErrorCode};

/// Error of an operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// No release is open yet.
    #[error("no release is open yet")]
    NotReady,
    /// The release has no such product.
    #[error("no such product")]
    ProductNotFound,
    /// The release has no such brand.
    #[error("no such brand")]
    BrandNotFound,
    /// The taxonomy has no such category.
    #[error("no such category")]
    CategoryNotFound,
    /// The cursor belongs to another list.
    #[error("the cursor does not belong to this list")]
    ForeignCursor {
        /// Cursor as the client sent it.
        cursor: String,
    },
    /// The cursor belongs to another release than the current one.
    #[error("the cursor belongs to another release")]
    ExpiredCursor {
        /// Cursor as the client sent it.
        cursor: String,
    },
    /// The request names too many items.
    #[error("the request contains {asked} idents, but at most {max} are allowed")]
    TooManyIdents {
        /// Maximum number of items.
        max: usize,
        /// Number of items in the request.
        asked: usize,
    },
    /// The server has no capacity for the request now.
    #[error("too busy")]
    Overloaded,
    /// An internal error occurred; details are in the log.
    #[error("something went wrong on our side")]
    Internal,
}

impl Classify for OperationError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotReady => ErrorCode::NotReady,
            Self::ProductNotFound => ErrorCode::ProductNotFound,
            Self::BrandNotFound => ErrorCode::BrandNotFound,
            Self::CategoryNotFound => ErrorCode::CategoryNotFound,
            Self::ExpiredCursor { .. } => ErrorCode::CursorExpired,
            Self::ForeignCursor { .. } | Self::TooManyIdents { .. } => ErrorCode::Validation,
            Self::Overloaded => ErrorCode::Overloaded,
            Self::Internal => ErrorCode::Internal,
        }
    }
}
