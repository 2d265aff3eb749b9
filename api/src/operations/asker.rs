use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::{Caller, RequestId};

/// The author of a call, and the request that it belongs to.
///
/// As an extractor: what the edge found out about a request that is no GET. Of a GET the network of an anonymous caller is
/// not known, and the request's id is the client's own or a new one.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The caller.
    pub caller: Caller,
    /// The request, as its answer names it.
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
