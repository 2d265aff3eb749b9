use std::borrow::Cow;

use data_index::{BrandEntry, Release};
use data_model::{ProductId, ProductIdent};

use crate::columns::Values::{Integer, Number, Text, Texts};
use crate::columns::{Column, maybe, stated};

fn seller(release: &Release, id: ProductId) -> Option<&BrandEntry> {
    let at = release.find(&ProductIdent::Id(id))?;
    Some(release.brand_of(at))
}

fn store(entry: &BrandEntry) -> Cow<'_, str> {
    Cow::Borrowed(entry.facts.brand.store.as_str())
}

fn slug(entry: &BrandEntry) -> Cow<'_, str> {
    Cow::Borrowed(entry.facts.brand.slug.as_str())
}

/// The table has each pair in both directions.
pub(crate) static PRODUCT_MATCHES: &[Column] = &[
    stated(
        "store",
        Text(|release, row| seller(release, row.matched(release)?.id()).map(store)),
    ),
    stated(
        "brand_slug",
        Text(|release, row| seller(release, row.matched(release)?.id()).map(slug)),
    ),
    stated(
        "product_id",
        Text(|release, row| Some(Cow::Owned(row.matched(release)?.id().to_string()))),
    ),
    stated(
        "other_store",
        Text(|release, row| seller(release, row.matched(release)?.other_id()).map(store)),
    ),
    stated(
        "other_brand_slug",
        Text(|release, row| seller(release, row.matched(release)?.other_id()).map(slug)),
    ),
    stated(
        "other_product_id",
        Text(|release, row| Some(Cow::Owned(row.matched(release)?.other_id().to_string()))),
    ),
    maybe(
        "variant_id",
        Integer(|release, row| Some(row.matched(release)?.variants()?.0.0.cast_signed())),
    ),
    maybe(
        "other_variant_id",
        Integer(|release, row| Some(row.matched(release)?.variants()?.1.0.cast_signed())),
    ),
    stated(
        "confidence",
        Number(|release, row| Some(row.matched(release)?.confidence())),
    ),
    stated(
        "basis",
        Text(|release, row| Some(Cow::Borrowed(row.matched(release)?.basis()))),
    ),
    stated(
        "reasons",
        Texts(|release, row| {
            let found = row.matched(release);
            found.map(|found| found.reasons().collect()).unwrap_or_default()
        }),
    ),
];
