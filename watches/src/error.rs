use data_model::{Classify, ErrorCode};
use state::{MasterKeyError, OpenError, StateError};
use storefront::address::Refusal;

use crate::market::MarketError;

/// The reason why an operation on watches fails.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The caller is not known, or did not sign in.
    #[error("watches are for callers with a key, or who signed in")]
    Anonymous,
    /// No such watch, or not the caller's.
    #[error("there is no such watch")]
    Unknown,
    /// No such product.
    #[error("no such product")]
    NoProduct,
    /// The product has no such variant.
    #[error("the product has no such variant")]
    NoVariant,
    /// The receiver's address is not one that anybody is sent to.
    #[error("the address is refused")]
    Address(#[from] Refusal),
    /// The server sends no mail.
    #[error("this server sends no mail")]
    NoMail,
    /// Nobody proved that the caller reads the address's mail.
    #[error(
        "mails go to the address alone that the account signs in with by mail: sign in with it, or use a key of that account"
    )]
    Unproved,
    /// Mails are not signed with a secret.
    #[error("only a watch with a webhook has a secret")]
    NoSecret,
    /// The receiver's address is not encrypted.
    #[error("the address is not https")]
    Plain,
    /// The caller has as many watches as a caller may have.
    #[error("a caller has at most {max} watches")]
    TooMany {
        /// Most watches.
        max: u32,
    },
    /// Another request was made under the idempotency key.
    #[error("another request was made under this key")]
    Mismatch,
    /// The market says nothing.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// The state does not answer, or refuses.
    #[error(transparent)]
    State(#[from] StateError),
    /// A target cannot be sealed.
    #[error("a watch cannot be sealed")]
    Seal(#[from] MasterKeyError),
    /// A target cannot be opened.
    #[error("a watch cannot be opened")]
    Open(#[from] OpenError),
    /// A row holds what this program cannot read.
    #[error("a watch cannot be read")]
    Json(#[from] serde_json::Error),
    /// The operating system gives no random bytes.
    #[error("no random bytes")]
    Random,
}

impl Classify for WatchError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Anonymous => ErrorCode::MissingCredentials,
            Self::Unknown => ErrorCode::WatchNotFound,
            Self::NoProduct => ErrorCode::ProductNotFound,
            Self::NoVariant | Self::Address(_) | Self::Plain | Self::NoMail | Self::Unproved | Self::NoSecret => {
                ErrorCode::Validation
            }
            Self::TooMany { .. } => ErrorCode::Forbidden,
            Self::Mismatch => ErrorCode::IdempotencyMismatch,
            Self::Market(error) => error.code(),
            Self::State(error) if error.is_transient() => ErrorCode::NotReady,
            Self::State(_) | Self::Seal(_) | Self::Open(_) | Self::Json(_) | Self::Random => ErrorCode::Internal,
        }
    }
}
