use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

/// One request that a store received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestRecord {
    /// Since the emulator started.
    pub at: Duration,
    /// `GET`, `HEAD`, …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, as sent.
    pub query: Option<String>,
    /// The validator that it came with.
    pub if_none_match: Option<String>,
    /// The client's name for itself.
    pub user_agent: Option<String>,
    /// The status that was answered; `None` where the connection was reset instead.
    pub status: Option<u16>,
}

/// The requests to a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Requests {
    /// Every request ever, by path.
    pub count_by_path: BTreeMap<String, u64>,
    /// The number of times that each field of the query or the mutation was carried out, by name. A call that a fault
    /// kept from being carried out is not counted; one whose answer was lost is.
    pub calls: BTreeMap<String, u64>,
    /// The latest requests, oldest first; at most as many as the configuration says.
    pub latest: Vec<RequestRecord>,
}

impl Requests {
    /// The number of all requests.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count_by_path.values().sum()
    }

    /// The number of requests to a path.
    #[must_use]
    pub fn count_of(&self, path: &str) -> u64 {
        self.count_by_path.get(path).copied().unwrap_or(0)
    }

    /// The number of the latest requests that were answered with this status.
    #[must_use]
    pub fn answered(&self, status: u16) -> usize {
        self.latest
            .iter()
            .filter(|request| request.status == Some(status))
            .count()
    }
}

/// Paths that are counted one by one; further ones are counted together, so that no client can fill the memory.
const PATHS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Log {
    count_by_path: BTreeMap<String, u64>,
    calls: BTreeMap<String, u64>,
    latest: VecDeque<RequestRecord>,
}

impl Log {
    pub(crate) fn note(&mut self, request: RequestRecord, latest_max: usize) {
        match self.count_by_path.get_mut(&request.path) {
            Some(count) => *count += 1,
            None => {
                let path = if self.count_by_path.len() < PATHS_MAX {
                    request.path.clone()
                } else {
                    "…".to_owned()
                };
                *self.count_by_path.entry(path).or_default() += 1;
            }
        }
        while self.latest.len() >= latest_max.max(1) {
            self.latest.pop_front();
        }
        self.latest.push_back(request);
    }

    /// Counts fields that are carried out. Their names are the schema's: there are not many.
    pub(crate) fn note_calls<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        for name in names {
            match self.calls.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.calls.insert(name.to_owned(), 1)),
            }
        }
    }

    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        self.calls.clone()
    }

    pub(crate) fn all(&self) -> Requests {
        Requests {
            calls: self.calls.clone(),
            count_by_path: self.count_by_path.clone(),
            latest: self.latest.iter().cloned().collect(),
        }
    }
}
