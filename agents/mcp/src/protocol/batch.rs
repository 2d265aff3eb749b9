use serde_json::Value;

use super::fault::Fault;
use super::message::Message;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    One(Message),
    /// The body is a JSON array of messages, as in revision 2025-03-26. The server accepts batches from every client.
    Batch(Vec<Message>),
    /// The body is neither a message nor a batch. The response is a single error.
    Refused(Fault),
}

/// Parses a body. A batch may contain up to `items_max` messages.
pub(crate) fn read(body: &[u8], items_max: usize) -> Body {
    match serde_json::from_slice(body) {
        Ok(Value::Array(items)) if items.is_empty() => {
            Body::Refused(Fault::invalid_request("A batch must contain at least one message."))
        }
        Ok(Value::Array(items)) if items.len() > items_max => {
            let why = format!("A batch may contain at most {items_max} messages, not {}.", items.len());
            Body::Refused(Fault::invalid_request(why))
        }
        Ok(Value::Array(items)) => Body::Batch(items.into_iter().map(Message::of).collect()),
        Ok(one) => Body::One(Message::of(one)),
        Err(error) => Body::Refused(Fault::unreadable(&error.to_string())),
    }
}
