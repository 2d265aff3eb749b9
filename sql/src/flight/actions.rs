//! Flight actions: requests besides queries, which manage sessions and prepared statements or cancel statements. The
//! server stores neither sessions nor prepared statements, so most actions only return a fixed answer.

use prost::Message;

use super::TYPES;
use super::grpc::{Failure, decode};
use super::messages::{
    ActionResult, ActionType, Any, Outcome, SessionOptionError, SessionOptionValue, SessionOptions,
    SetSessionOptionsResult,
};
use crate::ipc::framed;
use crate::tables::{CATALOG, SCHEMA};

pub(super) const CREATE: &str = "CreatePreparedStatement";
const CLOSE: &str = "ClosePreparedStatement";
const SET_OPTIONS: &str = "SetSessionOptions";
const GET_OPTIONS: &str = "GetSessionOptions";
const CLOSE_SESSION: &str = "CloseSession";
const CANCEL: &str = "CancelFlightInfo";
const CANCEL_QUERY: &str = "CancelQuery";

/// Status code for a closed session. The server stores no sessions, so closing one always succeeds.
const CLOSED: i32 = 1;
/// Status code for a cancel request. A statement ends only with the call that reads its rows.
const NOT_CANCELLABLE: i32 = 3;

/// Session options. A client may set them to these values, but not to others, and may set no other options.
const OPTIONS: [(&str, &str); 2] = [("catalog", CATALOG), ("schema", SCHEMA)];

/// Returns the answer of an action that needs no plan of a statement.
pub(super) fn told(kind: &str, body: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(match kind {
        // The server stores no prepared statements, so there is nothing to close.
        CLOSE => Vec::new(),
        SET_OPTIONS => result(&set(&decode(body)?)),
        GET_OPTIONS => result(&SessionOptions {
            options: OPTIONS.map(|(name, value)| (name.to_owned(), known(value))).into(),
        }),
        CLOSE_SESSION => result(&Outcome { status: CLOSED }),
        CANCEL => result(&Outcome {
            status: NOT_CANCELLABLE,
        }),
        CANCEL_QUERY => result(&Any {
            type_url: format!("{TYPES}ActionCancelQueryResult"),
            value: Outcome {
                status: NOT_CANCELLABLE,
            }
            .encode_to_vec(),
        }),
        other => return Err(Failure::Unimplemented(format!("action {other}"))),
    })
}

/// Encodes a message as the only result of an action.
pub(super) fn result(message: &impl Message) -> Vec<u8> {
    framed(&ActionResult {
        body: message.encode_to_vec(),
    })
}

fn known(value: &str) -> SessionOptionValue {
    SessionOptionValue {
        text: Some(value.to_owned()),
    }
}

fn set(wanted: &SessionOptions) -> SetSessionOptionsResult {
    let error = |(name, value): (&String, &SessionOptionValue)| {
        let kept = OPTIONS.iter().find(|(known, _)| known == name);
        let value = match kept {
            None => 1,
            Some((_, kept)) if value.text.as_deref() == Some(kept) => return None,
            Some(_) => 2,
        };
        Some((name.clone(), SessionOptionError { value }))
    };
    SetSessionOptionsResult {
        errors: wanted.options.iter().filter_map(error).collect(),
    }
}

pub(super) fn actions() -> Vec<u8> {
    let known = [
        (
            CREATE,
            "Plans a statement. The returned handle is the statement itself.",
        ),
        (CLOSE, "Does nothing, because the server stores no prepared statements."),
        (SET_OPTIONS, "Accepts only the existing catalogue and schema."),
        (GET_OPTIONS, "Returns the existing catalogue and schema."),
        (CLOSE_SESSION, "Does nothing, because the server stores no sessions."),
        (
            CANCEL,
            "Reports that a statement ends when the call that reads its rows ends.",
        ),
        (CANCEL_QUERY, "Same as CancelFlightInfo, for older clients."),
    ];
    let kinds = known.map(|(kind, description)| {
        framed(&ActionType {
            kind: kind.to_owned(),
            description: description.to_owned(),
        })
    });
    kinds.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_sessions_options_those_alone_are_taken_that_it_has() {
        let options = [("catalog", "haat"), ("schema", "other"), ("warehouse", "large")];
        let wanted = SessionOptions {
            options: options.map(|(name, value)| (name.to_owned(), known(value))).into(),
        };
        let errors: Vec<_> = set(&wanted)
            .errors
            .into_iter()
            .map(|(name, error)| (name, error.value))
            .collect();
        assert_eq!(errors, [("schema".to_owned(), 2), ("warehouse".to_owned(), 1)]);
    }
}
