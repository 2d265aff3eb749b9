use async_recursion::async_recursion as boxed;

use super::record::KeyRecord;
use super::row::{KeyRow, key_columns, record};
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

impl State {
    /// Returns every key that was ever created, oldest first. With `account`, returns only the keys of that account.
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
                self.rows(sql, values![account.as_str()]).await?
            }
        };
        rows.into_iter().map(record).collect()
    }

    /// Returns one key, or `None` if the id is unknown.
    #[boxed]
    pub async fn key(&self, id: &KeyId) -> Result<Option<KeyRecord>, StateError> {
        let sql = concat!("SELECT ", key_columns!(), " FROM keys WHERE id = $1");
        let rows: Vec<KeyRow> = self.rows(sql, values![id.as_str()]).await?;
        rows.into_iter().next().map(record).transpose()
    }
}
