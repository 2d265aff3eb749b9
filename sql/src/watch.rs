//! Repeated check during a statement that the caller is still allowed. A statement ends soon after its key is revoked.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use api::{Caller, Credential, Guard, NotTaken, Prompt};
use http::{HeaderMap, header};
use tokio::time::{Interval, MissedTickBehavior};

use crate::{AllowedKeys, SqlError};

/// Interval between two checks.
const EVERY: Duration = Duration::from_secs(1);
const SERVICE_KEY: &str = "x-service-key";

/// Repeated permission check of one caller.
#[derive(Debug)]
pub(crate) struct Watch(Option<WatchedKey>);

#[derive(Debug)]
struct WatchedKey {
    allowed: Arc<AllowedKeys>,
    guard: Arc<Guard>,
    key: String,
    ticks: Interval,
}

impl Watch {
    /// Watches the key of a request. Does nothing if no key is required.
    pub(crate) fn of(headers: &HeaderMap, allowed: Option<&Arc<AllowedKeys>>, guard: &Arc<Guard>) -> Self {
        let held = || {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Some(WatchedKey {
                allowed: Arc::clone(allowed?),
                guard: Arc::clone(guard),
                key: key(headers)?.to_owned(),
                ticks,
            })
        };
        Self(held())
    }

    /// Waits for `work`, but fails as soon as the caller is no longer allowed.
    pub(crate) async fn while_allowed<T>(
        &mut self,
        work: impl Future<Output = Result<T, SqlError>>,
    ) -> Result<T, SqlError> {
        let Some(held) = &mut self.0 else {
            return work.await;
        };
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = held.ticks.tick() => held.check().await?,
            }
        }
    }
}

impl WatchedKey {
    async fn check(&self) -> Result<(), SqlError> {
        let known = match self.guard.identify.identify(Credential::Key(&self.key)) {
            Prompt::Now(known) => known,
            Prompt::Later(known) => known.await,
        };
        match known {
            Ok(known) => self.allowed.check(&Caller::Known(known)).map_err(|_| SqlError::Revoked),
            Err(NotTaken::Invalid) => Err(SqlError::Revoked),
            // A failed lookup does not mean that the key was revoked.
            Err(NotTaken::Unavailable) => Ok(()),
        }
    }
}

/// Returns the key in the request headers, which the edge has already accepted.
fn key(headers: &HeaderMap) -> Option<&str> {
    let own = headers.get(SERVICE_KEY).and_then(|value| value.to_str().ok());
    let bearer = || {
        let (_, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        Some(token)
    };
    own.or_else(bearer).map(str::trim)
}
