use data_index::columns::fold_name;
use data_index::{FacetClause, PriceRange, Release, RowAddress, RowFilter, taxonomy};
use data_model::{CategoryId, Kinds, PriceSummary, Product, StoreHost};
use data_text::fold_value;
use proptest::prelude::*;
use roaring::RoaringBitmap;

use crate::fixture::{any_catalogues, build, facts, open};

pub(crate) fn any_filter() -> impl Strategy<Value = RowFilter> {
    let currency = prop_oneof![Just("INR"), Just("USD"), Just("EUR")];
    let end = || prop::option::of(0..5_000_i64);
    let price = (currency, end(), end()).prop_map(|(currency, min_minor, max_minor)| PriceRange {
        currency: currency.parse().unwrap(),
        min_minor,
        max_minor,
    });
    let stores = prop::collection::vec((0..5_usize).prop_map(|store| facts(store, 0).brand.store), 0..3);
    let category = prop_oneof![Just(212_u32), Just(166), Just(1604), Just(5)].prop_map(CategoryId);
    let clause = (
        prop_oneof![
            Just("color"),
            Just("Size"),
            Just("tag"),
            Just("category"),
            Just("nothing")
        ],
        prop::collection::vec(
            prop_oneof![Just("red"), Just("XL"), Just("shirts-tops"), Just("166"), Just("none")],
            0..3,
        ),
    )
        .prop_map(|(name, values)| FacetClause {
            name: name.to_owned(),
            values: values.into_iter().map(str::to_owned).collect(),
        });
    let outside = prop_oneof![Just("INR"), Just("USD"), Just("JPY")].prop_map(|code| code.parse().unwrap());
    (
        (prop::option::weighted(0.4, price), prop::option::weighted(0.2, outside)),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.2),
        prop::option::weighted(0.3, stores),
        prop::option::weighted(0.3, prop::collection::vec(any::<bool>(), 0..6)),
        prop::option::weighted(0.3, category),
        prop::collection::vec(clause, 0..2),
        prop_oneof![
            Just(("goods", Kinds::GOODS)),
            prop::sample::select(Kinds::NAMED.to_vec())
        ],
    )
        .prop_map(
            |((price, priced_outside), in_stock, on_sale, stores, brands, category, facets, (_, kinds))| RowFilter {
                price,
                priced_outside,
                in_stock,
                on_sale,
                stores,
                brands,
                category,
                facets,
                kinds,
            },
        )
}

/// Returns the facet values of a product, without an index.
fn values(product: &Product) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for option in &product.options {
        values.extend(
            option
                .values
                .iter()
                .map(|value| (fold_name(&option.name), fold_value(value))),
        );
    }
    for attribute in &product.attributes {
        values.extend(
            attribute
                .values
                .iter()
                .map(|value| (fold_name(&attribute.name), fold_value(value))),
        );
    }
    values.retain(|(name, _)| name != "category");
    values.extend(product.tags.iter().map(|tag| ("tag".to_owned(), fold_value(tag))));
    values.extend(
        product
            .vendor
            .iter()
            .map(|vendor| ("vendor".to_owned(), fold_value(vendor))),
    );
    for category in product.category.into_iter().flat_map(taxonomy::lineage) {
        values.push(("category".to_owned(), category.id.to_string()));
    }
    values
}

fn passes(release: &Release, product: &Product, filter: &RowFilter) -> bool {
    let prices = PriceSummary::of(&product.variants).unwrap();
    let in_range = |range: PriceRange| {
        product.currency == range.currency
            && range.min_minor.is_none_or(|min| prices.price_min_minor >= min)
            && range.max_minor.is_none_or(|max| prices.price_min_minor <= max)
    };
    let of_store = |stores: &Vec<StoreHost>| stores.contains(&product.key.store);
    let of_brand = |brands: &Vec<bool>| {
        let place = release.brand_index(&product.key.store);
        place.and_then(|place| brands.get(place).copied()).unwrap_or(false)
    };
    let held = values(product);
    let clause = |clause: &FacetClause| {
        let name = fold_name(&clause.name);
        clause.values.iter().any(|value| {
            let category = taxonomy::by_slug_or_id(value).map(|category| category.id.to_string());
            let value = if name == "category" {
                category.unwrap_or_default()
            } else {
                fold_value(value)
            };
            held.contains(&(name.clone(), value))
        })
    };
    let is_outside = |currency| product.currency != currency && prices.price_min_minor > 0;
    filter.price.is_none_or(in_range)
        && filter.priced_outside.is_none_or(is_outside)
        && (!filter.in_stock || prices.in_stock)
        && (!filter.on_sale || prices.compare_at_minor.is_some())
        && filter.stores.as_ref().is_none_or(of_store)
        && filter.brands.as_ref().is_none_or(of_brand)
        && filter
            .category
            .is_none_or(|category| held.contains(&("category".to_owned(), category.to_string())))
        && filter.facets.iter().all(clause)
        && filter.kinds.has(product.kind())
}

fn check(release: &Release, filter: &RowFilter) -> Result<(), TestCaseError> {
    let resolved = release.filter(filter);
    for (at, part) in (0..).zip(release.parts()) {
        let live = (0..part.rows()).filter(|row| !part.dead().contains(*row));
        let expected: RoaringBitmap = live
            .filter(|row| passes(release, &part.product(*row), filter))
            .collect();
        let of_part = resolved.part(at).unwrap();
        prop_assert_eq!(&of_part.bitmap(), &expected);
        prop_assert!(of_part.rows_max() >= expected.len());
        for row in 0..part.rows() {
            prop_assert_eq!(resolved.matches(RowAddress { part: at, row }), expected.contains(row));
        }
        prop_assert!(!of_part.matches(part.rows()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn filters_equal_a_scan(catalogues in any_catalogues(), filters in prop::collection::vec(any_filter(), 16)) {
        let mut catalogues = catalogues;
        for catalogue in &mut catalogues {
            let others = ["Gift Card", "Delivery Fee"].iter().cycle();
            let products = catalogue.products.iter_mut().skip(1).step_by(2);
            products.zip(others).for_each(|(product, title)| product.title = (*title).to_owned());
        }
        let dir = tempfile::tempdir().unwrap();
        let first = build(None, &catalogues, 12, dir.path());
        // In the next release, one or two stores have dead rows.
        let mut next = catalogues;
        next[0].facts.catalogue_hash = "other".into();
        next.truncate(3);
        let release = open(&build(Some(&first), &next, 12, dir.path()), dir.path());
        for filter in &filters {
            check(&release, filter)?;
        }
    }

    #[test]
    fn facet_counts_equal_a_scan(catalogues in any_catalogues(), few in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let release = open(&build(None, &catalogues, 100, dir.path()), dir.path());
        for part in release.parts() {
            let hits: RoaringBitmap = (0..part.rows()).filter(|row| !few || row % 5 == 0).collect();
            let names: Vec<_> = part.facets().names().map(|(name, codes)| (name.to_owned(), codes)).collect();
            for (name, codes) in names {
                let mut expected = Vec::new();
                for code in codes {
                    let key = part.facets().key(code);
                    prop_assert_eq!(key.name, name.as_str());
                    prop_assert_eq!(part.facets().code(key.name, key.value), Some(code));
                    let pair = (key.name.to_owned(), key.value.to_owned());
                    let count = hits.iter().filter(|row| values(&part.product(*row)).contains(&pair)).count() as u64;
                    if count > 0 {
                        expected.push((code, count));
                    }
                }
                prop_assert_eq!(part.facets().counts(part.cards(), &name, &hits), expected);
            }
        }
    }
}
