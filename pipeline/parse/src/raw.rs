use std::borrow::Cow;

/// Maximum number of variants read of one product, which is Shopify's limit.
pub const VARIANTS_MAX: usize = 2048;
/// Maximum number of images read of one product, which is Shopify's limit.
pub const IMAGES_MAX: usize = 250;
/// Maximum number of options read of one product. Shopify allows three.
pub const OPTIONS_MAX: usize = 16;
/// Maximum number of values read of one option.
pub const OPTION_VALUES_MAX: usize = VARIANTS_MAX;
/// Maximum number of unreadable variants that are listed with the reason. Further ones are only counted.
pub const BAD_VARIANTS_MAX: usize = 8;
pub(crate) const BARCODES_MAX: usize = 8;
/// Maximum number of tags read of one product. Shopify allows 250.
pub const TAGS_MAX: usize = 500;

/// Product as a store states it. Texts are verbatim except for decoded JSON escapes. Missing and `null` values are
/// `None` or empty. Lists are truncated to the limits in this module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawProduct<'a> {
    /// Shopify's id of the product.
    pub id: u64,
    /// Title of the product.
    pub title: Option<Cow<'a, str>>,
    /// Name of the product in URLs.
    pub handle: Option<Cow<'a, str>>,
    /// Description as HTML.
    pub body_html: Option<Cow<'a, str>>,
    /// Vendor of the product.
    pub vendor: Option<Cow<'a, str>>,
    /// Product type.
    pub product_type: Option<Cow<'a, str>>,
    /// Tags. A single text of tags is split at its commas.
    pub tags: Vec<Cow<'a, str>>,
    /// Options of the product.
    pub options: Vec<RawOption<'a>>,
    /// Variants of the product.
    pub variants: Vec<RawVariant<'a>>,
    /// Number of variants that the store stated, before truncation.
    pub variants_stated: usize,
    /// Unreadable variants, at most the first [`BAD_VARIANTS_MAX`].
    pub bad_variants: Vec<BadVariant>,
    /// Images of the product.
    pub images: Vec<RawImage<'a>>,
    /// Creation time, as text.
    pub created_at: Option<Cow<'a, str>>,
    /// Publication time, as text.
    pub published_at: Option<Cow<'a, str>>,
    /// Time of the last change, as text.
    pub updated_at: Option<Cow<'a, str>>,
}

/// Variant that is not in the form of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadVariant {
    /// Shopify's id, if it could be read.
    pub id: Option<u64>,
    /// Position among the product's variants, starting at 1.
    pub position: usize,
    /// Reason for an operator, such as `price: expected text, found object`.
    pub reason: String,
}

/// Variant as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawVariant<'a> {
    /// Shopify's id of the variant.
    pub id: u64,
    /// Title of the variant.
    pub title: Option<Cow<'a, str>>,
    /// Values for the product's first three options.
    pub options: [Option<Cow<'a, str>>; 3],
    /// Stock keeping unit (SKU).
    pub sku: Option<Cow<'a, str>>,
    /// Barcode, which only few product lists contain.
    pub barcode: Option<Cow<'a, str>>,
    /// Price as verbatim decimal text. A JSON number keeps its own text.
    pub price: Option<Cow<'a, str>>,
    /// Price before a discount, as verbatim decimal text.
    pub compare_at_price: Option<Cow<'a, str>>,
    /// True if the store sells the variant now.
    pub available: Option<bool>,
    /// Shipping weight in grams.
    pub grams: Option<u64>,
    /// Position among the variants.
    pub position: Option<u64>,
    /// Image of the variant, without the list of variants that the image shows.
    pub featured_image: Option<Box<RawImage<'a>>>,
}

/// Image as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawImage<'a> {
    /// URL of the image.
    pub src: Option<Cow<'a, str>>,
    /// Alternative text.
    pub alt: Option<Cow<'a, str>>,
    /// Position among the images.
    pub position: Option<u64>,
    /// Width in pixels.
    pub width: Option<u64>,
    /// Height in pixels.
    pub height: Option<u64>,
    /// Ids of the variants that the image shows.
    pub variant_ids: Vec<u64>,
}

/// Option as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawOption<'a> {
    /// Name of the option.
    pub name: Option<Cow<'a, str>>,
    /// Position among the options.
    pub position: Option<u64>,
    /// Values of the option.
    pub values: Vec<Cow<'a, str>>,
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl RawProduct<'_> {
    /// Converts the product to an owned value that borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> RawProduct<'static> {
        RawProduct {
            id: self.id,
            title: self.title.map(owned),
            handle: self.handle.map(owned),
            body_html: self.body_html.map(owned),
            vendor: self.vendor.map(owned),
            product_type: self.product_type.map(owned),
            tags: self.tags.into_iter().map(owned).collect(),
            options: self.options.into_iter().map(RawOption::into_owned).collect(),
            variants: self.variants.into_iter().map(RawVariant::into_owned).collect(),
            variants_stated: self.variants_stated,
            bad_variants: self.bad_variants,
            images: self.images.into_iter().map(RawImage::into_owned).collect(),
            created_at: self.created_at.map(owned),
            published_at: self.published_at.map(owned),
            updated_at: self.updated_at.map(owned),
        }
    }
}

impl RawVariant<'_> {
    fn into_owned(self) -> RawVariant<'static> {
        RawVariant {
            id: self.id,
            title: self.title.map(owned),
            options: self.options.map(|value| value.map(owned)),
            sku: self.sku.map(owned),
            barcode: self.barcode.map(owned),
            price: self.price.map(owned),
            compare_at_price: self.compare_at_price.map(owned),
            available: self.available,
            grams: self.grams,
            position: self.position,
            featured_image: self.featured_image.map(|image| Box::new(image.into_owned())),
        }
    }
}

impl RawImage<'_> {
    fn into_owned(self) -> RawImage<'static> {
        RawImage {
            src: self.src.map(owned),
            alt: self.alt.map(owned),
            position: self.position,
            width: self.width,
            height: self.height,
            variant_ids: self.variant_ids,
        }
    }
}

impl RawOption<'_> {
    fn into_owned(self) -> RawOption<'static> {
        RawOption {
            name: self.name.map(owned),
            position: self.position,
            values: self.values.into_iter().map(owned).collect(),
        }
    }
}

pub(crate) fn split_tags(joined: &str) -> impl Iterator<Item = &str> {
    joined
        .split(',')
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
        .take(TAGS_MAX)
}
