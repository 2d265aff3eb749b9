//! The fields that a client may read: by its token, or without one.

use crate::generated::dice::fold;
use crate::shop::Shop;

/// The Storefront tokens of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The one that the theme's pages carry.
    pub(crate) public: String,
    /// One with every scope for reading.
    pub(crate) merchant: String,
}

/// A store's tokens: they follow from its id, and the public one from how often it was renewed.
pub(crate) fn tokens(shop: &Shop) -> Tokens {
    let shop_id = shop.catalogue.persona().shop_id();
    let token = |first: u64| format!("{:016x}{:016x}", fold(&[shop_id, first]), fold(&[shop_id, first + 1]));
    Tokens {
        public: token(1 + 16 * shop.renewals()),
        merchant: token(3),
    }
}

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
