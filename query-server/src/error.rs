use data_model::{Classify, ErrorCode};

/// Reasons why an operation gives no answer.
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
    /// The cursor is not of the list that is asked for.
    #[error("not a cursor of this list")]
    ForeignCursor {
        /// As it was sent.
        cursor: String,
    },
    /// The cursor is of another release than is served now.
    #[error("a cursor of another release")]
    ExpiredCursor {
        /// As it was sent.
        cursor: String,
    },
    /// More was asked for at once than is answered.
    #[error("{asked} idents were sent, at most {max} are answered at once")]
    TooManyIdents {
        /// Most that are answered.
        max: usize,
        /// The number that was asked for.
        asked: usize,
    },
    /// More work than the server can take now.
    #[error("too busy")]
    Overloaded,
    /// A fault of the server; the log has it.
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
