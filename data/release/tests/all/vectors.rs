use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use data_embedding::{DocumentText, EmbedError, Embedder, EmbedderId, Vector};
use data_index::{Manifest, Release, RowAddress, RowFilter};
use proptest::prelude::*;

use crate::filters::any_filter;
use crate::fixture::{Catalogue, any_catalogues, build_with, catalogue, open};

/// Test embedder whose vectors depend only on titles and spread over all directions. Titles without letters have no
/// vector. The embedder counts the titles.
#[derive(Debug)]
pub(crate) struct Spread {
    id: EmbedderId,
    embedded: AtomicUsize,
}

const DIMENSIONS: usize = 24;

impl Spread {
    pub(crate) fn new(id: &str) -> Arc<Self> {
        Arc::new(Self {
            id: id.parse().unwrap(),
            embedded: AtomicUsize::new(0),
        })
    }

    fn taken(&self) -> usize {
        self.embedded.swap(0, Ordering::Relaxed)
    }
}

fn vector(title: &str) -> Option<Vector> {
    let mut state = title.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 - (1 << 23) as f32
    };
    let components: Vec<f32> = (0..DIMENSIONS).map(|_| next()).collect();
    let letters = title.chars().any(char::is_alphabetic);
    letters.then(|| Vector::new(&components)).flatten()
}

impl Embedder for Spread {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError> {
        Ok(vector(text))
    }

    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
        self.embedded.fetch_add(documents.len(), Ordering::Relaxed);
        Ok(documents.iter().map(|document| vector(&document.title)).collect())
    }
}

fn built(
    previous: Option<&Manifest>,
    catalogues: &[Catalogue],
    embedder: &Arc<Spread>,
    dir: &std::path::Path,
) -> Manifest {
    let embedder = Arc::clone(embedder) as Arc<dyn Embedder>;
    build_with(previous, catalogues, 100_000, Some(embedder), dir)
}

/// Returns every live product that passes the filter and has a vector, by a naive scan.
fn naive(release: &Release, query: &Vector, filter: &RowFilter) -> Vec<(RowAddress, f32)> {
    let filter = release.filter(filter);
    let mut found = Vec::new();
    for (at, part) in (0..).zip(release.parts()) {
        for row in (0..part.rows()).filter(|row| filter.part(at).unwrap().matches(*row)) {
            if let Some(vector) = vector(part.cards().title(row)) {
                let id = part.cards().id(row);
                found.push((query.cosine(&vector), id, RowAddress { part: at, row }));
            }
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    found.into_iter().map(|(cosine, _, at)| (at, cosine)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_nearest_are_those_of_a_naive_scan(
        catalogues in any_catalogues(),
        filters in prop::collection::vec(any_filter(), 3),
        query in "[a-z]{1,12}",
        wanted in 0_usize..30,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let embedder = Spread::new("spread");
        let rows_max = 7;
        let manifest = build_with(None, &catalogues, rows_max, Some(embedder), dir.path());
        let release = open(&manifest, dir.path());
        let query = vector(&query).unwrap();
        for filter in filters.iter().chain([&RowFilter::default()]) {
            let expected = naive(&release, &query, filter);
            let resolved = release.filter(filter);
            let found = release.nearest(&query, wanted, Some(&resolved));
            prop_assert_eq!(&found, &expected[..wanted.min(expected.len())]);
            for (at, cosine) in expected {
                prop_assert_eq!(release.similarity(&query, at), Some(cosine));
            }
        }
        prop_assert_eq!(release.nearest(&query, wanted, None), release.nearest(&query, wanted, Some(&release.filter(&RowFilter::default()))));
    }
}

/// Builds a release with enough rows for vector lists, some of them dead in one part.
fn large(dir: &std::path::Path) -> Release {
    let embedder = Spread::new("spread");
    let before = [catalogue(0, 1, 9_000), catalogue(1, 1, 3_000), catalogue(2, 1, 40)];
    let first = built(None, &before, &embedder, dir);
    let after = [before[0].clone(), catalogue(1, 2, 3_000), before[2].clone()];
    open(&built(Some(&first), &after, &embedder, dir), dir)
}

#[test]
fn lists_find_what_a_naive_scan_finds_and_pages_stay_full_under_any_filter() {
    let dir = tempfile::tempdir().unwrap();
    let release = large(dir.path());
    assert!(release.parts().iter().any(|part| !part.dead().is_empty()));
    let all = RowFilter::default();
    // Random vectors do not cluster, so that recall is lower than for real vectors.
    let (mut shared, mut wanted) = (0, 0);
    for number in 0..20 {
        let query = vector(&format!("query {number}")).unwrap();
        let expected = naive(&release, &query, &all);
        let found = release.nearest(&query, 100, None);
        assert_eq!(found.len(), 100);
        assert!(found.is_sorted_by(|one, other| one.1 >= other.1));
        shared += expected[..100].iter().filter(|one| found.contains(one)).count();
        wanted += 100;
        let (at, _) = expected[number * 100];
        let itself = release.vector(at).unwrap();
        assert_eq!(release.nearest(&itself, 1, None)[0].0, at);
    }
    assert!(shared * 10 > wanted * 6, "{shared} of {wanted}");
    let some = RowFilter {
        stores: Some(vec!["s002.example".parse().unwrap()]),
        ..all.clone()
    };
    let dear = RowFilter {
        price: Some(data_index::PriceRange {
            currency: "INR".parse().unwrap(),
            min_minor: Some(18_950),
            max_minor: None,
        }),
        ..all.clone()
    };
    let query = vector("query").unwrap();
    for (filter, kept) in [(&some, 40), (&dear, 51)] {
        let found = release.nearest(&query, 100, Some(&release.filter(filter)));
        assert_eq!(found, naive(&release, &query, filter));
        assert_eq!(found.len(), kept);
    }
    // A filter that keeps most rows is applied inside the lists.
    let most = RowFilter {
        price: Some(data_index::PriceRange {
            currency: "INR".parse().unwrap(),
            min_minor: Some(10_100),
            max_minor: None,
        }),
        ..all
    };
    let filter = release.filter(&most);
    let found = release.nearest(&query, 12_000, Some(&filter));
    assert_eq!(found, naive(&release, &query, &most));
    assert!(found.len() > 11_000);
}

#[test]
fn only_changed_stores_are_embedded_and_all_when_the_embedder_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (Spread::new("one"), Spread::new("other"));
    let before = [catalogue(0, 1, 300), catalogue(1, 1, 20)];
    let first = built(None, &before, &one, dir.path());
    assert_eq!(one.taken(), 320);
    let after = [before[0].clone(), catalogue(1, 2, 20)];
    let second = built(Some(&first), &after, &one, dir.path());
    assert_eq!(one.taken(), 20);
    assert_eq!(second.embedding.as_ref().unwrap().embedder.as_str(), "one");
    let third = built(Some(&second), &after, &other, dir.path());
    assert_eq!(other.taken(), 320);
    assert_ne!(third.id, second.id);
    // Without an embedder there are no vectors, so that the search finds nothing.
    let without = build_with(Some(&third), &after, 100_000, None, dir.path());
    assert_eq!(without.embedding, None);
    let names: Vec<_> = without.parts[0].files.iter().map(|file| file.name.as_str()).collect();
    assert!(!names.contains(&"vectors.bin"), "{names:?}");
    let release = open(&without, dir.path());
    let (query, at) = (vector("a").unwrap(), RowAddress { part: 0, row: 0 });
    assert!(release.nearest(&query, 5, None).is_empty());
    assert_eq!((release.similarity(&query, at), release.vector(at)), (None, None));
}

#[test]
fn a_vector_of_another_length_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = built(None, &[catalogue(0, 1, 3)], &Spread::new("one"), dir.path());
    let release = open(&manifest, dir.path());
    let (other, at) = (Vector::new(&[1.0; 25]).unwrap(), RowAddress { part: 0, row: 0 });
    assert!(release.nearest(&other, 5, None).is_empty());
    assert_eq!(release.similarity(&other, at), None);
    assert_eq!(release.vector(at), vector("Cotton Shirt v1 number1"));
    assert_eq!(release.vector(RowAddress { part: 7, row: 0 }), None);
    assert_eq!(
        release.similarity(&release.vector(at).unwrap(), RowAddress { part: 0, row: 9 }),
        None
    );
}

#[test]
fn an_embedder_that_does_not_answer_ends_the_build() {
    #[derive(Debug)]
    struct Silent(Arc<Spread>);
    impl Embedder for Silent {
        fn id(&self) -> &EmbedderId {
            self.0.id()
        }
        fn dimensions(&self) -> usize {
            DIMENSIONS
        }
        fn embed_query(&self, _: &str) -> Result<Option<Vector>, EmbedError> {
            Ok(None)
        }
        fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
            Ok(vec![Vector::new(&[1.0; DIMENSIONS + 1]); documents.len()])
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let options = data_index::BuildOptions {
        embedder: Some(Arc::new(Silent(Spread::new("one")))),
        ..data_index::BuildOptions::default()
    };
    let catalogue = catalogue(0, 1, 1);
    let mut parts = data_release::PartsBuilder::new(dir.path(), &options);
    parts.push(&catalogue.products[0], &catalogue.facts, &[]).unwrap();
    let failed = parts.finish().unwrap_err();
    assert!(matches!(failed, data_index::BuildError::Embed(_)), "{failed}");
}
