/// One thing that is wrong with what was asked: a `CartUserError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// `CartErrorCode`.
    pub(crate) code: &'static str,
    /// The path to the argument; indices of lists are written as texts.
    pub(crate) field: Vec<String>,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, field: &[&str], message: impl Into<String>) -> Self {
        Self {
            code,
            field: field.iter().map(|part| (*part).to_owned()).collect(),
            message: message.into(),
        }
    }
}

/// The reasons why a cart was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CartRefusal {
    pub(crate) errors: Vec<Refusal>,
    /// True where the answer shows the unchanged cart; else it shows none.
    pub(crate) shows_cart: bool,
}

impl CartRefusal {
    /// The answer shows no cart.
    pub(crate) fn whole(error: Refusal) -> Self {
        Self {
            errors: vec![error],
            shows_cart: false,
        }
    }

    /// The answer shows the cart as it is.
    pub(crate) fn beside(errors: Vec<Refusal>) -> Self {
        Self {
            errors,
            shows_cart: true,
        }
    }
}

/// A notice to a buyer about a cart that was changed: a `CartWarning`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// `CartWarningCode`.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The line that it is about; the cart where `None`.
    pub(crate) line: Option<uuid::Uuid>,
}
