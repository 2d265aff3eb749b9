use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::ClientNetwork;
use tokio_util::sync::CancellationToken;

/// Open event streams. Each client network, and each larger network around it, has a limited share. If the share or the
/// total is used up, an older stream is closed, so that new clients are never refused.
#[derive(Debug)]
pub(crate) struct Streams {
    all_max: usize,
    per_client_max: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    /// Streams by age, the oldest first.
    open: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    network: Option<ClientNetwork>,
    leave: CancellationToken,
}

/// Registration of an open stream, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Arc<Streams>,
    id: u64,
    /// Token that is cancelled when the stream must end.
    pub(crate) leave: CancellationToken,
}

impl Streams {
    pub(crate) fn new(all_max: usize, per_client_max: usize) -> Arc<Self> {
        Arc::new(Self {
            all_max,
            per_client_max,
            table: Mutex::default(),
        })
    }

    /// Registers a stream for a client of `network`. The stream also ends when `stop` is cancelled.
    pub(crate) fn open(self: &Arc<Self>, network: Option<ClientNetwork>, stop: &CancellationToken) -> OpenStream {
        let mut table = self.table();
        for (level, times) in levels(network) {
            let most = self.per_client_max.saturating_mul(times);
            while table.of(level).count() >= most {
                let oldest = table.of(level).next();
                table.end(oldest);
            }
        }
        if table.open.len() >= self.all_max {
            let largest = table.oldest_of_largest();
            table.end(largest);
        }
        let leave = stop.child_token();
        let id = table.next;
        table.next += 1;
        let entry = Entry {
            network,
            leave: leave.clone(),
        };
        table.open.insert(id, entry);
        metrics::gauge!("mcp_streams").increment(1.0);
        OpenStream {
            streams: Arc::clone(self),
            id,
            leave,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a client's network and the larger networks around it, with the shares of each. Clients without a known
/// network count as one network.
fn levels(network: Option<ClientNetwork>) -> Vec<(Option<ClientNetwork>, usize)> {
    network.map_or_else(
        || vec![(None, 1)],
        |network| {
            let levels = network.levels();
            levels
                .map(|(level, times)| (Some(level), times.get() as usize))
                .collect()
        },
    )
}

impl Table {
    /// Returns the streams of a network, the oldest first.
    fn of(&self, level: Option<ClientNetwork>) -> impl Iterator<Item = u64> {
        let is_within = move |entry: &Entry| levels(entry.network).iter().any(|(own, _)| *own == level);
        let within = self.open.iter().filter(move |(_, entry)| is_within(entry));
        within.map(|(id, _)| *id)
    }

    /// Returns the oldest stream of the network with the most streams.
    fn oldest_of_largest(&self) -> Option<u64> {
        let mut counts = HashMap::<_, usize>::new();
        for entry in self.open.values() {
            *counts.entry(entry.network).or_default() += 1;
        }
        let most = counts.values().max()?;
        let mut open = self.open.iter();
        let oldest = open.find(|(_, entry)| counts.get(&entry.network) == Some(most));
        oldest.map(|(id, _)| *id)
    }

    fn end(&mut self, id: Option<u64>) {
        if let Some(entry) = id.and_then(|id| self.open.remove(&id)) {
            entry.leave.cancel();
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.table().open.remove(&self.id);
        metrics::gauge!("mcp_streams").decrement(1.0);
    }
}
