use data_model::{Attribute, Product};
use proptest::prelude::*;
use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product};
use crate::support::Market;

async fn answer(market: &Market, query: &str) -> SearchAnswer<'static> {
    market.get(&format!("/v1/search?{query}")).await.read()
}

fn category(path: &str) -> Option<data_model::CategoryId> {
    let found = data_index::taxonomy::all().iter().find(|one| one.path == path);
    Some(found.unwrap_or_else(|| panic!("no category {path}")).id)
}

/// Creates a market with things and their accessories. By words alone, the accessories would rank first.
async fn things_and_what_is_for_them() -> Market {
    let facts = brand("Any Shop", "INR");
    let laptops = "Electronics > Computers > Laptops";
    let covers = "Electronics > Electronics Accessories > Computer Accessories > Computer Covers & Skins";
    let watches = "Apparel & Accessories > Jewelry > Watches";
    let bands = "Apparel & Accessories > Jewelry > Watch Accessories > Watch Bands";
    let telephony = "Electronics > Communications > Telephony";
    let tables = "Furniture > Tables";
    let sold = [
        (
            "Laptop Lock",
            Some("Hardware > Locks & Keys > Locks & Latches".to_owned()),
        ),
        ("Laptop Sleeve", Some(covers.to_owned())),
        ("Sleeve for Laptop", Some(covers.to_owned())),
        ("Laptop Laptop Sleeve for Laptop", Some(covers.to_owned())),
        (
            "Lenovo IdeaPad Slim 3 thin and light laptop with 16 GB and a bag for it",
            Some(laptops.to_owned()),
        ),
        (
            "Asus Vivobook laptop, 15 inches, of silver and with many keys for hands",
            Some(laptops.to_owned()),
        ),
        ("Acer Aspire laptop refurbished by people who know how to do it", None),
        (
            "Phone Case",
            Some(format!("{telephony} > Mobile Phone Accessories > Mobile Phone Cases")),
        ),
        (
            "Galaxy Case",
            Some(format!("{telephony} > Mobile Phone Accessories > Mobile Phone Cases")),
        ),
        (
            "Redmi Note 13 smart mobile phone with two cameras and a long name",
            Some(format!("{telephony} > Mobile Phones")),
        ),
        ("Watch Strap", Some(bands.to_owned())),
        ("Steel Watch Strap", Some(bands.to_owned())),
        (
            "Titan Raga analog watch for women with a dial like the moon",
            Some(watches.to_owned()),
        ),
        (
            "Coffee Table Cover",
            Some("Home & Garden > Linens & Bedding > Table Linens > Tablecloths".to_owned()),
        ),
        (
            "Sheesham coffee table with two drawers and a shelf below the top",
            Some(format!("{tables} > Accent Tables > Coffee Tables")),
        ),
    ];
    let products = (1..).zip(sold).map(|(id, (title, path))| Product {
        category: path.as_deref().and_then(category),
        ..product(&facts, id, title)
    });
    let products = products.collect();
    let shipped = || data_embedding::shipped().unwrap();
    Market::embedding(&vec![(facts, products)], Some(shipped()), Some(shipped())).await
}

#[tokio::test]
async fn what_is_for_a_thing_stands_after_the_things_that_a_bare_noun_names() {
    let market = things_and_what_is_for_them().await;
    let first_words = async |query: &str| -> Vec<String> {
        let found = answer(&market, query).await;
        let titles = found.data.iter().map(|card| card.title.split(' ').take(2));
        titles.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
    };
    for (query, things) in [
        ("q=laptop", &["Lenovo IdeaPad", "Asus Vivobook", "Acer Aspire"][..]),
        ("q=laptops", &["Lenovo IdeaPad", "Asus Vivobook", "Acer Aspire"]),
        ("q=phone", &["Redmi Note"]),
        ("q=watch", &["Titan Raga"]),
        ("q=coffee+table", &["Sheesham coffee"]),
    ] {
        let found = first_words(query).await;
        let mut first: Vec<_> = found.iter().take(things.len()).map(String::as_str).collect();
        let mut things = things.to_vec();
        first.sort_unstable();
        things.sort_unstable();
        assert_eq!(first, things, "{query}: {found:?}");
        assert!(found.len() > things.len(), "{query}: {found:?}");
    }
    // A query that names an accessory finds it first. A search by words alone ignores that.
    for (query, first) in [
        ("q=laptop+lock", "Laptop Lock"),
        ("q=phone+case", "Phone Case"),
        ("q=steel+watch+strap", "Steel Watch"),
    ] {
        assert_eq!(first_words(query).await[0], first, "{query}");
    }
    let by_words = first_words("q=laptop&mode=lexical").await;
    let place = |words: &str| by_words.iter().position(|found| found == words).unwrap();
    assert!(place("Laptop Sleeve") < place("Lenovo IdeaPad"), "{by_words:?}");
    let explained = answer(&market, "q=laptop&explain=true").await;
    let parts = explained.provenance.explain.unwrap();
    for (card, part) in explained.data.iter().zip(&parts) {
        let is_for_it = card.title.contains("Lock") || card.title.contains("Sleeve");
        assert_eq!(part.category < 0.0, is_for_it, "{} {part:?}", card.title);
    }
}

#[tokio::test]
async fn a_word_does_not_name_the_activity_that_its_stem_has_in_common_with_a_category() {
    let facts = brand("Gifts", "INR");
    let nursing = "Baby & Toddler > Nursing & Feeding";
    let sold = [
        (
            "Nurse Fob Watch",
            "",
            "Apparel & Accessories > Jewelry > Watches".to_owned(),
        ),
        (
            "Breast Pump",
            "Quiet while nursing.",
            format!("{nursing} > Breast Pumps"),
        ),
    ];
    let products = (1..).zip(sold).map(|(id, (title, description, path))| Product {
        category: category(&path),
        description: description.into(),
        ..product(&facts, id, title)
    });
    let products = products.collect();
    let shipped = || data_embedding::shipped().unwrap();
    let market = Market::embedding(&vec![(facts, products)], Some(shipped()), Some(shipped())).await;
    let found = answer(&market, "q=gift+for+a+nurse").await;
    assert_eq!(found.data[0].title, "Nurse Fob Watch");
}

#[tokio::test]
async fn a_need_does_not_filter_if_the_whole_text_is_much_nearer_to_other_products() {
    let facts = brand("Outdoors", "INR");
    let bags = "Sporting Goods > Outdoor Recreation > Camping & Hiking > Sleeping Bags";
    let sold = [
        ("School Backpack", "Luggage & Bags > Backpacks"),
        ("Down Sleeping Bag", bags),
    ];
    let products = (1..).zip(sold).map(|(id, (title, path))| Product {
        category: category(path),
        ..product(&facts, id, title)
    });
    let products = products.collect();
    let shipped = || data_embedding::shipped().unwrap();
    let market = Market::embedding(&vec![(facts, products)], Some(shipped()), Some(shipped())).await;
    // Camping is a need of backpacks.
    for (query, first) in [
        ("q=what+can+i+sleep+in+when+camping", "Down Sleeping Bag"),
        ("q=what+do+i+need+for+camping", "School Backpack"),
    ] {
        let found = answer(&market, query).await;
        assert_eq!(found.data[0].title, first, "{query}");
    }
}

/// Titles and categories of the generated products.
const DRAWN: [(&str, Option<&str>); 4] = [
    (
        "Laptop Sleeve",
        Some("Electronics > Electronics Accessories > Computer Accessories > Computer Covers & Skins"),
    ),
    ("Slim laptop", Some("Electronics > Computers > Laptops")),
    ("Light notebook computer", None),
    ("Desktop computer", Some("Electronics > Computers > Desktop Computers")),
];
const COLORS: [&str; 3] = ["navy", "white", "rose"];

async fn each_value_finds_what_it_counts(drawn: &[(usize, usize)]) -> Result<(), TestCaseError> {
    let facts = brand("Any Shop", "INR");
    // Enough products have the word, so no others are added.
    let many = std::iter::repeat_n((0, 0), 20);
    let products = (1..).zip(many.chain(drawn.iter().copied())).map(|(id, (kind, color))| {
        let (title, path) = DRAWN[kind];
        Product {
            category: path.and_then(category),
            attributes: vec![Attribute {
                name: "color".to_owned(),
                values: vec![COLORS[color].to_owned()],
            }],
            ..product(&facts, id, &format!("{title} {id}"))
        }
    });
    let market = Market::of(&vec![(facts.clone(), products.collect())]).await;
    let whole = answer(&market, "q=laptop&limit=40&facet_counts=true").await;
    for facet in whole.provenance.facets.unwrap_or_default() {
        for value in facet.values.iter().filter(|value| value.count < 40) {
            let filter = serde_json::json!({ &*facet.name: &*value.value }).to_string();
            let filter: String = filter.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let clicked = answer(&market, &format!("q=laptop&limit=40&facets={filter}")).await;
            prop_assert_eq!(
                clicked.data.len(),
                value.count as usize,
                "{} {}",
                facet.name,
                value.value
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn a_value_finds_what_it_counts_beside_accessories_that_stand_last(
        drawn in prop::collection::vec((0_usize..4, 0_usize..3), 1..15)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(each_value_finds_what_it_counts(&drawn))?;
    }
}
