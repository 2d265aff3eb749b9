use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use proptest::prelude::*;

use super::*;
use crate::figures::{BrandFigures, Duplicates, Field, PriceMove};

#[derive(Debug, Clone)]
struct Row {
    store: &'static str,
    id: i64,
    handle: String,
    title: String,
    description: String,
    vendor: Option<String>,
    category: Option<i64>,
    tags: Option<usize>,
    currency: &'static str,
    price: i64,
}

fn row(id: i64, title: &str, price: i64) -> Row {
    Row {
        store: "a.example",
        id,
        handle: format!("p{id}"),
        title: title.to_owned(),
        description: "Tea.".into(),
        vendor: Some("A".into()),
        category: Some(1),
        tags: Some(1),
        currency: "INR",
        price,
    }
}

fn batch(rows: &[Row]) -> RecordBatch {
    let text = |value: fn(&Row) -> Option<&str>| Arc::new(rows.iter().map(value).collect::<StringArray>()) as ArrayRef;
    let number = |value: fn(&Row) -> Option<i64>| Arc::new(rows.iter().map(value).collect::<Int64Array>()) as ArrayRef;
    let lists = || {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for row in rows {
            (0..row.tags.unwrap_or(0)).for_each(|_| lists.values().append_value("x"));
            lists.append(row.tags.is_some());
        }
        Arc::new(lists.finish()) as ArrayRef
    };
    RecordBatch::try_from_iter_with_nullable([
        ("store", text(|row| Some(row.store)), false),
        ("platform_product_id", number(|row| Some(row.id)), false),
        ("handle", text(|row| Some(&row.handle)), false),
        ("title", text(|row| Some(&row.title)), false),
        ("description", text(|row| Some(&row.description)), false),
        ("vendor", text(|row| row.vendor.as_deref()), true),
        ("product_type", text(|row| row.vendor.as_deref()), true),
        ("category_id", number(|row| row.category), true),
        ("tags", lists(), true),
        ("media", lists(), true),
        ("currency", text(|row| Some(row.currency)), false),
        ("price_min_minor", number(|row| Some(row.price)), false),
    ])
    .unwrap()
}

#[test]
fn what_rows_lack_and_repeat_is_counted_by_store() {
    let rows = [
        row(1, "Cup", 100),
        Row {
            handle: "p1".into(),
            ..row(1, "Cup", 0)
        },
        Row {
            tags: None,
            category: None,
            ..row(2, "", 100)
        },
        Row {
            description: " ".into(),
            vendor: None,
            tags: Some(0),
            ..row(3, " ", 100)
        },
        Row {
            store: "b.example",
            currency: "USD",
            ..row(1, "Cup", 100)
        },
    ];
    // The result does not depend on the split of rows into batches.
    let counted = figures(&[batch(&rows[..2]), batch(&rows[2..])]).unwrap();
    let a = &counted["a.example"];
    assert_eq!(
        *a,
        BrandFigures {
            products: 4,
            missing: [
                (Field::Title, 2),
                (Field::Description, 1),
                (Field::Media, 2),
                (Field::Price, 1),
                (Field::Category, 1),
                (Field::ProductType, 1),
                (Field::Vendor, 1),
                (Field::Tags, 2),
            ]
            .into(),
            duplicates: Duplicates {
                ids: 1,
                handles: 1,
                titles: 1
            },
            currencies: [("INR".to_owned(), 4)].into(),
        }
    );
    assert_eq!(counted["b.example"].currencies, [("USD".to_owned(), 1)].into());
    assert_eq!(counted.len(), 2);
    assert!(figures(&[]).unwrap().is_empty());
}

#[test]
fn prices_are_compared_product_by_product_in_one_currency() {
    let before: Vec<Row> = (1..=9).map(|id| row(id, "Cup", 1_000)).collect();
    let prices = [100, 500, 800, 999, 1_000, 1_249, 1_250, 2_000, 10_000];
    let mut now: Vec<Row> = (1..=9).zip(prices).map(|(id, price)| row(id, "Cup", price)).collect();
    now.push(row(77, "New", 5));
    let moved = &moves(&[batch(&before)], &[batch(&now)], 10).unwrap()["a.example"];
    assert_eq!((moved.compared, moved.jumped, moved.currency_changed), (9, 2, 0));
    assert_eq!(moved.by_size, [1; 9]);
    assert_eq!(
        moved.examples[1],
        PriceMove {
            platform_product_id: 9,
            title: "Cup".into(),
            currency: "INR".into(),
            before_minor: 1_000,
            now_minor: 10_000
        }
    );
    let dollars: Vec<Row> = before
        .iter()
        .map(|row| Row {
            currency: "USD",
            ..row.clone()
        })
        .collect();
    let moved = &moves(&[batch(&before)], &[batch(&dollars)], 10).unwrap()["a.example"];
    assert_eq!((moved.compared, moved.jumped, moved.currency_changed), (9, 0, 9));
    // A price that was zero and now exists is a jump.
    let free = [row(1, "Cup", 0)];
    let moved = &moves(&[batch(&free)], &[batch(&before)], 10).unwrap()["a.example"];
    assert_eq!((moved.compared, moved.jumped), (1, 1));
}

#[test]
fn rows_of_another_table_are_refused_by_the_column_that_is_missing() {
    let batch = batch(&[row(1, "Cup", 1)]).project(&[0, 1, 2]).unwrap();
    let refused = figures(std::slice::from_ref(&batch)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "column price_min_minor is missing or has an unexpected type"
    );
}

fn any_row() -> impl Strategy<Value = Row> {
    let store = prop::sample::select(vec!["a.example", "b.example", "c.example"]);
    let currency = prop::sample::select(vec!["INR", "INR", "INR", "USD"]);
    let price = prop_oneof![0..40_i64, 0..100_000_i64, Just(i64::MAX), Just(-1)];
    let texts = ("[a-c]?", "[a-c]{0,2}", " ?", prop::option::of("[a ]?"));
    (
        store,
        -3..12_i64,
        texts,
        prop::option::of(0..3_i64),
        prop::option::of(0..2_usize),
        currency,
        price,
    )
        .prop_map(
            |(store, id, (handle, title, description, vendor), category, tags, currency, price)| Row {
                store,
                id,
                handle,
                title,
                description,
                vendor,
                category,
                tags,
                currency,
                price,
            },
        )
}

fn batches(rows: &[Row], cut: usize) -> Vec<RecordBatch> {
    let cut = cut.min(rows.len());
    [&rows[..cut], &rows[cut..]].map(batch).to_vec()
}

proptest! {
    #[test]
    fn figures_are_what_a_look_at_every_pair_of_rows_says(
        rows in prop::collection::vec(any_row(), 0..40), cut in 0..40_usize,
    ) {
        let counted = figures(&batches(&rows, cut)).unwrap();
        let stores: std::collections::BTreeSet<_> = rows.iter().map(|row| row.store).collect();
        prop_assert_eq!(counted.keys().map(String::as_str).collect::<Vec<_>>(), stores.into_iter().collect::<Vec<_>>());
        for (store, brand) in &counted {
            let own: Vec<&Row> = rows.iter().filter(|row| row.store == store).collect();
            let repeats = |same: &dyn Fn(&Row, &Row) -> bool| {
                let again = |(place, row): &(usize, &&Row)| own[..*place].iter().any(|earlier| same(earlier, row));
                own.iter().enumerate().filter(again).count() as u64
            };
            let lack = |lacks: &dyn Fn(&Row) -> bool| own.iter().filter(|row| lacks(row)).count() as u64;
            let blank = |text: &str| text.trim().is_empty();
            prop_assert_eq!(brand.products, own.len() as u64);
            prop_assert_eq!(brand.duplicates, Duplicates {
                ids: repeats(&|one, other| one.id == other.id),
                handles: repeats(&|one, other| one.handle == other.handle),
                titles: repeats(&|one, other| !blank(&one.title) && one.title == other.title),
            });
            for (field, lacks) in [
                (Field::Title, lack(&|row| blank(&row.title))),
                (Field::Description, lack(&|row| blank(&row.description))),
                (Field::Price, lack(&|row| row.price <= 0)),
                (Field::Category, lack(&|row| row.category.is_none())),
                (Field::Vendor, lack(&|row| row.vendor.as_deref().is_none_or(blank))),
                (Field::Tags, lack(&|row| row.tags.is_none_or(|tags| tags == 0))),
            ] {
                prop_assert_eq!(brand.without(field), lacks, "{:?}", field);
            }
            for currency in ["INR", "USD"] {
                let products = lack(&|row| row.currency == currency);
                prop_assert_eq!(brand.currencies.get(currency).copied().unwrap_or(0), products);
            }
        }
    }

    #[test]
    fn moves_are_what_a_look_at_every_pair_of_rows_says(
        before in prop::collection::vec(any_row(), 0..30),
        now in prop::collection::vec(any_row(), 0..30),
        cut in 0..30_usize,
        factor in 2..20_u32,
    ) {
        let counted = moves(&batches(&before, cut), &batches(&now, cut), factor).unwrap();
        let first = |rows: &[Row]| {
            let is_first = |(place, row): &(usize, &Row)| {
                !rows[..*place].iter().any(|other| (other.store, other.id) == (row.store, row.id))
            };
            rows.iter().enumerate().filter(is_first).map(|(_, row)| row.clone()).collect::<Vec<_>>()
        };
        let (before, now) = (first(&before), first(&now));
        let price = |row: &Row| i128::from(row.price.clamp(0, 1_000_000_000_000_000));
        for store in ["a.example", "b.example", "c.example"] {
            let of_store = now.iter().filter(|row| row.store == store);
            let both: Vec<(&Row, &Row)> = of_store
                .filter_map(|row| Some((before.iter().find(|was| (was.store, was.id) == (store, row.id))?, row)))
                .collect();
            let same: Vec<_> = both.iter().filter(|(was, is)| was.currency == is.currency).collect();
            let jumped = same.iter().filter(|(was, is)| {
                let (from, to, factor) = (price(was), price(is), i128::from(factor));
                from != to && (to >= from * factor || from >= to * factor)
            });
            let found = counted.get(store).cloned().unwrap_or_default();
            prop_assert_eq!(found.compared, both.len() as u64);
            prop_assert_eq!(found.currency_changed, (both.len() - same.len()) as u64);
            prop_assert_eq!(found.jumped, jumped.count() as u64);
            prop_assert_eq!(found.moved(), same.iter().filter(|(was, is)| price(was) != price(is)).count() as u64);
            prop_assert_eq!(found.by_size.iter().sum::<u64>(), same.len() as u64);
            prop_assert_eq!(found.examples.len() as u64, found.jumped.min(3));
        }
    }
}
