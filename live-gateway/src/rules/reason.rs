use data_model::CurrencyCode;

use crate::schema::UnverifiedCode;

/// Reasons why a store's answer is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nonsense {
    /// It is not the document that was asked for.
    #[error("the answer is not as the platform documents it: {0}")]
    Form(String),
    /// An amount cannot be read exactly.
    #[error("an amount cannot be read: {0}")]
    Amount(String),
    /// The interface states hundredths, and the currency has finer units.
    #[error("amounts in {currency} cannot be read exactly from hundredths")]
    TooCoarse {
        /// The currency.
        currency: CurrencyCode,
    },
    /// Something else was answered than was asked for.
    #[error("the store answers with another {what}")]
    Another {
        /// The thing: product, variant.
        what: &'static str,
    },
    /// Amounts are in another currency than those that are stored.
    #[error("the store answers in {answered}, prices are stored in {stored}")]
    Currency {
        /// The currency that came.
        answered: String,
        /// The currency that is stored.
        stored: CurrencyCode,
    },
    /// The currency of the amounts is not stated.
    #[error("the store does not say which currency its amounts are in")]
    CurrencyUnstated,
    /// The store says that it could not answer all of it.
    #[error("the store answers with an error: {0}")]
    Refused(String),
}

/// The reason why a product's live price could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unverified {
    pub(crate) code: UnverifiedCode,
    /// For people.
    pub(crate) detail: String,
}

impl Unverified {
    pub(crate) fn new(code: UnverifiedCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }

    pub(crate) fn timeout() -> Self {
        Self::new(
            UnverifiedCode::StoreTimeout,
            "the store did not answer within the budget",
        )
    }

    pub(crate) fn busy() -> Self {
        Self::new(UnverifiedCode::Busy, "too many stores are being asked at this moment")
    }
}

impl From<Nonsense> for Unverified {
    fn from(nonsense: Nonsense) -> Self {
        let code = match nonsense {
            Nonsense::Currency { .. } => UnverifiedCode::CurrencyDiffers,
            Nonsense::CurrencyUnstated => UnverifiedCode::CurrencyUnknown,
            // It says so itself: nothing that was read is wrong.
            Nonsense::Refused(_) => UnverifiedCode::StoreUnavailable,
            _ => UnverifiedCode::StoreUnreadable,
        };
        Self::new(code, nonsense.to_string())
    }
}
