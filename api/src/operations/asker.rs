use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::{Caller, RequestId};

/// Caller of an operation, with the id of its request.
///
/// The extractor returns what the edge found out about a request that is not a GET. For a GET, the network of an
/// anonymous caller is unknown, and the request id is the client's own or a new one.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The caller of the operation.
    pub caller: Caller,
    /// Id of the request, as in its response.
    pub request_id: RequestId,
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        if let Some(known) = parts.extensions.get::<Self>() {
            return Ok(known.clone());
        }
        let caller = Caller::from_request_parts(parts, state).await?;
        Ok(Self {
            caller,
            request_id: RequestId::of(&parts.headers),
        })
    }
}
