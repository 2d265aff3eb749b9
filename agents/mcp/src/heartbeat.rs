use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use tokio::time::{Instant, Interval, interval, timeout_at};

use crate::streams::OpenStream;

/// A comment: what clients of event streams pass over.
const BEAT: Bytes = Bytes::from_static(b": here\n\n");

/// The state of an open stream.
#[derive(Debug)]
struct HeartbeatState {
    ticks: Interval,
    ends_at: Instant,
    stream: OpenStream,
}

/// Sends a sign of life now and after every `pause`, for `lifetime` at the most, until the stream is to end.
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
