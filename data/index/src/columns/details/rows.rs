use arrow::array::{Int64Array, StringArray};
use data_model::{Attribute, Media, MediaKind, OptionValue, ProductOption, Review, Timestamp, Variant, VariantId};

use super::super::codes::VariantCodes;
use super::super::table::{Lists, number, text};
use super::{MediaColumns, NamedColumns, OptionColumns, ReviewColumns, VariantColumns};

/// An option or attribute with its values, read in place.
#[derive(Debug, Clone)]
pub struct NamedValues<'a> {
    /// Name of the option or attribute, as the product states it.
    pub name: &'a str,
    texts: &'a StringArray,
    span: std::ops::Range<usize>,
}

impl<'a> NamedValues<'a> {
    pub(super) fn of(lists: &'a Lists<NamedColumns>, row: usize) -> impl ExactSizeIterator<Item = Self> {
        let columns = &lists.items;
        lists.span(row).map(move |at| Self {
            name: columns.name.value(at),
            texts: &columns.values.items,
            span: columns.values.span(at),
        })
    }

    /// Returns the values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let texts = self.texts;
        self.span.clone().map(move |at| texts.value(at))
    }

    pub(crate) fn to_option(&self) -> ProductOption {
        ProductOption {
            name: self.name.to_owned(),
            values: self.values().map(str::to_owned).collect(),
        }
    }

    pub(crate) fn to_attribute(&self) -> Attribute {
        Attribute {
            name: self.name.to_owned(),
            values: self.values().map(str::to_owned).collect(),
        }
    }
}

/// An image or video, read in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaRef<'a> {
    /// Absolute URL.
    pub url: &'a str,
    /// Image or video.
    pub kind: MediaKind,
    /// Alternative text.
    pub alt: Option<&'a str>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

impl MediaRef<'_> {
    pub(crate) fn to_media(self) -> Media {
        let Self {
            url,
            kind,
            alt,
            width,
            height,
        } = self;
        Media {
            url: url.to_owned(),
            kind,
            alt: alt.map(str::to_owned),
            width,
            height,
        }
    }
}

/// A variant, read in place.
#[derive(Debug, Clone)]
pub struct VariantRef<'a> {
    /// Id of the variant on the platform.
    pub id: VariantId,
    /// Title, which is empty for the default variant.
    pub title: &'a str,
    /// Title, which is empty for the default variant.
    pub sku: Option<&'a str>,
    /// Price in minor units of the product's currency.
    pub price_minor: i64,
    /// List price in minor units, if it is above the price.
    pub compare_at_minor: Option<i64>,
    /// True if the store had the variant available at the time of the crawl.
    pub available: bool,
    /// Shipping weight in grams.
    pub grams: Option<u32>,
    /// URL of the variant's own image.
    pub image: Option<&'a str>,
    columns: &'a OptionColumns,
    options: std::ops::Range<usize>,
}

impl<'a> VariantRef<'a> {
    /// Returns the names and values of the variant's options, in the product's order.
    pub fn options(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> + Clone + use<'a> {
        let columns = self.columns;
        self.options
            .clone()
            .map(move |at| (columns.name.value(at), columns.value.value(at)))
    }

    pub(crate) fn to_variant(&self, codes: VariantCodes) -> Variant {
        let option = |(name, value): (&str, &str)| OptionValue {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        Variant {
            id: self.id,
            title: self.title.to_owned(),
            sku: self.sku.map(str::to_owned),
            // A release has only barcodes that identify a product.
            barcode: codes.barcode.map(|barcode| barcode.to_string()),
            size: codes.size,
            options: self.options().map(option).collect(),
            price_minor: self.price_minor,
            compare_at_minor: self.compare_at_minor,
            available: self.available,
            grams: self.grams,
            image: self.image.map(str::to_owned),
        }
    }
}

/// A review, read in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReviewRef<'a> {
    /// Number of stars, from 0 to 5.
    pub rating: f32,
    /// Name of the reviewer.
    pub author: Option<&'a str>,
    /// Headline of the review.
    pub title: Option<&'a str>,
    /// Text of the review.
    pub body: &'a str,
    /// Time at which the review was written.
    pub created_at: Option<Timestamp>,
    /// Publisher of the review: a review app, or [`PAGE`] for the store's own page.
    pub source: &'a str,
}

/// Source name of ratings and reviews from a product's own page.
pub const PAGE: &str = "page";

impl ReviewRef<'_> {
    pub(crate) fn to_review(self) -> Review {
        Review {
            rating: self.rating,
            author: self.author.map(str::to_owned),
            title: self.title.map(str::to_owned),
            body: self.body.to_owned(),
            created_at: self.created_at,
        }
    }
}

impl Lists<MediaColumns> {
    pub(super) fn at(&self, row: usize) -> impl ExactSizeIterator<Item = MediaRef<'_>> {
        let columns = &self.items;
        self.span(row).map(move |at| MediaRef {
            url: columns.url.value(at),
            kind: if columns.kind.value(at) == 0 {
                MediaKind::Image
            } else {
                MediaKind::Video
            },
            alt: text(&columns.alt, at),
            width: number(&columns.width, at),
            height: number(&columns.height, at),
        })
    }
}

impl Lists<VariantColumns> {
    pub(super) fn at(&self, row: usize) -> impl ExactSizeIterator<Item = VariantRef<'_>> {
        let columns = &self.items;
        self.span(row).map(move |at| VariantRef {
            id: VariantId(columns.id.value(at)),
            title: columns.title.value(at),
            sku: text(&columns.sku, at),
            price_minor: columns.price_minor.value(at),
            compare_at_minor: number(&columns.compare_at_minor, at),
            available: columns.available.value(at),
            grams: number(&columns.grams, at),
            image: text(&columns.image, at),
            columns: &columns.options.items,
            options: columns.options.span(at),
        })
    }
}

/// Column of lists of reviews, one list per row.
pub(crate) type Reviews = Lists<ReviewColumns>;

impl Lists<ReviewColumns> {
    pub(crate) fn at<'a>(
        &'a self,
        row: usize,
        source: &'a str,
    ) -> impl ExactSizeIterator<Item = ReviewRef<'a>> + use<'a> {
        let columns = &self.items;
        self.span(row).map(move |at| ReviewRef {
            source,
            rating: columns.rating.value(at),
            author: text(&columns.author, at),
            title: text(&columns.title, at),
            body: columns.body.value(at),
            created_at: moment(&columns.created_at, at),
        })
    }
}

pub(super) fn moment(array: &Int64Array, at: usize) -> Option<Timestamp> {
    number(array, at).map(Timestamp::from_micros)
}
