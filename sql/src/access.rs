use std::collections::BTreeSet;
use std::str::FromStr;

use api::{Caller, Via};

use crate::SqlError;

/// Name of the plan whose keys only the operator can create.
const GRANTED: &str = "granted";
/// Value of `sql.keys` that allows no key.
const NOBODY: &str = "none";

/// Set of API keys that may send statements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedKeys {
    granted: bool,
    ids: BTreeSet<String>,
}

/// Error for an invalid value of `sql.keys`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sql.keys: {0:?} must be `granted`, `none` or the id of a key (`key_…`, as `haat keys list` shows it)")]
pub struct InvalidKeys(String);

impl FromStr for AllowedKeys {
    type Err = InvalidKeys;

    fn from_str(text: &str) -> Result<Self, InvalidKeys> {
        let mut allowed = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == GRANTED {
                allowed.granted = true;
            } else if name == NOBODY {
                // The value `none` adds no key. An empty `sql.keys` has another meaning.
            } else if name.starts_with("key_") {
                allowed.ids.insert(name.to_owned());
            } else {
                // The value may be a secret that was pasted by mistake, so the error shows only its first four
                // characters.
                let shown: String = name.chars().take(4).collect();
                return Err(InvalidKeys(format!("{shown}…")));
            }
        }
        Ok(allowed)
    }
}

impl AllowedKeys {
    /// Allows all keys of the `granted` plan, which only the operator assigns.
    #[must_use]
    pub fn granted() -> Self {
        Self {
            granted: true,
            ids: BTreeSet::new(),
        }
    }

    /// Returns true if no key is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.granted && self.ids.is_empty()
    }

    /// Checks that this caller may send statements.
    ///
    /// # Errors
    /// [`SqlError::Anonymous`] or [`SqlError::Forbidden`]
    pub fn check(&self, caller: &Caller) -> Result<(), SqlError> {
        let known = caller.known().ok_or(SqlError::Anonymous)?;
        match &known.via {
            Via::Key { plan, .. } if self.granted && *plan == GRANTED => Ok(()),
            Via::Key { id, .. } if self.ids.contains(id.as_ref()) => Ok(()),
            Via::Key { .. } | Via::Session | Via::Guest { .. } => Err(SqlError::Forbidden),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::{Allowance, CallerId, KnownCaller};

    use super::*;

    fn key(id: &str, plan: &'static str) -> Caller {
        Caller::Known(Arc::new(KnownCaller {
            id: CallerId::key(id),
            via: Via::Key { id: id.into(), plan },
            allowance: Arc::new(Allowance::unlimited()),
        }))
    }

    #[test]
    fn keys_are_allowed_by_plan_or_by_id_and_nobody_else_is() {
        let allowed: AllowedKeys = "granted, key_a".parse().unwrap();
        assert_eq!(allowed.check(&key("key_b", "granted")), Ok(()));
        assert_eq!(allowed.check(&key("key_a", "free")), Ok(()));
        assert_eq!(allowed.check(&key("key_b", "free")), Err(SqlError::Forbidden));
        assert_eq!(allowed.check(&Caller::Anonymous(None)), Err(SqlError::Anonymous));
        let session = KnownCaller {
            id: CallerId::account("a"),
            via: Via::Session,
            allowance: Arc::new(Allowance::unlimited()),
        };
        assert_eq!(
            allowed.check(&Caller::Known(Arc::new(session))),
            Err(SqlError::Forbidden)
        );
        for nobody in ["", "none"] {
            assert!(nobody.parse::<AllowedKeys>().unwrap().is_empty());
        }
        let refused = "haat_live_secret".parse::<AllowedKeys>().unwrap_err().to_string();
        assert!(!refused.contains("secret"), "{refused}");
    }
}
