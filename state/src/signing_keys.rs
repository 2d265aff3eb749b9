//! Keys that sign attribution tokens, shared by all servers.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;

/// A key that signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKeyRow {
    /// Its name in tokens (`kid`).
    pub id: String,
    /// The public half: 32 bytes of Ed25519, or the point of P-256 in 65.
    pub public_key: Vec<u8>,
    /// The other half, sealed.
    pub sealed: Vec<u8>,
    /// Since when tokens are signed with it; it is published before.
    pub signs_from: Timestamp,
    /// The moment until which it is published, once another one signs.
    pub ends_at: Option<Timestamp>,
}

type Row = (String, Vec<u8>, Vec<u8>, i64, Option<i64>);

/// The keys, the newest first.
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

/// Other servers wait here until this change is through.
async fn alone(writing: &mut WriteTransaction) -> Result<(), StateError> {
    let lock = "UPDATE key_revision SET value = value";
    writing.execute(lock, vec![]).await.map(|_| ())
}

async fn insert(writing: &mut WriteTransaction, key: &SigningKeyRow) -> Result<(), StateError> {
    let sql = "INSERT INTO signing_keys (id, public_key, sealed, signs_from, ends_at) VALUES ($1, $2, $3, $4, NULL)";
    let values = vec![
        Value::text(&key.id),
        Value::Bytes(key.public_key.clone()),
        Value::Bytes(key.sealed.clone()),
        Value::integer(key.signs_from.micros()),
    ];
    writing.execute(sql, values).await.map(|_| ())
}

impl State {
    /// All signing keys that are published at `now`, the newest first.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn signing_keys(&self, now: Timestamp) -> Result<Vec<SigningKeyRow>, StateError> {
        let sql = "SELECT id, public_key, sealed, signs_from, ends_at FROM signing_keys \
                   WHERE ends_at IS NULL OR ends_at > $1 ORDER BY signs_from DESC, id";
        let rows: Vec<Row> = self.rows(sql, vec![Value::integer(now.micros())]).await?;
        Ok(rows.into_iter().map(read).collect())
    }

    /// Keeps the first signing key. Of several servers that make one, the first one's is kept; answers all keys.
    ///
    /// # Errors
    /// [`StateError`].
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

    /// Keeps a new signing key; those before it are published until `others_end_at`, where no earlier end was set.
    /// Keys that ended before `now` are forgotten. Where there is none before it, it signs at `now`: there is always one
    /// that signs.
    ///
    /// # Errors
    /// [`StateError`].
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
        let end = vec![Value::integer(others_end_at.micros())];
        writing.execute(sql, end).await?;
        let sql = "DELETE FROM signing_keys WHERE ends_at <= $1";
        writing.execute(sql, vec![Value::integer(now.micros())]).await?;
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
