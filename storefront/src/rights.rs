//! Exclusive right to send requests to a store, for several processes that crawl the stores of one market.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use data_model::StoreHost;
use futures::FutureExt;
use futures::future::{BoxFuture, Either, select};

/// Grants the right to send requests to a store to one process at a time.
#[async_trait]
pub trait StoreRights: Send + Sync + std::fmt::Debug {
    /// Runs `work`, which sends requests to the store, while no other process may send any. If the right is lost, the
    /// work is dropped immediately.
    async fn under(&self, store: &StoreHost, work: BoxFuture<'_, ()>) -> RightOutcome;
}

/// Outcome of work under a right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RightOutcome {
    /// The work is done.
    Done,
    /// Another process is reading the store or has read it, so the work did not start.
    ByAnother(String),
    /// The work started, but the right was lost before it ended.
    Lost,
    /// The owner of the right is unknown, so the work did not start.
    Unknown(String),
}

/// Reason why work under a right did not finish.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    /// Another process is reading the store or has read it, so the work did not start.
    #[error("{0}")]
    ByAnother(String),
    /// The work started, but the right was lost before it ended.
    #[error("another process took over the store while it was being read")]
    Lost,
    /// The owner of the right is unknown, so the work did not start.
    #[error("{0}")]
    Unknown(String),
    /// The work did not start before `stop`.
    #[error("stopped before a request was sent to the store")]
    Stopped,
}

/// Runs `work`, which sends requests to the store, under the store's right if rights are configured. `stop` ends only
/// the wait for the right, so that started work releases it properly.
pub async fn under<T: Send>(
    rights: Option<&dyn StoreRights>,
    store: &StoreHost,
    stop: impl Future<Output = ()>,
    work: impl Future<Output = T> + Send,
) -> Result<T, NotAsked> {
    let Some(rights) = rights else {
        return Ok(work.await);
    };
    let (mut done, is_begun) = (None, AtomicBool::new(false));
    let asked = {
        let (done, is_begun) = (&mut done, &is_begun);
        let work = async move {
            is_begun.store(true, Ordering::SeqCst);
            *done = Some(work.await);
        };
        let asked = pin!(rights.under(store, work.boxed()));
        let stopped = pin!(async {
            stop.await;
            if is_begun.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
        });
        match select(asked, stopped).await {
            Either::Left((asked, _)) => asked,
            Either::Right(_) => return Err(NotAsked::Stopped),
        }
    };
    match (asked, done) {
        (RightOutcome::Done, Some(done)) => Ok(done),
        (RightOutcome::ByAnother(who), _) => Err(NotAsked::ByAnother(who)),
        (RightOutcome::Unknown(reason), _) => Err(NotAsked::Unknown(reason)),
        (RightOutcome::Done | RightOutcome::Lost, _) => Err(NotAsked::Lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns this outcome, and runs the work if it is [`RightOutcome::Done`].
    #[derive(Debug)]
    struct FixedOutcome(RightOutcome);

    #[async_trait]
    impl StoreRights for FixedOutcome {
        async fn under(&self, _store: &StoreHost, work: BoxFuture<'_, ()>) -> RightOutcome {
            if self.0 == RightOutcome::Done {
                work.await;
            }
            self.0.clone()
        }
    }

    #[derive(Debug)]
    struct NoRight;

    #[async_trait]
    impl StoreRights for NoRight {
        async fn under(&self, _store: &StoreHost, _work: BoxFuture<'_, ()>) -> RightOutcome {
            std::future::pending().await
        }
    }

    fn store() -> StoreHost {
        "one.myshopify.com".parse().unwrap()
    }

    #[tokio::test]
    async fn work_is_done_under_a_right_and_without_any_and_not_where_it_is_anothers() {
        let never = std::future::pending;
        assert_eq!(under(None, &store(), never(), async { 7 }).await, Ok(7));
        assert_eq!(
            under(Some(&FixedOutcome(RightOutcome::Done)), &store(), never(), async { 7 }).await,
            Ok(7)
        );
        for (asked, told) in [
            (
                RightOutcome::ByAnother("a worker".to_owned()),
                NotAsked::ByAnother("a worker".to_owned()),
            ),
            (
                RightOutcome::Unknown("no state".to_owned()),
                NotAsked::Unknown("no state".to_owned()),
            ),
            (RightOutcome::Lost, NotAsked::Lost),
        ] {
            assert_eq!(
                under(Some(&FixedOutcome(asked)), &store(), never(), async { 7 }).await,
                Err(told)
            );
        }
    }

    #[tokio::test]
    async fn a_stop_ends_the_wait_for_a_right_and_not_the_work_under_it() {
        let stopped = || std::future::ready(());
        assert_eq!(
            under(Some(&NoRight), &store(), stopped(), async { 7 }).await,
            Err(NotAsked::Stopped)
        );
        let work = async {
            tokio::task::yield_now().await;
            7
        };
        assert_eq!(
            under(Some(&FixedOutcome(RightOutcome::Done)), &store(), stopped(), work).await,
            Ok(7)
        );
    }
}
