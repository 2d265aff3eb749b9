use async_recursion::async_recursion as boxed;

use super::api_key::KeyHash;
use super::record::KeyRecord;
use super::row::{KeyRow, key_columns, record};
use crate::database::{State, values};
use crate::error::StateError;

impl State {
    /// Returns the key with this hash in any status, or `None`. Servers use [`crate::KeyIndex`] instead.
    #[boxed]
    pub async fn find_key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StateError> {
        let sql = concat!("SELECT ", key_columns!(), " FROM keys WHERE hash = $1");
        let rows: Vec<KeyRow> = self.rows(sql, values![hash.as_bytes()]).await?;
        rows.into_iter().next().map(record).transpose()
    }
}
