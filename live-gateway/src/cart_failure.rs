use std::time::Duration;

use api::{Problem, Rule, Violation};
use data_model::{Classify, ErrorCode, Retry};
use serde_json::json;
use state::{MasterKeyError, OpenError, StateError};

use crate::catalogue::CatalogueError;
use crate::schema::carts::CartProblem;

/// Reasons why an operation on a cart did nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CartFailure {
    /// The caller has no such cart.
    #[error("the caller has no such cart")]
    NoCart,
    /// The cart has no such line.
    #[error("the cart has no such line")]
    NoLine,
    /// The brand is not in the cart, or there is none of that name.
    #[error("the brand is not in the cart")]
    NoBrand,
    /// The request would break a bound of carts: the place in the body, and the rule.
    #[error("the cart would break a bound")]
    Bound(&'static str, &'static str),
    /// None of the items is sold by anybody; what is said of each, in their order.
    #[error("nobody sells any of the items")]
    Unsold(Vec<CartProblem>),
    /// Somebody else changes the cart, and was waited for; for how long they have it, unless they take longer.
    #[error("another request changes the cart")]
    Busy(Duration),
    /// Stores were asked too often to let somebody in; when it may be tried again.
    #[error("stores were asked too often to let somebody in")]
    TooOften(Duration),
    /// There is no brand of that name.
    #[error("there is no such brand")]
    NoSuchBrand,
    /// A store did not do what was all that was asked; in words for the caller.
    #[error("the store: {detail}")]
    Store {
        /// The problem's code.
        code: ErrorCode,
        /// The reason within the code, for programs.
        reason: Option<&'static str>,
        /// For the caller.
        detail: String,
    },
    /// The catalogue does not answer.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The state that is shared cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// Another server took over while this one worked.
    #[error("another server has taken the cart over")]
    TakenOver,
    /// The secrets of carts cannot be sealed.
    #[error(transparent)]
    Seal(#[from] MasterKeyError),
    /// A saved record cannot be opened.
    #[error("a saved record cannot be opened")]
    Open(#[from] OpenError),
    /// An opened record cannot be read, or an answer cannot be written.
    #[error("a saved record cannot be read")]
    Form(#[from] serde_json::Error),
    /// A task ended by a panic, which is logged where it happened.
    #[error("the work ended early")]
    Lost,
    /// The operating system gives no random bytes.
    #[error("the operating system gives no random bytes")]
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

/// The problem of a change that is under way, or was taken over by another server.
pub(crate) fn unknown() -> Problem {
    let detail = "It may be done, or be done yet: read it again to see, or ask again with the same Idempotency-Key.";
    Problem::new(ErrorCode::OutcomeUnknown).detail(detail)
}

impl CartFailure {
    /// The failure of a store that gave no answer, or none that is one.
    pub(crate) fn of_store(code: ErrorCode) -> Self {
        Self::Store {
            code,
            reason: None,
            detail: "The store does not answer as it should.".to_owned(),
        }
    }

    /// True where a part of the request may have been carried out: the same key must go on with it.
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

    /// The problem as the caller gets it; causes that concern only the operator are for the log.
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
                    _ => "Nobody sells any of the items: `problems` tells of each.".to_owned(),
                };
                Problem::of(self).detail(detail).member("problems", json!(items))
            }
            Self::NoBrand => Problem::of(self).detail("The cart has nothing of that brand."),
            Self::Busy(_) => Problem::of(self).detail("Another request changes the cart."),
            Self::TakenOver => unknown(),
            Self::TooOften(_) => {
                let detail = "Too many tries to sign in at stores: of this caller, of this address, or at this brand.";
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
