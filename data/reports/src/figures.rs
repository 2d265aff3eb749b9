use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

data_model::named! {
    /// A field that a product may lack.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Field {
        /// Title of the product.
        Title = "title",
        /// Description of the product.
        Description = "description",
        /// An image or video.
        Media = "picture",
        /// A price above zero.
        Price = "price",
        /// Category in the taxonomy. Missing if no rule matches.
        Category = "category",
        /// The store's own product type.
        ProductType = "product type",
        /// Vendor of the product.
        Vendor = "vendor",
        /// At least one tag.
        Tags = "tags",
    }
}

impl Field {
    /// Returns `true` if a market cannot do without the field. A rise of products without it holds a release back.
    #[must_use]
    pub const fn is_needed(self) -> bool {
        matches!(self, Self::Title | Self::Description | Self::Media | Self::Price)
    }
}

/// Quality figures of one brand's products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandFigures {
    /// Number of products.
    pub products: u64,
    /// Number of products without each field. Fields that no product lacks are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<Field, u64>,
    /// Rows that repeat a value of an earlier row.
    #[serde(default, skip_serializing_if = "Duplicates::is_none")]
    pub duplicates: Duplicates,
    /// Number of products by the currency of their prices.
    pub currencies: BTreeMap<String, u64>,
}

impl BrandFigures {
    /// Returns the number of products that lack a field.
    #[must_use]
    pub fn without(&self, field: Field) -> u64 {
        self.missing.get(&field).copied().unwrap_or(0)
    }

    /// Returns the number of products whose prices are not in the brand's most common currency.
    #[must_use]
    pub fn in_minority_currency(&self) -> u64 {
        self.products
            .saturating_sub(self.currencies.values().copied().max().unwrap_or(0))
    }

    /// Returns the most common currency of the products.
    #[must_use]
    pub fn currency(&self) -> Option<&str> {
        let most = self.currencies.iter().max_by_key(|(_, products)| **products);
        most.map(|(currency, _)| currency.as_str())
    }
}

/// Numbers of products of one brand that repeat a value of another product. The first product with each value does not
/// count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Number of repeated platform ids.
    pub ids: u64,
    /// Number of repeated handles.
    pub handles: u64,
    /// Number of repeated titles. Products without a title do not count. Many stores list each colour of a product
    /// under one title.
    pub titles: u64,
}

impl Duplicates {
    /// Returns `true` if there are no duplicates.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Size classes of price changes for [`PriceMoves::by_size`], from the deepest fall to the highest rise.
pub const SIZES: [&str; 9] = [
    "to a tenth or less",
    "to a half or less",
    "by a fifth or more",
    "less",
    "the same",
    "more",
    "by a quarter or more",
    "to twice or more",
    "to ten times or more",
];

/// Changes of the lowest prices of products that a brand had before and still has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceMoves {
    /// Number of products that exist in both states.
    pub compared: u64,
    /// Number of products whose currency changed. Their prices are not compared.
    pub currency_changed: u64,
    /// Number of products with an unchanged currency whose price rose or fell by at least the jump factor.
    pub jumped: u64,
    /// Number of products with an unchanged currency, by size of the price change: see [`SIZES`].
    pub by_size: [u64; SIZES.len()],
    /// Some of the price jumps, by platform id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<PriceMove>,
}

impl PriceMoves {
    /// Returns the number of products whose price changed.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.by_size.iter().sum::<u64>() - self.by_size[UNMOVED]
    }
}

/// A price that jumped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceMove {
    /// The platform's id of the product.
    pub platform_product_id: i64,
    /// Title of the product.
    pub title: String,
    /// Currency of both prices.
    pub currency: String,
    /// Previous price, in minor units.
    pub before_minor: i64,
    /// Current price, in minor units.
    pub now_minor: i64,
}

/// Index of unchanged prices in [`SIZES`].
pub(crate) const UNMOVED: usize = 4;
pub(crate) const EXAMPLES_MAX: usize = 3;
/// Upper bound for prices, so that they can be multiplied without overflow. Higher prices count as this value.
pub(crate) const PRICE_MAX: i64 = 1_000_000_000_000_000;
