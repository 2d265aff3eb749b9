use std::collections::BTreeMap;

use data_index::text::{Analysis, analyse};
use data_index::{Release, RowAddress};
use data_model::{Product, ProductId};
use tantivy::Term;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

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

fn scores(release: &Release, text: &str) -> BTreeMap<ProductId, f32> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for spec in [release.fields().title, release.fields().description] {
        for term in analyse(spec.analysis, text) {
            let query = TermQuery::new(
                Term::from_field_text(spec.field, &term.text),
                IndexRecordOption::WithFreqs,
            );
            clauses.push((Occur::Should, Box::new(query)));
        }
    }
    let hits = release
        .searcher()
        .search(&BooleanQuery::new(clauses), &TopDocs::with_limit(500).order_by_score());
    let card = |(score, address): (f32, tantivy::DocAddress)| {
        let RowAddress { part, row } = address.into();
        (release.part(part).unwrap().cards().id(row), score)
    };
    hits.unwrap().into_iter().map(card).collect()
}

#[test]
fn scores_do_not_depend_on_how_rows_are_split_into_parts() {
    let dir = tempfile::tempdir().unwrap();
    let one = open(&build(None, &catalogues(), 1_000, dir.path()), dir.path());
    let many = open(&build(None, &catalogues(), 30, dir.path()), dir.path());
    assert_eq!((one.parts().len(), many.parts().len() > 4), (1, true));
    for query in ["cotton shirts", "blue running shoe", "coffee", "silk kurtas linen red"] {
        let expected = scores(&one, query);
        assert!(!expected.is_empty());
        let found = scores(&many, query);
        assert_eq!(found.len(), expected.len(), "{query}");
        for (id, score) in found {
            // The order in which a document's terms are added up may differ, and with it the last bit.
            let difference = (score - expected[&id]).abs();
            assert!(
                difference <= 4.0 * f32::EPSILON * score,
                "{query}: {score} is not {}",
                expected[&id]
            );
        }
    }
}

#[test]
fn titles_can_be_searched_for_phrases() {
    let dir = tempfile::tempdir().unwrap();
    let release = open(&build(None, &catalogues(), 30, dir.path()), dir.path());
    let field = release.fields().title.field;
    let phrase = |text: &str| {
        let terms = analyse(Analysis::Stemmed, text)
            .into_iter()
            .map(|term| Term::from_field_text(field, &term.text));
        release
            .searcher()
            .search(&PhraseQuery::new(terms.collect()), &tantivy::collector::Count)
            .unwrap()
    };
    let expected = |text: &str| {
        let titles = catalogues()
            .into_iter()
            .flat_map(|store| store.products)
            .map(|product| product.title);
        titles.filter(|title| title.contains(text)).count()
    };
    for text in ["blue cotton", "silk shirt", "shirt silk"] {
        assert_eq!(phrase(text), expected(text), "{text}");
    }
}
