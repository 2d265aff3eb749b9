use std::collections::BTreeMap;

use data_index::{Manifest, Release};
use data_model::ProductIdent;
use data_release::LocalRelease;
use proptest::prelude::*;

use crate::fixture::{Catalogue, build, catalogue, open, served};

#[test]
fn replaced_and_removed_products_are_gone_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let before = [catalogue(0, 1, 5), catalogue(1, 1, 40), catalogue(2, 1, 5)];
    let first = build(None, &before, 1_000, dir.path());
    let after = [catalogue(0, 2, 4), before[1].clone()];
    let second = build(Some(&first), &after, 1_000, dir.path());
    assert_eq!(second.parts.len(), 2);
    assert_eq!(
        second.parts[0].files, first.parts[0].files,
        "unchanged files are shared"
    );
    assert_eq!((second.parts[0].rows, second.parts[0].live_rows), (50, 40));
    let release = open(&second, dir.path());
    assert_eq!(release.counts().products, 44);
    let gone = &before[2].products[0].key;
    assert_eq!(release.find(&ProductIdent::Id(gone.id())), None);
    let kept = release.find(&ProductIdent::Id(before[0].products[0].key.id())).unwrap();
    assert!(release.part(kept.part).unwrap().cards().title(kept.row).contains("v2"));
    let live: u64 = release
        .parts()
        .iter()
        .map(|part| u64::from(part.rows()) - part.dead().len())
        .sum();
    assert_eq!(live, 44);
}

#[test]
fn a_part_that_two_releases_hold_is_opened_once_and_each_serves_its_own_rows() {
    let dir = tempfile::tempdir().unwrap();
    let before = [catalogue(0, 1, 5), catalogue(1, 1, 40)];
    let first = build(None, &before, 1_000, dir.path());
    let after = [catalogue(0, 2, 4), before[1].clone()];
    let second = build(Some(&first), &after, 1_000, dir.path());
    let old = open(&first, dir.path());
    let local = || LocalRelease::in_directory(second.clone(), dir.path());
    let new = local().open_after(Some(&old)).unwrap();
    let shared = |one: &Release, other: &Release, part: u32| {
        std::ptr::eq(one.part(part).unwrap().cards(), other.part(part).unwrap().cards())
    };
    assert!(shared(&old, &new, 0));
    assert_eq!(
        (old.part(0).unwrap().live_rows(), new.part(0).unwrap().live_rows()),
        (45, 40)
    );
    assert_eq!(served(&new), served(&open(&second, dir.path())));
    // Parts shared with an old release stay mapped after the old release is dropped.
    drop(old);
    assert_eq!(served(&new).len(), 44);
    // Parts of another release with other content are not reused.
    let other_dir = tempfile::tempdir().unwrap();
    let other = build(None, &[catalogue(7, 1, 40)], 1_000, other_dir.path());
    let other = open(&other, other_dir.path());
    let alone = local().open_after(Some(&other)).unwrap();
    assert!(!shared(&other, &alone, 0));
    assert_eq!(served(&alone), served(&new));
}

#[test]
fn an_unchanged_catalogue_is_the_same_release() {
    let dir = tempfile::tempdir().unwrap();
    let catalogues: Vec<_> = (0..5).map(|store| catalogue(store, 1, 10)).collect();
    let first = build(None, &catalogues, 25, dir.path());
    let second = build(Some(&first), &catalogues, 25, dir.path());
    assert_eq!(second.id, first.id);
}

fn apply(state: &mut BTreeMap<usize, Catalogue>, changes: &[(usize, u64)], version: u32) {
    for (store, size) in changes {
        if *size == 0 {
            state.remove(store);
        } else {
            state.insert(*store, catalogue(*store, version, *size));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_sequence_of_builds_serves_what_the_lake_has(
        steps in prop::collection::vec(prop::collection::vec((0..8_usize, 0..9_u64), 1..4), 1..6)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut state = BTreeMap::new();
        let mut previous: Option<Manifest> = None;
        for (version, changes) in (1..).zip(&steps) {
            apply(&mut state, changes, version);
            let catalogues: Vec<_> = state.values().cloned().collect();
            let manifest = build(previous.as_ref(), &catalogues, 6, dir.path());
            let release = open(&manifest, dir.path());
            let expected: Vec<_> = catalogues.iter().flat_map(|store| store.products.clone()).collect();
            prop_assert_eq!(served(&release), expected);
            // Totals do not depend on the sequence of builds.
            let fresh = tempfile::tempdir().unwrap();
            let whole = build(None, &catalogues, 6, fresh.path());
            prop_assert_eq!(&manifest.counts, &whole.counts);
            prop_assert_eq!(&manifest.brands, &whole.brands);
            previous = Some(manifest);
        }
    }
}
