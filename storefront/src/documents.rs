//! The GraphQL documents that stores are asked with: Storefront API, valid in version 2026-04.
//!
//! Calls without a token may cost 1,000 points; each document says what it costs. A null `$country` is legal (the argument
//! of `@inContext` is nullable) and asks for what the store shows to the machine's own location.

/// Prices and availability of variants: `$ids` ([`VARIANT_IDS_MAX`] at most), `$country`. Operation `Variants`.
pub const VARIANTS_BY_ID: &str = include_str!("documents/variants.graphql");

/// Whole products with their variants: `$ids` ([`PRODUCT_IDS_MAX`] at most), `$country`. Operation `Products`.
pub const PRODUCTS_BY_ID: &str = include_str!("documents/products.graphql");

/// The shop's policies. No variables. Operation `Policies`.
pub const POLICIES: &str = include_str!("documents/policies.graphql");

/// The countries that the shop sends to. No variables. Operation `ShopCountries`.
pub const SHOP_COUNTRIES: &str = include_str!("documents/shop_countries.graphql");

/// Most ids of one [`VARIANTS_BY_ID`]: the platform takes no longer list of anything (`MAX_INPUT_SIZE_EXCEEDED`).
pub const VARIANT_IDS_MAX: usize = 250;

/// Most ids of one [`PRODUCTS_BY_ID`]: what 1,000 points allow.
pub const PRODUCT_IDS_MAX: usize = 14;

/// A document of carts, with the fragment that each of them reads a cart by.
macro_rules! of_carts {
    ($file:literal) => {
        concat!(include_str!($file), include_str!("documents/cart_fragment.graphql"))
    };
}

/// Makes a cart: `$input`. Operation `CartCreate`.
pub const CART_CREATE: &str = of_carts!("documents/cart_create.graphql");
/// Reads a cart: `$cartId`. Operation `CartRead`.
pub const CART_READ: &str = of_carts!("documents/cart_read.graphql");
/// Adds lines: `$cartId`, `$lines`. Operation `CartLinesAdd`.
pub const CART_LINES_ADD: &str = of_carts!("documents/cart_lines_add.graphql");
/// Sets quantities of lines: `$cartId`, `$lines`. Operation `CartLinesUpdate`.
pub const CART_LINES_UPDATE: &str = of_carts!("documents/cart_lines_update.graphql");
/// Takes lines away: `$cartId`, `$lineIds`. Operation `CartLinesRemove`.
pub const CART_LINES_REMOVE: &str = of_carts!("documents/cart_lines_remove.graphql");
/// Sets the whole list of codes: `$cartId`, `$discountCodes`. Operation `CartDiscountCodes`.
pub const CART_DISCOUNT_CODES: &str = of_carts!("documents/cart_discount_codes.graphql");
/// Says who buys: `$cartId`, `$buyerIdentity`. Operation `CartBuyerIdentity`.
pub const CART_BUYER_IDENTITY: &str = of_carts!("documents/cart_buyer_identity.graphql");
/// Sets the cart's attributes: `$cartId`, `$attributes`. Operation `CartAttributes`.
pub const CART_ATTRIBUTES: &str = of_carts!("documents/cart_attributes.graphql");
/// Sets the whole list of addresses; the selected one decides the delivery options: `$cartId`, `$addresses`. Operation
/// `CartAddresses`.
pub const CART_ADDRESSES: &str = of_carts!("documents/cart_addresses.graphql");
/// Chooses delivery options: `$cartId`, `$selectedDeliveryOptions`. Operation `CartDeliveryOptions`.
pub const CART_DELIVERY_OPTIONS: &str = of_carts!("documents/cart_delivery_options.graphql");

/// Makes a customer: `$input`. Operation `CustomerCreate`. Needs a token.
pub const CUSTOMER_CREATE: &str = include_str!("documents/customer_create.graphql");
/// Signs a customer in: `$input`. Operation `CustomerTokenCreate`. Needs a token.
pub const CUSTOMER_TOKEN_CREATE: &str = include_str!("documents/customer_token_create.graphql");
/// Makes a customer's token last longer: `$customerAccessToken`. Operation `CustomerTokenRenew`. Needs a token.
pub const CUSTOMER_TOKEN_RENEW: &str = include_str!("documents/customer_token_renew.graphql");
/// The page on which customers without passwords sign in. No variables. Operation `ShopAccounts`.
pub const SHOP_ACCOUNTS: &str = include_str!("documents/shop_accounts.graphql");

/// Most lines of a cart that the documents read.
pub const CART_LINES_MAX: usize = 100;
