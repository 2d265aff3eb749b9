use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{CategoryId, CurrencyCode, Kind, ProductKey, Size, Timestamp, VariantId};

/// A normalised product of one store, as the lake stores it and a release serves it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Natural key of the product, which determines both public ids.
    pub key: ProductKey,
    /// The store's own name of the product in URLs.
    pub handle: String,
    /// Title as the store states it, with whitespace collapsed. Never empty.
    pub title: String,
    /// Description as safe plain text without markup, which may be empty. Newlines separate paragraphs.
    pub description: String,
    /// Vendor of the product, if stated and not blank.
    pub vendor: Option<String>,
    /// The store's own product type, if stated and not blank.
    pub product_type: Option<String>,
    /// Category that a rule assigns, if one matches.
    pub category: Option<CategoryId>,
    /// The store's tags in the store's order, without blanks and duplicates.
    pub tags: Vec<String>,
    /// Options in the store's order. Empty if the product has a single default variant.
    pub options: Vec<ProductOption>,
    /// Structured attributes such as `color`, `size` and `material`. Names are lowercase and unique.
    pub attributes: Vec<Attribute>,
    /// Images and videos in display order.
    pub media: Vec<Media>,
    /// Variants in the store's order. Never empty.
    pub variants: Vec<Variant>,
    /// Currency of all prices of the product.
    pub currency: CurrencyCode,
    /// Rating of the product, if the store publishes one.
    pub rating: Option<Rating>,
    /// Recent reviews, newest first, if the store publishes them.
    pub reviews: Vec<Review>,
    /// Time at which the product was created, according to the store.
    pub created_at: Option<Timestamp>,
    /// Time at which the product was published, according to the store.
    pub published_at: Option<Timestamp>,
    /// Time of the last change of the product or its stock, according to the store.
    pub updated_at: Option<Timestamp>,
}

/// Lengths at which the platform truncates lists of variants.
const LIST_VARIANTS: [usize; 2] = [100, 250];

impl Product {
    /// Returns `true` if the list of variants appears to be complete. A list is truncated if an option value occurs in
    /// no variant, or if the list has the platform's maximum length and the options allow more combinations.
    #[must_use]
    pub fn variants_complete(&self) -> bool {
        let listed = self.variants.len();
        let counts = self.options.iter().map(|option| option.values.len().max(1));
        let may_be_cut = LIST_VARIANTS.contains(&listed) && counts.fold(1, usize::saturating_mul) > listed;
        let own = self.variants.iter().flat_map(|variant| &variant.options);
        let own: HashSet<_> = own.map(|own| (own.name.as_str(), own.value.as_str())).collect();
        let mut values = self
            .options
            .iter()
            .flat_map(|option| option.values.iter().map(|value| (option.name.as_str(), value.as_str())));
        !may_be_cut && values.all(|value| own.contains(&value))
    }

    /// Returns the kind of the product, derived from its title, product type and price.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let is_free = self.variants.iter().all(|variant| variant.price_minor == 0);
        Kind::of(&self.title, self.product_type.as_deref(), is_free)
    }

    /// Returns the approximate size of the product's texts in bytes, including variants, media and reviews.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let values = |values: &[String]| values.iter().map(String::len).sum::<usize>();
        let variants = self.variants.iter().map(|variant| {
            let options = variant
                .options
                .iter()
                .map(|option| option.name.len() + option.value.len());
            let codes = len(&variant.sku) + len(&variant.barcode);
            64 + variant.title.len() + codes + len(&variant.image) + options.sum::<usize>()
        });
        let media = self.media.iter().map(|media| 32 + media.url.len() + len(&media.alt));
        let reviews = self.reviews.iter();
        let reviews = reviews.map(|review| 32 + len(&review.author) + len(&review.title) + review.body.len());
        let options = self
            .options
            .iter()
            .map(|option| option.name.len() + values(&option.values));
        let attributes = self
            .attributes
            .iter()
            .map(|attribute| attribute.name.len() + values(&attribute.values));
        let texts = [&self.handle, &self.title, &self.description];
        texts.iter().map(|text| text.len()).sum::<usize>()
            + len(&self.vendor)
            + len(&self.product_type)
            + values(&self.tags)
            + variants
                .chain(media)
                .chain(reviews)
                .chain(options)
                .chain(attributes)
                .sum::<usize>()
    }
}

/// An option of a product with its values, in the store's order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductOption {
    /// Name of the option as stated, such as `Size` or `Colour`.
    pub name: String,
    /// Values of the option as stated.
    pub values: Vec<String>,
}

/// A structured attribute, normalised for filters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attribute {
    /// Lowercase name, such as `color`, `size` or `material`.
    pub name: String,
    /// Values in the order found, without duplicates.
    pub values: Vec<String>,
}

crate::named! {
    /// Kind of a media item.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum MediaKind {
        /// A still image.
        Image = "image",
        /// A video, hosted by the store or elsewhere.
        Video = "video",
    }
}

/// An image or video of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Absolute `https` URL, or `http` for a store on loopback.
    pub url: String,
    /// Kind of the media item.
    pub kind: MediaKind,
    /// Alternative text, if stated.
    pub alt: Option<String>,
    /// Width in pixels, if stated.
    pub width: Option<u32>,
    /// Height in pixels, if stated.
    pub height: Option<u32>,
}

/// Value of one option of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionValue {
    /// Name of the option.
    pub name: String,
    /// Value of the option for this variant.
    pub value: String,
}

/// A variant: one form of a product that can be bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The platform's id of the variant.
    pub id: VariantId,
    /// Title of the variant. Empty if the product has a single default variant.
    pub title: String,
    /// Stock keeping unit (SKU), if stated and not blank.
    pub sku: Option<String>,
    /// Barcode as stated, if any. [`crate::Gtin::read`] checks it.
    pub barcode: Option<String>,
    /// Size of the variant, if an option states a size that can be parsed.
    pub size: Option<Size>,
    /// Option values of the variant, in the order of the product's options. Empty for a single default variant.
    pub options: Vec<OptionValue>,
    /// Price in minor units of the product's currency.
    pub price_minor: i64,
    /// List price before a markdown. Present only if above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` if the store would sell the variant now.
    pub available: bool,
    /// Shipping weight in grams, if stated and above zero.
    pub grams: Option<u32>,
    /// URL of the variant's own image, if it has one.
    pub image: Option<String>,
}

/// Rating of a product on a scale of 0 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Mean rating, from 0 to 5.
    pub average: f32,
    /// Number of ratings behind the mean.
    pub count: u32,
}

/// One review of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Star rating, from 0 to 5.
    pub rating: f32,
    /// Name of the review's author, as published.
    pub author: Option<String>,
    /// Headline of the review, if it has one.
    pub title: Option<String>,
    /// Text of the review, as plain text.
    pub body: String,
    /// Time at which the review was written, if stated.
    pub created_at: Option<Timestamp>,
}

/// Price and stock summary of a product for a product card, derived from the variants alone.
///
/// A price of 0 means that a variant has no price, such as a sample or a gift with a purchase. Such variants do not
/// affect the summary, unless no variant has a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceSummary {
    /// Lowest price among the variants that have a price, or 0.
    pub price_min_minor: i64,
    /// Highest price of all variants.
    pub price_max_minor: i64,
    /// List price of the variant with the lowest price, if that variant is marked down.
    pub compare_at_minor: Option<i64>,
    /// Discount relative to that list price in percent, rounded half up.
    pub discount_pct: Option<u8>,
    /// `true` if any variant is available.
    pub in_stock: bool,
}

impl PriceSummary {
    /// Summarises variants. Returns `None` for an empty list. Among variants with the lowest price, the first counts.
    #[must_use]
    pub fn of(variants: &[Variant]) -> Option<Self> {
        // Variants with a price sort first.
        let lowest = variants
            .iter()
            .min_by_key(|variant| (variant.price_minor <= 0, variant.price_minor))?;
        let highest = variants.iter().map(|variant| variant.price_minor).max()?;
        let has_price = lowest.price_minor > 0;
        let compare_at_minor = lowest
            .compare_at_minor
            .filter(|list| has_price && *list > lowest.price_minor);
        let discount_pct = compare_at_minor.and_then(|list| {
            let (list, off) = (i128::from(list), i128::from(list - lowest.price_minor));
            u8::try_from((off * 200 + list) / (list * 2)).ok()
        });
        Some(Self {
            price_min_minor: lowest.price_minor,
            price_max_minor: highest,
            compare_at_minor,
            discount_pct,
            in_stock: variants.iter().any(|variant| variant.available),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(price_minor: i64, compare_at_minor: Option<i64>, available: bool) -> Variant {
        Variant {
            id: VariantId(1),
            title: String::new(),
            sku: None,
            barcode: None,
            size: None,
            options: Vec::new(),
            price_minor,
            compare_at_minor,
            available,
            grams: None,
            image: None,
        }
    }

    #[test]
    fn the_discount_is_that_of_the_variant_with_the_lowest_price() {
        let variants = [
            variant(900, Some(3000), true),
            variant(800, Some(1000), false),
            variant(800, None, true),
        ];
        let summary = PriceSummary::of(&variants).unwrap();
        let expected = PriceSummary {
            price_min_minor: 800,
            price_max_minor: 900,
            compare_at_minor: Some(1000),
            discount_pct: Some(20),
            in_stock: true,
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn a_variant_of_price_0_decides_no_price_beside_one_that_has_a_price() {
        let gift = variant(0, Some(500), true);
        let summary = PriceSummary::of(&[gift.clone(), variant(99_900, None, false)]).unwrap();
        assert_eq!((summary.price_min_minor, summary.price_max_minor), (99_900, 99_900));
        assert_eq!((summary.compare_at_minor, summary.in_stock), (None, true));
        let alone = PriceSummary::of(&[gift.clone(), gift]).unwrap();
        assert_eq!((alone.price_min_minor, alone.price_max_minor), (0, 0));
        assert_eq!((alone.compare_at_minor, alone.discount_pct), (None, None));
    }

    #[test]
    fn the_share_is_rounded_half_up_and_never_overflows() {
        let pct = |price, list| {
            PriceSummary::of(&[variant(price, Some(list), true)])
                .unwrap()
                .discount_pct
        };
        assert_eq!(pct(875, 1000), Some(13));
        assert_eq!(pct(1, i64::MAX), Some(100));
        assert_eq!(pct(0, i64::MAX), None);
        assert_eq!(pct(1000, 1000), None);
        assert_eq!(PriceSummary::of(&[]), None);
    }

    /// The product has the first `listed` combinations of its options as variants.
    fn listed(counts: &[usize], listed: usize) -> Product {
        let options: Vec<ProductOption> = counts
            .iter()
            .zip('a'..)
            .map(|(count, name)| ProductOption {
                name: name.to_string(),
                values: (0..*count).map(|value| value.to_string()).collect(),
            })
            .collect();
        let all: usize = counts.iter().product();
        let variants = (0..listed.min(all)).map(|at| {
            let mut rest = at;
            let chosen = options.iter().rev().map(|option| {
                let value = option.values[rest % option.values.len()].clone();
                rest /= option.values.len();
                OptionValue {
                    name: option.name.clone(),
                    value,
                }
            });
            Variant {
                options: chosen.collect(),
                ..variant(100, None, true)
            }
        });
        Product {
            variants: variants.collect(),
            options,
            key: ProductKey {
                store: "tea.example".parse().unwrap(),
                platform_id: 1,
            },
            handle: String::new(),
            title: "Tea".to_owned(),
            description: String::new(),
            vendor: None,
            product_type: None,
            category: None,
            tags: Vec::new(),
            attributes: Vec::new(),
            media: Vec::new(),
            currency: "INR".parse().unwrap(),
            rating: None,
            reviews: Vec::new(),
            created_at: None,
            published_at: None,
            updated_at: None,
        }
    }

    #[test]
    fn a_list_that_the_platform_cuts_is_never_told_to_be_whole_and_a_whole_one_always_is() {
        for counts in [
            vec![],
            vec![1],
            vec![7],
            vec![100],
            vec![250],
            vec![2, 50],
            vec![20, 20],
            vec![5, 10, 8],
            vec![2, 200],
        ] {
            let all: usize = counts.iter().product();
            assert!(listed(&counts, all).variants_complete(), "{counts:?}");
            for cut in [100, 250].into_iter().filter(|cut| *cut < all) {
                assert!(!listed(&counts, cut).variants_complete(), "{counts:?} {cut}");
            }
        }
        // A store does not have to sell every combination.
        assert!(listed(&[4, 4], 13).variants_complete());
        assert!(!listed(&[4, 4], 12).variants_complete());
    }
}
