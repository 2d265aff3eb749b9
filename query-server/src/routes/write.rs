use api::{EntityTag, GraphAnswer, IgnoredParameter, if_none_match};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;

use crate::operations::{Conditional, Form};

/// Tells of a tag if the client has its answer, as `If-None-Match` says.
pub(super) fn known(headers: &HeaderMap) -> impl Fn(&EntityTag) -> bool + Sync + use<'_> {
    move |tag| if_none_match(headers, tag)
}

/// Writes what an operation answered a request that has these headers, and parameters that it ignored.
pub(super) fn written(answered: Conditional, headers: &HeaderMap, ignored: &[IgnoredParameter]) -> Response {
    match answered {
        Conditional::NotModified(tag) => GraphAnswer::NotModified(tag).into_response(),
        Conditional::Answer(answer) if !ignored.is_empty() => {
            GraphAnswer::Fresh(answer.tag().clone(), answer.ignoring(ignored)).into_response()
        }
        Conditional::Answer(answer) => match answer.into_form() {
            // It knows its codings, and answers 304 by itself.
            Form::Constant(constant) => constant.answer(headers),
            Form::Made { tag, json } => GraphAnswer::Fresh(tag, json).into_response(),
        },
    }
}
