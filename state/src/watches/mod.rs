//! Watches and the events to deliver for them. Rows are stored as given; the rules are those of the crate that owns
//! them.

mod change;
mod deliver;
mod judge;
mod row;

pub use self::deliver::{AttemptOutcome, DueEvent};
pub use self::judge::JudgedWatch;
pub use self::row::{EventState, NewWatchEvent, WatchCreation, WatchEventRow, WatchRow};
