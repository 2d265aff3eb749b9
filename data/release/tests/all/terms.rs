use data_index::terms::{NO_ROW, PostingPayload, stable_hash, word_hash};
use data_text::letters_of;
use tempfile::TempDir;

use crate::fixture::{Catalogue, build, facts, open, product};

fn catalogue() -> Catalogue {
    let facts = facts(0, 1);
    let mut shirt = product(&facts, 1, 1);
    shirt.title = "Blue Running Shirts with Pockets".to_owned();
    shirt.description = "Shirts that breathe. Made of linen.".to_owned();
    shirt.tags = vec!["monsoon".to_owned()];
    let mut rack = product(&facts, 2, 1);
    rack.title = "Shirt Rack 12 in. x 24 in.".to_owned();
    rack.description = String::new();
    Catalogue {
        facts,
        products: vec![shirt, rack],
    }
}

#[test]
fn a_term_tells_which_rows_hold_it_and_how() {
    let dir = TempDir::new().unwrap();
    let release = open(&build(None, &[catalogue()], 100, dir.path()), dir.path());
    let part = &release.parts()[0];
    let held = |term: &str, row: u32| -> Option<PostingPayload> {
        let mut cursor = part.terms().find(term)?.cursor();
        (cursor.seek(row) == row).then(|| cursor.holding())
    };
    let shirt = held("shirt", 0).unwrap();
    assert_eq!((shirt.in_title(), shirt.head_level()), (true, 2));
    assert!(shirt.description_weight() > 0.0 && shirt.in_category() && !shirt.in_option() && !shirt.in_brand());
    assert_eq!(shirt.form_part(), PostingPayload::form_code("shirts"));
    let rack = held("shirt", 1).unwrap();
    // No rule can determine which word of "a rack for shirts" names the product, so that the last word before a size
    // counts.
    assert_eq!(
        (rack.head_level(), rack.form_part()),
        (1, PostingPayload::form_code("shirt"))
    );
    assert_eq!(held("run", 0).unwrap().head_level(), 1);
    assert_eq!(held("pocket", 0).unwrap().head_level(), 0);
    assert!(held("monsoon", 0).unwrap().in_option() && held("monsoon", 1).is_none());
    let linen = held("linen", 0).unwrap();
    assert!(!linen.in_title() && linen.form_part() == 0);
    assert!(held("brand", 1).unwrap().in_brand());
    assert!(held("12in", 1).is_some() && held("12x24", 1).is_some() && held("12", 1).is_some());
    assert!(part.terms().find("absent").is_none());
    assert_eq!(part.terms().find("shirt").unwrap().count(), 2);
    let mut cursor = part.terms().find("shirt").unwrap().cursor();
    assert_eq!((cursor.row(), cursor.advance(), cursor.advance()), (0, 1, NO_ROW));
}

#[test]
fn a_rows_title_is_told_whole_and_word_by_word() {
    let dir = TempDir::new().unwrap();
    let release = open(&build(None, &[catalogue()], 100, dir.path()), dir.path());
    let terms = release.parts()[0].terms();
    let title = letters_of("blue running shirts, with pockets!");
    assert_eq!(terms.title_hash(0), stable_hash(title.as_bytes()));
    let words: Vec<u16> = terms.title_words(1).iter().collect();
    assert_eq!(words, ["shirt", "rack", "12in", "x", "24in"].map(word_hash));
    assert!(terms.title_words(99).is_empty());
}

#[test]
fn the_same_products_give_the_same_terms() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = |dir: &TempDir| {
        let manifest = build(None, &[catalogue()], 100, dir.path());
        let files = manifest.parts[0].files.iter();
        files
            .filter(|file| file.name == "terms.bin")
            .map(|file| file.sha256)
            .collect::<Vec<_>>()
    };
    assert_eq!(file(&one), file(&other));
    assert_eq!(file(&one).len(), 1);
}
