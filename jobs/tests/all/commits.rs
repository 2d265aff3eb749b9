//! Tests that the number of a run's commits does not depend on the speed of its stores.

use std::sync::Arc;
use std::time::Duration;

use data_model::Clock;
use emulator::Fault;
use pipeline_refresh::RunState;

use crate::queue::Rig;

const HOUR_S: u64 = 3_600;

/// Creates a rig in which two finished stores wait while the others are slow.
async fn with_two_that_wait() -> Rig {
    let mut rig = Rig::with_stores(80, 8).await;
    (rig.config.commit_wait_s, rig.config.lease_s) = (HOUR_S, 24 * HOUR_S);
    for slow in rig.stores.stores().into_iter().skip(2) {
        let fault = Fault::Slow { delay_ms: 120_000 };
        rig.stores.set_fault(&slow.slug, fault).unwrap();
    }
    rig.enqueue().await;
    rig
}

impl Rig {
    async fn until_two_wait(&self) {
        self.until("two are staged", async || {
            let counts = self.state.work_counts(self.clock.now()).await.unwrap();
            (counts.staged, counts.leased) == (2, 6)
        })
        .await;
        assert_eq!(self.report_so_far().await, 0);
    }

    fn let_all_answer(&self) {
        for store in self.stores.stores() {
            self.stores.set_fault(&store.slug, None).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_come_one_by_one_share_commits_which_at_least_halve_what_is_left() {
    let mut rig = Rig::with_latency(120, 12, Duration::from_millis(60)).await;
    rig.config.commit_wait_s = HOUR_S;
    let market = Arc::get_mut(&mut rig.market).unwrap();
    (
        market.refresh.crawl.stores_concurrent,
        market.refresh.crawl.stores_open_max,
    ) = (1, 1);
    rig.enqueue().await;
    let worker = rig.worker("one").0.await.unwrap();
    assert_eq!((worker.staged, worker.runs_closed), (12, 1));
    let report = rig.report().await;
    assert_eq!((report.state, report.totals.changed), (RunState::Finished, 12));
    // There are at most four commits, of 6, 3, 2 and 1 stores.
    assert!(report.commits <= 4, "{}", report.commits);
    assert_eq!(rig.products().await.values().sum::<u64>(), 120);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_waits_for_slower_ones_no_longer_than_it_may() {
    let rig = with_two_that_wait().await;
    let (worker, stop) = rig.worker("one");
    rig.until_two_wait().await;
    rig.clock.advance_ms(HOUR_S as i64 * 1_000);
    rig.until("two are through", async || rig.report_so_far().await == 2)
        .await;
    assert_eq!(rig.products().await.len(), 2);
    stop.cancel();
    let report = worker.await.unwrap();
    assert_eq!((report.staged, report.given_back), (2, 6));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_committer_that_is_told_to_stop_while_it_waits_commits_what_is_staged() {
    let rig = with_two_that_wait().await;
    let (worker, stop) = rig.worker("one");
    rig.until_two_wait().await;
    stop.cancel();
    let report = worker.await.unwrap();
    assert_eq!((report.staged, report.given_back), (2, 6));
    let told = rig.report().await;
    assert_eq!(
        (told.state, told.totals.changed, told.commits),
        (RunState::Interrupted, 2, 1)
    );
    assert_eq!(rig.products().await.len(), 2);

    rig.let_all_answer();
    let report = rig.worker("two").0.await.unwrap();
    assert_eq!((report.staged, report.runs_closed), (6, 1));
    let told = rig.report().await;
    assert_eq!((told.state, told.totals.changed), (RunState::Finished, 8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_with_a_committer_that_is_killed_is_committed_by_the_next() {
    let rig = with_two_that_wait().await;
    let (killed, _stop) = rig.worker("one");
    rig.until_two_wait().await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    assert_eq!(rig.products().await.len(), 0);

    rig.let_all_answer();
    rig.clock.advance_ms(25 * HOUR_S as i64 * 1_000);
    let report = rig.worker("two").0.await.unwrap();
    assert_eq!((report.staged, report.runs_closed), (6, 1));
    let told = rig.report().await;
    assert_eq!(
        (told.state, told.totals.changed, told.totals.stores),
        (RunState::Finished, 8, 8)
    );
    assert_eq!(rig.products().await.len(), 8);
    assert_eq!(rig.state.dead_letters(10).await.unwrap(), []);
}
