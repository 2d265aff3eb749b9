use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, interval, timeout_at};
use tokio_util::sync::CancellationToken;

/// A comment: what clients of event streams pass over.
const BEAT: Bytes = Bytes::from_static(b": here\n\n");

/// What an open stream holds until it ends.
#[derive(Debug)]
struct Open {
    ticks: Interval,
    stop: CancellationToken,
    ends_at: Option<Instant>,
    _counted: Counted,
    _place: OwnedSemaphorePermit,
}

/// An open stream's part of the gauge.
#[derive(Debug)]
struct Counted;

impl Counted {
    fn new() -> Self {
        metrics::gauge!("mcp_streams").increment(1.0);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("mcp_streams").decrement(1.0);
    }
}

/// Tells now and every `pause` that the server is there, until it stops, or for `lifetime` where there is one.
pub(crate) fn heartbeat(
    pause: Duration,
    lifetime: Option<Duration>,
    stop: CancellationToken,
    place: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send {
    let open = Open {
        ticks: interval(pause),
        stop,
        ends_at: lifetime.map(|lifetime| Instant::now() + lifetime),
        _counted: Counted::new(),
        _place: place,
    };
    unfold(open, |mut open| async move {
        let tick = open.stop.run_until_cancelled(open.ticks.tick());
        let ticked = match open.ends_at {
            Some(ends_at) => timeout_at(ends_at, tick).await.ok().flatten(),
            None => tick.await,
        };
        ticked.map(|_| (Ok(BEAT), open))
    })
}
