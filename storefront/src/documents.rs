//! GraphQL documents for requests to stores, valid for Storefront API version 2026-04.
//!
//! Calls without a token may cost 1,000 points, and each document states its cost. `$country` may be null, because the
//! argument of `@inContext` is nullable. Shopify then uses the country of the machine's location.

/// Reads prices and availability of variants. Variables: `$ids` (at most [`VARIANT_IDS_MAX`]), `$country`. Operation:
/// `Variants`.
pub const VARIANTS_BY_ID: &str = include_str!("documents/variants.graphql");

/// Reads whole products with their variants. Variables: `$ids` (at most [`PRODUCT_IDS_MAX`]), `$country`. Operation:
/// `Products`.
pub const PRODUCTS_BY_ID: &str = include_str!("documents/products.graphql");

/// Reads the categories of products. Variables: `$ids` (at most [`CATEGORY_IDS_MAX`]). Operation: `Categories`.
pub const CATEGORIES_BY_ID: &str = include_str!("documents/categories.graphql");

/// Reads the variants of one product from the last one on. Variables: `$id`, `$after`, `$country`. Operation:
/// `RestOfVariants`.
pub const REST_OF_VARIANTS: &str = include_str!("documents/rest_of_variants.graphql");

/// Reads the shop's policies. No variables. Operation: `Policies`.
pub const POLICIES: &str = include_str!("documents/policies.graphql");

/// Reads the countries that the shop ships to. No variables. Operation: `ShopCountries`.
pub const SHOP_COUNTRIES: &str = include_str!("documents/shop_countries.graphql");

/// Maximum number of ids in one [`VARIANTS_BY_ID`]. Shopify accepts no longer list (`MAX_INPUT_SIZE_EXCEEDED`).
pub const VARIANT_IDS_MAX: usize = 250;

/// Maximum number of ids in one [`PRODUCTS_BY_ID`], limited by the 1,000 points.
pub const PRODUCT_IDS_MAX: usize = 14;

/// Maximum number of ids in one [`CATEGORIES_BY_ID`], well below 1,000 points.
pub const CATEGORY_IDS_MAX: usize = 200;

macro_rules! of_carts {
    ($file:literal) => {
        concat!(include_str!($file), include_str!("documents/cart_fragment.graphql"))
    };
}

/// Creates a cart. Variables: `$input`. Operation: `CartCreate`.
pub const CART_CREATE: &str = of_carts!("documents/cart_create.graphql");
/// Reads a cart. Variables: `$cartId`. Operation: `CartRead`.
pub const CART_READ: &str = of_carts!("documents/cart_read.graphql");
/// Adds cart lines. Variables: `$cartId`, `$lines`. Operation: `CartLinesAdd`.
pub const CART_LINES_ADD: &str = of_carts!("documents/cart_lines_add.graphql");
/// Sets the quantities of cart lines. Variables: `$cartId`, `$lines`. Operation: `CartLinesUpdate`.
pub const CART_LINES_UPDATE: &str = of_carts!("documents/cart_lines_update.graphql");
/// Removes cart lines. Variables: `$cartId`, `$lineIds`. Operation: `CartLinesRemove`.
pub const CART_LINES_REMOVE: &str = of_carts!("documents/cart_lines_remove.graphql");
/// Replaces the cart's list of discount codes. Variables: `$cartId`, `$discountCodes`. Operation: `CartDiscountCodes`.
pub const CART_DISCOUNT_CODES: &str = of_carts!("documents/cart_discount_codes.graphql");
/// Sets the buyer of a cart. Variables: `$cartId`, `$buyerIdentity`. Operation: `CartBuyerIdentity`.
pub const CART_BUYER_IDENTITY: &str = of_carts!("documents/cart_buyer_identity.graphql");
/// Sets the cart's attributes. Variables: `$cartId`, `$attributes`. Operation: `CartAttributes`.
pub const CART_ATTRIBUTES: &str = of_carts!("documents/cart_attributes.graphql");
/// Replaces the cart's list of addresses. Variables: `$cartId`, `$addresses`. The selected address decides the delivery
/// options. Operation: `CartAddresses`.
pub const CART_ADDRESSES: &str = of_carts!("documents/cart_addresses.graphql");
/// Selects delivery options. Variables: `$cartId`, `$selectedDeliveryOptions`. Operation: `CartDeliveryOptions`.
pub const CART_DELIVERY_OPTIONS: &str = of_carts!("documents/cart_delivery_options.graphql");

/// Creates a customer. Variables: `$input`. Operation: `CustomerCreate`. Needs an access token.
pub const CUSTOMER_CREATE: &str = include_str!("documents/customer_create.graphql");
/// Signs a customer in. Variables: `$input`. Operation: `CustomerTokenCreate`. Needs an access token.
pub const CUSTOMER_TOKEN_CREATE: &str = include_str!("documents/customer_token_create.graphql");
/// Extends the validity of a customer's token. Variables: `$customerAccessToken`. Operation: `CustomerTokenRenew`.
/// Needs an access token.
pub const CUSTOMER_TOKEN_RENEW: &str = include_str!("documents/customer_token_renew.graphql");
/// Reads the URL of the page on which customers sign in without a password. No variables. Operation: `ShopAccounts`.
pub const SHOP_ACCOUNTS: &str = include_str!("documents/shop_accounts.graphql");

/// Maximum number of cart lines that the documents read.
pub const CART_LINES_MAX: usize = 100;
