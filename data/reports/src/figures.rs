use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A field that a product may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// A title.
    Title,
    /// A description.
    Description,
    /// A picture or a video.
    Media,
    /// A price above nothing.
    Price,
    /// A category of the taxonomy: no rule fits.
    Category,
    /// The store's own product type.
    ProductType,
    /// A vendor.
    Vendor,
    /// A tag.
    Tags,
}

impl Field {
    /// All, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Title,
        Self::Description,
        Self::Media,
        Self::Price,
        Self::Category,
        Self::ProductType,
        Self::Vendor,
        Self::Tags,
    ];

    /// The name that people use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Media => "picture",
            Self::Price => "price",
            Self::Category => "category",
            Self::ProductType => "product type",
            Self::Vendor => "vendor",
            Self::Tags => "tags",
        }
    }

    /// `true` where a market cannot do without it: a rise of products that lack it holds a release back.
    #[must_use]
    pub const fn is_needed(self) -> bool {
        matches!(self, Self::Title | Self::Description | Self::Media | Self::Price)
    }
}

/// The figures of the rows of one brand's products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandFigures {
    /// Products.
    pub products: u64,
    /// Products without it, by what they lack; what none lacks is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<Field, u64>,
    /// Rows that say again what an earlier one says.
    #[serde(default, skip_serializing_if = "Duplicates::is_none")]
    pub duplicates: Duplicates,
    /// Products by the currency of their prices.
    pub currencies: BTreeMap<String, u64>,
}

impl BrandFigures {
    /// Products that lack it.
    #[must_use]
    pub fn without(&self, field: Field) -> u64 {
        self.missing.get(&field).copied().unwrap_or(0)
    }

    /// Products whose prices are in another currency than most of the brand's.
    #[must_use]
    pub fn in_minority_currency(&self) -> u64 {
        self.products
            .saturating_sub(self.currencies.values().copied().max().unwrap_or(0))
    }

    /// The currency of most products.
    #[must_use]
    pub fn currency(&self) -> Option<&str> {
        let most = self.currencies.iter().max_by_key(|(_, products)| **products);
        most.map(|(currency, _)| currency.as_str())
    }
}

/// Products of one brand beyond the first that say the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// The platform's id.
    pub ids: u64,
    /// The handle.
    pub handles: u64,
    /// The title, where there is one. Many stores list each colour of a thing under one title.
    pub titles: u64,
}

impl Duplicates {
    /// `true` where there are none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The moves of prices, as [`PriceMoves::by_size`] counts them, from the deepest fall to the highest rise.
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

/// The moves of the prices of the products that a brand had before and has now: the lowest price of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceMoves {
    /// Products that are there both times.
    pub compared: u64,
    /// Of these, products whose prices are in another currency now: their prices are not compared.
    pub currency_changed: u64,
    /// Of these, products whose price is a jump: so many times what it was, or so small a part of it.
    pub jumped: u64,
    /// Products in the same currency by the size of the move, see [`SIZES`].
    pub by_size: [u64; SIZES.len()],
    /// A few of the jumps, by the platform's id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<PriceMove>,
}

impl PriceMoves {
    /// Products whose price moved at all.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.by_size.iter().sum::<u64>() - self.by_size[UNMOVED]
    }
}

/// One price that jumped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceMove {
    /// The platform's id of the product.
    pub platform_product_id: i64,
    /// Its title.
    pub title: String,
    /// The currency of both prices.
    pub currency: String,
    /// The price before, in minor units.
    pub before_minor: i64,
    /// The price now, in minor units.
    pub now_minor: i64,
}

/// The place of what did not move in [`SIZES`].
pub(crate) const UNMOVED: usize = 4;
/// The most jumps of a brand that are listed.
pub(crate) const EXAMPLES_MAX: usize = 3;
/// Prices beyond this count as this, so that they can be multiplied.
pub(crate) const PRICE_MAX: i64 = 1_000_000_000_000_000;
