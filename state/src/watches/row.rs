use data_model::Timestamp;

use crate::database::Value;
use crate::error::StateError;

/// A watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRow {
    /// Its id.
    pub id: String,
    /// Its owner.
    pub caller: String,
    /// Tells the request that made it from others under the same idempotency key.
    pub request_hash: Vec<u8>,
    /// The product, where it watches one.
    pub product: Option<String>,
    /// The things that it waits for, as its owner's program writes them.
    pub terms: String,
    /// The receiver and its secrets, sealed.
    pub target: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it is paused.
    pub paused_at: Option<Timestamp>,
    /// The moment of the last reading.
    pub seen_at: Timestamp,
    /// The last reading, as its owner's program writes it.
    pub seen: String,
}

/// The outcome of making a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchCreation {
    /// It was made.
    Created,
    /// There is one of this id.
    Existing(Box<WatchRow>),
    /// The caller has as many as a caller may have.
    TooMany,
}

/// An event that is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWatchEvent {
    /// Its id: an event of the same id is the same event.
    pub id: String,
    /// The watch.
    pub watch: String,
    /// The message.
    pub body: String,
}

/// The state of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventState {
    /// It is to be delivered.
    Waiting,
    /// The receiver has it.
    Done,
    /// It could not be delivered, and is tried no more.
    Dead,
}

impl EventState {
    /// The state in one word, as answers and the database write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }

    pub(super) fn read(text: &str) -> Result<Self, StateError> {
        let all = [Self::Waiting, Self::Done, Self::Dead];
        let found = all.into_iter().find(|state| state.as_str() == text);
        found.ok_or(StateError::Damaged { what: "watch event" })
    }
}

/// An event of a watch, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchEventRow {
    /// Its id.
    pub id: String,
    /// The message.
    pub body: String,
    /// Its state.
    pub state: EventState,
    /// Attempts to deliver it.
    pub attempts: u32,
    /// When it happened.
    pub created_at: Timestamp,
    /// When it is tried next, while it waits.
    pub due_at: Timestamp,
    /// The reason why the last attempt failed.
    pub letter: Option<String>,
}

/// The columns of [`WatchCells`], in their order.
macro_rules! watch_columns {
    () => {
        "id, caller, request_hash, product, terms, target, created_at, paused_at, seen_at, seen"
    };
}
pub(super) use watch_columns;

pub(super) type WatchCells = (
    String,
    String,
    Vec<u8>,
    Option<String>,
    String,
    Vec<u8>,
    i64,
    Option<i64>,
    i64,
    String,
);

pub(super) fn watch(cells: WatchCells) -> WatchRow {
    let (id, caller, request_hash, product, terms, target, created_at, paused_at, seen_at, seen) = cells;
    WatchRow {
        id,
        caller,
        request_hash,
        product,
        terms,
        target,
        created_at: Timestamp::from_micros(created_at),
        paused_at: paused_at.map(Timestamp::from_micros),
        seen_at: Timestamp::from_micros(seen_at),
        seen,
    }
}

pub(super) fn values(row: &WatchRow) -> Vec<Value> {
    vec![
        Value::text(&row.id),
        Value::text(&row.caller),
        Value::Bytes(row.request_hash.clone()),
        Value::Text(row.product.clone()),
        Value::text(&row.terms),
        Value::Bytes(row.target.clone()),
        Value::integer(row.created_at.micros()),
        Value::Integer(row.paused_at.map(Timestamp::micros)),
        Value::integer(row.seen_at.micros()),
        Value::text(&row.seen),
    ]
}
