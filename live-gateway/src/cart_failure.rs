use std::time::Duration;

use api::{Problem, Rule, Violation};
use data_model::{Classify, ErrorCode, Retry};
use serde_json::json;
use state::{MasterKeyError, OpenError, StateError};
use storefront::StoreError;

use crate::cart_client::{detail, reason};
use crate::catalogue::CatalogueError;
use crate::schema::carts::CartProblem;

/// Reasons why an operation on a cart did nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CartFailure {
    /// The caller has no cart with this id.
    #[error("the caller has no such cart")]
    NoCart,
    #[error("the cart has no such line")]
    NoLine,
    /// The cart has no such brand, or no brand of that name exists.
    #[error("the brand is not in the cart")]
    NoBrand,
    /// The request would exceed a limit of carts. The fields are the path in the body and the violated rule.
    #[error("the cart would exceed a limit")]
    Bound(&'static str, &'static str),
    /// No store sells any of the items. The list has one problem per item, in the order of the items.
    #[error("no store sells any of the items")]
    Unsold(Vec<CartProblem>),
    /// Another request is changing the cart and did not finish in time. The duration is the rest of that request's
    /// lease, which may be renewed.
    #[error("another request is changing the cart")]
    Busy(Duration),
    /// Too many sign-in attempts were made. After this duration, another attempt is allowed.
    #[error("too many sign-in attempts were sent to stores")]
    TooOften(Duration),
    #[error("there is no such brand")]
    NoSuchBrand,
    /// The only store in the request did not carry it out.
    #[error("the store: {detail}")]
    Store {
        code: ErrorCode,
        /// Machine-readable reason within the code.
        reason: Option<&'static str>,
        /// Message for the caller.
        detail: String,
    },
    /// The catalogue does not respond.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The shared state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// Another server took over the work before this server had finished.
    #[error("another server has taken over the cart")]
    TakenOver,
    /// The cart's secrets cannot be sealed.
    #[error(transparent)]
    Seal(#[from] MasterKeyError),
    /// A saved record cannot be opened.
    #[error("a saved record cannot be decrypted")]
    Open(#[from] OpenError),
    /// A decrypted record cannot be parsed, or a response cannot be serialised.
    #[error("a saved record cannot be read")]
    Form(#[from] serde_json::Error),
    /// A task panicked. The panic is already logged.
    #[error("the operation ended early")]
    Lost,
    /// The operating system returned no random bytes.
    #[error("the operating system does not provide random bytes")]
    Random,
}

impl Classify for CartFailure {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoCart => ErrorCode::CartNotFound,
            Self::Bound(..) => ErrorCode::Validation,
            Self::NoLine => ErrorCode::LineNotFound,
            Self::Unsold(_) => ErrorCode::ProductNotFound,
            Self::NoBrand | Self::NoSuchBrand => ErrorCode::BrandNotFound,
            Self::Busy(_) => ErrorCode::Overloaded,
            Self::TakenOver => ErrorCode::OutcomeUnknown,
            Self::TooOften(_) => ErrorCode::RateLimit,
            Self::Store { code, .. } => *code,
            Self::Catalogue(error) => error.code(),
            Self::State(error) => error.code(),
            Self::Seal(_) | Self::Open(_) | Self::Form(_) | Self::Lost | Self::Random => ErrorCode::Internal,
        }
    }

    fn retry(&self) -> Retry {
        match self {
            Self::Busy(left) | Self::TooOften(left) => Retry::After(*left),
            Self::State(error) if error.is_transient() => Retry::SameKey,
            _ => Retry::Never,
        }
    }
}

/// Returns the problem for a change that is still running or that another server took over.
pub(crate) fn unknown() -> Problem {
    let detail = "The change may have happened, or may still happen. Read the resource to see its state, or repeat \
        the request with the same Idempotency-Key.";
    Problem::new(ErrorCode::OutcomeUnknown).detail(detail)
}

impl CartFailure {
    /// Returns the failure of a store that gave no response or an invalid one.
    pub(crate) fn of_store(error: &StoreError) -> Self {
        Self::Store {
            code: error.code(),
            reason: reason(error.cause()),
            detail: detail(error.cause()).to_owned(),
        }
    }

    /// True if a part of the request may have been carried out. A retry must then use the same idempotency key.
    pub(crate) fn may_have_begun(&self) -> bool {
        if let Self::Store { code, .. } = self {
            return *code != ErrorCode::StoreRejected;
        }
        !matches!(
            self,
            Self::NoCart
                | Self::NoLine
                | Self::NoBrand
                | Self::NoSuchBrand
                | Self::Bound(..)
                | Self::Unsold(_)
                | Self::Busy(_)
                | Self::TooOften(_)
                | Self::Catalogue(_)
        )
    }

    /// Returns the problem for the caller. Causes that only concern the operator are logged.
    pub(crate) fn problem(&self) -> Problem {
        match self {
            Self::NoLine => Problem::of(self).detail("The cart has no such line."),
            Self::Bound(place, words) => {
                let rule = Rule::Value(words);
                Problem::invalid(vec![Violation::new(vec!["body".into(), (*place).into()], &rule, None)])
            }
            Self::Unsold(items) => {
                let detail = match items.as_slice() {
                    [only] => only.detail.clone(),
                    _ => "No store sells any of the items. `problems` states the reason for each item.".to_owned(),
                };
                Problem::of(self).detail(detail).member("problems", json!(items))
            }
            Self::NoBrand => Problem::of(self).detail("The cart contains nothing of that brand."),
            Self::Busy(_) => Problem::of(self).detail("Another request is changing the cart."),
            Self::TakenOver => unknown(),
            Self::TooOften(_) => {
                let detail =
                    "Too many sign-in attempts at stores: by this caller, from this network address, or at this brand.";
                Problem::of(self).detail(detail)
            }
            Self::Store { code, detail, reason } => {
                let problem = match code {
                    ErrorCode::StoreRejected => {
                        let member = match reason {
                            Some("wrong_credentials" | "invalid") => "password",
                            Some("email_taken" | "disabled") => "email",
                            _ => "brand",
                        };
                        Problem::refused_at(*code, vec!["body".into(), member.into()], detail.clone())
                    }
                    _ => Problem::of(self).detail(detail.clone()),
                };
                match reason {
                    Some(reason) => problem.member("reason", *reason),
                    None => problem,
                }
            }
            error => {
                if !matches!(
                    error,
                    Self::NoCart | Self::NoSuchBrand | Self::Catalogue(CatalogueError::NotReady)
                ) {
                    tracing::error!(error = error as &dyn std::error::Error, "an operation on a cart failed");
                }
                Problem::of(self)
            }
        }
    }
}
