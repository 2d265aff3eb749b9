use data_index::{BuildError, BuildOptions, RowAddress, taxonomy};
use data_model::{CategoryId, PriceSummary, ProductIdent};
use data_release::PartBuilder;
use data_text::{Analysis, code_of};
use proptest::prelude::*;

use crate::fixture::{any_catalogues, build, catalogue, facts, open, product, served};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_built_is_what_is_opened(catalogues in any_catalogues(), rows_max in 3..12_u32) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = build(None, &catalogues, rows_max, dir.path());
        let release = open(&manifest, dir.path());
        let expected: Vec<_> = catalogues.iter().flat_map(|store| store.products.clone()).collect();
        prop_assert_eq!(&served(&release), &expected);
        prop_assert_eq!(release.counts().products, expected.len() as u64);
        prop_assert_eq!(release.brands().len(), catalogues.len());
        for product in &expected {
            let address = release.find(&ProductIdent::Id(product.key.id())).unwrap();
            prop_assert_eq!(release.find(&ProductIdent::Uid(product.key.uid())), Some(address));
            let part = release.part(address.part).unwrap();
            prop_assert_eq!(&part.product(address.row), product);
            prop_assert_eq!(part.cards().id(address.row), product.key.id());
            prop_assert_eq!(part.cards().uid(address.row), product.key.uid());
            prop_assert_eq!(&release.brand_of(address).facts.brand.store, &product.key.store);
            let prices = PriceSummary::of(&product.variants).unwrap();
            let cards = part.cards();
            prop_assert_eq!(cards.price_min_minor(address.row), prices.price_min_minor);
            prop_assert_eq!(cards.price_max_minor(address.row), prices.price_max_minor);
            prop_assert_eq!(cards.compare_at_minor(address.row), prices.compare_at_minor);
            prop_assert_eq!(cards.discount_pct(address.row), prices.discount_pct);
            prop_assert_eq!(cards.in_stock(address.row), prices.in_stock);
            prop_assert_eq!(cards.on_sale(address.row), prices.compare_at_minor.is_some());
            // No time is later than the last time at which the store was seen.
            let seen_at = release.brand_of(address).facts.refreshed_at;
            let newest_at = product.published_at.or(product.created_at).map(|at| at.min(seen_at));
            prop_assert_eq!(cards.newest_at(address.row), newest_at);
            prop_assert!((0.0..=1.0).contains(&cards.quality(address.row)));
        }
        let absent = product(&facts(99, 0), 1, 0).key;
        prop_assert_eq!(release.find(&ProductIdent::Id(absent.id())), None);
    }

    #[test]
    fn a_code_leads_to_the_rows_that_have_it(catalogues in any_catalogues()) {
        let dir = tempfile::tempdir().unwrap();
        let release = open(&build(None, &catalogues, 5, dir.path()), dir.path());
        for product in catalogues.iter().flat_map(|store| &store.products) {
            let Some(code) = code_of(&product.handle) else { continue };
            let of_part = |(at, part): (u32, &data_index::Part)| {
                let rows: Vec<u32> = part.skus().find(&code).into_iter().flat_map(|entry| entry.rows()).collect();
                rows.into_iter().map(move |row| RowAddress { part: at, row })
            };
            let rows: Vec<RowAddress> = (0..).zip(release.parts()).flat_map(of_part).collect();
            prop_assert!(rows.contains(&release.find(&ProductIdent::Id(product.key.id())).unwrap()));
            for row in rows {
                let details = release.part(row.part).unwrap().details().row(row.row);
                let sku = |sku: &str| code_of(sku).as_deref() == Some(code.as_str());
                let found = sku(details.handle()) || details.variants().filter_map(|variant| variant.sku).any(sku);
                prop_assert!(found, "{code} is not of {}", details.handle());
            }
        }
    }
}

#[test]
fn the_same_catalogue_has_the_same_id_wherever_and_in_whatever_order_it_is_built() {
    let catalogues: Vec<_> = (0..6).map(|store| catalogue(store, 1, 9)).collect();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = build(None, &catalogues, 20, one.path());
    let mut second = build(
        None,
        &catalogues.iter().rev().cloned().collect::<Vec<_>>(),
        20,
        other.path(),
    );
    assert_eq!(first, second);
    assert!(first.parts.len() > 1);
    second.built_at = second.built_at.plus_millis(5_000);
    assert_eq!(second.content_id().unwrap(), first.id);
    second.counts.products += 1;
    assert_ne!(second.content_id().unwrap(), first.id);
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<data_index::Manifest>(&text).unwrap(), first);
}

#[test]
fn a_store_larger_than_a_part_spans_parts_and_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let catalogues = [catalogue(0, 1, 3), catalogue(1, 1, 25), catalogue(2, 1, 4)];
    let manifest = build(None, &catalogues, 10, dir.path());
    let release = open(&manifest, dir.path());
    assert_eq!(served(&release).len(), 32);
    let of_large = manifest
        .parts
        .iter()
        .filter(|part| part.stores.iter().any(|held| held.store.as_str() == "s001.example"));
    assert_eq!(of_large.count(), 3);
    assert_eq!(release.brands()[1].product_count, 25);
}

#[test]
fn brands_categories_and_totals_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut catalogues = [catalogue(0, 1, 3), catalogue(1, 1, 2), catalogue(2, 1, 0)];
    let coffee = taxonomy::by_slug_or_id("coffee").unwrap().id;
    catalogues[1].products[0].category = Some(coffee);
    catalogues[1].products[1].category = None;
    catalogues[1].products[1].variants[0].available = false;
    catalogues[1].products[1].currency = "USD".parse().unwrap();
    catalogues[0].products[0].variants[0].compare_at_minor = Some(99_999);
    let release = open(&build(None, &catalogues, 100, dir.path()), dir.path());
    insta::assert_json_snapshot!(release.counts(), @r#"
    {
      "brands": 3,
      "products": 5,
      "variants": 5,
      "in_stock": 4,
      "on_sale": 1,
      "reviews": 0,
      "categories": 2,
      "currencies": [
        {
          "currency": "INR",
          "products": 4
        },
        {
          "currency": "USD",
          "products": 1
        }
      ]
    }
    "#);
    assert_eq!(release.category_count(coffee), 1);
    assert_eq!(
        release.category_count(taxonomy::by_slug_or_id("beverages").unwrap().id),
        1
    );
    assert_eq!(release.category_count(CategoryId(212)), 3);
    let roots: Vec<_> = release
        .category_tree()
        .iter()
        .map(|node| (node.category.slug.as_str(), node.product_count))
        .collect();
    assert_eq!(roots, [("apparel-accessories", 3), ("food-beverages-tobacco", 1)]);
    assert_eq!(release.category_tree()[1].children[0].children[0].category.id, coffee);
    let brand = release.brand_by_slug(&"brand-1".parse().unwrap()).unwrap();
    assert_eq!((brand.product_count, brand.in_stock_count), (2, 1));
    assert_eq!(
        (brand.price_min_minor, brand.price_max_minor),
        (Some(10_001), Some(10_001))
    );
    assert_eq!(
        release
            .brand_by_store(&"s002.example".parse().unwrap())
            .unwrap()
            .product_count,
        0
    );
}

#[test]
fn builders_refuse_what_does_not_belong() {
    let dir = tempfile::tempdir().unwrap();
    let options = BuildOptions {
        rows_max: 3,
        product_bytes_max: 1_000,
        ..BuildOptions::default()
    };
    let mut part = PartBuilder::new(dir.path(), &options).unwrap();
    let (one, other) = (facts(1, 0), facts(2, 0));
    assert!(matches!(
        part.push(&product(&one, 1, 0), &other, &[]),
        Err(BuildError::WrongStore { .. })
    ));
    let without = data_model::Product {
        variants: Vec::new(),
        ..product(&one, 1, 0)
    };
    assert!(matches!(
        part.push(&without, &one, &[]),
        Err(BuildError::NoVariants { .. })
    ));
    let large = data_model::Product {
        description: "x".repeat(2_000),
        ..product(&one, 1, 0)
    };
    assert!(matches!(
        part.push(&large, &one, &[]),
        Err(BuildError::ProductTooLarge { .. })
    ));
    part.push(&product(&one, 1, 0), &one, &[]).unwrap();
    part.push(&product(&other, 1, 0), &other, &[]).unwrap();
    assert!(matches!(
        part.push(&product(&one, 2, 0), &one, &[]),
        Err(BuildError::StoreNotTogether { .. })
    ));
    part.push(&product(&other, 2, 0), &other, &[]).unwrap();
    assert!(matches!(
        part.push(&product(&other, 3, 0), &other, &[]),
        Err(BuildError::PartFull { rows: 3 })
    ));
    assert_eq!(part.finish().unwrap().unwrap().entry.rows, 3);
    let names = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap());
    assert!(
        names.into_iter().all(|name| name.len() == 64),
        "only files named by their hash remain"
    );
    assert_eq!(PartBuilder::new(dir.path(), &options).unwrap().finish().unwrap(), None);
}

#[test]
fn builders_can_be_sent_to_threads_and_releases_shared() {
    fn send<T: Send>() {}
    fn share<T: Send + Sync>() {}
    send::<PartBuilder>();
    send::<data_release::PartsBuilder>();
    share::<data_index::Release>();
    share::<data_release::ReleaseStore>();
    assert_eq!(data_text::analyse(Analysis::Stemmed, "shirts")[0].text, "shirt");
}

#[test]
fn a_barcode_that_names_no_product_is_left_out() {
    let facts = facts(0, 1);
    let mut one = product(&facts, 1, 0);
    let stated = [
        "0036000291452",
        "2012345678900",
        "4444444444444",
        "8901030865276",
        "SKU-1",
    ];
    let variant = one.variants[0].clone();
    one.variants = (1..)
        .zip(stated)
        .map(|(id, barcode)| data_model::Variant {
            id: data_model::VariantId(id),
            barcode: Some(barcode.to_owned()),
            ..variant.clone()
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let products = vec![one];
    let release = open(
        &build(None, &[crate::fixture::Catalogue { facts, products }], 5, dir.path()),
        dir.path(),
    );
    let part = &release.parts()[0];
    let told: Vec<_> = part
        .barcodes(0)
        .map(|(at, barcode)| (at, barcode.to_string()))
        .collect();
    assert_eq!(told, [(0, "036000291452".to_owned())]);
    assert_eq!(part.variant_codes(0, 9), Default::default());
}
