use std::collections::BTreeMap;

use api::LiveErrors;
use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};

/// What every operation on carts can answer besides its result and 404.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartErrors;

const PROBLEM: &str = "application/problem+json";

impl IntoResponses for CartErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = LiveErrors::responses();
        let problem = || {
            ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("Problem")))
                .build()
        };
        let request_id = Ref::new("#/components/headers/RequestId");
        let conflict = ResponseBuilder::new()
            .description("A request with this idempotency key is in flight.")
            .header_ref("X-Request-Id", request_id)
            .content(PROBLEM, problem());
        responses.insert("409".to_owned(), RefOr::T(conflict.build()));
        // Faults of the request are one thing; another body under the same key, and a store that refuses, are others.
        if let Some(RefOr::T(invalid)) = responses.get_mut("422") {
            invalid.content.insert(PROBLEM.to_owned(), RefOr::T(problem()));
        }
        responses
    }
}
