use data_model::CurrencyCode;

use crate::schema::UnverifiedCode;

/// Reasons why a store's response is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nonsense {
    /// The document has a different form than expected.
    #[error("the answer does not have the form that the platform documents: {0}")]
    Form(String),
    /// An amount cannot be parsed exactly.
    #[error("an amount cannot be read: {0}")]
    Amount(String),
    /// The interface states hundredths, but the currency has smaller units.
    #[error("amounts in {currency} cannot be read exactly because they are stated in hundredths")]
    TooCoarse { currency: CurrencyCode },
    /// The response is about another object than the request.
    #[error("the answer is about a different {what}")]
    Another {
        /// Kind of the object: product, variant.
        what: &'static str,
    },
    /// The amounts are in a different currency than the stored prices.
    #[error("the store answers in {answered}, but prices are stored in {stored}")]
    Currency { answered: String, stored: CurrencyCode },
    /// The response does not state the currency of its amounts.
    #[error("the store does not state the currency of its amounts")]
    CurrencyUnstated,
    /// The store reports that it could not execute the complete query.
    #[error("the store answers with an error: {0}")]
    Refused(String),
}

/// Reason why a product has no verified price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unverified {
    pub(crate) code: UnverifiedCode,
    /// Explanation for people why the price is not verified.
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
            "the store did not answer within the time budget",
        )
    }

    pub(crate) fn busy() -> Self {
        Self::new(UnverifiedCode::Busy, "too many stores are being queried at the moment")
    }
}

impl From<Nonsense> for Unverified {
    fn from(nonsense: Nonsense) -> Self {
        let code = match nonsense {
            Nonsense::Currency { .. } => UnverifiedCode::CurrencyDiffers,
            Nonsense::CurrencyUnstated => UnverifiedCode::CurrencyUnknown,
            // The store reports the failure itself, so the response is not malformed.
            Nonsense::Refused(_) => UnverifiedCode::StoreUnavailable,
            _ => UnverifiedCode::StoreUnreadable,
        };
        Self::new(code, nonsense.to_string())
    }
}
