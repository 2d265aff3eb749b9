//! Tests of the queue of stores, on both databases.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use data_model::{RunId, StoreHost};
use state::{EnqueueOutcome, NewWorkRun, State, StoreRight, TakenWork, WorkStore};

use crate::support::{Place, at, on_both};

const LEASE: Duration = Duration::from_secs(60);
const RUN: &str = "20261123T040000Z-00000001";
const OTHER: &str = "20261123T041500Z-00000002";

fn run(id: &str, priority: i64) -> NewWorkRun {
    NewWorkRun {
        run: id.parse().unwrap(),
        force: false,
        priority,
        by: "test".to_owned(),
    }
}

fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

fn stores(names: &[&str]) -> Vec<WorkStore> {
    let store = |name: &&str| WorkStore {
        store: format!("{name}.example").parse().unwrap(),
        slug: name.parse().unwrap(),
    };
    names.iter().map(store).collect()
}

async fn enqueue(state: &State, id: &str, names: &[&str], second: i64) -> EnqueueOutcome {
    state
        .enqueue_work(&run(id, 0), &stores(names), at(second))
        .await
        .unwrap()
}

async fn take(state: &State, holder: &str, limit: u32, second: i64) -> Vec<TakenWork> {
    state.take_work(holder, limit, LEASE, 2, at(second)).await.unwrap()
}

fn slugs(taken: &[TakenWork]) -> Vec<&str> {
    taken.iter().map(|work| work.slug.as_str()).collect()
}

#[test]
fn a_right_that_a_clock_which_was_ahead_gave_is_taken_by_the_next_one_and_its_holder_loses_it() {
    const YEAR: i64 = 365 * 24 * 3600;
    on_both(async |place| {
        let state = place.open().await;
        let tea: StoreHost = "tea.example".parse().unwrap();
        let ahead = state.take_committer("ahead", LEASE, at(YEAR)).await.unwrap().unwrap();
        let StoreRight::Given(store) = state.take_store(&tea, "ahead", LEASE, at(YEAR)).await.unwrap() else {
            panic!("nobody has it");
        };
        enqueue(&state, RUN, &["kith"], 0).await;
        let kith = take(&state, "ahead", 1, YEAR).await.remove(0);
        let right = state.take_committer("right", LEASE, at(1)).await.unwrap().unwrap();
        assert!(right.fence() > ahead.fence());
        let given = state.take_store(&tea, "right", LEASE, at(1)).await.unwrap();
        assert!(matches!(given, StoreRight::Given(_)), "{given:?}");
        assert_eq!(slugs(&take(&state, "right", 1, 1).await), ["kith"]);
        let lost = [ahead.clone(), store.clone(), kith.lease()];
        let renewed = state.renew_work(&lost, LEASE, at(YEAR + 1)).await.unwrap();
        assert_eq!(BTreeSet::from_iter(renewed), BTreeSet::from(lost));
        assert!(!state.stage_work(&kith, None, at(YEAR + 2)).await.unwrap());
        // A lease within the maximum duration counts.
        assert_eq!(state.take_committer("third", LEASE, at(2)).await.unwrap(), None);
        assert!(take(&state, "third", 1, 2).await.is_empty());
    });
}

#[test]
fn what_a_clock_that_was_ahead_put_off_is_there_for_the_next_one() {
    const YEAR: i64 = 365 * 24 * 3600;
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        let kith = take(&state, "ahead", 1, YEAR).await.remove(0);
        state.retry_work(&kith, "it asks to wait", at(YEAR + 60)).await.unwrap();
        assert_eq!(slugs(&take(&state, "right", 1, 1).await), ["kith"]);
    });
}

#[test]
fn a_store_that_a_run_has_already_is_not_put_in_again() {
    on_both(async |place| {
        let state = place.open().await;
        assert_eq!(
            enqueue(&state, RUN, &["kith", "bmc", "kith"], 0).await,
            EnqueueOutcome::Added(2)
        );
        assert_eq!(
            enqueue(&state, RUN, &["kith", "tea"], 1).await,
            EnqueueOutcome::Added(1)
        );
        let items = state.work_items(100).await.unwrap();
        assert_eq!(items.len(), 3);
        let told = serde_json::to_string(&items[0]).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r#"{"run":"20261123T040000Z-00000001","store":"bmc.example","slug":"bmc","state":"queued","priority":0,"attempts":0,"available_at":"2026-11-23T04:00:00Z","changed_at":"2026-11-23T04:00:00Z","holder":null,"lease_until":null}"#);
        }
        let runs = state.open_work_runs().await.unwrap();
        assert_eq!((runs.len(), &runs[0].run), (1, &id(RUN)));
    });
}

#[test]
fn of_many_workers_that_take_at_once_each_store_goes_to_one() {
    on_both(async |place| {
        let state = place.open().await;
        let names: Vec<String> = (0..40).map(|nth| format!("store-{nth:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        enqueue(&state, RUN, &names, 0).await;
        enqueue(&state, OTHER, &names, 1).await;
        let workers = (0..4).map(|nth| {
            let target = place.target.clone();
            tokio::spawn(async move {
                let state = State::open(&target).await.unwrap();
                let mut all = Vec::new();
                for _ in 0..20 {
                    all.extend(take(&state, &format!("worker {nth}"), 3, 5).await);
                }
                all
            })
        });
        let mut taken = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            taken.extend(worker.await.unwrap());
        }
        let distinct: BTreeSet<_> = taken.iter().map(|work| work.store.clone()).collect();
        // The second run contains the same stores, but only one worker gets each store.
        assert_eq!((taken.len(), distinct.len()), (40, 40));
        let counts = state.work_counts(at(6)).await.unwrap();
        assert_eq!((counts.queued, counts.leased, counts.lost, counts.runs), (40, 40, 0, 2));
        assert_eq!(counts.oldest_at, Some(at(0)));
    });
}

#[test]
fn who_was_taken_for_gone_can_neither_stage_nor_renew_nor_give_back() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        let first = take(&state, "one", 5, 0).await.remove(0);
        assert_eq!(take(&state, "two", 5, 59).await, []);
        let leases = [first.lease()];
        assert_eq!(state.renew_work(&leases, LEASE, at(50)).await.unwrap(), []);
        assert_eq!(take(&state, "two", 5, 109).await, []);
        assert_eq!(state.work_counts(at(110)).await.unwrap().lost, 1);
        let second = take(&state, "two", 5, 110).await.remove(0);
        assert!(second.fence > first.fence && second.attempt == 2);
        assert_eq!(state.renew_work(&leases, LEASE, at(111)).await.unwrap(), leases);
        assert!(!state.stage_work(&first, None, at(111)).await.unwrap());
        assert!(!state.retry_work(&first, "x", at(111)).await.unwrap());
        assert!(!state.give_back_work(&first, at(111)).await.unwrap());
        assert!(state.stage_work(&second, None, at(112)).await.unwrap());
        assert!(!state.stage_work(&second, None, at(113)).await.unwrap());
        let staged = state.staged_work(&id(RUN), 10).await.unwrap();
        assert_eq!((staged.len(), staged[0].fence), (1, second.fence));
    });
}

#[test]
fn what_is_urgent_comes_first_and_what_failed_waits() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["bmc", "kith"], 0).await;
        let urgent = run(OTHER, 5);
        state.enqueue_work(&urgent, &stores(&["tea"]), at(1)).await.unwrap();
        let taken = take(&state, "one", 2, 2).await;
        assert_eq!(slugs(&taken), ["tea", "bmc"]);
        assert!(state.retry_work(&taken[0], "throttled", at(30)).await.unwrap());
        assert!(state.give_back_work(&taken[1], at(3)).await.unwrap());
        let again = take(&state, "one", 5, 4).await;
        // Returned work is not counted as an attempt.
        assert_eq!((slugs(&again), again[0].attempt), (vec!["bmc", "kith"], 1));
        let last = take(&state, "one", 5, 30).await;
        assert_eq!((slugs(&last), last[0].attempt), (vec!["tea"], 2));
    });
}

#[test]
fn one_committer_at_a_time_says_what_the_lake_has() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["bmc", "kith"], 0).await;
        for work in take(&state, "one", 2, 0).await {
            assert!(state.stage_work(&work, None, at(1)).await.unwrap());
        }
        let first = state.take_committer("one", LEASE, at(0)).await.unwrap().unwrap();
        assert_eq!(state.take_committer("two", LEASE, at(59)).await.unwrap(), None);
        let second = state.take_committer("two", LEASE, at(60)).await.unwrap().unwrap();
        let staged = state.staged_work(&id(RUN), 10).await.unwrap();
        assert!(!state.fold_work(&id(RUN), &staged, &first, at(61)).await.unwrap());
        assert!(!state.unstage_work(&id(RUN), &staged[0], &first, at(61)).await.unwrap());
        assert_eq!(state.staged_work(&id(RUN), 10).await.unwrap().len(), 2);
        assert!(!state.close_work_run(&id(RUN), &second, at(61)).await.unwrap());
        assert!(state.fold_work(&id(RUN), &staged, &second, at(61)).await.unwrap());
        assert_eq!(state.work_left(&id(RUN)).await.unwrap(), 0);
        assert!(!state.close_work_run(&id(RUN), &first, at(62)).await.unwrap());
        assert!(state.close_work_run(&id(RUN), &second, at(62)).await.unwrap());
        assert_eq!(enqueue(&state, RUN, &["tea"], 63).await, EnqueueOutcome::Over);
        assert_eq!(state.work_items(10).await.unwrap(), []);
        assert!(state.give_back_committer(&second).await.unwrap());
        let third = state.take_committer("one", LEASE, at(63)).await.unwrap().unwrap();
        assert!(third.fence() > second.fence());
    });
}

#[test]
fn what_an_older_worker_found_does_not_come_after_what_a_newer_one_did() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        let older = take(&state, "one", 1, 0).await.remove(0);
        state.stage_work(&older, None, at(1)).await.unwrap();
        enqueue(&state, OTHER, &["kith"], 2).await;
        let newer = take(&state, "one", 1, 2).await.remove(0);
        state.stage_work(&newer, None, at(3)).await.unwrap();
        let committer = state.take_committer("one", LEASE, at(4)).await.unwrap().unwrap();
        let of_newer = state.staged_work(&id(OTHER), 1).await.unwrap();
        state.fold_work(&id(OTHER), &of_newer, &committer, at(5)).await.unwrap();
        assert!(state.staged_work(&id(RUN), 1).await.unwrap()[0].is_outdated);
        assert!(!of_newer[0].is_outdated);
    });
}

async fn dies(state: &State, id_text: &str, second: i64, committer: &state::WorkLease) {
    let work = take(state, "one", 1, second).await.remove(0);
    assert!(
        state
            .stage_work(&work, Some("its page is no JSON"), at(second))
            .await
            .unwrap()
    );
    let staged = state.staged_work(&id(id_text), 1).await.unwrap();
    assert_eq!(staged[0].letter.as_deref(), Some("its page is no JSON"));
    assert!(
        state
            .fold_work(&id(id_text), &staged, committer, at(second))
            .await
            .unwrap()
    );
    assert!(state.close_work_run(&id(id_text), committer, at(second)).await.unwrap());
}

#[test]
fn a_dead_letter_outlives_its_run_and_is_told_once_a_store_until_somebody_decides() {
    on_both(async |place| {
        let state = place.open().await;
        let hour = Duration::from_secs(3_600);
        let committer = state.take_committer("one", hour, at(0)).await.unwrap().unwrap();
        enqueue(&state, RUN, &["kith"], 0).await;
        dies(&state, RUN, 1, &committer).await;
        enqueue(&state, OTHER, &["kith"], 100).await;
        dies(&state, OTHER, 101, &committer).await;
        let letters = state.dead_letters(10).await.unwrap();
        let told = serde_json::to_string(&letters).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r#"[{"run":"20261123T041500Z-00000002","store":"kith.example","slug":"kith","attempts":1,"since":"2026-11-23T04:01:41Z","reason":"its page is no JSON"}]"#);
        }
        assert_eq!(state.work_counts(at(200)).await.unwrap().dead, 1);
        let nobody = ["bmc".parse().unwrap()];
        assert_eq!(state.drop_dead_letters(&nobody).await.unwrap(), []);
        let slugs = ["kith".parse().unwrap()];
        assert_eq!(state.drop_dead_letters(&slugs).await.unwrap(), letters);
        assert_eq!(state.dead_letters(10).await.unwrap(), []);
    });
}

#[test]
fn a_store_whose_workers_are_lost_again_and_again_is_left_alone() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        let lost = take(&state, "one", 1, 0).await.remove(0);
        assert_eq!(slugs(&take(&state, "two", 1, 60).await), ["kith"]);
        assert_eq!(take(&state, "three", 1, 120).await, []);
        let staged = state.staged_work(&id(RUN), 1).await.unwrap();
        let letter = staged[0].letter.as_deref();
        assert_eq!(letter, Some("the store's worker was lost 2 times in a row"));
        assert!(!state.stage_work(&lost, None, at(121)).await.unwrap());
    });
}

#[test]
fn staged_work_that_is_lost_is_done_anew() {
    on_both(async |place| {
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        let work = take(&state, "one", 1, 0).await.remove(0);
        state.stage_work(&work, None, at(1)).await.unwrap();
        let committer = state.take_committer("one", LEASE, at(2)).await.unwrap().unwrap();
        let staged = state.staged_work(&id(RUN), 1).await.unwrap().remove(0);
        assert!(state.unstage_work(&id(RUN), &staged, &committer, at(3)).await.unwrap());
        assert_eq!(slugs(&take(&state, "one", 1, 3).await), ["kith"]);
    });
}

#[test]
fn the_queue_is_bounded() {
    on_both(async |place| {
        let state = place.open().await;
        let many: Vec<_> = (0..=state::WORK_STORES_MAX).map(|nth| format!("s{nth}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(enqueue(&state, RUN, &many, 0).await, EnqueueOutcome::Full);
        let runs: BTreeMap<u32, EnqueueOutcome> = {
            let mut runs = BTreeMap::new();
            for nth in 0..=state::WORK_RUNS_MAX {
                let name = format!("20261123T040000Z-{nth:08x}");
                runs.insert(nth, enqueue(&state, &name, &["kith"], 0).await);
            }
            runs
        };
        assert_eq!(runs.values().filter(|told| **told == EnqueueOutcome::Full).count(), 1);
        assert_eq!(state.stores_at_work().await.unwrap().len(), 1);
    });
}

#[test]
fn leases_that_ended_programs_left_in_a_folder_are_free_at_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let place = Place::sqlite();
        let state = place.open().await;
        enqueue(&state, RUN, &["kith"], 0).await;
        assert_eq!(take(&state, "one", 1, 0).await.len(), 1);
        assert_eq!(take(&place.open().await, "two", 1, 1).await, []);
        state.close().await;
        drop(state);
        assert_eq!(slugs(&take(&place.open().await, "two", 1, 1).await), ["kith"]);
    });
}
