//! Changes of keys after the time of a dump.

use std::collections::HashMap;
use std::io::BufRead;

use data_model::Timestamp;
use serde_json::{Map, Value as Json};

use super::lines::key_rows;
use crate::error::StateError;
use crate::names::KeyId;

/// Changes of keys after a dump, used when the dump is loaded. A key that ended after the dump stays ended. A key
/// without final knowledge is refused until it is confirmed.
#[derive(Debug, Clone)]
pub struct KeysSince {
    as_of: Timestamp,
    fates: HashMap<String, KeyFate>,
}

/// Knowledge about one key after the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyFate {
    /// Time at which the key was revoked.
    pub revoked_at: Option<Timestamp>,
    /// End of the key after a rotation.
    pub ends_at: Option<Timestamp>,
    /// True if the knowledge is complete up to now.
    pub is_final: bool,
}

impl KeysSince {
    /// Creates empty knowledge for a dump of the time `as_of`.
    #[must_use]
    pub fn dump_of(as_of: Timestamp) -> Self {
        Self {
            as_of,
            fates: HashMap::new(),
        }
    }

    /// Adds the end of a key. The earliest end from any source is used.
    pub fn learn(&mut self, id: &KeyId, fate: KeyFate) {
        let known = self.fates.entry(id.as_str().to_owned()).or_default();
        known.revoked_at = earliest(known.revoked_at, fate.revoked_at);
        known.ends_at = earliest(known.ends_at, fate.ends_at);
        known.is_final |= fate.is_final;
    }

    /// Adds the keys of a later dump.
    ///
    /// # Errors
    /// [`StateError::Dump`] and [`StateError::DumpFile`].
    pub fn learn_dump(&mut self, dump: &mut (dyn BufRead + Send)) -> Result<(), StateError> {
        for row in key_rows(dump)? {
            let id = row.get("id").and_then(Json::as_str).and_then(|id| id.parse().ok());
            let id = id.ok_or(StateError::Dump {
                what: "a key's id is missing or invalid",
            })?;
            let fate = KeyFate {
                revoked_at: moment(&row, "revoked_at"),
                ends_at: moment(&row, "ends_at"),
                is_final: false,
            };
            self.learn(&id, fate);
        }
        Ok(())
    }

    /// Returns known keys that are valid at `now` but not in `held`, sorted by id. These keys were created after the
    /// dump, and cannot be restored because their hashes are unknown.
    #[must_use]
    pub fn missing(&self, held: &[KeyId], now: Timestamp) -> Vec<String> {
        let is_open = |fate: &KeyFate| fate.revoked_at.is_none() && fate.ends_at.is_none_or(|end| end > now);
        let is_held = |id: &str| held.iter().any(|held| held.as_str() == id);
        let open = self.fates.iter().filter(|(_, fate)| is_open(fate));
        let mut missing: Vec<_> = open.map(|(id, _)| id.clone()).filter(|id| !is_held(id)).collect();
        missing.sort_unstable();
        missing
    }

    /// Updates a dumped row of the key table. The result depends only on the row and on `self`.
    pub(crate) fn settle(&self, row: &mut Map<String, Json>) {
        let id = row.get("id").and_then(Json::as_str).unwrap_or_default();
        let fate = self.fates.get(id).copied().unwrap_or_default();
        let revoked_at = earliest(moment(row, "revoked_at"), fate.revoked_at);
        let ends_at = earliest(moment(row, "ends_at"), fate.ends_at);
        let is_over = revoked_at.is_some() || ends_at.is_some_and(|end| end <= self.as_of);
        let unconfirmed_since = match fate.is_final || is_over {
            true => None,
            false => moment(row, "unconfirmed_since").or(Some(self.as_of)),
        };
        for (column, at) in [
            ("revoked_at", revoked_at),
            ("ends_at", ends_at),
            ("unconfirmed_since", unconfirmed_since),
        ] {
            row.insert(column.to_owned(), at.map_or(Json::Null, |at| at.micros().into()));
        }
    }
}

fn moment(row: &Map<String, Json>, column: &str) -> Option<Timestamp> {
    row.get(column).and_then(Json::as_i64).map(Timestamp::from_micros)
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}
