use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;

use crate::error::StoreError;

type BodyMaker = Box<dyn FnOnce() -> Result<Bytes, StoreError> + Send>;

pub(crate) enum Post {
    Now(Bytes),
    /// The body is created once, when the call gets its turn. Retries and redirects send the same body.
    AtTurn {
        make: Mutex<Option<BodyMaker>>,
        made: OnceLock<Bytes>,
    },
}

impl Post {
    pub(crate) fn at_turn(make: impl FnOnce() -> Result<Bytes, StoreError> + Send + 'static) -> Self {
        Self::AtTurn {
            make: Mutex::new(Some(Box::new(make))),
            made: OnceLock::new(),
        }
    }

    /// Called when the request is about to be sent.
    pub(crate) fn bytes(&self) -> Result<Bytes, StoreError> {
        let (make, made) = match self {
            Self::Now(bytes) => return Ok(bytes.clone()),
            Self::AtTurn { make, made } => (make, made),
        };
        if let Some(bytes) = made.get() {
            return Ok(bytes.clone());
        }
        let make = make.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The body is created at most once, so that a call that was withdrawn at the first attempt is also withdrawn at
        // a retry.
        let bytes = make.map_or(Err(StoreError::Withdrawn), |make| make())?;
        Ok(made.get_or_init(|| bytes).clone())
    }
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(bytes) => f.debug_tuple("Now").field(&bytes.len()).finish(),
            Self::AtTurn { made, .. } => f.debug_tuple("AtTurn").field(&made.get().map(Bytes::len)).finish(),
        }
    }
}
