//! Keys that sign attribution tokens, shared by all servers.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A signing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKeyRow {
    /// Key id in tokens (`kid`).
    pub id: String,
    /// The public key: 32 bytes for Ed25519, or a P-256 point of 65 bytes.
    pub public_key: Vec<u8>,
    /// The sealed private key.
    pub sealed: Vec<u8>,
    /// Time from which tokens are signed with the key. The key is published earlier.
    pub signs_from: Timestamp,
    /// Time until which the key stays published after a newer one signs.
    pub ends_at: Option<Timestamp>,
}

type Row = (String, Vec<u8>, Vec<u8>, i64, Option<i64>);

async fn keys(writing: &mut WriteTransaction) -> Result<Vec<Row>, StateError> {
    let sql = "SELECT id, public_key, sealed, signs_from, ends_at FROM signing_keys ORDER BY signs_from DESC, id";
    writing.rows(sql, vec![]).await
}

fn read((id, public_key, sealed, signs_from, ends_at): Row) -> SigningKeyRow {
    SigningKeyRow {
        id,
        public_key,
        sealed,
        signs_from: Timestamp::from_micros(signs_from),
        ends_at: ends_at.map(Timestamp::from_micros),
    }
}

/// Locks the signing keys until the transaction ends.
async fn alone(writing: &mut WriteTransaction) -> Result<(), StateError> {
    let lock = "UPDATE key_revision SET value = value";
    writing.execute(lock, vec![]).await.map(|_| ())
}

async fn insert(writing: &mut WriteTransaction, key: &SigningKeyRow) -> Result<(), StateError> {
    let sql = "INSERT INTO signing_keys (id, public_key, sealed, signs_from, ends_at) VALUES ($1, $2, $3, $4, NULL)";
    let values = values![&key.id, key.public_key.clone(), key.sealed.clone(), key.signs_from];
    writing.execute(sql, values).await.map(|_| ())
}

impl State {
    /// Returns all signing keys that are published at `now`, newest first.
    #[boxed]
    pub async fn signing_keys(&self, now: Timestamp) -> Result<Vec<SigningKeyRow>, StateError> {
        let sql = "SELECT id, public_key, sealed, signs_from, ends_at FROM signing_keys \
                   WHERE ends_at IS NULL OR ends_at > $1 ORDER BY signs_from DESC, id";
        let rows: Vec<Row> = self.rows(sql, values![now]).await?;
        Ok(rows.into_iter().map(read).collect())
    }

    /// Stores the first signing key and returns all keys. If several servers create a key, only the earliest is stored.
    #[boxed]
    pub async fn add_first_signing_key(&self, key: &SigningKeyRow) -> Result<Vec<SigningKeyRow>, StateError> {
        let mut writing = self.begin().await?;
        alone(&mut writing).await?;
        if keys(&mut writing).await?.is_empty() {
            insert(&mut writing, key).await?;
        }
        let all = keys(&mut writing).await?;
        writing.commit().await?;
        Ok(all.into_iter().map(read).collect())
    }

    /// Stores a new signing key. Older keys are published until `others_end_at` at the latest. Keys that ended before
    /// `now` are deleted. Without an older key, the new one signs from `now` on.
    #[boxed]
    pub async fn rotate_signing_key(
        &self,
        key: &SigningKeyRow,
        others_end_at: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<SigningKeyRow>, StateError> {
        let mut writing = self.begin().await?;
        alone(&mut writing).await?;
        let sql = "UPDATE signing_keys SET ends_at = $1 WHERE ends_at IS NULL";
        let end = values![others_end_at];
        writing.execute(sql, end).await?;
        let sql = "DELETE FROM signing_keys WHERE ends_at <= $1";
        writing.execute(sql, values![now]).await?;
        if keys(&mut writing).await?.is_empty() {
            let signs_from = key.signs_from.min(now);
            let first = SigningKeyRow {
                signs_from,
                ..key.clone()
            };
            insert(&mut writing, &first).await?;
        } else {
            insert(&mut writing, key).await?;
        }
        let all = keys(&mut writing).await?;
        writing.commit().await?;
        Ok(all.into_iter().map(read).collect())
    }
}
