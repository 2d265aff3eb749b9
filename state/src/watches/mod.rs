//! Watches and the events to deliver for them. The crate that owns the watches checks the rows.

mod change;
mod deliver;
mod judge;
mod row;

pub use self::deliver::{AttemptOutcome, DueEvent};
pub use self::judge::JudgedWatch;
pub use self::row::{EventState, NewWatchEvent, WatchCreation, WatchEventRow, WatchRow};
