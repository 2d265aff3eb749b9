use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use tokio::time::{Instant, Interval, interval, timeout_at};

use crate::streams::OpenStream;

/// Comment line, which clients of event streams ignore.
const BEAT: Bytes = Bytes::from_static(b": here\n\n");

#[derive(Debug)]
struct HeartbeatState {
    ticks: Interval,
    ends_at: Instant,
    stream: OpenStream,
}

/// Sends a comment now and after every `pause`, until `lifetime` is over or the stream is cancelled.
pub(crate) fn heartbeat(
    pause: Duration,
    lifetime: Duration,
    stream: OpenStream,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send {
    let open = HeartbeatState {
        ticks: interval(pause),
        ends_at: Instant::now() + lifetime,
        stream,
    };
    unfold(open, |mut open| async move {
        let tick = open.stream.leave.run_until_cancelled(open.ticks.tick());
        let ticked = timeout_at(open.ends_at, tick).await.ok().flatten();
        ticked.map(|_| (Ok(BEAT), open))
    })
}
