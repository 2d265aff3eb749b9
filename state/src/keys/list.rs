use async_recursion::async_recursion as boxed;

use super::record::KeyRecord;
use super::row::{KeyRow, key_columns, record};
use crate::database::{State, Value};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

impl State {
    /// Every key that was ever made, oldest first; with `account`, that account's.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn keys(&self, account: Option<&AccountId>) -> Result<Vec<KeyRecord>, StateError> {
        let rows: Vec<KeyRow> = match account {
            None => {
                let sql = concat!("SELECT ", key_columns!(), " FROM keys ORDER BY created_at, id");
                self.rows(sql, vec![]).await?
            }
            Some(account) => {
                let sql = concat!(
                    "SELECT ",
                    key_columns!(),
                    " FROM keys WHERE account = $1 ORDER BY created_at, id"
                );
                self.rows(sql, vec![Value::text(account.as_str())]).await?
            }
        };
        rows.into_iter().map(record).collect()
    }

    /// One key; `None` where there is none of that id.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn key(&self, id: &KeyId) -> Result<Option<KeyRecord>, StateError> {
        let sql = concat!("SELECT ", key_columns!(), " FROM keys WHERE id = $1");
        let rows: Vec<KeyRow> = self.rows(sql, vec![Value::text(id.as_str())]).await?;
        rows.into_iter().next().map(record).transpose()
    }
}
