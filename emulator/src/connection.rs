use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::market::Market;

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// State that all connections of the emulator share.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionContext {
    pub(crate) market: Arc<Market>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) open: Arc<AtomicUsize>,
}
