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

/// Most ids of one [`VARIANTS_BY_ID`]: the platform takes no longer list of anything (`MAX_INPUT_SIZE_EXCEEDED`).
pub const VARIANT_IDS_MAX: usize = 250;

/// Most ids of one [`PRODUCTS_BY_ID`]: what 1,000 points allow.
pub const PRODUCT_IDS_MAX: usize = 14;
