//! The fields that a client may read: by its token, or without one.

use crate::shop::Shop;
use crate::tokens::tokens;

/// The scopes of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Scopes {
    /// True where complexity has no bound.
    pub(super) has_token: bool,
    /// Numbers of pieces.
    pub(super) inventory: bool,
    /// A product's tags.
    pub(super) tags: bool,
    /// Values that a merchant attached.
    pub(super) metafields: bool,
}

impl Scopes {
    /// The scopes of a token, or of none; `None` for a token that is not the store's.
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

/// The beginning of the message about a field that may not be read.
pub(super) const DENIED: &str = "Access denied for ";

/// The message about a field that needs a scope.
pub(super) fn denied(field: &str, scope: &str) -> String {
    format!("{DENIED}{field} field. Required access: `{scope}` access scope.")
}
