use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

/// One request that a store received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestRecord {
    /// Time since the emulator started.
    pub at: Duration,
    /// HTTP method, such as `GET` or `HEAD`.
    pub method: String,
    /// Request path, without the query.
    pub path: String,
    /// Query string, as sent.
    pub query: Option<String>,
    /// The `If-None-Match` header of the request.
    pub if_none_match: Option<String>,
    /// The `User-Agent` header of the request.
    pub user_agent: Option<String>,
    /// Status of the response; `None` if the connection was reset instead.
    pub status: Option<u16>,
}

/// A log of the requests to a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Requests {
    /// Number of requests for each path since the start.
    pub count_by_path: BTreeMap<String, u64>,
    /// Number of times that each field of the GraphQL query or mutation type was carried out, by field name. A call
    /// that a fault prevented does not count. A call whose response was lost counts.
    pub calls: BTreeMap<String, u64>,
    /// The latest requests, oldest first. The configuration sets the maximum number.
    pub latest: Vec<RequestRecord>,
}

impl Requests {
    /// Returns the number of all requests.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count_by_path.values().sum()
    }

    /// Returns the number of requests to a path.
    #[must_use]
    pub fn count_of(&self, path: &str) -> u64 {
        self.count_by_path.get(path).copied().unwrap_or(0)
    }

    /// Returns the number of logged requests whose response had this status.
    #[must_use]
    pub fn answered(&self, status: u16) -> usize {
        self.latest
            .iter()
            .filter(|request| request.status == Some(status))
            .count()
    }
}

/// Maximum number of paths that are counted separately. Others share one counter, so that no client can fill the
/// memory.
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

    /// Counts GraphQL fields that were carried out. The names of the fields come from the schema, so there are few.
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
