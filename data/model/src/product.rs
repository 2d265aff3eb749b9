use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{CategoryId, CurrencyCode, Kind, ProductKey, Size, Timestamp, VariantId};

/// One product of one store, normalised: what the lake stores and a release serves.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Its natural key, from which both public ids follow.
    pub key: ProductKey,
    /// The store's own name of the product in URLs.
    pub handle: String,
    /// Title as the store states it, white space folded; never empty.
    pub title: String,
    /// Description as safe plain text: no markup, paragraphs divided by newlines; may be empty.
    pub description: String,
    /// The vendor, where stated and not blank.
    pub vendor: Option<String>,
    /// The store's own product type, where stated and not blank.
    pub product_type: Option<String>,
    /// Category by rules, where a rule fits.
    pub category: Option<CategoryId>,
    /// The store's tags, blank ones and repetitions dropped, in the store's order.
    pub tags: Vec<String>,
    /// Options in order; empty when the product has one default variant.
    pub options: Vec<ProductOption>,
    /// Structured attributes such as `color`, `size`, `material`; names lower case and unique.
    pub attributes: Vec<Attribute>,
    /// Images and videos in display order.
    pub media: Vec<Media>,
    /// Variants in the store's order; never empty.
    pub variants: Vec<Variant>,
    /// The currency of every price of the product.
    pub currency: CurrencyCode,
    /// Rating, where the store publishes one.
    pub rating: Option<Rating>,
    /// Recent reviews, newest first, where the store publishes them.
    pub reviews: Vec<Review>,
    /// When the store says it was created.
    pub created_at: Option<Timestamp>,
    /// When the store says it was published.
    pub published_at: Option<Timestamp>,
    /// When the store says it last changed; it moves on stock changes too.
    pub updated_at: Option<Timestamp>,
}

/// Lengths at which the platform's lists of variants end, whatever comes behind.
const LIST_VARIANTS: [usize; 2] = [100, 250];

impl Product {
    /// `true` where these are all of its variants, as far as its store's list tells. It is cut where a value of an
    /// option is no variant's, or where it is as long as such lists are at most and its options combine to more.
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

    /// Its kind, as far as its title, its product type and its price tell.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let is_free = self.variants.iter().all(|variant| variant.price_minor == 0);
        Kind::of(&self.title, self.product_type.as_deref(), is_free)
    }

    /// Roughly the size of its texts with all variants, pictures and reviews, in bytes.
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
    /// `Size`, `Colour`, …, as stated.
    pub name: String,
    /// Its values, as stated.
    pub values: Vec<String>,
}

/// A structured attribute, normalised for filters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attribute {
    /// Lower-case name: `color`, `size`, `material`, …
    pub name: String,
    /// Values in the order found, without repetition.
    pub values: Vec<String>,
}

/// The kind of a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A still picture.
    Image,
    /// A film, hosted by the store or elsewhere.
    Video,
}

impl MediaKind {
    /// The kind as answers and tables spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

/// One picture or film of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Absolute `https` (or, for a store on loopback, `http`) address.
    pub url: String,
    /// Its kind.
    pub kind: MediaKind,
    /// Alternative text, where stated.
    pub alt: Option<String>,
    /// Width in pixels, where stated.
    pub width: Option<u32>,
    /// Height in pixels, where stated.
    pub height: Option<u32>,
}

/// The value that a variant has for one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionValue {
    /// The option's name.
    pub name: String,
    /// The variant's value.
    pub value: String,
}

/// One buyable form of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The platform's id.
    pub id: VariantId,
    /// The variant's title; empty for the one default variant.
    pub title: String,
    /// Stock keeping unit, where stated and not blank.
    pub sku: Option<String>,
    /// Barcode as stated, where one is; [`crate::Gtin::read`] tells whether it names a product.
    pub barcode: Option<String>,
    /// Its size, where an option is one and can be read.
    pub size: Option<Size>,
    /// The variant's option values, in the product's option order; empty for the one default variant.
    pub options: Vec<OptionValue>,
    /// Price in minor units of the product's currency.
    pub price_minor: i64,
    /// List price before a markdown; only where it is above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` where the store would sell it now.
    pub available: bool,
    /// Shipping weight in grams, where stated and above zero.
    pub grams: Option<u32>,
    /// Address of the variant's own picture, where it has one.
    pub image: Option<String>,
}

/// A product's rating on a scale of five.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Mean, from 0 to 5.
    pub average: f32,
    /// The number of ratings that it is the mean of.
    pub count: u32,
}

/// One review of a product.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// Stars, from 0 to 5.
    pub rating: f32,
    /// Its writer, as published.
    pub author: Option<String>,
    /// Its headline, where it has one.
    pub title: Option<String>,
    /// Its text, plain.
    pub body: String,
    /// When it was written, where stated.
    pub created_at: Option<Timestamp>,
}

/// The prices and stock of a product on a card; they follow from the variants alone.
///
/// A price of 0 is no price: what goes with a purchase, a sample. Such variants decide no price, unless all are of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceSummary {
    /// Lowest price of all variants that have one; 0 where none has.
    pub price_min_minor: i64,
    /// Highest price of all variants.
    pub price_max_minor: i64,
    /// List price of the variant that gives the lowest price, where it is marked down.
    pub compare_at_minor: Option<i64>,
    /// The markdown's share of that list price in percent, rounded half up.
    pub discount_pct: Option<u8>,
    /// `true` where any variant is available.
    pub in_stock: bool,
}

impl PriceSummary {
    /// Summarises variants; `None` for none. Of several variants at the lowest price the first counts.
    #[must_use]
    pub fn of(variants: &[Variant]) -> Option<Self> {
        // Those with a price come first.
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

    /// A product whose options have so many values, of whose combinations the first so many are listed.
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
        // A store need not sell every combination.
        assert!(listed(&[4, 4], 13).variants_complete());
        assert!(!listed(&[4, 4], 12).variants_complete());
    }
}
