use api::{EntityTag, GraphAnswer, IgnoredParameter, if_none_match};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;

use crate::operations::{Conditional, Form};

/// Returns a test for entity tags that the client already has, according to `If-None-Match`.
pub(super) fn known(headers: &HeaderMap) -> impl Fn(&EntityTag) -> bool + Sync + use<'_> {
    move |tag| if_none_match(headers, tag)
}

/// Writes an operation's answer to a request with these headers and ignored parameters.
pub(super) fn written(answered: Conditional, headers: &HeaderMap, ignored: &[IgnoredParameter]) -> Response {
    match answered {
        Conditional::NotModified(tag) => GraphAnswer::NotModified(tag).into_response(),
        Conditional::Answer(answer) if !ignored.is_empty() => {
            GraphAnswer::Fresh(answer.tag().clone(), answer.ignoring(ignored)).into_response()
        }
        Conditional::Answer(answer) => match answer.into_form() {
            // The asset chooses its content encoding and may answer 304 itself.
            Form::Constant(constant) => constant.answer(headers),
            Form::Made { tag, json } => GraphAnswer::Fresh(tag, json).into_response(),
        },
    }
}
