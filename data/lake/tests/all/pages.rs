//! Checks that products added in columns, page by page, give the same result as products in one list.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;

use crate::support::*;
use data_lake::{CatalogueRows, HashedRefresh, ProductColumns, ProductRatings, RowPlace};
use data_model::{CategoryId, Product, Rating, StatedBarcode};
use data_storage::Storage;
use proptest::prelude::*;

/// A product may be on several pages.
type Pages = Vec<Vec<Product>>;

fn pages() -> impl Strategy<Value = Pages> {
    let variants = prop::collection::vec((1_u64..5, 1_i64..4), 0..4);
    let page = prop::collection::vec((1_u64..9, variants, any::<bool>()), 0..6);
    prop::collection::vec(page, 0..5).prop_map(|pages| {
        let made = |(id, variants, rated): (u64, Vec<(u64, i64)>, bool)| {
            let mut made = product("tea", id, 100);
            made.variants = variants
                .into_iter()
                .map(|(id, price)| variant(id, price * 100))
                .collect();
            (made.rating, made.reviews) = (None, Vec::new());
            if rated {
                made.rating = Some(Rating { average: 4.5, count: 2 });
            }
            made
        };
        pages
            .into_iter()
            .map(|page| page.into_iter().map(made).collect())
            .collect()
    })
}

/// Returns the last occurrence of each id, as a list of products and as positions.
fn last_words(pages: &Pages) -> (Vec<Product>, Vec<RowPlace>) {
    let mut last: BTreeMap<u64, RowPlace> = BTreeMap::new();
    for (batch, products) in pages.iter().enumerate() {
        for (row, product) in products.iter().enumerate() {
            last.insert(product.key.platform_id, RowPlace { batch, row });
        }
    }
    let products = last
        .values()
        .map(|place| pages[place.batch][place.row].clone())
        .collect();
    // The rows are sorted when they are built, so that a reversed order makes no difference.
    (products, last.into_values().rev().collect())
}

fn in_columns(pages: &Pages, order: Vec<RowPlace>) -> CatalogueRows {
    let columns = pages
        .iter()
        .map(|page| page.iter().cloned().collect::<ProductColumns>());
    CatalogueRows::new(columns.collect(), order)
}

fn places(places: &[[usize; 2]]) -> Vec<RowPlace> {
    let place = |[batch, row]: &[usize; 2]| RowPlace {
        batch: *batch,
        row: *row,
    };
    places.iter().map(place).collect()
}

fn of_rows(products: CatalogueRows) -> HashedRefresh {
    HashedRefresh::of_rows(refresh("tea", 1, Vec::new()).with_products(products).0).unwrap()
}

async fn committed(storage: &Storage, refreshes: Vec<HashedRefresh>) -> BTreeMap<String, Vec<String>> {
    let lake = open(storage, &midnight()).await;
    for refresh in refreshes {
        lake.commit_hashed(vec![refresh], run(1)).await.unwrap();
    }
    content(&lake).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pages_of_columns_are_the_list_of_their_products(before in pages(), now in pages()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut listed, mut paged) = (Vec::new(), Vec::new());
        for pages in [&before, &now] {
            let (products, order) = last_words(pages);
            let ids: Vec<u64> = products.iter().map(|product| product.key.platform_id).collect();
            let rows = in_columns(pages, order);
            prop_assert_eq!(rows.ids().collect::<Vec<_>>(), ids);
            listed.push(HashedRefresh::new(refresh("tea", 1, products)).unwrap());
            paged.push(of_rows(rows));
        }
        for (one, other) in listed.iter().zip(&paged) {
            prop_assert_eq!(one.hash(), other.hash());
        }
        let listed = runtime.block_on(committed(&Storage::memory(), listed));
        let paged = runtime.block_on(committed(&Storage::memory(), paged));
        prop_assert_eq!(listed, paged);
    }
}

#[test]
fn ratings_come_to_the_products_that_are_there() {
    let products = vec![product("tea", 3, 100), product("tea", 1, 100)];
    let bare = || {
        let mut products = products.clone();
        for product in &mut products {
            (product.rating, product.reviews) = (None, Vec::new());
        }
        in_columns(&vec![products], places(&[[0, 0], [0, 1], [0, 7], [2, 0]]))
    };
    assert_eq!(bare().handles().collect::<Vec<_>>(), [(1, "p-1"), (3, "p-3")]);
    let said = || ProductRatings {
        rating: Some(Rating { average: 4.0, count: 1 }),
        reviews: Vec::new(),
    };
    let rated = |ids: &[u64]| {
        let mut rows = bare();
        ids.iter().for_each(|id| rows.rate(*id, said()));
        of_rows(rows).hash().to_owned()
    };
    assert_eq!(rated(&[2, 9]), rated(&[]), "nobody listed these");
    assert_eq!(rated(&[3, 3, 2]), rated(&[3]));
    assert_ne!(rated(&[3]), rated(&[1]));
}

#[test]
fn a_product_that_is_filed_later_is_the_same_content_as_one_that_came_so() {
    let coffee = Some(CategoryId(1868));
    let filed = |category: Option<CategoryId>| {
        let mut one = product("tea", 1, 100);
        one.category = category;
        one
    };
    let hash = |category| {
        of_rows(in_columns(&vec![vec![filed(category)]], places(&[[0, 0]])))
            .hash()
            .to_owned()
    };
    let mut columns: ProductColumns = [filed(None)].into_iter().collect();
    columns.set_category(0, coffee);
    columns.set_category(7, None);
    let late = of_rows(CatalogueRows::new(vec![columns], places(&[[0, 0]])));
    assert_eq!(late.hash(), hash(coffee));
    assert_ne!(late.hash(), hash(None));
}

#[tokio::test]
async fn barcodes_of_product_pages_come_to_the_variants_that_they_name() {
    let (own, told) = ("8901030865275", "4006381333931");
    let mut tea = product("tea", 1, 100);
    // Variant 12 has a SKU, and variant 11 has none.
    tea.variants[1].barcode = Some(own.into());
    let one = Product {
        variants: vec![variant(31, 100)],
        ..product("tea", 3, 100)
    };
    let bare = || in_columns(&vec![vec![one.clone()], vec![tea.clone()]], places(&[[0, 0], [1, 0]]));
    let stated = |variant, sku: Option<&str>| StatedBarcode {
        variant,
        sku: sku.map(str::to_owned),
        barcode: told.into(),
    };
    let rows = |barcodes: Vec<(u64, Vec<StatedBarcode>)>| {
        let mut rows = bare();
        for (id, told) in barcodes {
            rows.tell_barcodes(id, told);
        }
        of_rows(rows)
    };
    let hash = |barcodes| rows(barcodes).hash().to_owned();
    let nothing = hash(Vec::new());
    let of_nobody = [
        (9, vec![stated(Some(12), None)]),
        (1, vec![stated(Some(99), None)]),
        (1, vec![stated(None, Some("SKU-99"))]),
        (1, vec![stated(None, None)]),
        // The variant's own record states another barcode.
        (1, vec![stated(Some(11), None)]),
    ];
    for barcodes in of_nobody {
        assert_eq!(hash(vec![barcodes.clone()]), nothing, "{barcodes:?}");
    }
    let by_sku = hash(vec![(1, vec![stated(None, Some("SKU-12"))])]);
    assert_ne!(by_sku, nothing);
    assert_eq!(hash(vec![(1, vec![stated(Some(12), None)])]), by_sku);

    let lake = open(&Storage::memory(), &midnight()).await;
    let found = vec![
        (1, vec![stated(Some(12), None), stated(Some(11), None)]),
        (3, vec![stated(None, None)]),
    ];
    lake.commit_hashed(vec![rows(found)], run(1)).await.unwrap();
    let barcodes = "SELECT variant_id, barcode, barcode_stated FROM variants ORDER BY 1";
    insta::assert_snapshot!(sql(&lake, barcodes).await, @"
    +------------+---------------+----------------+
    | variant_id | barcode       | barcode_stated |
    +------------+---------------+----------------+
    | 11         | 8901030865275 | 8901030865275  |
    | 12         | 4006381333931 | 4006381333931  |
    | 31         | 4006381333931 | 4006381333931  |
    +------------+---------------+----------------+
    ");
}
