use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::record::{IssuedSession, NewSession};
use super::row::{forget_over, grant, insert};
use super::token::{SessionHash, SessionToken};
use crate::accounts::new_account_id;
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;
use crate::names::AccountId;

/// Issuer of guest accounts. A guest is an account without a key, and is deleted with its session.
const GUEST_ISSUER: &str = "guest";

impl State {
    /// Creates a session without a sign-in. Returns `None` if there are `guests_max` guests already. Guests are not
    /// audited, because anybody may be one.
    ///
    /// # Errors
    /// [`StateError`]. The caller then has no session.
    #[boxed]
    pub async fn create_guest_session(
        &self,
        new: NewSession,
        guests_max: u32,
        now: Timestamp,
    ) -> Result<Option<IssuedSession>, StateError> {
        let mut writing = self.begin().await?;
        forget_over(&mut writing, now).await?;
        if guests(&mut writing).await? >= i64::from(guests_max) {
            let sql = "DELETE FROM accounts WHERE issuer = $1 AND id NOT IN (SELECT account FROM sessions)";
            writing.execute(sql, values![GUEST_ISSUER]).await?;
            if guests(&mut writing).await? >= i64::from(guests_max) {
                return Ok(None);
            }
        }
        let account = new_account_id()?;
        let sql = "INSERT INTO accounts (id, issuer, subject, created_at) VALUES ($1, $2, $1, $3)";
        let values = values![account.as_str(), GUEST_ISSUER, now];
        writing.execute(sql, values).await?;
        let issued = IssuedSession {
            token: SessionToken::generate()?,
            grant: grant(&account, &new, now)?,
        };
        insert(&mut writing, &issued, &new, now).await?;
        writing.commit().await?;
        Ok(Some(issued))
    }
}

async fn guests(writing: &mut WriteTransaction) -> Result<i64, StateError> {
    let sql = "SELECT COUNT(*) FROM accounts WHERE issuer = $1";
    let counted: Option<(i64,)> = writing.row(sql, values![GUEST_ISSUER]).await?;
    Ok(counted.map_or(0, |(count,)| count))
}

/// Transfers the carts of a guest to the account that the guest signs in to.
pub(super) async fn take_along(
    writing: &mut WriteTransaction,
    session: &SessionHash,
    account: &AccountId,
) -> Result<(), StateError> {
    // The caller ids must have the format of the ids that the edge assigns.
    let sql = "UPDATE carts SET caller = 'account:' || $2 WHERE caller = \
               (SELECT 'account:' || account FROM sessions WHERE hash = $1 AND method = 'guest')";
    let values = values![session.as_bytes(), account.as_str()];
    writing.execute(sql, values).await.map(|_| ())
}
