use arrow::array::{
    Array, BooleanArray, Float32Array, Int64Array, ListArray, StringArray, StructArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow::error::ArrowError;
use data_model::{Attribute, Media, MediaKind, OptionValue, ProductOption, Review, Timestamp, Variant, VariantId};

use super::super::codes::VariantCodes;
use super::super::ipc::cast;
use super::super::lists::{NamedLists, Spans, child, text};

/// An option or attribute with its values, read in place.
#[derive(Debug, Clone)]
pub struct NamedValues<'a> {
    /// Name of the option or attribute, as the product states it.
    pub name: &'a str,
    lists: &'a NamedLists,
    span: std::ops::Range<usize>,
}

impl<'a> NamedValues<'a> {
    pub(super) fn of(lists: &'a NamedLists, row: usize) -> impl ExactSizeIterator<Item = Self> {
        lists.at(row).map(move |(name, span)| Self { name, lists, span })
    }

    /// Returns the values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        self.lists.values(self.span.clone())
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
    /// Alternative text of the image or video.
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
    /// Title; empty for the one default variant.
    pub title: &'a str,
    /// Stock keeping unit (SKU).
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
    columns: &'a Variants,
    options: std::ops::Range<usize>,
}

impl<'a> VariantRef<'a> {
    /// Returns the names and values of the variant's options, in the product's order.
    pub fn options(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> + Clone + use<'a> {
        let columns = self.columns;
        self.options
            .clone()
            .map(move |at| (columns.option_name.value(at), columns.option_value.value(at)))
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

#[derive(Debug)]
pub(super) struct MediaColumns {
    spans: Spans,
    url: StringArray,
    kind: UInt8Array,
    alt: StringArray,
    width: UInt32Array,
    height: UInt32Array,
}

impl MediaColumns {
    pub(super) fn of(list: &ListArray) -> Result<Self, ArrowError> {
        let entries: StructArray = cast(list.values(), "media")?;
        Ok(Self {
            spans: Spans::of(list),
            url: child(&entries, "url")?,
            kind: child(&entries, "kind")?,
            alt: child(&entries, "alt")?,
            width: child(&entries, "width")?,
            height: child(&entries, "height")?,
        })
    }

    pub(super) fn at(&self, row: usize) -> impl ExactSizeIterator<Item = MediaRef<'_>> {
        self.spans.at(row).map(|at| MediaRef {
            url: self.url.value(at),
            kind: if self.kind.value(at) == 0 {
                MediaKind::Image
            } else {
                MediaKind::Video
            },
            alt: text(&self.alt, at),
            width: self.width.is_valid(at).then(|| self.width.value(at)),
            height: self.height.is_valid(at).then(|| self.height.value(at)),
        })
    }
}

#[derive(Debug)]
pub(super) struct Variants {
    spans: Spans,
    id: UInt64Array,
    title: StringArray,
    sku: StringArray,
    option_spans: Spans,
    option_name: StringArray,
    option_value: StringArray,
    price: Int64Array,
    compare_at: Int64Array,
    available: BooleanArray,
    grams: UInt32Array,
    image: StringArray,
}

impl Variants {
    pub(super) fn of(list: &ListArray) -> Result<Self, ArrowError> {
        let entries: StructArray = cast(list.values(), "variants")?;
        let options: ListArray = child(&entries, "options")?;
        let option_entries: StructArray = cast(options.values(), "options")?;
        Ok(Self {
            spans: Spans::of(list),
            id: child(&entries, "id")?,
            title: child(&entries, "title")?,
            sku: child(&entries, "sku")?,
            option_spans: Spans::of(&options),
            option_name: child(&option_entries, "name")?,
            option_value: child(&option_entries, "value")?,
            price: child(&entries, "price_minor")?,
            compare_at: child(&entries, "compare_at_minor")?,
            available: child(&entries, "available")?,
            grams: child(&entries, "grams")?,
            image: child(&entries, "image")?,
        })
    }

    pub(super) fn at(&self, row: usize) -> impl ExactSizeIterator<Item = VariantRef<'_>> {
        self.spans.at(row).map(|at| VariantRef {
            id: VariantId(self.id.value(at)),
            title: self.title.value(at),
            sku: text(&self.sku, at),
            price_minor: self.price.value(at),
            compare_at_minor: self.compare_at.is_valid(at).then(|| self.compare_at.value(at)),
            available: self.available.value(at),
            grams: self.grams.is_valid(at).then(|| self.grams.value(at)),
            image: text(&self.image, at),
            columns: self,
            options: self.option_spans.at(at),
        })
    }
}

/// Column of lists of reviews, one list per row.
#[derive(Debug)]
pub(crate) struct Reviews {
    spans: Spans,
    rating: Float32Array,
    author: StringArray,
    title: StringArray,
    body: StringArray,
    created_at: Int64Array,
}

impl Reviews {
    pub(crate) fn of(list: &ListArray) -> Result<Self, ArrowError> {
        let entries: StructArray = cast(list.values(), "reviews")?;
        Ok(Self {
            spans: Spans::of(list),
            rating: child(&entries, "rating")?,
            author: child(&entries, "author")?,
            title: child(&entries, "title")?,
            body: child(&entries, "body")?,
            created_at: child(&entries, "created_at")?,
        })
    }

    pub(crate) fn at<'a>(
        &'a self,
        row: usize,
        source: &'a str,
    ) -> impl ExactSizeIterator<Item = ReviewRef<'a>> + use<'a> {
        self.spans.at(row).map(move |at| ReviewRef {
            source,
            rating: self.rating.value(at),
            author: text(&self.author, at),
            title: text(&self.title, at),
            body: self.body.value(at),
            created_at: moment(&self.created_at, at),
        })
    }
}

pub(super) fn moment(array: &Int64Array, at: usize) -> Option<Timestamp> {
    array.is_valid(at).then(|| Timestamp::from_micros(array.value(at)))
}
