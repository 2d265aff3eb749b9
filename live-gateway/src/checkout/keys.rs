use std::sync::Arc;
use std::time::Duration;

use data_model::{Classify, ErrorCode, Timestamp, VariantId};
use state::{MasterKeyError, MasterKeys, OpenError, Purpose, SigningKeyRow, State, StateError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Checkouts;
use super::jws::{self, Jwk, Signer, jwk};
use super::quote::{QuoteReader, Quoter};
use crate::cart_failure::CartFailure;
use crate::config::{CartConfig, SigningAlgorithm};

const SIGNING_KEY: Purpose = Purpose::new("signing-key");
/// Time for which a server caches the signing keys. The time before a new key signs is longer.
const READ_AGAIN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct SigningKeys(Mutex<Option<(Arc<Vec<SigningKeyRow>>, Instant)>>);

/// Reasons why no new signing key was created.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The new key cannot be sealed.
    #[error(transparent)]
    Seal(#[from] MasterKeyError),
    /// The operating system returned no random bytes.
    #[error("the operating system does not provide random bytes")]
    Random,
}

impl Classify for SigningError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::State(error) => error.code(),
            Self::Seal(_) | Self::Random => ErrorCode::Internal,
        }
    }
}

impl From<SigningError> for CartFailure {
    fn from(error: SigningError) -> Self {
        match error {
            SigningError::State(error) => Self::State(error),
            SigningError::Seal(error) => Self::Seal(error),
            SigningError::Random => Self::Random,
        }
    }
}

/// Creates a new signing key, sealed with `keys` in `state`, and returns all keys, the new one first.
///
/// The new key is published immediately and signs after `config.signing_overlap_s`, when all verifiers have read the
/// new list of keys. Older keys sign until then, and stay published until the last token that they signed has expired.
/// The very first key signs immediately.
///
/// # Errors
/// Returns a [`SigningError`] and changes nothing.
pub async fn rotate_signing_key(
    state: &State,
    keys: &MasterKeys,
    config: &CartConfig,
    now: Timestamp,
) -> Result<Vec<SigningKeyRow>, SigningError> {
    let overlap_ms = i64::try_from(config.signing_overlap_s.saturating_mul(1_000)).unwrap_or(i64::MAX / 2_000);
    let signs_from = now.plus_millis(overlap_ms);
    let row = generate(keys, config.signing_algorithm, signs_from)?;
    // A server that has not read the new key yet signs with the old key a little longer.
    let slack_ms = i64::try_from(READ_AGAIN.as_millis() * 2).unwrap_or_default();
    let others_end_at = signs_from.plus_millis(config.tokens_ms() + slack_ms);
    Ok(state.rotate_signing_key(&row, others_end_at, now).await?)
}

fn generate(
    keys: &MasterKeys,
    algorithm: SigningAlgorithm,
    signs_from: Timestamp,
) -> Result<SigningKeyRow, SigningError> {
    let private = jws::generate(algorithm).map_err(|_| SigningError::Random)?;
    let signer = Signer::from_private(&private).ok_or(SigningError::Random)?;
    Ok(SigningKeyRow {
        id: signer.kid().to_owned(),
        public_key: signer.public_key().to_vec(),
        sealed: keys.seal(SIGNING_KEY, signer.kid(), &private)?,
        signs_from,
        ends_at: None,
    })
}

impl Checkouts {
    /// Returns the keys that verify tokens. Creates the first key if there is none.
    pub(crate) async fn jwks(&self) -> Result<Vec<Jwk>, CartFailure> {
        let keys = self.signing_keys().await?;
        Ok(keys.iter().map(|key| jwk(&key.public_key)).collect())
    }

    pub(super) async fn signer(&self) -> Result<Signer, CartFailure> {
        let keys = self.signing_keys().await?;
        let now = self.context.clock.now();
        // The newest key is first. If no key may sign yet, because the clock was set back, the oldest key signs.
        let key = keys.iter().find(|key| key.signs_from <= now).or(keys.last());
        let key = key.ok_or(CartFailure::Open(OpenError::Form))?;
        let private = self.context.keys.open(SIGNING_KEY, &key.id, &key.sealed)?;
        Signer::from_private(&private).ok_or(CartFailure::Open(OpenError::Form))
    }

    /// Returns a signer of quotes. With `variant`, each quote is about that variant only.
    pub(crate) async fn quoter(&self, variant: Option<VariantId>) -> Result<Quoter, CartFailure> {
        let config = &self.context.config;
        Ok(Quoter {
            signer: self.signer().await?,
            issuer: config.public_url.clone(),
            now: self.context.clock.now(),
            holds_s: config.quote_ms() / 1_000,
            variant,
        })
    }

    pub(crate) async fn quote_reader(&self) -> Result<QuoteReader, CartFailure> {
        Ok(QuoteReader {
            keys: self.signing_keys().await?,
            now: self.context.clock.now(),
        })
    }

    async fn signing_keys(&self) -> Result<Arc<Vec<SigningKeyRow>>, CartFailure> {
        // The lock is kept while the keys are read, so that only one of several concurrent requests reads them.
        let mut known = self.keys.0.lock().await;
        if let Some((keys, at)) = known.as_ref()
            && at.elapsed() < READ_AGAIN
        {
            return Ok(Arc::clone(keys));
        }
        let now = self.context.clock.now();
        let mut keys = self.context.state.signing_keys(now).await?;
        if keys.is_empty() {
            let row = generate(&self.context.keys, self.context.config.signing_algorithm, now)?;
            keys = self.context.state.add_first_signing_key(&row).await?;
        }
        let keys = Arc::new(keys);
        *known = Some((Arc::clone(&keys), Instant::now()));
        Ok(keys)
    }
}
