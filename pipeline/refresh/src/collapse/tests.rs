use pipeline_crawl::LastListed;

use super::*;
use crate::CollapseConfig;

fn held(found: u64, confirmed: bool) -> HeldCrawl {
    HeldCrawl {
        store: "tea.example".parse().unwrap(),
        slug: "tea".parse().unwrap(),
        run: "r1".parse().unwrap(),
        held_at: Timestamp::default(),
        products_before: 100,
        products_found: found,
        quarantined: 0,
        doubt: None,
        doubts: Vec::new(),
        stated: None,
        currency: None,
        confirmed,
        changed: ChangedSample::default(),
    }
}

fn found(products: u64) -> CrawlFigures {
    CrawlFigures {
        products,
        unreadable: 0,
        kept: 0,
        newly_kept: 0,
        currency: "INR".parse().unwrap(),
        last: None,
        stated: None,
        listed: products,
        drift: Drift::default(),
        truncated: false,
    }
}

fn is_believed(
    config: &CollapseConfig,
    before: u64,
    found: CrawlFigures,
    run: &RunId,
    held: Option<&HeldCrawl>,
) -> bool {
    is_believed_of(config, of(before), found, run, held)
}

fn of(products: u64) -> LakeFigures {
    LakeFigures {
        products,
        most: products,
        unlisted: 0,
        currency: Some("INR".parse().unwrap()),
    }
}

fn is_believed_of(
    config: &CollapseConfig,
    before: LakeFigures,
    found: CrawlFigures,
    run: &RunId,
    held: Option<&HeldCrawl>,
) -> bool {
    let doubts = found.doubts(config, before);
    let doubted = DoubtedCrawl {
        before,
        found,
        doubts: &doubts,
        changed: &ChangedSample::default(),
    };
    doubts.is_empty() || held.is_some_and(|held| is_confirmed(config, doubted, run, held))
}

#[test]
fn a_catalogue_that_lost_half_its_products_is_not_believed_at_once() {
    let config = CollapseConfig::default();
    let run: RunId = "r2".parse().unwrap();
    let believed = |before, now| is_believed(&config, before, found(now), &run, None);
    assert!(believed(0, 0) && believed(0, 500) && believed(100, 100) && believed(100, 50) && believed(100, 900));
    assert!(believed(15, 6), "fewer than half, but not ten fewer");
    assert!(!believed(100, 49) && !believed(20, 9) && !believed(1, 0) && !believed(100, 0));
}

#[test]
fn another_crawl_or_the_operator_confirms_about_the_same_count() {
    let config = CollapseConfig::default();
    let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
    let believed = |now, run, held: &HeldCrawl| is_believed(&config, 1000, found(now), run, Some(held));
    assert!(believed(200, &other, &held(200, false)));
    assert!(believed(182, &other, &held(200, false)));
    assert!(!believed(150, &other, &held(200, false)), "quite another count");
    assert!(
        !believed(200, &same, &held(200, false)),
        "the same crawl, resumed, confirms nothing"
    );
    assert!(believed(200, &same, &held(200, true)));
    assert!(
        !believed(0, &other, &held(200, true)) && !believed(0, &other, &held(3, true)),
        "the operator confirmed some, not none"
    );
    assert!(believed(0, &other, &held(0, true)));
}

#[test]
fn what_a_crawl_lacks_that_did_not_come_to_the_end_is_not_gone_at_once() {
    let config = CollapseConfig::default();
    let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
    let believed = |now, run, held: Option<&HeldCrawl>| {
        let cut = CrawlFigures {
            truncated: true,
            ..found(now)
        };
        is_believed(&config, 100, cut, run, held)
    };
    assert!(believed(100, &other, None) && believed(101, &other, None));
    assert!(!believed(99, &other, None) && !believed(99, &same, Some(&held(99, false))));
    assert!(believed(99, &other, Some(&held(99, false))) && believed(99, &same, Some(&held(99, true))));
}

#[test]
fn an_empty_catalogue_is_confirmed_by_the_operator_or_by_the_stores_own_count() {
    let config = CollapseConfig::default();
    let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
    let believed = |stated, run, held: Option<&HeldCrawl>| {
        let empty = CrawlFigures { stated, ..found(0) };
        is_believed(&config, 1000, empty, run, held)
    };
    let seen = held(0, false);
    assert!(!believed(None, &other, Some(&seen)) && !believed(Some(7), &other, Some(&seen)));
    assert!(believed(Some(0), &other, Some(&seen)));
    assert!(!believed(Some(0), &same, Some(&seen)) && !believed(Some(0), &other, None));
}

#[test]
fn records_that_could_not_be_understood_are_not_gone_because_it_happened_twice() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |unreadable: u64, held_unreadable: u64, confirmed| {
        let now = CrawlFigures {
            unreadable,
            ..found(200)
        };
        let held = HeldCrawl {
            quarantined: held_unreadable,
            ..held(200, confirmed)
        };
        is_believed(&config, 1000, now, &other, Some(&held))
    };
    assert!(believed(0, 0, false) && believed(22, 22, false));
    assert!(!believed(23, 23, false), "more than a tenth of the records");
    assert!(!believed(800, 0, false) && !believed(0, 800, false), "either time");
    assert!(believed(800, 800, true));
    // Unreadable records are half of the missing products, but less than a tenth of all records.
    let few = |unreadable| {
        CrawlFigures {
            unreadable,
            ..found(100)
        }
        .is_confirmed_by_repetition(120)
    };
    assert!(few(9) && !few(10) && !few(11));
}

#[test]
fn a_brand_of_which_hardly_a_product_is_left_is_believed_when_it_is_found_replaced_again() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |products: u64, gone: u64, held: Option<&HeldCrawl>| {
        let now = CrawlFigures {
            last: Some(LastListed { products, gone }),
            ..found(products)
        };
        is_believed(&config, products, now, &other, held)
    };
    assert!(
        believed(100, 80, None) && believed(9, 9, None),
        "a fifth is left, or there were few"
    );
    assert!(!believed(100, 81, None) && !believed(10, 10, None));
    let replaced = HeldCrawl {
        doubt: Some(HoldReason::Replaced),
        ..held(100, false)
    };
    assert!(believed(100, 100, Some(&replaced)));
    let shrank = HeldCrawl {
        doubt: Some(HoldReason::Shrank),
        ..held(100, false)
    };
    assert!(!believed(100, 100, Some(&shrank)), "held back for another reason");
}

#[test]
fn known_products_that_cannot_be_read_any_more_are_a_few_or_held_back_whatever_repeats() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |kept: u64, newly_kept: u64, held: Option<&HeldCrawl>| {
        let now = CrawlFigures {
            unreadable: kept,
            kept,
            newly_kept,
            ..found(200 - kept)
        };
        is_believed(&config, 200, now, &other, held)
    };
    assert!(believed(10, 10, None) && !believed(11, 11, None));
    assert!(believed(150, 0, None), "the lake knows them to be unreadable");
    let seen = |confirmed| HeldCrawl {
        doubt: Some(HoldReason::Unreadable),
        ..held(189, confirmed)
    };
    assert!(!believed(11, 11, Some(&seen(false))) && believed(11, 11, Some(&seen(true))));
}

#[test]
fn products_that_the_store_counts_and_does_not_list_are_not_gone_at_once() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |products: u64, stated: u64, unlisted: u64, held: Option<&HeldCrawl>| {
        let now = CrawlFigures {
            stated: Some(stated),
            ..found(products)
        };
        is_believed_of(&config, LakeFigures { unlisted, ..of(499) }, now, &other, held)
    };
    assert!(!believed(250, 499, 0, None) && !believed(498, 499, 0, None));
    assert!(
        believed(498, 498, 0, None) && believed(499, 600, 0, None),
        "as counted, or nothing lost"
    );
    assert!(
        believed(498, 508, 10, None) && !believed(497, 508, 10, None),
        "ten are never listed"
    );
    assert!(believed(250, 499, 0, Some(&held(250, false))), "found again");
}

#[test]
fn losses_of_a_few_days_are_one_loss() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |products: u64, held: Option<&HeldCrawl>| {
        let before = LakeFigures { most: 100, ..of(60) };
        is_believed_of(&config, before, found(products), &other, held)
    };
    assert!(believed(60, None) && believed(50, None) && !believed(49, None));
    assert!(believed(49, Some(&held(49, false))), "found again");
}

#[test]
fn prices_of_next_to_nothing_are_the_operators_to_confirm_however_often_they_are_found() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let believed = |fallen: u64, variants: u64, held: Option<&HeldCrawl>| {
        let now = CrawlFigures {
            drift: Drift {
                variants,
                fallen,
                ..Drift::default()
            },
            ..found(100)
        };
        is_believed(&config, 100, now, &other, held)
    };
    assert!(
        believed(0, 0, None) && believed(5, 20, None) && believed(39, 200, None),
        "a few, or a small part"
    );
    assert!(
        !believed(6, 30, None)
            && !believed(40, 200, None)
            && believed(2, 3, None)
            && !believed(3, 3, None)
            && !believed(1, 1, None)
    );
    let seen = |confirmed| HeldCrawl {
        doubt: Some(HoldReason::Prices),
        ..held(100, confirmed)
    };
    assert!(!believed(100, 100, Some(&seen(false))) && believed(100, 100, Some(&seen(true))));
}

#[test]
fn a_reason_that_is_new_is_not_confirmed_with_another() {
    let config = CollapseConfig::default();
    let other: RunId = "r2".parse().unwrap();
    let now = CrawlFigures {
        drift: Drift {
            products: 40,
            retitled: 40,
            ..Drift::default()
        },
        ..found(40)
    };
    assert_eq!(now.doubts(&config, of(100)), [HoldReason::Shrank, HoldReason::Titles]);
    let shrank = HeldCrawl {
        doubt: Some(HoldReason::Shrank),
        doubts: vec![HoldReason::Shrank],
        ..held(40, false)
    };
    let both = HeldCrawl {
        doubts: vec![HoldReason::Shrank, HoldReason::Titles],
        ..shrank.clone()
    };
    let believed = |held: &HeldCrawl| is_believed(&config, 100, now, &other, Some(held));
    assert!(!believed(&shrank) && believed(&both));
    let confirmed = HeldCrawl {
        confirmed: true,
        ..shrank
    };
    assert!(!believed(&confirmed), "the operator confirmed what there was");
}

#[test]
fn a_loss_is_repeated_if_the_same_products_are_missing_and_not_if_as_many_others_are() {
    let config = CollapseConfig::default();
    // Losses of every third product, of pages of a listing, and of everything, in small and large catalogues.
    for products in [90, 1_100, 40_000] {
        let lost = |is_lost: &dyn Fn(u64) -> bool| ChangedSample::new((0..products).filter(|id| is_lost(*id)));
        let page = products / 4;
        let thirds = [0, 1, 2].map(|rest| lost(&|id| id % 3 == rest));
        let pages = [0, 1, 2].map(|nth| lost(&|id| id / page == nth));
        for losses in [&thirds, &pages] {
            for (earlier, one) in losses.iter().enumerate() {
                for (later, other) in losses.iter().enumerate() {
                    assert_eq!(
                        other.repeats(one, config.tolerance),
                        earlier == later,
                        "{products} {earlier} {later}"
                    );
                }
            }
        }
        // More of the same loss, and a part of it that has come back.
        let [all, third] = [lost(&|_| true), lost(&|id| id % 3 == 0)];
        assert!(third.repeats(&all, config.tolerance) && !all.repeats(&third, config.tolerance));
        let few_more = lost(&|id| id % 3 == 0 || id < 5);
        assert!(few_more.repeats(&third, config.tolerance));
    }
    let run: RunId = "r2".parse().unwrap();
    let (ours, others) = (ChangedSample::new(0..60), ChangedSample::new(30..90));
    let doubted = DoubtedCrawl {
        before: of(100),
        found: found(40),
        doubts: &[HoldReason::Shrank],
        changed: &others,
    };
    let held = |changed: &ChangedSample| HeldCrawl {
        changed: changed.clone(),
        ..held(40, false)
    };
    assert!(is_confirmed(&config, doubted, &run, &held(&others)));
    assert!(!is_confirmed(&config, doubted, &run, &held(&ours)));
}
