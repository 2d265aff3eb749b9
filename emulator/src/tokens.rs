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
