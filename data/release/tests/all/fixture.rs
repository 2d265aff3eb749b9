use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use data_embedding::Embedder;
use data_index::{BrandFacts, BuildOptions, Manifest, Release};
use data_model::{
    Attribute, Brand, CategoryId, Media, MediaKind, OptionValue, Product, ProductKey, ProductOption, Rating, Review,
    Size, Timestamp, Variant, VariantId,
};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Catalogue {
    pub(crate) facts: BrandFacts,
    pub(crate) products: Vec<Product>,
}

/// Store 1 has the host `s001.example`. `version` becomes part of the catalogue hash.
pub(crate) fn facts(store: usize, version: u32) -> BrandFacts {
    let brand = Brand {
        store: format!("s{store:03}.example").parse().unwrap(),
        ..kit::brand(&format!("Brand {store}"))
    };
    BrandFacts {
        catalogue_hash: format!("h{store}-{version}"),
        refreshed_at: Timestamp::from_micros(1_700_000_000_000_000),
        ..kit::facts(brand)
    }
}

/// The title contains `version`.
pub(crate) fn product(facts: &BrandFacts, id: u64, version: u32) -> Product {
    Product {
        handle: format!("product-{id}"),
        description: "A soft shirt.".into(),
        vendor: Some(facts.brand.name.clone()),
        product_type: Some("Shirts".into()),
        category: Some(CategoryId(212)),
        tags: vec!["summer".into()],
        variants: vec![Variant {
            sku: Some(format!("SKU-{id}")),
            ..kit::variant(id * 10, 10_000 + i64::try_from(id).unwrap())
        }],
        ..kit::product(&facts.brand, id, &format!("Cotton Shirt v{version} number{id}"))
    }
}

pub(crate) fn catalogue(store: usize, version: u32, products: u64) -> Catalogue {
    let facts = facts(store, version);
    let products = (1..=products).map(|id| product(&facts, id, version)).collect();
    Catalogue { facts, products }
}

/// Plans, builds and assembles the next release as the pipeline does.
pub(crate) fn build(previous: Option<&Manifest>, catalogues: &[Catalogue], rows_max: u32, dir: &Path) -> Manifest {
    build_with(previous, catalogues, rows_max, data_embedding::shipped(), dir)
}

pub(crate) fn build_with(
    previous: Option<&Manifest>,
    catalogues: &[Catalogue],
    rows_max: u32,
    embedder: Option<Arc<dyn Embedder>>,
    dir: &Path,
) -> Manifest {
    let options = BuildOptions {
        rows_max,
        embedder,
        ..BuildOptions::default()
    };
    let stores: Vec<_> = catalogues
        .iter()
        .map(|Catalogue { facts, products }| kit::StoreProducts { facts, products })
        .collect();
    Manifest {
        lake: BTreeMap::from([("products".to_owned(), 7)]),
        ..kit::build_after(previous, &stores, &options, dir)
    }
}

pub(crate) fn open(manifest: &Manifest, dir: &Path) -> Release {
    kit::open(manifest.clone(), dir)
}

/// Returns every product that the release serves, in key order.
pub(crate) fn served(release: &Release) -> Vec<Product> {
    let mut served = Vec::new();
    for part in release.parts() {
        let live = (0..part.rows()).filter(|row| !part.dead().contains(*row));
        served.extend(live.map(|row| part.product(row)));
    }
    served.sort_by(|a, b| a.key.cmp(&b.key));
    served
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z]{1,8}( [a-zA-Z0-9]{1,8}){0,4}",
        1 => "\\PC{0,24}",
        1 => Just("कॉटन कुर्ता é́ 🧵 ﬁ".to_owned()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Color".to_owned()),
        Just("Size".to_owned()),
        Just("colour".to_owned()),
        text()
    ]
}

fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        prop_oneof![
            Just("Red".to_owned()),
            Just("red ".to_owned()),
            Just("XL".to_owned()),
            text()
        ],
        0..4,
    )
}

fn moment() -> impl Strategy<Value = Option<Timestamp>> {
    prop::option::of((0_i64..2_000_000_000_000_000).prop_map(Timestamp::from_micros))
}

fn media() -> impl Strategy<Value = Media> {
    let kind = prop_oneof![Just(MediaKind::Image), Just(MediaKind::Video)];
    (
        text(),
        kind,
        prop::option::of(text()),
        prop::option::of(0..4000_u32),
        prop::option::of(0..4000_u32),
    )
        .prop_map(|(url, kind, alt, width, height)| Media {
            url,
            kind,
            alt,
            width,
            height,
        })
}

/// Generates a barcode text in the form that a release returns.
fn barcode() -> impl Strategy<Value = Option<String>> {
    let known = ["8901030865275", "036000291452", "96385074", "18901030865272"];
    prop::option::of(prop::sample::select(known.to_vec()).prop_map(str::to_owned))
}

fn size() -> impl Strategy<Value = Option<Size>> {
    let known = ["m", "xxl", "uk-8.5", "waist-32", "34b", "6-12m"];
    prop::option::of(prop::sample::select(known.to_vec()).prop_map(|size| size.parse().unwrap()))
}

fn variant() -> impl Strategy<Value = Variant> {
    let option = (name(), text()).prop_map(|(name, value)| OptionValue { name, value });
    let texts = (
        text(),
        prop::option::of(text()),
        prop::option::of(text()),
        prop::collection::vec(option, 0..3),
    );
    let price = prop_oneof![4 => 0..5_000_i64, 1 => Just(i64::MAX)];
    (
        any::<u64>(),
        (texts, barcode(), size()),
        price,
        prop::option::of(1..5_000_i64),
        any::<bool>(),
        prop::option::of(1..9_000_u32),
    )
        .prop_map(
            |(id, ((title, sku, image, options), barcode, size), price_minor, off, available, grams)| Variant {
                id: VariantId(id),
                title,
                sku,
                barcode,
                size,
                options,
                price_minor,
                compare_at_minor: off.and_then(|off| price_minor.checked_add(off)),
                available,
                grams,
                image,
            },
        )
}

fn review() -> impl Strategy<Value = Review> {
    (
        0..=10_u8,
        prop::option::of(text()),
        prop::option::of(text()),
        text(),
        moment(),
    )
        .prop_map(|(stars, author, title, body, created_at)| Review {
            rating: f32::from(stars) / 2.0,
            author,
            title,
            body,
            created_at,
        })
}

/// Every optional field of the product may be present or absent.
pub(crate) fn any_product(store: usize, id: u64) -> impl Strategy<Value = Product> {
    let category = prop::option::of(prop_oneof![Just(212_u32), Just(1604), Just(2271), Just(999_999)]);
    let texts = (
        text(),
        text(),
        text(),
        prop::option::of(text()),
        prop::option::of(text()),
    );
    let lists = (
        prop::collection::vec(text(), 0..4),
        prop::collection::vec(
            (name(), values()).prop_map(|(name, values)| ProductOption { name, values }),
            0..3,
        ),
        prop::collection::vec(
            (name(), values()).prop_map(|(name, values)| Attribute { name, values }),
            0..3,
        ),
        prop::collection::vec(media(), 0..3),
        prop::collection::vec(variant(), 1..4),
        prop::collection::vec(review(), 0..3),
    );
    let currency = prop_oneof![3 => Just("INR"), 1 => Just("USD")];
    let rating = prop::option::of((0..=50_u8, 0..5_000_u32));
    (texts, lists, category, currency, rating, (moment(), moment(), moment())).prop_map(
        move |(texts, lists, category, currency, rating, moments)| Product {
            key: ProductKey {
                store: facts(store, 0).brand.store,
                platform_id: id,
            },
            handle: texts.0,
            title: texts.1,
            description: texts.2,
            vendor: texts.3,
            product_type: texts.4,
            category: category.map(CategoryId),
            tags: lists.0,
            options: lists.1,
            attributes: lists.2,
            media: lists.3,
            variants: lists.4,
            currency: currency.parse().unwrap(),
            rating: rating.map(|(tenths, count)| Rating {
                average: f32::from(tenths) / 10.0,
                count,
            }),
            reviews: lists.5,
            created_at: moments.0,
            published_at: moments.1,
            updated_at: moments.2,
        },
    )
}

pub(crate) fn any_catalogues() -> impl Strategy<Value = Vec<Catalogue>> {
    prop::collection::vec(0..8_u64, 1..5).prop_flat_map(|sizes| {
        let stores = sizes.into_iter().enumerate().map(|(store, size)| {
            let products: Vec<_> = (1..=size).map(|id| any_product(store, id)).collect();
            products.prop_map(move |products| Catalogue {
                facts: facts(store, 0),
                products,
            })
        });
        stores.collect::<Vec<_>>()
    })
}
