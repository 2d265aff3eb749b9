use std::borrow::Cow;

use data_index::columns::{Cards, DetailsRow, NamedValues};
use data_index::{DeliveryMatrix, RowAddress, taxonomy};
use data_model::TestedCode;
use data_text::segment;

use super::{TIER, card, discounts, review};
use crate::delivery::Destination;
use crate::error::OperationError;
use crate::schema::{
    Attributes, CategoryRef, Medium, NamedValue, Offer, ProductAnswer, ProductCard, ProductDetail, ProductProvenance,
    Variant,
};
use crate::served::ReleaseView;

/// Maximum number of reviews in a product's detail. The reviews operation lists the others.
const REVIEWS_MAX: usize = 20;

/// Parts of a product's detail to include; by default all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Include {
    /// Variants that can be bought.
    pub variants: bool,
    /// Pictures and videos of the product.
    pub media: bool,
    /// Price and availability of each variant.
    pub offers: bool,
    /// Structured attributes and the description of the product.
    pub attributes: bool,
    /// Latest reviews of the product.
    pub reviews: bool,
    /// Discount codes that worked at the product's store.
    pub discounts: bool,
}

impl Include {
    /// Includes all parts.
    pub const ALL: Self = Self {
        variants: true,
        media: true,
        offers: true,
        attributes: true,
        reviews: true,
        discounts: true,
    };
    /// Includes only the fields of the card.
    pub const NONE: Self = Self {
        variants: false,
        media: false,
        offers: false,
        attributes: false,
        reviews: false,
        discounts: false,
    };
    /// Names of the parts in requests.
    pub const NAMES: [&'static str; 6] = ["variants", "media", "offers", "attributes", "reviews", "discounts"];

    /// Adds a part by its name; returns `false` if the name is unknown.
    #[must_use]
    pub fn add(&mut self, part: &str) -> bool {
        let wanted = match part {
            "variants" => &mut self.variants,
            "media" => &mut self.media,
            "offers" => &mut self.offers,
            "attributes" => &mut self.attributes,
            "reviews" => &mut self.reviews,
            "discounts" => &mut self.discounts,
            _ => return false,
        };
        *wanted = true;
        true
    }
}

impl Default for Include {
    fn default() -> Self {
        Self::ALL
    }
}

/// Parts of a product to include, with the required data.
#[derive(Debug)]
pub(crate) struct ProductParts<'a> {
    pub(crate) include: Include,
    /// Destination of the delivery, if requested.
    pub(crate) to: Option<&'a Destination>,
    /// Tests of discount codes at the product's store.
    pub(crate) tests: &'a [TestedCode],
}

pub(crate) fn answer<'a>(
    served: &'a ReleaseView,
    at: RowAddress,
    parts: &ProductParts<'a>,
) -> Result<ProductAnswer<'a>, OperationError> {
    Ok(ProductAnswer {
        data: detail(served, at, parts).ok_or(OperationError::ProductNotFound)?,
        provenance: provenance(served, at),
        tier: TIER,
    })
}

pub(super) fn provenance(served: &ReleaseView, at: RowAddress) -> ProductProvenance<'_> {
    ProductProvenance {
        release: served.id_text().into(),
        refreshed_at: served.release.brand_of(at).facts.refreshed_at,
        ignored: None,
    }
}

fn detail<'a>(served: &'a ReleaseView, at: RowAddress, parts: &ProductParts<'a>) -> Option<ProductDetail<'a>> {
    let ProductParts { include, to, tests } = *parts;
    let ProductCard {
        id,
        product_uid,
        title,
        brand,
        brand_slug,
        price_min_minor,
        compare_at_minor,
        discount_pct,
        currency,
        in_stock,
        variants_complete,
        rating,
        image,
        ..
    } = card::card(served, at)?;
    let part = served.release.part(at.part)?;
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let rated = part.rating(at.row);
    let known = &served.release.brand_of(at).facts.brand;
    let reviews = || part.reviews(at.row).take(REVIEWS_MAX).map(review::review);
    Some(ProductDetail {
        id,
        product_uid,
        title,
        brand,
        brand_slug,
        price_min_minor,
        compare_at_minor,
        discount_pct,
        currency,
        in_stock,
        variants_complete,
        kind: cards.kind(at.row).as_str().into(),
        rating,
        image,
        price_max_minor: cards.price_max_minor(at.row),
        rating_count: rated.map_or(0, |rating| rating.count),
        rating_source: rated.map(|_| part.review_source(at.row).into()),
        delivers_to_india: (served.release.brand_index(&known.store))
            .and_then(|brand| served.release.delivery(brand))
            .and_then(DeliveryMatrix::serves),
        delivery: to.map(|to| card::delivery(served, at, to)),
        media: include.media.then(|| media(&details)),
        variants: include.variants.then(|| variants(&details)),
        offers: include.offers.then(|| offers(cards, at.row, &details)),
        attributes: (include.attributes).then(|| attributes(cards, at.row, &details, &known.base_url)),
        reviews: include.reviews.then(|| reviews().collect()),
        discounts: include
            .discounts
            .then(|| discounts::discounts(&served.release, at, tests)),
    })
}

fn media<'a>(details: &DetailsRow<'a>) -> Vec<Medium<'a>> {
    let media = details.media().map(|media| Medium {
        url: media.url.into(),
        kind: media.kind.as_str().into(),
        alt: media.alt.map(Into::into),
        width: media.width,
        height: media.height,
    });
    media.collect()
}

fn variants<'a>(details: &DetailsRow<'a>) -> Vec<Variant<'a>> {
    let variants = details.variants().map(|variant| {
        let options = variant.options().map(|(name, value)| NamedValue {
            name: name.into(),
            value: value.into(),
        });
        Variant {
            id: variant.id.to_string().into(),
            sku: variant.sku.map(Into::into),
            title: variant.title.into(),
            options: options.collect(),
            image: variant.image.map(Into::into),
        }
    });
    variants.collect()
}

fn offers<'a>(cards: &Cards, row: u32, details: &DetailsRow<'a>) -> Vec<Offer<'a>> {
    let currency = cards.currency(row).as_str();
    let offers = details.variants().map(|variant| Offer {
        variant_id: variant.id.to_string().into(),
        amount_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        currency: currency.into(),
        available: variant.available,
    });
    offers.collect()
}

fn attributes<'a>(cards: &Cards, row: u32, details: &DetailsRow<'a>, base_url: &str) -> Attributes<'a> {
    let category = cards.category(row).and_then(taxonomy::by_id);
    Attributes {
        description: details.description().into(),
        vendor: details.vendor().map(Into::into),
        product_type: details.product_type().map(Into::into),
        tags: details.tags().map(Into::into).collect(),
        category: category.map(|category| CategoryRef {
            id: category.id.0,
            slug: category.slug.as_str().into(),
            name: category.name.into(),
            path: category.path.into(),
        }),
        url: format!("{base_url}/products/{}", segment(details.handle())).into(),
        options: named_values(details.options()),
        attributes: named_values(details.attributes()),
        created_at: details.created_at(),
        published_at: details.published_at(),
        updated_at: details.updated_at(),
    }
}

fn named_values<'a>(named: impl Iterator<Item = NamedValues<'a>>) -> Vec<NamedValue<'a, Vec<Cow<'a, str>>>> {
    let named = named.map(|one| NamedValue {
        name: one.name.into(),
        value: one.values().map(Into::into).collect(),
    });
    named.collect()
}
