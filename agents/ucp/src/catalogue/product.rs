//! Pure conversion of a product of the REST API to the protocol's format.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::filter::PriceFilter;
use crate::ids::Ident;
use crate::wire::{self, BrandOffer, Detail, Offer};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Price {
    amount: i64,
    currency: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Range {
    min: Price,
    max: Price,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Description {
    plain: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Category {
    value: String,
    taxonomy: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Media {
    #[serde(rename = "type")]
    kind: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    alt_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
}

/// Value of an option. If requested, the value has its availability in combination with the selected values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OptionValue {
    pub(crate) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) available: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exists: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ProductOption {
    pub(crate) name: String,
    pub(crate) values: Vec<OptionValue>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct SelectedOption {
    pub(crate) name: String,
    pub(crate) label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Availability {
    available: bool,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Seller {
    name: String,
}

/// Offer of one of several sellers, with the fields of the draft of `offers` (ucp#811).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SellerOffer {
    seller: OfferSeller,
    /// Identifier of the item for this market's carts.
    item_id: String,
    price: Price,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_price: Option<Price>,
    availability: Availability,
    url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OfferSeller {
    domain: String,
    name: String,
}

/// Identifier in a request that led to a variant, with the kind of match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Input {
    pub(crate) id: String,
    #[serde(rename = "match")]
    pub(crate) kind: &'static str,
}

/// Form of a product that can be bought.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Variant {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    title: String,
    description: Description,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    pub(crate) price: Price,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_price: Option<Price>,
    availability: Availability,
    pub(crate) options: Vec<SelectedOption>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Media>,
    seller: Seller,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<Input>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Product {
    pub(crate) id: String,
    title: String,
    description: Description,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<Category>,
    price_range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_price_range: Option<Range>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Media>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<ProductOption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selected: Option<Vec<SelectedOption>>,
    pub(crate) variants: Vec<Variant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    metadata: Value,
    /// All sellers of the product, if there are several. The field has a name of its own while the protocol's field is
    /// a draft.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) haat_offers: Vec<SellerOffer>,
}

impl Availability {
    const fn of(available: bool) -> Self {
        let status = if available { "in_stock" } else { "out_of_stock" };
        Self { available, status }
    }
}

/// Converts a brand's offer. Returns `None` without a price or page.
pub(crate) fn offer(offer: &BrandOffer) -> Option<SellerOffer> {
    let url = url::Url::parse(&offer.url).ok()?;
    let price = |amount| Price {
        amount,
        currency: offer.currency.clone(),
    };
    let variant = offer.variant_id.as_deref();
    (offer.price_minor > 0).then_some(SellerOffer {
        seller: OfferSeller {
            domain: url.host_str()?.to_owned(),
            name: offer.brand.clone(),
        },
        item_id: variant.map_or_else(|| offer.id.clone(), |id| Ident::variant(&offer.id, id).to_string()),
        price: price(offer.price_minor),
        list_price: offer.compare_at_minor.map(price),
        availability: Availability::of(offer.available),
        url: url.to_string(),
    })
}

impl Variant {
    pub(crate) fn is_available(&self) -> bool {
        self.availability.available
    }

    /// True if the variant has all of these options.
    pub(crate) fn has(&self, selected: &[SelectedOption]) -> bool {
        selected.iter().all(|one| self.options.contains(one))
    }
}

/// Returns a text that is an absolute web URL. The protocol does not accept other texts.
fn address(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    matches!(url.scheme(), "https" | "http").then(|| url.to_string())
}

/// Converts a product with the variants within the price limits. The first variant that can be bought comes first.
/// Returns `None` if no variant is within the limits.
pub(crate) fn product(detail: &Detail, prices: &PriceFilter) -> Option<Product> {
    let offers: BTreeMap<&str, &Offer> = detail
        .offers
        .iter()
        .map(|offer| (offer.variant_id.as_str(), offer))
        .collect();
    let mut variants: Vec<Variant> = detail
        .variants
        .iter()
        .filter_map(|one| Some(variant(detail, one, offers.get(one.id.as_str())?)))
        .filter(|one| prices.takes(one.price.amount))
        .collect();
    // The sort is stable, so variants otherwise keep the store's order.
    variants.sort_by_key(|one| !one.is_available());
    let range = |prices: Vec<Price>| {
        // A price of 0 means no price. A free gift, for example, must not set the minimum price.
        let min = prices
            .iter()
            .min_by_key(|price| (price.amount <= 0, price.amount))?
            .clone();
        let max = prices.iter().max_by_key(|price| price.amount)?.clone();
        Some(Range { min, max })
    };
    let all = detail.offers.iter();
    let price_range = range(all.clone().map(|one| price(detail, one.amount_minor)).collect())?;
    if variants.is_empty() {
        return None;
    }
    let is_marked_down = all.clone().any(|one| list_minor(one).is_some());
    let list = all.map(|one| price(detail, list_minor(one).unwrap_or(one.amount_minor)));
    Some(Product {
        id: detail.id.clone(),
        title: detail.title.clone(),
        description: Description {
            plain: detail.attributes.description.clone(),
        },
        url: address(&detail.attributes.url),
        categories: categories(detail),
        price_range,
        list_price_range: range(list.collect()).filter(|_| is_marked_down),
        media: detail.media.iter().filter_map(media).collect(),
        options: options(detail),
        selected: None,
        variants,
        rating: detail
            .rating
            .filter(|_| detail.rating_count > 0)
            .map(|value| json!({ "value": value, "scale_min": 0, "scale_max": 5, "count": detail.rating_count })),
        tags: detail.attributes.tags.clone(),
        metadata: json!({
            "brand": detail.brand,
            "brand_slug": detail.brand_slug,
            "product_uid": detail.product_uid,
        }),
        haat_offers: Vec::new(),
    })
}

/// Returns the price before a markdown. Returns `None` if the offer has no price.
fn list_minor(offer: &Offer) -> Option<i64> {
    offer.compare_at_minor.filter(|_| offer.amount_minor > 0)
}

fn price(detail: &Detail, amount: i64) -> Price {
    Price {
        amount,
        currency: detail.currency.clone(),
    }
}

fn categories(detail: &Detail) -> Vec<Category> {
    let Some(category) = &detail.attributes.category else {
        return Vec::new();
    };
    let of = |value: String, taxonomy| Category { value, taxonomy };
    vec![
        of(category.id.to_string(), "google_product_category"),
        of(category.path.clone(), "google_product_category"),
        of(category.slug.clone(), "merchant"),
    ]
}

fn media(medium: &wire::Medium) -> Option<Media> {
    Some(Media {
        kind: medium.kind.clone(),
        url: address(&medium.url)?,
        alt_text: medium.alt.clone(),
        width: medium.width.filter(|width| *width > 0),
        height: medium.height.filter(|height| *height > 0),
    })
}

fn options(detail: &Detail) -> Vec<ProductOption> {
    let options = detail
        .attributes
        .options
        .iter()
        .filter(|(_, values)| !values.is_empty());
    options
        .map(|(name, values)| ProductOption {
            name: name.clone(),
            values: values.iter().map(|label| value(label)).collect(),
        })
        .collect()
}

fn value(label: &str) -> OptionValue {
    OptionValue {
        label: label.to_owned(),
        available: None,
        exists: None,
    }
}

fn variant(detail: &Detail, variant: &wire::Variant, offer: &Offer) -> Variant {
    let title = if variant.title.is_empty() {
        &detail.title
    } else {
        &variant.title
    };
    let at_store = address(&detail.attributes.url).and_then(|page| {
        let mut page = url::Url::parse(&page).ok()?;
        page.query_pairs_mut().append_pair("variant", &variant.id);
        Some(page.to_string())
    });
    let image = variant.image.as_deref().and_then(address);
    let options = variant.options.iter().map(|(name, label)| SelectedOption {
        name: name.clone(),
        label: label.clone(),
    });
    Variant {
        id: Ident::variant(&detail.id, &variant.id).to_string(),
        sku: variant.sku.clone(),
        title: title.clone(),
        description: Description { plain: title.clone() },
        url: at_store,
        price: price(detail, offer.amount_minor),
        list_price: list_minor(offer).map(|minor| price(detail, minor)),
        availability: Availability::of(offer.available),
        options: options.collect(),
        media: image.into_iter().map(picture).collect(),
        seller: Seller {
            name: detail.brand.clone(),
        },
        inputs: Vec::new(),
    }
}

fn picture(url: String) -> Media {
    Media {
        kind: "image".to_owned(),
        url,
        alt_text: None,
        width: None,
        height: None,
    }
}
