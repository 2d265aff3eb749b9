//! Stores discount codes that stores publish themselves in `codes/{store}.json`, and stores' verdicts on tested codes
//! in `discounts/{store}.json`. A store has one small object of each kind.
//!
//! Input: codes read by a crawl from a store's front page and policies, and verdicts that a gateway got for codes on a
//! cart of one item. Output: all published codes without duplicates ([`StatedCodes::all`]), and the last test of each
//! code on each variant.
//!
//! The objects are stored outside of the lake, because codes change weekly and testers need the current codes instead
//! of those of the last release.
//!
//! The crate does not evaluate codes, does not read the clock, and stores no history.

mod tested;

use data_model::{CodePlace, CurrencyCode, StatedCode, StoreHost, Timestamp};
use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_over};
use serde::{Deserialize, Serialize};

pub use tested::{TESTS_MAX, TestedStore, is_recent, load_tested, take_tested, tested_at, tested_stores};

/// Maximum number of codes stored per source page type.
pub const CODES_MAX: usize = 40;

/// Discount codes on one kind of page of a store's site, at the last reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Time of the last request to the store, whatever its outcome. `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// `ETag` of the last response, if the store sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Codes found at the last successful read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<StatedCode>,
}

impl Reading {
    /// Returns `true` if the source should be read again: it was never requested, or last requested at least `after_s`
    /// seconds ago. A timestamp in the future does not count.
    #[must_use]
    pub fn is_due(&self, now: Timestamp, after_s: u64) -> bool {
        let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
        self.asked_at.is_none_or(|asked_at| asked_at.is_past_by(now, after_ms))
    }
}

/// Discount codes that a store states, and the currency that the page with them shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCodes {
    /// Codes on the store's front page.
    #[serde(default)]
    pub front: Reading,
    /// Codes in the store's policies.
    #[serde(default)]
    pub policies: Reading,
    /// Currency of the prices on the front page, if no country's prices were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<CurrencyCode>,
}

impl StatedCodes {
    /// Returns all codes without duplicates, the clearest statements first. The clearest of several statements of a
    /// code is used.
    #[must_use]
    pub fn all(&self) -> Vec<StatedCode> {
        let mut all: Vec<StatedCode> = self.front.codes.iter().chain(&self.policies.codes).cloned().collect();
        // The sort is stable: front page before policies, then the order on the page.
        all.sort_by_key(|stated| std::cmp::Reverse(stated.plainness));
        let mut seen = std::collections::HashSet::new();
        all.retain(|stated| seen.insert(stated.code.clone()));
        all
    }

    /// Returns the reading for a place.
    #[must_use]
    pub fn of(&mut self, place: CodePlace) -> &mut Reading {
        match place {
            CodePlace::FrontPage => &mut self.front,
            CodePlace::Policy => &mut self.policies,
        }
    }
}

/// Reason why codes could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum CodesError {
    /// The storage failed.
    #[error("stated codes cannot be read or written")]
    Storage(#[from] StorageError),
    /// The codes could not be serialised to JSON.
    #[error("stated codes cannot be serialised")]
    Json(#[source] serde_json::Error),
}

/// Returns the storage path of a store's stated codes.
#[must_use]
pub fn codes_at(store: &StoreHost) -> ObjectPath {
    ObjectPath::from_iter(["codes", &format!("{store}.json")])
}

/// Loads the known codes of a store. Returns none if the object is missing or invalid, because the store will state its
/// codes again.
///
/// # Errors
/// [`CodesError::Storage`].
pub async fn load(storage: &Storage, store: &StoreHost) -> Result<StatedCodes, CodesError> {
    let json = get_bytes(storage, &codes_at(store)).await?;
    Ok(json
        .and_then(|json| serde_json::from_slice(&json).ok())
        .unwrap_or_default())
}

/// Stores the codes that a store states, at most [`CODES_MAX`] per place.
pub async fn save(storage: &Storage, store: &StoreHost, mut stated: StatedCodes) -> Result<(), CodesError> {
    for place in [CodePlace::FrontPage, CodePlace::Policy] {
        stated.of(place).codes.truncate(CODES_MAX);
    }
    let json = serde_json::to_vec(&stated).map_err(CodesError::Json)?;
    Ok(put_over(storage, &codes_at(store), json).await?)
}
