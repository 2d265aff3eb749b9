use std::collections::BTreeMap;

use data_index::{Counts, PartStore};
use data_model::{Brand, Timestamp};
use proptest::prelude::*;

use super::*;

fn store(number: u32, version: u32, rows: u64) -> LakeStore {
    let brand = Brand {
        store: format!("s{number:05}.example").parse().unwrap(),
        ..kit::brand(&format!("S{number}"))
    };
    let facts = BrandFacts {
        brand,
        catalogue_hash: format!("v{version}"),
        refreshed_at: Timestamp::default(),
        shipping: None,
        delivery: None,
        reviews: None,
    };
    LakeStore {
        facts,
        product_count: rows,
    }
}

/// The parts are planned but not built.
fn built(plan: &BuildPlan, stores: &[LakeStore], rows_max: u32, next_id: &mut u128) -> Vec<PartEntry> {
    let mut parts: Vec<PartEntry> = Vec::new();
    for group in &plan.build {
        let mut open: Option<PartEntry> = None;
        for host in &group.stores {
            let lake = stores.iter().find(|store| store.facts.brand.store == *host).unwrap();
            let mut left = u32::try_from(lake.product_count).unwrap();
            while left > 0 {
                if open.as_ref().is_some_and(|part| part.rows == rows_max) {
                    parts.extend(open.take());
                }
                let part = open.get_or_insert_with(|| {
                    *next_id += 1;
                    let id = PartId::from_digest(next_id.to_be_bytes());
                    PartEntry {
                        id,
                        rows: 0,
                        live_rows: 0,
                        currencies: vec![],
                        stores: vec![],
                        files: vec![],
                    }
                });
                let rows = left.min(rows_max - part.rows);
                let fingerprint = fingerprint(&lake.facts, PlanOptions::default().embedding.as_ref());
                part.stores.push(PartStore {
                    store: host.clone(),
                    fingerprint,
                    first_row: part.rows,
                    rows,
                    live: true,
                });
                (part.rows, part.live_rows) = (part.rows + rows, part.live_rows + rows);
                left -= rows;
            }
        }
        parts.extend(open);
    }
    parts
}

fn next(
    previous: Option<&Manifest>,
    stores: &[LakeStore],
    options: &PlanOptions,
    id: &mut u128,
) -> (BuildPlan, Manifest) {
    let plan = plan(previous, stores, options);
    let mut parts = plan.keep.clone();
    parts.extend(built(&plan, stores, options.rows_max, id));
    let manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        id: data_model::ReleaseId::from_digest([0; 8]),
        built_at: Timestamp::default(),
        lake: BTreeMap::new(),
        embedding: None,
        counts: Counts::default(),
        brands: vec![],
        parts,
        matches: None,
        gone: None,
        held: Vec::new(),
    };
    (plan, manifest)
}

/// Every store must be live with all of its rows in the lake's current state, and nothing else may be live.
fn check(manifest: &Manifest, stores: &[LakeStore]) -> Result<(), TestCaseError> {
    let mut live: BTreeMap<(StoreHost, String), u64> = BTreeMap::new();
    for part in &manifest.parts {
        let of_part: u32 = part.stores.iter().filter(|run| run.live).map(|run| run.rows).sum();
        prop_assert_eq!(of_part, part.live_rows);
        prop_assert!(part.live_rows > 0, "a part without live rows is kept");
        for run in part.stores.iter().filter(|run| run.live) {
            *live.entry((run.store.clone(), run.fingerprint.clone())).or_default() += u64::from(run.rows);
        }
    }
    let expected = stores.iter().filter(|store| store.product_count > 0);
    let expected: BTreeMap<_, _> = expected
        .map(|store| {
            (
                (
                    store.facts.brand.store.clone(),
                    fingerprint(&store.facts, PlanOptions::default().embedding.as_ref()),
                ),
                store.product_count,
            )
        })
        .collect();
    prop_assert_eq!(live, expected);
    Ok(())
}

proptest! {
    #[test]
    fn every_store_is_live_in_exactly_one_place(
        steps in prop::collection::vec(prop::collection::vec((0..40_u32, 0..60_u64), 0..12), 1..30),
        rows_max in 10..200_u32,
    ) {
        let options = PlanOptions { rows_max, ..PlanOptions::default() };
        let (mut lake, mut previous, mut id) = (BTreeMap::new(), None, 0);
        for (version, changes) in (0..).zip(&steps) {
            for (number, rows) in changes {
                if *rows == 59 {
                    lake.remove(number);
                } else {
                    lake.insert(*number, store(*number, version, *rows));
                }
            }
            let stores: Vec<LakeStore> = lake.values().cloned().collect();
            let (plan, manifest) = next(previous.as_ref(), &stores, &options, &mut id);
            check(&manifest, &stores)?;
            let before: BTreeSet<PartId> = previous.iter().flat_map(|manifest: &Manifest| &manifest.parts).map(|part| part.id).collect();
            let after: BTreeSet<PartId> = plan.keep.iter().map(|part| part.id).chain(plan.drop.iter().copied()).collect();
            prop_assert_eq!(before, after, "every part is kept or dropped");
            for part in &plan.keep {
                let dead = 1.0 - f64::from(part.live_rows) / f64::from(part.rows);
                prop_assert!(dead <= DEAD_SHARE_URGENT);
            }
            let (idle, _) = next(Some(&manifest), &stores, &options, &mut id);
            prop_assert!(idle.rows_to_index() <= manifest.parts.iter().map(|part| u64::from(part.live_rows)).sum());
            previous = Some(manifest);
        }
    }
}

#[test]
fn an_unchanged_lake_builds_nothing_after_a_full_build() {
    let stores: Vec<_> = (0..500).map(|number| store(number, 0, 400)).collect();
    let options = PlanOptions::default();
    let mut id = 0;
    let (first, manifest) = next(None, &stores, &options, &mut id);
    assert_eq!(first.build.len(), 2);
    let sizes: Vec<u64> = first.build.iter().map(|part| part.rows).collect();
    assert!(sizes.iter().all(|rows| (90_000..=110_000).contains(rows)), "{sizes:?}");
    let (second, _) = next(Some(&manifest), &stores, &options, &mut id);
    assert_eq!((second.rows_to_index(), second.drop.len()), (0, 0));
}

#[test]
fn a_year_of_daily_one_percent_changes_stays_cheap_and_compact() {
    let mut stores: Vec<_> = (0..1000).map(|number| store(number, 0, 200)).collect();
    let options = PlanOptions::default();
    let mut id = 0;
    let (_, mut manifest) = next(None, &stores, &options, &mut id);
    let (mut rows, mut parts_max, mut cheap) = (0, 0, 0);
    for day in 1..=365 {
        for change in 0..10_u32 {
            let number = (day * 7_919 + change * 104_729) % 1000;
            stores[number as usize] = store(number, day, 200);
        }
        let (plan, after) = next(Some(&manifest), &stores, &options, &mut id);
        check(&after, &stores).unwrap();
        rows += plan.rows_to_index();
        cheap += usize::from(plan.rows_to_index() < 10_000);
        parts_max = parts_max.max(after.parts.len());
        manifest = after;
        if day == 1 {
            assert_eq!(plan.rows_to_index(), 2_000, "one percent costs one percent");
        }
    }
    assert!(parts_max <= 24, "{parts_max} parts");
    assert!(cheap > 290, "{cheap} of 365 builds cost less than 5% of a full one");
    assert!(rows / 365 < 12_000, "{} rows a day on average", rows / 365);
}

proptest! {
    #[test]
    fn stores_that_cannot_be_read_stay_where_they_are_and_never_move(
        rows in prop::collection::vec(1..60_u64, 2..30),
        changes in prop::collection::vec((0..30_usize, 1..60_u64), 0..30),
        lost in prop::collection::btree_set(0..30_usize, 1..4),
    ) {
        let mut options = PlanOptions { rows_max: 100, merge_factor: 2, ..PlanOptions::default() };
        let mut stores: Vec<LakeStore> = (0..).zip(&rows).map(|(number, rows)| store(number, 0, *rows)).collect();
        let mut id = 0;
        let (_, first) = next(None, &stores, &options, &mut id);
        // A store that is in no release and cannot be read is also included.
        let unknown = store(1_000, 0, 7);
        options.unreadable = lost.iter().filter_map(|at| stores.get(*at)).map(|store| store.facts.brand.store.clone()).collect();
        for (at, rows) in changes {
            if at < stores.len() && !lost.contains(&at) {
                stores[at] = store(u32::try_from(at).unwrap(), 1, rows);
            }
        }
        let mut asked = stores.clone();
        asked.push(unknown.clone());
        options.unreadable.insert(unknown.facts.brand.store.clone());
        let (plan, second) = next(Some(&first), &asked, &options, &mut id);
        prop_assert_eq!(&plan.left_out, &BTreeSet::from([unknown.facts.brand.store]));
        prop_assert!(plan.stores_to_index().is_disjoint(&options.unreadable));
        check(&second, &stores)?;
    }
}
