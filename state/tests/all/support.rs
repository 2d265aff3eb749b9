use std::collections::BTreeMap;
use std::future::Future;

use data_model::{TimeZone, Timestamp};
use state::{Actor, IssuedKey, NewKey, Plan, State, StateTarget};

pub(crate) struct Place {
    pub(crate) target: StateTarget,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            target: StateTarget::Folder(folder.path().join("state")),
            _folder: Some(folder),
        }
    }

    /// Returns `None` if there is no PostgreSQL server.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = kit::postgres_database().await?;
        Some(Self {
            target: StateTarget::postgres(&url).unwrap(),
            _folder: None,
        })
    }

    pub(crate) async fn open(&self) -> State {
        State::open(&self.target).await.unwrap()
    }
}

pub(crate) fn on_both<F: Future<Output = ()>>(test: impl Fn(Place) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test(Place::sqlite()));
    if let Some(place) = runtime.block_on(Place::postgres()) {
        runtime.block_on(test(place));
    }
}

pub(crate) fn cli() -> Actor {
    Actor::Operator("cli".to_owned())
}

pub(crate) fn account(name: &str) -> Actor {
    Actor::Account(name.parse().unwrap())
}

pub(crate) fn india() -> TimeZone {
    "Asia/Kolkata".parse().unwrap()
}

/// Returns the given second of a day in 2026.
pub(crate) fn at(second: i64) -> Timestamp {
    let begin: Timestamp = "2026-11-23T04:00:00Z".parse().unwrap();
    begin.plus_millis(second * 1000)
}

pub(crate) fn named(name: &str) -> NewKey {
    NewKey {
        name: name.parse().unwrap(),
        plan: Plan::Free,
        account: None,
    }
}

pub(crate) async fn create(state: &State, name: &str, now: Timestamp) -> IssuedKey {
    state.create_key(named(name), &cli(), now).await.unwrap()
}

/// Formats a document as JSON. Given names replace ids and hints, which differ between runs.
pub(crate) fn told(document: &impl serde::Serialize, names: &BTreeMap<String, &str>) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap();
    for (value, name) in names {
        text = text.replace(value.as_str(), name);
    }
    text
}
