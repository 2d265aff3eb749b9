//! Discount codes that stores state themselves, `codes/{store}.json`, and the stores' words on codes that were tested,
//! `discounts/{store}.json`; one small object a store.
//!
//! In: what a crawl read off a store's front page and policies, each place with its validator and the time; what a gateway
//! was told of codes on a cart of one item. Out: the same, all stated codes once each ([`StatedCodes::all`]), and the last
//! test of each code on each variant. They lie beside the lake and not in it: bars change weekly while catalogues stay, and
//! who tests codes wants those of now, not those of the last release.
//!
//! It never judges whether a code works, never reads the clock, and holds no history.

mod tested;

use data_model::{CodePlace, StatedCode, StoreHost, Timestamp};
use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_over};
use serde::{Deserialize, Serialize};

pub use tested::{TESTS_MAX, TestedStore, is_recent, load_tested, take_tested, tested_at, tested_stores};

/// Most codes of one place that are kept.
pub const CODES_MAX: usize = 40;

/// The codes in one place of a store when it was last read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// When the store was last asked, whatever came of it; `None` if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// Its validator, where the store sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The codes that stood there when it was last read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<StatedCode>,
}

impl Reading {
    /// `true` where it is to be read again: never asked, or asked so many seconds ago or before. A time ahead of `now`
    /// is none.
    #[must_use]
    pub fn is_due(&self, now: Timestamp, after_s: u64) -> bool {
        let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
        self.asked_at.is_none_or(|asked_at| asked_at.is_past_by(now, after_ms))
    }
}

/// The codes that a store states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCodes {
    /// On its front page.
    #[serde(default)]
    pub front: Reading,
    /// In its policies.
    #[serde(default)]
    pub policies: Reading,
}

impl StatedCodes {
    /// All codes, each once with the place that states it most plainly, the plainest first.
    #[must_use]
    pub fn all(&self) -> Vec<StatedCode> {
        let mut all: Vec<StatedCode> = self.front.codes.iter().chain(&self.policies.codes).cloned().collect();
        // Stable: on the front page before in a policy, and in the order of the page.
        all.sort_by_key(|stated| std::cmp::Reverse(stated.plainness));
        let mut seen = std::collections::HashSet::new();
        all.retain(|stated| seen.insert(stated.code.clone()));
        all
    }

    /// The reading of a place.
    #[must_use]
    pub fn of(&mut self, place: CodePlace) -> &mut Reading {
        match place {
            CodePlace::FrontPage => &mut self.front,
            CodePlace::Policy => &mut self.policies,
        }
    }
}

/// The reason why codes could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum CodesError {
    /// The storage failed.
    #[error("stated codes cannot be read or written")]
    Storage(#[from] StorageError),
    /// They do not serialise.
    #[error("stated codes do not serialise")]
    Json(#[source] serde_json::Error),
}

/// The path of the codes of a store.
#[must_use]
pub fn codes_at(store: &StoreHost) -> ObjectPath {
    ObjectPath::from_iter(["codes", &format!("{store}.json")])
}

/// The known codes of a store; none, where the object is missing or cannot be understood: the store will state them
/// again.
///
/// # Errors
/// [`CodesError::Storage`].
pub async fn load(storage: &Storage, store: &StoreHost) -> Result<StatedCodes, CodesError> {
    let json = get_bytes(storage, &codes_at(store)).await?;
    Ok(json
        .and_then(|json| serde_json::from_slice(&json).ok())
        .unwrap_or_default())
}

/// Keeps the codes that a store states; at most [`CODES_MAX`] of each place.
///
/// # Errors
/// See [`CodesError`].
pub async fn save(storage: &Storage, store: &StoreHost, mut stated: StatedCodes) -> Result<(), CodesError> {
    for place in [CodePlace::FrontPage, CodePlace::Policy] {
        stated.of(place).codes.truncate(CODES_MAX);
    }
    let json = serde_json::to_vec(&stated).map_err(CodesError::Json)?;
    Ok(put_over(storage, &codes_at(store), json).await?)
}
