use std::borrow::Cow;

/// Most variants that are read of one product; the platform's own limit.
pub const VARIANTS_MAX: usize = 2048;
/// Most images that are read of one product; the platform's own limit.
pub const IMAGES_MAX: usize = 250;
/// Most options that are read of one product; the platform allows three.
pub const OPTIONS_MAX: usize = 16;
/// Most values that are read of one option.
pub const OPTION_VALUES_MAX: usize = VARIANTS_MAX;
/// Most unreadable variants that are listed with the reason; the others are counted.
pub const BAD_VARIANTS_MAX: usize = 8;
/// Most barcodes that are read of one variant.
pub(crate) const BARCODES_MAX: usize = 8;
/// Most tags that are read of one product; the platform allows 250.
pub const TAGS_MAX: usize = 500;

/// One product as a store states it. Text is as answered, JSON escapes decoded and nothing else; what the store left
/// out or stated as `null` is `None` or empty. Lists are cut at the bounds of this module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawProduct<'a> {
    /// The platform's id.
    pub id: u64,
    /// Its title.
    pub title: Option<Cow<'a, str>>,
    /// Its name in URLs.
    pub handle: Option<Cow<'a, str>>,
    /// Its description as HTML.
    pub body_html: Option<Cow<'a, str>>,
    /// Its vendor.
    pub vendor: Option<Cow<'a, str>>,
    /// Its product type.
    pub product_type: Option<Cow<'a, str>>,
    /// Its tags; where they are stated as one text, that text is divided at its commas.
    pub tags: Vec<Cow<'a, str>>,
    /// Its options.
    pub options: Vec<RawOption<'a>>,
    /// Its variants.
    pub variants: Vec<RawVariant<'a>>,
    /// Variants that the store stated, before the list was cut.
    pub variants_stated: usize,
    /// Of those that were looked at the first [`BAD_VARIANTS_MAX`] that cannot be read.
    pub bad_variants: Vec<BadVariant>,
    /// Its images.
    pub images: Vec<RawImage<'a>>,
    /// The moment of its creation, as text.
    pub created_at: Option<Cow<'a, str>>,
    /// The moment of its publication, as text.
    pub published_at: Option<Cow<'a, str>>,
    /// The moment of its last change, as text.
    pub updated_at: Option<Cow<'a, str>>,
}

/// A variant whose shape is not that of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadVariant {
    /// The platform's id, where it could be read.
    pub id: Option<u64>,
    /// Its place among the product's variants, from 1.
    pub position: usize,
    /// The reason, for an operator: `price: expected text, found object`.
    pub reason: String,
}

/// One variant as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawVariant<'a> {
    /// The platform's id.
    pub id: u64,
    /// Its title.
    pub title: Option<Cow<'a, str>>,
    /// Its values of the product's first three options.
    pub options: [Option<Cow<'a, str>>; 3],
    /// Its stock keeping unit.
    pub sku: Option<Cow<'a, str>>,
    /// Its barcode; few lists of products have it.
    pub barcode: Option<Cow<'a, str>>,
    /// Its price: decimal text, character for character as stated (a JSON number gives its own text).
    pub price: Option<Cow<'a, str>>,
    /// Its price before a markdown, likewise.
    pub compare_at_price: Option<Cow<'a, str>>,
    /// The store would sell it.
    pub available: Option<bool>,
    /// Shipping weight.
    pub grams: Option<u64>,
    /// Its place among the variants.
    pub position: Option<u64>,
    /// Its own picture, without the variants that it shows.
    pub featured_image: Option<Box<RawImage<'a>>>,
}

/// One picture as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawImage<'a> {
    /// Its address.
    pub src: Option<Cow<'a, str>>,
    /// Its alternative text.
    pub alt: Option<Cow<'a, str>>,
    /// Its place among the images.
    pub position: Option<u64>,
    /// Width in pixels.
    pub width: Option<u64>,
    /// Height in pixels.
    pub height: Option<u64>,
    /// The variants it shows.
    pub variant_ids: Vec<u64>,
}

/// One option as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawOption<'a> {
    /// Its name.
    pub name: Option<Cow<'a, str>>,
    /// Its place among the options.
    pub position: Option<u64>,
    /// Its values.
    pub values: Vec<Cow<'a, str>>,
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl RawProduct<'_> {
    /// The same product, borrowing nothing.
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

/// Tags stated as one text, divided at the commas.
pub(crate) fn split_tags(joined: &str) -> impl Iterator<Item = &str> {
    joined
        .split(',')
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
        .take(TAGS_MAX)
}
