use crate::generated::dice::fold;
use crate::shop::Shop;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The token that the theme's pages contain.
    pub(crate) public: String,
    /// A token with every read scope.
    pub(crate) merchant: String,
}

/// Returns a store's tokens, which depend on the store's id. The public token also depends on the number of renewals.
pub(crate) fn tokens(shop: &Shop) -> Tokens {
    let shop_id = shop.catalogue.persona().shop_id();
    let token = |first: u64| format!("{:016x}{:016x}", fold(&[shop_id, first]), fold(&[shop_id, first + 1]));
    Tokens {
        public: token(1 + 16 * shop.renewals()),
        merchant: token(3),
    }
}
