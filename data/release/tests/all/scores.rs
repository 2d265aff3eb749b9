use std::collections::BTreeMap;

use data_index::Release;
use data_index::terms::{NO_ROW, PostingPayload};
use data_model::{Product, ProductId};
use data_text::{Analysis, analyse};

use crate::fixture::{Catalogue, build, facts, open, product};

fn catalogues() -> Vec<Catalogue> {
    let words = [
        "cotton", "silk", "linen", "shirt", "kurta", "blue", "red", "running", "shoes", "coffee",
    ];
    let word = |seed: usize| words[seed % words.len()];
    let mut catalogues = Vec::new();
    for store in 0..8 {
        let facts = facts(store, 0);
        let titled = |id: u64| {
            let at = usize::try_from(id).unwrap() * (store + 3);
            let title = format!("{} {} {}", word(at), word(at / 2 + store), word(at / 3));
            Product {
                title,
                description: format!("{} and {}", word(at + 1), word(at + 5)),
                ..product(&facts, id, 0)
            }
        };
        let products = (1..=20).map(titled).collect();
        catalogues.push(Catalogue { facts, products });
    }
    catalogues
}

/// Returns the posting payloads of every product for each term of a text.
fn held(release: &Release, text: &str) -> BTreeMap<(String, ProductId), PostingPayload> {
    let mut held = BTreeMap::new();
    for term in analyse(Analysis::Stemmed, text) {
        for part in release.parts() {
            let Some(list) = part.terms().find(&term.text) else {
                continue;
            };
            let mut cursor = list.cursor();
            while cursor.row() != NO_ROW {
                let id = part.cards().id(cursor.row());
                held.insert((term.text.clone(), id), cursor.holding());
                cursor.advance();
            }
        }
    }
    held
}

#[test]
fn what_scores_are_made_of_does_not_depend_on_how_rows_are_split_into_parts() {
    let dir = tempfile::tempdir().unwrap();
    let one = open(&build(None, &catalogues(), 1_000, dir.path()), dir.path());
    let many = open(&build(None, &catalogues(), 30, dir.path()), dir.path());
    assert_eq!((one.parts().len(), many.parts().len() > 4), (1, true));
    for query in ["cotton shirts", "blue running shoe", "coffee", "silk kurtas linen red"] {
        let expected = held(&one, query);
        assert!(!expected.is_empty());
        assert_eq!(held(&many, query), expected, "{query}");
    }
}
