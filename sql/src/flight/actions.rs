//! The actions of clients besides queries: they open and close sessions and prepared statements, and end statements.
//! The server keeps none of these, so that most actions are an answer and nothing else.

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

/// A session is closed: there was none.
const CLOSED: i32 = 1;
/// A statement ends with the call that reads its rows, and by nothing else.
const NOT_CANCELLABLE: i32 = 3;

/// The options of a session. A client may set them to the same values again, and set no other.
const OPTIONS: [(&str, &str); 2] = [("catalog", CATALOG), ("schema", SCHEMA)];

/// The answer of an action that needs no statement to be planned.
pub(super) fn told(kind: &str, body: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(match kind {
        // The server keeps no state, so it has none to close.
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

/// A message as the only result of an action.
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

/// All actions.
pub(super) fn actions() -> Vec<u8> {
    let known = [
        (CREATE, "Plans a statement; its handle is the statement itself."),
        (CLOSE, "Does nothing: nothing is kept."),
        (SET_OPTIONS, "Takes the catalogue and the schema that there are."),
        (GET_OPTIONS, "Tells the catalogue and the schema that there are."),
        (CLOSE_SESSION, "Does nothing: nothing is kept."),
        (CANCEL, "Says that a statement ends with the call that reads its rows."),
        (CANCEL_QUERY, "Says the same to older clients."),
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
