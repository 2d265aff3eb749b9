use data_model::Timestamp;

use crate::database::{Value, values};
use crate::error::StateError;

/// A stored watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRow {
    /// Id of the watch.
    pub id: String,
    /// The owner of the watch.
    pub caller: String,
    /// Hash of the creating request, which distinguishes it from others with the same idempotency key.
    pub request_hash: Vec<u8>,
    /// The watched product, if the watch is for one.
    pub product: Option<String>,
    /// The conditions of the watch, in the format of the owning crate.
    pub terms: String,
    /// The receiver and its secrets, sealed.
    pub target: Vec<u8>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time since which the watch is paused.
    pub paused_at: Option<Timestamp>,
    /// Time of the last reading.
    pub seen_at: Timestamp,
    /// Last reading of the watched subject, in the format of the crate that owns the watch.
    pub seen: String,
}

/// The outcome of creating a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchCreation {
    /// The watch was created.
    Created,
    /// A watch with this id exists already.
    Existing(Box<WatchRow>),
    /// The caller has reached the maximum number of watches.
    TooMany,
}

/// An event to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWatchEvent {
    /// Id of the event. Two events with the same id are the same event.
    pub id: String,
    /// Id of the watch.
    pub watch: String,
    /// The message to deliver.
    pub body: String,
}

data_model::named! {
    /// The delivery state of an event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EventState {
        /// The event is waiting for delivery.
        Waiting = "waiting",
        /// The receiver has accepted the event.
        Done = "done",
        /// The event could not be delivered and is not retried any more.
        Dead = "dead",
    }
}

impl EventState {
    pub(super) fn read(text: &str) -> Result<Self, StateError> {
        Self::named(text).ok_or(StateError::Damaged { what: "watch event" })
    }
}

/// An event of a watch, with its delivery state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchEventRow {
    /// Id of the event.
    pub id: String,
    /// The message to deliver.
    pub body: String,
    /// The delivery state.
    pub state: EventState,
    /// Number of delivery attempts.
    pub attempts: u32,
    /// Creation time of the event.
    pub created_at: Timestamp,
    /// Time of the next attempt, while the event is waiting.
    pub due_at: Timestamp,
    /// Reason why the last attempt failed.
    pub letter: Option<String>,
}

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
    values![
        &row.id,
        &row.caller,
        row.request_hash.clone(),
        row.product.clone(),
        &row.terms,
        row.target.clone(),
        row.created_at,
        row.paused_at,
        row.seen_at,
        &row.seen
    ]
}
