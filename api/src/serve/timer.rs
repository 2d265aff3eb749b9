use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// Timer of a connection, which only waits for the head of the next request.
///
/// Each head has a deadline, and nearly all heads arrive long before it. A separate timer for each request would go
/// through the runtime's timer wheel, under a lock that all threads share. Therefore one alarm is kept, at the deadline
/// of an earlier head. When the alarm fires, it is set to the current deadline.
#[derive(Default)]
pub(super) struct ConnectionTimer(Arc<Mutex<Option<Alarm>>>);

type Alarm = Pin<Box<tokio::time::Sleep>>;

impl Timer for ConnectionTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wait {
            deadline: deadline.into(),
            alarm: Arc::clone(&self.0),
        })
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into()
    }
}

/// Future that completes at its deadline, never before.
struct Wait {
    deadline: tokio::time::Instant,
    alarm: Arc<Mutex<Option<Alarm>>>,
}

impl Sleep for Wait {}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline;
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if alarm.deadline() > deadline {
            alarm.as_mut().reset(deadline);
        }
        loop {
            ready!(alarm.as_mut().poll(context));
            if alarm.deadline() >= deadline {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn waits_one_after_another_end_each_at_its_own_deadline() {
        let timer = ConnectionTimer::default();
        let began = timer.now();
        for seconds in [3, 1, 4, 1, 5] {
            let (asked, wanted) = (timer.now(), SECOND * seconds);
            let mut wait = timer.sleep(wanted);
            assert!(poll!(&mut wait).is_pending());
            wait.await;
            let waited = timer.now() - asked;
            assert!(
                waited >= wanted && waited < wanted + SECOND / 100,
                "{waited:?} for {wanted:?}"
            );
        }
        assert_eq!((timer.now() - began).as_secs(), 14);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_does_not_end_when_the_one_given_up_before_it_would_have() {
        let timer = ConnectionTimer::default();
        let began = timer.now();
        let mut given_up = timer.sleep(SECOND * 2);
        assert!(poll!(&mut given_up).is_pending());
        drop(given_up);
        tokio::time::advance(SECOND).await;
        timer.sleep(SECOND * 5).await;
        assert_eq!((timer.now() - began).as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_before_a_longer_one_given_up_would_have() {
        let timer = ConnectionTimer::default();
        let began = timer.now();
        assert!(poll!(timer.sleep(SECOND * 60)).is_pending());
        timer.sleep(SECOND).await;
        assert_eq!((timer.now() - began).as_secs(), 1);
    }
}
