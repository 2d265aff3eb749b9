use data_model::{Classify, ErrorCode};
use state::{MasterKeyError, OpenError, StateError};
use storefront::address::Refusal;

use crate::market::MarketError;

/// Reasons why an operation on watches fails.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The caller is unknown or has not signed in.
    #[error("watches need a key or a signed-in account")]
    Anonymous,
    /// The watch does not exist, or belongs to another caller.
    #[error("there is no such watch")]
    Unknown,
    /// The product does not exist.
    #[error("no such product")]
    NoProduct,
    /// The product does not have the requested variant.
    #[error("the product has no such variant")]
    NoVariant,
    /// The receiver's address is not allowed as a target.
    #[error("the address is refused")]
    Address(#[from] Refusal),
    /// The server sends no e-mail.
    #[error("this server sends no mail")]
    NoMail,
    /// It is not proven that the caller owns the e-mail address.
    #[error(
        "e-mails are sent only to the address with which the account signs in: sign in by e-mail, or use a key of \
         that account"
    )]
    Unproved,
    /// E-mails are not signed, so the watch has no secret.
    #[error("only a watch with a webhook has a secret")]
    NoSecret,
    /// The receiver's address does not use TLS.
    #[error("the address must begin with https")]
    Plain,
    /// The caller has reached the maximum number of watches.
    #[error("a caller may have at most {max} watches")]
    TooMany {
        /// Maximum number of watches of one caller.
        max: u32,
    },
    /// A different request was made under the idempotency key.
    #[error("the idempotency key was used with a different request")]
    Mismatch,
    /// The market returned no response.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// The state does not respond, or rejects the operation.
    #[error(transparent)]
    State(#[from] StateError),
    /// The receiver cannot be sealed.
    #[error("a watch cannot be encrypted")]
    Seal(#[from] MasterKeyError),
    /// The receiver cannot be decrypted.
    #[error("a watch cannot be decrypted")]
    Open(#[from] OpenError),
    /// The content of a row cannot be parsed.
    #[error("a watch cannot be read")]
    Json(#[from] serde_json::Error),
    /// The operating system returned no random bytes.
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
