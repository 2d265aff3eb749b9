/// Error of a cart request: a `CartUserError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    /// Path to the argument. List indices are texts.
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

/// Reasons why a cart was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CartRefusal {
    pub(crate) errors: Vec<Refusal>,
    /// True if the response includes the unchanged cart.
    pub(crate) shows_cart: bool,
}

impl CartRefusal {
    /// Creates a refusal whose response contains no cart.
    pub(crate) fn whole(error: Refusal) -> Self {
        Self {
            errors: vec![error],
            shows_cart: false,
        }
    }

    /// Creates a refusal whose response contains the unchanged cart.
    pub(crate) fn beside(errors: Vec<Refusal>) -> Self {
        Self {
            errors,
            shows_cart: true,
        }
    }
}

/// Notice to the buyer about a changed cart: a `CartWarning`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Line that the notice is about; `None` for the whole cart.
    pub(crate) line: Option<uuid::Uuid>,
}
