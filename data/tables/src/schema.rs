use std::borrow::Cow;

use data_index::columns::{Cards, DetailsRow, FacetKey, ReviewRef, VariantCodes, VariantRef};
use data_index::{BrandEntry, Release, taxonomy};
use data_model::{CategoryId, Rating};
use data_text::segment;

use crate::columns::Values::{Double, Flag, Integer, Moment, Named, NamedLists, Number, Text, Texts};
use crate::columns::{Column, NamedValue, maybe, stated};
use crate::content::{Content, department};
use crate::rows::{Each, Row};

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) each: Each,
    pub(crate) columns: &'static [Column],
}

pub(crate) static TABLES: &[Table] = &[
    Table {
        name: "products",
        each: Each::Product,
        columns: PRODUCTS,
    },
    Table {
        name: "variants",
        each: Each::Variant,
        columns: VARIANTS,
    },
    Table {
        name: "reviews",
        each: Each::Review,
        columns: REVIEWS,
    },
    Table {
        name: "facets",
        each: Each::Facet,
        columns: FACETS,
    },
    Table {
        name: "brands",
        each: Each::Brand,
        columns: BRANDS,
    },
    Table {
        name: "product_matches",
        each: Each::Match,
        columns: crate::matched::PRODUCT_MATCHES,
    },
];

fn borrowed(text: &str) -> Option<Cow<'_, str>> {
    Some(Cow::Borrowed(text))
}

fn owned<'a>(value: impl std::fmt::Display) -> Option<Cow<'a, str>> {
    Some(Cow::Owned(value.to_string()))
}

fn cards(release: &Release, row: Row) -> Option<&Cards> {
    Some(row.part(release)?.cards())
}

fn details(release: &Release, row: Row) -> Option<DetailsRow<'_>> {
    Some(row.part(release)?.details().row(row.row))
}

fn codes(release: &Release, row: Row) -> Option<VariantCodes> {
    Some(row.part(release)?.variant_codes(row.row, row.position as usize))
}

fn variant(release: &Release, row: Row) -> Option<VariantRef<'_>> {
    details(release, row)?.variants().nth(row.position as usize)
}

fn content(release: &Release, row: Row) -> Option<Content> {
    Content::of_variant(release, row, &variant(release, row)?)
}

/// A price of 0 means that the price is unknown.
fn price(price_minor: i64) -> Option<i64> {
    (price_minor > 0).then_some(price_minor)
}

fn url(release: &Release, row: Row) -> Option<Cow<'_, str>> {
    let base_url = &row.seller(release).facts.brand.base_url;
    owned(format_args!(
        "{base_url}/products/{}",
        segment(details(release, row)?.handle())
    ))
}

fn review(release: &Release, row: Row) -> Option<ReviewRef<'_>> {
    row.part(release)?.reviews(row.row).nth(row.position as usize)
}

fn facet(release: &Release, row: Row) -> Option<FacetKey<'_>> {
    Some(row.part(release)?.facets().key(row.position))
}

fn category(release: &Release, row: Row) -> Option<CategoryId> {
    cards(release, row)?.category(row.row)
}

fn rating(release: &Release, row: Row) -> Option<Rating> {
    row.part(release)?.rating(row.row)
}

/// Converts an unsigned 64-bit Shopify id to a signed column value with the same bits, as the lake does.
const fn id_column(id: u64) -> i64 {
    id.cast_signed()
}

/// Declares columns: `shared` ones, and others with their kind of values and the function that reads a value.
macro_rules! columns {
    ($($null:ident $name:tt $(: $kind:ident = $read:expr)?;)*) => {
        &[$(columns!(@ $null $name $(: $kind = $read)?)),*]
    };
    (@ shared $column:ident) => {
        $column
    };
    (@ $null:ident $name:tt : $kind:ident = $read:expr) => {
        $null($name, $kind($read))
    };
}

const STORE: Column = stated(
    "store",
    Text(|release, row| borrowed(row.seller(release).facts.brand.store.as_str())),
);
const BRAND_SLUG: Column = stated(
    "brand_slug",
    Text(|release, row| borrowed(row.seller(release).facts.brand.slug.as_str())),
);
const PRODUCT_ID: Column = stated(
    "product_id",
    Text(|release, row| owned(cards(release, row)?.id(row.row))),
);
const PLATFORM_ID: Column = stated(
    "platform_product_id",
    Integer(|release, row| Some(id_column(details(release, row)?.platform_id()))),
);
const CURRENCY: Column = stated(
    "currency",
    Text(|release, row| borrowed(cards(release, row)?.currency(row.row).as_str())),
);
const POSITION: Column = stated("position", Integer(|_, row| Some(i64::from(row.position))));

static PRODUCTS: &[Column] = columns! {
    shared STORE;
    shared BRAND_SLUG;
    stated "brand": Text = |release, row| borrowed(&row.seller(release).facts.brand.name);
    shared PRODUCT_ID;
    stated "product_uid": Text = |release, row| owned(cards(release, row)?.uid(row.row));
    shared PLATFORM_ID;
    stated "handle": Text = |release, row| borrowed(details(release, row)?.handle());
    stated "url": Text = url;
    stated "title": Text = |release, row| borrowed(cards(release, row)?.title(row.row));
    stated "description": Text = |release, row| borrowed(details(release, row)?.description());
    maybe "vendor": Text = |release, row| borrowed(details(release, row)?.vendor()?);
    maybe "product_type": Text = |release, row| borrowed(details(release, row)?.product_type()?);
    maybe "category_id": Integer = |release, row| Some(i64::from(category(release, row)?.0));
    maybe "category_slug": Text = |release, row| borrowed(&taxonomy::by_id(category(release, row)?)?.slug);
    maybe "category_path": Text = |release, row| borrowed(taxonomy::by_id(category(release, row)?)?.path);
    maybe "department": Text = |release, row| borrowed(department(category(release, row)?)?);
    stated "tags": Texts = |release, row| {
        details(release, row)
            .map(|row| row.tags().collect())
            .unwrap_or_default()
    };
    stated "options": NamedLists = |release, row| {
        let options = details(release, row).map(|row| row.options());
        options
            .into_iter()
            .flatten()
            .map(|option| NamedValue {
                name: option.name,
                value: option.values().collect(),
            })
            .collect()
    };
    stated "attributes": NamedLists = |release, row| {
        let attributes = details(release, row).map(|row| row.attributes());
        attributes
            .into_iter()
            .flatten()
            .map(|held| NamedValue {
                name: held.name,
                value: held.values().collect(),
            })
            .collect()
    };
    maybe "image": Text = |release, row| borrowed(cards(release, row)?.image(row.row)?);
    shared CURRENCY;
    maybe "price_min_minor": Integer = |release, row| price(cards(release, row)?.price_min_minor(row.row));
    maybe "price_max_minor": Integer = |release, row| price(cards(release, row)?.price_max_minor(row.row));
    maybe "content_amount": Double = |release, row| Some(Content::of_product(release, row)?.amount);
    maybe "content_unit": Text = |release, row| borrowed(Content::of_product(release, row)?.unit.as_str());
    maybe "unit_price_minor": Integer = |release, row| {
        let price_minor = cards(release, row)?.price_min_minor(row.row);
        Content::of_product(release, row)?.unit_price_minor(price_minor)
    };
    maybe "compare_at_minor": Integer = |release, row| cards(release, row)?.compare_at_minor(row.row);
    maybe "discount_pct": Integer = |release, row| cards(release, row)?.discount_pct(row.row).map(i64::from);
    stated "in_stock": Flag = |release, row| Some(cards(release, row)?.in_stock(row.row));
    stated "on_sale": Flag = |release, row| Some(cards(release, row)?.on_sale(row.row));
    stated "variants_complete": Flag = |release, row| Some(cards(release, row)?.variants_complete(row.row));
    stated "kind": Text = |release, row| borrowed(cards(release, row)?.kind(row.row).as_str());
    stated "variant_count": Integer = |release, row| Some(cards(release, row)?.variant_count(row.row).into());
    maybe "rating_average": Number = |release, row| Some(rating(release, row)?.average);
    maybe "rating_count": Integer = |release, row| Some(rating(release, row)?.count.into());
    stated "review_count": Integer = |release, row| i64::try_from(row.part(release)?.reviews(row.row).len()).ok();
    maybe "created_at": Moment = |release, row| details(release, row)?.created_at();
    maybe "published_at": Moment = |release, row| details(release, row)?.published_at();
    maybe "updated_at": Moment = |release, row| details(release, row)?.updated_at();
    maybe "newest_at": Moment = |release, row| cards(release, row)?.newest_at(row.row);
    stated "quality": Number = |release, row| Some(cards(release, row)?.quality(row.row));
};

static VARIANTS: &[Column] = columns! {
    shared STORE;
    shared BRAND_SLUG;
    shared PRODUCT_ID;
    shared PLATFORM_ID;
    stated "variant_id": Integer = |release, row| Some(id_column(variant(release, row)?.id.0));
    shared POSITION;
    stated "title": Text = |release, row| borrowed(variant(release, row)?.title);
    maybe "sku": Text = |release, row| borrowed(variant(release, row)?.sku?);
    stated "options": Named = |release, row| {
        let options = variant(release, row).map(|variant| variant.options());
        let named = |(name, value)| NamedValue { name, value };
        options.into_iter().flatten().map(named).collect()
    };
    shared CURRENCY;
    maybe "price_minor": Integer = |release, row| price(variant(release, row)?.price_minor);
    maybe "content_amount": Double = |release, row| Some(content(release, row)?.amount);
    maybe "content_unit": Text = |release, row| borrowed(content(release, row)?.unit.as_str());
    maybe "unit_price_minor": Integer = |release, row|
        content(release, row)?.unit_price_minor(variant(release, row)?.price_minor);
    maybe "compare_at_minor": Integer = |release, row| variant(release, row)?.compare_at_minor;
    stated "available": Flag = |release, row| Some(variant(release, row)?.available);
    maybe "grams": Integer = |release, row| variant(release, row)?.grams.map(i64::from);
    maybe "image": Text = |release, row| borrowed(variant(release, row)?.image?);
    maybe "barcode": Text = |release, row| Some(Cow::Owned(codes(release, row)?.barcode?.to_string()));
    maybe "size_normalized": Text = |release, row| Some(Cow::Owned(codes(release, row)?.size?.to_string()));
    maybe "size_system": Text = |release, row| borrowed(codes(release, row)?.size?.system().as_str());
    maybe "size_ordinal": Double = |release, row| Some(codes(release, row)?.size?.ordinal());
};

static REVIEWS: &[Column] = columns! {
    shared STORE;
    shared BRAND_SLUG;
    shared PRODUCT_ID;
    shared PLATFORM_ID;
    shared POSITION;
    stated "rating": Number = |release, row| Some(review(release, row)?.rating);
    maybe "author": Text = |release, row| borrowed(review(release, row)?.author?);
    maybe "title": Text = |release, row| borrowed(review(release, row)?.title?);
    stated "body": Text = |release, row| borrowed(review(release, row)?.body);
    maybe "created_at": Moment = |release, row| review(release, row)?.created_at;
    stated "source": Text = |release, row| borrowed(review(release, row)?.source);
};

static FACETS: &[Column] = columns! {
    shared STORE;
    shared BRAND_SLUG;
    shared PRODUCT_ID;
    stated "name": Text = |release, row| borrowed(facet(release, row)?.name);
    stated "value": Text = |release, row| borrowed(facet(release, row)?.value);
    stated "label": Text = |release, row| borrowed(facet(release, row)?.display);
};

fn counted(read: fn(&BrandEntry) -> u64, release: &Release, row: Row) -> Option<i64> {
    i64::try_from(read(row.entry(release)?)).ok()
}

static BRANDS: &[Column] = columns! {
    stated "store": Text = |release, row| borrowed(row.entry(release)?.facts.brand.store.as_str());
    stated "brand_slug": Text = |release, row| borrowed(row.entry(release)?.facts.brand.slug.as_str());
    stated "name": Text = |release, row| borrowed(&row.entry(release)?.facts.brand.name);
    stated "domain": Text = |release, row| borrowed(&row.entry(release)?.facts.brand.domain);
    stated "currency": Text = |release, row| borrowed(row.entry(release)?.facts.brand.currency.as_str());
    maybe "country": Text = |release, row| borrowed(row.entry(release)?.facts.brand.country.as_deref()?);
    stated "product_count": Integer = |release, row| counted(|entry| entry.product_count, release, row);
    stated "variant_count": Integer = |release, row| counted(|entry| entry.variant_count, release, row);
    stated "in_stock_count": Integer = |release, row| counted(|entry| entry.in_stock_count, release, row);
    stated "on_sale_count": Integer = |release, row| counted(|entry| entry.on_sale_count, release, row);
    stated "review_count": Integer = |release, row| counted(|entry| entry.review_count, release, row);
    maybe "price_min_minor": Integer = |release, row| row.entry(release)?.price_min_minor;
    maybe "price_max_minor": Integer = |release, row| row.entry(release)?.price_max_minor;
    maybe "rating_average": Number = |release, row| row.entry(release)?.rating;
    stated "rating_count": Integer = |release, row| counted(|entry| entry.rating_count, release, row);
    stated "refreshed_at": Moment = |release, row| Some(row.entry(release)?.facts.refreshed_at);
};
