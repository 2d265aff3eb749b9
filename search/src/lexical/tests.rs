//! Tests that the work of a search is limited, and that shortcuts never drop rows that are better than the returned
//! ones.

use std::path::Path;

use data_index::{BuildOptions, Release, RowFilter};
use data_model::{Product, Variant};

use super::work::STEPS_MAX;
use super::*;

/// Every third product is in stock.
pub(crate) fn release(titles: impl Iterator<Item = String>, dir: &Path) -> Release {
    let facts = kit::facts(kit::brand("Words"));
    let product = |(id, title): (u64, String)| Product {
        handle: format!("p{id}"),
        variants: vec![Variant {
            available: id.is_multiple_of(3),
            ..kit::variant(id, 100)
        }],
        ..kit::product(&facts.brand, id, &title)
    };
    let products: Vec<Product> = (1..).zip(titles).map(product).collect();
    let store = kit::StoreProducts {
        facts: &facts,
        products: &products,
    };
    kit::open(kit::build(&[store], &BuildOptions::default(), dir), dir)
}

fn wanted(text: &str, limit: usize) -> LexicalQuery<'_> {
    LexicalQuery {
        limit,
        enough: limit,
        ..LexicalQuery::best(text)
    }
}

fn narrowed_by(filter: Option<&Filter>) -> Narrowing<'_> {
    Narrowing {
        filter,
        ..Narrowing::default()
    }
}

/// Each of the words `word0 … word59` is in all but a few titles.
fn titles(count: u64) -> impl Iterator<Item = String> {
    (0..count).map(|row| {
        let words = (0..60).filter(|word| (row + word) % 7 != 0);
        words.map(|word| format!("word{word}q ")).collect()
    })
}

#[test]
fn a_query_of_sixty_common_words_reads_no_more_of_a_larger_catalogue() {
    let query: String = (0..60).map(|word| format!("word{word}q ")).collect();
    let work_of = |count| {
        let dir = tempfile::tempdir().unwrap();
        let release = release(titles(count), dir.path());
        let index = TextIndex::open(&release, Synonyms::none());
        let mut work = Work {
            steps_left: 240,
            postings_max: 300,
            looked_up_max: 8,
            read: 0,
        };
        let found = find(&release, &index, &wanted(&query, 20), &mut work);
        assert!(!found.hits.is_empty());
        work.read
    };
    let (small, large) = (work_of(1_000), work_of(4_000));
    // The rarest word is read completely. The other 23 words are looked up for 8 products, decoding at most one block
    // of 128 for each. One more block per word is decoded when a cursor starts.
    assert!(small <= 1_000 + 23 * 9 * 128 + 24 * 128, "{small}");
    assert!(large <= 4_000 + 23 * 9 * 128 + 24 * 128, "{large}");
}

#[test]
fn a_word_too_common_to_be_read_is_asked_for_where_the_others_find_too_little() {
    let dir = tempfile::tempdir().unwrap();
    // The two rare products are sold out.
    let title = |row: u64| {
        if row < 2 {
            "Rare Tent".to_owned()
        } else {
            format!("Tent {row}")
        }
    };
    let release = release((0..600).map(title), dir.path());
    let index = TextIndex::open(&release, Synonyms::none());
    let in_stock = release.filter(&RowFilter {
        in_stock: true,
        ..RowFilter::default()
    });
    let found = |text, filter: Option<&Filter>, steps_left| {
        let mut work = Work {
            steps_left,
            postings_max: 100,
            looked_up_max: 8,
            read: 0,
        };
        let wanted = LexicalQuery {
            narrowing: narrowed_by(filter),
            with_matches: true,
            ..wanted(text, 20)
        };
        let found = find(&release, &index, &wanted, &mut work);
        let tiers: Vec<u8> = found.hits.iter().map(|hit| hit.tier).collect();
        assert!(
            found
                .hits
                .iter()
                .all(|hit| filter.is_none_or(|filter| filter.matches(hit.at)))
        );
        (found.hits.len(), tiers.into_iter().max())
    };
    for text in ["tent zqxvk", "zqxvk tent", "zqxvk tent qqqq"] {
        let lacking = if text.len() > 10 { tier::ANY } else { tier::ALL_BUT_ONE };
        assert_eq!(found(text, None, 100_000), (20, Some(lacking)), "{text}");
    }
    assert_eq!(
        found("rare tent", Some(&in_stock), 100_000),
        (20, Some(tier::ALL_BUT_ONE))
    );
    assert_eq!(found("rare tent", None, 100_000), (20, Some(tier::TITLE)));
    // The work is limited here too.
    let (few, _) = found("rare tent", Some(&in_stock), 60);
    assert!((1..20).contains(&few), "{few}");
}

#[test]
fn in_a_sentence_a_product_with_the_rare_words_comes_before_one_that_lacks_them() {
    let dir = tempfile::tempdir().unwrap();
    let title = |row: u64| {
        if row == 30 {
            "Sturdy Kayak".to_owned()
        } else {
            format!("Blue Summer Cotton {row}")
        }
    };
    let release = release((0..60).map(title), dir.path());
    let index = TextIndex::open(&release, Synonyms::none());
    let first = |is_sentence| {
        let wanted = LexicalQuery {
            is_sentence,
            ..wanted("blue summer cotton kayak", 20)
        };
        search(&release, &index, &wanted).hits[0].at.row
    };
    assert_eq!(first(true), 30);
    assert_ne!(first(false), 30);
}

#[test]
fn blocks_that_are_left_out_hold_nothing_better() {
    let dir = tempfile::tempdir().unwrap();
    let long = " of brushed steel with a very long name and many further words in it";
    let title = |row: u64| match row {
        4_321 => "Mug".to_owned(),
        2_222 => "Blue Mug".to_owned(),
        0..200 => format!("Mug {row}"),
        _ if row.is_multiple_of(4) => format!("Mug {row}{long}"),
        _ => format!("Cup {row}{long}"),
    };
    let release = release((0..20_000).map(title), dir.path());
    let index = TextIndex::open(&release, Synonyms::none());
    let mut work = Work::new();
    let found = find(&release, &index, &wanted("mug", 2), &mut work);
    // All hits are kept if the limit is large enough.
    let all = find(&release, &index, &wanted("mug", 20_000), &mut Work::new());
    assert_eq!(found.hits, all.hits[..2]);
    assert_eq!(all.hits.len(), 5_152);
    // About five thousand products have the word.
    assert!(work.steps_left > STEPS_MAX - 2_000, "{}", STEPS_MAX - work.steps_left);
}

fn rows_of(sets: &[RowSet]) -> Vec<u32> {
    let [set] = sets else {
        panic!("{} parts", sets.len());
    };
    let held = |row: &u32| set.words()[*row as usize / 64] & (1 << (row % 64)) != 0;
    (0..u32::try_from(set.words().len() * 64).unwrap())
        .filter(held)
        .collect()
}

#[test]
fn the_match_set_is_what_the_query_was_finally_about() {
    let dir = tempfile::tempdir().unwrap();
    let named = ["Red Cotton Shirt", "Red Shirt", "Cotton Shirt", "Red Mug", "Jacket"];
    let release = release(named.iter().map(|title| (*title).to_owned()), dir.path());
    let index = TextIndex::open(&release, Synonyms::shipped());
    let set = |text: &str, as_typed| -> Vec<u32> {
        let wanted = LexicalQuery {
            as_typed,
            with_matches: true,
            ..wanted(text, 20)
        };
        rows_of(&search(&release, &index, &wanted).matches)
    };
    assert_eq!(set("red shirt", true), [0, 1]);
    assert_eq!(set("red cotton mug", true), [0, 3]);
    assert_eq!(set("red leather jacket boots", true), [0, 1, 3, 4]);
    assert_eq!(set("cotten shirt", false), [0, 2]);
    assert_eq!(set("cotten", true), [0_u32; 0]);
    assert_eq!(set("jack", false), [4]);
    assert_eq!(set("p4", true), [3]);
    let stocked = release.filter(&data_index::RowFilter {
        in_stock: true,
        ..data_index::RowFilter::default()
    });
    let wanted = LexicalQuery {
        narrowing: narrowed_by(Some(&stocked)),
        with_matches: true,
        ..wanted("red shirt", 20)
    };
    // Only the third of the five products is in stock, and it lacks a word. The filter does not change the matches,
    // which are counted before filters.
    let found = search(&release, &index, &wanted);
    assert_eq!(found.hits.iter().map(|hit| hit.at.row).collect::<Vec<_>>(), [2]);
    assert_eq!(rows_of(&found.matches), [0, 1]);
    let nothing = release.filter(&data_index::RowFilter {
        facets: vec![data_index::FacetClause {
            name: "color".to_owned(),
            values: vec!["none".to_owned()],
        }],
        ..data_index::RowFilter::default()
    });
    let wanted = LexicalQuery {
        narrowing: narrowed_by(Some(&nothing)),
        ..wanted
    };
    let found = search(&release, &index, &wanted);
    assert_eq!((found.hits.len(), rows_of(&found.matches)), (0, vec![0, 1]));
}

#[test]
fn a_word_that_was_joined_is_no_beginning_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let named = [
        "Dark Chocolate",
        "Milk Chocolate",
        "Latex Band",
        "Notebook",
        "Ruled Notebook",
        "Bookshelf",
    ];
    let release = release(named.iter().map(|title| (*title).to_owned()), dir.path());
    let index = TextIndex::open(&release, Synonyms::none());
    let found = |text| {
        let wanted = LexicalQuery {
            as_typed: false,
            ..wanted(text, 20)
        };
        let found = search(&release, &index, &wanted);
        let mut rows: Vec<u32> = found.hits.iter().map(|hit| hit.at.row).collect();
        rows.sort_unstable();
        (rows, found.completed.is_some())
    };
    assert_eq!(found("choco late"), (vec![0, 1], false));
    // A known word is not only treated as a prefix. It may also be the second half of another word.
    assert_eq!(found("note book").0, [3, 4]);
    assert_eq!(found("book").0, [5]);
}

#[test]
fn a_last_word_that_nothing_holds_beside_the_others_is_the_beginning_of_one_that_something_does() {
    let dir = tempfile::tempdir().unwrap();
    let named = [
        "Kitchen Cabinet",
        "Cabi Jeans",
        "Kitchen Towel",
        "Sports Bra",
        "Kitchen Bracket",
    ];
    let release = release(named.iter().map(|title| (*title).to_owned()), dir.path());
    let index = TextIndex::open(&release, Synonyms::none());
    let found = |text, as_typed| {
        let wanted = LexicalQuery {
            as_typed,
            ..wanted(text, 20)
        };
        let found = search(&release, &index, &wanted);
        let every = found.hits.iter().filter(|hit| hit.tier == tier::ALL);
        let rows: Vec<u32> = every.map(|hit| hit.at.row).collect();
        (rows, found.completed.map(|completed| completed.from))
    };
    let beginning = |word: &str| Some(word.to_owned());
    assert_eq!(found("kitchen cabi", false), (vec![0], beginning("cabi")));
    // The last word is not completed if a product has both words, if it is complete, or if the text is searched as
    // typed.
    assert_eq!(found("jeans cabi", false), (vec![1], None));
    assert_eq!(found("kitchen cabi ", false), (vec![], None));
    assert_eq!(found("kitchen cabi", true), (vec![], None));
    // No word with this prefix occurs together with the other word.
    assert_eq!(found("towel cabi", false), (vec![], None));
    // `bra` is a common word, and its completions are not much more common.
    assert_eq!(found("kitchen bra", false), (vec![], None));
}

#[test]
fn a_word_that_only_leads_to_others_is_no_misspelling_and_a_short_one_is_meant_by_none() {
    let dir = tempfile::tempdir().unwrap();
    let named = [
        "Green Lamp",
        "Green Chair",
        "Green Pot",
        "Oak Chair",
        "Pine Chair",
        "Weed Trimmer",
        "Weed Bag",
        "Weed Fork",
    ];
    let release = release(named.iter().map(|title| (*title).to_owned()), dir.path());
    let synonyms = Synonyms::with_operators(">\thara\tgreen\n>\tkursi\tchair\n>\tkurti\ttunic\n>\tweedeater\tweed\n");
    let index = TextIndex::open(&release, synonyms.unwrap());
    let meant = |text| {
        let wanted = LexicalQuery {
            as_typed: false,
            ..wanted(text, 20)
        };
        let found = search(&release, &index, &wanted);
        found
            .corrections
            .into_iter()
            .map(|corrected| corrected.to)
            .collect::<Vec<_>>()
    };
    assert_eq!(meant("zara"), Vec::<String>::new());
    assert_eq!(meant("kurti"), Vec::<String>::new());
    assert_eq!(meant("seedeater"), ["weedeater"]);
    assert_eq!(meant("kurrsi"), ["kursi"]);
}
