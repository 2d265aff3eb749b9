//! Fields that a client may read, with or without a token.

use crate::shop::Shop;
use crate::tokens::tokens;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Scopes {
    /// True if the client has a token, so that the cost of its queries is not limited.
    pub(super) has_token: bool,
    pub(super) inventory: bool,
    pub(super) tags: bool,
    pub(super) metafields: bool,
}

impl Scopes {
    /// Returns the scopes of a token, or those without a token. Returns `None` for a token that is not the store's.
    pub(super) fn of(shop: &Shop, token: Option<&str>) -> Option<Self> {
        let Some(token) = token else {
            return Some(Self::default());
        };
        let tokens = tokens(shop);
        if token == tokens.merchant {
            return Some(Self {
                has_token: true,
                inventory: true,
                tags: true,
                metafields: true,
            });
        }
        (token == tokens.public).then_some(Self {
            has_token: true,
            inventory: false,
            tags: true,
            metafields: true,
        })
    }
}

/// Start of the message about a field that the client may not read.
pub(super) const DENIED: &str = "Access denied for ";

/// Returns the message about a field that needs a scope.
pub(super) fn denied(field: &str, scope: &str) -> String {
    format!("{DENIED}{field} field. Required access: `{scope}` access scope.")
}
